// When moving shapes first touch: conservative advancement (Mirtich 1996). Two convex shapes are bounded
// along the direction between their closest points (Zhang, Lee and Kim 2006), so that passing by costs few
// steps; a field only knows how near things are, whichever way they move.
#include "sunder/rigid/contact/contact_parts.h"
#include "sunder/rigid/contact/gjk.h"
#include "sunder/rigid/contact/point_walk.h"

#include <algorithm>
#include <cmath>

namespace sunder::rigid {

namespace {

constexpr double kSteep = 0.7;  // inverse of how much faster than a distance a field may fall

bool convex(const Shape& shape) { return shape.kind() < ShapeKind::Plane || shape.hull(); }

struct Distance {
  double below = 0;            // bound on the distance
  Vec3 normal = Vec3::Zero();  // of a plane that separates them by that much, from A to B; zero: not known
};

Distance convexDistance(const Shape& a, const Pose& poseA, const Shape& b, const Pose& poseB, double enough) {
  const ConvexCore coreA = coreOf(a), coreB = coreOf(b);
  const Mat3 turnA = poseA.rotation.toRotationMatrix(), turnB = poseB.rotation.toRotationMatrix();
  const CoreDistance d = distanceOfCores(coreA, coreB, turnA.transpose() * turnB,
                                         turnA.transpose() * (poseB.position - poseA.position),
                                         enough + coreA.radius + coreB.radius);
  Distance result;
  result.below = d.below - coreA.radius - coreB.radius;
  if (d.distance > 0) result.normal = turnA * ((d.onB - d.onA) / d.distance);
  return result;
}

// Convex against the half-space of a plane.
Distance planeDistance(const Shape& shape, const Pose& pose, const Pose& plane) {
  const Vec3 up = plane.direction(Vec3::UnitY());
  const ConvexCore core = coreOf(shape);
  const Vec3 lowest = pose.point(core.support(pose.localDirection(-up)));
  return {up.dot(lowest - plane.position) - core.radius, -up};
}

// The least distance of points of one shape from the field of the other: best first by levels.
double pointsBelow(const Shape& points, const Pose& posePoints, const Shape& field, const Pose& poseField,
                   double enough, double tolerance, ContactScratch& s) {
  if (points.points().pointCount() == 0) return enough;
  const double radius = points.pointRadius();
  double best = enough;
  const PointWalk walk(points, posePoints, field, poseField, s);
  walk.run([](double) { return 0.0; }, [] { return true; }, [&] { return best + radius; },
           [&](uint32_t rank, const Vec3&, const sdf::FieldSample&) {
             best = std::min(best, s.bound[rank] - radius);
           },
           [&] { return best + radius - tolerance; });
  return best - tolerance;
}

Distance distanceOf(const Shape& a, const Pose& poseA, const Shape& b, const Pose& poseB, double enough,
                    double tolerance, ContactScratch& scratch) {
  if (convex(a) && convex(b)) return convexDistance(a, poseA, b, poseB, enough);
  if (convex(a) && b.kind() == ShapeKind::Plane) return planeDistance(a, poseA, poseB);
  if (a.kind() == ShapeKind::Plane && convex(b)) {
    Distance d = planeDistance(b, poseB, poseA);
    d.normal = -d.normal;
    return d;
  }
  if (a.kind() == ShapeKind::Plane && b.kind() == ShapeKind::Plane) return {enough, Vec3::Zero()};
  // A solid: a ball's one point says all; others are asked both ways.
  double below = enough;
  if (b.kind() != ShapeKind::Sphere) below = pointsBelow(a, poseA, b, poseB, enough, tolerance, scratch);
  if (a.kind() != ShapeKind::Sphere)
    below = std::min(below, pointsBelow(b, poseB, a, poseA, below + tolerance, tolerance, scratch));
  Distance result{below, Vec3::Zero()};
  if (a.kind() == ShapeKind::Plane) result.normal = poseA.direction(Vec3::UnitY());
  if (b.kind() == ShapeKind::Plane) result.normal = -poseB.direction(Vec3::UnitY());
  return result;
}

// distance(poseA, poseB, enough) bounds how far they are apart.
template <class DistanceAt>
double advance(const Motion& motionA, const Motion& motionB, double separation, double tolerance,
               const DistanceAt& distance) {
  // How fast any two points approach at most. The turning parts bound the motion about the centres.
  const Vec3 displacement = motionB.displacement - motionA.displacement;
  // The reach of a plane is infinite, which counts only where it turns.
  const auto turningOf = [](const Motion& m) { return m.turn.isZero(0) ? 0 : m.turn.norm() * m.reach; };
  const double turning = turningOf(motionA) + turningOf(motionB);
  const double fastest = displacement.norm() + turning;
  if (!(fastest > 0))
    return distance(motionA.start, motionB.start, separation + tolerance).below < separation ? 0 : 1;
  constexpr int kMost = 4096;
  double time = 0;
  for (int step = 0; step < kMost; ++step) {
    const double enough = separation + tolerance + fastest * (1 - time);
    const Distance d = distance(motionA.at(time), motionB.at(time), enough);
    if (d.below < separation + tolerance / 2) return time;
    double speed = fastest;
    if (!d.normal.isZero(0)) speed = std::max(0.0, -displacement.dot(d.normal)) + turning;
    // The distance stays above the separation for this long.
    const double room = d.below - separation;
    if (speed * (1 - time) < room) return 1;
    time += room / speed;
    if (time >= 1) return 1;
  }
  return time;
}

}  // namespace

double distanceBelow(const Shape& a, const Pose& poseA, const Shape& b, const Pose& poseB, double enough,
                     double tolerance, ContactScratch& scratch) {
  return std::min(enough, distanceOf(a, poseA, b, poseB, enough, tolerance, scratch).below);
}

double timeOfImpact(const Shape& a, const Motion& motionA, const Shape& b, const Motion& motionB,
                    double separation, double tolerance, ContactScratch& scratch) {
  return advance(motionA, motionB, separation, tolerance,
                 [&](const Pose& poseA, const Pose& poseB, double enough) {
                   return distanceOf(a, poseA, b, poseB, enough, tolerance / 2, scratch);
                 });
}

double timeOfImpact(const Ball& ball, const Motion& motion, const Shape& other, const Motion& otherMotion,
                    double separation, double tolerance) {
  Motion path = motion;
  path.reach = (ball.centre - motion.centre).norm() + ball.radius;
  return advance(path, otherMotion, separation, tolerance,
                 [&](const Pose& pose, const Pose& poseOther, double) {
                   const Vec3 p = poseOther.localPoint(pose.point(ball.centre));
                   const Box3& box = other.localBounds();
                   double below = (box.lower - p).cwiseMax(p - box.upper).cwiseMax(0.0).norm() - ball.radius;
                   // Contacts see the zero of this field, so that is what must not be crossed, however far it
                   // is from the true surface.
                   if (other.fieldDomain().contains(p)) {
                     const double value = other.field().value(p) - ball.radius;
                     const double near = value > 0 ? kSteep * value : value;
                     below = box.contains(p) ? near : std::max(below, near);
                   }
                   Distance d{below, Vec3::Zero()};
                   if (other.kind() == ShapeKind::Plane) d.normal = -poseOther.direction(Vec3::UnitY());
                   return d;
                 });
}

}  // namespace sunder::rigid
