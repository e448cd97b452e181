// How contacts lie in memory while they are solved. A unit is up to four contacts of one pair of bodies; a
// block is four units of one colour (no body that moves is in two of them), one a lane. Constants and
// impulses are stored as float and computed with as double: that halves the memory that streams through the
// solver.
//
// The first body p of a unit always moves; the arm of the second is computed from that of the first and the
// distance of the centres, in double, so both arms end in the very same point and angular momentum is
// conserved to rounding.
#pragma once

#include "sunder/rigid/solver/solver_body.h"

#include <cstdint>
#include <span>

namespace sunder::rigid {

inline constexpr uint32_t kLanes = 4;
inline constexpr uint32_t kMostRows = 4;  // contacts of a unit

struct alignas(64) ContactRow {
  float normal[3][kLanes];   // from p to q
  float arm[3][kLanes];      // from the centre of p
  float coupled[3][kLanes];  // inverse mass matrix times the normal: what friction does to the normal speed
  float normalMass[kLanes], frictionMass[kLanes];
  float startSeparation[kLanes], separation[kLanes];
  float normalImpulse[kLanes], friction[3][kLanes];  // of a substep
  float total[kLanes];                               // of the normal impulse over the substeps
};

struct alignas(64) ContactBlock {
  uint32_t p[kLanes],
      q[kLanes];          // bodies; an empty lane has the number of bodies, where the resting dummy is
  uint32_t unit[kLanes];  // kNoIndex for empty lanes
  uint32_t firstRow = 0, rows = 0;
  uint32_t writeP = 0, writeQ = 0;  // lanes whose bodies move
  uint32_t rolls = 0;               // some lane has rolling friction
  double between[3][kLanes];        // centre of p - centre of q at the start of the step
  float friction[kLanes], rolling[kLanes];
  float bouncy[kLanes];  // a tiny impulse where the pair has restitution, else 0
  float biasRate[kLanes], massScale[kLanes], impulseScale[kLanes], slop[kLanes];
  float rollingMass[kLanes], rollingImpulse[3][kLanes];
};

struct SolveConstants {
  double inverseSubstep = 0;
  double pushSpeed = 0;
  double waitSpeed = 0;  // approaches of bouncy contacts above it are left to the impacts
};

namespace kernels {

// Each works on blocks of one colour; `rows` is the array of all rows.
// Effective masses of the rows, from the bodies' inverse masses.
void prepareContacts(std::span<ContactBlock> blocks, ContactRow* rows, const SolverBody* solverBodies);
// The same again for blocks with a body that has turned so far in this step that its inertia in the world is
// another: with the masses of the start, impulses on slender bodies would be far too large.
void refreshContacts(std::span<ContactBlock> blocks, ContactRow* rows, const SolverBody* solverBodies);
void warmStartContacts(std::span<const ContactBlock> blocks, const ContactRow* rows,
                       SolverBody* solverBodies);
// With the position bias; then, after the bodies moved, without.
void solveContacts(std::span<ContactBlock> blocks, ContactRow* rows, SolverBody* solverBodies,
                   const SolveConstants& constants);
void relaxContacts(std::span<ContactBlock> blocks, ContactRow* rows, SolverBody* solverBodies,
                   const SolveConstants& constants);

}  // namespace kernels

}  // namespace sunder::rigid
