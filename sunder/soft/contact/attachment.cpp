#include "sunder/soft/contact/attachment.h"

#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/base/hash.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/soft/contact/contact_sphere.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace sunder::soft {

namespace {

constexpr double kTieStiffness = 10;  // against what the vertices offer
constexpr double kTieStiffer = 4, kTieMostStiffer = 1e4;
constexpr double kTieTooSlow = 0.25;  // of the miss of the round before

double inverseMassOfTie(const LinearGap& gap, std::span<const double> inverseMasses) {
  double sum = 0;
  for (uint32_t i = 0; i < gap.count; ++i)
    sum += gap.weights[i] * gap.weights[i] * inverseMasses[gap.rows[i]];
  return sum;
}

void requirePoint(const TetPoint& point, size_t tets, size_t attachment) {
  const double sum = point.weights[0] + point.weights[1] + point.weights[2] + point.weights[3];
  if (point.tet >= tets)
    throw Error(ErrorKind::Usage, fmt::format("attachment {} is in tetrahedron {}, but there are {}",
                                              attachment, point.tet, tets));
  if (!(std::abs(sum - 1) <= 1e-6))
    throw Error(ErrorKind::Usage, fmt::format("attachment {} has weights that add up to {}", attachment, sum))
        .hint("barycentric weights add up to 1");
}

}  // namespace

Attachments::Attachments(ObstacleBodies& obstacles, const AttachmentSettings& settings)
    : obstacles_(obstacles), settings_(settings) {
  if (!(settings.tolerance > 0) || !(settings.young > 0) || settings.mostRounds == 0)
    throw Error(ErrorKind::Usage, fmt::format("attachments with tolerance {} m, modulus {} Pa, {} rounds",
                                              settings.tolerance, settings.young, settings.mostRounds))
        .hint("all must be positive");
}

void Attachments::set(const geometry::TetMesh& rest, std::span<const Attachment> attachments) {
  geometry::requireValid(rest);
  for (size_t i = 0; i < attachments.size(); ++i) {
    const Attachment& a = attachments[i];
    requirePoint(a.point, rest.tets.size(), i);
    if (a.to == Attachment::To::Soft) requirePoint(a.other, rest.tets.size(), i);
    if (!a.place.allFinite() || !(a.strength >= 0) || !(a.stiffness >= 0) || !std::isfinite(a.stiffness))
      throw Error(ErrorKind::Usage, fmt::format("attachment {} has strength {} N and stiffness {} N/m", i,
                                                a.strength, a.stiffness))
          .hint("both are from 0 on, and the place is finite");
  }
  attachments_.assign(attachments.begin(), attachments.end());
  tets_ = rest.tets;
  sizes_.resize(tets_.size());
  for (size_t t = 0; t < tets_.size(); ++t)
    sizes_[t] =
        std::cbrt(std::abs(geometry::signedVolume(rest.positions[tets_[t][0]], rest.positions[tets_[t][1]],
                                                  rest.positions[tets_[t][2]], rest.positions[tets_[t][3]])));
  inverseMasses_.assign(rest.positions.size(), 0);
  forces_.assign(attachments_.size(), Vec3::Zero());
  broken_.assign(attachments_.size(), 0);
  brokenNow_.clear();
  ties_.clear();
  report_ = {};
}

void Attachments::setCorners(std::span<const geometry::Tetrahedron> tets, std::span<const double> masses) {
  if (tets.size() != tets_.size())
    throw Error(ErrorKind::Usage,
                fmt::format("{} tetrahedra for attachments of {}", tets.size(), tets_.size()));
  for (const geometry::Tetrahedron& tet : tets)
    for (const uint32_t v : tet)
      if (v >= masses.size()) throw Error(ErrorKind::Usage, fmt::format("vertex {} of {}", v, masses.size()));
  tets_.assign(tets.begin(), tets.end());
  inverseMasses_.resize(masses.size());
  for (size_t v = 0; v < masses.size(); ++v) inverseMasses_[v] = masses[v] > 0 ? 1 / masses[v] : 0;
}

void Attachments::setPlace(size_t attachment, const Vec3& place) {
  if (attachment >= attachments_.size() || !place.allFinite())
    throw Error(ErrorKind::Usage, fmt::format("attachment {} of {} tied to a place that is not finite",
                                              attachment, attachments_.size()));
  attachments_[attachment].place = place;
}

void Attachments::release(size_t attachment) {
  broken_[attachment] = 1;
  forces_[attachment].setZero();
}

void Attachments::begin(const fem::StepStart& start, std::span<Vec3> /*own*/) {
  report_ = {};
  brokenNow_.clear();
  ties_.clear();
  std::vector<Vec3> x(start.predicted.begin(), start.predicted.end());
  obstacles_.setAlone(x);
  for (uint32_t i = 0; i < attachments_.size(); ++i) {
    const Attachment& a = attachments_[i];
    if (broken_[i]) continue;
    Tie tie;
    tie.attachment = i;
    for (size_t k = 0; k < 4; ++k) tie.gap.add(tets_[a.point.tet][k], a.point.weights[k]);
    double young = settings_.young * sizes_[a.point.tet], inverse = 0;
    if (a.to == Attachment::To::Soft) {
      for (size_t k = 0; k < 4; ++k) tie.gap.add(tets_[a.other.tet][k], -a.other.weights[k]);
    } else if (a.to == Attachment::To::Obstacle) {
      tie.body = obstacles_.find(a.key);
      if (tie.body == kNoIndex) continue;
      inverse = obstacles_.bodies()[tie.body].inverseMass;
      tie.gap.body = obstacles_.row(tie.body);
    }
    inverse += inverseMassOfTie(tie.gap, inverseMasses_);
    tie.stiffness = a.stiffness > 0
                        ? a.stiffness
                        : kTieStiffness * (young + (inverse > 0 ? 1 / (inverse * start.h * start.h) : 0));
    tie.leastStiffness = tie.stiffness;
    tie.force = forces_[i];
    linearise(tie, x);
    ties_.push_back(tie);
  }
}

