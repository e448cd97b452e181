#include "sunder/rigid/solver/impact_law.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sunder::rigid {

namespace {

constexpr double kTurn = 0.2;          // rad: the most by which the direction of sliding turns in a piece
constexpr double kStraight = 1e-5;     // rad: less is no turn
constexpr int kMostPieces = 100;       // of the path of an impact
constexpr double kSticks = 1e-6;       // of the velocity before: slower is not sliding
constexpr int kMostSweeps = 10;        // over the contacts of a pair
constexpr int kMostSeparations = 100;  // likewise, of those that still approach
constexpr double kConverged = 1e-3;    // of the fastest approach: smaller changes end the sweeps
constexpr double kTolerance = 1e-4;    // of the fastest approach: slower ones are left

Mat3 frameOf(const Vec3& normal) {
  int least = 0;
  normal.cwiseAbs().minCoeff(&least);
  Mat3 frame;
  frame.col(0) = normal;
  frame.col(1) = normal.cross(Vec3::Unit(least)).normalized();
  frame.col(2) = normal.cross(frame.col(1));
  return frame;
}

void addResponse(const SolverBody& body, const Vec3& arm, const Mat3& frame, Mat3& response) {
  if (!body.movable()) return;
  Mat3 turn;
  for (int k = 0; k < 3; ++k) turn.col(k) = arm.cross(frame.col(k));
  const Mat3 turned = body.inverseInertia() * turn;
  for (int i = 0; i < 3; ++i) {
    response(i, i) += body.inverseMass;
    for (int j = 0; j < 3; ++j) response(i, j) += turn.col(std::min(i, j)).dot(turned.col(std::max(i, j)));
  }
}

// The q of least q.A q / 2 - b.q among those no longer than `radius`; A symmetric and positive definite.
Vec2 leastInDisk(const Mat2& a, const Vec2& b, double radius) {
  if (!(radius > 0)) return Vec2::Zero();
  const double determinant = a(0, 0) * a(1, 1) - a(0, 1) * a(0, 1);
  const Vec2 free = Vec2(a(1, 1) * b.x() - a(0, 1) * b.y(), a(0, 0) * b.y() - a(0, 1) * b.x()) / determinant;
  if (free.squaredNorm() <= radius * radius) return free;
  // On the circle: (A + x) q = b with the x > 0 for which |q| = radius. In A's principal axes 1/|q| is almost
  // linear in x, and Newton's method from below converges without overshooting.
  const double mean = 0.5 * (a(0, 0) + a(1, 1)), half = 0.5 * (a(0, 0) - a(1, 1));
  const double spread = std::sqrt(half * half + a(0, 1) * a(0, 1));
  Vec2 axis(half + spread, a(0, 1));
  if (half < 0) axis = Vec2(a(0, 1), spread - half);
  const double length = axis.norm();
  axis = length > 0 ? Vec2(axis / length) : Vec2(1, 0);
  const double large = mean + spread, small = mean - spread;
  const double b0 = axis.dot(b), b1 = axis.x() * b.y() - axis.y() * b.x();
  double x = 0, q0 = 0, q1 = 0;
  for (int i = 0; i < 20; ++i) {
    q0 = b0 / (large + x);
    q1 = b1 / (small + x);
    const double squared = q0 * q0 + q1 * q1, size = std::sqrt(squared);
    const double step = (size / radius - 1) * squared / (q0 * q0 / (large + x) + q1 * q1 / (small + x));
    x += std::max(step, 0.0);
    if (!(step > 1e-14 * (large + x))) break;
  }
  const Vec2 q(axis.x() * q0 - axis.y() * q1, axis.y() * q0 + axis.x() * q1);
  return q * (radius / std::sqrt(q0 * q0 + q1 * q1));
}

// An impact on its way: what the normal impulse so far has done.
struct Path {
  const Mat3& response;
  Vec3 velocity, impulse = Vec3::Zero();
  double kept;                 // 1 - e^2: part of the work of compression that is not given back
  double work = 0, least = 0;  // of the normal force: so far, and the least that it was

