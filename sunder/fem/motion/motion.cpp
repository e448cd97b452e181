// The state of a moving solid: set, torn, saved, restored and asked. Its steps are in motion_step.cpp.
#include "sunder/fem/motion/motion.h"

#include "sunder/base/bytes.h"
#include "sunder/base/disjoint_sets.h"
#include "sunder/base/error.h"
#include "sunder/base/hash.h"
#include "sunder/fem/motion/motion_state.h"
#include "sunder/fem/motion/vector_sums.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sunder::fem {

namespace {

constexpr std::array<std::string_view, 4> kMotionSolverNames{"auto", "cholesky", "jacobi", "incomplete"};

void requireMotionSettings(const MotionSettings& s) {
  if (!(s.tolerance > 0) || !(s.tolerance < 1))
    throw Error(ErrorKind::Usage, fmt::format("a tolerance of {} for steps", s.tolerance))
        .hint("it is relative: above 0 and below 1, 1e-3 for scenes");
  if (s.mostIterations == 0 || s.mostRounds == 0 || s.mostSolverIterations == 0)
    throw Error(ErrorKind::Usage, "a step needs at least one iteration and one round");
  if (!(s.massDamping >= 0) || !(s.stiffnessDamping >= 0) || !std::isfinite(s.massDamping) ||
      !std::isfinite(s.stiffnessDamping))
    throw Error(ErrorKind::Usage, fmt::format("damping of {} 1/s by mass and {} s by stiffness",
                                              s.massDamping, s.stiffnessDamping))
        .hint("neither may be negative");
}

void requireFiniteState(std::span<const Vec3> values, const char* what) {
  for (size_t i = 0; i < values.size(); ++i)
    if (!values[i].allFinite())
      throw Error(ErrorKind::Usage, fmt::format("the {} of vertex {} is not finite", what, i));
}

void writeVectors(ByteWriter& out, std::span<const Vec3> values) {
  for (const Vec3& value : values)
    for (const double x : value) out.f64(x);
}

void readVectors(ByteReader& in, std::span<Vec3> values, const char* what) {
  for (Vec3& value : values)
    for (double& x : value) x = in.boundedF64(what);
}

}  // namespace

std::string_view name(MotionSolver solver) { return kMotionSolverNames[static_cast<size_t>(solver)]; }

MotionSolver motionSolver(std::string_view name) {
  for (size_t k = 0; k < kMotionSolverNames.size(); ++k)
    if (kMotionSolverNames[k] == name) return static_cast<MotionSolver>(k);
  throw Error(ErrorKind::Usage, fmt::format("there is no solver '{}' for steps", name))
      .hint(fmt::format("one of {}", fmt::join(kMotionSolverNames, ", ")));
}

Motion::Motion() : state_(std::make_unique<State>()) {}
Motion::~Motion() = default;
Motion::Motion(Motion&&) noexcept = default;
Motion& Motion::operator=(Motion&&) noexcept = default;

void Motion::State::requireSet() const {
  if (!solid) throw Error(ErrorKind::Usage, "a motion was asked for before its solid was set");
}

void Motion::State::findParts() {
  const size_t n = solid->vertices();
  DisjointSets sets(n);
  for (const geometry::Tetrahedron& tet : solid->tets())
    for (size_t k = 1; k < 4; ++k) sets.unite(tet[0], tet[k]);
  parts.assign(n, 0);
  partMasses.clear();
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t root = sets.find(i);
    if (root == i) {
      parts[i] = static_cast<uint32_t>(partMasses.size());
      partMasses.push_back(0);
    } else {
      parts[i] = parts[root];
    }
    partMasses[parts[i]] += solid->masses()[i];
  }
}

void Motion::set(Solid& solid, std::span<const Vec3> positions, const MotionSettings& settings) {
  requireMotionSettings(settings);
  const size_t n = solid.vertices();
  if (positions.size() != n)
    throw Error(ErrorKind::Usage,
                fmt::format("{} positions for a solid of {} vertices", positions.size(), n));
  requireFiniteState(positions, "position");
  auto state = std::make_unique<State>();
  state->solid = &solid;
  state->settings = settings;
  state->positions.assign(positions.begin(), positions.end());
  state->velocities.assign(n, Vec3::Zero());
  state->accelerations.assign(n, Vec3::Zero());
  state->reactions.assign(n, Vec3::Zero());
  state->findParts();
  state_ = std::move(state);
}

void Motion::setSettings(const MotionSettings& settings) {
  requireMotionSettings(settings);
  state_->settings = settings;
}

const MotionSettings& Motion::settings() const { return state_->settings; }

void Motion::setCorners(std::span<const geometry::Tetrahedron> tets, std::span<const uint32_t> sources) {
  State& s = *state_;
  s.requireSet();
  const size_t before = s.positions.size(), n = before + sources.size();
  for (size_t k = 0; k < sources.size(); ++k)
    if (sources[k] >= before + k)
      throw Error(ErrorKind::Usage,
                  fmt::format("new vertex {} is to be a copy of vertex {}, which is not there", before + k,
                              sources[k]));
  s.solid->setCorners(tets, n);
  for (std::vector<Vec3>* values : {&s.positions, &s.velocities, &s.accelerations}) {
    values->reserve(n);
    for (const uint32_t source : sources) values->push_back((*values)[source]);
  }
  s.reactions.assign(n, Vec3::Zero());
  s.elastic = -1;
  s.findParts();
}

