// Where the page gets a run from: the server of `sunder view`, or the data element of an exported page. Both give the same
// bytes.
import { parseSoft, parseTear, SoftAsset, SoftTear } from "./soft_data";

export interface Material {
  colour: [number, number, number]; // linear
  roughness: number;
  metallic: number;
  transparency: number;
  refraction: number;
  inside?: string; // the material that faces made by breaking or cutting look like; none: this one, darker and grained
}

export interface Body {
  name: string;
  parent: number; // -1: none
  material: string;
  mesh: number; // -1: none
  mass: number;
  kind: string;
  born: number;
  ground: boolean; // the plane without end
  // Of bodies whose mesh is their own: the frames from which on they show another version of it, ascending.
  changes?: number[];
  // Where some versions are in a cage: by version, first that before any change, the mesh, -1 where it is in none.
  soft?: number[];
}

export type RunState = "live" | "finished" | "stopped" | "diverged" | "cut off";

export interface RunInfo {
  program: string;
  scene: string;
  frameRate: number;
  frames: number;
  state: RunState;
  message: string;
  materials: Record<string, Material>;
  bodies: Body[];
  meshes: number;
  softMeshes: number[]; // that are in cages, ascending
  slots: Record<string, string[]>; // materials that triangles name, by number of the mesh
  fields: string[]; // recorded numbers per body, in the order of the rows
  statistics: string[];
  points: boolean; // frames bring points of bodies
  fronts: boolean; // frames have crack fronts
  pointFields: string[]; // recorded numbers per point
  action: { lower: [number, number, number]; upper: [number, number, number] };
  ground: number | null;
}

export interface Mesh {
  positions: Float32Array;
  indices: Uint32Array;
  interior?: Uint8Array; // by triangle: 1 where the body broke
  slots?: Uint16Array; // by triangle: 0 is the material of the body, k the k-th of info.slots[named]
  named?: number;
}

// Rows of one frame: per body x y z, qx qy qz qw, speed, then the fields. x is NaN where the body is not there.
export interface FrameBlock {
  first: number;
  times: Float64Array;
  bodies: Uint32Array; // how many rows each frame has
  rows: Float32Array[];
  statistics: Float32Array[];
}

// Points of a body in one frame, in its own frame of reference: particles, or vertices of its mesh where the radius is 0.
export interface Cloud {
  body: number;
  radius: number;
  positions: Float32Array; // empty: vertices that rest where the mesh has them
  values: Float32Array[]; // by field
  ofCage: boolean; // these are the vertices of a cage
}

export interface ContactEvent {
  kind: string;
  a: number;
  b: number;
  point: [number, number, number];
  normal: [number, number, number];
  impulse: number;
}

// A chain of a crack's front, in the frame of the body.
export interface Front {
  body: number;
  closed: boolean;
  points: [number, number, number][];
  states: string[]; // growing, arrested, left
}

export const kRow = 8;

export interface Source {
  info(): Promise<RunInfo>;
  mesh(index: number): Promise<Mesh>;
  frames(first: number, last: number): Promise<FrameBlock>;
  events(frame: number): Promise<ContactEvent[]>;
  points(frame: number): Promise<Cloud[]>;
  fronts(frame: number): Promise<Front[]>;
  soft(mesh: number): Promise<SoftAsset>; // a mesh in a cage, and which tetrahedra a version of a body changes
  tear(body: number, version: number): Promise<SoftTear>;
  shape(body: number, version: number): Promise<Mesh>; // version k is shown from the k-th of the body's changes on
  bytes?(path: string): Promise<ArrayBuffer>; // of overlays; a page that stands alone has none
  readonly live: boolean; // may grow
}

