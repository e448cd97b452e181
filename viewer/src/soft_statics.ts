// What bodies with the same surface in the same cage share: buffers that go to the graphics card once, and what is computed from
// them when it is asked for.
import {
  BufferAttribute, BufferGeometry, Data3DTexture, DataTexture, FloatType, LinearFilter, Matrix3, RedFormat, RGBAFormat, Sphere, UnsignedByteType,
  Vector3,
} from "three";
import { checksumOf, kNodeMask, kNoFace, kSlotShift, neighboursAtRest, SoftAsset, SoftVertices, staticLists } from "./soft_data";

import { makeMasks, SoftMasks } from "./soft_masks";

const kMostWidth = 2048; // what every card has
const kRoughEdges = 6; // parts of an edge of a wall's triangle, where walls are rough
const kMostRough = 400_000; // triangles of rough walls

// As near to a square as powers of two allow.
export function sizeFor(texels: number): [number, number] {
  let width = 1;
  while (width < kMostWidth && width * width < texels) width *= 2;
  return [width, Math.max(1, Math.ceil(texels / width))];
}

export function floatTexture(texels: number): DataTexture {
  const [width, height] = sizeFor(texels), texture = new DataTexture(new Float32Array(4 * width * height), width, height, RGBAFormat, FloatType);
  texture.needsUpdate = true;
  return texture;
}

// The rows that hold so many texels are sent, or those that have these texels.
export function sendRows(texture: DataTexture, texels: number | Iterable<number>): void {
  const width = texture.image.width as number, rows = new Set<number>();
  if (typeof texels === "number") for (let row = 0; row * width < texels; ++row) rows.add(row);
  else for (const t of texels) rows.add(Math.floor(t / width));
  if (rows.size === 0) return;
  for (const row of rows) texture.addUpdateRange(4 * width * row, 4 * width);
  texture.needsUpdate = true;
}

// Only these texels, once the card has the others.
export function sendTexels(texture: DataTexture, texels: Iterable<number>): void {
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
  if (part.masks) add("softMask", part.masks, 4);
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


const kEdges = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

export class SoftStatics {
  readonly tets: number;
  readonly edges: DataTexture; // of the tetrahedra at rest, from their first corners: three texels each
  readonly inverses: Float64Array; // of these, nine by columns; zeros where a tetrahedron is flat
  readonly volumes: Float64Array; // six times
  readonly depths: Data3DTexture;
  readonly middle = new Vector3();
  readonly size: number;
  private readonly geometries = new Map<SoftVertices, BufferGeometry>();
  private readonly ranges = new Map<SoftVertices, { start: Uint32Array; triangles: Uint32Array }>();
  private fine?: SoftVertices;
  private lines?: SoftVertices;
  private readonly masked = new Map<number, SoftMasks>(); // by size
  private across?: Int32Array;

  constructor(readonly asset: SoftAsset) {
    const { texels, nodes } = asset, tets = (this.tets = texels.length / 4), edges = new Matrix3();
    this.edges = floatTexture(3 * tets);
    this.inverses = new Float64Array(9 * tets);
    this.volumes = new Float64Array(tets);
    const data = this.edges.image.data as Float32Array;
    for (let t = 0; t < tets; ++t) {
      for (let k = 1; k < 4; ++k)
        for (let d = 0; d < 3; ++d) {
          const x = nodes[3 * (texels[4 * t + k] & kNodeMask) + d] - nodes[3 * texels[4 * t] + d];
          data[4 * (3 * t + k - 1) + d] = edges.elements[3 * (k - 1) + d] = x;
        }
      this.volumes[t] = Math.abs(edges.determinant());
      if (this.volumes[t] > 0) edges.invert().toArray(this.inverses, 9 * t);
    }
    const { lower, upper, count, shares } = asset.depths, low = new Vector3(...lower), high = new Vector3(...upper);
    this.middle.addVectors(low, high).multiplyScalar(0.5);
    this.size = Math.max(high.x - low.x, high.y - low.y, high.z - low.z, 1e-9);
    this.depths = new Data3DTexture(shares.length ? shares : new Uint8Array(1), ...(shares.length ? count : ([1, 1, 1] as const)));
    this.depths.format = RedFormat;
    this.depths.type = UnsignedByteType;
    this.depths.minFilter = this.depths.magFilter = LinearFilter;
    this.depths.unpackAlignment = 1;
    this.depths.needsUpdate = true;
  }

  geometry(part: SoftVertices): BufferGeometry {
    let known = this.geometries.get(part);
    if (!known) this.geometries.set(part, (known = geometryOf(part)));
    return known;
  }

  // Grids instead of the triangles of walls, where these are not too many; else the walls themselves.
  get roughWalls(): SoftVertices {
    const { walls } = this.asset, n = Math.min(kRoughEdges, Math.floor(Math.sqrt(kMostRough / Math.max(walls.indices.length / 3, 1))));
    return n > 1 ? (this.fine ??= subdivided(walls, n)) : walls;
  }

  // Walls as whole faces with masks of so many texels along an edge.
  masks(size: number): SoftMasks {
    let known = this.masked.get(size);
    if (!known) this.masked.set(size, (known = makeMasks(this.asset.walls, this.asset.nodes, this.asset.texels, size)));
    return known;
  }

  // The edges of the tetrahedra as lines, whose vertices are their corners.
  get cageLines(): SoftVertices {
    if (this.lines) return this.lines;
    const { tets } = this, lines: SoftVertices = {
      weights: new Float32Array(16 * tets), covectors: new Float32Array(12 * tets), rest: new Float32Array(12 * tets),
      tets: new Uint32Array(4 * tets), flags: new Uint32Array(4 * tets).fill(kNoFace), indices: new Uint32Array(12 * tets),
    };
    for (let t = 0; t < tets; ++t) {
      for (let k = 0; k < 4; ++k) {
        lines.weights[16 * t + 5 * k] = 1;
        lines.tets[4 * t + k] = t;
      }
      kEdges.forEach(([a, b], e) => lines.indices.set([4 * t + a, 4 * t + b], 12 * t + 2 * e));
    }
    return (this.lines = lines);
  }

  get neighbours(): Int32Array {
    return (this.across ??= neighboursAtRest(this.asset.texels));
  }

  // Triangles by tetrahedron.
  trianglesOf(part: SoftVertices): { start: Uint32Array; triangles: Uint32Array } {
    const known = this.ranges.get(part);
    if (known) return known;
    const count = part.indices.length / 3, start = new Uint32Array(this.tets + 1), made = { start, triangles: new Uint32Array(count) };
    for (let i = 0; i < count; ++i) ++start[part.tets[part.indices[3 * i]] + 1];
    for (let t = 0; t < this.tets; ++t) start[t + 1] += start[t];
    const next = start.slice();
    for (let i = 0; i < count; ++i) made.triangles[next[part.tets[part.indices[3 * i]]]++] = i;
    this.ranges.set(part, made);
    return made;
  }

  // Slots that the vertices name, and the one of the body.
  get slots(): number {
    let most = 0;
    for (const part of [this.asset.outside, this.asset.walls, this.asset.copies]) for (const f of part.flags) most = Math.max(most, f >>> kSlotShift);
    return most + 1;
  }

  get checksum(): number {
    return checksumOf([this.asset.outside, this.asset.walls, this.asset.copies].flatMap(staticLists));
  }

  dispose(): void {
    for (const geometry of this.geometries.values()) geometry.dispose();
    for (const { texture } of this.masked.values()) texture.dispose();
    this.edges.dispose();
    this.depths.dispose();
  }
}
