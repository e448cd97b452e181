// One surface in a cage: buffers that go to the graphics card once, and textures with where the cage's vertices are (each
// frame) and which corners its tetrahedra have (where a tear changes some).
import {
  BufferAttribute, BufferGeometry, Color, Data3DTexture, DataTexture, DoubleSide, FloatType, Group, LinearFilter, LineBasicMaterial,
  LineSegments, Material, Matrix3, Mesh, MeshDepthMaterial, MeshLambertMaterial, MeshStandardMaterial, RedFormat, RGBADepthPacking, RGBAFormat,
  RGBAIntegerFormat, Sphere, UnsignedByteType, UnsignedIntType, Vector3, WebGLRenderer,
} from "three";
import {
  checksumOf, kExposureShift, kNoFace, kNodeMask, kSlotShift, neighboursAtRest, piecesOf, SoftAsset, SoftTear, SoftVertices,
  staticLists,
} from "./soft_data";
import { Cut, patchSoft, SoftUniforms } from "./soft_shaders";

const kMostWidth = 2048; // what every card has
const kRoughEdges = 6; // parts of an edge of a wall's triangle, where walls are rough
const kMostRough = 400_000; // triangles of rough walls

// As near to a square as powers of two allow.
function sizeFor(texels: number): [number, number] {
  let width = 1;
  while (width < kMostWidth && width * width < texels) width *= 2;
  return [width, Math.max(1, Math.ceil(texels / width))];
}

function floatTexture(texels: number): DataTexture {
  const [width, height] = sizeFor(texels), texture = new DataTexture(new Float32Array(4 * width * height), width, height, RGBAFormat, FloatType);
  texture.needsUpdate = true;
  return texture;
}

// The rows that hold so many texels are sent, or those that have these texels.
function sendRows(texture: DataTexture, texels: number | Iterable<number>): void {
  const width = texture.image.width as number, rows = new Set<number>();
  if (typeof texels === "number") for (let row = 0; row * width < texels; ++row) rows.add(row);
  else for (const t of texels) rows.add(Math.floor(t / width));
  if (rows.size === 0) return;
  for (const row of rows) texture.addUpdateRange(4 * width * row, 4 * width);
  texture.needsUpdate = true;
}

// Only these texels, once the card has the others.
function sendTexels(texture: DataTexture, texels: Iterable<number>): void {
  if (texture.userData.there) for (const t of texels) texture.addUpdateRange(4 * t, 4);
  texture.needsUpdate = true;
}

function geometryOf(part: SoftVertices): BufferGeometry {
  const geometry = new BufferGeometry();
  const add = (name: string, list: Float32Array | Uint32Array, size: number) => geometry.setAttribute(name, new BufferAttribute(list, size));
  add("position", part.rest, 3);
  add("softWeights", part.weights, 4);
  add("softCovector", part.covectors, 3);
  add("softTet", part.tets, 1);
  add("softFlags", part.flags, 1);
  geometry.setIndex(new BufferAttribute(part.indices, 1));
  geometry.boundingSphere = new Sphere(new Vector3(), Infinity); // where it is only the card knows
  return geometry;
}

