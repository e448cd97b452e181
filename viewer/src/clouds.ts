// Bodies whose points come with every frame: particles, drawn as balls that are flat discs in truth, shaded in the pixel,
// and bodies that deform, whose vertices move. 200 000 particles are one draw call. Where that is too slow, fewer and
// larger ones stand for all of them.
import {
  BufferAttribute, BufferGeometry, Color, DynamicDrawUsage, Group, Mesh as ThreeMesh, MeshLambertMaterial, Points,
  ShaderMaterial, Vector3,
} from "three";
import { distinctColour, scaleColour } from "./colours";
import { Light } from "./crowd";
import { Cloud, RunInfo } from "./source";
import { Store } from "./store";

interface Shown {
  object: Points | ThreeMesh;
  geometry: BufferGeometry;
}

export class Clouds {
  readonly group = new Group();
  bodiesShown = 0;
  private shown = new Map<number, Shown>(); // by body
  private most = Infinity;
  private last?: [Cloud[], Float32Array, number, string, number | null];
  private readonly balls: ShaderMaterial;

  constructor(private readonly store: Store, private readonly light: Light) {
    this.balls = ballMaterial(light);
  }

  // Where the frame has them. `top`: the value that is red, null for the largest, which is returned; 0 where nothing is
  // coloured by values.
  show(clouds: Cloud[], rows: Float32Array, width: number, colourBy: string, top: number | null): number {
    this.last = [clouds, rows, width, colourBy, top];
    const { info } = this.store, field = info.pointFields.indexOf(colourBy);
    let largest = 0;
    if (field >= 0) for (const c of clouds) for (const v of c.values[field]) if (v > largest) largest = v;
    const end = top ?? (largest || 1), there = new Set<number>();
    this.bodiesShown = 0;
    const every = Math.max(1, Math.ceil(clouds.reduce((sum, c) => sum + (c.radius > 0 ? c.positions.length / 3 : 0), 0) / this.most));
    for (const whole of clouds) {
      const at = whole.body * width;
      if (Number.isNaN(rows[at])) continue;
      there.add(whole.body);
      ++this.bodiesShown;
      const cloud = every > 1 && whole.radius > 0 ? thinned(whole, every) : whole;
      const { object, geometry } = this.shownAs(cloud);
      object.visible = true;
      object.position.fromArray(rows, at);
      object.quaternion.fromArray(rows, at + 3);
      put(geometry, "position", cloud.positions, 3);
      geometry.setDrawRange(0, object instanceof Points ? cloud.positions.length / 3 : Infinity);
      if (object instanceof ThreeMesh) {
        geometry.computeVertexNormals();
        this.colour(cloud.body, colourBy, (object.material as MeshLambertMaterial).color);
        continue;
      }
      put(geometry, "size", this.sizes(cloud, info, Math.cbrt(every)), 1);
      put(geometry, "tint", this.tints(cloud, colourBy, field, end), 3);
    }
    for (const [body, { object }] of this.shown) if (!there.has(body)) object.visible = false;
    return field >= 0 ? end : 0;
  }

  // How many particles are drawn.
  setMost(most: number): void {
    if (most === this.most) return;
    this.most = most;
    if (this.last) this.show(...this.last);
  }

  // `height` of the picture in pixels.
  setView(height: number): void {
    const { uniforms } = this.balls, { fog } = this.light;
    uniforms.height.value = height;
    uniforms.mist.value.set(fog.color.r, fog.color.g, fog.color.b);
    uniforms.range.value = [fog.near, fog.far];
  }

  clear(): void {
    for (const { object, geometry } of this.shown.values()) {
      this.group.remove(object);
      geometry.dispose();
    }
    this.shown.clear();
    this.last = undefined;
  }

  private shownAs(cloud: Cloud): Shown {
    let shown = this.shown.get(cloud.body);
    if (shown) return shown;
    const geometry = new BufferGeometry(), mesh = this.store.info.bodies[cloud.body].mesh;
    const deforms = !(cloud.radius > 0) && mesh >= 0;
    if (deforms) geometry.setIndex(new BufferAttribute(this.store.meshes[mesh].indices, 1));
    const object = deforms ? new ThreeMesh(geometry, new MeshLambertMaterial()) : new Points(geometry, this.balls);
    object.frustumCulled = false;
    object.castShadow = object.receiveShadow = deforms;
    this.group.add(object);
    this.shown.set(cloud.body, (shown = { object, geometry }));
    return shown;
  }

