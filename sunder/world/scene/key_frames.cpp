#include "sunder/world/scene/key_frames.h"

#include <algorithm>
#include <cmath>

namespace sunder::world {

rigid::Pose poseAt(std::span<const KeyFrame> keys, bool repeat, double time) {
  const double first = keys.front().time, last = keys.back().time;
  if (repeat && last > first && time > last) time = first + std::fmod(time - first, last - first);
  if (time <= first) return keys.front().pose;
  if (time >= last) return keys.back().pose;
  const auto after = std::upper_bound(keys.begin(), keys.end(), time,
                                      [](double t, const KeyFrame& key) { return t < key.time; });
  const KeyFrame &a = *(after - 1), &b = *after;
  const double s = (time - a.time) / (b.time - a.time);
  return {a.pose.position + s * (b.pose.position - a.pose.position),
          a.pose.rotation.slerp(s, b.pose.rotation).normalized()};
}

}  // namespace sunder::world
