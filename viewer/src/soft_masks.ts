// Walls as the published method draws them: whole faces of tetrahedra, with a mask of what is solid. Two faces share a tile of a
// texture, which is read without filtering, so contours are off by up to 0.71 texel. The polygons of walls have no such error; masks
// are there for comparison. Made from the polygons on this side, when they are asked for.
import { DataTexture, NearestFilter, RedFormat, UnsignedByteType } from "three";
import { kFaceBits, kNodeMask, SoftVertices } from "./soft_data";

const kWidth = 2048; // of the texture: what every card has
const kSlack = 1e-5; // in texels' coordinates: contours are drawn with the texels whose middle lies on them

export interface SoftMasks {
  vertices: SoftVertices; // whole faces, with `masks`
  texture: DataTexture;
}

// The corners of a face in ascending order.
const cornersOf = (face: number): [number, number, number] => [0, 1, 2, 3].filter((k) => k !== face) as [number, number, number];

// Texel of a half: the second one is the first turned about the middle of the tile, which is a texel wider than high so that they
// do not touch.
export function maskTexel(n: number, half: number, i: number, j: number): [number, number] {
  return half ? [n - i, n - 1 - j] : [i, j];
}

export function makeMasks(walls: SoftVertices, nodes: Float32Array, texels: Uint32Array, n: number): SoftMasks {
  const faces = new Map<number, number[]>(); // first corners of triangles, by 4 t + face
  for (let c = 0; c < walls.indices.length; c += 3) {
    const v = walls.indices[c], key = 4 * walls.tets[v] + (walls.flags[v] & kFaceBits);
    const list = faces.get(key);
    if (list) list.push(c);
    else faces.set(key, [c]);
  }
  const across = Math.floor(kWidth / (n + 1)), tiles = Math.ceil(faces.size / 2);
  const height = n * Math.max(1, Math.ceil(tiles / across)), data = new Uint8Array(kWidth * height), count = 3 * faces.size;
  const vertices: SoftVertices = {
    weights: new Float32Array(4 * count), covectors: new Float32Array(3 * count), rest: new Float32Array(3 * count), tets: new Uint32Array(count),
    flags: new Uint32Array(count), indices: new Uint32Array(count), masks: new Float32Array(4 * count),
  };
  let at = 0;
  for (const [key, triangles] of faces) {
    const t = key >> 2, corners = cornersOf(key & 3), half = at & 1, tile = at >> 1;
    const left = (tile % across) * (n + 1), top = Math.floor(tile / across) * n;
    let turn = 0; // twice the area in the face's own coordinates: which way it winds
    for (const c of triangles) {
      const [a, b, d] = [0, 1, 2].map((k) => {
        const v = walls.indices[c + k];
        return [walls.weights[4 * v + corners[1]] * n, walls.weights[4 * v + corners[2]] * n];
      });
      const area = (b[0] - a[0]) * (d[1] - a[1]) - (b[1] - a[1]) * (d[0] - a[0]);
      turn += area;
      if (area === 0) continue;
      const side = (p: number[], q: number[], x: number, y: number) => ((q[0] - p[0]) * (y - p[1]) - (q[1] - p[1]) * (x - p[0])) / area;
      const low = [0, 1].map((k) => Math.max(0, Math.floor(Math.min(a[k], b[k], d[k]) - 0.5)));
      const high = [0, 1].map((k) => Math.min(n - 1, Math.ceil(Math.max(a[k], b[k], d[k]))));
      for (let j = low[1]; j <= high[1]; ++j)
        for (let i = low[0]; i <= high[0] && i + j < n; ++i) {
          const x = i + 0.5, y = j + 0.5;
          if (side(a, b, x, y) < -kSlack || side(b, d, x, y) < -kSlack || side(d, a, x, y) < -kSlack) continue;
          const [column, row] = maskTexel(n, half, i, j);
          data[(top + row) * kWidth + left + column] = 255;
        }
    }
    const like = walls.indices[triangles[0]];
    for (let k = 0; k < 3; ++k) {
      const v = 3 * at + k, node = texels[4 * t + corners[k]] & kNodeMask;
      vertices.weights[4 * v + corners[k]] = 1;
      for (let d = 0; d < 3; ++d) {
        vertices.covectors[3 * v + d] = walls.covectors[3 * like + d];
        vertices.rest[3 * v + d] = nodes[3 * node + d];
      }
      vertices.tets[v] = t;
      vertices.flags[v] = walls.flags[like];
      vertices.masks!.set([k === 1 ? n : 0, k === 2 ? n : 0, half ? left - kWidth : left, top], 4 * v);
    }
    vertices.indices.set(turn < 0 ? [3 * at, 3 * at + 2, 3 * at + 1] : [3 * at, 3 * at + 1, 3 * at + 2], 3 * at);
    ++at;
  }
  const texture = new DataTexture(data, kWidth, height, RedFormat, UnsignedByteType);
  texture.minFilter = texture.magFilter = NearestFilter;
  texture.unpackAlignment = 1;
  texture.needsUpdate = true;
  return { vertices, texture };
}

// What the fragments of a face are asked. `softMask`: place on the face in texels, then the tile's corner, whose column is below
// zero for the second half.
export const kMaskVertex = `
in vec4 softMask;
out vec2 softOnFace;
flat out ivec2 softTile;
`;
export const kMaskPlace = `
softOnFace = softMask.xy;
softTile = ivec2(softMask.zw);
`;
export const kMaskFragment = `
in vec2 softOnFace;
flat in ivec2 softTile;
uniform highp sampler2D softMasks;
uniform int softMaskSize;
bool softMasked() {
  int n = softMaskSize;
  ivec2 at = clamp(ivec2(floor(softOnFace)), ivec2(0), ivec2(n - 1));
  if (at.x + at.y > n - 1) at.y = n - 1 - at.x;
  bool second = softTile.x < 0;
  ivec2 corner = ivec2(second ? softTile.x + ${kWidth} : softTile.x, softTile.y);
  return texelFetch(softMasks, corner + (second ? ivec2(n - at.x, n - 1 - at.y) : at), 0).r < 0.5;
}
`;
