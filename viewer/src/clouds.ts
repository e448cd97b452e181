// Bodies that are drawn one by one: particles, drawn as balls that are flat discs in truth, shaded in the pixel; bodies that
// deform, whose vertices come with every frame; bodies whose meshes change or whose vertices have values. 200 000 particles
// are one draw call. Where that is too slow, fewer and larger ones stand for all of them.
import {
  BufferAttribute, BufferGeometry, Color, DoubleSide, DynamicDrawUsage, Group, Mesh as ThreeMesh, MeshLambertMaterial, Points,
  Raycaster, ShaderMaterial, Vector3,
} from "three";
import { distinctColour, scaleColour } from "./colours";
import { Creases } from "./creases";
import { Light } from "./crowd";
import { Cloud, Mesh, RunInfo } from "./source";
import { Store } from "./store";

interface Shown {
  object: Points | ThreeMesh;
  geometry: BufferGeometry;
  of?: Mesh; // what the geometry was made of
  creases?: Creases;
}

// Kinds of bodies whose points come with the frames.
export const kOfPoints = ["deformable", "particles", "fluid"];

export class Clouds {
  readonly group = new Group();
  bodiesShown = 0;
  private shown = new Map<number, Shown>(); // by body
  private most = Infinity;
  private wireframe = false;
  private last?: Parameters<Clouds["show"]>;
  private readonly balls: ShaderMaterial;
  selected = -1;

  constructor(private readonly store: Store, private readonly light: Light, private readonly arrived: () => void) {
    this.balls = ballMaterial(light);
  }

  // Whether a body is drawn here: also where its triangles have several materials.
  has(body: number): boolean {
    const { kind, changes, mesh } = this.store.info.bodies[body];
    return changes !== undefined || kOfPoints.includes(kind) || this.store.meshes[mesh]?.slots !== undefined;
  }

  // Where the frame has them. `top`: the value that is red, null for the largest, which is returned; 0 where nothing is
  // coloured by values.
  show(frame: number, clouds: Cloud[], rows: Float32Array, width: number, colourBy: string, top: number | null): number {
    this.last = [frame, clouds, rows, width, colourBy, top];
    const { info } = this.store, field = info.pointFields.indexOf(colourBy);
    let largest = 0;
    if (field >= 0) for (const c of clouds) for (const v of c.values[field]) if (v > largest) largest = v;
    const end = top ?? (largest || 1), there = new Set<number>(), ofBody = new Map(clouds.map((c) => [c.body, c]));
    this.bodiesShown = 0;
    const every = Math.max(1, Math.ceil(clouds.reduce((sum, c) => sum + (c.radius > 0 ? c.positions.length / 3 : 0), 0) / this.most));
    const place = ({ object }: Shown, body: number) => {
      there.add(body);
      ++this.bodiesShown;
      object.visible = true;
      object.position.fromArray(rows, body * width);
      object.quaternion.fromArray(rows, body * width + 3);
      object.updateMatrixWorld();
    };
    for (let body = 0; body < info.bodies.length && body * width < rows.length; ++body) {
      if (!this.has(body) || Number.isNaN(rows[body * width]) || this.store.softMesh(body, frame) >= 0) continue;
      const whole = ofBody.get(body);
      if (whole && whole.radius > 0) {
        const cloud = every > 1 ? thinned(whole, every) : whole, shown = this.pointsOf(body);
        place(shown, body);
        put(shown.geometry, "position", cloud.positions, 3);
        shown.geometry.setDrawRange(0, cloud.positions.length / 3);
        put(shown.geometry, "size", this.sizes(cloud, info, Math.cbrt(every)), 1);
        put(shown.geometry, "tint", this.tints(cloud, colourBy, field, end), 3);
        continue;
      }
      const mesh = this.store.shape(body, frame, this.arrived);
      if (mesh && mesh.indices.length > 0) {
        const shown = this.meshOf(body, mesh);
        place(shown, body);
        this.shape(shown, mesh, whole);
        this.paint(shown.geometry, mesh, body, colourBy, whole && field >= 0 ? whole.values[field] : undefined, end);
      } else if (!mesh && this.shown.get(body)?.of) place(this.shown.get(body)!, body); // the next mesh is on its way
    }
    for (const [body, { object }] of this.shown) if (!there.has(body)) object.visible = false;
    return field >= 0 ? end : 0;
  }

  // The nearest of the bodies with a mesh that a ray hits, as they are now, and how far away it is.
  pick(ray: Raycaster): { body: number; distance: number } {
    let body = -1, distance = Infinity;
    for (const [b, { object, geometry }] of this.shown) {
      if (!object.visible || !(object instanceof ThreeMesh)) continue;
      geometry.boundingSphere = null; // of this frame
      for (const hit of ray.intersectObject(object, false))
        if (hit.distance < distance) {
          distance = hit.distance;
          body = b;
        }
    }
    return { body, distance };
  }

