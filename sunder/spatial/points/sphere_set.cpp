#include "sunder/spatial/points/sphere_set.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"

#include <cmath>
#include <limits>
#include <string>

namespace sunder::spatial {

Box3f boxAround(const Vec3& centre, double radius) {
  // More than the rule's own rounding can make of the reach, and of the sums made here.
  const double grown = radius * (1 + 0x1p-40) + 1e-150;
  Box3f box;
  for (int k = 0; k < 3; ++k) {
    const double slack = (std::abs(centre[k]) + grown) * 0x1p-50;
    const double low = centre[k] - grown - slack, high = centre[k] + grown + slack;
    auto lower = static_cast<float>(low), upper = static_cast<float>(high);
    if (lower > low) lower = std::nextafter(lower, -std::numeric_limits<float>::infinity());
    if (upper < high) upper = std::nextafter(upper, std::numeric_limits<float>::infinity());
    box.lower[k] = lower;
    box.upper[k] = upper;
  }
  return box;
}

static std::string trouble(const SphereSet& spheres, size_t i) {
  if (!spheres.centres[i].allFinite()) return "has a centre that is not finite";
  if (!std::isfinite(spheres.radii[i])) return "has a radius that is not finite";
  if (spheres.radii[i] < 0) return "has a negative radius";
  const Box3f box = reachBox(spheres, i);
  if (!box.lower.allFinite() || !box.upper.allFinite()) return "lies beyond the range of float";
  return {};
}

void sphereBoxes(const SphereSet& spheres, std::vector<Box3f>& boxes) {
  const size_t n = spheres.size();
  if (spheres.radii.size() != n)
    throw Error(ErrorKind::Usage, "there are " + std::to_string(n) + " centres but " +
                                      std::to_string(spheres.radii.size()) + " radii");
  if (!(spheres.margin >= 0) || std::isinf(spheres.margin))
    throw Error(ErrorKind::Usage, "the margin of a neighbour search must be finite and not negative");
  boxes.resize(n);
  const size_t bad = parallelReduce(
      n, n,
      [&](size_t begin, size_t end) {
        size_t first = n;
        for (size_t i = begin; i < end; ++i) {
          if (first == n && !trouble(spheres, i).empty()) first = i;
          boxes[i] = boxAround(spheres.centres[i], spheres.radii[i]);
        }
        return first;
      },
      [](size_t a, size_t b) { return std::min(a, b); });
  if (bad < n)
    throw Error(ErrorKind::Geometry, "sphere " + std::to_string(bad) + " " + trouble(spheres, bad));
}

}  // namespace sunder::spatial
