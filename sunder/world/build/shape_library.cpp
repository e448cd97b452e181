#include "sunder/world/build/shape_library.h"

#include "sunder/base/file.h"
#include "sunder/base/hash.h"
#include "sunder/cut/cut.h"
#include "sunder/geometry/components.h"
#include "sunder/geometry/mesh_report.h"
#include "sunder/meshio/mesh_file.h"
#include "sunder/shapes/catalogue.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

namespace sunder::world {

namespace {

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

// One of the pieces. `interior` receives, by triangle, 1 where a plane made it.
geometry::TriMesh pieceOf(const cut::CutResult& pieces, size_t number, std::vector<uint8_t>& interior) {
  const auto parts =
      geometry::splitComponents(pieces.mesh, geometry::Components{pieces.fragments, pieces.fragment});
  const geometry::SoupPart& part = parts.at(number);
  std::vector<uint32_t> faces;
  geometry::TriMesh mesh = geometry::toTriMesh(part.mesh, &faces);
  interior.clear();
  for (const uint32_t face : faces) interior.push_back(pieces.fromCutter[part.faceSource[face]]);
  return mesh;
}

geometry::TriMesh meshOf(const MeshShape& shape, std::vector<uint8_t>& interior) {
  const geometry::TriMesh mesh = sourceMesh(shape);
  if (shape.cut.empty()) return mesh;
  return pieceOf(piecesOf(mesh, shape.cut), shape.piece, interior);
}

// What a procedural shape is turned from, if it is whole.
std::optional<shapes::Loft> loftOf(const MeshShape& shape) {
  if (!shape.file.empty() || !shape.cut.empty()) return std::nullopt;
  std::optional<shapes::Loft> loft = shapes::shapeLoft(shape.make, shape.with);
  if (loft)
    for (Vec2& p : loft->profile) p *= shape.scale;
  return loft;
}

std::string hashText(const std::string& path) {
  const InputFile file(path);
  return fmt::format("{:016x}", hash64(file.bytes()));
}

// Builds one shape of each kind.
struct ShapeBuilder {
  const Scene& scene;
  const ShapeSpec& spec;
  BuiltShape& built;
  rigid::SolidReport report = {};

  void operator()(const SphereShape& s) { built.shape = rigid::makeSphere(s.radius); }
  void operator()(const BoxShape& s) { built.shape = rigid::makeBox(s.size / 2); }
  void operator()(const CapsuleShape& s) { built.shape = rigid::makeCapsule(s.length / 2, s.radius); }
  void operator()(const PlaneShape&) { built.shape = rigid::makePlane(); }
  void operator()(const HullShape& s) { built.shape = rigid::makeHull(s.points); }
  void operator()(const FieldShape& s) { built.shape = rigid::makeSolid(s.field, s.solid, &report); }
  void operator()(const MeshShape& s) {
    if (!s.file.empty()) {
      built.file = s.file;
      built.fileHash = hashText(s.file);
      if (!spec.fileHash.empty() && spec.fileHash != built.fileHash)
        throw scene.document
            .error(spec.pointer + "/file",
                   fmt::format("{} is not the file it was: its hash is {}", built.file, built.fileHash))
            .hint("bring the old file back, or start a new run");
    }
    std::vector<uint8_t> interior;
    const geometry::TriMesh mesh = meshOf(s, interior);
    if (s.hull) {
      built.shape = rigid::makeHull(mesh.positions);
      return;
    }
    built.shape = rigid::makeSolid(mesh, s.solid, &report);
    if (interior.size() == built.shape->surface().triangles.size()) built.interior = std::move(interior);
    built.loft = loftOf(s);
  }
};

}  // namespace

rigid::SolidSettings solidSettings(const ShapeValue& shape) {
  if (const auto* mesh = std::get_if<MeshShape>(&shape)) return mesh->solid;
  if (const auto* formula = std::get_if<FieldShape>(&shape)) return formula->solid;
  return {};
}

std::string shapeTitle(const ShapeSpec& spec) { return spec.name.empty() ? kindName(spec.value) : spec.name; }

geometry::TriMesh sourceMesh(const MeshShape& shape) {
  geometry::TriMesh mesh;
  if (shape.file.empty()) {
    mesh = shapes::makeShape(shape.make, shape.with);
  } else {
    const meshio::MeshFile file = meshio::readMesh(shape.file);
    if (file.surface.faceCount() == 0) throw Error(ErrorKind::Geometry, "has no faces").inFile(shape.file);
    mesh = geometry::toTriMesh(file.surface);
  }
  if (shape.scale != 1)
    for (Vec3& p : mesh.positions) p *= shape.scale;
  return mesh;
}

geometry::TriMesh sourceMeshAt(const Scene& scene, const ShapeSpec& spec, const MeshShape& shape) {
  try {
    return sourceMesh(shape);
  } catch (const Error& error) {
    scene.document.rethrow(error, spec.pointer);
  }
}

std::vector<double> pieceVolumes(const geometry::TriMesh& mesh, std::span<const CutPlane> planes) {
  return piecesOf(mesh, planes).volume;
}

std::vector<BuiltShape> buildShapes(const Scene& scene,
                                    const std::function<void(size_t, const std::string&)>& progress) {
  std::vector<BuiltShape> built(scene.shapes.size());
  for (size_t i = 0; i < built.size(); ++i) {
    const ShapeSpec& spec = scene.shapes[i];
    if (progress) progress(i, shapeTitle(spec));
    try {
      ShapeBuilder builder{scene, spec, built[i]};
      std::visit(builder, spec.value);
      built[i].problems = std::move(builder.report.problems);
    } catch (const Error& error) {
      // An error that names a mesh file is told with the place in the scene that asks for it.
      if (scene.document.placed(error)) throw;
      scene.document.rethrow(error, spec.pointer);
    }
  }
  return built;
}

}  // namespace sunder::world
