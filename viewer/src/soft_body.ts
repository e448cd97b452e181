// One surface in a cage as a body shows it: textures with where the cage's vertices are (each frame) and which corners its
// tetrahedra have (where a tear changes some), and what is drawn.
import {
  Color, DataTexture, DoubleSide, FloatType, Group, LineBasicMaterial, LineSegments, Material, Mesh, MeshDepthMaterial, MeshLambertMaterial,
  MeshStandardMaterial, RGBADepthPacking, RGBAFormat, RGBAIntegerFormat, UnsignedIntType, Vector3, WebGLRenderer,
} from "three";
import { kExposureShift, kNoFace, kNodeMask, piecesOf, SoftTear, SoftVertices } from "./soft_data";
import { Cut, patchSoft, SoftUniforms } from "./soft_shaders";
import { floatTexture, sendRows, sendTexels, sizeFor, SoftStatics } from "./soft_statics";

export interface SoftLook {
  colours: Color[]; // by 2 slot + inside
  roughness: number[];
  metallic: number[];
}

export class SoftBody {
  readonly group = new Group();
  readonly uniforms: SoftUniforms;
  version = -1; // of the body's mesh, that the texels show
  readonly texels: Uint32Array;
  nodes: number; // of the cage
  sent = 0; // texels of tears that were sent since the start
  private readonly nodeTexture: DataTexture;
  private readonly tetTexture: DataTexture;
  private readonly turnTexture: DataTexture; // gradients of the deformation at the cage's vertices, three texels each
  private shiftTexture?: DataTexture;
  private readonly rest: number[]; // of the cage's vertices, also those that tears have added
  private readonly undo: { version: number; nodes: number; rest: number; tets: Uint32Array; texels: Uint32Array }[] = [];
  private readonly parts = new Map<string, Mesh>(); // by name of the part and way of cutting
  private readonly cageLines: LineSegments;
  private pieces?: { version: number; of: Uint32Array; count: number };

  constructor(readonly statics: SoftStatics, readonly mesh: number, shared: SoftUniforms) {
    const { asset, tets } = statics;
    this.texels = asset.texels.slice();
    this.nodes = asset.nodes.length / 3;
    this.rest = Array.from(asset.nodes);
    // A cage that has come apart entirely has four vertices a tetrahedron, so a tear never makes the texture larger.
    this.nodeTexture = floatTexture(Math.max(this.nodes, 4 * tets));
    this.turnTexture = floatTexture(3 * Math.max(this.nodes, 4 * tets));
    const [width, height] = sizeFor(tets), padded = new Uint32Array(4 * width * height);
    padded.set(this.texels);
    this.tetTexture = new DataTexture(padded, width, height, RGBAIntegerFormat, UnsignedIntType);
    this.tetTexture.internalFormat = "RGBA32UI";
    this.tetTexture.unpackAlignment = 4;
    this.tetTexture.onUpdate = () => (this.tetTexture.userData.there = true);
    this.tetTexture.needsUpdate = true;
    const { lower, upper, deepest } = asset.depths;
    this.uniforms = {
      ...shared,
      softNodes: { value: this.nodeTexture }, softTets: { value: this.tetTexture }, softShifts: { value: floatTexture(1) },
      softTurns: { value: this.turnTexture },
      softEdges: { value: statics.edges }, softDepths: { value: statics.depths }, softLower: { value: new Vector3(...lower) },
      softUpper: { value: new Vector3(...upper) },
      softDeepest: { value: deepest }, softMode: { value: 0 }, softTint: { value: new Color() }, softTop: { value: 1 },
      softLooks: { value: floatTexture(1) }, solidKind: { value: 0 }, solidMiddle: { value: statics.middle }, solidScale: { value: 1 / statics.size },
      softMasks: { value: null }, softMaskSize: { value: 1 }, softRough: { value: 0 }, softApart: { value: false }, softAllOpen: { value: false },
    };
    this.place(undefined);
    this.cageLines = this.makeCageLines();
    this.group.add(this.cageLines);
  }

