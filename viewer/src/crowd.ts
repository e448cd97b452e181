// All bodies in one mesh and one draw call, for machines that draw slowly. A software renderer takes every instance for a
// draw of its own, pays for each vertex anew in each triangle, and for triangles that face away; so vertices are moved
// and lit here, and only triangles that face the eye are handed on. A few milliseconds for 100 000 triangles. Shadows fall
// on the ground only: triangles that face the sun, flattened.
import {
  BufferAttribute, BufferGeometry, Color, DynamicDrawUsage, Fog, Mesh, PerspectiveCamera, ShaderMaterial, Sphere, Vector3,
} from "three";

export interface Member {
  body: number;
  geometry: BufferGeometry; // with index and normals
  opacity: number;
}

export interface Light {
  way: Vector3; // to the sun
  sun: Color;
  sky: Color; // from above
  earth: Color; // from below
  fog: Fog;
}

export interface Ground {
  height: number;
  shade: Color; // where the sun does not reach
  smallest: number; // radius of bodies that throw a shadow
}

// What members of the same mesh share.
class Shape {
  readonly positions: Float32Array;
  readonly normals: Float32Array;
  readonly corners: ArrayLike<number>;
  readonly planes: Float32Array; // of the triangles: normal, distance
  readonly sphere: Sphere;

  constructor(geometry: BufferGeometry) {
    this.positions = geometry.getAttribute("position").array as Float32Array;
    this.normals = geometry.getAttribute("normal").array as Float32Array;
    this.corners = geometry.getIndex()!.array;
    if (!geometry.boundingSphere) geometry.computeBoundingSphere();
    this.sphere = geometry.boundingSphere!;
    const triangles = this.corners.length / 3, a = new Vector3(), b = new Vector3(), c = new Vector3();
    this.planes = new Float32Array(4 * triangles);
    for (let t = 0; t < triangles; ++t) {
      a.fromArray(this.positions, 3 * this.corners[3 * t]);
      b.fromArray(this.positions, 3 * this.corners[3 * t + 1]).sub(a);
      c.fromArray(this.positions, 3 * this.corners[3 * t + 2]).sub(a);
      b.cross(c).toArray(this.planes, 4 * t);
      this.planes[4 * t + 3] = b.dot(a);
    }
  }
}

const kSteps = 1024;
const kShown = Uint8Array.from({ length: kSteps + 1 }, (_, i) => {
  const c = i / kSteps;
  return Math.round(255 * (c <= 0.0031308 ? c * 12.92 : 1.055 * c ** (1 / 2.4) - 0.055));
});
const shown = (linear: number) => kShown[linear >= 1 ? kSteps : (linear * kSteps) | 0];

export class Crowd {
  readonly mesh: Mesh;
  readonly shadow?: Mesh;
  private readonly shapes: Shape[]; // by member
  private readonly bodies: Int32Array;
  private readonly alphas: Uint8Array;
  private readonly position: BufferAttribute;
  private readonly colour: BufferAttribute;
  private readonly index: BufferAttribute;
  private readonly shaded: BufferAttribute; // index of the shadow

  // Without ground there is no shadow.
  constructor(members: Member[], seeThrough: boolean, private readonly light: Light, private readonly ground: Ground | null) {
    const known = new Map<BufferGeometry, Shape>();
    this.shapes = members.map(({ geometry }) => {
      let shape = known.get(geometry);
      if (!shape) known.set(geometry, (shape = new Shape(geometry)));
      return shape;
    });
    this.bodies = Int32Array.from(members, (m) => m.body);
    this.alphas = Uint8Array.from(members, (m) => Math.round(255 * m.opacity));
    let vertices = 0, corners = 0;
    for (const s of this.shapes) {
      vertices += s.positions.length / 3;
      corners += s.corners.length;
    }
    this.position = new BufferAttribute(new Float32Array(3 * vertices), 3).setUsage(DynamicDrawUsage);
    this.colour = new BufferAttribute(new Uint8Array(4 * vertices), 4, true).setUsage(DynamicDrawUsage);
    this.index = new BufferAttribute(new Uint32Array(corners), 1).setUsage(DynamicDrawUsage);
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", this.position);
    geometry.setAttribute("tint", this.colour);
    geometry.setIndex(this.index);
    this.mesh = new Mesh(geometry, plainMaterial(seeThrough));
    this.mesh.frustumCulled = false;
    this.shaded = new BufferAttribute(new Uint32Array(ground ? corners : 0), 1).setUsage(DynamicDrawUsage);
    if (!ground) return;
    const flat = new BufferGeometry().setAttribute("position", this.position).setIndex(this.shaded);
    this.shadow = new Mesh(flat, shadowMaterial(light, ground));
    this.shadow.frustumCulled = false;
    this.shadow.renderOrder = -1; // on the ground, below all else
  }

