#include "sunder/world/build/soft_library.h"

#include "sunder/base/box.h"
#include "sunder/base/error.h"
#include "sunder/base/file.h"
#include "sunder/base/hash.h"
#include "sunder/meshio/mesh_file.h"
#include "sunder/sdf/mesh_field.h"
#include "sunder/soft/cage/auto_cage.h"
#include "sunder/soft/cage/cage_parts.h"
#include "sunder/soft/embed/embedded_surface.h"
#include "sunder/soft/spheres/masses.h"
#include "sunder/soft/walls/walls.h"

#include <map>
#include <tuple>

#include <fmt/format.h>

namespace sunder::world {

namespace {

// From one collision sphere to the next, as a part of the cage's edges: what lies between the vertices moves
// with them, so finer spheres only follow the surface better.
constexpr double kSpheresAnEdge = 0.4;

soft::Cage cageOf(const Scene& scene, const SoftBodySpec& body, const geometry::TriMesh& surface) {
  const SoftSpec& soft = body.soft;
  if (soft.cage.empty()) return soft::makeCageAround(surface, {.tets = soft.tets}, nullptr);
  const std::string hash = fmt::format("{:016x}", hash64(InputFile(soft.cage).bytes()));
  if (!soft.cageHash.empty() && soft.cageHash != hash)
    throw Error(ErrorKind::Format, fmt::format("is not the file it was: its hash is {}", hash))
        .inFile(soft.cage)
        .hint("bring the old file back, or start a new run");
  geometry::TetMesh rest = meshio::readMesh(soft.cage).volume;
  if (rest.tets.empty())
    throw Error(ErrorKind::Geometry, "a cage needs tetrahedra, and there are none").inFile(soft.cage);
  if (const auto* mesh = std::get_if<MeshShape>(&scene.shapes[body.shape].value))
    for (Vec3& p : rest.positions) p *= mesh->scale;
  rest.region.clear();
  try {
    return soft::makeCage(std::move(rest));
  } catch (Error& error) {
    throw Error(error.kind(), error.message()).inFile(soft.cage).hint(error.hint());
  }
}

double meanEdge(const geometry::TetMesh& mesh) {
  double sum = 0;
  for (const geometry::Tetrahedron& t : mesh.tets)
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < a; ++b) sum += (mesh.positions[t[a]] - mesh.positions[t[b]]).norm();
  return sum / (6 * static_cast<double>(mesh.tets.size()));
}

// The clipped surface and, behind it, the walls.
void fillRecord(const BuiltShape& shape, const soft::EmbeddedSurface& clipped, const soft::WallMesh& walls,
                const geometry::TriMesh& surface, const std::string& name, BuiltSoft& built) {
  record::MeshEntry& mesh = built.surface;
  record::Embedding& embedding = built.embedding;
  mesh.name = name;
  for (const Vec3& p : clipped.rest) mesh.positions.push_back(p.cast<float>());
  mesh.triangles = clipped.triangles;
  embedding.tets = clipped.tets;
  for (const Vec4& w : clipped.weights) embedding.weights.push_back(w.cast<float>());
  embedding.sources = clipped.source;
  const auto first = static_cast<uint32_t>(mesh.positions.size());
  const size_t outer = mesh.triangles.size();
  const geometry::TetMesh& rest = built.cage.rest;
  for (size_t v = 0; v < walls.tets.size(); ++v) {
    Vec3 p = Vec3::Zero();
    for (int k = 0; k < 4; ++k) p += walls.weights[v][k] * rest.positions[rest.tets[walls.tets[v]][k]];
    mesh.positions.push_back(p.cast<float>());
    embedding.tets.push_back(walls.tets[v]);
    embedding.weights.push_back(walls.weights[v].cast<float>());
  }
  for (const geometry::Triangle& t : walls.triangles)
    mesh.triangles.push_back({t[0] + first, t[1] + first, t[2] + first});
  embedding.walls.assign(outer, kNoIndex);
  embedding.walls.insert(embedding.walls.end(), walls.walls.begin(), walls.walls.end());
  embedding.sources.resize(mesh.triangles.size(), kNoIndex);
  mesh.interior.assign(outer, 0);
  if (shape.interior.size() == surface.triangles.size())
    for (size_t t = 0; t < outer; ++t) mesh.interior[t] = shape.interior[clipped.source[t]];
  mesh.interior.resize(mesh.triangles.size(), 1);
}

BuiltSoftPtr build(const Scene& scene, const SoftBodySpec& body, const BuiltShape& shape) {
  auto built = std::make_shared<BuiltSoft>();
  const geometry::TriMesh& surface = shape.shape->surface();
  soft::PartsReport parts;
  built->cage = soft::separateParts(surface, cageOf(scene, body, surface), &parts);
  if (parts.pieces > 1)
    built->problems.push_back(fmt::format("the solid has {} parts that do not hang together", parts.pieces));
  const soft::SurfaceCopies copies = soft::assignSurface(surface, built->cage);
  const soft::Walls walls = soft::makeWalls(surface, built->cage, copies);
  if (walls.counts.healed > 0)
    built->problems.push_back(
        fmt::format("the surface has gaps: {} of its contours in the cage were closed by straight lines",
                    walls.counts.healed));
  const soft::SolidShares shares = soft::exactShares(built->cage, copies, walls);
  built->fractions = shares.fractions;
  for (const double v : shares.volumes) built->volume += v;
  Box3 box;
  for (const Vec3& p : surface.positions) box.grow(p);
  built->size = box.extent().maxCoeff();
  built->edge = meanEdge(built->cage.rest);
  const sdf::MeshField solid(surface);
  const double spacing = body.soft.spheres > 0 ? body.soft.spheres : kSpheresAnEdge * built->edge;
  built->spheres = soft::makeSpheres(surface, built->cage, copies, walls, solid, {.radius = spacing / 2});
  for (const std::string& warning : built->spheres.warnings()) built->problems.push_back(warning);
  if (scene.fluid)
    built->points =
        soft::makeVolumePoints(surface, built->cage, copies, walls, solid,
                               soft::volumeSpacing(built->volume, geometry::surfaceArea(surface),
                                                   kLiquidPointSpacing * scene.fluid->settings.radius));
  const soft::EmbeddedSurface clipped =
      soft::embedSurface(surface, built->cage, copies, soft::EmbedMode::Clipped);
  fillRecord(shape, clipped, soft::wallMesh(walls), surface, shapeTitle(scene.shapes[body.shape]), *built);
  return built;
}

}  // namespace

std::vector<BuiltSoftPtr> buildSoftBodies(const Scene& scene, const std::vector<BuiltShape>& shapes,
                                          const std::function<void(size_t, const std::string&)>& progress) {
  using Key = std::tuple<uint32_t, uint32_t, std::string, double>;
  std::map<Key, BuiltSoftPtr> known;
  std::vector<BuiltSoftPtr> out;
  for (size_t i = 0; i < scene.softBodies.size(); ++i) {
    const SoftBodySpec& body = scene.softBodies[i];
    BuiltSoftPtr& built = known[{body.shape, body.soft.tets, body.soft.cage, body.soft.spheres}];
    if (!built) {
      if (progress) progress(i, body.id);
      try {
        built = build(scene, body, shapes[body.shape]);
      } catch (const Error& error) {
        scene.document.rethrow(error, body.pointer);
      }
    }
    out.push_back(built);
  }
  return out;
}

}  // namespace sunder::world