  setWireframe(on: boolean): void {
    this.wireframe = on;
    for (const { object } of this.shown.values()) if (object instanceof ThreeMesh) (object.material as MeshLambertMaterial).wireframe = on;
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

  private pointsOf(body: number): Shown {
    const known = this.shown.get(body);
    if (known && known.object instanceof Points) return known;
    return this.add(body, new Points(new BufferGeometry(), this.balls));
  }

  // Every corner is a vertex of its own: it may have another normal and another colour than its neighbours.
  private meshOf(body: number, mesh: Mesh): Shown {
    const known = this.shown.get(body);
    if (known && known.of === mesh) return known;
    const geometry = new BufferGeometry();
    for (const name of ["position", "normal", "color"])
      geometry.setAttribute(name, new BufferAttribute(new Float32Array(3 * mesh.indices.length), 3).setUsage(DynamicDrawUsage));
    const material = new MeshLambertMaterial({ vertexColors: true, side: DoubleSide, wireframe: this.wireframe });
    const object = new ThreeMesh(geometry, material);
    object.castShadow = object.receiveShadow = true;
    const shown = this.add(body, object);
    shown.of = mesh;
    shown.creases = new Creases(mesh.positions, mesh.indices);
    return shown;
  }

  private add(body: number, object: Points | ThreeMesh): Shown {
    const old = this.shown.get(body);
    if (old) {
      this.group.remove(old.object);
      old.geometry.dispose();
    }
    object.frustumCulled = false;
    this.group.add(object);
    const shown: Shown = { object, geometry: object.geometry };
    this.shown.set(body, shown);
    return shown;
  }

  // Points that are not as many as the vertices leave the mesh at rest.
  private shape({ geometry, creases }: Shown, mesh: Mesh, cloud: Cloud | undefined): void {
    const places = cloud && cloud.positions.length === mesh.positions.length ? cloud.positions : mesh.positions;
    const position = geometry.getAttribute("position") as BufferAttribute, normal = geometry.getAttribute("normal") as BufferAttribute;
    creases!.corners(places, position.array as Float32Array, normal.array as Float32Array);
    position.needsUpdate = normal.needsUpdate = true;
  }

  // Materials of slots, and what is inside of broken bodies; or the values at vertices.
  private paint(geometry: BufferGeometry, mesh: Mesh, body: number, colourBy: string, values: Float32Array | undefined, top: number): void {
    const attribute = geometry.getAttribute("color") as BufferAttribute, out = attribute.array as Float32Array, colour = new Color();
    const { materials, bodies, slots } = this.store.info, names = mesh.slots ? slots[String(mesh.named)] ?? [] : [];
    const byMaterial = colourBy === "material" && body !== this.selected, known = new Map<number, Color>();
    const ofTriangle = (t: number): Color => {
      const inside = mesh.interior?.[t] ? 1 : 0, slot = byMaterial ? mesh.slots?.[t] ?? 0 : 0, key = 2 * slot + inside;
      let made = known.get(key);
      if (made) return made;
      const name = slot > 0 ? names[slot - 1] ?? "" : bodies[body].material, within = materials[materials[name]?.inside ?? ""];
      made = slot > 0 && materials[name] ? new Color().setRGB(...materials[name].colour) : this.colour(body, colourBy, new Color());
      if (inside && byMaterial && within) made.setRGB(...within.colour);
      else if (inside) made.multiplyScalar(0.84);
      known.set(key, made);
      return made;
    };
    const valued = values && 3 * values.length === mesh.positions.length ? values : undefined;
    for (let c = 0; c < mesh.indices.length; ++c) {
      if (valued) scaleColour(valued[mesh.indices[c]] / top, colour).toArray(out, 3 * c);
      else ofTriangle(Math.floor(c / 3)).toArray(out, 3 * c);
    }
    attribute.needsUpdate = true;
  }

  private colour(body: number, colourBy: string, out: Color): Color {
    if (body === this.selected) return out.set(0xff7a1a);
    if (colourBy === "body") return distinctColour(body, out);
    const { bodies, materials } = this.store.info, material = materials[bodies[body].material];
    return material ? out.setRGB(...material.colour) : out.setRGB(0.5, 0.5, 0.5);
  }

  private sizes(cloud: Cloud, info: RunInfo, scale: number): Float32Array {
    const own = info.pointFields.indexOf("radius");
    if (own >= 0) return cloud.values[own].map((radius) => (radius || cloud.radius) * scale); // 0: the body has no such field
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