  // The normal impulse after which the impact ends where the velocity changes at `rate`; infinite where not.
  double end(double rate) const {
    double length = 0, done = work, speed = velocity.x();
    if (speed < 0) {
      if (!(rate > 0)) return std::numeric_limits<double>::infinity();
      length = -speed / rate;
      done += 0.5 * speed * length;
      speed = 0;
    }
    const double missing = kept * std::min(least, done) - done;
    if (!(missing > 0)) return length;
    const double root = speed * speed + 2 * rate * missing;
    if (root < 0) return std::numeric_limits<double>::infinity();
    return length + 2 * missing / (speed + std::sqrt(root));
  }

  // Goes on with this force per normal impulse, for at most `length`. True when the impact ended.
  bool go(const Vec3& force, double length) {
    const Vec3 rate = response * force;
    const double left = end(rate.x());
    const bool ends = left <= length;
    length = std::min(left, length);
    const double speed = velocity.x();
    if (speed < 0 && speed + rate.x() * length > 0)
      least = std::min(least, work - 0.5 * speed * speed / rate.x());
    work += length * (speed + 0.5 * rate.x() * length);
    least = std::min(least, work);
    velocity += length * rate;
    impulse += length * force;
    return ends;
  }
};

}  // namespace

Vec3 energeticImpulse(const Mat3& response, const Vec3& velocity, double friction, double restitution) {
  if (velocity.x() >= 0) return Vec3::Zero();
  Path path{response, velocity, Vec3::Zero(), 1 - restitution * restitution};
  const Mat2 within = response.bottomRightCorner<2, 2>();
  const Vec2 coupling = response.bottomLeftCorner<2, 1>();
  const double slow = kSticks * velocity.norm();
  for (int piece = 0; friction > 0 && piece < kMostPieces; ++piece) {
    const Vec2 slip = path.velocity.tail<2>();
    const double speed = slip.norm();
    if (speed <= slow) break;
    const Vec2 direction = slip / speed;
    const Vec2 rate = coupling - friction * (within * direction);
    const double along = direction.dot(rate);
    const double across = std::abs(direction.x() * rate.y() - direction.y() * rate.x());
    // Until sliding ends or has turned so far.
    const double pace = response(0, 0) - friction * coupling.dot(direction);
    double length = path.end(pace);
    if (along < 0) length = std::min(length, (across > -0.1 * kTurn * along ? 0.7 : 1.0) * speed / -along);
    if (across * length > kStraight * speed) {
      // Work is taken and given back on either side of the end of compression.
      if (path.velocity.x() < 0 && pace > 0)
        length = std::min(length, std::max(-path.velocity.x() / pace, 0.01 * length));
      // How fast the turning itself changes with the direction.
      const Vec2 aside(-direction.y(), direction.x());
      const double bend =
          std::abs(friction * (direction.dot(within * direction) - aside.dot(within * aside)) -
                   direction.dot(coupling));
      length = std::min(length, std::max(kTurn / std::max(across, 0.5 * bend), kStraight / across) * speed);
    }
    // The mean direction over the piece, as the classical method of Runge and Kutta has it.
    Vec2 mean = direction;
    if (std::isfinite(length) && across * length > kStraight * speed) {
      const Vec2 second = (slip + 0.5 * length * rate).normalized();
      const Vec2 third = (slip + 0.5 * length * (coupling - friction * (within * second))).normalized();
      Vec2 last = slip + length * (coupling - friction * (within * third));
      last = last.norm() > 0.25 * speed ? Vec2(last.normalized()) : third;
      mean = (direction + 2 * second + 2 * third + last) / 6;
    }
    if (path.go(Vec3(1, -friction * mean.x(), -friction * mean.y()), length)) return path.impulse;
  }
  // Not sliding: friction holds the contact, or it slides on in the direction that it is pushed to.
  const Vec2 held = leastInDisk(within, -coupling, friction);
  path.go(Vec3(1, held.x(), held.y()), std::numeric_limits<double>::infinity());
  return path.impulse;
}

namespace {

inline Vec3 relativeVelocity(const SolverBody& a, const SolverBody& b, const ImpactPoint& point) {
  return b.velocityAt(point.armB) - a.velocityAt(point.armA);
}

void apply(SolverBody& a, SolverBody& b, const ImpactPoint& point, const Vec3& impulse) {
  if (a.movable()) a.push(-impulse, point.armA);
  if (b.movable()) b.push(impulse, point.armB);
}

Vec3 shortened(const Vec3& v, double most) {
  const double squared = v.squaredNorm();
  return squared > most * most ? Vec3(v * (most / std::sqrt(squared))) : v;
}

}  // namespace