  private makeCageLines(): LineSegments {
    const material = new LineBasicMaterial({ color: 0x1b3f8f, transparent: true, opacity: 0.6 });
    patchSoft(material, this.uniforms, { wall: false, cut: "clipped" });
    material.customProgramCacheKey = () => "soft lines";
    const patch = material.onBeforeCompile;
    material.onBeforeCompile = (shader, renderer) => {
      const fragment = shader.fragmentShader;
      patch.call(material, shader, renderer);
      shader.fragmentShader = fragment;
    };
    const object = new LineSegments(this.statics.geometry(this.statics.cageLines), material);
    object.frustumCulled = false;
    object.visible = false;
    object.renderOrder = 1;
    return object;
  }

  showCage(on: boolean): void {
    this.cageLines.visible = on;
  }

  // Makes the texels those of a version. `tears`: those of the versions up to it, from the last one on that is fresh at least.
  goTo(version: number, tears: (SoftTear | undefined)[]): boolean {
    if (version === this.version) return true;
    let first = version;
    while (first >= 0 && tears[first] && !tears[first]!.fresh) --first;
    if (first < 0 || !tears[first]) return false;
    const changed = new Set<number>();
    const last = () => this.undo[this.undo.length - 1];
    while (this.undo.length && (this.undo[0].version !== first || last().version > version)) this.stepBack(changed);
    const done = this.undo.length ? last().version : first - 1;
    for (let v = done + 1; v <= version; ++v) this.stepOn(v, tears[v]!, changed);
    this.version = version;
    const data = this.tetTexture.image.data as Uint32Array;
    for (const t of changed) data.set(this.texels.subarray(4 * t, 4 * t + 4), 4 * t);
    if (changed.size) sendTexels(this.tetTexture, changed);
    this.sent += changed.size;
    return true;
  }

  private stepOn(version: number, tear: SoftTear, changed: Set<number>): void {
    const old = new Uint32Array(4 * tear.tets.length);
    tear.tets.forEach((t, i) => {
      old.set(this.texels.subarray(4 * t, 4 * t + 4), 4 * i);
      changed.add(t);
    });
    this.undo.push({ version, nodes: this.nodes, rest: this.rest.length, tets: tear.tets, texels: old });
    tear.tets.forEach((t, i) => this.texels.set(tear.texels.subarray(4 * i, 4 * i + 4), 4 * t));
    for (const x of tear.rest) this.rest.push(x);
    this.nodes = tear.nodes;
  }

  private stepBack(changed: Set<number>): void {
    const { nodes, rest, tets, texels } = this.undo.pop()!;
    tets.forEach((t, i) => {
      this.texels.set(texels.subarray(4 * i, 4 * i + 4), 4 * t);
      changed.add(t);
    });
    this.nodes = nodes;
    this.rest.length = rest;
  }

  // Where the cage's vertices are; undefined: at rest. Positions that are not as many leave it there.
  place(positions: Float32Array | undefined, values?: Float32Array): void {
    const from = positions && positions.length === 3 * this.nodes ? positions : this.rest, data = this.nodeTexture.image.data as Float32Array;
    for (let i = 0; i < this.nodes; ++i) {
      data[4 * i] = from[3 * i];
      data[4 * i + 1] = from[3 * i + 1];
      data[4 * i + 2] = from[3 * i + 2];
      data[4 * i + 3] = values && values.length === this.nodes ? values[i] : 0;
    }
    sendRows(this.nodeTexture, this.nodes);
    if (this.uniforms.softSmooth.value) this.turn(data);
  }

