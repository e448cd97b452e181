#include "read_field.h"

#include "sunder/base/log.h"
#include "sunder/sdf/hp/hp_field.h"
#include "sunder/sdf/mesh_field.h"

#include <filesystem>

namespace sunder::cli {

FieldInput readField(const std::string& path, const Settings& settings) {
  FieldInput input;
  if (std::filesystem::path(path).extension() == ".sdf") {
    input.field = std::make_unique<sdf::HpField>(sdf::HpField::read(path));
    return input;
  }
  input.surface = geometry::toTriMesh(readSurface(path, settings));
  auto exact = std::make_unique<sdf::MeshField>(*input.surface);
  for (const std::string& problem : exact->sign().problems()) logWarn("{}: {}", path, problem);
  input.field = std::move(exact);
  return input;
}

}  // namespace sunder::cli
