#include "sunder/world/shape_library.h"

#include "sunder/base/file.h"
#include "sunder/base/hash.h"
#include "sunder/cut/cut.h"
#include "sunder/geometry/mesh_io.h"
#include "sunder/geometry/mesh_report.h"
#include "sunder/geometry/shapes.h"
#include "sunder/world/field_tree.h"
#include "sunder/world/scene_node.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace sunder::world {

namespace {

using Json = nlohmann::json;

// The mesh between the planes of "cut", in pieces.
cut::CutResult piecesOf(const geometry::TriMesh& mesh, std::span<const CutPlane> planes) {
  std::vector<geometry::PolygonSoup> cutters;
  for (const auto& [point, normal] : planes) {
    double reach = 0;
    for (const Vec3& p : mesh.positions) reach = std::max(reach, (p - point).norm());
    const Vec3 u = 1.1 * reach * normal.normalized().unitOrthogonal(), v = normal.normalized().cross(u);
    geometry::PolygonSoup plane;
    plane.positions = {point - u - v, point + u - v, point + u + v, point - u + v};
    plane.addFace(std::array<uint32_t, 4>{0, 1, 2, 3});
    cutters.push_back(std::move(plane));
  }
  return cut::cut(geometry::toSoup(mesh), cutters, {.triangles = true, .checkInput = true});
}

geometry::TriMesh meshOf(const SceneNode& node, bool whole = false) {
  geometry::TriMesh mesh;
  if (node.has("make")) {
    mesh = geometry::makeShape(node["make"].text(), shapeValues(node));
  } else {
    const geometry::MeshFile file = geometry::readMesh(node["file"].text());
    if (file.surface.faceCount() == 0)
      throw Error(ErrorKind::Geometry, "has no faces").inFile(node["file"].text());
    mesh = geometry::toTriMesh(file.surface);
  }
  const double scale = node.positive("scale", kPlain, 1);
  if (scale != 1)
    for (Vec3& p : mesh.positions) p *= scale;
  if (whole || !node.has("cut")) return mesh;
  return geometry::toTriMesh(cut::separate(piecesOf(mesh, cutPlanes(node))).at(node.whole("piece", 0)));
}

// What a procedural shape is turned from, if it is whole.
std::optional<geometry::Loft> loftOf(const SceneNode& node) {
  if (!node.has("make") || node.has("cut")) return std::nullopt;
  std::optional<geometry::Loft> loft = geometry::shapeLoft(node["make"].text(), shapeValues(node));
  if (loft)
    for (Vec2& p : loft->profile) p *= node.positive("scale", kPlain, 1);
  return loft;
}

std::string hashText(const std::string& path) {
  const InputFile file(path);
  return fmt::format("{:016x}", hash64(file.bytes()));
}

rigid::ShapePtr primitive(const SceneNode& node) {
  if (node.has("sphere")) return rigid::makeSphere(node["sphere"]["radius"].positive(kLength));
  if (node.has("box")) return rigid::makeBox(boxSides(node) / 2);
  if (node.has("capsule"))
    return rigid::makeCapsule(node["capsule"]["length"].positive(kLength) / 2,
                              node["capsule"]["radius"].positive(kLength));
  if (node.has("plane")) return rigid::makePlane();
  if (!node.has("hull")) return nullptr;
  std::vector<Vec3> points;
  const SceneNode list = node["hull"]["points"];
  for (size_t i = 0; i < list.size(); ++i) points.push_back(list[i].vector(kLength));
  return rigid::makeHull(points);
}

void buildOne(const SceneNode& node, const std::string& fileHash, BuiltShape& built) {
  built.shape = primitive(node);
  if (built.shape) return;
  rigid::SolidReport report;
  if (node.has("field")) {
    built.shape = rigid::makeSolid(makeField(node["field"]), solidSettings(node), &report);
  } else {
    if (node.has("file")) {
      built.file = node["file"].text();
      built.fileHash = hashText(built.file);
      if (!fileHash.empty() && fileHash != built.fileHash)
        node["file"].fail(
            fmt::format("{} is not the file it was: its hash is {}", built.file, built.fileHash),
            "bring the old file back, or start a new run");
    }
    const geometry::TriMesh mesh = meshOf(node);
    if (node.text("as", "solid") == "hull") {
      built.shape = rigid::makeHull(mesh.positions);
      return;
    }
    built.shape = rigid::makeSolid(mesh, solidSettings(node), &report);
    built.loft = loftOf(node);
  }
  built.problems = report.problems;
}

}  // namespace

