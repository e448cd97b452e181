#include "sunder/geometry/far_vertex.h"

#include "sunder/base/bounds.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace sunder::geometry {

std::string FarVertex::text() const {
  return fmt::format("vertex {} makes the mesh {:.3g} m large, while nine tenths of it lie within {:.3g} m",
                     vertex, extent, typical);
}

std::optional<FarVertex> farVertex(std::span<const Vec3> positions) {
  constexpr size_t kFewest = 20;
  if (positions.size() < kFewest) return std::nullopt;
  FarVertex far;
  far.extent = boundsOf(positions).diagonal();
  const size_t cut = positions.size() / 20;
  Vec3 typical, middle;
  std::vector<double> values(positions.size());
  for (int d = 0; d < 3; ++d) {
    std::transform(positions.begin(), positions.end(), values.begin(), [d](const Vec3& p) { return p[d]; });
    const auto at = [&](size_t rank) {
      std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(rank), values.end());
      return values[rank];
    };
    middle[d] = at(positions.size() / 2);
    typical[d] = at(positions.size() - 1 - cut) - at(cut);
  }
  far.typical = typical.norm();
  if (!(far.typical > 0) || !(far.extent > kFarRatio * far.typical)) return std::nullopt;
  // By the largest coordinate: squares of 1e300 are not finite.
  const auto reach = [&](const Vec3& p) { return (p - middle).cwiseAbs().maxCoeff(); };
  far.vertex = static_cast<size_t>(
      std::max_element(positions.begin(), positions.end(),
                       [&](const Vec3& a, const Vec3& b) { return reach(a) < reach(b); }) -
      positions.begin());
  return far;
}

}  // namespace sunder::geometry
