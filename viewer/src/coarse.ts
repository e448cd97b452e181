// A coarse stand-in for a mesh, for machines that cannot draw all triangles in time: vertices are joined that share a cell
// of a grid, triangles that lose a corner go.
import { BufferAttribute, BufferGeometry, Vector3 } from "three";

export function coarsen(fine: BufferGeometry, cellsAlong: number): BufferGeometry {
  const position = fine.getAttribute("position");
  fine.computeBoundingBox();
  const lower = fine.boundingBox!.min, size = fine.boundingBox!.getSize(new Vector3());
  const cell = Math.max(size.x, size.y, size.z) / cellsAlong || 1;
  const cells = new Map<number, number>(), sums: number[] = [], counts: number[] = [];
  const clusterOf = new Uint32Array(position.count);
  for (let v = 0; v < position.count; ++v) {
    const x = position.getX(v), y = position.getY(v), z = position.getZ(v);
    const key = (Math.floor((x - lower.x) / cell) * 1024 + Math.floor((y - lower.y) / cell)) * 1024 + Math.floor((z - lower.z) / cell);
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
  const positions = new Float32Array(sums.length);
  for (let i = 0; i < sums.length; ++i) positions[i] = sums[i] / counts[Math.floor(i / 3)];
  const index = fine.getIndex(), corners = index ? index.count : position.count, kept: number[] = [], seen = new Set<string>();
  for (let t = 0; t + 2 < corners; t += 3) {
    const [a, b, c] = [0, 1, 2].map((k) => clusterOf[index ? index.getX(t + k) : t + k]);
    if (a === b || b === c || c === a) continue;
    const key = [a, b, c].sort((p, q) => p - q).join();
    if (seen.has(key)) continue;
    seen.add(key);
    kept.push(a, b, c);
  }
  const coarse = new BufferGeometry();
  coarse.setAttribute("position", new BufferAttribute(positions, 3));
  coarse.setIndex(kept);
  coarse.computeVertexNormals();
  return coarse;
}
