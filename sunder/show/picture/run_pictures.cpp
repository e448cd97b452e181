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

constexpr size_t kColours = 64;  // that values are shown with

size_t colourOf(double share) { return size_t(std::lround(std::clamp(share, 0.0, 1.0) * (kColours - 1))); }

Look colourLook(size_t number) {
  return {.colour = scaleColour(float(number) / float(kColours - 1)), .roughness = 0.5f};
}

}  // namespace

RunPictures::RunPictures(const record::RunReader& run) : run_(run), summary_(summarise(run)), meshes_(run) {}

void RunPictures::paintSlots(const std::vector<std::string>& materials, PlacedMesh& placed) const {
  for (const std::string& name : materials) {
    const BodyLooks looks = looksOf(summary_.materials, name);
    placed.slots.push_back({looks.outside, looks.inside});
  }
}

void RunPictures::placeMesh(uint32_t index, bool byMaterial, PlacedMesh& placed) {
  placed.mesh = kNoIndex;
  if (index >= run_.meshCount()) return;
  if (handles_.size() <= index) {
    handles_.resize(index + 1, kNoIndex);
    slotMaterials_.resize(index + 1);
  }
  if (handles_[index] == kNoIndex) {
    const record::MeshEntry entry = meshOrNone(run_, index);
    if (entry.triangles.empty() || !std::all_of(entry.positions.begin(), entry.positions.end(), drawable))
      return;
    geometry::TriMesh mesh;
    mesh.triangles = entry.triangles;
    for (const Vec3f& p : entry.positions) mesh.positions.push_back(p.cast<double>());
    handles_[index] = tracer_.addMesh(mesh, kCreaseAngle, entry.interior, entry.slots);
    slotMaterials_[index] = entry.slotMaterials;
  }
  placed.mesh = handles_[index];
  if (byMaterial) paintSlots(slotMaterials_[index], placed);
}

// What a body is textured with goes by the name of what is inside of it. Only surfaces in cages know where
// their walls are at rest.
std::shared_ptr<const SolidTexture> RunPictures::solidOfBody(const record::BodyShape& shape,
                                                             const std::string& material) {
  if (!shape.caged) return nullptr;
  std::string name = material;
  for (const material::Material& m : summary_.materials)
    if (m.name == material && !m.inside.empty()) name = m.inside;
  auto solid = std::make_shared<SolidTexture>();
  solid->kind = solidOf(name);
  if (solid->kind == Solid::Plain) return nullptr;
  Box3f box;
  for (const Vec3f& p : shape.caged.surface->positions) box.grow(p);
  solid->middle = 0.5f * (box.lower + box.upper);
  solid->scale = 1 / std::max((box.upper - box.lower).maxCoeff(), 1e-9f);
  if (solid->kind != Solid::Flesh) return solid;
  for (const Depths& known : depths_)
    if (known.surface == shape.caged.surface) solid->depths = known.depths;
  if (!solid->depths) {
    solid->depths = std::make_shared<SoftDepths>(depthsOf(shape.caged));
    depths_.push_back({shape.caged.surface, solid->depths});
  }
  return solid;
}

