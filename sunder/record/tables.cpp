#include "sunder/record/tables.h"

#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/record/frame_lists.h"
#include "sunder/record/payload.h"

#include <algorithm>

#include <fmt/core.h>

namespace sunder::record {

std::string encode(const RunInfo& info) {
  std::string out;
  ByteWriter writer(out);
  putText(writer, info.program);
  putText(writer, info.sceneName);
  writer.f64(info.frameRate);
  putText(writer, info.scene);
  if (!info.inputs.empty()) putText(writer, encode(info.inputs));
  return out;
}

RunInfo decodeInfo(std::string_view payload, const std::string& file) {
  ByteReader in = readerOf(payload, file);
  RunInfo info;
  info.program = getText(in, "program version");
  info.sceneName = getText(in, "scene name");
  info.frameRate = in.f64("frame rate");
  info.scene = getText(in, "scene");
  if (!in.atEnd()) info.inputs = decodeInputs(getText(in, "inputs of the run"), file);
  if (!(info.frameRate > 0) || !(info.frameRate < 1e9)) in.fail("the frame rate makes no sense");
  return info;
}

uint32_t decodeIndex(std::string_view payload, const std::string& file) {
  return readerOf(payload, file).u32("index");
}

namespace {

// The colour is three values of the table.
constexpr const char* kColourNames[] = {"colour.red", "colour.green", "colour.blue"};

}  // namespace

std::string encode(const material::Material& material, uint32_t index) {
  std::string out;
  ByteWriter writer(out);
  writer.u32(index);
  putName(writer, material.name);
  putName(writer, material.inside);
  const std::span<const material::Property> properties = material::properties();
  writer.u32(static_cast<uint32_t>(properties.size() + 3));
  for (const material::Property& property : properties) {
    putName(writer, property.name);
    writer.f64(material.*property.value);
  }
  for (int k = 0; k < 3; ++k) {
    putName(writer, kColourNames[k]);
    writer.f64(material.colour[k]);
  }
  return out;
}

material::Material decodeMaterial(std::string_view payload, const std::string& file) {
  ByteReader in = readerOf(payload, file);
  in.u32("index");
  material::Material out;
  out.name = getName(in, "name of a material");
  out.inside = getName(in, "name of the material inside");
  const uint32_t count = in.u32("number of values");
  in.need(count, 12, "values of a material");
  for (uint32_t i = 0; i < count; ++i) {
    const std::string key = getName(in, "name of a value");
    const double value = in.f64("values of a material");
    const auto refuse = [&] {
      in.fail(fmt::format("the {} of the material {} cannot be {}", key, out.name, value));
    };
    for (const material::Property& property : material::properties()) {
      if (property.name != key) continue;
      if (!property.allows(value)) refuse();
      out.*property.value = value;
    }
    for (int k = 0; k < 3; ++k) {
      if (kColourNames[k] != key) continue;
      if (!(value >= 0 && value <= 1)) refuse();
      out.colour[k] = value;
    }
  }
  return out;
}

namespace {

// Texture coordinates and material slots, behind the inner triangles.
void putSurfaceValues(ByteWriter& out, const MeshEntry& mesh) {
  const size_t triangles = mesh.triangles.size();
  if ((!mesh.uvs.empty() && mesh.uvs.size() != 3 * triangles) ||
      (!mesh.slots.empty() && mesh.slots.size() != triangles))
    throw Error(ErrorKind::Usage, fmt::format("texture coordinates or material slots do not fit the {} "
                                              "triangles of the mesh '{}'",
                                              triangles, mesh.name));
  if (mesh.slotMaterials.size() >= UINT16_MAX)
    throw Error(ErrorKind::Limit, fmt::format("the mesh '{}' has too many material slots", mesh.name));
  for (const uint16_t slot : mesh.slots)
    if (slot > mesh.slotMaterials.size())
      throw Error(ErrorKind::Usage,
                  fmt::format("material slot {} of the mesh '{}' is not there", slot, mesh.name));
  out.u8(uint8_t((mesh.uvs.empty() ? 0 : kHasUvs) | (mesh.slots.empty() ? 0 : kHasSlots)));
  for (const Vec2f& uv : mesh.uvs) out.writeArray(std::span(uv.data(), 2));
  if (mesh.slots.empty()) return;
  out.u16(uint16_t(mesh.slotMaterials.size()));
  for (const std::string& name : mesh.slotMaterials) putName(out, name);
  out.writeArray(std::span(mesh.slots));
}

void getSurfaceValues(ByteReader& in, MeshEntry& mesh) {
  const size_t triangles = mesh.triangles.size();
  const uint8_t flags = in.u8("kinds of values");
  if (flags & kHasUvs) getUvs(in, mesh.uvs, triangles);
  if (!(flags & kHasSlots)) return;
  const uint16_t names = in.u16("number of material slots");
  in.need(names, 4, "material slots");
  for (uint16_t i = 0; i < names; ++i) mesh.slotMaterials.push_back(getName(in, "name of a material"));
  in.need(triangles, 2, "material slots");
  mesh.slots.resize(triangles);
  in.readArray(std::span(mesh.slots), "material slots");
  for (const uint16_t slot : mesh.slots)
    if (slot > names)
      in.fail(fmt::format("a triangle has material slot {}, but there are only {}", slot, names));
}

}  // namespace

std::string encode(const MeshEntry& mesh, uint32_t index) {
  std::string out;
  ByteWriter writer(out);
  writer.u32(index);
  putName(writer, mesh.name);
  writer.u32(static_cast<uint32_t>(mesh.positions.size()));
  writer.u32(static_cast<uint32_t>(mesh.triangles.size()));
  writer.u32(static_cast<uint32_t>(mesh.tets.size()));
  for (const Vec3f& p : mesh.positions) putVector(writer, p);
  putCells(writer, mesh.triangles);
  putCells(writer, mesh.tets);
  const bool more = !mesh.uvs.empty() || !mesh.slots.empty();
  if (!mesh.interior.empty())
    writer.writeArray(std::span(mesh.interior));
  else if (more)
    writer.zeros(mesh.triangles.size());
  if (more) putSurfaceValues(writer, mesh);
  return out;
}

MeshEntry decodeMesh(std::string_view payload, const std::string& file) {
  ByteReader in = readerOf(payload, file);
  in.u32("index");
  MeshEntry mesh;
  mesh.name = getName(in, "name of a mesh");
  const uint32_t vertices = in.u32("number of vertices"), triangles = in.u32("number of triangles"),
                 tets = in.u32("number of tetrahedra");
  in.need(vertices, 12, "vertices");
  mesh.positions.resize(vertices);
  for (Vec3f& p : mesh.positions) p = getVector(in, "vertices");
  getCells(in, mesh.triangles, triangles, vertices, "triangles");
  getCells(in, mesh.tets, tets, vertices, "tetrahedra");
  if (in.atEnd()) return mesh;
  in.need(triangles, 1, "inner triangles");
  mesh.interior.resize(triangles);
  in.readArray(std::span(mesh.interior), "inner triangles");
  if (in.atEnd()) return mesh;
  getSurfaceValues(in, mesh);
  if (std::all_of(mesh.interior.begin(), mesh.interior.end(), [](uint8_t i) { return i == 0; }))
    mesh.interior.clear();
  return mesh;
}

std::string encode(const BodyEntry& body, uint32_t index) {
  std::string out;
  ByteWriter writer(out);
  writer.u32(index);
  putName(writer, body.name);
  writer.u32(body.parent);
  putName(writer, body.material);
  writer.u32(body.mesh);
  writer.f64(body.mass);
  writer.u8(static_cast<uint8_t>(body.kind));
  writer.u64(body.born);
  writer.u8(body.ground ? (*body.ground ? 2 : 1) : 0);
  return out;
}

BodyEntry decodeBody(std::string_view payload, const std::string& file) {
  ByteReader in = readerOf(payload, file);
  in.u32("index");
  BodyEntry body;
  body.name = getName(in, "name of a body");
  body.parent = in.u32("parent");
  body.material = getName(in, "material");
  body.mesh = in.u32("mesh");
  body.mass = in.f64("mass");
  body.kind = getKind(in, BodyKind::Fluid, "kind of body");
  body.born = in.u64("frame of birth");
  if (in.atEnd()) return body;  // of a program that did not say what the ground is
  if (const uint8_t said = in.u8("ground"); said > 0) body.ground = said > 1;
  return body;
}

std::string encode(std::span<const Event> events) {
  std::string out;
  ByteWriter writer(out);
  writer.u32(static_cast<uint32_t>(events.size()));
  for (const Event& event : events) {
    writer.u8(static_cast<uint8_t>(event.kind));
    writer.u32(event.a);
    writer.u32(event.b);
    putVector(writer, event.point);
    putVector(writer, event.normal);
    writer.f32(event.impulse);
    writer.f32(event.approach);
    putText(writer, event.text);
  }
  if (std::any_of(events.begin(), events.end(), [](const Event& e) { return e.energy != 0; }))
    for (const Event& event : events) writer.f32(event.energy);
  return out;
}

std::vector<Event> decodeEvents(std::string_view payload, const std::string& file) {
  ByteReader in = readerOf(payload, file);
  const uint32_t count = in.u32("number of events");
  in.need(count, 45, "events");
  std::vector<Event> events(count);
  for (Event& event : events) {
    event.kind = getKind(in, EventKind::Cut, "kind of event");
    event.a = in.u32("event");
    event.b = in.u32("event");
    event.point = getVector(in, "event");
    event.normal = getVector(in, "event");
    event.impulse = in.f32("event");
    event.approach = in.f32("event");
    event.text = getText(in, "event");
  }
  if (in.atEnd()) return events;
  in.need(count, 4, "energies of events");
  for (Event& event : events) event.energy = getFinite(in, "energy of an event");
  return events;
}

std::string encode(const RunEnd& end) {
  std::string out;
  ByteWriter writer(out);
  writer.u8(static_cast<uint8_t>(end.kind));
  putText(writer, end.message);
  writer.u64(end.hash);
  putText(writer, end.report);
  return out;
}

RunEnd decodeEnd(std::string_view payload, const std::string& file) {
  ByteReader in = readerOf(payload, file);
  RunEnd end;
  end.kind = getKind(in, EndKind::Diverged, "end of the run");
  end.message = getText(in, "message");
  end.hash = in.u64("hash");
  end.report = getText(in, "report");
  return end;
}

std::string encodeNames(std::span<const std::string> names, uint32_t index) {
  std::string out;
  ByteWriter writer(out);
  writer.u32(index);
  writer.u32(static_cast<uint32_t>(names.size()));
  for (const std::string& name : names) putText(writer, name);
  return out;
}

std::vector<std::string> decodeNames(std::string_view payload, bool indexed, const std::string& file) {
  ByteReader in = readerOf(payload, file);
  if (indexed) in.u32("index");
  const uint32_t count = in.u32("number of names");
  in.need(count, 4, "names");
  std::vector<std::string> names(count);
  for (std::string& name : names) name = getText(in, "name");
  return names;
}

std::string encodeStatistics(uint32_t names, std::span<const Statistic> statistics) {
  std::string out;
  ByteWriter writer(out);
  writer.u32(names);
  writer.u32(static_cast<uint32_t>(statistics.size()));
  for (const Statistic& s : statistics) writer.f64(s.value);
  return out;
}

StatisticRow decodeStatistics(std::string_view payload, const std::string& file) {
  ByteReader in = readerOf(payload, file);
  StatisticRow row;
  row.names = in.u32("list of names");
  const uint32_t count = in.u32("number of statistics");
  in.need(count, 8, "statistics");
  row.values.resize(count);
  in.readArray(std::span(row.values), "statistics");
  return row;
}

}  // namespace sunder::record
