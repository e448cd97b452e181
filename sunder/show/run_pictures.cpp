#include "sunder/show/run_pictures.h"

#include "sunder/base/error.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sunder::show {

RunPictures::RunPictures(const record::RunReader& run) : run_(run), summary_(summarise(run)) {}

uint32_t RunPictures::handle(uint32_t index) {
  if (handles_.size() <= index) handles_.resize(index + 1, kNoIndex);
  if (handles_[index] == kNoIndex) {
    const record::MeshEntry entry = run_.mesh(index);
    geometry::TriMesh mesh;
    mesh.triangles = entry.triangles;
    for (const Vec3f& p : entry.positions) mesh.positions.push_back(p.cast<double>());
    handles_[index] = tracer_.addMesh(mesh);
  }
  return handles_[index];
}

std::vector<float> RunPictures::colourValues(const RunShotSettings& settings) const {
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
  return values;
}

Shot RunPictures::shot(size_t frame, const RunShotSettings& settings) {
  const size_t count = run_.frameCount();
  if (frame >= count)
    throw Error(ErrorKind::Usage,
                count ? fmt::format("there is no frame {}", frame) : "the run has no frames yet")
        .inFile(run_.path().string())
        .hint(count ? fmt::format("the run has the frames 0 to {}", count - 1)
                    : "wait until the first one is recorded");
  run_.readFrame(frame, frame_);
  Shot shot;
  shot.camera = frameBox(summary_.action, settings.aspect);
  shot.ground = summary_.ground.has_value();
  shot.groundHeight = summary_.ground.value_or(0);
  const std::vector<float> values = colourValues(settings);
  float top = 0;
  if (settings.colourTop)
    top = float(*settings.colourTop);
  else
    for (const float v : values) top = std::max(top, v);
  if (!(top > 0)) top = 1;
  for (size_t b = 0; b < frame_.bodies.size(); ++b) {
    const record::BodyEntry& body = run_.bodies()[b];
    const record::BodyState& state = frame_.bodies[b];
    if (!state.present || body.mesh >= run_.meshCount() || isGround(summary_, body, state)) continue;
    PlacedMesh placed;
    placed.mesh = handle(body.mesh);
    placed.position = state.position.cast<double>();
    placed.rotation = state.rotation.cast<double>().normalized();
    if (const auto m = summary_.materials.find(body.material); m != summary_.materials.end())
      placed.look = lookOf(m->second.colour, m->second.roughness, m->second.metallic, m->second.transparency,
                           m->second.refraction);
    if (body.kind != record::BodyKind::Static) {
      if (settings.colourBy == ColourBy::Body)
        placed.look = {.colour = distinctColour(uint32_t(b)), .roughness = 0.4f};
      else if (settings.colourBy != ColourBy::Material)
        placed.look = {.colour = scaleColour(values[b] / top), .roughness = 0.5f};
    }
    shot.meshes.push_back(placed);
  }
  return shot;
}

}  // namespace sunder::show
