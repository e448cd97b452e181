// What collision detection sees of the picked body: boxes of a level of its tree, spheres of a level of its sphere tree, a
// slice through its distance field. Asked of the server; a page that stands alone has none of it.
import {
  BufferAttribute, BufferGeometry, Color, DataTexture, DoubleSide, Group, InstancedMesh, LineBasicMaterial, LineSegments, Matrix4,
  Mesh, MeshBasicMaterial, Object3D, RGBAFormat, SphereGeometry, SRGBColorSpace,
} from "three";
import { scaleColour } from "./colours";

export type Overlay = "nothing" | "tree boxes" | "sphere tree" | "field slice";

const kEdges = [0, 1, 2, 3, 4, 5, 6, 7, 0, 2, 1, 3, 4, 6, 5, 7, 0, 4, 1, 5, 2, 6, 3, 7];

export function boxLines(data: ArrayBuffer): Object3D {
  const count = new Uint32Array(data, 0, 2)[1], corners = new Float32Array(data, 8);
  const points = new Float32Array(count * kEdges.length * 3);
  let at = 0;
  for (let b = 0; b < count; ++b)
    for (const corner of kEdges)
      for (let d = 0; d < 3; ++d) points[at++] = corners[6 * b + d + ((corner >> d) & 1) * 3];
  const geometry = new BufferGeometry().setAttribute("position", new BufferAttribute(points, 3));
  return new LineSegments(geometry, new LineBasicMaterial({ color: 0x1f5fbf }));
}

export function sphereCloud(data: ArrayBuffer): Object3D {
  const count = new Uint32Array(data, 0, 2)[1], numbers = new Float32Array(data, 8);
  const mesh = new InstancedMesh(
    new SphereGeometry(1, 16, 10), new MeshBasicMaterial({ color: 0x1f8f5f, wireframe: true, transparent: true, opacity: 0.35 }), count,
  );
  const matrix = new Matrix4();
  for (let i = 0; i < count; ++i) {
    const [x, y, z, r] = numbers.subarray(4 * i, 4 * i + 4);
    mesh.setMatrixAt(i, matrix.makeScale(r, r, r).setPosition(x, y, z));
  }
  mesh.frustumCulled = false;
  return mesh;
}

// Distances as colours, red outside and blue inside, with contour lines and a black line for the surface.
export function slicePlane(data: ArrayBuffer): Object3D {
  const [cells, axis] = new Uint32Array(data, 0, 2);
  const head = new Float32Array(data, 8, 7), values = new Float32Array(data, 36, cells * cells);
  const position = head[0], lower = head.subarray(1, 4), upper = head.subarray(4, 7);
  let largest = 1e-12;
  for (const v of values) largest = Math.max(largest, Math.abs(v));
  const step = largest / 10, pixels = new Uint8Array(cells * cells * 4), colour = new Color();
  for (let j = 0; j < cells; ++j)
    for (let i = 0; i < cells; ++i) {
      const v = values[j * cells + i];
      const right = values[j * cells + Math.min(i + 1, cells - 1)], above = values[Math.min(j + 1, cells - 1) * cells + i];
      scaleColour(0.5 + (0.5 * v) / largest, colour);
      const surface = v < 0 !== right < 0 || v < 0 !== above < 0;
      const contour = Math.floor(v / step) !== Math.floor(right / step) || Math.floor(v / step) !== Math.floor(above / step);
      const shade = surface ? 0 : contour ? 0.7 : 1, at = 4 * (j * cells + i);
      const text = colour.getHex(SRGBColorSpace);
      pixels[at] = shade * (text >> 16);
      pixels[at + 1] = shade * ((text >> 8) & 255);
      pixels[at + 2] = shade * (text & 255);
      pixels[at + 3] = 255;
    }
  const texture = new DataTexture(pixels, cells, cells, RGBAFormat);
  texture.colorSpace = SRGBColorSpace;
  texture.needsUpdate = true;
  const u = (axis + 1) % 3, v = (axis + 2) % 3, corners = new Float32Array(12);
  [[0, 0], [1, 0], [1, 1], [0, 1]].forEach(([a, b], k) => {
    corners[3 * k + axis] = position;
    corners[3 * k + u] = a ? upper[u] : lower[u];
    corners[3 * k + v] = b ? upper[v] : lower[v];
  });
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(corners, 3));
  geometry.setAttribute("uv", new BufferAttribute(new Float32Array([0, 0, 1, 0, 1, 1, 0, 1]), 2));
  geometry.setIndex([0, 1, 2, 0, 2, 3]);
  return new Mesh(geometry, new MeshBasicMaterial({ map: texture, side: DoubleSide, transparent: true, opacity: 0.92 }));
}

export class Inspector {
  readonly group = new Group(); // in the frame of the picked body
  readonly options = { show: "nothing" as Overlay, level: 2, axis: "z", at: 0.5 };
  levels = 0; // of the tree that is shown
  shown = ""; // what the group holds
  private asked = "";

  constructor(private readonly get: (path: string) => Promise<ArrayBuffer>, private readonly changed: () => void) {
    this.group.matrixAutoUpdate = false;
  }

  // What is shown lies inside of the body.
  get coversBody(): boolean {
    return this.shown !== "" && this.shown === this.asked && !this.shown.startsWith("api/boxes");
  }

  // The mesh of the picked body, -1 for none, and where it is.
  update(mesh: number, pose: Matrix4 | null): void {
    const path = mesh < 0 || !pose ? "" : this.path(mesh);
    this.group.visible = path !== "" && path === this.shown;
    if (pose) this.group.matrix.copy(pose);
    if (path === this.asked) return;
    this.asked = path;
    if (path) void this.fetch(path);
  }

  private path(mesh: number): string {
    const { show, level, axis, at } = this.options;
    if (show === "tree boxes") return `api/boxes/${mesh}/${level}`;
    if (show === "sphere tree") return `api/spheres/${mesh}/${level}`;
    if (show === "field slice") return `api/slice/${mesh}/${"xyz".indexOf(axis)}/${Math.round(at * 1000)}`;
    return "";
  }

  private async fetch(path: string): Promise<void> {
    const data = await this.get(path);
    if (path !== this.asked) return; // something else was asked for since
    const kind = path.split("/")[1];
    this.levels = kind === "slice" ? 0 : new Uint32Array(data, 0, 1)[0];
    for (const child of [...this.group.children]) {
      this.group.remove(child);
      const old = child as Mesh;
      old.geometry.dispose();
      const material = old.material as MeshBasicMaterial;
      material.map?.dispose();
      material.dispose();
    }
    this.group.add(kind === "boxes" ? boxLines(data) : kind === "spheres" ? sphereCloud(data) : slicePlane(data));
    this.shown = path;
    this.changed();
  }
}
