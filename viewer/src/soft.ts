// Surfaces in cages, drawn by the shader (soft_shaders.ts): which are there in a frame, how they look, what is picked.
import GUI from "lil-gui";
import { Color, Group, Matrix4, Ray, Raycaster, Vector3, WebGLRenderer } from "three";
import { distinctColour } from "./colours";
import { clipDistances, SoftBody } from "./soft_body";
import { kNodeMask } from "./soft_data";
import { Cut, kCuts, SoftUniforms } from "./soft_shaders";
import { SoftStatics } from "./soft_statics";
import { kSolids, noiseTexture, Solid, solidOf } from "./solid_textures";
import { Cloud, Material } from "./source";
import { Store } from "./store";

const kNearEdge = 24; // pixels of a tetrahedron from which rough walls are drawn as grids
const kBump = 0.25;
const kRoughness = 0.02; // height of rough walls, as a share of the body

export class SoftBodies {
  readonly group = new Group();
  readonly options = {
    cut: "clipped" as Cut, solid: "by material" as Solid | "by material", copies: false, cage: false, smooth: true, walls: true, bumps: true, rough: false, masks: 0, own: false, outer: "#b5482a", inner: "#c98a5a", roughness: 0.5,
    explode: 0, by: "pieces" as "tetrahedra" | "pieces",
  };
  bodiesShown = 0;
  selected = -1;
  readonly bodies = new Map<number, SoftBody>(); // by body, those that were shown
  private readonly statics = new Map<number, SoftStatics>(); // by mesh
  private rich = false;
  private wireframe = false;
  private readonly shared: SoftUniforms = { solidNoise: { value: noiseTexture() }, softWalls: { value: true }, softSmooth: { value: true }, softBump: { value: 0 } };
  private readonly clip?: (on: boolean) => void;

  constructor(private readonly store: Store, renderer: WebGLRenderer, private readonly arrived: () => void) {
    this.clip = clipDistances(renderer);
  }

  // The way that is taken: clip distances where the card has them, else fragments that are left out.
  get cut(): Cut {
    return this.options.cut === "distance" && !this.clip ? "discard" : this.options.cut;
  }

  get cuts(): Cut[] {
    return kCuts.filter((cut) => cut !== "distance" || this.clip);
  }

  addControls(gui: GUI, changed: () => void): void {
    const folder = gui.addFolder("soft bodies").close(), { options } = this;
    folder.add(options, "cut", this.cuts).name("triangles cut by").onChange(changed);
    folder.add(options, "solid", ["by material", ...kSolids]).name("solid texture").onChange(changed);
    folder.add(options, "copies").name("copies in colour").onChange(changed);
    folder.add(options, "cage").onChange(changed);
    folder.add(options, "smooth").name("smooth light").onChange(changed);
    folder.add(options, "walls").onChange(changed);
    folder.add(options, "bumps").name("relief of walls").onChange(changed);
    folder.add(options, "rough").name("rough walls").onChange(changed);
    folder.add(options, "masks", { "as polygons": 0, "masks of 32": 32, "masks of 64": 64, "masks of 128": 128 }).name("walls").onChange(changed);
    folder.add(options, "own").name("own material").onChange(changed);
    folder.addColor(options, "outer").name("outside").onChange(changed);
    folder.addColor(options, "inner").name("inside").onChange(changed);
    folder.add(options, "roughness", 0, 1).onChange(changed);
    folder.add(options, "explode", 0, 1).name("explode").onChange(changed);
    folder.add(options, "by", ["pieces", "tetrahedra"]).name("into").onChange(changed);
  }

