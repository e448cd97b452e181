// Where two that may meet stand, seen along the whole way from the start of the step, so that nothing is lost
// on the other side of what it went through.
#include "sunder/base/parallel.h"
#include "sunder/soft/contact/sphere_contacts.h"

#include <algorithm>
#include <cmath>

namespace sunder::soft {

namespace {

// A centre deeper than this share of the contact's radius below its level has lost its side: the distance's
// gradient may point out of the far side of what is thin. Until then the state where it ends says more than
// the place where it first touched.
constexpr double kDeepWay = 0.5;
// Of the radius: planes that lie further beyond where a pair began would push it there, past a corner or a
// sharp edge that it has not gone around, with work that nobody does.
constexpr double kBehindStart = 0.1;
// Least step of the advancement, of the radius; much less than kDeepWay, so no more than a chord is missed.
constexpr double kLeastAdvance = 0.05;
constexpr uint32_t kMostAdvances = 4096;
constexpr size_t kWayGrain = 64;

// The part of the way at which the distance first is `level`; more than 1 where it is not. Distances change
// no faster than the way is long, so each step may be as long as the distance that is left (Mirtich 1996,
// conservative advancement).
double firstAt(const Obstacle& shape, const Vec3& from, const Vec3& to, double level, double least) {
  const double length = (to - from).norm();
  double gone = 0;
  for (uint32_t step = 0; step < kMostAdvances; ++step) {
    const Vec3 point = length > 0 ? Vec3(from + (gone / length) * (to - from)) : from;
    const double left = shape.at(point).distance - level;
    if (left <= 0) return length > 0 ? gone / length : 0;
    if (gone >= length) return 2;
    gone = std::min(gone + std::max(left, least), length);
  }
  return gone / length;
}

// The same for the length of a vector that goes from one to the other, in closed form.
double firstAt(const Vec3& from, const Vec3& to, double level) {
  const Vec3 way = to - from;
  const double a = way.squaredNorm(), b = from.dot(way), c = from.squaredNorm() - level * level;
  if (c <= 0) return 0;
  const double under = b * b - a * c;
  if (b >= 0 || under < 0 || a == 0) return 2;
  return c / (-b + std::sqrt(under));  // the first root, without cancellation
}

}  // namespace

SphereContacts::Way SphereContacts::wayToObstacle(const Pair& pair, const ObstaclePose& pose) const {
  const ObstacleBody& body = obstacles_.bodies()[pair.other];
  const Vec3& end = centres_[pair.sphere];
  const Vec3 from = body.before.toLocal(startCentres_[pair.sphere]), to = pose.toLocal(end);
  const double least = kLeastAdvance * pair.radius, deep = (1 - kDeepWay) * pair.radius;

  Way way;
  const ObstacleSample last = body.shape->at(to);
  way.gap = last.distance - pair.radius;
  const double first = body.shape->at(from).distance;
  way.held =
      first > deep && first - deep < (to - from).norm() && firstAt(*body.shape, from, to, deep, least) <= 1;
  if (!way.held && way.gap + last.gradient.dot(from - to) <
                       std::min(first - pair.radius, 0.0) - kBehindStart * pair.radius)
    way.held = firstAt(*body.shape, from, to, pair.radius, least) <= 1;
  if (way.held) way.touch = std::min(firstAt(*body.shape, from, to, pair.radius, least), 1.0);
  if (!way.held) {
    way.linearised = way.gap;
    way.normal = pose.rotation * last.gradient;
    way.at = end;
    return way;
  }
  const Vec3 touch = from + way.touch * (to - from);
  const ObstacleSample sample = body.shape->at(touch);
  way.linearised = sample.distance - pair.radius;
  way.normal = pose.rotation * sample.gradient;
  way.at = pose.point(touch);
  return way;
}

SphereContacts::Way SphereContacts::wayToSphere(const Pair& pair) const {
  const Vec3 from = startCentres_[pair.sphere] - startCentres_[pair.other];
  const Vec3 to = centres_[pair.sphere] - centres_[pair.other];
  const double deep = (1 - kDeepWay) * pair.radius;
  Way way;
  way.gap = to.norm() - pair.radius;
  way.held = from.squaredNorm() > deep * deep && firstAt(from, to, deep) <= 1;
  const double behind = std::min(from.norm() - pair.radius, 0.0) - kBehindStart * pair.radius;
  if (!way.held && to.norm() > 0 && to.normalized().dot(from) - pair.radius < behind)
    way.held = firstAt(from, to, pair.radius) <= 1;
  if (way.held) way.touch = std::min(firstAt(from, to, pair.radius), 1.0);
  way.at = way.held ? Vec3(from + way.touch * (to - from)) : to;
  const double length = way.at.norm();
  way.linearised = length - pair.radius;
  if (length > 0) {
    way.normal = way.at / length;
  } else if (from.squaredNorm() > 0) {
    way.normal = from.normalized();
  }
  return way;
}

// Where both first touch between x and where spheres are now; a touch above 1 where they do not.
SphereContacts::Way SphereContacts::touchOfObstacle(const Pair& pair, const ObstaclePose& here,
                                                    const ObstaclePose& there) const {
  const Obstacle& shape = *obstacles_.bodies()[pair.other].shape;
  const Vec3 from = here.toLocal(fromCentres_[pair.sphere]), to = there.toLocal(centres_[pair.sphere]);
  Way way;
  way.held = true;
  way.touch = 2;
  const double far = shape.at(from).distance - pair.radius;
  if (far > (to - from).norm()) return way;
  way.touch = firstAt(shape, from, to, pair.radius, kLeastAdvance * pair.radius);
  if (way.touch > 1) return way;
  const Vec3 touch = from + way.touch * (to - from);
  const ObstacleSample sample = shape.at(touch);
  way.linearised = way.gap = sample.distance - pair.radius;
  way.normal = there.rotation * sample.gradient;
  way.at = there.point(touch);
  return way;
}

SphereContacts::Way SphereContacts::touchOfSphere(const Pair& pair) const {
  const Vec3 from = fromCentres_[pair.sphere] - fromCentres_[pair.other];
  const Vec3 to = centres_[pair.sphere] - centres_[pair.other];
  Way way;
  way.held = true;
  way.touch = firstAt(from, to, pair.radius);
  if (way.touch > 1) return way;
  way.at = from + way.touch * (to - from);
  const double length = way.at.norm();
  way.linearised = way.gap = length - pair.radius;
  if (length > 0) way.normal = way.at / length;
  return way;
}

void SphereContacts::placeCentres(std::span<const Vec3> x) const {
  centres_.resize(spheres_.size());
  parallelFor(
      spheres_.size(), [&](size_t i) { centres_[i] = centre(i, x); }, kWayGrain);
}

std::span<const SphereContacts::Way> SphereContacts::waysOf(std::span<const Pair> pairs,
                                                            std::span<const Vec3> x) const {
  ways_.resize(pairs.size());
  if (pairs.empty()) return ways_;
  placeCentres(x);
  std::vector<ObstaclePose> poses(obstacles_.size());
  for (size_t o = 0; o < poses.size(); ++o) poses[o] = obstacles_.poseAt(o, x);
  parallelFor(
      pairs.size(),
      [&](size_t i) {
        const Pair& pair = pairs[i];
        ways_[i] = pair.obstacle ? wayToObstacle(pair, poses[pair.other]) : wayToSphere(pair);
      },
      kWayGrain);
  return ways_;
}

std::span<const SphereContacts::Way> SphereContacts::touches(std::span<const Pair> pairs,
                                                             std::span<const Vec3> x,
                                                             std::span<const Vec3> end) const {
  ways_.resize(pairs.size());
  if (pairs.empty()) return ways_;
  placeCentres(end);
  std::vector<ObstaclePose> here(obstacles_.size()), there(obstacles_.size());
  for (size_t o = 0; o < here.size(); ++o) {
    here[o] = obstacles_.poseAt(o, x);
    there[o] = obstacles_.poseAt(o, end);
  }
  parallelFor(
      pairs.size(),
      [&](size_t i) {
        const Pair& pair = pairs[i];
        ways_[i] =
            pair.obstacle ? touchOfObstacle(pair, here[pair.other], there[pair.other]) : touchOfSphere(pair);
      },
      kWayGrain);
  return ways_;
}

}  // namespace sunder::soft
