// Sheets: the flat cloth, the noisy sheet that cuts, and the benchmark's scroll. The first and the last are
// open.
//
// Noise: value noise (random heights) or gradient noise (random slopes, Perlin 1985) on the integer lattice,
// blended by the quintic of Perlin 2002, octaves added with half the height and twice the frequency each.
// Lattice values come from an integer hash of (x, z, seed), so the sheet is the same everywhere.
#pragma once

#include "sunder/geometry/mesh.h"

#include <string>

namespace sunder::shapes {

// Open, in the plane y = 0, centred, facing +y; the diagonals of neighbouring cells alternate.
struct ClothShape {
  double width = 1, depth = 1;  // along x and z
  int nx = 32, nz = 32;
};
geometry::TriMesh makeCloth(const ClothShape& = {});

// Centred on y = 0. Closed: a slab whose two sides carry the same heights, so that its thickness along y is
// the same everywhere and its volume exactly width * depth * thickness. Open: the middle surface alone,
// facing +y.
struct NoisySheetShape {
  double width = 1, depth = 1;
  double thickness = 0.02;
  double amplitude = 0.08;  // the heights stay within it
  double frequency = 4;     // lattice cells per metre
  int octaves = 3;
  std::string noise = "gradient";
  int seed = 1;
  int nx = 64, nz = 64;
  bool closed = true;
};
geometry::TriMesh makeNoisySheet(const NoisySheetShape& = {});

// The height in [-1, 1] that the sheet has at (x, z), before scaling; `amplitude`, sizes and cells are not
// used.
double sheetNoise(const NoisySheetShape& shape, double x, double z);

// The benchmark's rolled-up sheet, open: for i, j in 0..n, s = 2 pi turns i/n, r = 0.3 + gap s/(2 pi) + 0.1
// gap sin(31 j/n) sin(5 s), point (r cos s, r sin s, 2 j/n) at index i (n + 1) + j. 2 n^2 triangles, the
// cells i by i.
struct ScrollShape {
  int n = 500;
  double turns = 8;
  double gap = 0.02;
};
geometry::TriMesh makeScroll(const ScrollShape& = {});

}  // namespace sunder::shapes
