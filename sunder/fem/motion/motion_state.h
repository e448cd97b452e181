// What a Motion consists of. Private to the room.
#pragma once

#include "sunder/fem/motion/motion.h"
#include "sunder/fem/motion/newton.h"
#include "sunder/fem/motion/step_potential.h"
#include "sunder/fem/motion/step_system.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sunder::fem {

struct Motion::State {
  Solid* solid = nullptr;
  MotionSettings settings;
  std::vector<Vec3> positions, velocities;
  std::vector<Vec3> accelerations;  // of the last step: where the search of the next one starts
  uint64_t steps = 0;
  double elastic = -1;  // energy at `positions`; negative: not known

  // Made from the corners.
  std::vector<uint32_t> parts;  // of each vertex
  std::vector<double> partMasses;

  // Of the last step.
  std::vector<Vec3> reactions;

  // Work space.
  StepPotential potential;
  StepSystem system;
  Newton newton;
  std::vector<Vec3> x, predicted, free, loads, way, trial, nextVelocities;
  std::vector<uint8_t> partHeld, partActedOn;
  std::vector<Vec3> partSums;

  void findParts();
  // Loads as forces on vertices; what is held; where it is to be. Throws Error (Usage).
  void take(const Loads& loads, double h);
  void startSearch(double h, std::span<StepTerm* const> terms, const Loads& loads, StepReport& report);
  // Terms are brought up to date until none asks for more.
  void search(Newton::Task& task, StepReport& report);
  // Takes away what the search has left of the motion of whole parts.
  void balance(double h, bool converged);
  void requireFinite() const;
  double elasticEnergy();
  // What is set: Error (Usage) otherwise.
  void requireSet() const;
};

}  // namespace sunder::fem
