// The three-dimensional view: bodies as instances of their meshes, one draw call for each mesh and material, or all in one
// where drawing is slow (crowd.ts); ground, light, shadows; contacts.
import {
  AmbientLight, Box3, BufferAttribute, BufferGeometry, Color, DirectionalLight, Fog, HemisphereLight, InstancedMesh,
  LineBasicMaterial, LineSegments, Matrix4, Mesh as ThreeMesh, MeshLambertMaterial, MeshPhysicalMaterial,
  MeshStandardMaterial, PCFShadowMap, PerspectiveCamera, PlaneGeometry, PMREMGenerator, Quaternion, Raycaster, Scene,
  ShaderMaterial, Sphere, Vector2, Vector3, Vector4, WebGLRenderer,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { RoomEnvironment } from "three/examples/jsm/environments/RoomEnvironment.js";
import { toCreasedNormals } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import { Clouds } from "./clouds";
import { Coarse, standIns } from "./coarse";
import { distinctColour, scaleColour } from "./colours";
import { Crowd, groundMaterial, Light } from "./crowd";
import { SoftBodies } from "./soft";
import { Cloud, ContactEvent, Front, kRow, Material } from "./source";
import { Store } from "./store";

export type ColourBy = "material" | "body" | "speed" | string;

interface Group {
  mesh: InstancedMesh;
  bodies: number[];
  number: number; // of its mesh
  base: Color;
  rich: MeshStandardMaterial;
  plain: MeshLambertMaterial;
}

// What is given up step by step where drawing is slow: points per pixel, shadows, reflections, triangles, draw calls.
interface Quality {
  pixels: number;
  shadows: boolean;
  rich: boolean;
  most: number; // triangles of a mesh; 0: the meshes themselves
  crowd: number; // triangles of all bodies as one mesh; 0: each mesh by itself
  smallest?: number; // radius of bodies whose shadows such a crowd has, as a part of the scene
}
const kQualities: Quality[] = [
  { pixels: 2, shadows: true, rich: true, most: 0, crowd: 0 },
  { pixels: 1, shadows: true, rich: true, most: 0, crowd: 0 },
  { pixels: 1, shadows: true, rich: false, most: 0, crowd: 0 },
  { pixels: 1, shadows: true, rich: false, most: 800, crowd: 0 },
  { pixels: 1, shadows: true, rich: false, most: 0, crowd: 120_000 },
  { pixels: 1, shadows: true, rich: false, most: 0, crowd: 60_000, smallest: 0.03 },
  { pixels: 0.8, shadows: true, rich: false, most: 0, crowd: 36_000, smallest: 0.03 },
  { pixels: 0.7, shadows: true, rich: false, most: 0, crowd: 22_000, smallest: 0.05 },
];
export const kWorstQuality = kQualities.length - 1;
const kBestCrowd = kQualities.findIndex((q) => q.crowd > 0);
const kGround = 0xb4b7bb;

const kSky = 0xd9dcdf;
const kTrianglesOfABall = 2; // what a particle costs

export class Stage {
  readonly renderer: WebGLRenderer;
  readonly camera = new PerspectiveCamera(35, 1, 0.01, 1000);
  readonly controls: OrbitControls;
  readonly scene = new Scene();
  private sun = new DirectionalLight(0xfff2dd, 2.4);
  private groups: Group[] = [];
  private groupOf: (Group | undefined)[] = [];
  private slotOf: number[] = [];
  private geometries: BufferGeometry[] = [];
  private ground?: ThreeMesh;
  private richGround = new MeshStandardMaterial({ color: kGround, roughness: 0.95 });
  private plainGround?: ShaderMaterial;
  private byMaterial = { value: true }; // for shaders: whether bodies have the colours of their materials
  private contacts = new LineSegments(new BufferGeometry(), new LineBasicMaterial({ color: 0xd02020, depthTest: false }));
  private fronts = new LineSegments(new BufferGeometry(), new LineBasicMaterial({ vertexColors: true, depthTest: false }));
  private shown = 0; // bodies in the last frame
  private extent = 1;
  private readonly clouds: Clouds;
  readonly soft: SoftBodies;
  private quality = 0;
  private shadows = true;
  private wireframe = false;
  private coarse: Coarse[] = []; // by number of the mesh
  private crowds = new Map<number, Crowd[]>(); // by level of quality
  private poses = new Float32Array(0); // 16 a body; zeros hide it
  private tints = new Float32Array(0); // 3 a body
  private light: Light = { way: new Vector3(0, 1, 0), sun: new Color(), sky: new Color(), earth: new Color(), fog: new Fog(kSky) };
  private readonly software = isSoftware();
  selected = -1;
  selectedPose: Matrix4 | null = null; // in the frame shown last
  hideSelected = false; // what is drawn instead would be inside of it

  constructor(readonly canvas: HTMLCanvasElement, readonly store: Store, arrived: () => void) {
    this.renderer = new WebGLRenderer({ canvas, antialias: !this.software, preserveDrawingBuffer: true });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.renderer.shadowMap.autoUpdate = false;
    this.scene.background = new Color(kSky);
    this.scene.environmentIntensity = 0.45;
    const sky = new HemisphereLight(0xdfe8f5, 0x8d8a84, 0.55), all = new AmbientLight(0xffffff, 0.15);
    this.scene.add(sky, all);
    // The same light for crowds, with what the surroundings would reflect; of a matt surface one part in pi is seen.
    const part = (c: Color, of: number) => c.clone().multiplyScalar(of / Math.PI);
    this.light.sun = part(this.sun.color, this.sun.intensity);
    this.light.sky = part(sky.color, sky.intensity).addScalar(all.intensity / Math.PI + 0.2);
    this.light.earth = part(sky.groundColor, sky.intensity).addScalar(all.intensity / Math.PI + 0.08);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.bias = -0.0004;
    this.scene.add(this.sun, this.sun.target);
    this.contacts.renderOrder = 2;
    this.contacts.frustumCulled = false;
    this.contacts.visible = false;
    this.fronts.renderOrder = 2;
    this.fronts.frustumCulled = false;
    this.fronts.visible = false;
    this.scene.add(this.contacts, this.fronts);
    if (this.software) this.quality = kBestCrowd;
    this.clouds = new Clouds(store, this.light, arrived);
    this.soft = new SoftBodies(store, this.renderer, arrived);
    this.scene.add(this.clouds.group, this.soft.group);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.15;
  }

  // (Re)makes everything that depends on the tables of bodies and meshes.
  rebuild(): void {
    for (const g of this.groups) {
      this.scene.remove(g.mesh);
      g.mesh.dispose();
    }
    for (const crowds of this.crowds.values())
      for (const crowd of crowds) {
        this.scene.remove(crowd.mesh);
        if (crowd.shadow) this.scene.remove(crowd.shadow);
        crowd.dispose();
      }
    this.crowds.clear();
    this.clouds.clear();
    this.soft.clear();
    this.groups = [];
    const { bodies, materials } = this.store.info;
    this.groupOf = new Array(bodies.length).fill(undefined);
    this.slotOf = new Array(bodies.length).fill(0);
    this.poses = new Float32Array(16 * bodies.length);
    this.tints = new Float32Array(3 * bodies.length);
    const lists = new Map<string, number[]>();
    bodies.forEach((b, i) => {
      if (b.mesh < 0 || this.clouds.has(i) || this.isGround(i)) return;
      const key = `${b.mesh}/${b.material}`;
      const list = lists.get(key);
      if (list) list.push(i);
      else lists.set(key, [i]);
    });
    for (const list of lists.values()) {
      const body = bodies[list[0]];
      const material = makeMaterial(materials[body.material]);
      const mesh = new InstancedMesh(new BufferGeometry(), material, list.length); // its geometry comes when it is looked at
      const plain = new MeshLambertMaterial({ transparent: material.transparent, opacity: material.opacity, depthWrite: material.depthWrite });
      const inside = materials[materials[body.material]?.inside ?? ""];
      if ((inside || !material.transparent) && this.store.meshes[body.mesh].interior)
        for (const m of [material, plain]) paintBroken(m, inside, this.byMaterial);
      mesh.castShadow = !material.transparent;
      mesh.receiveShadow = true;
      mesh.frustumCulled = false;
      mesh.boundingSphere = new Sphere(); // three.js would compute one for every picture
      const group = { mesh, bodies: list, number: body.mesh, base: material.color.clone(), rich: material, plain };
      material.color.set(0xffffff);
      list.forEach((b, slot) => {
        this.groupOf[b] = group;
        this.slotOf[b] = slot;
        mesh.setColorAt(slot, group.base);
      });
      this.groups.push(group);
      this.scene.add(mesh);
    }
    this.makeGround();
    this.applyQuality();
  }

  private isGround(body: number): boolean {
    return this.store.info.bodies[body].ground;
  }

  private geometry(index: number): BufferGeometry {
    if (!this.geometries[index]) {
      const source = this.store.meshes[index];
      const plain = new BufferGeometry();
      plain.setAttribute("position", new BufferAttribute(source.positions, 3));
      plain.setIndex(new BufferAttribute(source.indices, 1));
      this.geometries[index] = toCreasedNormals(plain, (35 * Math.PI) / 180);
      if (source.interior) {
        const broken = new Float32Array(source.indices.length); // corners are in the order of the triangles
        source.interior.forEach((inside, t) => broken.fill(inside, 3 * t, 3 * t + 3));
        this.geometries[index].setAttribute("broken", new BufferAttribute(broken, 1));
      }
    }
    return this.geometries[index];
  }

  private makeGround(): void {
    if (this.ground) this.scene.remove(this.ground);
    this.ground = undefined;
    const { action, ground } = this.store.info;
    const box = new Box3(new Vector3(...action.lower), new Vector3(...action.upper));
    this.extent = Math.max(box.getSize(new Vector3()).length(), 1e-3);
    if (ground !== null) {
      this.ground = new ThreeMesh(new PlaneGeometry(1, 1), this.richGround);
      this.ground.rotation.x = -Math.PI / 2;
      const centre = box.getCenter(new Vector3());
      this.ground.position.set(centre.x, ground, centre.z);
      this.ground.scale.setScalar(this.extent * 40);
      this.ground.receiveShadow = true;
      this.ground.renderOrder = -2;
      this.scene.add(this.ground);
    }
    this.scene.fog = this.light.fog = new Fog(kSky, this.extent * 4, this.extent * 14);
    const centre = box.getCenter(new Vector3()), reach = this.extent * 0.75;
    this.sun.position.copy(centre).add(new Vector3(0.45, 0.8, 0.35).multiplyScalar(this.extent * 2));
    this.sun.target.position.copy(centre);
    this.light.way.subVectors(this.sun.position, centre).normalize();
    const { way, sun, sky } = this.light;
    this.plainGround?.dispose();
    this.plainGround = groundMaterial(this.light, new Color(kGround).multiply(sun.clone().multiplyScalar(way.y).add(sky)));
    const shadow = this.sun.shadow.camera;
    shadow.left = shadow.bottom = -reach;
    shadow.right = shadow.top = reach;
    shadow.near = this.extent * 0.2;
    shadow.far = this.extent * 4;
    this.sun.shadow.normalBias = this.extent * 0.0015;
    shadow.updateProjectionMatrix();
    this.camera.near = this.extent / 2000;
    this.camera.far = this.extent * 50;
    this.camera.updateProjectionMatrix();
  }

  fit(): void {
    const { action } = this.store.info;
    const box = new Box3(new Vector3(...action.lower), new Vector3(...action.upper));
    const sphere = box.getBoundingSphere(new Sphere());
    const half = (this.camera.fov * Math.PI) / 360;
    const distance = (Math.max(sphere.radius, 1e-3) / Math.sin(Math.atan(Math.tan(half) * Math.min(1, this.camera.aspect)))) * 0.92;
    this.controls.target.copy(sphere.center);
    this.camera.position.copy(sphere.center).add(new Vector3(0.55, 0.38, 1).normalize().multiplyScalar(distance));
    this.controls.update();
  }

  // Puts the bodies where the frame has them. Returns the largest value that was coloured by.
  show(frame: number, clouds: Cloud[], colourBy: ColourBy, top: number | null): number {
    const data = this.store.row(frame);
    if (!data) return 0;
    const width = kRow + this.store.info.fields.length;
    const column = colourBy === "speed" ? 7 : kRow + this.store.info.fields.indexOf(colourBy);
    const scaled = colourBy !== "material" && colourBy !== "body" && column >= 7;
    this.byMaterial.value = colourBy === "material";
    let largest = 0;
    if (scaled) for (let b = 0; b < data.bodies; ++b) {
      const v = data.rows[b * width + column];
      if (v > largest) largest = v;
    }
    const end = top ?? (largest > 0 ? largest : 1);
    const matrix = new Matrix4(), place = new Vector3(), turn = new Quaternion(), one = new Vector3(1, 1, 1), colour = new Color();
    const gone = new Matrix4().makeScale(0, 0, 0);
    this.shown = 0;
    this.selectedPose = null;
    for (let b = 0; b < this.groupOf.length; ++b) {
      const group = this.groupOf[b];
      if (!group) continue;
      const slot = this.slotOf[b], at = b * width;
      if (b >= data.bodies || Number.isNaN(data.rows[at])) {
        group.mesh.setMatrixAt(slot, gone);
        this.poses.fill(0, 16 * b, 16 * b + 16);
        continue;
      }
      ++this.shown;
      place.fromArray(data.rows, at);
      turn.fromArray(data.rows, at + 3);
      matrix.compose(place, turn, one);
      if (b === this.selected) this.selectedPose = matrix.clone();
      const pose = b === this.selected && this.hideSelected ? gone : matrix;
      group.mesh.setMatrixAt(slot, pose);
      this.poses.set(pose.elements, 16 * b);
      const moves = this.store.info.bodies[b].kind !== "static";
      if (b === this.selected) colour.set(0xff7a1a);
      else if (moves && colourBy === "body") distinctColour(b, colour);
      else if (moves && scaled) scaleColour(data.rows[at + column] / end, colour);
      else colour.copy(group.base);
      group.mesh.setColorAt(slot, colour);
      colour.toArray(this.tints, 3 * b);
    }
    for (const g of this.groups) {
      g.mesh.instanceMatrix.needsUpdate = true;
      if (g.mesh.instanceColor) g.mesh.instanceColor.needsUpdate = true;
    }
    this.renderer.shadowMap.needsUpdate = true;
    this.clouds.selected = this.soft.selected = this.selected;
    const last = this.clouds.show(frame, clouds, data.rows, width, colourBy, top) || end;
    this.soft.show(frame, clouds, data.rows, width, colourBy, last);
    return last;
  }

  get bodiesShown(): number {
    return this.shown + this.clouds.bodiesShown + this.soft.bodiesShown;
  }

  showContacts(events: ContactEvent[]): void {
    if (events.length === 0 && !this.contacts.visible) return;
    this.contacts.visible = events.length > 0;
    const points: number[] = [];
    let strongest = 0;
    for (const e of events) strongest = Math.max(strongest, e.impulse);
    for (const e of events) {
      if (e.kind !== "contact") continue;
      const length = this.extent * 0.06 * Math.sqrt(e.impulse / (strongest || 1));
      points.push(...e.point, ...e.point.map((p, k) => p + e.normal[k] * length));
    }
    this.contacts.geometry.dispose();
    this.contacts.geometry = new BufferGeometry().setAttribute("position", new BufferAttribute(new Float32Array(points), 3));
  }

  // Crack fronts where the bodies are in a frame: red where they grow, black where they are arrested.
  showFronts(frame: number, fronts: Front[]): void {
    this.fronts.visible = fronts.length > 0;
    const data = this.store.row(frame);
    if (!data || !fronts.length) return;
    const width = kRow + this.store.info.fields.length, points: number[] = [], colours: number[] = [];
    const turn = new Quaternion(), place = new Vector3(), corner = new Vector3();
    for (const { body, closed, points: chain, states } of fronts) {
      if (body >= data.bodies || Number.isNaN(data.rows[body * width])) continue;
      place.fromArray(data.rows, body * width);
      turn.fromArray(data.rows, body * width + 3);
      for (let i = 0; i + (closed ? 0 : 1) < chain.length; ++i)
        for (const k of [i, (i + 1) % chain.length]) {
          corner.fromArray(chain[k]).applyQuaternion(turn).add(place);
          points.push(corner.x, corner.y, corner.z);
          colours.push(states[i] === "growing" ? 0.9 : 0, 0, 0);
        }
    }
    this.fronts.geometry.dispose();
    this.fronts.geometry = new BufferGeometry()
      .setAttribute("position", new BufferAttribute(new Float32Array(points), 3))
      .setAttribute("color", new BufferAttribute(new Float32Array(colours), 3));
  }

  pick(x: number, y: number): number {
    const rectangle = this.canvas.getBoundingClientRect();
    const ray = new Raycaster();
    ray.setFromCamera(
      new Vector2(((x - rectangle.left) / rectangle.width) * 2 - 1, 1 - ((y - rectangle.top) / rectangle.height) * 2),
      this.camera,
    );
    let picked = -1, nearest = Infinity;
    for (const { mesh, number, bodies } of this.groups) {
      const shownGeometry = mesh.geometry;
      mesh.geometry = this.geometry(number);
      mesh.boundingSphere = null; // of this frame
      for (const hit of ray.intersectObject(mesh, false))
        if (hit.instanceId !== undefined && hit.distance < nearest) {
          nearest = hit.distance;
          picked = bodies[hit.instanceId];
        }
      mesh.geometry = shownGeometry;
    }
    const own = this.clouds.pick(ray);
    if (own.distance < nearest) {
      nearest = own.distance;
      picked = own.body;
    }
    const soft = this.soft.pick(ray);
    return soft.distance < nearest ? soft.body : picked;
  }

  setShadows(on: boolean): void {
    this.shadows = on;
    this.applyQuality();
  }

  setWireframe(on: boolean): void {
    this.wireframe = on;
    for (const g of this.groups) g.rich.wireframe = g.plain.wireframe = on;
    for (const crowds of this.crowds.values()) for (const crowd of crowds) crowd.wireframe = on;
    this.clouds.setWireframe(on);
    this.soft.setWireframe(on);
  }

  // 0 is the best; see kQualities.
  setQuality(level: number): void {
    if (level === this.quality) return;
    this.quality = level;
    this.applyQuality();
    this.resize();
  }

  private applyQuality(): void {
    const { pixels, shadows, rich, most, crowd, smallest = 0 } = kQualities[this.quality];
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, pixels));
    if (rich && !this.scene.environment)
      this.scene.environment = new PMREMGenerator(this.renderer).fromScene(new RoomEnvironment(), 0.04).texture;
    this.soft.setRich(rich);
    this.clouds.setMost(crowd ? crowd / kTrianglesOfABall : Infinity);
    this.renderer.shadowMap.enabled = this.sun.castShadow = this.shadows && shadows && !crowd;
    this.renderer.shadowMap.needsUpdate = true;
    if (crowd && !this.crowds.has(this.quality)) this.crowds.set(this.quality, this.makeCrowds(crowd, this.extent * smallest));
    for (const [level, crowds] of this.crowds)
      for (const c of crowds) {
        c.mesh.visible = level === this.quality;
        if (c.shadow) c.shadow.visible = c.mesh.visible && this.shadows && shadows;
      }
    for (const g of this.groups) {
      g.mesh.visible = !crowd;
      if (crowd) continue;
      const material = rich ? g.rich : g.plain;
      material.needsUpdate = true;
      g.mesh.material = material;
      g.mesh.geometry = most ? this.coarseOf(g.number).at(most).geometry : this.geometry(g.number);
    }
    if (!this.ground) return;
    this.richGround.needsUpdate = true;
    this.ground.material = (crowd && this.plainGround) || this.richGround;
  }

  private makeCrowds(triangles: number, smallest: number): Crowd[] {
    const uses = new Map<number, number>();
    for (const g of this.groups) uses.set(g.number, (uses.get(g.number) ?? 0) + g.bodies.length);
    const numbers = [...uses.keys()];
    const made = standIns(numbers.map((n) => ({ coarse: this.coarseOf(n), bodies: uses.get(n)! })), triangles);
    const height = this.store.info.ground, shade = new Color(kGround).multiply(this.light.sky);
    const ground = height === null ? null : { height, shade, smallest };
    const crowds: Crowd[] = [];
    for (const seeThrough of [false, true]) {
      const members = this.groups.filter((g) => g.rich.transparent === seeThrough).flatMap((g) => {
        const geometry = made[numbers.indexOf(g.number)];
        return g.bodies.map((body) => ({ body, geometry, opacity: g.rich.opacity }));
      });
      if (!members.length) continue;
      const crowd = new Crowd(members, seeThrough, this.light, seeThrough ? null : ground);
      crowd.wireframe = this.wireframe;
      crowds.push(crowd);
      this.scene.add(crowd.mesh);
      if (crowd.shadow) this.scene.add(crowd.shadow);
    }
    return crowds;
  }

  private coarseOf(number: number): Coarse {
    return (this.coarse[number] ??= new Coarse(this.store.meshes[number]));
  }

  // The best quality for still and for moving pictures. Where the processor computes them, the very best is too slow even
  // for one.
  get best(): { still: number; moving: number } {
    if (!this.software) return { still: 0, moving: 0 };
    const all = this.groups.reduce((sum, g) => sum + (g.bodies.length * this.store.meshes[g.number].indices.length) / 3, 0);
    return all < 300_000 ? { still: 2, moving: kBestCrowd } : { still: 3, moving: kBestCrowd + 1 };
  }

  get triangles(): number {
    return this.renderer.info.render.triangles;
  }

  resize(): void {
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    if (width === 0 || height === 0) return;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
  }

  draw(): void {
    this.controls.update();
    const height = this.renderer.domElement.height;
    this.clouds.setView(height);
    this.soft.setView(this.camera.position, Math.tan((this.camera.fov * Math.PI) / 360), height);
    for (const crowd of this.crowds.get(this.quality) ?? []) crowd.update(this.poses, this.tints, this.camera, height);
    this.renderer.render(this.scene, this.camera);
  }
}