export function parseMesh(data: ArrayBuffer): Mesh {
  const head = new Uint32Array(data, 0, 2);
  const vertices = head[0], triangles = head[1];
  const end = 8 + 12 * (vertices + triangles), slotsAt = (end + triangles + 3) & ~3;
  const whole = [end, end + triangles, slotsAt + 4 + 2 * triangles];
  if (!whole.includes(data.byteLength)) throw new Error("a mesh arrived damaged");
  const mesh: Mesh = {
    positions: new Float32Array(data, 8, vertices * 3),
    indices: new Uint32Array(data, 8 + vertices * 12, triangles * 3),
  };
  if (data.byteLength > end) mesh.interior = new Uint8Array(data, end, triangles);
  if (data.byteLength > end + triangles) {
    mesh.named = new DataView(data).getUint32(slotsAt, true);
    mesh.slots = new Uint16Array(data, slotsAt + 4, triangles);
  }
  return mesh;
}

// u32 first, frames, floats a row, statistics; then per frame f64 time, u32 bodies, u32 0, the rows, the statistics
// (padded to 8 bytes).
export function parseFrames(data: ArrayBuffer): FrameBlock {
  const head = new Uint32Array(data, 0, 4);
  const [first, count, width, names] = head;
  const block: FrameBlock = {
    first, times: new Float64Array(count), bodies: new Uint32Array(count), rows: [], statistics: [],
  };
  const view = new DataView(data);
  let at = 16;
  for (let f = 0; f < count; ++f) {
    block.times[f] = view.getFloat64(at, true);
    const bodies = view.getUint32(at + 8, true);
    block.bodies[f] = bodies;
    at += 16;
    block.rows.push(new Float32Array(data, at, bodies * width));
    at += bodies * width * 4;
    block.statistics.push(new Float32Array(data, at, names));
    at += names * 4;
    at = (at + 7) & ~7;
  }
  if (at !== data.byteLength) throw new Error("frames arrived damaged");
  return block;
}

// u32 bodies, fields; then per body u32 body, points, f32 radius, u32 bits (1: there are values only, 2: these are the vertices
// of a cage), the positions, the values of each field.
export function parsePoints(data: ArrayBuffer): Cloud[] {
  const view = new DataView(data), bodies = view.getUint32(0, true), fields = view.getUint32(4, true), clouds: Cloud[] = [];
  let at = 8;
  for (let b = 0; b < bodies; ++b) {
    const count = view.getUint32(at + 4, true), values: Float32Array[] = [], bits = view.getUint32(at + 12, true), places = bits & 1 ? 0 : count;
    const cloud = {
      body: view.getUint32(at, true), radius: view.getFloat32(at + 8, true), positions: new Float32Array(data, at + 16, 3 * places), values,
      ofCage: (bits & 2) !== 0,
    };
    at += 16 + 12 * places;
    for (let f = 0; f < fields; ++f, at += 4 * count) values.push(new Float32Array(data, at, count));
    clouds.push(cloud);
  }
  if (at !== data.byteLength) throw new Error("points arrived damaged");
  return clouds;
}

class ServerSource implements Source {
  live = true;
  private async get(path: string): Promise<Response> {
    const answer = await fetch(path);
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer;
  }
  async info(): Promise<RunInfo> {
    const info = (await (await this.get("api/run")).json()) as RunInfo;
    this.live = info.state === "live";
    return info;
  }
  async mesh(index: number): Promise<Mesh> {
    return parseMesh(await (await this.get(`api/mesh/${index}`)).arrayBuffer());
  }
  async frames(first: number, last: number): Promise<FrameBlock> {
    return parseFrames(await (await this.get(`api/frames/${first}-${last}`)).arrayBuffer());
  }
  async points(frame: number): Promise<Cloud[]> {
    return parsePoints(await (await this.get(`api/points/${frame}`)).arrayBuffer());
  }
  async fronts(frame: number): Promise<Front[]> {
    return (await (await this.get(`api/fronts/${frame}`)).json()) as Front[];
  }
  async shape(body: number, version: number): Promise<Mesh> {
    return parseMesh(await (await this.get(`api/shape/${body}/${version}`)).arrayBuffer());
  }
  async soft(mesh: number): Promise<SoftAsset> {
    return parseSoft(await (await this.get(`api/soft/${mesh}`)).arrayBuffer());
  }
  async tear(body: number, version: number): Promise<SoftTear> {
    return parseTear(await (await this.get(`api/tear/${body}/${version}`)).arrayBuffer());
  }
  async bytes(path: string): Promise<ArrayBuffer> {
    return (await this.get(path)).arrayBuffer();
  }
  async events(frame: number): Promise<ContactEvent[]> {
    return (await (await this.get(`api/events/${frame}`)).json()) as ContactEvent[];
  }
}