void Attachments::linearise(Tie& tie, std::span<const Vec3> x) {
  const Attachment& a = attachments_[tie.attachment];
  tie.target = a.to == Attachment::To::World ? a.place : Vec3::Zero();
  if (tie.body == kNoIndex) return;
  const Vec3 held = obstacles_.poseAt(tie.body, x).point(a.place);
  tie.target = held;
  if (tie.gap.body == kNoIndex) return;
  tie.gap.lever = held - obstacles_.centreAt(tie.body, x);
  tie.target -= obstacles_.moveAt(tie.body, x) + obstacles_.turnAt(tie.body, x).cross(tie.gap.lever);
}

double Attachments::energy(std::span<const Vec3> x) const {
  double sum = 0;
  for (const Tie& tie : ties_) {
    const Vec3 by = miss(tie, x);
    sum += 0.5 * tie.stiffness * by.squaredNorm() - tie.force.dot(by);
  }
  return sum;
}

void Attachments::addGradient(std::span<const Vec3> x, std::span<Vec3> gradient) const {
  for (const Tie& tie : ties_) tie.gap.addGradient(tie.stiffness * miss(tie, x) - tie.force, gradient);
}

void Attachments::addCurvature(std::span<const Vec3> /*x*/, fem::BlockMatrix& matrix,
                               std::span<Mat3> /*diagonal*/, fem::OuterTerms& outer) const {
  const std::array<Vec3, 3> axes{Vec3::UnitX(), Vec3::UnitY(), Vec3::UnitZ()};
  for (const Tie& tie : ties_) {
    const std::array<double, 3> weights{tie.stiffness, tie.stiffness, tie.stiffness};
    tie.gap.addCurvature(axes, weights, matrix, outer);
  }
}

bool Attachments::update(std::span<const Vec3> x, uint32_t /*round*/) {
  ++report_.rounds;
  report_.notMet = 0;
  report_.longest = 0;
  bool again = false;
  for (Tie& tie : ties_) {
    const Vec3 was = miss(tie, x);
    tie.force -= tie.stiffness * was;
    if (report_.rounds > 1 && was.norm() > kTieTooSlow * tie.lastMiss && was.norm() > settings_.tolerance)
      tie.stiffness = std::min(kTieStiffer * tie.stiffness, kTieMostStiffer * tie.leastStiffness);
    tie.lastMiss = was.norm();
    linearise(tie, x);
    const double now = miss(tie, x).norm();
    report_.longest = std::max(report_.longest, now);
    const bool met = now <= settings_.tolerance && tie.lastMiss <= settings_.tolerance;
    report_.notMet += !met;
    again = again || !met;
  }
  again = again && report_.rounds < settings_.mostRounds;
  if (again) return true;
  // The force at x is what the multiplier says, whatever the tolerance has left.
  for (Tie& tie : ties_) tie.target = tie.gap.place(x);
  return false;
}

void Attachments::end(std::span<const Vec3> x, std::span<Vec3> /*velocities*/) {
  for (const Tie& tie : ties_) {
    const Vec3 force = tie.force - tie.stiffness * miss(tie, x);
    forces_[tie.attachment] = force;
    if (tie.body != kNoIndex) {
      const TetPoint& point = attachments_[tie.attachment].point;
      obstacles_.push(tie.body, -obstacles_.step() * force, blended(tets_[point.tet], point.weights, x));
    }
    const double strength = attachments_[tie.attachment].strength;
    if (strength > 0 && force.norm() > strength) {
      broken_[tie.attachment] = 1;
      forces_[tie.attachment] = Vec3::Zero();
      brokenNow_.push_back(tie.attachment);
    }
  }
  obstacles_.settle();
}

void Attachments::save(ByteWriter& out) const {
  out.u32(static_cast<uint32_t>(attachments_.size()));
  for (size_t i = 0; i < attachments_.size(); ++i) {
    out.u8(broken_[i]);
    for (int k = 0; k < 3; ++k) out.f64(forces_[i][k]);
    for (int k = 0; k < 3; ++k) out.f64(attachments_[i].place[k]);
  }
}

void Attachments::load(ByteReader& in) {
  const uint32_t count = in.u32("number of attachments");
  if (count != attachments_.size())
    in.fail(fmt::format("{} attachments, but there are {}", count, attachments_.size()));
  std::vector<uint8_t> broken(count);
  std::vector<Vec3> forces(count), places(count);
  for (uint32_t i = 0; i < count; ++i) {
    broken[i] = in.u8("state of an attachment");
    if (broken[i] > 1) in.fail(fmt::format("attachment {} has the state {}", i, broken[i]));
    for (int k = 0; k < 3; ++k) forces[i][k] = in.boundedF64("force of an attachment");
    for (int k = 0; k < 3; ++k) places[i][k] = in.boundedF64("place of an attachment");
  }
  broken_ = std::move(broken);
  forces_ = std::move(forces);
  for (uint32_t i = 0; i < count; ++i) attachments_[i].place = places[i];
}

void Attachments::hash(Hasher& hasher) const {
  for (size_t i = 0; i < attachments_.size(); ++i) {
    hasher.update(broken_[i]);
    hasher.update(forces_[i]);
    hasher.update(attachments_[i].place);
  }
}

}  // namespace sunder::soft
