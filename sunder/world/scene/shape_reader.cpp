#include "sunder/world/scene/shape_reader.h"

#include "sunder/base/json.h"
#include "sunder/world/scene/field_tree.h"

#include <array>
#include <filesystem>

#include <fmt/core.h>

namespace sunder::world {

namespace {

constexpr std::array<std::string_view, 8> kShapeKinds{"sphere", "box",  "capsule", "plane",
                                                      "hull",   "file", "make",    "field"};

shapes::ShapeValues readParameters(const SceneNode& node) {
  shapes::ShapeValues values;
  for (const auto& [key, value] : node.json().members()) {
    // Lengths may have a unit; texts and choices pass as they are.
    std::string text = value.isString() ? value.string() : value.text();
    if (value.isString() && key != "text" && !text.empty() &&
        (text[0] == '-' || (text[0] >= '0' && text[0] <= '9'))) {
      try {
        text = fmt::format("{}", parseQuantity(text, kLength));
      } catch (const Error& error) {
        node.rethrow(error);
      }
    }
    values.emplace(key, text);
  }
  return values;
}

rigid::SolidSettings readSolid(const SceneNode& shape) {
  rigid::SolidSettings settings;
  if (!shape.has("solid")) return settings;
  const SceneNode part = shape["solid"];
  settings.fieldError = part.positive("error", kPlain, settings.fieldError);
  settings.surfacePoints = part.whole("points", settings.surfacePoints);
  settings.insidePoints = part.whole("insidePoints", settings.insidePoints);
  settings.cells = static_cast<uint32_t>(part.whole("cells", settings.cells));
  return settings;
}

MeshShape readMeshShape(const SceneNode& node) {
  MeshShape mesh;
  if (node.has("file"))
    mesh.file = node["file"].text();
  else
    mesh.make = node["make"].text();
  if (node.has("with")) mesh.with = readParameters(node["with"]);
  mesh.scale = node.positive("scale", kPlain, 1);
  mesh.hull = node.text("as", "solid") == "hull";
  mesh.solid = readSolid(node);
  return mesh;
}

}  // namespace

std::string kindName(const ShapeValue& shape) {
  constexpr std::array<const char*, 7> kNames{"sphere", "box", "capsule", "plane", "hull", "mesh", "field"};
  if (const auto* mesh = std::get_if<MeshShape>(&shape))
    return mesh->file.empty() ? mesh->make : std::filesystem::path(mesh->file).stem().string();
  return kNames[shape.index()];
}

void requireShape(const SceneNode& node, const std::string& name) {
  if (node.json().isString())
    node.fail(fmt::format("the shape \"{}\" is only a name", name),
              "describe it: {\"sphere\": {\"radius\": 0.1}}");
  const std::string kind = node.oneOf(kShapeKinds);
  const bool mesh = kind == "file" || kind == "make";
  for (const char* key : {"scale", "as"})
    if (node.has(key) && !mesh)
      node[key].fail(fmt::format("goes with \"file\" or \"make\", not with \"{}\"", kind));
  if (node.has("solid") && !mesh && kind != "field")
    node["solid"].fail(fmt::format("goes with \"file\", \"make\" or \"field\", not with \"{}\"", kind));
  if (node.has("with") && kind != "make") node["with"].fail("goes with \"make\"");
  if (node.has("hash") && kind != "file") node["hash"].fail("goes with \"file\"");
  if (kind == "file" && node["file"].text().empty())
    node["file"].fail("the name of the file is empty", "name a mesh file, relative to the scene");
}

ShapeValue readShape(const SceneNode& node) {
  const std::string kind = node.oneOf(kShapeKinds);
  if (kind == "sphere") return SphereShape{node["sphere"]["radius"].positive(kLength)};
  if (kind == "box") {
    const BoxShape box{node["box"]["size"].vector(kLength)};
    if (!(box.size.minCoeff() > 0)) node["box"]["size"].fail("all three sides must be more than 0");
    return box;
  }
  if (kind == "capsule")
    return CapsuleShape{node["capsule"]["length"].positive(kLength),
                        node["capsule"]["radius"].positive(kLength)};
  if (kind == "plane") return PlaneShape{};
  if (kind == "hull") {
    HullShape hull;
    const SceneNode list = node["hull"]["points"];
    for (size_t i = 0; i < list.size(); ++i) hull.points.push_back(list[i].vector(kLength));
    return hull;
  }
  if (kind == "field") {
    ReadField read = readField(node["field"]);
    const double leaves = fieldLeaves(read.value);
    return FieldShape{std::move(read.value), readSolid(node), std::move(read.field), leaves};
  }
  return readMeshShape(node);
}

std::vector<CutPlane> readCutPlanes(const SceneNode& list) {
  std::vector<CutPlane> planes;
  for (size_t i = 0; i < list.size(); ++i) {
    planes.push_back(
        {list[i].vector("point", kLength, Vec3::Zero()), list[i].vector("normal", kPlain, Vec3::UnitY())});
    if (!(planes.back().normal.norm() > 0)) list[i].fail("the normal has no direction");
  }
  return planes;
}

}  // namespace sunder::world
