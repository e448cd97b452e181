// Fields and meshes for tests of the room.
#pragma once

#include "sunder/base/random.h"
#include "sunder/geometry/mesh.h"

#include "sdf/sdf_cases.h"

namespace sunder::tet {

using sdf::FunctionField;

inline FunctionField ballField() {
  return {[](const Vec3& p) { return p.norm() - 1; }, {Vec3::Constant(-1), Vec3::Constant(1)}};
}

// A hollow ball with a wall of 0.24.
inline FunctionField shellField() {
  return {[](const Vec3& p) { return std::abs(p.norm() - 0.88) - 0.12; },
          {Vec3::Constant(-1), Vec3::Constant(1)}};
}

// A sum of waves with random directions, in a box of side 2: caves and islands, no distance.
inline FunctionField waveField(uint64_t seed) {
  RandomStream random(seed, 77);
  std::vector<Vec3> direction;
  std::vector<double> phase;
  for (int i = 0; i < 6; ++i) {
    direction.push_back(random.uniform(2, 6) * random.unitVector());
    phase.push_back(random.uniform(0, 2 * kPi));
  }
  return {[direction, phase](const Vec3& p) {
            double sum = 0.3;
            for (size_t i = 0; i < direction.size(); ++i) sum += std::sin(direction[i].dot(p) + phase[i]);
            return sum / 6;
          },
          {Vec3::Constant(-1), Vec3::Constant(1)}};
}

}  // namespace sunder::tet
