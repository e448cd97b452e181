#include "sunder/record/tables.h"

#include "sunder/base/bytes.h"
#include "sunder/base/error.h"

#include <fmt/core.h>

namespace sunder::record {

namespace {

ByteReader readerOf(std::string_view payload, const std::string& file) {
  return ByteReader(std::as_bytes(std::span(payload.data(), payload.size())), file);
}

void putText(ByteWriter& out, std::string_view text) {
  out.u32(static_cast<uint32_t>(text.size()));
  out.string(text);
}

std::string getText(ByteReader& in, std::string_view what) {
  const uint32_t length = in.u32(what);
  return in.string(length, what);
}

// All names are in memory at once, so they are not as long as a packed chunk might make them.
void putName(ByteWriter& out, std::string_view name) {
  if (name.size() > kLongestName)
    throw Error(ErrorKind::Limit, fmt::format("a name of {} bytes is too long for a run file, which takes {}",
                                              name.size(), kLongestName));
  putText(out, name);
}

std::string getName(ByteReader& in, std::string_view what) {
  const uint32_t length = in.u32(what);
  if (length > kLongestName) in.fail(fmt::format("the {} is too long", what));
  return in.string(length, what);
}

void putVector(ByteWriter& out, const Vec3f& v) {
  for (int k = 0; k < 3; ++k) out.f32(v[k]);
}

Vec3f getVector(ByteReader& in, std::string_view what) {
  Vec3f v;
  for (int k = 0; k < 3; ++k) v[k] = in.f32(what);
  return v;
}

template <size_t N>
void putCells(ByteWriter& out, const std::vector<std::array<uint32_t, N>>& cells) {
  for (const auto& cell : cells) out.writeArray(std::span<const uint32_t>(cell));
}

template <size_t N>
void getCells(ByteReader& in, std::vector<std::array<uint32_t, N>>& cells, uint32_t count, size_t vertices,
              std::string_view what) {
  in.need(count, 4 * N, what);
  cells.resize(count);
  for (auto& cell : cells) {
    in.readArray(std::span<uint32_t>(cell), what);
    for (const uint32_t v : cell)
      if (v >= vertices)
        in.fail(fmt::format("{} refer to vertex {}, but there are only {}", what, v, vertices));
  }
}

template <class Enum>
Enum getKind(ByteReader& in, Enum last, std::string_view what) {
  const uint8_t value = in.u8(what);
  if (value > static_cast<uint8_t>(last)) in.fail(fmt::format("{} {} is not known", what, value));
  return static_cast<Enum>(value);
}

}  // namespace

std::string encode(const RunInfo& info) {
  std::string out;
  ByteWriter writer(out);
  putText(writer, info.program);
  putText(writer, info.sceneName);
  writer.f64(info.frameRate);
  putText(writer, info.scene);
  return out;
}

RunInfo decodeInfo(std::string_view payload, const std::string& file) {
  ByteReader in = readerOf(payload, file);
  RunInfo info;
  info.program = getText(in, "program version");
  info.sceneName = getText(in, "scene name");
  info.frameRate = in.f64("frame rate");
  info.scene = getText(in, "scene");
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
  if (!mesh.interior.empty()) writer.writeArray(std::span(mesh.interior));
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
  return out;
}

std::vector<Event> decodeEvents(std::string_view payload, const std::string& file) {
  ByteReader in = readerOf(payload, file);
  const uint32_t count = in.u32("number of events");
  in.need(count, 45, "events");
  std::vector<Event> events(count);
  for (Event& event : events) {
    event.kind = getKind(in, EventKind::Fracture, "kind of event");
    event.a = in.u32("event");
    event.b = in.u32("event");
    event.point = getVector(in, "event");
    event.normal = getVector(in, "event");
    event.impulse = in.f32("event");
    event.approach = in.f32("event");
    event.text = getText(in, "event");
  }
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
