// The field that a verb works on: a field file (.sdf), or the exact distance to a mesh file, whose defects
// are told as warnings.
#pragma once

#include "sunder/geometry/mesh.h"
#include "sunder/sdf/field.h"

#include "command.h"

#include <memory>
#include <optional>

namespace sunder::cli {

struct FieldInput {
  std::unique_ptr<sdf::Field> field;
  std::optional<geometry::TriMesh> surface;  // where it is a mesh
};
FieldInput readField(const std::string& path, const Settings& settings);

}  // namespace sunder::cli