size_t Motion::vertices() const { return state_->positions.size(); }
const Solid& Motion::solid() const {
  state_->requireSet();
  return *state_->solid;
}
std::span<const Vec3> Motion::positions() const { return state_->positions; }
std::span<const Vec3> Motion::velocities() const { return state_->velocities; }
std::span<const Vec3> Motion::reactions() const { return state_->reactions; }
std::span<const uint32_t> Motion::parts() const { return state_->parts; }
size_t Motion::partCount() const { return state_->partMasses.size(); }
uint64_t Motion::steps() const { return state_->steps; }

void Motion::setState(std::span<const Vec3> positions, std::span<const Vec3> velocities) {
  State& s = *state_;
  s.requireSet();
  if (positions.size() != vertices() || velocities.size() != vertices())
    throw Error(ErrorKind::Usage, fmt::format("a state of {} positions and {} velocities for {} vertices",
                                              positions.size(), velocities.size(), vertices()));
  requireFiniteState(positions, "position");
  requireFiniteState(velocities, "velocity");
  std::copy(positions.begin(), positions.end(), s.positions.begin());
  std::copy(velocities.begin(), velocities.end(), s.velocities.begin());
  std::fill(s.accelerations.begin(), s.accelerations.end(), Vec3::Zero());
  s.elastic = -1;
}

void Motion::displace(std::span<const Vec3> ways, std::span<const Vec3> gains) {
  State& s = *state_;
  s.requireSet();
  if (ways.size() != vertices() || gains.size() != vertices())
    throw Error(ErrorKind::Usage, fmt::format("{} ways and {} gains of speed for {} vertices", ways.size(),
                                              gains.size(), vertices()));
  requireFiniteState(ways, "way");
  requireFiniteState(gains, "gain of speed");
  for (size_t i = 0; i < ways.size(); ++i) {
    s.positions[i] += ways[i];
    s.velocities[i] += gains[i];
  }
  s.elastic = -1;
}

double Motion::kineticEnergy() const {
  const State& s = *state_;
  s.requireSet();
  const std::span<const double> masses = s.solid->masses();
  return blockSum(s.velocities.size(),
                  [&](size_t i) { return 0.5 * masses[i] * s.velocities[i].squaredNorm(); });
}

double Motion::State::elasticEnergy() {
  if (elastic < 0) elastic = solid->energy(positions);
  return elastic;
}

double Motion::elasticEnergy() const {
  state_->requireSet();
  return state_->elasticEnergy();
}

Vec3 Motion::momentum() const {
  const State& s = *state_;
  s.requireSet();
  Vec3 sum = Vec3::Zero();
  for (size_t i = 0; i < s.velocities.size(); ++i) sum += s.solid->masses()[i] * s.velocities[i];
  return sum;
}

Vec3 Motion::angularMomentum(const Vec3& about) const {
  const State& s = *state_;
  s.requireSet();
  Vec3 sum = Vec3::Zero();
  for (size_t i = 0; i < s.velocities.size(); ++i)
    sum += s.solid->masses()[i] * (s.positions[i] - about).cross(s.velocities[i]);
  return sum;
}

void Motion::save(ByteWriter& out) const {
  const State& s = *state_;
  s.requireSet();
  out.u64(s.steps);
  out.u64(s.positions.size());
  out.u64(s.solid->tets().size());
  for (const geometry::Tetrahedron& tet : s.solid->tets())
    for (const uint32_t v : tet) out.u32(v);
  writeVectors(out, s.positions);
  writeVectors(out, s.velocities);
  writeVectors(out, s.accelerations);
}

void Motion::load(ByteReader& in) {
  State& s = *state_;
  s.requireSet();
  const uint64_t steps = in.u64("steps of a solid");
  const uint64_t n = in.u64("number of vertices of a solid");
  const uint64_t count = in.u64("number of tetrahedra of a solid");
  if (count != s.solid->tets().size())
    in.fail(fmt::format("a solid of {} tetrahedra, but it has {}", count, s.solid->tets().size()));
  if (n < s.positions.size())
    in.fail(fmt::format("a solid of {} vertices, but it has {} already", n, s.positions.size()));
  in.need(count, 16, "corners of tetrahedra");
  std::vector<geometry::Tetrahedron> tets(count);
  for (geometry::Tetrahedron& tet : tets)
    for (uint32_t& v : tet)
      if ((v = in.u32("a corner of a tetrahedron")) >= n)
        in.fail(fmt::format("a tetrahedron refers to vertex {}, but there are {}", v, n));
  in.need(n, 72, "vertices of a solid");
  std::array<std::vector<Vec3>, 3> values;
  for (std::vector<Vec3>& v : values) v.resize(n);
  readVectors(in, values[0], "the position of a vertex");
  readVectors(in, values[1], "the velocity of a vertex");
  readVectors(in, values[2], "the acceleration of a vertex");
  if (n != s.positions.size() || !std::equal(tets.begin(), tets.end(), s.solid->tets().begin()))
    s.solid->setCorners(tets, n);
  s.steps = steps;
  s.positions.swap(values[0]);
  s.velocities.swap(values[1]);
  s.accelerations.swap(values[2]);
  s.reactions.assign(n, Vec3::Zero());
  s.elastic = -1;
  s.findParts();
}

uint64_t Motion::hash() const {
  const State& s = *state_;
  s.requireSet();
  Hasher hasher;
  hasher.updateSized(s.solid->tets());
  hasher.updateSized(std::span<const Vec3>(s.positions));
  hasher.updateSized(std::span<const Vec3>(s.velocities));
  return hasher.digest();
}

}  // namespace sunder::fem
