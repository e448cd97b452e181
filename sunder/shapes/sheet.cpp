#include "sunder/shapes/sheet.h"

#include "sunder/base/parallel.h"
#include "sunder/shapes/fields.h"

#include <cmath>

namespace sunder::shapes {

namespace {

// Multiply, xor-shift, three rounds: every bit of the three inputs reaches every bit of the result.
uint64_t mixBits(uint64_t x) {
  x ^= x >> 31;
  x *= 0x9fb21c651e98df25u;
  x ^= x >> 29;
  x *= 0xd6e8feb86659fd93u;
  x ^= x >> 32;
  return x;
}

double latticeRandom(int64_t x, int64_t z, uint64_t seed) {  // in [0, 1)
  const uint64_t h = mixBits(mixBits(mixBits(seed + 0x632be59bd9b4e019u) ^ static_cast<uint64_t>(x)) +
                             static_cast<uint64_t>(z));
  return static_cast<double>(h >> 11) * 0x1p-53;
}

// One octave, in [-1, 1].
double octave(bool gradient, double x, double z, uint64_t seed) {
  const double fx = std::floor(x), fz = std::floor(z);
  const int64_t ix = static_cast<int64_t>(fx), iz = static_cast<int64_t>(fz);
  const double u = x - fx, v = z - fz;
  auto corner = [&](int64_t dx, int64_t dz) {
    const double random = latticeRandom(ix + dx, iz + dz, seed);
    if (!gradient) return 2 * random - 1;
    const double angle = 2 * kPi * random;
    // sqrt(2) brings the largest height of two-dimensional gradient noise, sqrt(1/2), to 1.
    return std::sqrt(2.0) * (std::cos(angle) * (u - static_cast<double>(dx)) +
                             std::sin(angle) * (v - static_cast<double>(dz)));
  };
  auto fade = [](double t) { return t * t * t * (t * (t * 6 - 15) + 10); };
  const double a = std::lerp(corner(0, 0), corner(1, 0), fade(u)),
               b = std::lerp(corner(0, 1), corner(1, 1), fade(u));
  return std::lerp(a, b, fade(v));
}

// A grid of (nx+1)(nz+1) points, x first; point(x, z) with x and z from the middle.
template <class Point>
void addGrid(std::vector<Vec3>& positions, double width, double depth, int nx, int nz, Point&& point) {
  const size_t row = static_cast<size_t>(nx) + 1, rows = static_cast<size_t>(nz) + 1,
               first = positions.size();
  positions.resize(first + row * rows);
  parallelFor(
      rows,
      [&](size_t k) {
        const double z = 0.5 * depth * ((2.0 * static_cast<double>(k) - nz) / nz);
        for (size_t i = 0; i < row; ++i) {
          const double x = 0.5 * width * ((2.0 * static_cast<double>(i) - nx) / nx);
          positions[first + k * row + i] = point(x, z);
        }
      },
      16);
}

// Two triangles per cell facing +y, or -y when `down`; diagonals alternate like the colours of a chess board.
void addGridTriangles(std::vector<geometry::Triangle>& triangles, uint32_t first, int nx, int nz, bool down) {
  const uint32_t row = static_cast<uint32_t>(nx) + 1;
  auto add = [&](uint32_t a, uint32_t b, uint32_t c) {
    triangles.push_back(down ? geometry::Triangle{a, c, b} : geometry::Triangle{a, b, c});
  };
  for (uint32_t k = 0; k < static_cast<uint32_t>(nz); ++k)
    for (uint32_t i = 0; i < static_cast<uint32_t>(nx); ++i) {
      const uint32_t a = first + k * row + i, b = a + 1, c = a + row, d = c + 1;  // c, d lie at larger z
      if ((i + k) % 2 == 0) {
        add(a, c, d);
        add(a, d, b);
      } else {
        add(a, c, b);
        add(b, c, d);
      }
    }
}

}  // namespace

geometry::TriMesh makeCloth(const ClothShape& shape) {
  checkFields("cloth", shape);
  geometry::TriMesh mesh;
  addGrid(mesh.positions, shape.width, shape.depth, shape.nx, shape.nz,
          [](double x, double z) { return Vec3(x, 0, z); });
  mesh.triangles.reserve(2 * static_cast<size_t>(shape.nx) * static_cast<size_t>(shape.nz));
  addGridTriangles(mesh.triangles, 0, shape.nx, shape.nz, false);
  return mesh;
}

double sheetNoise(const NoisySheetShape& shape, double x, double z) {
  const bool gradient = shape.noise == "gradient";
  double sum = 0, height = 1, total = 0, frequency = shape.frequency;
  for (int k = 0; k < shape.octaves; ++k) {
    const uint64_t seed =
        (static_cast<uint64_t>(static_cast<uint32_t>(shape.seed)) << 8) + static_cast<uint64_t>(k);
    sum += height * octave(gradient, frequency * x, frequency * z, seed);
    total += height;
    height *= 0.5;
    frequency *= 2;
  }
  return sum / total;
}

geometry::TriMesh makeNoisySheet(const NoisySheetShape& shape) {
  checkFields("noisy-sheet", shape);
  geometry::TriMesh mesh;
  auto grid = [&](double offset) {
    addGrid(mesh.positions, shape.width, shape.depth, shape.nx, shape.nz, [&](double x, double z) {
      return Vec3(x, shape.amplitude * sheetNoise(shape, x, z) + offset, z);
    });
  };
  if (!shape.closed) {
    grid(0);
    addGridTriangles(mesh.triangles, 0, shape.nx, shape.nz, false);
    return mesh;
  }
  grid(0.5 * shape.thickness);
  const uint32_t below = static_cast<uint32_t>(mesh.positions.size());
  grid(-0.5 * shape.thickness);
  addGridTriangles(mesh.triangles, 0, shape.nx, shape.nz, false);
  addGridTriangles(mesh.triangles, below, shape.nx, shape.nz, true);
  // The rim, walked so that the sheet lies on the left seen from above.
  const uint32_t nx = static_cast<uint32_t>(shape.nx), nz = static_cast<uint32_t>(shape.nz), row = nx + 1;
  std::vector<uint32_t> rim;
  for (uint32_t k = 0; k < nz; ++k) rim.push_back(k * row);
  for (uint32_t i = 0; i < nx; ++i) rim.push_back(nz * row + i);
  for (uint32_t k = nz; k > 0; --k) rim.push_back(k * row + nx);
  for (uint32_t i = nx; i > 0; --i) rim.push_back(i);
  for (size_t s = 0; s < rim.size(); ++s) {
    const uint32_t a = rim[s], b = rim[(s + 1) % rim.size()];
    mesh.triangles.push_back({below + a, below + b, b});
    mesh.triangles.push_back({below + a, b, a});
  }
  return mesh;
}

geometry::TriMesh makeScroll(const ScrollShape& shape) {
  checkFields("scroll", shape);
  const size_t n = static_cast<size_t>(shape.n), row = n + 1;
  geometry::TriMesh mesh;
  mesh.positions.resize(row * row);
  mesh.triangles.resize(2 * n * n);
  parallelFor(
      row,
      [&](size_t i) {
        const double s = 2 * kPi * shape.turns * static_cast<double>(i) / shape.n;
        for (size_t j = 0; j < row; ++j) {
          const double r =
              0.3 + shape.gap * s / (2 * kPi) +
              0.1 * shape.gap * std::sin(31 * static_cast<double>(j) / shape.n) * std::sin(5 * s);
          mesh.positions[i * row + j] = {r * std::cos(s), r * std::sin(s),
                                         2 * static_cast<double>(j) / shape.n};
        }
        if (i == n) return;
        for (size_t j = 0; j < n; ++j) {
          const uint32_t a = static_cast<uint32_t>(i * row + j), b = a + static_cast<uint32_t>(row);
          mesh.triangles[2 * (i * n + j)] = {a, b, a + 1};
          mesh.triangles[2 * (i * n + j) + 1] = {b, b + 1, a + 1};
        }
      },
      16);
  return mesh;
}

void describe(ShapeFields& fields, ClothShape& s) {
  fields.length("width", s.width, "size along x");
  fields.length("depth", s.depth, "size along z");
  fields.integer("nx", s.nx, 1, kMostSegments, "cells along x");
  fields.integer("nz", s.nz, 1, kMostSegments, "cells along z");
}

void describe(ShapeFields& fields, NoisySheetShape& s) {
  fields.length("width", s.width, "size along x");
  fields.length("depth", s.depth, "size along z");
  fields.length("thickness", s.thickness, "along y, the same everywhere");
  fields.number("amplitude", s.amplitude, 0, kLongest, "m", "largest height of the noise");
  fields.number("frequency", s.frequency, 0, kLongest, "1/m", "noise cells per metre");
  fields.integer("octaves", s.octaves, 1, 12, "layers of noise, each twice as fine and half as high");
  fields.choice("noise", s.noise, "gradient value", "kind of noise");
  fields.integer("seed", s.seed, 0, 2147483647, "another seed, another sheet");
  fields.integer("nx", s.nx, 1, kMostSegments, "cells along x");
  fields.integer("nz", s.nz, 1, kMostSegments, "cells along z");
  fields.flag("closed", s.closed, "a slab; 0 gives the open middle surface");
}

void describe(ShapeFields& fields, ScrollShape& s) {
  fields.integer("n", s.n, 1, kMostSegments, "cells along each side: 2 n^2 triangles");
  fields.number("turns", s.turns, 0.01, 1000, "", "how often it is rolled up");
  fields.number("gap", s.gap, kShortest, 1, "m", "between turns");
}

}  // namespace sunder::shapes
