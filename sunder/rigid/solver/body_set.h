// The bodies of a simulation: what stays (BodyConstants) and what changes in a step (BodyState, arrays by
// body index), kept at the centre of mass along the principal axes.
#pragma once

#include "sunder/rigid/solver/simulation.h"
#include "sunder/rigid/solver/solver_body.h"

#include <vector>

namespace sunder::rigid {

// What every step asks of every body comes first.
struct BodyConstants {
  BodyKind kind = BodyKind::Dynamic;
  bool plane = false, ball = false;
  bool round = false;  // equal principal inertias
  bool canSleep = true;
  uint32_t category = 1, mask = 0, group = 0;
  double outer = 0, inner = 0;       // radii
  double mass = 0, inverseMass = 0;  // 0 inverse where not dynamic
  double gravityScale = 1, linearDamping = 0, angularDamping = 0;
  Vec3 inertia = Vec3::Zero(), inverseInertia = Vec3::Zero();
  Surface surface;
  Pose massFrame, fromMassFrame;  // in the model frame, and the way back
  ShapePtr shape;
  std::string name;

  bool dynamic() const { return kind == BodyKind::Dynamic; }
  // How far ahead of it contacts are looked for at most. Not just as far as its walls are thick: of two
  // bodies that touch somewhere already, nothing but contacts keeps the rest of thin walls apart.
  double ahead() const { return std::max(inner, 0.5 * outer); }
};

struct BodyState {
  std::vector<uint8_t> exists, awake, hasTarget;
  std::vector<Vec3> position;          // of the centre of mass
  std::vector<Quat> rotation;          // of the principal axes
  std::vector<Pose> modelPose;         // of the model frame, follows from both
  std::vector<SolverBody> solverBody;  // one more than bodies: the last is the resting dummy
  std::vector<Vec3> force, torque;
  std::vector<double> quiet;     // s since it last was faster than the sleeping speed
  std::vector<uint32_t> island;  // of sleeping bodies: the smallest body of the island it sleeps in
  std::vector<Pose> target;      // kinematic: where to be at the end of the next step, of the principal axes
};

class BodySet {
 public:
  uint32_t add(const BodySettings& settings);
  uint32_t count() const { return uint32_t(constants.size()); }
  uint32_t dummy() const { return count(); }

  // Whether the solver may move it.
  bool moves(uint32_t body) const { return state.solverBody[body].movable(); }
  bool dynamicAwake(uint32_t body) const { return constants[body].dynamic() && state.awake[body]; }
  // Whether something may happen to its pairs: awake and dynamic, or kinematic and on its way.
  bool active(uint32_t body) const;
  // Moves it with its velocity, free of forces, for `time`, which may be negative; not its model pose.
  void move(uint32_t body, double time);
  void updateModelPose(uint32_t body);
  void setModelPose(uint32_t body, const Pose& pose);
  // Inverse mass and inertia of the body as the body's kind, sleep and orientation say.
  void refreshSolverBody(uint32_t body);
  void wake(uint32_t body);
  // Bounds now.
  Box3 bounds(uint32_t body) const { return heads[body].bounds(state.modelPose[body]); }
  std::string describe(uint32_t body) const;  // "body 3 'crate'"

  std::vector<BodyConstants> constants;
  std::vector<ShapeHead> heads;  // of the constants' shapes
  bool solids = false;           // whether there is one
  BodyState state;
};

}  // namespace sunder::rigid
