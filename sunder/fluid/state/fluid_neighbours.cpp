#include "sunder/fluid/state/fluid_neighbours.h"

#include "sunder/base/bounds.h"
#include "sunder/base/parallel.h"
#include "sunder/base/profiler.h"

namespace sunder::fluid {

PairSums FluidNeighbours::sums(const FluidModel& model, std::span<const Vec4f> motion) const {
  return {place,
          motion,
          float(model.support),
          float(model.volume),
          &blocks,
          model.settings.periodic.lengths.cast<float>()};
}

size_t FluidNeighbours::bytes() const {
  return place.size() * 2 * sizeof(Vec4f) + grid.bytes() - grid.listBytes();
}

void findNeighbours(const FluidModel& model, FluidState& state, FluidNeighbours& neighbours) {
  const ProfileScope scope("neighbours");
  const PeriodicSides& sides = model.settings.periodic;
  spatial::PointGrid& grid = neighbours.grid;
  wrap(sides, state.positions);
  if (state.steps % model.settings.reorderEvery == 0) {
    grid.build(state.positions, model.support);
    const std::vector<uint32_t> order(grid.order().begin(), grid.order().end());
    reorderParticles(order, state);
  }
  if (sides.any()) {
    neighbours.periodic.neighbours(sides, state.positions, model.support, grid, neighbours.rows);
  } else {
    grid.build(state.positions, model.support);
    grid.neighbours(neighbours.rows);
  }
}

void placeParticles(std::span<const Vec3> positions, FluidNeighbours& neighbours) {
  const size_t n = positions.size();
  const Vec3 origin = neighbours.origin = n > 0 ? boundsOf(positions).center() : Vec3::Zero();
  neighbours.place.resize(n);
  neighbours.density.resize(n);
  parallelFor(n, [&](size_t i) {
    const Vec3f place = (positions[i] - origin).cast<float>();
    neighbours.place[i] = Vec4f(place.x(), place.y(), place.z(), 0);
  });
}

}  // namespace sunder::fluid