// A mesh for one shot: it is of this frame alone. Positions that cannot be drawn leave it at rest.
void RunPictures::placeShape(const record::BodyShape& shape, const std::string& material,
                             const RunShotSettings& settings, double top, PlacedMesh& placed) {
  placed.mesh = kNoIndex;
  const record::MeshEntry& entry = *shape.mesh;
  std::span<const Vec3f> vertices = shape.vertices();
  if (!std::all_of(vertices.begin(), vertices.end(), drawable)) vertices = entry.positions;
  if (entry.triangles.empty() || !std::all_of(vertices.begin(), vertices.end(), drawable)) return;
  geometry::TriMesh mesh;
  mesh.triangles = entry.triangles;
  for (const Vec3f& p : vertices) mesh.positions.push_back(p.cast<double>());
  std::vector<uint16_t> slots = entry.slots;
  if (const std::vector<float>* values = pointValues(shape.fields, settings)) {
    slots.clear();
    for (const geometry::Triangle& t : entry.triangles) {
      const double mean = (double((*values)[t[0]]) + double((*values)[t[1]]) + double((*values)[t[2]])) / 3;
      slots.push_back(uint16_t(1 + colourOf(mean / top)));
    }
    for (size_t k = 0; k < kColours; ++k) placed.slots.push_back({colourLook(k)});
  } else if (settings.colourBy == ColourBy::Material) {
    paintSlots(entry.slotMaterials, placed);
    placed.solid = solidOfBody(shape, material);
  }
  const uint32_t added =
      shape.caged && vertices.data() == shape.vertices().data()
          ? tracer_.addMesh(mesh, normals_.of(shape), entry.interior, std::move(slots), entry.positions)
          : tracer_.addMesh(mesh, kCreaseAngle, entry.interior, std::move(slots), entry.positions);
  placed.mesh = ofShot_.emplace_back(added);
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

// What particles or vertices are coloured by; null: by their material.
const std::vector<float>* RunPictures::pointValues(const std::vector<record::PointField>& fields,
                                                   const RunShotSettings& settings) {
  for (const record::PointField& f : fields) {
    if (settings.colourBy == ColourBy::Field && f.name == settings.field && f.components == 1)
      return &f.values;
    if (settings.colourBy != ColourBy::Speed || f.name != "velocity" || f.components != 3) continue;
    speeds_.clear();
    for (size_t i = 0; 3 * i < f.values.size(); ++i)
      speeds_.push_back(Eigen::Map<const Vec3f>(f.values.data() + 3 * i).norm());
    return &speeds_;
  }
  return nullptr;
}

void RunPictures::placeParticles(const record::BodyPoints& points, const Look& look,
                                 const RunShotSettings& settings, double top, Shot& shot) {
  const std::vector<float>* values = pointValues(points.fields, settings);
  const std::vector<float>* radii = nullptr;
  for (const record::PointField& f : points.fields)
    if (f.name == "radius" && f.components == 1) radii = &f.values;
  const auto first = uint32_t(shot.sphereLooks.size());
  if (values)
    for (size_t k = 0; k < kColours; ++k) shot.sphereLooks.push_back(colourLook(k));
  else
    shot.sphereLooks.push_back(look);
  const record::BodyState& state = frame_.bodies[points.body];
  for (size_t i = 0; i < points.positions.size(); ++i) {
    PlacedSphere sphere;
    sphere.centre = state.position + state.rotation * points.positions[i];
    sphere.radius = radii ? (*radii)[i] : points.radius;
    if (!drawable(sphere.centre) || !(sphere.radius > 0) || !drawable(Vec3f(sphere.radius, 0, 0))) continue;
    sphere.look = first;
    if (values) sphere.look += uint32_t(colourOf(double((*values)[i]) / top));
    shot.spheres.push_back(sphere);
  }
}

// As chains of small balls.
void RunPictures::placeFronts(size_t frame, Shot& shot) const {
  constexpr size_t kMostBalls = 200'000;
  std::vector<record::CrackFront> fronts;
  try {
    fronts = run_.fronts(frame);
  } catch (const Error&) {
    return;  // lost
  }
  const auto radius = float(0.004 * summary_.action.diagonal());
  if (fronts.empty() || !(radius > 0) || !std::isfinite(radius)) return;
  const auto first = uint32_t(shot.sphereLooks.size());
  shot.sphereLooks.push_back({.colour = {0.8f, 0.02f, 0.02f}, .roughness = 0.5f});
  shot.sphereLooks.push_back({.colour = {0.02f, 0.02f, 0.03f}, .roughness = 0.5f});
  size_t balls = 0;
  for (const record::CrackFront& front : fronts) {
    if (front.body >= frame_.bodies.size() || !showable(frame_.bodies[front.body])) continue;
    const record::BodyState& state = frame_.bodies[front.body];
    const size_t count = front.points.size();
    for (size_t i = 0; i < count; ++i) {
      const record::FrontPoint &a = front.points[i], &b = front.points[(i + 1) % count];
      if (a.state == record::FrontState::Left) continue;
      const bool joined = i + 1 < count || front.closed;
      const float length = joined ? (b.position - a.position).norm() : 0;
      const auto steps = size_t(std::clamp(length / radius, 1.0f, 1000.0f));
      for (size_t k = 0; k < steps && balls < kMostBalls; ++k) {
        const float share = joined ? float(k) / float(steps) : 0;
        PlacedSphere ball;
        ball.centre = state.position + state.rotation * (a.position + share * (b.position - a.position));
        ball.radius = radius;
        ball.look = first + (a.state == record::FrontState::Arrested);
        if (!drawable(ball.centre)) continue;
        shot.spheres.push_back(ball);
        ++balls;
      }
    }
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
      if (const std::vector<float>* own = pointValues(points.fields, settings))
        for (const float v : *own) top = std::max(top, v);
  if (!(top > 0)) top = 1;
  auto points = frame_.points.begin();
  for (size_t b = 0; b < frame_.bodies.size(); ++b) {
    const record::BodyEntry& body = run_.bodies()[b];
    const record::BodyState& state = frame_.bodies[b];
    while (points != frame_.points.end() && points->body < b) ++points;
    const bool own = points != frame_.points.end() && points->body == b;
    const bool meshed = run_.meshOf(b, frame) < run_.meshCount();
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
    if (hasOwnShape(run_, frame_, frame, uint32_t(b)))
      placeShape(shapeOrNone(meshes_, frame_, frame, uint32_t(b)), body.material, settings, top, placed);
    else
      placeMesh(run_.meshOf(b, frame), settings.colourBy == ColourBy::Material, placed);
    if (placed.mesh != kNoIndex) shot.meshes.push_back(placed);
  }
  if (settings.fronts) placeFronts(frame, shot);
  return shot;
}

}  // namespace sunder::show
