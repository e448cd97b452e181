// Surfaces in cages as they arrive: buffers that never change, and which corners of tetrahedra each version of a body changes.
// docs/file-formats.md has the bytes.

// Bits of a vertex's flags.
export const kNoFace = 4, kFaceBits = 7, kInsideBit = 8, kCopiesShift = 4, kUpperBit = 64, kOddBit = 128, kSlotShift = 16;
// Above this bit of the last corner of a tetrahedron stand the bits of its faces that are open.
export const kExposureShift = 28;
export const kNodeMask = 0x0fffffff;

export interface SoftVertices {
  weights: Float32Array; // four
  covectors: Float32Array; // of the normals at rest, three
  rest: Float32Array;
  tets: Uint32Array;
  flags: Uint32Array;
  indices: Uint32Array;
  masks?: Float32Array; // of whole faces: where their mask is, four
}

// How far below the surface the points of a grid are, 255 at `deepest`.
export interface SoftDepths {
  count: [number, number, number];
  lower: [number, number, number];
  upper: [number, number, number];
  deepest: number;
  shares: Uint8Array; // x fastest
}

export interface SoftAsset {
  outside: SoftVertices; // clipped by the tetrahedra
  walls: SoftVertices;
  copies: SoftVertices; // whole triangles, once for each tetrahedron that holds a part; may be empty
  nodes: Float32Array; // of the cage, at rest
  texels: Uint32Array; // four corners a tetrahedron, with the open faces
  depths: SoftDepths;
}

export interface SoftTear {
  mesh: number;
  fresh: boolean; // changes are those from the asset, not from the version before
  nodes: number; // how many the cage has now
  rest: Float32Array; // of the new ones
  tets: Uint32Array; // that change
  texels: Uint32Array; // four each
}

// Reads numbers one list after another.
class Lists {
  private at = 0;
  constructor(private readonly data: ArrayBuffer) {}
  floats(count: number): Float32Array {
    return this.take(new Float32Array(this.data, this.at, count));
  }
  words(count: number): Uint32Array {
    return this.take(new Uint32Array(this.data, this.at, count));
  }
  bytes(count: number): Uint8Array {
    return this.take(new Uint8Array(this.data, this.at, count));
  }
  private take<T extends { byteLength: number }>(list: T): T {
    this.at += list.byteLength;
    return list;
  }
  end(what: string): void {
    if (this.at !== this.data.byteLength) throw new Error(`${what} arrived damaged`);
  }
}

export function parseSoft(data: ArrayBuffer): SoftAsset {
  const lists = new Lists(data), counts = lists.words(11), corners = lists.floats(6), [deepest] = lists.floats(1);
  const part = (k: number): SoftVertices => {
    const vertices = counts[2 * k];
    return {
      weights: lists.floats(4 * vertices), covectors: lists.floats(3 * vertices), rest: lists.floats(3 * vertices),
      tets: lists.words(vertices), flags: lists.words(vertices), indices: lists.words(3 * counts[2 * k + 1]),
    };
  };
  const outside = part(0), walls = part(1), copies = part(2), nodes = lists.floats(3 * counts[6]), texels = lists.words(4 * counts[7]);
  const count: [number, number, number] = [counts[8], counts[9], counts[10]];
  const depths = {
    count, lower: [corners[0], corners[1], corners[2]] as [number, number, number],
    upper: [corners[3], corners[4], corners[5]] as [number, number, number], deepest,
    shares: lists.bytes(count[0] * count[1] * count[2]),
  };
  lists.end("a surface in a cage");
  return { outside, walls, copies, nodes, texels, depths };
}

export function parseTear(data: ArrayBuffer): SoftTear {
  const lists = new Lists(data), [mesh, fresh, nodes, added] = lists.words(4), rest = lists.floats(3 * added);
  const [count] = lists.words(1), pairs = lists.words(5 * count), tets = new Uint32Array(count), texels = new Uint32Array(4 * count);
  for (let i = 0; i < count; ++i) {
    tets[i] = pairs[5 * i];
    texels.set(pairs.subarray(5 * i + 1, 5 * i + 5), 4 * i);
  }
  lists.end("a tear");
  return { mesh, fresh: fresh === 1, nodes, rest, tets, texels };
}

// A number for what a list holds (FNV-1a over its bytes), by which tests see that buffers are never written.
export function checksumOf(lists: ArrayBufferView[]): number {
  let sum = 0x811c9dc5;
  for (const list of lists)
    for (const byte of new Uint8Array(list.buffer, list.byteOffset, list.byteLength)) sum = Math.imul(sum ^ byte, 0x01000193) >>> 0;
  return sum;
}

export const staticLists = (v: SoftVertices): ArrayBufferView[] => [v.weights, v.covectors, v.rest, v.tets, v.flags, v.indices];

const sortedFace = (texels: Uint32Array, t: number, k: number): [number, number, number] => {
  const list = [0, 1, 2, 3].filter((c) => c !== k).map((c) => texels[4 * t + c] & kNodeMask);
  list.sort((a, b) => a - b);
  return [list[0], list[1], list[2]];
};

// Across the face opposite to each corner at rest: 4 t + k of the other side, -1 for none.
export function neighboursAtRest(texels: Uint32Array): Int32Array {
  const known = new Map<string, number>(), neighbours = new Int32Array(texels.length).fill(-1);
  for (let c = 0; c < texels.length; ++c) {
    const key = sortedFace(texels, c >> 2, c & 3).join(), other = known.get(key);
    if (other === undefined) known.set(key, c);
    else {
      neighbours[c] = other;
      neighbours[other] = c;
    }
  }
  return neighbours;
}

// The connected piece of each tetrahedron, numbered by their first ones: they hold together by faces that are not open.
export function piecesOf(texels: Uint32Array, neighbours: Int32Array): { of: Uint32Array; count: number } {
  const tets = texels.length / 4, of = new Uint32Array(tets).fill(0xffffffff), stack: number[] = [];
  let count = 0;
  for (let first = 0; first < tets; ++first) {
    if (of[first] !== 0xffffffff) continue;
    of[first] = count;
    stack.push(first);
    for (let t = stack.pop(); t !== undefined; t = stack.pop()) {
      const open = texels[4 * t + 3] >>> kExposureShift;
      for (let k = 0; k < 4; ++k) {
        const other = neighbours[4 * t + k] >> 2;
        if (neighbours[4 * t + k] < 0 || (open >> k) & 1 || of[other] !== 0xffffffff) continue;
        of[other] = count;
        stack.push(other);
      }
    }
    ++count;
  }
  return { of, count };
}
