#include "sunder/show/export/export_scene.h"

#include "sunder/base/error.h"
#include "sunder/show/caged_normals.h"
#include "sunder/show/corner_normals.h"
#include "sunder/show/readable.h"
#include "sunder/show/run_summary.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sunder::show {

namespace {

constexpr double kGroundSize = 5;  // half the side of the ground, in diagonals of the action

// A half-space is recorded as a square of hundreds of metres, in which other programs would show everything
// else as a dot.
void trimGround(const record::RunReader& run, ExportScene& scene) {
  const RunSummary summary = summarise(run);
  if (summary.action.empty() || run.frameCount() == 0) return;
  // The ground is there from the start, or from the first frame that can be read.
  record::Frame frame;
  for (size_t f = 0;; ++f) {
    if (f == run.frameCount()) return;
    try {
      run.readFrame(f, frame);
      break;
    } catch (const Error&) {
      continue;
    }
  }
  const double half = kGroundSize * std::max(summary.action.diagonal(), 1e-3);
  for (size_t b = 0; b < frame.bodies.size(); ++b) {
    const record::BodyState& state = frame.bodies[b];
    record::BodyEntry& body = scene.bodies[b];
    if (!showable(state) || !isGround(summary, body, state)) continue;
    record::MeshEntry mesh = scene.meshes[body.mesh];
    const auto turn = state.rotation.cast<double>().normalized();
    const Vec3 normal = summary.meshes[body.mesh].normal.cast<double>();
    const Vec3 centre = summary.meshes[body.mesh].centre.cast<double>();
    Vec3 middle = turn.conjugate() * (summary.action.center() - state.position.cast<double>());
    middle -= normal * normal.dot(middle - centre);
    const double factor = half * std::sqrt(2.0) / double(summary.meshes[body.mesh].radius);
    if (!(factor < 1)) continue;
    for (Vec3f& p : mesh.positions) p = (middle + factor * (p.cast<double>() - centre)).cast<float>();
    body.mesh = static_cast<uint32_t>(scene.meshes.size());
    scene.meshes.push_back(std::move(mesh));
  }
}

void takeVelocities(FrameMesh& mesh) {
  for (const record::PointField& field : mesh.fields)
    if (field.name == "velocity" && field.components == 3)
      for (size_t i = 0; 3 * i < field.values.size(); ++i)
        mesh.velocities.push_back(Eigen::Map<const Vec3f>(field.values.data() + 3 * i));
}

FrameMesh particleMesh(record::BodyPoints& points) {
  FrameMesh mesh;
  mesh.body = points.body;
  mesh.positions = std::move(points.positions);
  mesh.fields = std::move(points.fields);
  mesh.radius = points.radius;
  takeVelocities(mesh);
  return mesh;
}

FrameMesh shapeMesh(uint32_t body, record::BodyShape shape, CagedNormals& normals) {
  FrameMesh mesh;
  mesh.body = body;
  mesh.normals = normals.of(shape);
  const auto finite = [](const Vec3f& p) { return p.allFinite(); };
  if (shape.caged && std::all_of(shape.cagePositions.begin(), shape.cagePositions.end(), finite)) {
    mesh.cage = shape.caged.cage;
    mesh.cagePositions =
        shape.cagePositions.empty() ? shape.caged.cage->positions : std::move(shape.cagePositions);
    mesh.cageFields = std::move(shape.cageFields);
  }
  mesh.positions = shape.positions.empty() ? shape.mesh->positions : std::move(shape.positions);
  mesh.triangles = shape.mesh->triangles;
  mesh.tets = shape.mesh->tets;
  mesh.mesh = std::move(shape.mesh);
  mesh.fields = std::move(shape.fields);
  takeVelocities(mesh);
  return mesh;
}

FrameMesh liquidMesh(const record::BodyPoints& points, const fluid::SurfaceSettings& settings) {
  fluid::LiquidSurface surface = surfaceOf(points, settings);
  FrameMesh mesh;
  mesh.body = points.body;
  for (const Vec3& p : surface.mesh.positions) mesh.positions.push_back(p.cast<float>());
  mesh.triangles = std::move(surface.mesh.triangles);
  mesh.velocities = std::move(surface.velocities);
  return mesh;
}

// Particles that are not finite go; a body that deforms has to be whole.
bool dropUnfinished(FrameMesh& mesh) {
  const auto finite = [](const Vec3f& p) { return p.allFinite(); };
  if (std::all_of(mesh.positions.begin(), mesh.positions.end(), finite)) return true;
  if (!mesh.triangles.empty() || mesh.mesh) return false;
  size_t kept = 0;
  for (size_t i = 0; i < mesh.positions.size(); ++i) {
    if (!finite(mesh.positions[i])) continue;
    mesh.positions[kept] = mesh.positions[i];
    if (!mesh.velocities.empty()) mesh.velocities[kept] = mesh.velocities[i];
    for (record::PointField& field : mesh.fields)
      std::copy_n(field.values.begin() + std::ptrdiff_t(i * field.components), field.components,
                  field.values.begin() + std::ptrdiff_t(kept * field.components));
    ++kept;
  }
  mesh.positions.resize(kept);
  if (!mesh.velocities.empty()) mesh.velocities.resize(kept);
  for (record::PointField& field : mesh.fields) field.values.resize(kept * field.components);
  return true;
}

}  // namespace