// The data element of an exported page: base64 of gzip of u32 length + JSON info, then u32 length + bytes for every mesh,
// for the frames, and for the events; where there are points, u32 length + bytes for every frame; then u32 length + bytes
// for every version of the meshes of bodies that have their own (where it is in a cage, its tear), and for every mesh in a cage;
// at last, where there are any, the crack fronts.
class EmbeddedSource implements Source {
  readonly live = false;
  private parts: Promise<ArrayBuffer[]>;
  constructor(text: string) {
    this.parts = EmbeddedSource.unpack(text);
  }
  private static async unpack(text: string): Promise<ArrayBuffer[]> {
    const packed = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const data = await new Response(stream).arrayBuffer();
    const view = new DataView(data);
    const parts: ArrayBuffer[] = [];
    for (let at = 0; at < data.byteLength; ) {
      const length = view.getUint32(at, true);
      parts.push(data.slice(at + 4, at + 4 + length));
      at += 4 + length;
    }
    return parts;
  }
  private async json<T>(part: number): Promise<T> {
    return JSON.parse(new TextDecoder().decode((await this.parts)[part])) as T;
  }
  info(): Promise<RunInfo> {
    return this.json<RunInfo>(0);
  }
  async mesh(index: number): Promise<Mesh> {
    return parseMesh((await this.parts)[3 + index]);
  }
  async frames(first: number, last: number): Promise<FrameBlock> {
    const all = parseFrames((await this.parts)[1]);
    return {
      first,
      times: all.times.slice(first, last + 1),
      bodies: all.bodies.slice(first, last + 1),
      rows: all.rows.slice(first, last + 1),
      statistics: all.statistics.slice(first, last + 1),
    };
  }
  async points(frame: number): Promise<Cloud[]> {
    const { meshes } = await this.info();
    return parsePoints((await this.parts)[3 + meshes + frame]);
  }
  async fronts(frame: number): Promise<Front[]> {
    return (await this.json<Front[][]>((await this.parts).length - 1))[frame] ?? [];
  }
  // Where the versions of a body begin among the parts; behind the last body, the meshes in cages.
  private async versionsAt(body: number): Promise<number> {
    const { meshes, bodies, points, frames } = await this.info();
    const before = bodies.slice(0, body).reduce((sum, b) => sum + (b.changes ? b.changes.length + 1 : 0), 0);
    return 3 + meshes + (points ? frames : 0) + before;
  }
  async shape(body: number, version: number): Promise<Mesh> {
    return parseMesh((await this.parts)[(await this.versionsAt(body)) + version]);
  }
  async tear(body: number, version: number): Promise<SoftTear> {
    return parseTear((await this.parts)[(await this.versionsAt(body)) + version]);
  }
  async soft(mesh: number): Promise<SoftAsset> {
    const { bodies, softMeshes } = await this.info();
    return parseSoft((await this.parts)[(await this.versionsAt(bodies.length)) + softMeshes.indexOf(mesh)]);
  }
  async events(frame: number): Promise<ContactEvent[]> {
    return (await this.json<ContactEvent[][]>(2))[frame] ?? [];
  }
}

export function openSource(): Source {
  const embedded = document.getElementById("sunder-data")?.textContent ?? "";
  return embedded.trim() ? new EmbeddedSource(embedded) : new ServerSource();
}