  // At each of the cage's vertices the mean gradient of its tetrahedra, by their volumes.
  private turn(places: Float32Array): void {
    const { texels } = this, { inverses, volumes } = this.statics, sums = new Float64Array(9 * this.nodes), weights = new Float64Array(this.nodes);
    const own = new Float64Array(9), nodes = [0, 0, 0, 0];
    for (let t = 0; t < volumes.length; ++t) {
      if (!(volumes[t] > 0)) continue;
      for (let k = 0; k < 4; ++k) nodes[k] = texels[4 * t + k] & kNodeMask;
      for (let column = 0; column < 3; ++column)
        for (let row = 0; row < 3; ++row) {
          let sum = 0;
          for (let k = 0; k < 3; ++k) sum += (places[4 * nodes[k + 1] + row] - places[4 * nodes[0] + row]) * inverses[9 * t + 3 * column + k];
          own[3 * column + row] = volumes[t] * sum;
        }
      for (const v of nodes) {
        weights[v] += volumes[t];
        for (let i = 0; i < 9; ++i) sums[9 * v + i] += own[i];
      }
    }
    const data = this.turnTexture.image.data as Float32Array;
    for (let v = 0; v < this.nodes; ++v)
      for (let i = 0; i < 9; ++i) data[4 * (3 * v + Math.floor(i / 3)) + (i % 3)] = weights[v] > 0 ? sums[9 * v + i] / weights[v] : 0;
    sendRows(this.turnTexture, 3 * this.nodes);
  }

  node(i: number, out: Vector3): Vector3 {
    return out.fromArray(this.nodeTexture.image.data as Float32Array, 4 * i);
  }

  // Moves tetrahedra, or the pieces that hold together, away from the middle: 0 not at all, 1 to twice the distance.
  explode(share: number, by: "tetrahedra" | "pieces"): void {
    const { uniforms } = this, apart = share > 0;
    uniforms.softApart.value = apart;
    uniforms.softAllOpen.value = apart && by === "tetrahedra";
    if (!apart) return;
    const tets = this.texels.length / 4;
    this.shiftTexture ??= floatTexture(tets);
    uniforms.softShifts.value = this.shiftTexture;
    if (by === "pieces" && this.pieces?.version !== this.version) {
      this.pieces = { version: this.version, ...piecesOf(this.texels, this.statics.neighbours) };
    }
    const piece = (t: number) => (by === "pieces" ? this.pieces!.of[t] : t), count = by === "pieces" ? this.pieces!.count : tets;
    const sums = new Float64Array(4 * count), corner = new Vector3(), middle = new Vector3();
    for (let t = 0; t < tets; ++t)
      for (let k = 0; k < 4; ++k) {
        this.node(this.texels[4 * t + k] & kNodeMask, corner);
        const at = 4 * piece(t);
        sums[at] += corner.x;
        sums[at + 1] += corner.y;
        sums[at + 2] += corner.z;
        sums[at + 3] += 1;
        middle.addScaledVector(corner, 1 / (4 * tets));
      }
    const data = this.shiftTexture.image.data as Float32Array;
    for (let t = 0; t < tets; ++t) {
      const at = 4 * piece(t), m = 1 / sums[at + 3];
      data[4 * t] = share * (sums[at] * m - middle.x);
      data[4 * t + 1] = share * (sums[at + 1] * m - middle.y);
      data[4 * t + 2] = share * (sums[at + 2] * m - middle.z);
    }
    sendRows(this.shiftTexture, tets);
  }

  setLook(look: SoftLook): void {
    const count = look.colours.length, texture = new DataTexture(new Float32Array(8 * count), count, 2, RGBAFormat, FloatType);
    const data = texture.image.data as Float32Array;
    look.colours.forEach((c, i) => {
      c.toArray(data, 4 * i);
      data[4 * (count + i)] = look.roughness[i];
      data[4 * (count + i) + 1] = look.metallic[i];
    });
    texture.needsUpdate = true;
    (this.uniforms.softLooks.value as DataTexture).dispose();
    this.uniforms.softLooks.value = texture;
  }

