#include "sunder/sdf/gradient_noise.h"

#include <cmath>

namespace sunder::sdf {

namespace {

uint64_t mix(uint64_t z) {  // splitmix64's finalizer
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

// Middles of a cube's edges: no direction along an axis, so the lattice does not show.
Vec3 latticeGradient(int64_t x, int64_t y, int64_t z, uint64_t seed) {
  constexpr double s = 0.7071067811865476;
  static const Vec3 directions[12] = {{s, s, 0}, {-s, s, 0}, {s, -s, 0}, {-s, -s, 0},
                                      {s, 0, s}, {-s, 0, s}, {s, 0, -s}, {-s, 0, -s},
                                      {0, s, s}, {0, -s, s}, {0, s, -s}, {0, -s, -s}};
  const uint64_t word =
      mix(mix(seed + 0x9e3779b97f4a7c15ull + (uint64_t(x) & 0xffffffffu) + (uint64_t(y) << 32)) +
          (uint64_t(z) & 0xffffffffu));
  return directions[((word >> 32) * 12) >> 32];
}

struct Blend {
  double weight[2], slope;  // of the upper corner's weight
  explicit Blend(double t) {
    weight[1] = t * t * t * (t * (6 * t - 15) + 10);
    weight[0] = 1 - weight[1];
    slope = 30 * t * t * (1 - t) * (1 - t);
  }
};

}  // namespace

FieldSample gradientNoise(const Vec3& point, uint64_t seed) {
  const Vec3 cell = point.array().floor();
  const Vec3 t = point - cell;
  // Beyond 2^53 there are no places between lattice points, and the noise is 0 whatever the cell.
  const auto wrapped = [](double c) { return std::abs(c) < 0x1p62 ? int64_t(c) : 0; };
  const int64_t base[3] = {wrapped(cell.x()), wrapped(cell.y()), wrapped(cell.z())};
  const Blend blend[3] = {Blend(t.x()), Blend(t.y()), Blend(t.z())};
  FieldSample out;
  for (int c = 0; c < 8; ++c) {
    const int x = c & 1, y = c >> 1 & 1, z = c >> 2;
    const Vec3 g = latticeGradient(base[0] + x, base[1] + y, base[2] + z, seed);
    const double ramp = g.dot(t - Vec3(x, y, z));
    const double wx = blend[0].weight[x], wy = blend[1].weight[y], wz = blend[2].weight[z];
    out.value += wx * wy * wz * ramp;
    out.gradient += wx * wy * wz * g;
    out.gradient +=
        ramp * Vec3((x ? 1 : -1) * blend[0].slope * wy * wz, (y ? 1 : -1) * wx * blend[1].slope * wz,
                    (z ? 1 : -1) * wx * wy * blend[2].slope);
  }
  return out;
}

}  // namespace sunder::sdf
