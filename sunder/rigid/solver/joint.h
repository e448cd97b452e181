// Joints between two bodies, or between a body and the world. Anchors and axes are given in the world frame
// at the time the joint is made; the joint keeps them in the bodies' frames.
#pragma once

#include "sunder/base/index.h"
#include "sunder/base/math.h"

#include <limits>

namespace sunder::rigid {

struct BodyTag;
struct JointTag;
using BodyIndex = Index<BodyTag>;  // BodyIndex{} stands for the world
using JointIndex = Index<JointTag>;

enum class JointKind : uint8_t {
  Fixed,     // no relative motion
  Ball,      // the anchors stay together
  Hinge,     // and the axis stays aligned; motor and limits about it
  Distance,  // the anchors keep their distance: a rod, or with `slack` a rope
};

struct JointSettings {
  JointKind kind = JointKind::Ball;
  BodyIndex a, b;               // b is a body; a may be the world
  Vec3 anchorA = Vec3::Zero();  // world; Distance uses both, the others only anchorA
  Vec3 anchorB = Vec3::Zero();
  Vec3 axis = Vec3::UnitY();                                     // world; Hinge
  bool slack = false;                                            // Distance: may be shorter
  double lowerAngle = -std::numeric_limits<double>::infinity();  // Hinge, rad, from the pose it is made in
  double upperAngle = std::numeric_limits<double>::infinity();
  double motorSpeed = 0;                                         // Hinge, rad/s
  double motorTorque = 0;                                        // the most it uses, N m; 0: no motor
  double breakForce = std::numeric_limits<double>::infinity();   // N; the joint breaks above it
  double breakTorque = std::numeric_limits<double>::infinity();  // N m
  bool collide = false;                                          // whether the two bodies touch each other
};

struct JointState {
  bool broken = false;
  double force = 0, torque = 0;  // of the last step
  double angle = 0;              // Hinge
};

}  // namespace sunder::rigid