ExportScene exportSceneOf(const record::RunReader& run, std::vector<size_t> frames,
                          const ExportLiquids& liquids) {
  ExportScene scene;
  scene.name = run.info().sceneName.empty() ? "run" : run.info().sceneName;
  scene.frameRate = run.info().frameRate > 0 ? run.info().frameRate : 60;
  scene.bodies = run.bodies();
  for (size_t m = 0; m < run.meshCount(); ++m) scene.meshes.push_back(meshOrNone(run, m));
  const std::vector<material::Material> materials = materialsOf(run);
  for (const material::Material& m : materials) {
    const BodyLooks looks = looksOf(materials, m.name);
    scene.looks[m.name] = looks.outside;
    if (looks.inside) scene.insideLooks[m.name] = *looks.inside;
  }
  trimGround(run, scene);
  scene.frames = std::move(frames);
  for (uint32_t b = 0; b < scene.bodies.size(); ++b) {
    scene.deforming |= record::hasPoints(scene.bodies[b].kind) || run.changeCount(b) > 0 ||
                       run.embeddingOf(scene.bodies[b].mesh) != kNoIndex;
    scene.particles |= scene.bodies[b].kind == record::BodyKind::Particles ||
                       (scene.bodies[b].kind == record::BodyKind::Fluid && !liquids.surfaces);
  }
  for (uint32_t b = 0; b < scene.bodies.size(); ++b)
    for (uint32_t k = 0; k < run.changeCount(b); ++k) try {
        scene.opens |= !run.changeOf(b, k).interior.empty();
      } catch (const Error&) {  // lost
      }
  const auto meshes = std::make_shared<record::BodyMeshes>(run);
  const auto normals = std::make_shared<CagedNormals>();
  scene.readFrame = [&run, liquids, meshes, normals](size_t frame, ExportFrame& out) {
    run.readFrame(frame, out.state);
    out.meshes.clear();
    out.fields.clear();
    // The last frame of a run that diverged may hold anything; other programs refuse files with such numbers.
    for (record::BodyState& s : out.state.bodies) s.present = showable(s);
    auto next = out.state.points.begin();
    for (uint32_t b = 0; b < out.state.bodies.size(); ++b) {
      while (next != out.state.points.end() && next->body < b) ++next;
      record::BodyPoints* points = next != out.state.points.end() && next->body == b ? &*next : nullptr;
      FrameMesh mesh;
      if (points && liquids.surfaces && isLiquid(run.bodies()[b], *points)) {
        out.meshes.push_back(liquidMesh(*points, liquids.settings));
        continue;
      }
      // A body that changes its mesh brings it in every frame, also where it is the first one still.
      const uint32_t shown = run.meshOf(b, frame);
      const bool plain = run.changeCount(b) == 0 && run.embeddingOf(shown) == kNoIndex;
      if (points && (points->radius > 0 || shown >= run.meshCount())) {
        mesh = particleMesh(*points);
      } else if (plain && points && points->positions.empty()) {
        out.fields[b] = points->fields;
        continue;
      } else if (!plain || points) {
        mesh = shapeMesh(b, shapeOrNone(*meshes, out.state, frame, b), *normals);
      } else {
        continue;
      }
      if (dropUnfinished(mesh))
        out.meshes.push_back(std::move(mesh));
      else
        out.state.bodies[b].present = false;
    }
  };
  // What is lost of these is named by readableOf().
  scene.statistics = [&run](size_t frame) {
    try {
      return run.statistics(frame);
    } catch (const Error&) {
      return std::vector<record::Statistic>();
    }
  };
  scene.events = [&run](size_t frame) {
    try {
      return run.events(frame);
    } catch (const Error&) {
      return std::vector<record::Event>();
    }
  };
  const auto has = [&](record::ChunkType type) {
    return std::any_of(run.chunks().begin(), run.chunks().end(),
                       [&](const record::Chunk& chunk) { return chunk.head.type == type; });
  };
  if (has(record::ChunkType::Inputs))
    scene.inputs = [&run](size_t frame) {
      try {
        return run.inputs(frame);
      } catch (const Error&) {
        return std::vector<record::Input>();
      }
    };
  if (has(record::ChunkType::Fronts))
    scene.fronts = [&run](size_t frame) {
      try {
        return run.fronts(frame);
      } catch (const Error&) {
        return std::vector<record::CrackFront>();
      }
    };
  return scene;
}

