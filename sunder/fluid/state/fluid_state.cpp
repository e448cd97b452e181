// Particles of a fluid come and go, change places in memory, are saved and restored.
#include "sunder/fluid/state/fluid_state.h"

#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/base/hash.h"
#include "sunder/base/parallel.h"

#include <cmath>

#include <fmt/core.h>

namespace sunder::fluid {

namespace {

constexpr size_t kStateGrain = 4096;

template <class T>
void permute(std::vector<T>& values, std::span<const uint32_t> order, std::vector<T>& scratch) {
  scratch.resize(values.size());
  parallelFor(values.size(), [&](size_t i) { scratch[i] = values[order[i]]; });
  values.swap(scratch);
}

void resizeParticles(FluidState& state, size_t count) {
  state.positions.resize(count);
  state.motion.resize(count);
  state.kappa.resize(count);
  state.kappaRate.resize(count);
  state.ids.resize(count);
  state.phases.resize(count);
}

}  // namespace

size_t FluidState::bytes() const {
  return size() * (sizeof(Vec3) + sizeof(Vec4f) + 2 * sizeof(float) + sizeof(uint32_t) + 1);
}

void addParticles(const FluidModel& model, std::span<const Vec3> positions, const Vec3& velocity,
                  uint32_t phase, FluidState& state) {
  if (phase >= model.phases.size()) throw Error(ErrorKind::Usage, fmt::format("there is no fluid {}", phase));
  if (!velocity.allFinite()) throw Error(ErrorKind::Usage, "fluid: a velocity that is not finite");
  for (size_t i = 0; i < positions.size(); ++i)
    if (!positions[i].allFinite())
      throw Error(ErrorKind::Usage, fmt::format("fluid: position of particle {} is not finite", i));
  if (state.nextId + positions.size() > UINT32_MAX / 2) throw Error(ErrorKind::Limit, "too many particles");
  const Vec3f v = velocity.cast<float>();
  state.positions.insert(state.positions.end(), positions.begin(), positions.end());
  state.motion.resize(state.size(), Vec4f(v.x(), v.y(), v.z(), model.lightness(phase)));
  state.kappa.resize(state.size(), 0);
  state.kappaRate.resize(state.size(), 0);
  state.phases.resize(state.size(), uint8_t(phase));
  while (state.ids.size() < state.size()) state.ids.push_back(state.nextId++);
}

bool removeParticles(std::span<const uint8_t> gone, FluidState& state) {
  const size_t count = state.size();
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i) {
    if (gone[i]) continue;
    state.positions[kept] = state.positions[i];
    state.motion[kept] = state.motion[i];
    state.kappa[kept] = state.kappa[i];
    state.kappaRate[kept] = state.kappaRate[i];
    state.ids[kept] = state.ids[i];
    state.phases[kept++] = state.phases[i];
  }
  if (kept == count) return false;
  resizeParticles(state, kept);
  return true;
}

void reorderParticles(std::span<const uint32_t> order, FluidState& state) {
  std::vector<Vec3> points;
  std::vector<Vec4f> rows;
  std::vector<float> numbers;
  std::vector<uint32_t> ids;
  std::vector<uint8_t> bytes;
  permute(state.positions, order, points);
  permute(state.motion, order, rows);
  permute(state.kappa, order, numbers);
  permute(state.kappaRate, order, numbers);
  permute(state.ids, order, ids);
  permute(state.phases, order, bytes);
}

double pressureOf(const FluidModel& model, const FluidState& state, size_t i) {
  const double dt = state.lastStep;
  return dt > 0 ? model.settings.referenceDensity *
                      (double(state.kappa[i]) / (dt * dt) + double(state.kappaRate[i]) / dt)
                : 0;
}

double largestSpeed(std::span<const Vec4f> motion) {
  const auto larger = [](double a, double b) { return b > a || std::isnan(b) ? b : a; };
  return std::sqrt(parallelReduce(
      motion.size(), 0.0,
      [&](size_t begin, size_t end) {
        double most = 0;
        for (size_t i = begin; i < end; ++i) most = larger(most, double(motion[i].head<3>().squaredNorm()));
        return most;
      },
      larger, kStateGrain));
}

double kineticEnergy(std::span<const Vec4f> motion) {
  return parallelReduce(
      motion.size(), 0.0,
      [&](size_t begin, size_t end) {
        double sum = 0;
        for (size_t i = begin; i < end; ++i)
          sum += 0.5 * double(motion[i].head<3>().squaredNorm()) / double(motion[i].w());
        return sum;
      },
      [](double a, double b) { return a + b; }, kStateGrain);
}

void saveParticles(const FluidState& state, ByteWriter& out) {
  out.u64(state.size());
  out.u32(state.nextId);
  out.u64(state.steps);
  out.f64(state.lastStep);
  out.f64(state.lostEnergy);
  for (size_t i = 0; i < state.size(); ++i) {
    for (const double x : state.positions[i]) out.f64(x);
    for (int k = 0; k < 3; ++k) out.f32(state.motion[i][k]);
    out.f32(state.kappa[i]);
    out.f32(state.kappaRate[i]);
    out.u32(state.ids[i]);
    out.u8(state.phases[i]);
  }
}

void loadParticles(const FluidModel& model, ByteReader& in, FluidState& state) {
  const uint64_t count = in.u64("number of particles");
  in.need(count, 49, "particles");
  const uint32_t made = state.nextId = in.u32("number of particles ever");
  if (made < count || made > UINT32_MAX / 2)
    in.fail(fmt::format("there are {} particles, but {} were made", count, made));
  state.steps = in.u64("steps of the fluid");
  state.lastStep = in.boundedF64("the time step of the fluid");
  if (state.lastStep < 0) in.fail(fmt::format("the time step of the fluid is {}", state.lastStep));
  state.lostEnergy = in.boundedF64("the energy that the fluid lost");
  resizeParticles(state, count);
  for (size_t i = 0; i < count; ++i) {
    for (double& x : state.positions[i]) x = in.boundedF64("the position of a particle");
    for (int k = 0; k < 3; ++k) state.motion[i][k] = in.boundedF32("the velocity of a particle");
    state.kappa[i] = in.boundedF32("the pressure of a particle");
    state.kappaRate[i] = in.boundedF32("the pressure of a particle");
    state.ids[i] = in.u32("particle");
    if (state.ids[i] >= made)
      in.fail(fmt::format("particle {} of only {} that were made", state.ids[i], made));
    state.phases[i] = in.u8("fluid");
    if (state.phases[i] >= model.phases.size())
      in.fail(fmt::format("particle {} is of fluid {}, which is not there", i, state.phases[i]));
    state.motion[i].w() = model.lightness(state.phases[i]);
  }
}

uint64_t hashParticles(const FluidState& state) {
  Hasher hasher;
  hasher.update(state.size());
  for (size_t i = 0; i < state.size(); ++i) {
    for (const double x : state.positions[i]) hasher.update(x);
    for (int k = 0; k < 3; ++k) hasher.update(state.motion[i][k]);
    hasher.update(state.ids[i]);
  }
  return hasher.digest();
}

}  // namespace sunder::fluid
