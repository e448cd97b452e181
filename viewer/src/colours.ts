import { Color } from "three";

const stops: [number, number, number][] = [
  [0.05, 0.08, 0.35], [0.03, 0.35, 0.55], [0.08, 0.6, 0.25], [0.85, 0.7, 0.08], [0.75, 0.08, 0.04],
];

// Dark blue over green and yellow to red, for values in 0..1; linear light.
export function scaleColour(value: number, out: Color): Color {
  const place = Math.min(Math.max(Number.isFinite(value) ? value : 0, 0), 1) * 4;
  const i = Math.min(Math.floor(place), 3), part = place - i;
  return out.setRGB(
    stops[i][0] + (stops[i + 1][0] - stops[i][0]) * part,
    stops[i][1] + (stops[i + 1][1] - stops[i][1]) * part,
    stops[i][2] + (stops[i + 1][2] - stops[i][2]) * part,
  );
}

// Hues by the golden angle: neighbours are easily told apart.
export function distinctColour(number: number, out: Color): Color {
  const turn = number * 0.618033988749895;
  return out.setHSL(turn - Math.floor(turn), 0.55, 0.62 - 0.08 * (number % 3));
}

// Round numbers for the ends of a scale.
export function niceTop(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  for (const step of [1, 2, 5, 10]) if (value <= step * power) return step * power;
  return value;
}
