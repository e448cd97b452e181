#include "sunder/fracture/model/contact_pulse.h"

#include "sunder/base/error.h"

#include <algorithm>
#include <cmath>

namespace sunder::fracture {

namespace {

// 2.9433 (15/16)^(2/5), with 2.9433 = 4/5 sqrt(pi) Gamma(2/5) / Gamma(9/10): Johnson, Contact
// Mechanics, 11.24.
double hertzConstant() {
  return 0.8 * std::sqrt(kPi) * std::tgamma(0.4) / std::tgamma(0.9) * std::pow(15.0 / 16, 0.4);
}

// The part of the impulse that has come by this part of the duration.
double arrived(PulseForm form, double part) {
  part = std::clamp(part, 0.0, 1.0);
  return form == PulseForm::Constant ? part : 0.5 * (1 - std::cos(kPi * part));
}

}  // namespace

double contactDuration(const ContactModel& model, const ContactSide& struck, const ContactSide& other,
                       double speed) {
  if (!(struck.mass > 0) || !(struck.young > 0) || !(struck.radius > 0) || !(model.scale > 0) ||
      !(model.leastSpeed > 0) || !(other.mass > 0) || !(other.young > 0) || !(other.radius > 0))
    throw Error(ErrorKind::Usage, "a contact needs positive masses, moduli, radii and scale");
  const double v = std::max(speed, model.leastSpeed);
  if (model.duration == DurationModel::Source)
    return model.scale *
           std::pow(struck.mass * struck.mass / (struck.young * struck.young * struck.radius * v), 0.2);
  // Of an infinite one nothing is left.
  const auto compliance = [](const ContactSide& s) { return (1 - s.poisson * s.poisson) / s.young; };
  const double mass = 1 / (1 / struck.mass + 1 / other.mass);
  const double modulus = 1 / (compliance(struck) + compliance(other));
  const double radius = 1 / (1 / struck.radius + 1 / other.radius);
  return model.scale * hertzConstant() * std::pow(mass * mass / (modulus * modulus * radius * v), 0.2);
}

Vec3 Pulse::meanForce(double from, double to) const {
  return impulse * ((arrived(form, to / duration) - arrived(form, from / duration)) / (to - from));
}

}  // namespace sunder::fracture
