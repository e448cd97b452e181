// What an impact does to a brittle body: how long it lasts and the force over that time (specification 07,
// M1).
//
//   source  dt = c (m^2 / (k^2 r v))^(1/5): mass m and Young's modulus k of the struck body, r from the
//   contact to
//           its centre of mass, v the relative normal speed
//   hertz   dt = 2.868 (m*^2 / (E*^2 R v))^(1/5): elastic balls with the masses, moduli and radii of both
//
// The source's impacts are 2.9 times as short as Hertz's, and as hard.
#pragma once

#include "sunder/base/math.h"

#include <limits>

namespace sunder::fracture {

enum class DurationModel { Source, Hertz };
enum class PulseForm {
  Constant,
  Sine,  // half a wave: starts and ends at zero
};

struct ContactModel {
  DurationModel duration = DurationModel::Source;
  double scale = 1;          // c
  double leastSpeed = 1e-3;  // m/s: slower contacts last as long as this one
  PulseForm form = PulseForm::Constant;
};

// One side of a contact.
struct ContactSide {
  double mass = std::numeric_limits<double>::infinity();   // kg
  double young = std::numeric_limits<double>::infinity();  // Pa
  double poisson = 0;
  double radius = std::numeric_limits<double>::infinity();  // m: from the contact to the centre of mass
};

// Seconds. Throws Error (Usage) for numbers that are not positive.
double contactDuration(const ContactModel& model, const ContactSide& struck, const ContactSide& other,
                       double speed);

// A force over the time from 0 to `duration` whose integral is the impulse.
struct Pulse {
  Vec3 impulse = Vec3::Zero();
  double duration = 1;
  PulseForm form = PulseForm::Constant;

  // The mean force over a span of time; means over spans that follow each other add up to the impulse.
  Vec3 meanForce(double from, double to) const;
};

}  // namespace sunder::fracture