Vec3 boxSides(const SceneNode& node) {
  const Vec3 sides = node["box"]["size"].vector(kLength);
  if (!(sides.minCoeff() > 0)) node["box"]["size"].fail("all three sides must be more than 0");
  return sides;
}

rigid::SolidSettings solidSettings(const SceneNode& node) {
  rigid::SolidSettings settings;
  if (!node.has("solid")) return settings;
  const SceneNode part = node["solid"];
  settings.fieldError = part.positive("error", kPlain, settings.fieldError);
  settings.surfacePoints = part.whole("points", settings.surfacePoints);
  settings.insidePoints = part.whole("insidePoints", settings.insidePoints);
  settings.cells = static_cast<uint32_t>(part.whole("cells", settings.cells));
  return settings;
}

geometry::ShapeValues shapeValues(const SceneNode& node) {
  geometry::ShapeValues values;
  if (!node.has("with")) return values;
  for (const auto& [key, value] : node["with"].json().items()) {
    // Lengths may have a unit; texts and choices pass as they are.
    std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    if (value.is_string() && key != "text" && !text.empty() &&
        (text[0] == '-' || (text[0] >= '0' && text[0] <= '9'))) {
      try {
        text = fmt::format("{}", parseQuantity(text, kLength));
      } catch (const Error& error) {
        node["with"].rethrow(error);
      }
    }
    values.emplace(key, text);
  }
  return values;
}

std::string shapeTitle(const Scene& scene, const ShapeSpec& spec) {
  if (!spec.name.empty()) return spec.name;
  const Json json = Json::parse(spec.json);
  if (json.contains("make")) return json["make"].get<std::string>();
  if (json.contains("file")) return std::filesystem::path(json["file"].get<std::string>()).stem().string();
  for (const char* kind : {"sphere", "box", "capsule", "plane", "hull", "field"})
    if (json.contains(kind)) return kind;
  (void)scene;
  return "shape";
}

std::optional<geometry::TriMesh> sourceMesh(const Scene& scene, const ShapeSpec& spec, std::string* file) {
  const Json json = Json::parse(spec.json);
  const SceneNode node(scene.document, json, spec.pointer);
  if (!node.has("file") && !node.has("make")) return std::nullopt;
  if (file && node.has("file")) *file = node["file"].text();
  try {
    return meshOf(node, true);
  } catch (const Error& error) {
    node.rethrow(error);
  }
}

std::vector<CutPlane> cutPlanes(const SceneNode& shape) {
  const SceneNode list = shape["cut"];
  std::vector<CutPlane> planes;
  for (size_t i = 0; i < list.size(); ++i) {
    planes.push_back(
        {list[i].vector("point", kLength, Vec3::Zero()), list[i].vector("normal", kPlain, Vec3::UnitY())});
    if (!(planes.back().normal.norm() > 0)) list[i].fail("the normal has no direction");
  }
  return planes;
}

std::vector<double> pieceVolumes(const Scene& scene, const ShapeSpec& spec, const geometry::TriMesh& mesh) {
  const Json json = Json::parse(spec.json);
  const SceneNode node(scene.document, json, spec.pointer);
  try {
    return piecesOf(mesh, cutPlanes(node)).volume;
  } catch (const Error& error) {
    node.rethrow(error);
  }
}

std::vector<BuiltShape> buildShapes(const Scene& scene,
                                    const std::function<void(size_t, const std::string&)>& progress) {
  std::vector<BuiltShape> built(scene.shapes.size());
  for (size_t i = 0; i < built.size(); ++i) {
    const ShapeSpec& spec = scene.shapes[i];
    if (progress) progress(i, shapeTitle(scene, spec));
    const Json json = Json::parse(spec.json);
    const SceneNode node(scene.document, json, spec.pointer);
    try {
      buildOne(node, spec.fileHash, built[i]);
    } catch (const Error& error) {
      // An error that names a mesh file is told with the place in the scene that asks for it.
      if (error.message().find(": ") != std::string::npos && error.file().ends_with(".json")) throw;
      node.rethrow(error);
    }
  }
  return built;
}

}  // namespace sunder::world
