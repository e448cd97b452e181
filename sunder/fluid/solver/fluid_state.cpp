// Particles of a fluid come and go, change places in memory, are saved and restored.
#include "sunder/base/bounds.h"
#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/base/hash.h"
#include "sunder/base/parallel.h"
#include "sunder/fluid/solver/fluid.h"

#include <fmt/core.h>

namespace sunder::fluid {

namespace {

template <class T>
void permute(std::vector<T>& values, std::span<const uint32_t> order, std::vector<T>& scratch) {
  scratch.resize(values.size());
  parallelFor(values.size(), [&](size_t i) { scratch[i] = values[order[i]]; });
  values.swap(scratch);
}

}  // namespace

void Fluid::add(std::span<const Vec3> positions, const Vec3& velocity, uint32_t phase) {
  if (phase >= phases_.size()) throw Error(ErrorKind::Usage, fmt::format("there is no fluid {}", phase));
  if (!velocity.allFinite()) throw Error(ErrorKind::Usage, "fluid: a velocity that is not finite");
  for (size_t i = 0; i < positions.size(); ++i)
    if (!positions[i].allFinite())
      throw Error(ErrorKind::Usage, fmt::format("fluid: position of particle {} is not finite", i));
  if (nextId_ + positions.size() > UINT32_MAX / 2) throw Error(ErrorKind::Limit, "too many particles");
  const Vec4f motion =
      withFourth(velocity.cast<float>(), float(settings_.referenceDensity / phases_[phase].density));
  positions_.insert(positions_.end(), positions.begin(), positions.end());
  motion_.resize(size(), motion);
  kappa_.resize(size(), 0);
  kappaRate_.resize(size(), 0);
  phase_.resize(size(), uint8_t(phase));
  while (ids_.size() < size()) ids_.push_back(nextId_++);
  prepared_ = false;
}

void Fluid::findBuried(std::span<const Vec3> positions, double most, std::span<uint8_t> buried) const {
  std::fill(buried.begin(), buried.end(), uint8_t(0));
  if (positions.empty()) return;
  const Vec3 origin = boundsOf(positions).center();
  std::vector<Vec4f> place(positions.size());
  for (size_t i = 0; i < place.size(); ++i) place[i] = withFourth((positions[i] - origin).cast<float>(), 0);
  BoundaryEntries entries;
  findEntries(bodies_, place, origin, entries);
  for (size_t e = 0; e < entries.particle.size(); ++e)
    if (double(entries.sample[e].w()) > most) buried[entries.particle[e]] = 1;
}

void Fluid::remove(std::span<const uint8_t> gone) {
  size_t kept = 0;
  for (size_t i = 0; i < size(); ++i) {
    if (gone[i]) continue;
    positions_[kept] = positions_[i];
    motion_[kept] = motion_[i];
    kappa_[kept] = kappa_[i];
    kappaRate_[kept] = kappaRate_[i];
    ids_[kept] = ids_[i];
    phase_[kept++] = phase_[i];
  }
  if (kept == size()) return;
  positions_.resize(kept);
  motion_.resize(kept);
  kappa_.resize(kept);
  kappaRate_.resize(kept);
  ids_.resize(kept);
  phase_.resize(kept);
  prepared_ = false;
}

void Fluid::reorder() {
  const std::vector<uint32_t> order(grid_.order().begin(), grid_.order().end());
  std::vector<Vec3> points;
  std::vector<Vec4f> rows;
  std::vector<float> numbers;
  std::vector<uint32_t> ids;
  std::vector<uint8_t> bytes;
  permute(positions_, order, points);
  permute(motion_, order, rows);
  permute(kappa_, order, numbers);
  permute(kappaRate_, order, numbers);
  permute(ids_, order, ids);
  permute(phase_, order, bytes);
}

void Fluid::save(ByteWriter& out) const {
  out.u64(size());
  out.u32(nextId_);
  out.u64(steps_);
  out.f64(lastStep_);
  out.f64(lost_);
  for (size_t i = 0; i < size(); ++i) {
    for (const double x : positions_[i]) out.f64(x);
    for (int k = 0; k < 3; ++k) out.f32(motion_[i][k]);
    out.f32(kappa_[i]);
    out.f32(kappaRate_[i]);
    out.u32(ids_[i]);
    out.u8(phase_[i]);
  }
}

void Fluid::load(ByteReader& in) {
  const uint64_t count = in.u64("number of particles");
  in.need(count, 49, "particles");
  nextId_ = in.u32("number of particles ever");
  if (nextId_ < count || nextId_ > UINT32_MAX / 2)
    in.fail(fmt::format("there are {} particles, but {} were made", count, nextId_));
  steps_ = in.u64("steps of the fluid");
  lastStep_ = in.boundedF64("the time step of the fluid");
  if (lastStep_ < 0) in.fail(fmt::format("the time step of the fluid is {}", lastStep_));
  lost_ = in.boundedF64("the energy that the fluid lost");
  positions_.resize(count);
  motion_.resize(count);
  kappa_.resize(count);
  kappaRate_.resize(count);
  ids_.resize(count);
  phase_.resize(count);
  for (size_t i = 0; i < count; ++i) {
    for (double& x : positions_[i]) x = in.boundedF64("the position of a particle");
    for (int k = 0; k < 3; ++k) motion_[i][k] = in.boundedF32("the velocity of a particle");
    kappa_[i] = in.boundedF32("the pressure of a particle");
    kappaRate_[i] = in.boundedF32("the pressure of a particle");
    ids_[i] = in.u32("particle");
    if (ids_[i] >= nextId_) in.fail(fmt::format("particle {} of only {} that were made", ids_[i], nextId_));
    phase_[i] = in.u8("fluid");
    if (phase_[i] >= phases_.size())
      in.fail(fmt::format("particle {} is of fluid {}, which is not there", i, phase_[i]));
    motion_[i].w() = float(settings_.referenceDensity / phases_[phase_[i]].density);
  }
  prepared_ = false;
}

uint64_t Fluid::hash() const {
  Hasher hasher;
  hasher.update(size());
  for (size_t i = 0; i < size(); ++i) {
    for (const double x : positions_[i]) hasher.update(x);
    for (int k = 0; k < 3; ++k) hasher.update(motion_[i][k]);
    hasher.update(ids_[i]);
  }
  return hasher.digest();
}

}  // namespace sunder::fluid