void ImpactLaw::prepare(const SolverBody& a, const SolverBody& b, std::span<const ImpactPoint> points) {
  rows_.resize(points.size());
  for (size_t i = 0; i < points.size(); ++i) {
    Row& row = rows_[i];
    Mat3 response = Mat3::Zero();
    addResponse(a, points[i].armA, Mat3::Identity(), response);
    addResponse(b, points[i].armB, Mat3::Identity(), response);
    row.coupled = response * points[i].normal;
    row.perNormal = points[i].normal.dot(row.coupled);
    // Of the matrix within the tangent plane: the sum of its eigenvalues and of their squares.
    const double sum = response.trace() - row.perNormal;
    const double squares =
        response.squaredNorm() - 2 * row.coupled.squaredNorm() + row.perNormal * row.perNormal;
    row.perTangent = 0.5 * (sum + std::sqrt(std::max(2 * squares - sum * sum, 0.0)));
    row.before = relativeVelocity(a, b, points[i]);
    row.normal = 0;
    row.tangent.setZero();
  }
}

// Normal impulses in proportion to the approaches, times what lowers the energy most: a face that lands flat
// needs no others.
void ImpactLaw::begin(SolverBody& a, SolverBody& b, std::span<const ImpactPoint> points) {
  SolverBody nextA = a, nextB = b;
  double slope = 0, curve = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    rows_[i].normal = std::max(-points[i].normal.dot(rows_[i].before), 0.0);
    slope += rows_[i].normal * rows_[i].normal;
    apply(nextA, nextB, points[i], rows_[i].normal * points[i].normal);
  }
  for (size_t i = 0; i < points.size(); ++i)
    curve +=
        rows_[i].normal * points[i].normal.dot(relativeVelocity(nextA, nextB, points[i]) - rows_[i].before);
  const double s = curve > 0 ? slope / curve : 0.0;
  for (size_t i = 0; i < points.size(); ++i) {
    rows_[i].normal *= s;
    apply(a, b, points[i], rows_[i].normal * points[i].normal);
  }
}

void ImpactLaw::compress(SolverBody& first, SolverBody& second, std::span<const ImpactPoint> points,
                         double friction, double tolerance) {
  SolverBody a = first, b = second;  // the compiler keeps copies in registers
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    double largest = 0;
    for (size_t i = 0; i < points.size(); ++i) {
      Row& row = rows_[i];
      const Vec3& n = points[i].normal;
      const Vec3 velocity = relativeVelocity(a, b, points[i]);
      const double normal = std::max(row.normal - n.dot(velocity) / row.perNormal, 0.0);
      const double more = normal - row.normal;
      Vec3 change = more * n;
      row.normal = normal;
      largest = std::max(largest, std::abs(more) * row.perNormal);
      if (friction > 0) {
        const Vec3 next = velocity + more * row.coupled;
        const Vec3 tangent =
            shortened(row.tangent - (next - n.dot(next) * n) / row.perTangent, friction * normal);
        const Vec3 turn = tangent - row.tangent;
        change += turn;
        row.tangent = tangent;
        largest = std::max(largest, turn.norm() * row.perTangent);
      }
      apply(a, b, points[i], change);
    }
    if (largest < tolerance) break;
  }
  first = a;
  second = b;
}

