// Coarse stand-ins for meshes, for machines that cannot draw all triangles in time: edges are joined where that is seen
// least, by meshoptimizer. Normals are those of the fine mesh, so that few triangles look round, and creases stay.
import { MeshoptSimplifier } from "meshoptimizer/simplifier";
import { BufferAttribute, BufferGeometry } from "three";
import { mergeVertices, toCreasedNormals } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import { Mesh } from "./source";

const kCrease = (50 * Math.PI) / 180; // faces of the fine mesh that meet at less are shaded as one
const kNormals = 0.15; // what a wrong normal counts against a wrong place, of the mesh's size

// To be awaited before anything else here is used.
export const coarseReady: Promise<void> = MeshoptSimplifier.ready;

// A mesh with as many triangles as were asked for, or few more; indexed, with normals.
export interface StandIn {
  geometry: BufferGeometry;
  triangles: number;
  error: number; // a length
}

// Stand-ins of one mesh, made when they are asked for and kept.
export class Coarse {
  private whole?: BufferGeometry;
  private readonly made = new Map<number, StandIn>();

  constructor(private readonly fine: Mesh) {}

  get triangles(): number {
    return this.fine.indices.length / 3;
  }

  at(triangles: number): StandIn {
    const target = Math.min(triangles, this.triangles);
    let standIn = this.made.get(target);
    if (!standIn) this.made.set(target, (standIn = this.make(target)));
    return standIn;
  }

  private make(target: number): StandIn {
    this.whole ??= shaded(this.fine);
    if (target >= this.triangles) return { geometry: this.whole, triangles: this.triangles, error: 0 };
    const indices = Uint32Array.from(this.whole.getIndex()!.array);
    const positions = this.whole.getAttribute("position").array as Float32Array;
    const normals = this.whole.getAttribute("normal").array as Float32Array;
    const [kept, error] = MeshoptSimplifier.simplifyWithAttributes(
      indices, positions, 3, normals, 3, [kNormals, kNormals, kNormals], null, 3 * target, 1, ["Permissive"],
    );
    const [corners, count] = MeshoptSimplifier.compactMesh(kept); // kept has the new numbers now
    const place = new Float32Array(3 * count), normal = new Float32Array(3 * count);
    for (let v = 0; v < corners.length; ++v) {
      if (corners[v] === 0xffffffff) continue;
      place.set(positions.subarray(3 * v, 3 * v + 3), 3 * corners[v]);
      normal.set(normals.subarray(3 * v, 3 * v + 3), 3 * corners[v]);
    }
    const geometry = new BufferGeometry().setIndex(new BufferAttribute(kept, 1));
    geometry.setAttribute("position", new BufferAttribute(place, 3)).setAttribute("normal", new BufferAttribute(normal, 3));
    return { geometry, triangles: kept.length / 3, error: error * MeshoptSimplifier.getScale(positions, 3) };
  }
}

function shaded({ positions, indices }: Mesh): BufferGeometry {
  const plain = new BufferGeometry().setAttribute("position", new BufferAttribute(positions, 3));
  plain.setIndex(new BufferAttribute(indices, 1));
  let size = 0;
  for (const x of positions) size = Math.max(size, Math.abs(x));
  return mergeVertices(toCreasedNormals(plain, kCrease), 1e-6 * size);
}

const kLadder = [12, 18, 26, 36, 52, 74, 104, 150, 210, 300, 420, 600, 850, 1200, 1700, 2400, 4800, 9600];
const kShare = 0.05, kSmooth = 2500; // of the budget for one body, and triangles it may have in any case

// Stand-ins of meshes so that all bodies have at most `budget` triangles together, as far as the coarsest ones allow. What
// is farthest from its mesh gets more triangles first, so large bodies are as smooth as small ones, but none takes more
// than its share.
export function standIns(meshes: { coarse: Coarse; bodies: number }[], budget: number): BufferGeometry[] {
  const state = meshes.map(({ coarse }) => ({ step: 0, now: coarse.at(kLadder[0]), open: coarse.triangles > kLadder[0] }));
  let total = meshes.reduce((sum, m, i) => sum + m.bodies * state[i].now.triangles, 0);
  for (;;) {
    let next = -1;
    state.forEach((s, i) => {
      if (s.open && (next < 0 || s.now.error > state[next].now.error)) next = i;
    });
    if (next < 0) break;
    const s = state[next], { coarse, bodies } = meshes[next];
    // What the next step would hardly spare is taken as it is.
    const target = s.step + 1 < kLadder.length ? kLadder[s.step + 1] : Infinity, whole = target > 0.8 * coarse.triangles;
    const better = coarse.at(whole ? coarse.triangles : target), more = bodies * (better.triangles - s.now.triangles);
    if (total + more > budget || better.triangles > Math.max(kShare * budget, kSmooth)) {
      s.open = false;
      continue;
    }
    total += more;
    ++s.step;
    s.now = better;
    s.open = !whole;
  }
  return state.map((s) => s.now.geometry);
}
