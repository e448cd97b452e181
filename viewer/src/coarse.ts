// Coarse stand-ins for meshes, for machines that cannot draw all triangles in time: vertices are joined that share a cell
// of a grid, triangles that lose a corner go (Rossignac and Borrel 1993).
import { BufferAttribute, BufferGeometry } from "three";
import { mergeVertices, toCreasedNormals } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import { Mesh } from "./source";

const kCrease = (50 * Math.PI) / 180; // coarse faces that meet at less are shaded as one

// Indexed, with normals.
export function coarsen(fine: Mesh, cellsAlong: number): BufferGeometry {
  const { positions, indices } = fine, count = positions.length / 3, { lower, longest } = reach(fine);
  const cell = longest / cellsAlong || 1;
  const cells = new Map<number, number>(), clusterOf = new Uint32Array(count), sums: number[] = [], counts: number[] = [];
  for (let v = 0; v < count; ++v) {
    const x = positions[3 * v], y = positions[3 * v + 1], z = positions[3 * v + 2];
    const key = (Math.floor((x - lower[0]) / cell) * 1024 + Math.floor((y - lower[1]) / cell)) * 1024 + Math.floor((z - lower[2]) / cell);
    let cluster = cells.get(key);
    if (cluster === undefined) {
      cluster = counts.length;
      cells.set(key, cluster);
      counts.push(0);
      sums.push(0, 0, 0);
    }
    clusterOf[v] = cluster;
    ++counts[cluster];
    sums[3 * cluster] += x;
    sums[3 * cluster + 1] += y;
    sums[3 * cluster + 2] += z;
  }
  const joined = new Float32Array(sums.length);
  for (let i = 0; i < sums.length; ++i) joined[i] = sums[i] / counts[Math.floor(i / 3)];
  const kept: number[] = [], seen = new Set<number>();
  for (let t = 0; t < indices.length; t += 3) {
    const a = clusterOf[indices[t]], b = clusterOf[indices[t + 1]], c = clusterOf[indices[t + 2]];
    if (a === b || b === c || c === a) continue;
    // The same corners in the same sense, whichever comes first; both sides of a flattened wall stay.
    const key = a < b && a < c ? keyOf(a, b, c) : b < c ? keyOf(b, c, a) : keyOf(c, a, b);
    if (seen.has(key)) continue;
    seen.add(key);
    kept.push(a, b, c);
  }
  return shaded(joined, Uint32Array.from(kept));
}

const kMany = 131072; // clusters that a key can tell apart: 2^51 is still exact
const keyOf = (a: number, b: number, c: number) => (a * kMany + b) * kMany + c;

function shaded(positions: Float32Array, indices: Uint32Array): BufferGeometry {
  const plain = new BufferGeometry().setAttribute("position", new BufferAttribute(positions, 3));
  plain.setIndex(new BufferAttribute(indices, 1));
  return mergeVertices(toCreasedNormals(plain, kCrease), 1e-6 * reach({ positions, indices }).longest);
}

function reach(mesh: Mesh): { lower: number[]; longest: number } {
  const lower = [Infinity, Infinity, Infinity], upper = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < mesh.positions.length; ++i) {
    lower[i % 3] = Math.min(lower[i % 3], mesh.positions[i]);
    upper[i % 3] = Math.max(upper[i % 3], mesh.positions[i]);
  }
  return { lower, longest: Math.max(...upper.map((u, d) => u - lower[d]), 0) };
}

const kShare = 0.05, kSmooth = 2500; // of the budget for one body, and triangles it may have in any case

const kLadder = [2, 3, 4, 5, 6, 8, 11, 16, 24, 40]; // cells along the longest side; above it the mesh itself

// Stand-ins of meshes so that all bodies have at most `budget` triangles together, as far as two cells along each allow.
// The largest cell of any mesh is divided first, so large bodies are as smooth as small ones, but none takes more than
// its share. `made` keeps what was made.
export function standIns(
  meshes: { mesh: number; fine: Mesh; bodies: number }[], budget: number, made: Map<string, BufferGeometry>,
): BufferGeometry[] {
  const at = (i: number, step: number) => {
    const { mesh, fine } = meshes[i], key = `${mesh}/${step}`;
    let geometry = made.get(key);
    if (!geometry)
      made.set(key, (geometry = step < kLadder.length ? coarsen(fine, kLadder[step]) : shaded(fine.positions, fine.indices)));
    return geometry;
  };
  const trianglesAt = (i: number, step: number) =>
    step < kLadder.length ? at(i, step).getIndex()!.count / 3 : meshes[i].fine.indices.length / 3;
  const state = meshes.map(({ fine }, i) => ({ step: 0, triangles: trianglesAt(i, 0), size: reach(fine).longest, open: true }));
  let total = meshes.reduce((sum, m, i) => sum + m.bodies * state[i].triangles, 0);
  const cell = (i: number) => state[i].size / kLadder[state[i].step];
  for (;;) {
    let next = -1;
    state.forEach((s, i) => {
      if (s.open && (next < 0 || cell(i) > cell(next))) next = i;
    });
    if (next < 0) break;
    const s = state[next], own = meshes[next].fine.indices.length / 3;
    // Small meshes and those that the next step would hardly spare are taken as they are.
    const triangles = own <= 12 ? own : trianglesAt(next, s.step + 1), whole = triangles > 0.8 * own || own <= 12;
    const wanted = whole ? own : triangles, more = meshes[next].bodies * (wanted - s.triangles);
    if (total + more > budget || wanted > Math.max(kShare * budget, kSmooth)) {
      s.open = false;
      continue;
    }
    total += more;
    s.step = whole ? kLadder.length : s.step + 1;
    s.triangles = wanted;
    s.open = s.step < kLadder.length;
  }
  return meshes.map((_, i) => at(i, state[i].step));
}