  // Where the frame has them; `top` is the value that is red.
  show(frame: number, clouds: Cloud[], rows: Float32Array, width: number, colourBy: string, top: number): void {
    const { info } = this.store, field = info.pointFields.indexOf(colourBy), { options, shared } = this;
    shared.softWalls.value = options.walls;
    shared.softSmooth.value = options.smooth;
    shared.softBump.value = options.bumps ? kBump : 0;
    this.bodiesShown = 0;
    const there = new Set<SoftBody>();
    for (let b = 0; b < info.bodies.length && b * width < rows.length; ++b) {
      const mesh = this.store.softMesh(b, frame);
      if (mesh < 0 || Number.isNaN(rows[b * width])) continue;
      const body = this.bodyOf(b, mesh), version = this.store.versionAt(b, frame);
      if (!body) continue;
      const tears = this.store.tears(b, version, this.arrived);
      if (!body.goTo(version, tears) && body.version < 0) continue;
      there.add(body);
      ++this.bodiesShown;
      const cloud = clouds.find((c) => c.body === b && c.ofCage);
      const values = cloud && field >= 0 ? cloud.values[field] : undefined;
      body.place(cloud && cloud.positions.length > 0 ? cloud.positions : undefined, values);
      body.explode(options.explode, options.by);
      body.group.position.fromArray(rows, b * width);
      body.group.quaternion.fromArray(rows, b * width + 3);
      body.group.updateMatrixWorld();
      this.paint(body, b, colourBy, values !== undefined, top);
    }
    for (const body of this.bodies.values()) body.group.visible = there.has(body);
  }

  private bodyOf(b: number, mesh: number): SoftBody | undefined {
    const known = this.bodies.get(b);
    if (known?.mesh === mesh) return known;
    const asset = this.store.soft(mesh, this.arrived);
    if (!asset) return undefined;
    if (known) this.remove(known);
    let statics = this.statics.get(mesh);
    if (!statics) this.statics.set(mesh, (statics = new SoftStatics(asset)));
    const body = new SoftBody(statics, mesh, this.shared);
    body.setLook(this.lookOf(body, b));
    this.bodies.set(b, body);
    this.group.add(body.group);
    return body;
  }

  // Colours of slots, outside and inside.
  private lookOf(body: SoftBody, b: number): { colours: Color[]; roughness: number[]; metallic: number[] } {
    const { bodies, materials, slots } = this.store.info, names = slots[String(body.mesh)] ?? [];
    const look = { colours: [] as Color[], roughness: [] as number[], metallic: [] as number[] };
    const plain: Material = { colour: [0.72, 0.72, 0.7], roughness: 0.6, metallic: 0, transparency: 0, refraction: 1.5 };
    for (let slot = 0; slot < body.statics.slots; ++slot) {
      const material = materials[slot === 0 ? bodies[b].material : names[slot - 1] ?? ""] ?? plain, inside = materials[material.inside ?? ""];
      for (const m of [material, inside ?? material]) {
        const colour = new Color().setRGB(...m.colour);
        look.colours.push(m === material && look.colours.length % 2 ? colour.multiplyScalar(0.84) : colour);
        if (this.options.own) colour.set(look.colours.length % 2 ? this.options.outer : this.options.inner);
        look.roughness.push(this.options.own ? this.options.roughness : m.roughness);
        look.metallic.push(m.metallic);
      }
    }
    return look;
  }

  private paint(body: SoftBody, b: number, colourBy: string, valued: boolean, top: number): void {
    const { options } = this, { bodies, materials } = this.store.info, material = materials[bodies[b].material];
    const { softMode, softTint, softTop, solidKind, softRough } = body.uniforms;
    softMode.value = 0;
    if (b === this.selected) {
      softMode.value = 1;
      softTint.value.set(0xff7a1a);
    } else if (options.copies) softMode.value = 3;
    else if (valued) softMode.value = 2;
    else if (colourBy === "body") {
      softMode.value = 1;
      distinctColour(b, softTint.value as Color);
    } else if (colourBy !== "material") {
      softMode.value = 1;
      softTint.value.setRGB(...(material?.colour ?? [0.5, 0.5, 0.5]));
    }
    softTop.value = top;
    const solid = options.solid === "by material" ? solidOf(material?.inside ?? bodies[b].material) : options.solid;
    solidKind.value = kSolids.indexOf(solid);
    softRough.value = options.rough ? kRoughness * body.statics.size : 0;
    body.showCage(options.cage);
    const look = options.own ? `${options.outer} ${options.inner} ${options.roughness}` : "";
    if (body.group.userData.look === look) return;
    body.group.userData.look = look;
    body.setLook(this.lookOf(body, b));
  }