  set wireframe(on: boolean) {
    (this.mesh.material as ShaderMaterial).wireframe = on;
  }

  // Moves and lights what the camera sees, leaves out what is behind, beside, or smaller than a pixel of `height`.
  // `poses` has a matrix a body, zeros for one that is not there; `tints` its colour, linear.
  update(m: Float32Array, tints: Float32Array, camera: PerspectiveCamera, height: number): void {
    const position = this.position.array as Float32Array, colour = this.colour.array as Uint8Array;
    const index = this.index.array as Uint32Array, shaded = this.shaded.array as Uint32Array;
    const casting = this.shadow?.visible ? this.ground!.smallest : Infinity;
    camera.updateMatrixWorld();
    const eye = new Vector3().setFromMatrixPosition(camera.matrixWorld), { way, sun, sky, earth, fog } = this.light;
    const fogColour = fog.color, view = camera.matrixWorldInverse.elements;
    const half = Math.tan((camera.fov * Math.PI) / 360), wide = half * camera.aspect;
    const slopeX = Math.hypot(1, wide), slopeY = Math.hypot(1, half), pixel = (2 * half) / height;
    let vertex = 0, corner = 0, dark = 0;
    for (let slot = 0; slot < this.shapes.length; ++slot) {
      const body = this.bodies[slot], o = 16 * body, alpha = this.alphas[slot];
      const xx = m[o], xy = m[o + 1], xz = m[o + 2], yx = m[o + 4], yy = m[o + 5], yz = m[o + 6];
      const zx = m[o + 8], zy = m[o + 9], zz = m[o + 10], tx = m[o + 12], ty = m[o + 13], tz = m[o + 14];
      if (xx === 0 && xy === 0 && xz === 0) continue;
      const { positions, normals, corners, planes, sphere } = this.shapes[slot];
      const { x: sx, y: sy, z: sz } = sphere.center;
      const wx = xx * sx + yx * sy + zx * sz + tx, wy = xy * sx + yy * sy + zy * sz + ty, wz = xz * sx + yz * sy + zz * sz + tz;
      const vx = view[0] * wx + view[4] * wy + view[8] * wz + view[12], vy = view[1] * wx + view[5] * wy + view[9] * wz + view[13];
      const depth = -(view[2] * wx + view[6] * wy + view[10] * wz + view[14]), r = sphere.radius;
      if (depth < -r || Math.abs(vx) - wide * depth > r * slopeX || Math.abs(vy) - half * depth > r * slopeY) continue;
      if (2 * r < pixel * depth) continue;
      // Everything into the frame of the body, so that its vertices need one product only.
      const ex = eye.x - tx, ey = eye.y - ty, ez = eye.z - tz;
      const lx = xx * ex + xy * ey + xz * ez, ly = yx * ex + yy * ey + yz * ez, lz = zx * ex + zy * ey + zz * ez;
      const first = vertex, before = corner;
      for (let t = 0, k = 0; k < planes.length; t += 3, k += 4)
        if (planes[k] * lx + planes[k + 1] * ly + planes[k + 2] * lz > planes[k + 3]) {
          index[corner++] = first + corners[t];
          index[corner++] = first + corners[t + 1];
          index[corner++] = first + corners[t + 2];
        }
      const ax = xx * way.x + xy * way.y + xz * way.z, ay = yx * way.x + yy * way.y + yz * way.z, az = zx * way.x + zy * way.y + zz * way.z;
      const casts = r >= casting;
      if (casts)
        for (let t = 0, k = 0; k < planes.length; t += 3, k += 4)
          if (planes[k] * ax + planes[k + 1] * ay + planes[k + 2] * az > 0) {
            shaded[dark++] = first + corners[t];
            shaded[dark++] = first + corners[t + 1];
            shaded[dark++] = first + corners[t + 2];
          }
      if (corner === before && !casts) continue;
      const mist = Math.min(Math.max((depth - fog.near) / (fog.far - fog.near), 0), 1), clear = 1 - mist;
      const cr = tints[3 * body] * clear, cg = tints[3 * body + 1] * clear, cb = tints[3 * body + 2] * clear;
      const fr = fogColour.r * mist, fg = fogColour.g * mist, fb = fogColour.b * mist;
      for (let k = 0; k < positions.length; k += 3, ++vertex) {
        const px = positions[k], py = positions[k + 1], pz = positions[k + 2], p = 3 * vertex;
        position[p] = xx * px + yx * py + zx * pz + tx;
        position[p + 1] = xy * px + yy * py + zy * pz + ty;
        position[p + 2] = xz * px + yz * py + zz * pz + tz;
        const nx = normals[k], ny = normals[k + 1], nz = normals[k + 2];
        const facing = ax * nx + ay * ny + az * nz, s = facing > 0 ? facing : 0;
        const up = 0.5 + 0.5 * (xy * nx + yy * ny + zy * nz), c = 4 * vertex;
        colour[c] = shown(fr + cr * (s * sun.r + earth.r + up * (sky.r - earth.r)));
        colour[c + 1] = shown(fg + cg * (s * sun.g + earth.g + up * (sky.g - earth.g)));
        colour[c + 2] = shown(fb + cb * (s * sun.b + earth.b + up * (sky.b - earth.b)));
        colour[c + 3] = alpha;
      }
    }
    this.mesh.geometry.setDrawRange(0, corner);
    this.shadow?.geometry.setDrawRange(0, dark);
    const uses = [[this.position, 3 * vertex], [this.colour, 4 * vertex], [this.index, corner], [this.shaded, dark]] as const;
    for (const [attribute, used] of uses) {
      attribute.clearUpdateRanges();
      if (used === 0) continue;
      attribute.addUpdateRange(0, used);
      attribute.needsUpdate = true;
    }
  }

