// First-order fast marching from the sites of a bit volume: the method the distance transform replaces, kept
// as its oracle.
#pragma once

#include "sunder/sdf/voxel/distance_transform.h"

#include <algorithm>
#include <cmath>
#include <queue>

namespace sunder::sdf::cases {

// |phi| of every voxel; sites keep the value the transform gives them.
inline std::vector<double> fastMarching(const DistanceVolume& volume) {
  const VoxelFrame& frame = volume.frame;
  const double inf = std::numeric_limits<double>::infinity();
  std::vector<double> time(frame.voxelCount(), inf);
  std::vector<bool> done(frame.voxelCount(), false);
  using Entry = std::pair<double, size_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> front;
  for (size_t v = 0; v < time.size(); ++v) {
    if (!volume.isSite(v)) continue;
    time[v] = std::abs(double(volume.phi[v]));
    front.emplace(time[v], v);
  }
  const size_t stride[3] = {1, frame.dims[0], size_t(frame.dims[0]) * frame.dims[1]};
  while (!front.empty()) {
    const auto [value, v] = front.top();
    front.pop();
    if (done[v]) continue;
    done[v] = true;
    const auto place = frame.place(v);
    for (size_t d = 0; d < 3; ++d) {
      for (const int side : {-1, 1}) {
        if ((side < 0 && place[d] == 0) || (side > 0 && place[d] + 1 == frame.dims[d])) continue;
        const size_t next = side < 0 ? v - stride[d] : v + stride[d];
        if (done[next] || volume.isSite(next)) continue;
        // (T - a)^2 + (T - b)^2 + (T - c)^2 = 1 over the smaller neighbour along each axis, upwind only.
        double upwind[3];
        const auto at = frame.place(next);
        for (size_t e = 0; e < 3; ++e) {
          upwind[e] = inf;
          if (at[e] > 0 && done[next - stride[e]]) upwind[e] = time[next - stride[e]];
          if (at[e] + 1 < frame.dims[e] && done[next + stride[e]])
            upwind[e] = std::min(upwind[e], time[next + stride[e]]);
        }
        std::sort(upwind, upwind + 3);
        double t = upwind[0] + 1, sum = upwind[0], squares = upwind[0] * upwind[0];
        for (int m = 2; m <= 3 && t > upwind[m - 1]; ++m) {
          sum += upwind[m - 1];
          squares += upwind[m - 1] * upwind[m - 1];
          t = (sum + std::sqrt(std::max(0.0, sum * sum - m * (squares - 1)))) / m;
        }
        if (t < time[next]) {
          time[next] = t;
          front.emplace(t, next);
        }
      }
    }
  }
  return time;
}

}  // namespace sunder::sdf::cases