  // Chooses, for each body, what is drawn of it, before a picture of `height` pixels from `eye`.
  setView(eye: Vector3, slope: number, height: number): void {
    for (const body of this.bodies.values()) {
      if (!body.group.visible) continue;
      const distance = Math.max(body.group.localToWorld(body.statics.middle.clone()).distanceTo(eye), 1e-9);
      const edge = body.statics.size / Math.cbrt(body.statics.tets), near = (edge * height) / (2 * slope * distance) > kNearEdge;
      body.use(this.cut, this.rich, this.options.rough && near, this.options.masks, this.wireframe, () => this.clip ?? (() => {}));
    }
  }

  // Normal maps and reflections cost too much where the processor draws.
  setRich(on: boolean): void {
    this.rich = on;
  }

  setWireframe(on: boolean): void {
    this.wireframe = on;
  }

  // The nearest body that a ray hits: tetrahedra first, then the triangles of those that it passes.
  pick(ray: Raycaster): { body: number; distance: number } {
    let picked = -1, nearest = Infinity;
    for (const [b, body] of this.bodies) {
      if (!body.group.visible) continue;
      const own = ray.ray.clone().applyMatrix4(new Matrix4().copy(body.group.matrixWorld).invert());
      const distance = hit(body, own);
      if (distance < nearest) {
        nearest = distance;
        picked = b;
      }
    }
    return { body: picked, distance: nearest };
  }

  clear(): void {
    for (const body of this.bodies.values()) this.remove(body);
    this.bodies.clear();
    for (const statics of this.statics.values()) statics.dispose();
    this.statics.clear();
  }

  private remove(body: SoftBody): void {
    this.group.remove(body.group);
    body.dispose();
  }
}

// How far along a ray in the body's frame it meets what is shown; Infinity for a miss. Poses have no scale.
function hit(body: SoftBody, ray: Ray): number {
  const { asset } = body.statics, parts = [asset.outside, asset.walls].filter((p) => p.indices.length > 0), { tets } = body.statics;
  const x = [0, 1, 2, 3].map(() => new Vector3()), shift = new Vector3(), place = [0, 1, 2].map(() => new Vector3());
  const low = new Vector3(), high = new Vector3(), found = new Vector3();
  let nearest = Infinity;
  for (let t = 0; t < tets; ++t) {
    body.shift(t, shift);
    low.setScalar(Infinity);
    high.setScalar(-Infinity);
    for (let k = 0; k < 4; ++k) {
      body.node(body.texels[4 * t + k] & kNodeMask, x[k]).add(shift);
      low.min(x[k]);
      high.max(x[k]);
    }
    if (!boxHit(ray, low, high)) continue;
    for (const part of parts) {
      const { start, triangles } = body.statics.trianglesOf(part);
      for (let i = start[t]; i < start[t + 1]; ++i) {
        const first = part.indices[3 * triangles[i]];
        if (!body.seen(part.flags[first], t)) continue;
        for (let c = 0; c < 3; ++c) {
          const v = part.indices[3 * triangles[i] + c];
          place[c].set(0, 0, 0);
          for (let k = 0; k < 4; ++k) place[c].addScaledVector(x[k], part.weights[4 * v + k]);
        }
        if (!ray.intersectTriangle(place[0], place[1], place[2], false, found)) continue;
        nearest = Math.min(nearest, found.distanceTo(ray.origin));
      }
    }
  }
  return nearest;
}

function boxHit({ origin, direction }: Ray, low: Vector3, high: Vector3): boolean {
  let from = 0, to = Infinity;
  for (const axis of ["x", "y", "z"] as const) {
    const over = 1 / direction[axis], a = (low[axis] - origin[axis]) * over, b = (high[axis] - origin[axis]) * over;
    from = Math.max(from, Math.min(a, b));
    to = Math.min(to, Math.max(a, b));
  }
  return from <= to * (1 + 1e-9) || Number.isNaN(from) || Number.isNaN(to);
}
