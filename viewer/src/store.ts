// The run as far as it has arrived: frames are fetched in blocks, near the one that is looked at first.
import { SoftAsset, SoftTear } from "./soft_data";
import { Cloud, ContactEvent, FrameBlock, Mesh, RunInfo, Source } from "./source";

const kBlock = 64;
const kCloudBytes = 300e6; // points that are kept
const kShapeBytes = 200e6; // versions of meshes that are kept
const kAhead = 6; // frames whose points are fetched before they are shown

const bytesOf = (clouds: Cloud[]) => clouds.reduce((sum, c) => sum + c.positions.byteLength + c.values.reduce((s, v) => s + v.byteLength, 0), 0);

export class Store {
  info!: RunInfo;
  meshes: Mesh[] = [];
  version = 0; // grows with everything that arrives
  private blocks = new Map<number, FrameBlock>();
  private waiting = new Map<number, Promise<void>>();
  private eventCache = new Map<number, Promise<ContactEvent[]>>();
  private clouds = new Map<number, Cloud[] | "coming">(); // by frame, last used last
  private cloudBytes = 0;
  private shapes = new Map<string, Mesh | "coming">(); // by body and version, last used last
  private shapeBytes = 0;
  private softAssets = new Map<number, SoftAsset | "coming" | "lost">(); // by mesh
  private softTears = new Map<number, (SoftTear | "coming" | "lost" | undefined)[]>(); // by body, by version
  private started = 0; // frames of a growing run that its last block had when it was fetched

  constructor(readonly source: Source) {}

  async open(): Promise<void> {
    this.info = await this.source.info();
    this.meshes = await Promise.all(Array.from({ length: this.info.meshes }, (_, i) => this.meshAt(i)));
    if (this.info.frames > 0) await this.need(0);
  }

  // The shader has those in cages.
  private async meshAt(i: number): Promise<Mesh> {
    if (!this.info.softMeshes.includes(i)) return this.source.mesh(i);
    return { positions: new Float32Array(0), indices: new Uint32Array(0) };
  }

  // What was written since; true where there is something new.
  async refresh(): Promise<boolean> {
    const before = this.info;
    const info = await this.source.info();
    this.info = info;
    for (let i = this.meshes.length; i < info.meshes; ++i) this.meshes.push(await this.meshAt(i));
    if (info.frames < before.frames) {
      this.blocks.clear(); // the run was started again
      this.clouds.clear();
      this.shapes.clear();
      this.softAssets.clear();
      this.softTears.clear();
      this.cloudBytes = this.shapeBytes = 0;
    } else if (info.frames > before.frames && before.frames % kBlock !== 0)
      this.blocks.delete(Math.floor((before.frames - 1) / kBlock));
    return info.frames !== before.frames || info.state !== before.state || info.bodies.length !== before.bodies.length;
  }

  get frames(): number {
    return this.info.frames;
  }

  // The block that holds a frame, if it is here.
  row(frame: number): { time: number; bodies: number; rows: Float32Array; statistics: Float32Array } | undefined {
    const block = this.blocks.get(Math.floor(frame / kBlock));
    const i = frame % kBlock;
    if (!block || i >= block.rows.length) return undefined;
    return { time: block.times[i], bodies: block.bodies[i], rows: block.rows[i], statistics: block.statistics[i] };
  }

  // Points of the frame, if they are here; else they and those of the next frames are asked for.
  points(frame: number, arrived: () => void, fail: (error: unknown) => void): Cloud[] | undefined {
    if (!this.info.points) return [];
    for (let f = frame; f < Math.min(frame + kAhead, this.info.frames); ++f) {
      if (this.clouds.has(f)) continue;
      this.clouds.set(f, "coming");
      this.source.points(f).then((clouds) => {
        this.clouds.set(f, clouds);
        this.cloudBytes += bytesOf(clouds);
        this.forget(frame);
        arrived();
      }).catch((error) => (this.clouds.delete(f), fail(error)));
    }
    const here = this.clouds.get(frame);
    if (here === undefined || here === "coming") return undefined;
    this.clouds.delete(frame);
    this.clouds.set(frame, here);
    return here;
  }

  // Which version of its mesh a body shows in a frame.
  versionAt(body: number, frame: number): number {
    const changes = this.info.bodies[body].changes ?? [];
    let version = 0;
    while (version < changes.length && changes[version] <= frame) ++version;
    return version;
  }