  dispose(): void {
    this.mesh.geometry.dispose();
    (this.mesh.material as ShaderMaterial).dispose();
    this.shadow?.geometry.dispose();
    (this.shadow?.material as ShaderMaterial | undefined)?.dispose();
  }
}

// The colours of the vertices, which are those of the screen, and nothing else.
function plainMaterial(seeThrough: boolean): ShaderMaterial {
  return new ShaderMaterial({
    transparent: seeThrough, depthWrite: !seeThrough,
    vertexShader: `attribute vec4 tint; varying vec4 tone;
      void main() { tone = tint; gl_Position = projectionMatrix * (viewMatrix * vec4(position, 1.0)); }`,
    fragmentShader: "varying vec4 tone; void main() { gl_FragColor = tone; }",
  });
}

// One colour that fades into the fog, computed in the colours of the screen: turning light into them costs a software
// renderer more than all else of a pixel. `place` gives the position in the world.
function flatMaterial({ way, fog }: Light, colour: Color, height: number, place: string): ShaderMaterial {
  return new ShaderMaterial({
    depthTest: false, depthWrite: false,
    uniforms: {
      way: { value: way }, height: { value: height }, range: { value: [fog.near, fog.far] },
      near: { value: colour.clone().convertLinearToSRGB() }, far: { value: fog.color.clone().convertLinearToSRGB() },
    },
    vertexShader: `uniform vec3 way; uniform float height; varying float depth;
      void main() {
        vec4 eye = viewMatrix * ${place};
        depth = -eye.z;
        gl_Position = projectionMatrix * eye;
      }`,
    fragmentShader: `uniform vec3 near, far; uniform vec2 range; varying float depth;
      void main() { gl_FragColor = vec4(mix(near, far, smoothstep(range.x, range.y, depth)), 1.0); }`,
  });
}

function shadowMaterial(light: Light, { height, shade }: Ground): ShaderMaterial {
  return flatMaterial(light, shade, height, "vec4(position - way * max(position.y - height, 0.0) / way.y, 1.0)");
}

// For the ground below a crowd; it is drawn before everything else and hides nothing.
export function groundMaterial(light: Light, colour: Color): ShaderMaterial {
  return flatMaterial(light, colour, 0, "(modelMatrix * vec4(position, 1.0))");
}
