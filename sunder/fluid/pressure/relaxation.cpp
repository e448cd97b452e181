#include "sunder/fluid/pressure/relaxation.h"

#include "sunder/base/parallel.h"
#include "sunder/base/work.h"
#include "sunder/fluid/pressure/dfsph.h"

#include <algorithm>

namespace sunder::fluid {

namespace {

constexpr double kFarthestMove = 0.1;  // diameters in a round
// Iterations of a round, which starts from the pressures of the one before. With a hundred from nothing, nine
// times as many are needed in all. Where there is no room, pressures would grow forever.
constexpr uint32_t kMostOfARound = 8;

}  // namespace

double relaxParticles(const FluidModel& model, double tolerance, uint32_t rounds, FluidState& state,
                      FluidNeighbours& neighbours, BodyCoupling& coupling, PressureArrays& arrays) {
  const double dt = 1e-3;  // cancels
  const std::vector<Vec4f> motion = state.motion;
  const std::vector<uint32_t> ids = state.ids;
  SolverSettings solver = model.settings.density;
  solver.most = std::min(solver.most, kMostOfARound);
  const auto prepare = [&] {
    findNeighbours(model, state, neighbours);
    evaluate(model, state, neighbours, coupling, arrays);
  };
  coupling.fixed = true;
  std::fill(state.kappa.begin(), state.kappa.end(), 0.0f);
  double worst = 0;
  Work work("settling", 0, "rounds");
  for (uint32_t round = 0;; ++round) {
    work.set(round);
    prepare();
    const PressureStep step{dt, model, neighbours, state.positions, state.motion, coupling, arrays};
    worst = 0;
    for (size_t i = 0; i < state.size(); ++i) worst = std::max(worst, double(step.density(i)) - 1);
    if (worst <= tolerance || round >= rounds) break;
    parallelFor(state.size(), [&](size_t i) { state.motion[i].head<3>().setZero(); });
    coupling.clearImpulses();
    solveConstantDensity(step, solver, state.kappa);
    parallelFor(state.size(), [&](size_t i) {
      Vec3 way = dt * state.velocity(i);
      const double length = way.norm(), most = kFarthestMove * model.diameter;
      if (length > most) way *= most / length;
      state.positions[i] += way;
    });
  }
  coupling.fixed = false;
  // Particles may have changed places.
  std::vector<uint32_t> place(state.nextId, 0);
  for (size_t i = 0; i < state.size(); ++i) place[ids[i]] = uint32_t(i);
  parallelFor(state.size(), [&](size_t i) {
    state.motion[i] = motion[place[state.ids[i]]];
    state.kappa[i] = 0;
  });
  prepare();  // with bodies that give way again
  coupling.clearImpulses();
  return worst;
}

}  // namespace sunder::fluid