  // The mesh in a cage that a body shows in a frame; -1: none.
  softMesh(body: number, frame: number): number {
    const { soft } = this.info.bodies[body];
    return soft ? soft[this.versionAt(body, frame)] ?? -1 : -1;
  }

  // Undefined: it was asked for and is not here yet, or is lost.
  soft(mesh: number, arrived: () => void): SoftAsset | undefined {
    const here = this.softAssets.get(mesh);
    if (here === undefined) {
      this.softAssets.set(mesh, "coming");
      this.source.soft(mesh).then((asset) => (this.softAssets.set(mesh, asset), arrived())).catch(() => this.softAssets.set(mesh, "lost"));
    }
    return typeof here === "object" ? here : undefined;
  }

  // Tears of the versions up to one, as far as they are here; the others are asked for.
  tears(body: number, version: number, arrived: () => void): (SoftTear | undefined)[] {
    let list = this.softTears.get(body);
    if (!list) this.softTears.set(body, (list = []));
    const kept = list, { soft } = this.info.bodies[body];
    for (let v = 0; v <= version; ++v) {
      if (kept[v] !== undefined || !soft || soft[v] < 0) continue;
      kept[v] = "coming";
      this.source.tear(body, v).then((tear) => ((kept[v] = tear), arrived())).catch(() => (kept[v] = "lost"));
    }
    return Array.from({ length: version + 1 }, (_, v) => {
      const here = kept[v];
      return typeof here === "object" ? here : undefined;
    });
  }

  // The mesh that a body shows in a frame; undefined: it was asked for and is not here yet, or there is none. One that goes
  // with no version of its own is that of the table.
  shape(body: number, frame: number, arrived: () => void): Mesh | undefined {
    const { changes, mesh } = this.info.bodies[body];
    if (!changes) return mesh >= 0 ? this.meshes[mesh] : undefined;
    const version = this.versionAt(body, frame), key = `${body}/${version}`, here = this.shapes.get(key);
    if (here === "coming") return undefined;
    if (here) {
      this.shapes.delete(key);
      this.shapes.set(key, here);
      return here;
    }
    this.shapes.set(key, "coming");
    this.source.shape(body, version).then((shape) => {
      this.shapes.set(key, shape);
      this.shapeBytes += shape.positions.byteLength + shape.indices.byteLength;
      for (const [old, kept] of this.shapes) {
        if (this.shapeBytes <= kShapeBytes) break;
        if (kept === "coming" || old === key) continue;
        this.shapes.delete(old);
        this.shapeBytes -= kept.positions.byteLength + kept.indices.byteLength;
      }
      arrived();
    }).catch(() => this.shapes.delete(key));
    return undefined;
  }

  private forget(shown: number): void {
    for (const [f, clouds] of this.clouds) {
      if (this.cloudBytes <= kCloudBytes) return;
      if (clouds === "coming" || (f >= shown && f < shown + kAhead)) continue;
      this.clouds.delete(f);
      this.cloudBytes -= bytesOf(clouds);
    }
  }

  need(frame: number): Promise<void> {
    const key = Math.floor(frame / kBlock);
    if (this.blocks.has(key)) return Promise.resolve();
    let promise = this.waiting.get(key);
    if (!promise) {
      const last = Math.min(this.info.frames, (key + 1) * kBlock) - 1;
      promise = this.source
        .frames(key * kBlock, last)
        .then((block) => {
          this.blocks.set(key, block);
          ++this.version;
          this.started = Math.max(this.started, last + 1);
        })
        .finally(() => this.waiting.delete(key));
      this.waiting.set(key, promise);
    }
    return promise;
  }

  // Fetches everything in the background, from `from` on, then the rest.
  async fill(from: number, arrived: () => void): Promise<void> {
    const count = Math.ceil(this.info.frames / kBlock), start = Math.floor(from / kBlock);
    for (let k = 0; k < count; ++k) {
      const key = (start + k) % count;
      if (this.blocks.has(key)) continue;
      await this.need(key * kBlock);
      arrived();
    }
  }

  get arrived(): number {
    return this.started;
  }

  events(frame: number): Promise<ContactEvent[]> {
    let events = this.eventCache.get(frame);
    if (!events) {
      events = this.source.events(frame);
      this.eventCache.set(frame, events);
      if (this.eventCache.size > 200) this.eventCache.delete(this.eventCache.keys().next().value as number);
    }
    return events;
  }
}
