#include "sunder/world/parts/soft_boundary.h"

#include "sunder/base/bytes.h"
#include "sunder/base/parallel.h"
#include "sunder/base/profiler.h"

#include <algorithm>
#include <cmath>

namespace sunder::world {

namespace {

constexpr size_t kPointGrain = 1024;
// Volume of a point now over that at rest, where a tetrahedron is turned inside out or torn at.
constexpr double kLeastVolume = 0.1, kMostVolume = 3;

bool anyImpulse(std::span<const Vec3> impulses) {
  return std::any_of(impulses.begin(), impulses.end(), [](const Vec3& j) { return !j.isZero(0); });
}

}  // namespace

void SoftBoundary::add(const soft::VolumePoints& points, uint32_t firstTet) {
  for (size_t p = 0; p < points.size(); ++p) {
    tets_.push_back(firstTet + points.tets[p]);
    weights_.push_back(points.weights[p]);
    volumes_.push_back(points.volumes[p]);
    bodyOf_.push_back(static_cast<uint32_t>(present_.size()));
  }
  present_.push_back(1);
  foreseen_.assign(tets_.size(), Vec3::Zero());
}

void SoftBoundary::setPresent(uint32_t body, bool present) {
  present_[body] = present;
  if (present) return;
  for (size_t p = 0; p < points(); ++p)
    if (bodyOf_[p] == body) foreseen_[p].setZero();
}

Vec3 SoftBoundary::pointOf(std::span<const Vec3> values, size_t point) const {
  const std::span<const uint32_t> v = corners(point);
  const Vec4& w = weights_[point];
  return w[0] * values[v[0]] + w[1] * values[v[1]] + w[2] * values[v[2]] + w[3] * values[v[3]];
}

void SoftBoundary::begin(double h, std::vector<fem::NodalForce>& forces) {
  h_ = h;
  open_ = false;
  before_.resize(points());
  const auto x = motion_.positions();
  parallelFor(
      points(), [&](size_t p) { before_[p] = pointOf(x, p); }, kPointGrain);
  if (!anyImpulse(foreseen_)) return;
  std::vector<Vec3> sums(motion_.vertices(), Vec3::Zero());
  for (size_t p = 0; p < points(); ++p)
    for (int k = 0; k < 4; ++k) sums[corners(p)[size_t(k)]] += weights_[p][k] * foreseen_[p];
  for (uint32_t v = 0; v < sums.size(); ++v)
    if (!sums[v].isZero(0)) forces.push_back({v, sums[v] / h});
}

// Tears may have been made since end().
void SoftBoundary::open() {
  if (open_) return;
  open_ = true;
  responds_ = false;
  const size_t n = motion_.vertices();
  after_.resize(points());
  const auto x = motion_.positions();
  parallelFor(
      points(), [&](size_t p) { after_[p] = pointOf(x, p); }, kPointGrain);
  if (before_.size() != after_.size()) before_ = after_;
  given_.assign(points(), Vec3::Zero());
  drift_.assign(n, Vec3::Zero());
  gained_.assign(n, Vec3::Zero());
  solve(foreseen_, expected_);
}

void SoftBoundary::solve(std::span<const Vec3> impulses, std::vector<Vec3>& changes) {
  const size_t n = motion_.vertices();
  changes.assign(n, Vec3::Zero());
  if (!(h_ > 0) || !anyImpulse(impulses)) return;
  const ProfileScope scope("soft response");
  if (!responds_) {
    response_.begin(motion_, h_, loads_);
    responds_ = true;
  }
  vertexImpulses_.assign(n, Vec3::Zero());
  for (size_t p = 0; p < points(); ++p) {
    if (impulses[p].isZero(0)) continue;
    const std::span<const uint32_t> v = corners(p);
    for (int k = 0; k < 4; ++k) vertexImpulses_[v[size_t(k)]] += weights_[p][k] * impulses[p];
  }
  response_.velocities(vertexImpulses_, changes);
}

void SoftBoundary::place(double from, double to, fluid::BoundarySamples& samples) {
  open();
  to_ = to;
  const double time = (to - from) * h_;
  samples.resize(points());
  const auto x = motion_.positions();
  const auto elements = motion_.solid().elements();
  // What vertices have gained by now, without the part of the foreseen impulses that is yet to come.
  vertexChanges_.resize(motion_.vertices());
  for (size_t v = 0; v < vertexChanges_.size(); ++v) vertexChanges_[v] = gained_[v] - to * expected_[v];
  parallelFor(
      points(),
      [&](size_t p) {
        const Vec3 gain = pointOf(vertexChanges_, p);
        samples.positions[p] = before_[p] + to * (after_[p] - before_[p]) + pointOf(drift_, p) + time * gain;
        samples.velocities[p] = gain;
        if (h_ > 0) samples.velocities[p] += (after_[p] - before_[p]) / h_;
        Mat3 f = Mat3::Zero();
        for (size_t k = 0; k < 4; ++k) f += x[corners(p)[k]] * elements[tets_[p]].gradient[k].transpose();
        samples.volumes[p] =
            present_[bodyOf_[p]] ? std::clamp(f.determinant(), kLeastVolume, kMostVolume) * volumes_[p] : 0;
      },
      kPointGrain);
  // The drift of the time until `to` follows in push(), with what the liquid did.
  lastTime_ = time;
}

void SoftBoundary::push(std::span<const Vec3> impulses) {
  for (size_t p = 0; p < points(); ++p) given_[p] += impulses[p];
  if (anyImpulse(impulses)) solve(given_, gained_);
  for (size_t v = 0; v < drift_.size(); ++v) drift_[v] += lastTime_ * (gained_[v] - to_ * expected_[v]);
}

void SoftBoundary::finish() {
  const bool any = anyImpulse(given_) || anyImpulse(foreseen_);
  if (any) {
    for (size_t v = 0; v < gained_.size(); ++v) gained_[v] -= expected_[v];
    motion_.displace(drift_, gained_);
  }
  foreseen_ = given_;
  open_ = false;
}

void SoftBoundary::respond(std::span<const Vec3> impulses, std::span<Vec3> changes) {
  solve(impulses, vertexChanges_);
  parallelFor(
      points(), [&](size_t p) { changes[p] = pointOf(vertexChanges_, p); }, kPointGrain);
}

// Elasticity and damping only make the response smaller than that of the masses alone.
void SoftBoundary::bound(std::span<const double> impulses, std::span<double> changes) const {
  std::vector<double> sums(motion_.vertices(), 0);
  for (size_t p = 0; p < points(); ++p) {
    if (!(impulses[p] > 0)) continue;
    for (int k = 0; k < 4; ++k) sums[corners(p)[size_t(k)]] += std::abs(weights_[p][k]) * impulses[p];
  }
  for (size_t v = 0; v < sums.size(); ++v) sums[v] = masses_[v] > 0 ? sums[v] / masses_[v] : 0;
  parallelFor(
      points(),
      [&](size_t p) {
        changes[p] = 0;
        for (int k = 0; k < 4; ++k) changes[p] += std::abs(weights_[p][k]) * sums[corners(p)[size_t(k)]];
      },
      kPointGrain);
}

Vec3 SoftBoundary::force() const {
  Vec3 sum = Vec3::Zero();
  for (const Vec3& j : foreseen_) sum += j;
  return h_ > 0 ? Vec3(sum / h_) : Vec3::Zero();
}

void SoftBoundary::save(ByteWriter& out) const {
  out.u32(static_cast<uint32_t>(points()));
  out.f64(h_);
  for (const Vec3& j : foreseen_)
    for (const double x : j) out.f64(x);
}

void SoftBoundary::load(ByteReader& in) {
  if (in.u32("points of soft bodies") != points()) in.fail("the state has other points of soft bodies");
  h_ = in.boundedF64("the step of soft bodies");
  if (h_ < 0) in.fail("a step of soft bodies is negative");
  for (Vec3& j : foreseen_)
    for (double& x : j) x = in.boundedF64("an impulse of a liquid on a soft body");
  before_.clear();
  loads_ = {};
  open_ = false;
}

}  // namespace sunder::world