namespace {

void takeLooks(const record::MeshEntry& mesh, BodySurface& surface) {
  surface.interior = mesh.interior;
  surface.uvs = mesh.uvs;
  surface.slots = mesh.slots;
  surface.slotMaterials = mesh.slotMaterials;
}

}  // namespace

BodySurface cageOf(const BodySurface& surface) {
  BodySurface cage;
  cage.body = surface.body;
  cage.state = surface.state;
  if (!surface.own || !surface.own->cage) return cage;
  cage.positions = surface.own->cagePositions;
  cage.tets = surface.own->cage->tets;
  cage.fields = surface.own->cageFields;
  return cage;
}

std::vector<Vec3f> normalsOf(const BodySurface& surface) {
  if (surface.normals.size() == 3 * surface.triangles.size())
    return {surface.normals.begin(), surface.normals.end()};
  geometry::TriMesh mesh;
  for (const Vec3f& p : surface.positions) mesh.positions.push_back(p.cast<double>());
  std::vector<Vec3f> normals(3 * surface.triangles.size());
  for (const bool inside : {false, true}) {
    std::vector<size_t> side;
    mesh.triangles.clear();
    for (size_t t = 0; t < surface.triangles.size(); ++t) {
      if (surface.inside(t) != inside) continue;
      side.push_back(t);
      mesh.triangles.push_back(surface.triangles[t]);
    }
    const std::vector<Vec3f> own = cornerNormals(mesh, kCreaseAngle, surface.rest);
    for (size_t i = 0; i < side.size(); ++i)
      std::copy_n(own.begin() + std::ptrdiff_t(3 * i), 3, normals.begin() + std::ptrdiff_t(3 * side[i]));
  }
  return normals;
}

BodySurface surfaceOfMesh(const record::MeshEntry& mesh) {
  BodySurface surface;
  surface.positions = mesh.positions;
  surface.triangles = mesh.triangles;
  surface.tets = mesh.tets;
  takeLooks(mesh, surface);
  return surface;
}

