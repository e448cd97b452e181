// Shaders of surfaces in cages. Vertices are fixed in tetrahedra and placed here: textures hold where the cage's vertices are
// and which four each tetrahedron has. Three ways to show whole triangles only inside of their tetrahedra: not at all, because
// they were clipped before; by fragments that are left out; by clip distances.
import { IUniform, Material, MeshLambertMaterial, MeshStandardMaterial } from "three";
import { kMaskFragment, kMaskPlace, kMaskVertex } from "./soft_masks";
import { kSolidShader } from "./solid_textures";

export type Cut = "clipped" | "discard" | "distance" | "whole";
export const kCuts: Cut[] = ["clipped", "discard", "distance", "whole"];

export type SoftUniforms = Record<string, IUniform>;

// What overlaps closed faces, as a share of a tetrahedron's height, so that rounding drops no pixel on both sides.
const kOverlap = "1e-4";

// The first and the last point of the grid lie on the sides of the box.
const kDepth = `
float softDepthAt(vec3 where) {
  vec3 count = vec3(textureSize(softDepths, 0));
  return texture(softDepths, (where * (count - 1.0) + 0.5) / count).r;
}`;

const kOpen = `
vec4 softOpen(uint exposed) { return vec4(uvec4(exposed, exposed >> 1, exposed >> 2, exposed >> 3) & 1u); }`;

// Where a vertex is, in the frame of the body. Attribute `position` is where it rests. The normal follows from the covector and
// the edges of the tetrahedron; those of the outside are what the edges at rest become with the gradient of the deformation,
// which is a mean at the cage's vertices and interpolated between, so that light does not jump from one to the next
// (sunder/show/caged_normals.h).
export const kPlaceShader = `
precision highp usampler2D;
uniform highp sampler2D softNodes, softShifts, softEdges, softTurns;
uniform highp usampler2D softTets;
uniform bool softApart, softAllOpen, softWalls, softSmooth;
in vec4 softWeights;
in vec3 softCovector;
in uint softTet, softFlags;
vec3 softPosition, softNormal;
float softNodeValue;
uint softExposed;
bool softHidden;
vec3 softC1, softC2, softC3, softX1, softX2, softX3;
float softVolume;
ivec2 softTexel(int i, int width) { return ivec2(i % width, i / width); }
vec4 softNode(uint i) { return texelFetch(softNodes, softTexel(int(i), textureSize(softNodes, 0).x), 0); }
mat3 softTurn(uint i) {
  int width = textureSize(softTurns, 0).x, first = 3 * int(i);
  return mat3(texelFetch(softTurns, softTexel(first, width), 0).xyz, texelFetch(softTurns, softTexel(first + 1, width), 0).xyz,
              texelFetch(softTurns, softTexel(first + 2, width), 0).xyz);
}
vec3 softOutward(vec3 e1, vec3 c1, vec3 c2, vec3 c3) {
  vec3 normal = softCovector.x * c1 + softCovector.y * c2 + softCovector.z * c3;
  return dot(e1, c1) < 0.0 ? -normal : normal;
}
void softPlace() {
  ivec2 at = softTexel(int(softTet), textureSize(softTets, 0).x);
  uvec4 id = texelFetch(softTets, at, 0);
  softExposed = softAllOpen ? 15u : id.w >> 28;
  id.w &= 0x0fffffffu;
  vec4 a = softNode(id.x), b = softNode(id.y), c = softNode(id.z), d = softNode(id.w);
  softPosition = softWeights.x * a.xyz + softWeights.y * b.xyz + softWeights.z * c.xyz + softWeights.w * d.xyz;
  softNodeValue = dot(softWeights, vec4(a.w, b.w, c.w, d.w));
  vec3 e1 = b.xyz - a.xyz, e2 = c.xyz - a.xyz, e3 = d.xyz - a.xyz;
  softC1 = cross(e2, e3);
  softC2 = cross(e3, e1);
  softC3 = cross(e1, e2);
  softVolume = dot(e1, softC1);
  int width = textureSize(softEdges, 0).x, first = 3 * int(softTet);
  softX1 = texelFetch(softEdges, softTexel(first, width), 0).xyz;
  softX2 = texelFetch(softEdges, softTexel(first + 1, width), 0).xyz;
  softX3 = texelFetch(softEdges, softTexel(first + 2, width), 0).xyz;
  uint face = softFlags & 7u;
  softNormal = vec3(0.0);
  if (softSmooth && face >= 4u) {
    mat3 turn = softWeights.x * softTurn(id.x) + softWeights.y * softTurn(id.y) + softWeights.z * softTurn(id.z) + softWeights.w * softTurn(id.w);
    vec3 s1 = turn * softX1, s2 = turn * softX2, s3 = turn * softX3;
    softNormal = softOutward(s1, cross(s2, s3), cross(s3, s1), cross(s1, s2));
  }
  if (softNormal == vec3(0.0)) softNormal = softOutward(e1, softC1, softC2, softC3);
  softNormal /= max(max(abs(softNormal.x), abs(softNormal.y)), max(abs(softNormal.z), 1e-37));
  float size = length(softNormal);
  softNormal = size > 0.0 ? softNormal / size : vec3(0.0, 1.0, 0.0);
  if (softApart) softPosition += texelFetch(softShifts, softTexel(int(softTet), textureSize(softShifts, 0).x), 0).xyz;
  softHidden = face < 4u && (!softWalls || ((softExposed >> face) & 1u) == 0u);
}
`;

