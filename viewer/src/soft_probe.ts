// What tests ask of surfaces in cages: where the shader puts vertices, how many layers lie behind each pixel, pictures without
// anything around them.
import {
  AddEquation, BufferGeometry, Color, CustomBlending, DoubleSide, FloatType, Mesh, MeshBasicMaterial, NearestFilter, OneFactor, Points,
  RGBAFormat, Scene, ShaderMaterial, UnsignedByteType, WebGLRenderTarget,
} from "three";
import { SoftBody } from "./soft_body";
import { Cut, kPlaceShader, patchSoft, SoftPart } from "./soft_shaders";
import { Stage } from "./stage";

const kPictureQuality = 2; // as pictures of a machine without a graphics card that stand still
const kPoints = 512; // vertices in a row of the picture that they are read from

export interface SoftState {
  body: number;
  version: number;
  cut: Cut;
  checksum: number; // of the buffers that never change
  uploaded: number; // of what the card was given of them: of the attributes that are drawn
  sent: number; // texels of tears
  tets: number;
  texels: number[];
}

export class SoftProbe {
  constructor(private readonly stage: Stage, private readonly changed: () => void) {}

  set(options: Partial<Stage["soft"]["options"]>): void {
    Object.assign(this.stage.soft.options, options);
    this.changed();
  }

  // With reflections and relief, also where the processor draws, until the quality changes.
  rich(on: boolean): void {
    this.stage.soft.setRich(on);
    this.changed();
  }

  get cuts(): Cut[] {
    return this.stage.soft.cuts;
  }

  states(): SoftState[] {
    const { soft } = this.stage;
    return [...soft.bodies].map(([body, of]) => ({
      body, version: of.version, cut: soft.cut, checksum: of.statics.checksum, uploaded: this.uploaded(of), sent: of.sent, tets: of.statics.tets,
      texels: Array.from(of.texels),
    }));
  }

  // Versions of the attributes that are drawn: each write from here makes one larger.
  private uploaded(body: SoftBody): number {
    let sum = 0;
    for (const { geometry } of body.visibleParts()) {
      for (const attribute of Object.values(geometry.attributes)) sum += (attribute as { version: number }).version;
      sum += geometry.getIndex()!.version;
    }
    return sum;
  }

  // Positions and normals as the shader computes them, in the frame of the body, by corner of the triangles that are seen:
  // first the outside, then the walls.
  placed(body: number, what: "positions" | "normals"): number[] {
    const of = this.stage.soft.bodies.get(body);
    if (!of) return [];
    const out: number[] = [];
    for (const part of [of.statics.asset.outside, of.statics.asset.walls]) {
      const count = part.tets.length;
      if (count === 0) continue;
      const height = Math.ceil(count / kPoints), geometry = new BufferGeometry(), source = of.visibleParts();
      const like = source.find((m) => m.geometry.getAttribute("position").array === part.rest);
      if (!like) continue;
      for (const [name, attribute] of Object.entries(like.geometry.attributes)) geometry.setAttribute(name, attribute);
      geometry.setDrawRange(0, count);
      const material = new ShaderMaterial({
        uniforms: { ...of.uniforms, width: { value: kPoints }, height: { value: height } },
        vertexShader: `${kPlaceShader}
          uniform int width, height;
          out vec3 place;
          void main() {
            softPlace();
            place = ${what === "positions" ? "softPosition" : "softNormal"};
            vec2 at = (vec2(gl_VertexID % width, gl_VertexID / width) + 0.5) / vec2(width, height);
            gl_Position = vec4(2.0 * at - 1.0, 0.0, 1.0);
            gl_PointSize = 1.0;
          }`,
        fragmentShader: "in vec3 place; void main() { gl_FragColor = vec4(place, 1.0); }",
        depthTest: false, depthWrite: false,
      });
      const scene = new Scene(), points = new Points(geometry, material);
      points.frustumCulled = false;
      scene.add(points);
      const data = new Float32Array(4 * kPoints * height);
      this.render(scene, kPoints, height, data);
      material.dispose();
      for (let c = 0; c < part.indices.length; ++c) {
        if (!of.seen(part.flags[part.indices[c - (c % 3)]], part.tets[part.indices[c]])) continue;
        for (let k = 0; k < 3; ++k) out.push(data[4 * part.indices[c] + k]);
      }
    }
    return out;
  }

  // How many pixels have an odd number of faces behind them, of how many that have any: closed pieces have none.
  layers(width: number, height: number): { odd: number; covered: number } {
    const scene = new Scene();
    this.stage.draw(); // so that the parts are chosen
    for (const of of this.stage.soft.bodies.values())
      for (const part of of.visibleParts()) {
        const material = new MeshBasicMaterial({
          side: DoubleSide, depthTest: false, depthWrite: false, transparent: true, blending: CustomBlending, blendEquation: AddEquation,
          blendSrc: OneFactor, blendDst: OneFactor, toneMapped: false,
        });
        const kind = part.userData.part as SoftPart, { wall, masked } = kind;
        patchSoft(material, of.uniforms, kind);
        const patch = material.onBeforeCompile;
        material.customProgramCacheKey = () => `soft layers ${wall} ${this.stage.soft.cut} ${masked}`;
        material.onBeforeCompile = (shader, renderer) => {
          patch.call(material, shader, renderer);
          shader.fragmentShader = shader.fragmentShader.replace("#include <opaque_fragment>", "gl_FragColor = vec4(1.0 / 255.0);")
            .replace("#include <colorspace_fragment>", "");
        };
        const object = new Mesh(part.geometry, material);
        object.frustumCulled = false;
        object.matrixAutoUpdate = object.matrixWorldAutoUpdate = false;
        object.matrixWorld.copy(part.matrixWorld);
        object.onBeforeRender = part.onBeforeRender;
        object.onAfterRender = part.onAfterRender;
        scene.add(object);
      }
    const data = new Uint8Array(4 * width * height);
    this.render(scene, width, height, data);
    let odd = 0, covered = 0;
    for (let i = 0; i < data.length; i += 4) {
      if (data[i]) ++covered;
      odd += data[i] & 1;
    }
    return { odd, covered };
  }

  // The scene in one quality, with shadows, without smoothing of edges.
  picture(width: number, height: number): Uint8Array {
    this.stage.setQuality(kPictureQuality);
    this.stage.draw();
    const data = new Uint8Array(4 * width * height);
    this.render(this.stage.scene, width, height, data);
    return data;
  }

  private render(scene: Scene, width: number, height: number, out: Uint8Array | Float32Array): void {
    const { renderer, camera } = this.stage, old = renderer.getRenderTarget(), clear = renderer.getClearColor(new Color()), alpha = renderer.getClearAlpha();
    const target = new WebGLRenderTarget(width, height, {
      type: out instanceof Float32Array ? FloatType : UnsignedByteType, format: RGBAFormat, minFilter: NearestFilter, magFilter: NearestFilter,
    });
    renderer.setRenderTarget(target);
    renderer.setClearColor(0x000000, 0);
    renderer.clear();
    renderer.render(scene, camera);
    renderer.readRenderTargetPixels(target, 0, 0, width, height, out);
    renderer.setRenderTarget(old);
    renderer.setClearColor(clear, alpha);
    target.dispose();
  }
}