// Every triangle as a grid, so that its inside can be raised. Weights and places at rest go on linearly; the grids of
// neighbours have the same points on the edge between.
export function subdivided(part: SoftVertices, n: number): SoftVertices {
  const each = ((n + 1) * (n + 2)) / 2, triangles = part.indices.length / 3, vertices = each * triangles;
  const out: SoftVertices = {
    weights: new Float32Array(4 * vertices), covectors: new Float32Array(3 * vertices), rest: new Float32Array(3 * vertices),
    tets: new Uint32Array(vertices), flags: new Uint32Array(vertices), indices: new Uint32Array(3 * n * n * triangles),
  };
  let corner = 0;
  for (let t = 0; t < triangles; ++t) {
    const [a, b, c] = part.indices.subarray(3 * t, 3 * t + 3), first = t * each;
    const mixed = (from: Float32Array, to: Float32Array, size: number, v: number, i: number, j: number) => {
      for (let k = 0; k < size; ++k)
        to[size * v + k] = (from[size * a + k] * (n - i - j) + from[size * b + k] * i + from[size * c + k] * j) / n;
    };
    const at = (i: number, j: number) => first + i * (n + 1) - (i * (i - 1)) / 2 + j;
    for (let i = 0; i <= n; ++i)
      for (let j = 0; i + j <= n; ++j) {
        const v = at(i, j);
        mixed(part.weights, out.weights, 4, v, i, j);
        mixed(part.covectors, out.covectors, 3, v, i, j);
        mixed(part.rest, out.rest, 3, v, i, j);
        out.tets[v] = part.tets[a];
        out.flags[v] = part.flags[a];
        if (i + j === n) continue;
        out.indices.set([v, at(i + 1, j), at(i, j + 1)], corner);
        corner += 3;
        if (i + j + 1 === n) continue;
        out.indices.set([at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)], corner);
        corner += 3;
      }
  }
  return out;
}

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
  readonly middle = new Vector3();
  readonly size: number;
  sent = 0; // texels of tears that were sent since the start
  private readonly nodeTexture: DataTexture;
  private readonly tetTexture: DataTexture;
  private readonly turnTexture: DataTexture; // gradients of the deformation at the cage's vertices, three texels each
  private readonly inverses: Float64Array; // of the edges at rest, by tetrahedron, nine by columns; zeros where it is flat
  private readonly volumes: Float64Array; // six times
  private shiftTexture?: DataTexture;
  private readonly rest: number[]; // of the cage's vertices, also those that tears have added
  private readonly undo: { version: number; nodes: number; rest: number; tets: Uint32Array; texels: Uint32Array }[] = [];
  private readonly parts = new Map<string, Mesh>(); // by name of the part and way of cutting
  private readonly cageLines: LineSegments;
  private neighbours?: Int32Array;
  private pieces?: { version: number; of: Uint32Array; count: number };
  private fine?: SoftVertices;
  private rangesOf?: Map<SoftVertices, { start: Uint32Array; triangles: Uint32Array }>;

  constructor(readonly asset: SoftAsset, readonly mesh: number, shared: SoftUniforms) {
    const tets = asset.texels.length / 4;
    this.texels = asset.texels.slice();
    this.nodes = asset.nodes.length / 3;
    this.rest = Array.from(asset.nodes);
    // A cage that has come apart entirely has four vertices a tetrahedron, so a tear never makes the texture larger.
    this.nodeTexture = floatTexture(Math.max(this.nodes, 4 * tets));
    this.turnTexture = floatTexture(3 * Math.max(this.nodes, 4 * tets));
    this.inverses = new Float64Array(9 * tets);
    this.volumes = new Float64Array(tets);
    const [width, height] = sizeFor(tets), padded = new Uint32Array(4 * width * height);
    padded.set(this.texels);
    this.tetTexture = new DataTexture(padded, width, height, RGBAIntegerFormat, UnsignedIntType);
    this.tetTexture.internalFormat = "RGBA32UI";
    this.tetTexture.unpackAlignment = 4;
    this.tetTexture.onUpdate = () => (this.tetTexture.userData.there = true);
    this.tetTexture.needsUpdate = true;
    const { lower, upper, deepest, count, shares } = asset.depths, low = new Vector3(...lower), high = new Vector3(...upper);
    this.middle.addVectors(low, high).multiplyScalar(0.5);
    this.size = Math.max(high.x - low.x, high.y - low.y, high.z - low.z, 1e-9);
    const depths = new Data3DTexture(shares.length ? shares : new Uint8Array(1), ...(shares.length ? count : ([1, 1, 1] as const)));
    depths.format = RedFormat;
    depths.type = UnsignedByteType;
    depths.minFilter = depths.magFilter = LinearFilter;
    depths.unpackAlignment = 1;
    depths.needsUpdate = true;
    this.uniforms = {
      ...shared,
      softNodes: { value: this.nodeTexture }, softTets: { value: this.tetTexture }, softShifts: { value: floatTexture(1) },
      softTurns: { value: this.turnTexture },
      softEdges: { value: this.edgeTexture() }, softDepths: { value: depths }, softLower: { value: low }, softUpper: { value: high },
      softDeepest: { value: deepest }, softMode: { value: 0 }, softTint: { value: new Color() }, softTop: { value: 1 },
      softLooks: { value: floatTexture(1) }, solidKind: { value: 0 }, solidMiddle: { value: this.middle }, solidScale: { value: 1 / this.size },
      softRough: { value: 0 }, softApart: { value: false }, softAllOpen: { value: false },
    };
    this.place(undefined);
    this.cageLines = this.makeCageLines();
    this.group.add(this.cageLines);
  }

  // Edges of the tetrahedra at rest, from their first corners: three texels each.
  private edgeTexture(): DataTexture {
    const { texels, nodes } = this.asset, tets = texels.length / 4, texture = floatTexture(3 * tets), data = texture.image.data as Float32Array;
    const edges = new Matrix3();
    for (let t = 0; t < tets; ++t) {
      for (let k = 1; k < 4; ++k)
        for (let d = 0; d < 3; ++d)
          data[4 * (3 * t + k - 1) + d] = nodes[3 * (texels[4 * t + k] & kNodeMask) + d] - nodes[3 * texels[4 * t] + d];
      for (let k = 0; k < 3; ++k) for (let d = 0; d < 3; ++d) edges.elements[3 * k + d] = data[4 * (3 * t + k) + d];
      this.volumes[t] = Math.abs(edges.determinant());
      if (this.volumes[t] > 0) edges.invert().toArray(this.inverses, 9 * t);
    }
    return texture;
  }

  private makeCageLines(): LineSegments {
    const tets = this.asset.texels.length / 4, pairs = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
    const lines: SoftVertices = {
      weights: new Float32Array(16 * tets), covectors: new Float32Array(12 * tets), rest: new Float32Array(12 * tets),
      tets: new Uint32Array(4 * tets), flags: new Uint32Array(4 * tets).fill(kNoFace), indices: new Uint32Array(12 * tets),
    };
    for (let t = 0; t < tets; ++t) {
      for (let k = 0; k < 4; ++k) {
        lines.weights[16 * t + 5 * k] = 1;
        lines.tets[4 * t + k] = t;
      }
      pairs.forEach(([a, b], e) => lines.indices.set([4 * t + a, 4 * t + b], 12 * t + 2 * e));
    }
    const material = new LineBasicMaterial({ color: 0x1b3f8f, transparent: true, opacity: 0.6 });
    patchSoft(material, this.uniforms, { wall: false, cut: "clipped" });
    material.customProgramCacheKey = () => "soft lines";
    const patch = material.onBeforeCompile;
    material.onBeforeCompile = (shader, renderer) => {
      const fragment = shader.fragmentShader;
      patch.call(material, shader, renderer);
      shader.fragmentShader = fragment;
    };
    const object = new LineSegments(geometryOf(lines), material);
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
    const { texels, inverses, volumes } = this, sums = new Float64Array(9 * this.nodes), weights = new Float64Array(this.nodes);
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
      this.neighbours ??= neighboursAtRest(this.asset.texels);
      this.pieces = { version: this.version, ...piecesOf(this.texels, this.neighbours) };
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

  // Slots that the vertices name.
  get slots(): number {
    let most = 0;
    for (const part of [this.asset.outside, this.asset.walls, this.asset.copies])
      for (const f of part.flags) most = Math.max(most, f >>> kSlotShift);
    return most + 1;
  }

  // Which vertices are shown, as lists: the outside in the way that is asked for, and the walls.
  shownParts(cut: Cut, rough: boolean): { name: string; vertices: SoftVertices; wall: boolean; cut: Cut }[] {
    const { outside, walls, copies } = this.asset;
    const way = cut !== "clipped" && copies.indices.length === 0 ? "clipped" : cut;
    const parts = [{ name: `outside ${way}`, vertices: way === "clipped" ? outside : copies, wall: false, cut: way }];
    if (walls.indices.length === 0) return parts;
    const n = Math.min(kRoughEdges, Math.floor(Math.sqrt(kMostRough / (walls.indices.length / 3))));
    const fine = rough && n > 1;
    if (fine) this.fine ??= subdivided(walls, n);
    parts.push({ name: fine ? "rough walls" : "walls", vertices: fine ? this.fine! : walls, wall: true, cut: "clipped" as Cut });
    return parts;
  }

  // Makes what is not there yet and shows it.
  use(cut: Cut, rich: boolean, rough: boolean, wireframe: boolean, clipPlanes: () => ((on: boolean) => void)): void {
    for (const part of this.parts.values()) part.visible = false;
    for (const { name, vertices, wall, cut: way } of this.shownParts(cut, rough)) {
      let object = this.parts.get(name);
      if (!object) {
        object = new Mesh(geometryOf(vertices), undefined);
        object.frustumCulled = false;
        object.castShadow = object.receiveShadow = true;
        object.customDepthMaterial = new MeshDepthMaterial({ depthPacking: RGBADepthPacking, side: DoubleSide });
        patchSoft(object.customDepthMaterial, this.uniforms, { wall, cut: way });
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
        patchSoft(material, this.uniforms, { wall, cut: way });
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

  // Triangles by tetrahedron.
  ranges(part: SoftVertices): { start: Uint32Array; triangles: Uint32Array } {
    this.rangesOf ??= new Map();
    let known = this.rangesOf.get(part);
    if (known) return known;
    const tets = this.texels.length / 4, count = part.indices.length / 3, start = new Uint32Array(tets + 1), triangles = new Uint32Array(count);
    for (let i = 0; i < count; ++i) ++start[part.tets[part.indices[3 * i]] + 1];
    for (let t = 0; t < tets; ++t) start[t + 1] += start[t];
    const next = start.slice();
    for (let i = 0; i < count; ++i) triangles[next[part.tets[part.indices[3 * i]]]++] = i;
    this.rangesOf.set(part, (known = { start, triangles }));
    return known;
  }

  get checksum(): number {
    return checksumOf([this.asset.outside, this.asset.walls, this.asset.copies].flatMap(staticLists));
  }

  get hasCopies(): boolean {
    return this.asset.copies.indices.length > 0;
  }

  dispose(): void {
    for (const part of this.parts.values()) {
      part.geometry.dispose();
      (part.material as Material).dispose();
      part.customDepthMaterial?.dispose();
    }
    this.cageLines.geometry.dispose();
    (this.cageLines.material as Material).dispose();
    for (const name of ["softNodes", "softTets", "softTurns", "softShifts", "softEdges", "softDepths", "softLooks"])
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
