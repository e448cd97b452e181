// Normals of a body that deforms: computed from where its vertices are, and smooth over the edges that are smooth at rest, so
// that bending makes no edges and takes none away.
const kMostFaces = 256; // of a vertex; comparing each with each of more would take too long, so these are flat
const kLeast = Math.cos((35 * Math.PI) / 180); // of the angle between faces that are shaded as one

// For each corner of a mesh at rest, the corners at its vertex whose faces it is smooth with.
export class Creases {
  private readonly start: Uint32Array;
  private readonly with: Uint32Array;
  private readonly faces: Float32Array;

  constructor(rest: Float32Array, readonly indices: Uint32Array) {
    const corners = indices.length, faces = new Float32Array(corners);
    this.faces = faces;
    this.setFaces(rest);
    const first = new Int32Array(rest.length / 3).fill(-1), next = new Int32Array(corners), count = new Uint32Array(rest.length / 3);
    for (let c = corners; c-- > 0; ) {
      next[c] = first[indices[c]];
      first[indices[c]] = c;
      ++count[indices[c]];
    }
    const length = (t: number) => Math.hypot(faces[3 * t], faces[3 * t + 1], faces[3 * t + 2]) || 1;
    const smooth = (s: number, t: number) =>
      s === t || (faces[3 * s] * faces[3 * t] + faces[3 * s + 1] * faces[3 * t + 1] + faces[3 * s + 2] * faces[3 * t + 2]) / (length(s) * length(t)) >= kLeast;
    this.start = new Uint32Array(corners + 1);
    const list: number[] = [];
    for (let c = 0; c < corners; ++c) {
      if (count[indices[c]] > kMostFaces) list.push(Math.floor(c / 3));
      else for (let other = first[indices[c]]; other >= 0; other = next[other])
        if (smooth(Math.floor(c / 3), Math.floor(other / 3))) list.push(Math.floor(other / 3));
      this.start[c + 1] = list.length;
    }
    this.with = Uint32Array.from(list);
  }

  // Normals of the faces, as long as twice their areas: large faces count more.
  private setFaces(places: Float32Array): void {
    const { indices, faces } = this;
    for (let t = 0; t < indices.length; t += 3) {
      const a = 3 * indices[t], b = 3 * indices[t + 1], c = 3 * indices[t + 2];
      const ux = places[b] - places[a], uy = places[b + 1] - places[a + 1], uz = places[b + 2] - places[a + 2];
      const vx = places[c] - places[a], vy = places[c + 1] - places[a + 1], vz = places[c + 2] - places[a + 2];
      faces[t] = uy * vz - uz * vy;
      faces[t + 1] = uz * vx - ux * vz;
      faces[t + 2] = ux * vy - uy * vx;
    }
  }

  // Positions and normals by corner, into `positions` and `normals`.
  corners(places: Float32Array, positions: Float32Array, normals: Float32Array): void {
    this.setFaces(places);
    const { indices, faces, start } = this;
    for (let c = 0; c < indices.length; ++c) {
      let x = 0, y = 0, z = 0;
      for (let k = start[c]; k < start[c + 1]; ++k) {
        const at = 3 * this.with[k];
        x += faces[at];
        y += faces[at + 1];
        z += faces[at + 2];
      }
      const scale = 1 / (Math.hypot(x, y, z) || 1), from = 3 * indices[c];
      normals[3 * c] = x * scale;
      normals[3 * c + 1] = y * scale;
      normals[3 * c + 2] = z * scale;
      positions[3 * c] = places[from];
      positions[3 * c + 1] = places[from + 1];
      positions[3 * c + 2] = places[from + 2];
    }
  }
}
