#include "sunder/soft/walls/distance_mask.h"

#include <algorithm>
#include <cmath>

namespace sunder::soft {

namespace {

double toSegment(const Vec2& p, const Vec2& a, const Vec2& b) {
  const Vec2 along = b - a;
  const double length = along.squaredNorm();
  const double t = length > 0 ? std::clamp((p - a).dot(along) / length, 0.0, 1.0) : 0.0;
  return (a + t * along - p).norm();
}

}  // namespace

uint8_t DistanceMask::byte(int64_t u, int64_t v) const {
  const float value = 127.5f + 127.5f / kMostTexels * at(u, v);
  return static_cast<uint8_t>(std::clamp(std::round(value), 0.0f, 255.0f));
}

DistanceMask distanceMask(std::span<const ContourSegment> contour, const std::array<Vec3, 3>& corners,
                          uint32_t n, std::span<const uint8_t> filled) {
  DistanceMask mask;
  mask.n = n;
  mask.texels.assign(size_t(n + 2) * (n + 2), kMostTexels);

  // The plane of the face, in texels of its longest edge: along u and v as their own lengths are.
  const Vec3 alongU = corners[1] - corners[2], alongV = corners[2] - corners[0];
  const double longest = std::sqrt(
      std::max({alongU.squaredNorm(), alongV.squaredNorm(), (corners[1] - corners[0]).squaredNorm()}));
  const double texel = longest / n;
  const Vec3 e1 = alongU.normalized();
  const Vec3 across = alongV - alongV.dot(e1) * e1;
  const Vec3 e2 = across.normalized();
  const Vec2 stepU(alongU.norm() / texel, 0), stepV(alongV.dot(e1) / texel, alongV.dot(e2) / texel);
  const auto place = [&](double u, double v) { return Vec2(u * stepU + v * stepV); };
  const auto placeOf = [&](const Vec3& w) { return place(w[1], 1 - w[0]); };

  // Texels that a circle of kMostTexels reaches, along u and v.
  const double area = std::abs(stepU.x() * stepV.y());
  if (area <= 0) return mask;
  const double reachU = kMostTexels * stepV.norm() / area, reachV = kMostTexels * stepU.norm() / area;
  for (const ContourSegment& s : contour) {
    const Vec2 a = placeOf(s.a), b = placeOf(s.b);
    const auto range = [n](double from, double to) {
      const double low = std::clamp(std::floor(from * n - 1), 0.0, n - 1.0);
      const double high = std::clamp(std::ceil(to * n + 1), 0.0, n - 1.0);
      return std::pair(static_cast<int64_t>(low), static_cast<int64_t>(high));
    };
    const auto [u0, u1] = range(std::min(s.a[1], s.b[1]) - reachU, std::max(s.a[1], s.b[1]) + reachU);
    const auto [v0, v1] = range(1 - std::max(s.a[0], s.b[0]) - reachV, 1 - std::min(s.a[0], s.b[0]) + reachV);
    for (int64_t v = v0; v <= v1; ++v)
      for (int64_t u = u0; u <= std::min(u1, v); ++u) {
        const Vec2 p = place((static_cast<double>(u) + 0.5) / n, (static_cast<double>(v) + 0.5) / n);
        mask.at(u, v) = std::min(mask.at(u, v), static_cast<float>(toSegment(p, a, b)));
      }
  }
  for (int64_t v = 0; v < n; ++v)
    for (int64_t u = 0; u <= v; ++u)
      if (!filled[static_cast<size_t>(v * n + u)]) mask.at(u, v) = -mask.at(u, v);

  // The margin: beyond the diagonal, then the column before the first, then the rows before and behind.
  for (int64_t v = 0; v < n - 1; ++v)
    mask.at(v + 1, v) = v > 0 ? 2 * mask.at(v, v) - mask.at(v - 1, v) : mask.at(0, 0);
  for (int64_t v = 0; v < n; ++v) mask.at(-1, v) = v > 0 ? 2 * mask.at(0, v) - mask.at(1, v) : mask.at(0, 0);
  for (int64_t u = -1; u <= n; ++u) {
    const int64_t inside = std::clamp<int64_t>(u, -1, int64_t(n) - 1);
    mask.at(u, n) = 2 * mask.at(inside, int64_t(n) - 1) - mask.at(inside, int64_t(n) - 2);
  }
  mask.at(-1, -1) = mask.at(0, -1) = mask.at(0, 0);
  mask.at(int64_t(n), int64_t(n) - 1) = mask.at(int64_t(n) - 1, int64_t(n) - 1);
  return mask;
}

}  // namespace sunder::soft