// Whether the processor computes the pictures. Asked of a context of its own: that of the view is made for the answer.
function isSoftware(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2"), names = gl?.getExtension("WEBGL_debug_renderer_info");
  const software = !!gl && !!names && /swiftshader|llvmpipe|software/i.test(String(gl.getParameter(names.UNMASKED_RENDERER_WEBGL)));
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return software;
}

// Where the body broke it looks like the material `inside`, as long as bodies are coloured by their materials. Without such
// a material it is darker and grained by noise in the space of the mesh, so that pieces fit each other.
function paintBroken(material: MeshStandardMaterial | MeshLambertMaterial, inside: Material | undefined, byMaterial: { value: boolean }): void {
  const look = inside && makeMaterial(inside);
  const colour = look ? new Vector4(look.color.r, look.color.g, look.color.b, look.opacity) : new Vector4(1, 1, 1, 1);
  material.customProgramCacheKey = () => "broken";
  material.onBeforeCompile = (shader) => {
    shader.uniforms.byMaterial = look ? byMaterial : { value: false };
    shader.uniforms.insideColour = { value: colour };
    shader.uniforms.insideSurface = { value: new Vector2(look?.roughness ?? 1, look?.metalness ?? 0) };
    shader.vertexShader = `attribute float broken; varying float isBroken; varying vec3 restPlace;\n${shader.vertexShader}`
      .replace("#include <begin_vertex>", "#include <begin_vertex>\n isBroken = broken; restPlace = position;");
    shader.fragmentShader = `varying float isBroken; varying vec3 restPlace;
      uniform bool byMaterial; uniform vec4 insideColour; uniform vec2 insideSurface;
      float grain(vec3 p) { return fract(sin(dot(p, vec3(127.1, 311.7, 74.7))) * 43758.5453); }
      float smoothGrain(vec3 p) {
        vec3 i = floor(p), f = p - i; f = f * f * (3.0 - 2.0 * f);
        return mix(
          mix(mix(grain(i), grain(i + vec3(1, 0, 0)), f.x), mix(grain(i + vec3(0, 1, 0)), grain(i + vec3(1, 1, 0)), f.x), f.y),
          mix(mix(grain(i + vec3(0, 0, 1)), grain(i + vec3(1, 0, 1)), f.x), mix(grain(i + vec3(0, 1, 1)), grain(i + vec3(1)), f.x), f.y), f.z);
      }\n${shader.fragmentShader}`.replace(
      "#include <color_fragment>",
      `#include <color_fragment>
      if (isBroken > 0.5 && byMaterial) {
        diffuseColor = insideColour;
      } else if (isBroken > 0.5) {
        float sum = 0.0, wave = 0.064;
        for (int k = 0; k < 5; ++k, wave *= 0.5) sum += smoothGrain(restPlace / wave) - 0.5;
        diffuseColor.rgb *= clamp(0.84 + 0.22 * sum, 0.5, 1.1);
      }`,
    ).replace("#include <roughnessmap_fragment>", `#include <roughnessmap_fragment>
      if (isBroken > 0.5 && byMaterial) roughnessFactor = insideSurface.x;`,
    ).replace("#include <metalnessmap_fragment>", `#include <metalnessmap_fragment>
      if (isBroken > 0.5 && byMaterial) metalnessFactor = insideSurface.y;`);
  };
}

function makeMaterial(m: Material | undefined): MeshStandardMaterial {
  const look = m ?? { colour: [0.72, 0.72, 0.7], roughness: 0.6, metallic: 0, transparency: 0, refraction: 1.5 };
  const colour = new Color().setRGB(look.colour[0], look.colour[1], look.colour[2]);
  if (look.transparency > 0)
    return new MeshPhysicalMaterial({
      color: colour, roughness: look.roughness, metalness: 0, transparent: true, opacity: 1 - 0.8 * look.transparency,
      envMapIntensity: 2.2, ior: look.refraction, specularIntensity: 1, depthWrite: false,
    });
  return new MeshStandardMaterial({ color: colour, roughness: look.roughness, metalness: look.metallic });
}
