#include "sunder/fem/motion/step_response.h"

#include "sunder/base/error.h"
#include "sunder/fem/motion/step_potential.h"
#include "sunder/fem/motion/step_system.h"

#include <algorithm>

namespace sunder::fem {

namespace {
constexpr double kSolved = 1e-5;  // residual of conjugate gradients, relative
}

struct StepResponse::State {
  double h = 0;
  StepPotential potential;
  StepSystem system;
  std::vector<Vec3> free, right;
  std::vector<double> masses;   // with what damping adds over the step
  std::vector<uint32_t> parts;  // of each vertex
  std::vector<double> partMasses;
  std::vector<uint8_t> partHeld;
  std::vector<Vec3> left;  // of each part
};

StepResponse::StepResponse() : state_(std::make_unique<State>()) {}
StepResponse::~StepResponse() = default;

void StepResponse::begin(const Motion& motion, double h, const Loads& loads) {
  State& s = *state_;
  const Solid& solid = motion.solid();
  const size_t n = motion.vertices();
  const std::span<const double> masses = solid.masses();
  MotionSettings settings = motion.settings();
  settings.scheme = MotionScheme::ImplicitEuler;
  s.h = h;
  s.potential.begin(solid, settings, h, motion.positions(), motion.velocities(), motion.positions(), {},
                    loads);
  s.potential.curvature(motion.positions(), Tangent::Frozen, s.system);
  s.parts.assign(motion.parts().begin(), motion.parts().end());
  s.partMasses.assign(motion.partCount(), 0);
  s.partHeld.assign(motion.partCount(), 0);
  s.masses.resize(n);
  s.right.resize(n);
  s.left.resize(motion.partCount());
  s.free.clear();
  for (size_t i = 0; i < n; ++i) {
    s.masses[i] = h * h * s.potential.massScale(i) * masses[i];
    s.partMasses[s.parts[i]] += s.masses[i];
    if (!(masses[i] > 0)) s.partHeld[s.parts[i]] = 1;
  }
  if (!loads.pins.empty()) s.free.assign(n, Vec3::Ones());
  for (const Pin& pin : loads.pins)
    for (size_t k = 0; k < 3; ++k)
      if (pin.held[k]) {
        s.free[pin.vertex][Eigen::Index(k)] = 0;
        s.partHeld[s.parts[pin.vertex]] = 1;
      }
  if (!s.system.prepare(settings.solver, s.free, s.potential.massScale(), masses))
    throw Error(ErrorKind::Numerical, "the motion of soft bodies does not tell how they give way")
        .hint("a shorter time step, or softer materials");
}

void StepResponse::velocities(std::span<const Vec3> impulses, std::span<Vec3> changes) {
  State& s = *state_;
  const size_t n = s.masses.size();
  // The matrix is that of positions: forces over the step to ways.
  for (size_t i = 0; i < n; ++i) {
    s.right[i] = impulses[i] / (s.h * s.h);
    if (!s.free.empty()) s.right[i] = s.right[i].cwiseProduct(s.free[i]);
    if (!(s.masses[i] > 0)) s.right[i].setZero();
  }
  s.system.solve(s.right, kSolved, 2000, changes);
  std::fill(s.left.begin(), s.left.end(), Vec3::Zero());
  for (size_t i = 0; i < n; ++i) s.left[s.parts[i]] += impulses[i] - s.masses[i] * changes[i];
  for (size_t i = 0; i < n; ++i) {
    const uint32_t part = s.parts[i];
    if (!s.partHeld[part]) changes[i] += s.left[part] / s.partMasses[part];
  }
}

}  // namespace sunder::fem
