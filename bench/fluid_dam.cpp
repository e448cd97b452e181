#include "fluid_dam.h"

#include "sunder/fluid/boundary/density_map.h"
#include "sunder/fluid/fill.h"
#include "sunder/sdf/analytic_field.h"

#include <memory>

namespace sunder::bench {

using namespace fluid;

Fluid dam(uint32_t side, FluidSettings settings) {
  settings.radius = 0.02;
  Fluid fluid(settings);
  fluid.addPhase({});
  const double spacing = 0.04, edge = side * spacing;
  const Box3 tank{Vec3::Zero(), Vec3(3 * edge, 2 * edge, edge)};
  Box3 domain = tank;
  domain.lower.array() -= 0.3;
  domain.upper.array() += 0.3;
  BoundaryBody body;
  body.map = std::make_shared<const DensityMap>(
      *sdf::makeBoxField(tank), domain,
      DensityMapSettings{.support = 0.08, .cell = 0, .offset = 0.5, .outside = true});
  fluid.addBody(body);
  fluid.add(fillBox({Vec3::Zero(), Vec3::Constant(edge)}, spacing), Vec3::Zero());
  fluid.relax();
  return fluid;
}

}  // namespace sunder::bench
