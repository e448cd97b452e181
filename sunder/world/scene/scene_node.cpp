#include "sunder/world/scene/scene_node.h"

#include "sunder/base/json.h"
#include "sunder/base/text.h"

#include <cmath>

#include <fmt/core.h>

namespace sunder::world {

namespace {

// What has unit length but for rounding stays as it is: directions that were written once are read as the
// same bits.
bool isUnit(double squaredLength) { return std::abs(squaredLength - 1) <= 4e-15; }

// What `read` returns; its errors get the place. Only the schema of a part may let such values pass.
template <class Read>
decltype(auto) valueOf(const SceneNode& node, Read&& read) {
  try {
    return read();
  } catch (const Error& error) {
    node.fail(error.message());
  }
}

}  // namespace

bool SceneNode::has(const char* key) const { return json_->contains(key); }

SceneNode SceneNode::operator[](const char* key) const {
  return {*document_, valueOf(*this, [&]() -> const Json& { return json_->at(key); }), pointer_ + "/" + key};
}

SceneNode SceneNode::operator[](size_t i) const {
  return {*document_, valueOf(*this, [&]() -> const Json& { return json_->at(i); }),
          fmt::format("{}/{}", pointer_, i)};
}

size_t SceneNode::size() const { return json_->size(); }

std::vector<std::string> SceneNode::keys() const {
  std::vector<std::string> keys;
  if (json_->isObject())
    for (const auto& [key, value] : json_->members()) keys.push_back(key);
  return keys;
}

std::string SceneNode::text() const {
  return valueOf(*this, [&] { return json_->string(); });
}
bool SceneNode::flag() const {
  return valueOf(*this, [&] { return json_->boolean(); });
}
uint64_t SceneNode::whole() const {
  return valueOf(*this, [&] { return json_->whole(); });
}

double SceneNode::quantity(const Dimension& dimension) const {
  double value = 0;
  if (json_->isNumber()) {
    value = json_->number();
  } else {
    try {
      value = parseQuantity(json_->string(), dimension);
    } catch (const Error& error) {
      rethrow(error);
    }
  }
  if (!(std::abs(value) <= kLargestQuantity))
    fail(fmt::format("{:g} is too large", value),
         fmt::format("numbers of a scene reach to {:g}", kLargestQuantity));
  return value;
}

double SceneNode::positive(const Dimension& dimension) const {
  const double value = quantity(dimension);
  if (!(value > 0))
    fail(fmt::format("{:g} must be more than 0", value), fmt::format("write {}", dimension.example));
  if (value < 1 / kLargestQuantity)
    fail(fmt::format("{:g} is too small", value), fmt::format("the least is {:g}", 1 / kLargestQuantity));
  return value;
}

double SceneNode::notNegative(const Dimension& dimension) const {
  const double value = quantity(dimension);
  if (!(value >= 0)) fail(fmt::format("{:g} must not be negative", value));
  return value;
}

Vec3 SceneNode::vector(const Dimension& dimension) const {
  Vec3 v;
  for (size_t k = 0; k < 3; ++k) v[static_cast<int>(k)] = (*this)[k].quantity(dimension);
  return v;
}

Vec3 SceneNode::direction() const {
  const Vec3 v = vector(kPlain);
  if (!(v.norm() > 1e-12) || !std::isfinite(v.norm()))
    fail("a direction must not be zero", "write [0, 1, 0]");
  return isUnit(v.squaredNorm()) ? v : v.normalized();
}

Quat SceneNode::rotation() const {
  const bool axis = has("axis"), degrees = has("degrees"), quaternion = has("quaternion");
  if (axis + degrees + quaternion != 1 || axis != has("angle"))
    fail("a rotation is one of: axis and angle, degrees, quaternion",
         "write {\"axis\": [0, 1, 0], \"angle\": \"45 deg\"} or {\"degrees\": [0, 45, 0]}");
  if (axis) return Quat(Eigen::AngleAxisd((*this)["angle"].quantity(kAngle), (*this)["axis"].direction()));
  if (degrees) {
    const Vec3 angles = (*this)["degrees"].vector(kPlain) * (kPi / 180);
    return Quat(Eigen::AngleAxisd(angles.z(), Vec3::UnitZ()) * Eigen::AngleAxisd(angles.y(), Vec3::UnitY()) *
                Eigen::AngleAxisd(angles.x(), Vec3::UnitX()));
  }
  const SceneNode node = (*this)["quaternion"];
  const Quat q(node[size_t(0)].quantity(kPlain), node[size_t(1)].quantity(kPlain),
               node[size_t(2)].quantity(kPlain), node[size_t(3)].quantity(kPlain));
  if (!(q.norm() > 1e-9) || !std::isfinite(q.norm()))
    node.fail("a quaternion must not be zero", "write [1, 0, 0, 0]");
  return isUnit(q.squaredNorm()) ? q : q.normalized();
}

Box3 SceneNode::box() const {
  const Box3 box{(*this)["lower"].vector(kLength), (*this)["upper"].vector(kLength)};
  if (box.empty()) (*this)["upper"].fail("the upper corner must be above the lower one");
  return box;
}

double SceneNode::quantity(const char* key, const Dimension& dimension, double otherwise) const {
  return has(key) ? (*this)[key].quantity(dimension) : otherwise;
}
double SceneNode::positive(const char* key, const Dimension& dimension, double otherwise) const {
  return has(key) ? (*this)[key].positive(dimension) : otherwise;
}
double SceneNode::notNegative(const char* key, const Dimension& dimension, double otherwise) const {
  return has(key) ? (*this)[key].notNegative(dimension) : otherwise;
}
Vec3 SceneNode::vector(const char* key, const Dimension& dimension, const Vec3& otherwise) const {
  return has(key) ? (*this)[key].vector(dimension) : otherwise;
}
Quat SceneNode::rotation(const char* key) const {
  return has(key) ? (*this)[key].rotation() : Quat::Identity();
}
bool SceneNode::flag(const char* key, bool otherwise) const {
  return has(key) ? (*this)[key].flag() : otherwise;
}
uint64_t SceneNode::whole(const char* key, uint64_t otherwise) const {
  return has(key) ? (*this)[key].whole() : otherwise;
}
std::string SceneNode::text(const char* key, const std::string& otherwise) const {
  return has(key) ? (*this)[key].text() : otherwise;
}

std::string SceneNode::oneOf(std::span<const std::string_view> choices) const {
  std::string found;
  for (const std::string_view choice : choices) {
    if (!json_->contains(choice)) continue;
    if (!found.empty())
      fail(fmt::format("has both \"{}\" and \"{}\", but only one may be there", found, choice));
    found = choice;
  }
  if (found.empty()) fail("says nothing of what it is", "give one of: " + joinNames(choices));
  return found;
}

void SceneNode::fail(const std::string& message, const std::string& hint) const {
  throw document_->error(pointer_, message).hint(hint);
}

void SceneNode::rethrow(const Error& error) const { document_->rethrow(error, pointer_); }

}  // namespace sunder::world
