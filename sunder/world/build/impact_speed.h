// From which speed on a contact is an impact.
#pragma once

#include "sunder/rigid/solver/simulation.h"

namespace sunder::world {

// m/s: contacts that approach more slowly rest. Solvers need some steps until each contact carries its load;
// until then bodies at rest fall as if nothing held them, up to the speed that gravity gives in a step.
double slowestImpact(const rigid::SimulationSettings& settings);

}  // namespace sunder::world
