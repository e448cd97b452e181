#include "sunder/show/run_pictures.h"

#include "sunder/base/error.h"
#include "sunder/base/json.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sunder::show {

namespace {

constexpr size_t kFramesLookedAt = 24;  // for the action

double percentile(std::vector<float>& values, double part) {
  const auto place = values.begin() + std::ptrdiff_t(part * double(values.size() - 1));
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

Vec3 colourOf(const nlohmann::json& value, const Vec3& otherwise) {
  if (!value.is_array() || value.size() != 3) return otherwise;
  return {value[0].get<double>(), value[1].get<double>(), value[2].get<double>()};
}

}  // namespace

RunPictures::RunPictures(const record::RunReader& run) : run_(run) {
  readLooks();
  findAction();
}

void RunPictures::readLooks() {
  if (run_.info().scene.empty()) return;
  const nlohmann::json scene = parseJson(run_.info().scene, run_.path().string());
  const auto materials = scene.find("materials");
  if (materials == scene.end() || !materials->is_object()) return;
  for (const auto& [name, m] : materials->items()) {
    if (!m.is_object()) continue;
    try {
      looks_.emplace_back(name, lookOf(colourOf(m.value("colour", nlohmann::json()), {0.7, 0.7, 0.7}),
                                       m.value("roughness", 0.6), m.value("metallic", 0.0),
                                       m.value("transparency", 0.0), m.value("refraction", 1.5)));
    } catch (const nlohmann::json::exception&) {
      throw Error(ErrorKind::Format,
                  fmt::format("the material {} of the recorded scene cannot be read", name))
          .inFile(run_.path().string());
    }
  }
}

const RunPictures::MeshUse& RunPictures::mesh(uint32_t index) {
  if (meshes_.size() <= index) meshes_.resize(index + 1);
  MeshUse& use = meshes_[index];
  if (use.handle != kNoIndex) return use;
  const record::MeshEntry entry = run_.mesh(index);
  geometry::TriMesh mesh;
  mesh.triangles = entry.triangles;
  for (const Vec3f& p : entry.positions) mesh.positions.push_back(p.cast<double>());
  const Box3 box = geometry::bounds(mesh.positions);
  if (!box.empty()) {
    use.centre = box.center().cast<float>();
    use.radius = float(box.diagonal() / 2);
  }
  if (mesh.triangles.size() == 2 && mesh.positions.size() == 4) {
    const auto& p = mesh.positions;
    const Vec3 n = (p[1] - p[0]).cross(p[2] - p[0]).normalized();
    use.square = std::abs(n.dot(p[3] - p[0])) <= 1e-6 * box.diagonal();
    use.normal = n.cast<float>();
  }
  use.handle = tracer_.addMesh(mesh);
  return use;
}

void RunPictures::findAction() {
  std::vector<float> low[3], high[3];
  Box3 still;
  const size_t count = run_.frameCount();
  for (size_t k = 0; k < std::min(count, kFramesLookedAt); ++k) {
    const size_t looked = std::min(count, kFramesLookedAt);
    run_.readFrame(looked < 2 ? 0 : k * (count - 1) / (looked - 1), frame_);
    for (size_t b = 0; b < frame_.bodies.size(); ++b) {
      const record::BodyEntry& body = run_.bodies()[b];
      const record::BodyState& state = frame_.bodies[b];
      if (!state.present || body.mesh == kNoIndex) continue;
      const MeshUse& use = mesh(body.mesh);
      const Vec3f centre = state.position + state.rotation * use.centre;
      if (body.kind == record::BodyKind::Static) {
        if (!use.square)
          still.grow(Box3{(centre.array() - use.radius).matrix().cast<double>(),
                          (centre.array() + use.radius).matrix().cast<double>()});
        continue;
      }
      for (int axis = 0; axis < 3; ++axis) {
        low[axis].push_back(centre[axis] - use.radius);
        high[axis].push_back(centre[axis] + use.radius);
      }
    }
  }
  if (low[0].empty()) {
    action_ = still;
    return;
  }
  for (int axis = 0; axis < 3; ++axis) {
    action_.lower[axis] = percentile(low[axis], 0.02);
    action_.upper[axis] = percentile(high[axis], 0.98);
  }
}

Shot RunPictures::shot(size_t frame, const RunShotSettings& settings) {
  if (frame >= run_.frameCount())
    throw Error(ErrorKind::Usage, run_.frameCount() == 0 ? std::string("the run has no frames yet")
                                                         : fmt::format("there is no frame {}", frame))
        .inFile(run_.path().string())
        .hint(run_.frameCount() == 0 ? "wait until the first one is recorded"
                                     : fmt::format("the run has the frames 0 to {}", run_.frameCount() - 1));
  run_.readFrame(frame, frame_);
  Shot shot;
  shot.camera = frameBox(action_, settings.aspect);
  shot.ground = false;
  std::vector<float> values(frame_.bodies.size(), 0);
  if (settings.colourBy == ColourBy::Speed) {
    for (size_t b = 0; b < values.size(); ++b) values[b] = frame_.bodies[b].velocity.norm();
  } else if (settings.colourBy == ColourBy::Field) {
    const auto field = std::find_if(frame_.fields.begin(), frame_.fields.end(),
                                    [&](const record::BodyField& f) { return f.name == settings.field; });
    if (field == frame_.fields.end()) {
      std::string known;
      for (const record::BodyField& f : frame_.fields) known += (known.empty() ? "" : ", ") + f.name;
      throw Error(ErrorKind::Usage, fmt::format("the run has no field '{}'", settings.field))
          .inFile(run_.path().string())
          .hint(known.empty() ? "none was recorded" : "it has " + known);
    }
    std::copy_n(field->values.begin(), std::min(values.size(), field->values.size()), values.begin());
  }
  float top = settings.colourTop ? float(*settings.colourTop)
              : values.empty()   ? 0
                                 : *std::max_element(values.begin(), values.end());
  if (!(top > 0)) top = 1;
  double lowest = std::numeric_limits<double>::infinity();
  for (size_t b = 0; b < frame_.bodies.size(); ++b) {
    const record::BodyEntry& body = run_.bodies()[b];
    const record::BodyState& state = frame_.bodies[b];
    if (!state.present || body.mesh == kNoIndex) continue;
    const MeshUse& use = mesh(body.mesh);
    PlacedMesh placed;
    placed.mesh = use.handle;
    placed.position = state.position.cast<double>();
    placed.rotation = state.rotation.cast<double>().normalized();
    for (const auto& [name, look] : looks_)
      if (name == body.material) placed.look = look;
    const bool moves = body.kind != record::BodyKind::Static;
    if (moves && settings.colourBy == ColourBy::Body)
      placed.look = {.colour = distinctColour(uint32_t(b)), .roughness = 0.4f};
    else if (moves && settings.colourBy != ColourBy::Material)
      placed.look = {.colour = scaleColour(values[b] / top), .roughness = 0.5f};
    if (!moves) {
      const Vec3f up = state.rotation * use.normal;
      if (use.square && std::abs(up.y()) > 0.99999f) {
        shot.ground = true;
        shot.groundHeight = state.position.y();
        if (placed.look.transmission <= 0 && !looks_.empty()) shot.groundLook = placed.look;
        continue;
      }
      lowest = std::min(lowest, double(state.position.y() + (state.rotation * use.centre).y() - use.radius));
    }
    shot.meshes.push_back(placed);
  }
  if (!shot.ground && std::isfinite(lowest)) {
    shot.ground = true;
    shot.groundHeight = lowest;
  }
  return shot;
}

}  // namespace sunder::show