  // Which vertices are shown, as lists: the outside in the way that is asked for, and the walls.
  shownParts(cut: Cut, rough: boolean, masks: number): { name: string; vertices: SoftVertices; wall: boolean; cut: Cut; masked?: boolean }[] {
    const { outside, walls, copies } = this.statics.asset;
    const way = cut !== "clipped" && copies.indices.length === 0 ? "clipped" : cut;
    const parts: { name: string; vertices: SoftVertices; wall: boolean; cut: Cut; masked?: boolean }[] = [
      { name: `outside ${way}`, vertices: way === "clipped" ? outside : copies, wall: false, cut: way },
    ];
    if (walls.indices.length === 0) return parts;
    if (masks > 0) {
      const { vertices, texture } = this.statics.masks(masks);
      this.uniforms.softMasks.value = texture;
      this.uniforms.softMaskSize.value = masks;
      parts.push({ name: `masks ${masks}`, vertices, wall: true, cut: "clipped", masked: true });
      return parts;
    }
    parts.push({ name: rough ? "rough walls" : "walls", vertices: rough ? this.statics.roughWalls : walls, wall: true, cut: "clipped" as Cut });
    return parts;
  }

  // Makes what is not there yet and shows it.
  use(cut: Cut, rich: boolean, rough: boolean, masks: number, wireframe: boolean, clipPlanes: () => ((on: boolean) => void)): void {
    for (const part of this.parts.values()) part.visible = false;
    for (const { name, vertices, wall, cut: way, masked } of this.shownParts(cut, rough, masks)) {
      let object = this.parts.get(name);
      if (!object) {
        object = new Mesh(this.statics.geometry(vertices), undefined);
        object.frustumCulled = false;
        object.castShadow = object.receiveShadow = true;
        object.customDepthMaterial = new MeshDepthMaterial({ depthPacking: RGBADepthPacking, side: DoubleSide });
        patchSoft(object.customDepthMaterial, this.uniforms, { wall, cut: way, masked });
        object.userData.part = { wall, cut: way, masked };
        if (way === "distance") {
          const clip = clipPlanes();
          object.onBeforeRender = object.onBeforeShadow = () => clip(true);
          object.onAfterRender = object.onAfterShadow = () => clip(false);
        }
        this.parts.set(name, object);
        this.group.add(object);
      }
      const wanted = `${rich}`;
      if (object.userData.look !== wanted) {
        (object.material as Material | undefined)?.dispose?.();
        const material = rich ? new MeshStandardMaterial({ side: DoubleSide }) : new MeshLambertMaterial({ side: DoubleSide });
        patchSoft(material, this.uniforms, { wall, cut: way, masked });
        object.material = material;
        object.userData.look = wanted;
      }
      (object.material as MeshLambertMaterial).wireframe = wireframe;
      object.visible = true;
    }
  }

  visibleParts(): Mesh[] {
    return [...this.parts.values()].filter((part) => part.visible);
  }

  // Whether a wall can be seen: its face is open, and walls are shown.
  seen(flags: number, tet: number): boolean {
    const face = flags & 7;
    if (face >= kNoFace) return true;
    if (!(this.uniforms.softWalls.value as boolean)) return false;
    return (this.uniforms.softAllOpen.value as boolean) || ((this.texels[4 * tet + 3] >>> (kExposureShift + face)) & 1) === 1;
  }

  shift(tet: number, out: Vector3): Vector3 {
    if (!(this.uniforms.softApart.value as boolean)) return out.set(0, 0, 0);
    return out.fromArray(this.shiftTexture!.image.data as Float32Array, 4 * tet);
  }

  dispose(): void {
    for (const part of this.parts.values()) {
      (part.material as Material).dispose();
      part.customDepthMaterial?.dispose();
    }
    (this.cageLines.material as Material).dispose();
    for (const name of ["softNodes", "softTets", "softTurns", "softShifts", "softLooks"])
      (this.uniforms[name].value as DataTexture).dispose();
  }
}

// Turns clip distances on and off around a draw call; undefined where the card has none.
export function clipDistances(renderer: WebGLRenderer): ((on: boolean) => void) | undefined {
  const gl = renderer.getContext() as WebGL2RenderingContext, extension = gl.getExtension("WEBGL_clip_cull_distance");
  if (!extension) return undefined;
  return (on) => {
    for (let k = 0; k < 4; ++k) {
      const plane = (extension as { CLIP_DISTANCE0_WEBGL: number }).CLIP_DISTANCE0_WEBGL + k;
      if (on) gl.enable(plane);
      else gl.disable(plane);
    }
  };
}
