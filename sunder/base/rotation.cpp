#include "sunder/base/rotation.h"

namespace sunder {

Quat rotationBetween(const Vec3& from, const Vec3& to) { return Quat::FromTwoVectors(from, to); }

}  // namespace sunder