const kVertexHead = `${kPlaceShader}${kOpen}
flat out uvec2 softKind;
out vec4 softShare;
out vec3 softRest;
out float softValue;
#ifdef SOFT_WALL
uniform highp sampler3D softDepths;
uniform vec3 softLower, softUpper;
uniform float softRough, softDeepest;
${kDepth}
flat out vec3 softTwist0, softTwist1, softTwist2;
#endif
#ifdef SOFT_DISTANCE
out highp float gl_ClipDistance[4];
#endif
`;

// Walls are raised along the normal of the face, from the tetrahedron with the smaller number to the other, by the same
// height on both sides, so that the sides of a crack fit each other. The height ends at the edges of the face, and where the
// surface is near, so that nothing pokes through it.
const kVertexMain = `
softPlace();
float softFlip = (softVolume < 0.0) != ((softFlags & 128u) != 0u) ? -1.0 : 1.0; // inverted: three.js goes by the winding
softKind = uvec2(softFlags, softExposed);
softShare = softWeights;
softRest = position;
softValue = softNodeValue;
#ifdef SOFT_WALL
{
  float volume = softVolume == 0.0 ? 1.0 : softVolume;
  mat3 twist = normalMatrix * (outerProduct(softC1, softX1) + outerProduct(softC2, softX2) + outerProduct(softC3, softX3)) * (1.0 / volume);
  softTwist0 = twist[0];
  softTwist1 = twist[1];
  softTwist2 = twist[2];
  if (softRough > 0.0) {
    uint face = softFlags & 7u;
    vec4 others = softWeights + vec4(equal(uvec4(face), uvec4(0u, 1u, 2u, 3u)));
    float edge = smoothstep(0.0, 0.15, min(min(others.x, others.y), min(others.z, others.w)));
    vec3 where = (position - softLower) / max(softUpper - softLower, vec3(1e-20));
    float limit = min(softRough, 0.5 * softDeepest * softDepthAt(where));
    float way = (softFlags & 64u) != 0u ? 1.0 : -1.0;
    softPosition += way * edge * limit * 2.0 * (solidHeight(position) - 0.5) * softNormal;
  }
}
#endif
#ifdef SOFT_DISTANCE
{
  vec4 inner = softWeights + (1.0 - softOpen(softExposed)) * ${kOverlap};
  gl_ClipDistance[0] = inner.x;
  gl_ClipDistance[1] = inner.y;
  gl_ClipDistance[2] = inner.z;
  gl_ClipDistance[3] = inner.w;
}
#endif
`;

const kFragmentHead = `
flat in uvec2 softKind;
in vec4 softShare;
in vec3 softRest;
in float softValue;
uniform int softMode;
uniform vec3 softTint;
uniform float softTop;
uniform highp sampler2D softLooks;
uniform highp sampler3D softDepths;
uniform vec3 softLower, softUpper;
uniform float softBump;
${kDepth}
#ifdef SOFT_WALL
flat in vec3 softTwist0, softTwist1, softTwist2;
#endif
${kOpen}
vec3 softScale(float value) {
  float place = clamp(value, 0.0, 1.0) * 4.0;
  vec3 stops[5] = vec3[5](vec3(0.05, 0.08, 0.35), vec3(0.03, 0.35, 0.55), vec3(0.08, 0.6, 0.25), vec3(0.85, 0.7, 0.08),
                          vec3(0.75, 0.08, 0.04));
  int i = min(int(place), 3);
  return mix(stops[i], stops[i + 1], place - float(i));
}
`;

