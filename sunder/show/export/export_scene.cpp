#include "sunder/show/export/export_scene.h"

#include "sunder/base/error.h"
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

// Particles, or the vertices of a body that deforms, with what joins them.
using Joined = std::map<uint32_t, record::MeshEntry>;  // meshes of bodies that deform
FrameMesh frameMesh(const Joined& joined, record::BodyPoints& points) {
  FrameMesh mesh;
  mesh.body = points.body;
  for (const record::PointField& field : points.fields)
    if (field.name == "velocity" && field.components == 3)
      for (size_t i = 0; i < points.positions.size(); ++i)
        mesh.velocities.push_back(Eigen::Map<const Vec3f>(field.values.data() + 3 * i));
  mesh.positions = std::move(points.positions);
  const auto own = joined.find(points.body);
  if (own == joined.end() || own->second.positions.size() != mesh.positions.size()) return mesh;
  mesh.triangles = own->second.triangles;
  mesh.tets = own->second.tets;
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
  if (!mesh.triangles.empty()) return false;
  size_t kept = 0;
  for (size_t i = 0; i < mesh.positions.size(); ++i) {
    if (!finite(mesh.positions[i])) continue;
    mesh.positions[kept] = mesh.positions[i];
    if (!mesh.velocities.empty()) mesh.velocities[kept] = mesh.velocities[i];
    ++kept;
  }
  mesh.positions.resize(kept);
  if (!mesh.velocities.empty()) mesh.velocities.resize(kept);
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
  Joined joined;
  for (uint32_t b = 0; b < scene.bodies.size(); ++b) {
    if (!record::hasPoints(scene.bodies[b].kind)) continue;
    scene.deforming = true;
    scene.particles |= scene.bodies[b].kind == record::BodyKind::Particles ||
                       (scene.bodies[b].kind == record::BodyKind::Fluid && !liquids.surfaces);
    if (scene.bodies[b].mesh < scene.meshes.size()) joined[b] = scene.meshes[scene.bodies[b].mesh];
  }
  scene.readFrame = [&run, liquids, joined = std::move(joined)](size_t frame, ExportFrame& out) {
    run.readFrame(frame, out.state);
    out.meshes.clear();
    // The last frame of a run that diverged may hold anything; other programs refuse files with such numbers.
    for (record::BodyState& s : out.state.bodies) s.present = showable(s);
    for (record::BodyPoints& points : out.state.points) {
      if (liquids.surfaces && isLiquid(run.bodies()[points.body], points)) {
        out.meshes.push_back(liquidMesh(points, liquids.settings));
        continue;
      }
      FrameMesh mesh = frameMesh(joined, points);
      if (dropUnfinished(mesh))
        out.meshes.push_back(std::move(mesh));
      else
        out.state.bodies[points.body].present = false;
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
  return scene;
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
      surface.own = &*own;
    } else if (scene.bodies[b].mesh < scene.meshes.size()) {
      const record::MeshEntry& mesh = scene.meshes[scene.bodies[b].mesh];
      surface.positions = mesh.positions;
      surface.triangles = mesh.triangles;
      surface.tets = mesh.tets;
      surface.interior = mesh.interior;
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
  return std::any_of(scene.meshes.begin(), scene.meshes.end(),
                     [](const record::MeshEntry& mesh) { return !mesh.interior.empty(); });
}

MaterialNumbers numberMaterials(const ExportScene& scene) {
  MaterialNumbers numbers;
  for (const record::BodyEntry& body : scene.bodies) numbers.names.push_back(body.material);
  std::sort(numbers.names.begin(), numbers.names.end());
  numbers.names.erase(std::unique(numbers.names.begin(), numbers.names.end()), numbers.names.end());
  for (const record::BodyEntry& body : scene.bodies)
    numbers.ofBody.push_back(static_cast<int32_t>(
        std::lower_bound(numbers.names.begin(), numbers.names.end(), body.material) - numbers.names.begin()));
  return numbers;
}

}  // namespace sunder::show
