#include "sunder/show/picture/run_pictures.h"

#include "sunder/base/error.h"
#include "sunder/show/liquid.h"
#include "sunder/show/readable.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sunder::show {

namespace {

// Water that stands on the ground touches it: a film of air between them, thinner than a particle, would
// mirror. What is that near goes below the ground instead.
void wet(fluid::LiquidSurface& surface, const record::BodyState& state, float ground, float radius) {
  const Vec3 up = (state.rotation.conjugate() * Vec3f::UnitY()).cast<double>();
  for (Vec3& p : surface.mesh.positions) {
    const double height = double(state.position.y()) + up.dot(p) - double(ground);
    if (height < double(radius)) p -= up * double(radius);
  }
}

}  // namespace

RunPictures::RunPictures(const record::RunReader& run) : run_(run), summary_(summarise(run)) {}

uint32_t RunPictures::handle(uint32_t index) {
  if (handles_.size() <= index) handles_.resize(index + 1, kNoIndex);
  if (handles_[index] == kNoIndex) {
    const record::MeshEntry entry = meshOrNone(run_, index);
    if (entry.triangles.empty() || !std::all_of(entry.positions.begin(), entry.positions.end(), drawable))
      return kNoIndex;
    geometry::TriMesh mesh;
    mesh.triangles = entry.triangles;
    for (const Vec3f& p : entry.positions) mesh.positions.push_back(p.cast<double>());
    handles_[index] = tracer_.addMesh(mesh, kCreaseAngle, entry.interior);
  }
  return handles_[index];
}

// The mesh with other places for its vertices, for one shot.
uint32_t RunPictures::deformed(uint32_t index, const record::BodyPoints& points) {
  const record::MeshEntry entry = meshOrNone(run_, index);
  const bool finite = std::all_of(points.positions.begin(), points.positions.end(), drawable);
  if (!finite || entry.triangles.empty() || entry.positions.size() != points.positions.size())
    return handle(index);
  geometry::TriMesh mesh;
  mesh.triangles = entry.triangles;
  for (const Vec3f& p : points.positions) mesh.positions.push_back(p.cast<double>());
  return ofShot_.emplace_back(tracer_.addMesh(mesh));
}

// Cells are smaller than they need to be for flat water, so that drops are round.
uint32_t RunPictures::liquid(const record::BodyPoints& points) {
  fluid::LiquidSurface surface = surfaceOf(points, {.cell = 0.7 * double(points.radius)});
  if (summary_.ground) wet(surface, frame_.bodies[points.body], float(*summary_.ground), points.radius);
  return ofShot_.emplace_back(tracer_.addMesh(surface.mesh, surface.normals));
}

std::vector<float> RunPictures::colourValues(const RunShotSettings& settings) const {
  std::vector<float> values(frame_.bodies.size(), 0);
  if (settings.colourBy == ColourBy::Speed) {
    for (size_t b = 0; b < values.size(); ++b) values[b] = frame_.bodies[b].velocity.norm();
  } else if (settings.colourBy == ColourBy::Field) {
    for (const record::BodyPoints& points : frame_.points)
      for (const record::PointField& f : points.fields)
        if (f.name == settings.field && f.components == 1) return values;
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

// What particles are coloured by; null: by their material.
const std::vector<float>* RunPictures::pointValues(const record::BodyPoints& points,
                                                   const RunShotSettings& settings) {
  for (const record::PointField& f : points.fields) {
    if (settings.colourBy == ColourBy::Field && f.name == settings.field && f.components == 1)
      return &f.values;
    if (settings.colourBy != ColourBy::Speed || f.name != "velocity" || f.components != 3) continue;
    speeds_.clear();
    for (size_t i = 0; i < points.positions.size(); ++i)
      speeds_.push_back(Eigen::Map<const Vec3f>(f.values.data() + 3 * i).norm());
    return &speeds_;
  }
  return nullptr;
}

void RunPictures::placeParticles(const record::BodyPoints& points, const Look& look,
                                 const RunShotSettings& settings, double top, Shot& shot) {
  constexpr size_t kColours = 64;
  const std::vector<float>* values = pointValues(points, settings);
  const std::vector<float>* radii = nullptr;
  for (const record::PointField& f : points.fields)
    if (f.name == "radius" && f.components == 1) radii = &f.values;
  const auto first = uint32_t(shot.sphereLooks.size());
  if (values)
    for (size_t k = 0; k < kColours; ++k)
      shot.sphereLooks.push_back({.colour = scaleColour(float(k) / (kColours - 1)), .roughness = 0.5f});
  else
    shot.sphereLooks.push_back(look);
  const record::BodyState& state = frame_.bodies[points.body];
  for (size_t i = 0; i < points.positions.size(); ++i) {
    PlacedSphere sphere;
    sphere.centre = state.position + state.rotation * points.positions[i];
    sphere.radius = radii ? (*radii)[i] : points.radius;
    if (!drawable(sphere.centre) || !(sphere.radius > 0) || !drawable(Vec3f(sphere.radius, 0, 0))) continue;
    sphere.look = first;
    if (values)
      sphere.look += uint32_t(std::lround(std::clamp(double((*values)[i]) / top, 0.0, 1.0) * (kColours - 1)));
    shot.spheres.push_back(sphere);
  }
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
  for (const uint32_t mesh : ofShot_) tracer_.dropMesh(mesh);
  ofShot_.clear();
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
  if (!settings.colourTop)
    for (const record::BodyPoints& points : frame_.points)
      if (const std::vector<float>* own = pointValues(points, settings))
        for (const float v : *own) top = std::max(top, v);
  if (!(top > 0)) top = 1;
  auto points = frame_.points.begin();
  for (size_t b = 0; b < frame_.bodies.size(); ++b) {
    const record::BodyEntry& body = run_.bodies()[b];
    const record::BodyState& state = frame_.bodies[b];
    while (points != frame_.points.end() && points->body < b) ++points;
    const bool own = points != frame_.points.end() && points->body == b;
    const bool meshed = body.mesh < run_.meshCount();
    if (!showable(state) || !drawable(state.position) || !(own || meshed) || isGround(summary_, body, state))
      continue;
    PlacedMesh placed;
    placed.position = state.position.cast<double>();
    placed.rotation = state.rotation.cast<double>().normalized();
    const BodyLooks looks = looksOf(summary_.materials, body.material);
    placed.look = looks.outside;
    placed.inside = looks.inside;
    if (body.kind != record::BodyKind::Static) {
      if (settings.colourBy != ColourBy::Material) placed.inside.reset();
      if (settings.colourBy == ColourBy::Body)
        placed.look = {.colour = distinctColour(uint32_t(b)), .roughness = 0.4f};
      else if (settings.colourBy != ColourBy::Material)
        placed.look = {.colour = scaleColour(values[b] / top), .roughness = 0.5f};
    }
    const bool perBody = settings.colourBy == ColourBy::Material || settings.colourBy == ColourBy::Body;
    if (own && perBody && !settings.particles && isLiquid(body, *points)) {
      placed.mesh = liquid(*points);
      shot.meshes.push_back(placed);
      continue;
    }
    if (own && points->radius > 0) {
      placeParticles(*points, placed.look, settings, top, shot);
      continue;
    }
    if (!meshed) continue;
    placed.mesh = own ? deformed(body.mesh, *points) : handle(body.mesh);
    if (placed.mesh != kNoIndex) shot.meshes.push_back(placed);
  }
  return shot;
}

}  // namespace sunder::show