  private colour(body: number, colourBy: string, out: Color): Color {
    if (colourBy === "body") return distinctColour(body, out);
    const { bodies, materials } = this.store.info, material = materials[bodies[body].material];
    return material ? out.setRGB(...material.colour) : out.setRGB(0.5, 0.5, 0.5);
  }

  private sizes(cloud: Cloud, info: RunInfo, scale: number): Float32Array {
    const own = info.pointFields.indexOf("radius");
    if (own >= 0) return cloud.values[own].map((radius) => radius * scale);
    return new Float32Array(cloud.positions.length / 3).fill(cloud.radius * scale);
  }

  private tints(cloud: Cloud, colourBy: string, field: number, top: number): Float32Array {
    const count = cloud.positions.length / 3, tints = new Float32Array(3 * count), colour = new Color();
    if (field < 0) this.colour(cloud.body, colourBy, colour);
    for (let i = 0; i < count; ++i) {
      if (field >= 0) scaleColour(cloud.values[field][i] / top, colour);
      colour.toArray(tints, 3 * i);
    }
    return tints;
  }
}

function thinned(cloud: Cloud, every: number): Cloud {
  const count = Math.ceil(cloud.positions.length / 3 / every), positions = new Float32Array(3 * count);
  for (let i = 0; i < count; ++i) for (let k = 0; k < 3; ++k) positions[3 * i + k] = cloud.positions[3 * every * i + k];
  const values = cloud.values.map((all) => Float32Array.from({ length: count }, (_, i) => all[every * i]));
  return { ...cloud, positions, values };
}

// Takes the values into the buffer that is there, where it is large enough.
function put(geometry: BufferGeometry, name: string, values: Float32Array, size: number): void {
  let attribute = geometry.getAttribute(name) as BufferAttribute | undefined;
  if (!attribute || attribute.array.length < values.length) {
    attribute = new BufferAttribute(new Float32Array(values.length), size).setUsage(DynamicDrawUsage);
    geometry.setAttribute(name, attribute);
  }
  (attribute.array as Float32Array).set(values);
  attribute.clearUpdateRanges();
  attribute.addUpdateRange(0, values.length);
  attribute.needsUpdate = true;
}

function ballMaterial({ way, sun, sky, earth, fog }: Light): ShaderMaterial {
  const screen = (c: Color) => new Vector3(c.r, c.g, c.b);
  return new ShaderMaterial({
    uniforms: {
      height: { value: 720 }, way: { value: way }, sun: { value: screen(sun) }, sky: { value: screen(sky) },
      earth: { value: screen(earth) }, mist: { value: screen(fog.color) }, range: { value: [fog.near, fog.far] },
    },
    vertexShader: `attribute float size; attribute vec3 tint; uniform float height; uniform vec2 range;
      varying vec3 tone; varying float fade;
      void main() {
        vec4 eye = modelViewMatrix * vec4(position, 1.0);
        gl_Position = projectionMatrix * eye;
        gl_PointSize = size * projectionMatrix[1][1] * height / gl_Position.w;
        tone = tint;
        fade = clamp((-eye.z - range.x) / (range.y - range.x), 0.0, 1.0);
      }`,
    fragmentShader: `uniform vec3 way, sun, sky, earth, mist; varying vec3 tone; varying float fade;
      void main() {
        vec2 p = 2.0 * gl_PointCoord - 1.0;
        float beyond = dot(p, p);
        if (beyond > 1.0) discard;
        vec3 normal = normalize((vec4(p.x, -p.y, sqrt(1.0 - beyond), 0.0) * viewMatrix).xyz);
        vec3 light = sun * max(dot(normal, way), 0.0) + mix(earth, sky, 0.5 + 0.5 * normal.y);
        gl_FragColor = vec4(mix(tone * light, mist, fade), 1.0);
        #include <colorspace_fragment>
      }`,
  });
}
