// A place in a scene document, for reading values with their units. The schema has checked keys and types
// before; what is found wrong here (a unit, a range, a name that does not exist) throws Error (Format) with
// file and line.
#pragma once

#include "sunder/base/box.h"
#include "sunder/base/math.h"
#include "sunder/rigid/shape/pose.h"
#include "sunder/world/scene/scene_document.h"
#include "sunder/world/scene/units.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sunder {
class Json;
}

namespace sunder::world {

// Quantities beyond it, and positive ones below its inverse, are refused: their squares and products must
// stay finite, and trees hold places as floats.
inline constexpr double kLargestQuantity = 1e30;

class SceneNode {
 public:
  SceneNode(const SceneDocument& document, const Json& json, std::string pointer)
      : document_(&document), json_(&json), pointer_(std::move(pointer)) {}

  const Json& json() const { return *json_; }
  const std::string& pointer() const { return pointer_; }
  const SceneDocument& document() const { return *document_; }

  bool has(const char* key) const;
  SceneNode operator[](const char* key) const;  // has(key)
  SceneNode operator[](size_t i) const;
  size_t size() const;
  std::vector<std::string> keys() const;

  std::string text() const;
  bool flag() const;
  uint64_t whole() const;
  double quantity(const Dimension& dimension) const;
  double positive(const Dimension& dimension) const;
  double notNegative(const Dimension& dimension) const;
  Vec3 vector(const Dimension& dimension) const;
  Vec3 direction() const;  // of unit length
  Quat rotation() const;
  Box3 box() const;  // of "lower" and "upper"

  // With a value for where the key is not there.
  double quantity(const char* key, const Dimension& dimension, double otherwise) const;
  double positive(const char* key, const Dimension& dimension, double otherwise) const;
  double notNegative(const char* key, const Dimension& dimension, double otherwise) const;
  Vec3 vector(const char* key, const Dimension& dimension, const Vec3& otherwise) const;
  Quat rotation(const char* key) const;
  bool flag(const char* key, bool otherwise) const;
  uint64_t whole(const char* key, uint64_t otherwise) const;
  std::string text(const char* key, const std::string& otherwise) const;

  // The one of `choices` that is there; an error where none or several are.
  std::string oneOf(std::span<const std::string_view> choices) const;

  [[noreturn]] void fail(const std::string& message, const std::string& hint = "") const;
  // Adds the place to an error of a lower room.
  [[noreturn]] void rethrow(const Error& error) const;

 private:
  const SceneDocument* document_;
  const Json* json_;
  std::string pointer_;
};

}  // namespace sunder::world