// Friction goes down the slope of the energy, by steps that do not go beyond the least.
void ImpactLaw::restitute(SolverBody& first, SolverBody& second, std::span<const ImpactPoint> points,
                          double friction, double restitution, double slow, double tolerance) {
  SolverBody a = first, b = second;
  for (size_t i = 0; i < points.size(); ++i) {
    Row& row = rows_[i];
    if (points[i].normal.dot(row.before) > -slow) continue;
    apply(a, b, points[i], restitution * (row.normal * points[i].normal + row.tangent));
    row.normal *= 1 + restitution;
    row.tangent *= 1 + restitution;
  }
  for (int sweep = 0; friction > 0 && sweep < kMostSweeps; ++sweep) {
    double largest = 0;
    for (size_t i = 0; i < points.size(); ++i) {
      Row& row = rows_[i];
      if (!(row.normal > 0)) continue;
      const Vec3& n = points[i].normal;
      const Vec3 velocity = relativeVelocity(a, b, points[i]);
      const Vec3 tangent =
          shortened(row.tangent - (velocity - n.dot(velocity) * n) / row.perTangent, friction * row.normal);
      const Vec3 change = tangent - row.tangent;
      row.tangent = tangent;
      apply(a, b, points[i], change);
      largest = std::max(largest, change.norm() * row.perTangent);
    }
    if (largest < tolerance) break;
  }
  first = a;
  second = b;
}

// Each impulse lowers the energy. What the impact gave is not taken back.
void ImpactLaw::separate(SolverBody& a, SolverBody& b, std::span<const ImpactPoint> points,
                         double tolerance) {
  for (Row& row : rows_) row.more = 0;
  for (int sweep = 0; sweep < kMostSeparations; ++sweep) {
    double fastest = 0;
    for (size_t i = 0; i < points.size(); ++i) {
      Row& row = rows_[i];
      const double speed = points[i].normal.dot(relativeVelocity(a, b, points[i]));
      fastest = std::max(fastest, -speed);
      if (speed > -tolerance && !(row.more > 0)) continue;
      const double more = std::max(row.more - speed / row.perNormal, 0.0);
      apply(a, b, points[i], points[i].normal * (more - row.more));
      row.normal += more - row.more;
      row.more = more;
    }
    if (fastest < tolerance) break;
  }
}

// All impulses times the s <= 1 for which the energy does not grow: it changes by s first + s^2 second.
void ImpactLaw::bound(SolverBody& a, SolverBody& b, const SolverBody& oldA, const SolverBody& oldB,
                      std::span<const ImpactPoint> points) {
  double first = 0, second = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    const Vec3 impulse = rows_[i].normal * points[i].normal + rows_[i].tangent;
    first += impulse.dot(rows_[i].before);
    second += 0.5 * impulse.dot(relativeVelocity(a, b, points[i]) - rows_[i].before);
  }
  if (first + second <= 0) return;
  const double s = second > 0 ? std::max(-first, 0.0) / second : 0.0;  // rounding may leave no change at all
  const auto scale = [s](SolverBody& body, const SolverBody& old) {
    body.velocity() = old.velocity() + s * (body.velocity() - old.velocity());
    body.angularVelocity() = old.angularVelocity() + s * (body.angularVelocity() - old.angularVelocity());
  };
  scale(a, oldA);
  scale(b, oldB);
  for (Row& row : rows_) {
    row.normal *= s;
    row.tangent *= s;
  }
}

void ImpactLaw::strike(SolverBody& a, SolverBody& b, std::span<ImpactPoint> points, double friction,
                       double restitution, double slow) {
  if (points.size() == 1) {
    ImpactPoint& point = points[0];
    const Mat3 frame = frameOf(point.normal);
    Mat3 response = Mat3::Zero();
    addResponse(a, point.armA, frame, response);
    addResponse(b, point.armB, frame, response);
    const Vec3 velocity = frame.transpose() * relativeVelocity(a, b, point);
    if (velocity.x() > -slow) restitution = 0;
    point.impulse = frame * energeticImpulse(response, velocity, friction, restitution);
    apply(a, b, point, point.impulse);
    return;
  }
  prepare(a, b, points);
  double fastest = 0;
  for (size_t i = 0; i < points.size(); ++i)
    fastest = std::max(fastest, -points[i].normal.dot(rows_[i].before));
  const SolverBody oldA = a, oldB = b;
  begin(a, b, points);
  compress(a, b, points, friction, kConverged * fastest);
  restitute(a, b, points, friction, restitution, slow, kConverged * fastest);
  bound(a, b, oldA, oldB, points);
  separate(a, b, points, kTolerance * fastest);
  for (size_t i = 0; i < points.size(); ++i)
    points[i].impulse = rows_[i].normal * points[i].normal + rows_[i].tangent;
}

}  // namespace sunder::rigid