SplitSurface splitByUvs(const BodySurface& surface) {
  SplitSurface split;
  split.triangles.assign(surface.triangles.begin(), surface.triangles.end());
  const size_t count = surface.positions.size();
  for (uint32_t v = 0; v < count; ++v) split.vertices.push_back(v);
  if (surface.uvs.size() != 3 * split.triangles.size() || split.triangles.empty()) return split;
  // Copies of a vertex form a chain, in the order in which triangles ask for them.
  std::vector<uint32_t> next(count, kNoIndex);
  std::vector<bool> used(count, false);
  split.uvs.assign(count, Vec2f::Zero());
  for (size_t c = 0; c < surface.uvs.size(); ++c) {
    uint32_t& corner = split.triangles[c / 3][c % 3];
    const uint32_t vertex = corner;
    uint32_t at = vertex;
    while (used[at] && split.uvs[at] != surface.uvs[c] && next[at] != kNoIndex) at = next[at];
    if (used[at] && split.uvs[at] != surface.uvs[c]) {
      next[at] = uint32_t(split.vertices.size());
      at = next[at];
      split.vertices.push_back(vertex);
      split.uvs.push_back(Vec2f::Zero());
      next.push_back(kNoIndex);
      used.push_back(false);
    }
    used[at] = true;
    split.uvs[at] = surface.uvs[c];
    corner = at;
  }
  return split;
}

std::vector<BodySurface> surfacesOf(const ExportScene& scene, const ExportFrame& frame) {
  std::vector<BodySurface> surfaces;
  auto own = frame.meshes.begin();
  const size_t count = std::min(frame.state.bodies.size(), scene.bodies.size());
  for (uint32_t b = 0; b < count; ++b) {
    while (own != frame.meshes.end() && own->body < b) ++own;
    const record::BodyState& state = frame.state.bodies[b];
    if (!state.present) continue;
    BodySurface surface;
    surface.body = b;
    surface.state = &state;
    if (own != frame.meshes.end() && own->body == b) {
      surface.positions = own->positions;
      surface.triangles = own->triangles;
      surface.tets = own->tets;
      surface.fields = own->fields;
      surface.own = &*own;
      surface.normals = own->normals;
      if (own->mesh && own->mesh->triangles.size() == own->triangles.size()) {
        takeLooks(*own->mesh, surface);
        surface.rest = own->mesh->positions;
      }
    } else if (scene.bodies[b].mesh < scene.meshes.size()) {
      const record::MeshEntry& mesh = scene.meshes[scene.bodies[b].mesh];
      surface = surfaceOfMesh(mesh);
      surface.body = b;
      surface.state = &state;
      if (const auto fields = frame.fields.find(b);
          fields != frame.fields.end() && !fields->second.empty() &&
          fields->second[0].values.size() == fields->second[0].components * mesh.positions.size())
        surface.fields = fields->second;
    }
    surfaces.push_back(surface);
  }
  return surfaces;
}

Look lookOfBody(const ExportScene& scene, const record::BodyEntry& body) {
  return lookOfMaterial(scene, body.material, false);
}

Vec3f solidColour(const Look& look) {
  return look.colour.cwiseProduct((-float(kTintDepth) * look.absorption).array().exp().matrix());
}

Look lookOfMaterial(const ExportScene& scene, const std::string& material, bool inside) {
  if (inside)
    if (const auto own = scene.insideLooks.find(material); own != scene.insideLooks.end()) return own->second;
  const auto found = scene.looks.find(material);
  Look look = found == scene.looks.end() ? Look{} : found->second;
  if (!inside || look.transmission > 0) return look;
  look.colour *= 0.86f;
  look.roughness = std::max(look.roughness, 0.85f);
  return look;
}

bool anyInside(const ExportScene& scene) {
  return scene.opens || std::any_of(scene.meshes.begin(), scene.meshes.end(),
                                    [](const record::MeshEntry& mesh) { return !mesh.interior.empty(); });
}

MaterialNumbers numberMaterials(const ExportScene& scene) {
  MaterialNumbers numbers;
  for (const record::BodyEntry& body : scene.bodies) numbers.names.push_back(body.material);
  for (const record::MeshEntry& mesh : scene.meshes)
    numbers.names.insert(numbers.names.end(), mesh.slotMaterials.begin(), mesh.slotMaterials.end());
  std::sort(numbers.names.begin(), numbers.names.end());
  numbers.names.erase(std::unique(numbers.names.begin(), numbers.names.end()), numbers.names.end());
  for (const record::BodyEntry& body : scene.bodies) numbers.ofBody.push_back(numbers.of(body.material));
  return numbers;
}

int32_t MaterialNumbers::of(const std::string& name) const {
  return static_cast<int32_t>(std::lower_bound(names.begin(), names.end(), name) - names.begin());
}

}  // namespace sunder::show
