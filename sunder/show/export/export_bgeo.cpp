// Points as Houdini's classic binary geometry, version 5, which partio reads: big-endian, a table of point
// attributes, then for each point its position (four numbers, the last 1) and the attributes' values. A scene
// with particles gives its particles; any other a point a body.
#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/show/export/export.h"
#include "sunder/show/export/export_files.h"

#include <algorithm>

namespace sunder::show {

namespace {

enum AttributeType : uint32_t { Float = 0, Integer = 1, Vector = 5 };

void putText(ByteWriter& out, std::string_view text) {
  text = text.substr(0, UINT16_MAX);
  out.u16(static_cast<uint16_t>(text.size()));
  out.string(text);
}

void putAttribute(ByteWriter& out, std::string_view name, uint16_t size, AttributeType type) {
  putText(out, name);
  out.u16(size);
  out.u32(type);
  for (uint16_t i = 0; i < size; ++i) out.u32(0);  // values of points that have none
}

void putVector(ByteWriter& out, const Vec3f& v) {
  for (int k = 0; k < 3; ++k) out.f32(v[k]);
}

void putHead(ByteWriter& out, uint64_t points, size_t attributes) {
  if (points > INT32_MAX) throw Error(ErrorKind::Limit, "a frame has more points than BGEO can count");
  out.string("BgeoV");
  out.u32(5);
  out.u32(static_cast<uint32_t>(points));
  // Primitives, groups of points, groups of primitives; attributes of points, vertices, primitives, the
  // whole.
  for (const size_t count : {size_t(0), size_t(0), size_t(0), attributes, size_t(0), size_t(0), size_t(0)})
    out.u32(static_cast<uint32_t>(count));
}

void putPosition(ByteWriter& out, const Vec3f& p) {
  putVector(out, p);
  out.f32(1);
}

// One point a body: with orient, v and w Houdini puts copies of meshes where the bodies are.
std::string bodyPoints(const ExportScene& scene, const record::Frame& frame) {
  std::string bytes;
  ByteWriter out(bytes, ByteOrder::Big);
  uint64_t count = 0;
  for (const record::BodyState& s : frame.bodies) count += s.present;
  putHead(out, count, 5 + frame.fields.size());
  putAttribute(out, "id", 1, Integer);
  putAttribute(out, "parent", 1, Integer);
  putAttribute(out, "v", 3, Vector);
  putAttribute(out, "w", 3, Vector);
  putAttribute(out, "orient", 4, Float);
  for (const record::BodyField& field : frame.fields) putAttribute(out, field.name, 1, Float);
  for (size_t b = 0; b < frame.bodies.size(); ++b) {
    const record::BodyState& s = frame.bodies[b];
    if (!s.present) continue;
    putPosition(out, s.position);
    out.i32(static_cast<int32_t>(b));
    out.i32(parentNumber(scene.bodies[b]));
    putVector(out, s.velocity);
    putVector(out, s.angularVelocity);
    for (int k = 0; k < 4; ++k) out.f32(s.rotation.coeffs()[k]);
    for (const record::BodyField& field : frame.fields)
      out.f32(b < field.values.size() ? field.values[b] : 0.0f);
  }
  return bytes;
}

const std::vector<float>* radiiOf(const BodySurface& cloud) {
  for (const record::PointField& field : cloud.fields)
    if (field.name == "radius" && field.components == 1) return &field.values;
  return nullptr;
}

std::string particlePoints(const std::vector<BodySurface>& clouds) {
  std::string bytes;
  ByteWriter out(bytes, ByteOrder::Big);
  uint64_t count = 0;
  for (const BodySurface& cloud : clouds) count += cloud.positions.size();
  // Particles of several sizes have a size each.
  const bool sized =
      std::any_of(clouds.begin(), clouds.end(), [](const BodySurface& c) { return radiiOf(c); });
  putHead(out, count, sized ? 4 : 3);
  putAttribute(out, "id", 1, Integer);
  putAttribute(out, "body", 1, Integer);
  putAttribute(out, "v", 3, Vector);
  if (sized) putAttribute(out, "pscale", 1, Float);
  for (const BodySurface& cloud : clouds) {
    const std::vector<float>* radii = radiiOf(cloud);
    for (size_t i = 0; i < cloud.positions.size(); ++i) {
      putPosition(out, cloud.place(cloud.positions[i]));
      out.i32(static_cast<int32_t>(i));
      out.i32(static_cast<int32_t>(cloud.body));
      putVector(out, i < cloud.own->velocities.size() ? cloud.own->velocities[i] : cloud.state->velocity);
      if (sized) out.f32(radii ? (*radii)[i] : cloud.own->radius);
    }
  }
  return bytes;
}

}  // namespace

std::string exportBgeo(const ExportScene& scene, ExportFiles& files, const ExportProgress& progress) {
  ExportFrame frame;
  for (size_t f = 0; f < scene.frames.size(); ++f) {
    scene.readFrame(scene.frames[f], frame);
    std::vector<BodySurface> clouds;
    for (const BodySurface& surface : surfacesOf(scene, frame))
      if (surface.own && surface.triangles.empty() && !surface.own->mesh) clouds.push_back(surface);
    std::string bytes = clouds.empty() ? bodyPoints(scene, frame.state) : particlePoints(clouds);
    bytes += std::string_view("\0\xff", 2);  // no more data
    files.write(frameFileName(scene.frames[f], ".bgeo"), [&](OutputFile& out) { out.write(bytes); });
    progress(f + 1, scene.frames.size());
  }
  return frameFileName(scene.frames.front(), ".bgeo");
}

}  // namespace sunder::show