const kLeaveOut = `
#ifdef SOFT_DISCARD
if (any(lessThan(softShare + (1.0 - softOpen(softKind.y)) * ${kOverlap}, vec4(0.0)))) discard;
#endif
`;

const kColour = `
bool softWithin = (softKind.x & 8u) != 0u || !gl_FrontFacing;
ivec2 softLook = ivec2(2 * int(softKind.x >> 16) + (softWithin ? 1 : 0), 0);
if (softMode == 0) {
  vec3 base = texelFetch(softLooks, softLook, 0).rgb;
  vec3 where = (softRest - softLower) / max(softUpper - softLower, vec3(1e-20));
  diffuseColor.rgb = solidColour(base, softRest, softDepthAt(where), softWithin);
} else if (softMode == 1) {
  diffuseColor.rgb = softTint * (softWithin ? 0.84 : 1.0);
} else if (softMode == 2) {
  diffuseColor.rgb = softScale(softValue / softTop);
} else {
  uint copies = (softKind.x >> 4) & 3u;
  diffuseColor.rgb = copies == 0u ? vec3(0.3) : copies == 1u ? vec3(0.1, 0.5, 0.12) : copies == 2u ? vec3(0.75, 0.6, 0.05) : vec3(0.65, 0.06, 0.04);
}
`;

const kRelief = `
#ifdef SOFT_WALL
if (softBump > 0.0) {
  vec3 slope = mat3(softTwist0, softTwist1, softTwist2) * solidSlope(softRest);
  normal = normalize(normal - softBump * (slope - normal * dot(slope, normal)));
}
#endif
`;

export interface SoftPart {
  wall: boolean;
  cut: Cut;
  masked?: boolean; // whole faces with masks
}

// Makes a material of three.js place and colour a part. Its own attributes and lights stay as they are.
export function patchSoft(material: Material, uniforms: SoftUniforms, part: SoftPart): void {
  const defines = `${part.wall ? "#define SOFT_WALL\n" : ""}${!part.wall && part.cut === "discard" ? "#define SOFT_DISCARD\n" : ""}${
    !part.wall && part.cut === "distance" ? "#define SOFT_DISTANCE\n" : ""}`;
  const { masked = false } = part, rich = material instanceof MeshStandardMaterial, lit = rich || material instanceof MeshLambertMaterial;
  if (!part.wall && part.cut === "distance") (material as Material & { extensions?: unknown }).extensions = { clipCullDistance: true };
  material.customProgramCacheKey = () => `soft ${part.wall} ${part.cut} ${lit} ${masked}`;
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, uniforms);
    shader.vertexShader = `${defines}${part.wall ? kSolidShader : ""}${kVertexHead}${masked ? kMaskVertex : ""}\n${shader.vertexShader}`
      .replace("void main() {", `void main() {\n${masked ? kMaskPlace : ""}${kVertexMain}`)
      .replace("#include <beginnormal_vertex>", "vec3 objectNormal = softFlip * softNormal;")
      .replace("#include <begin_vertex>", "vec3 transformed = softPosition;")
      .replace("#include <project_vertex>", "#include <project_vertex>\nif (softHidden) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);");
    shader.fragmentShader = `${defines}${kSolidShader}${kFragmentHead}${masked ? kMaskFragment : ""}\n${shader.fragmentShader}`
      .replace("#include <map_fragment>", `${masked ? "if (softMasked()) discard;\n" : ""}${kLeaveOut}#include <map_fragment>`)
      .replace("#include <color_fragment>", kColour)
      .replace("#include <normal_fragment_begin>", `#include <normal_fragment_begin>\n${rich ? kRelief : ""}`)
      .replace("#include <roughnessmap_fragment>", `#include <roughnessmap_fragment>
        if (softMode == 0) roughnessFactor = texelFetch(softLooks, ivec2(softLook.x, 1), 0).r;`)
      .replace("#include <metalnessmap_fragment>", `#include <metalnessmap_fragment>
        if (softMode == 0) metalnessFactor = texelFetch(softLooks, ivec2(softLook.x, 1), 0).g;`);
  };
}
