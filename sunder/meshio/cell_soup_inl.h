// The templates of cell_soup.h.
#pragma once

#include "sunder/base/parallel.h"
#include "sunder/meshio/cell_soup.h"

#include <algorithm>
#include <cstring>

namespace sunder::meshio {

template <class IsBad>
size_t firstBad(size_t count, IsBad&& isBad) {
  return parallelReduce(
      count, count,
      [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i)
          if (isBad(i)) return i;
        return count;
      },
      [](size_t a, size_t b) { return std::min(a, b); }, size_t(1) << 16);
}

template <class Vector>
bool cornersToPoints(const geometry::PolygonSoup& soup, const std::vector<Vector>& perCorner,
                     std::vector<Vector>& perPoint) {
  perPoint.assign(soup.positions.size(), Vector::Zero());
  std::vector<bool> known(soup.positions.size(), false);
  for (size_t c = 0; c < soup.corners.size(); ++c) {
    const uint32_t v = soup.corners[c];
    if (!known[v]) {
      perPoint[v] = perCorner[c];
      known[v] = true;
    } else if (std::memcmp(perPoint[v].data(), perCorner[c].data(), sizeof(Vector)) != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace sunder::meshio
