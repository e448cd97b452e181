// Solid textures: colour and relief as functions of where a point is at rest, so that they go on over all faces of a piece,
// also those that a tear opens, and stick to the material while it deforms.
import { Data3DTexture, LinearFilter, RedFormat, RepeatWrapping, UnsignedByteType } from "three";

export const kSolids = ["plain", "grain", "wood", "marble", "flesh"] as const;
export type Solid = (typeof kSolids)[number];

// By the name of a material.
export function solidOf(name: string): Solid {
  if (/wood|oak|pine|beech|birch|spruce|walnut|timber|log/i.test(name)) return "wood";
  if (/marble/i.test(name)) return "marble";
  if (/flesh|meat|muscle|skin|tissue/i.test(name)) return "flesh";
  if (/stone|granite|concrete|rock|clay|brick|cake|bread/i.test(name)) return "grain";
  return "plain";
}

const kNoiseCells = 32;

// Noise that tiles: a value a texel, mixed by the texture unit. The same for everybody.
export function noiseTexture(): Data3DTexture {
  const n = kNoiseCells, values = new Uint8Array(n * n * n);
  let state = 0x9e3779b9;
  for (let i = 0; i < values.length; ++i) {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d);
    state = (state + 0x6d2b79f5) | 0;
    const mixed = Math.imul(state ^ (state >>> 12), 0x297a2d39);
    values[i] = (mixed ^ (mixed >>> 15)) & 255;
  }
  const texture = new Data3DTexture(values, n, n, n);
  texture.format = RedFormat;
  texture.type = UnsignedByteType;
  texture.minFilter = texture.magFilter = LinearFilter;
  texture.wrapS = texture.wrapT = texture.wrapR = RepeatWrapping;
  texture.unpackAlignment = 1;
  texture.needsUpdate = true;
  return texture;
}

// `solidScale`: 1 over the size of the body at rest; `depth`: 0 on the surface, 1 at the deepest point.
export const kSolidShader = `
uniform highp sampler3D solidNoise;
uniform int solidKind;
uniform vec3 solidMiddle;
uniform float solidScale;
float solidSum(vec3 p) {
  float sum = 0.0, part = 0.5;
  for (int k = 0; k < 4; ++k, part *= 0.5, p *= 2.03) sum += part * texture(solidNoise, p).r;
  return sum / 0.9375;
}
vec3 solidColour(vec3 base, vec3 rest, float depth, bool within) {
  vec3 p = (rest - solidMiddle) * solidScale;
  if (solidKind == 1) return base * (0.7 + 0.6 * solidSum(p * 1.7));
  if (solidKind == 2) {
    float bend = 0.06 * (solidSum(p * vec3(0.3, 0.12, 0.3)) - 0.5);
    float ring = fract(9.0 * length(p.xz + vec2(0.13, 0.07)) + 22.0 * bend);
    float late = smoothstep(0.35, 0.9, ring) * (1.0 - smoothstep(0.94, 1.0, ring));
    float fibre = texture(solidNoise, p * vec3(2.6, 0.15, 2.6)).r;
    return base * (1.12 - 0.5 * late) * (0.9 + 0.2 * fibre);
  }
  if (solidKind == 3) {
    float vein = abs(sin(7.0 * dot(p, vec3(0.6, 0.7, 0.4)) + 7.0 * solidSum(p * 0.25)));
    return mix(base * vec3(0.42, 0.44, 0.48), base, smoothstep(0.0, 0.5, vein)) * (0.95 + 0.1 * solidSum(p));
  }
  if (solidKind == 4 && within) {
    float layer = depth + 0.03 * (solidSum(p * 0.5) - 0.5), fibre = texture(solidNoise, p * vec3(0.25, 2.2, 2.2)).r;
    vec3 skin = base, fat = vec3(0.86, 0.68, 0.42), muscle = vec3(0.5, 0.06, 0.05) * (0.7 + 0.6 * fibre);
    return mix(skin, mix(fat, muscle, smoothstep(0.16, 0.2, layer)), smoothstep(0.03, 0.05, layer));
  }
  return base;
}
// Of walls: height as a share of the body's size, and its gradient, in the frame at rest.
float solidHeight(vec3 rest) {
  vec3 p = (rest - solidMiddle) * solidScale;
  return solidKind == 2 ? texture(solidNoise, p * vec3(3.0, 0.2, 3.0)).r : solidSum(p * 1.3);
}
vec3 solidSlope(vec3 rest) {
  float delta = 0.004 / solidScale, here = solidHeight(rest);
  return vec3(solidHeight(rest + vec3(delta, 0.0, 0.0)) - here, solidHeight(rest + vec3(0.0, delta, 0.0)) - here,
              solidHeight(rest + vec3(0.0, 0.0, delta)) - here) / (delta * solidScale);
}
`;
