#include "sunder/soft/embed/asset.h"

#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/base/file.h"
#include "sunder/base/hash.h"
#include "sunder/soft/embed/asset_check.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include <fmt/format.h>

namespace sunder::soft {

namespace {

constexpr std::string_view kAssetMagic = "SUNDSOFT";
constexpr uint32_t kAssetVersion = 1;
constexpr size_t kAssetHeader = 8 + 2 * sizeof(uint32_t) + sizeof(uint64_t);

template <class Vector>
void putVectors(ByteWriter& out, const std::vector<Vector>& values) {
  for (const Vector& v : values) out.writeArray(std::span(v.data(), size_t(v.size())));
}
template <class Vector>
std::vector<Vector> takeVectors(ByteReader& in, uint64_t count, const char* what) {
  in.need(count, sizeof(typename Vector::Scalar) * size_t(Vector::SizeAtCompileTime), what);
  std::vector<Vector> values(count);
  for (Vector& v : values) in.readArray(std::span(v.data(), size_t(v.size())), what);
  return values;
}
template <class Row>
void putRows(ByteWriter& out, const std::vector<Row>& rows) {
  for (const Row& row : rows) out.writeArray(std::span<const typename Row::value_type>(row));
}
template <class Row>
std::vector<Row> takeRows(ByteReader& in, uint64_t count, const char* what) {
  in.need(count, sizeof(Row), what);
  std::vector<Row> rows(count);
  for (Row& row : rows) in.readArray(std::span<typename Row::value_type>(row), what);
  return rows;
}
template <class T>
void putList(ByteWriter& out, const std::vector<T>& values) {
  out.writeArray(std::span(values));
}
template <class T>
std::vector<T> takeList(ByteReader& in, uint64_t count, const char* what) {
  in.need(count, sizeof(T), what);
  std::vector<T> values(count);
  in.readArray(std::span(values), what);
  return values;
}

std::string surfaceBytes(const Asset& asset) {
  std::string bytes;
  ByteWriter out(bytes);
  out.u32(uint32_t(asset.surface.positions.size()));
  out.u32(uint32_t(asset.surface.triangles.size()));
  out.u8(!asset.attributes.uvs.empty());
  out.u8(!asset.attributes.slots.empty());
  out.u16(uint16_t(asset.slotMaterials.size()));
  out.f64(asset.attributes.crease);
  putVectors(out, asset.surface.positions);
  putRows(out, asset.surface.triangles);
  putVectors(out, asset.attributes.uvs);
  putList(out, asset.attributes.slots);
  for (const std::string& name : asset.slotMaterials) {
    out.u32(uint32_t(name.size()));
    out.string(name);
  }
  return bytes;
}

void readSurface(ByteReader& in, Asset& asset) {
  const uint32_t vertices = in.u32("number of vertices"), triangles = in.u32("number of triangles");
  const bool uvs = in.u8("flag of texture coordinates") != 0, slots = in.u8("flag of slots") != 0;
  const uint16_t names = in.u16("number of materials");
  asset.attributes.crease = in.f64("crease angle");
  asset.surface.positions = takeVectors<Vec3>(in, vertices, "vertices of the surface");
  asset.surface.triangles = takeRows<geometry::Triangle>(in, triangles, "triangles of the surface");
  if (uvs) asset.attributes.uvs = takeVectors<Vec2f>(in, 3 * uint64_t(triangles), "texture coordinates");
  if (slots) asset.attributes.slots = takeList<uint16_t>(in, triangles, "material slots");
  for (uint16_t i = 0; i < names; ++i)
    asset.slotMaterials.push_back(in.string(in.u32("length of a name"), "name of a material"));
}

std::string cageBytes(const Cage& cage) {
  std::string bytes;
  ByteWriter out(bytes);
  out.u32(uint32_t(cage.rest.positions.size()));
  out.u32(uint32_t(cage.rest.tets.size()));
  out.u8(!cage.rest.region.empty());
  putVectors(out, cage.rest.positions);
  putRows(out, cage.rest.tets);
  putList(out, cage.rest.region);
  return bytes;
}

void readCage(ByteReader& in, Asset& asset) {
  const uint32_t vertices = in.u32("number of vertices of the cage"), tets = in.u32("number of tetrahedra");
  const bool region = in.u8("flag of regions") != 0;
  geometry::TetMesh rest;
  rest.positions = takeVectors<Vec3>(in, vertices, "vertices of the cage");
  rest.tets = takeRows<geometry::Tetrahedron>(in, tets, "tetrahedra of the cage");
  if (region) rest.region = takeList<int32_t>(in, tets, "regions of the cage");
  for (const Vec3& p : rest.positions)
    if (!p.allFinite()) in.fail("a vertex of the cage is not finite");
  try {
    asset.cage = makeCage(std::move(rest));
  } catch (const Error& error) {
    in.fail(error.message());
  }
}

std::string embeddedBytes(const EmbeddedSurface& e) {
  std::string bytes;
  ByteWriter out(bytes);
  out.u8(uint8_t(e.mode));
  out.u8(!e.uvs.empty());
  out.u8(!e.slots.empty());
  out.u32(uint32_t(e.weights.size()));
  out.u32(uint32_t(e.triangles.size()));
  out.u32(uint32_t(e.vertexStart.size()));
  putList(out, e.vertexStart);
  putList(out, e.triangleStart);
  putVectors(out, e.weights);
  putVectors(out, e.normals);
  putVectors(out, e.covectors);
  putRows(out, e.triangles);
  putList(out, e.source);
  putVectors(out, e.uvs);
  putList(out, e.slots);
  return bytes;
}

void readEmbedded(ByteReader& in, Asset& asset) {
  EmbeddedSurface& e = asset.embedded;
  const uint8_t mode = in.u8("mode");
  if (mode > uint8_t(EmbedMode::Clipped)) in.fail("there is no mode " + std::to_string(mode));
  e.mode = EmbedMode(mode);
  const bool uvs = in.u8("flag of texture coordinates") != 0, slots = in.u8("flag of slots") != 0;
  const uint32_t vertices = in.u32("number of embedded vertices"),
                 triangles = in.u32("number of embedded triangles"), starts = in.u32("number of ranges");
  e.vertexStart = takeList<uint32_t>(in, starts, "ranges of vertices");
  e.triangleStart = takeList<uint32_t>(in, starts, "ranges of triangles");
  e.weights = takeVectors<Vec4>(in, vertices, "weights");
  e.normals = takeVectors<Vec3f>(in, vertices, "normals");
  e.covectors = takeVectors<Vec3f>(in, vertices, "covectors");
  e.triangles = takeRows<geometry::Triangle>(in, triangles, "embedded triangles");
  e.source = takeList<uint32_t>(in, triangles, "sources of triangles");
  if (uvs) e.uvs = takeVectors<Vec2f>(in, 3 * uint64_t(triangles), "embedded texture coordinates");
  if (slots) e.slots = takeList<uint16_t>(in, triangles, "embedded slots");
}

// What follows from the rest, and is not in the file.
void derive(Asset& asset) {
  EmbeddedSurface& e = asset.embedded;
  e.tets.resize(e.weights.size());
  e.rest.resize(e.weights.size());
  for (uint32_t t = 0; t + 1 < e.vertexStart.size(); ++t)
    for (uint32_t v = e.vertexStart[t]; v < e.vertexStart[t + 1]; ++v) {
      e.tets[v] = t;
      Vec3 rest = Vec3::Zero();
      for (int k = 0; k < 4; ++k)
        rest += e.weights[v][k] * asset.cage.rest.positions[asset.cage.rest.tets[t][size_t(k)]];
      e.rest[v] = rest;
    }
}

void writePart(ByteWriter& out, std::string_view tag, std::string_view bytes) {
  out.string(tag);
  out.u64(bytes.size());
  out.string(bytes);
}

}  // namespace

const AssetPart* Asset::part(std::string_view tag) const {
  for (const AssetPart& p : parts)
    if (p.tag == tag) return &p;
  return nullptr;
}

void writeAsset(const std::filesystem::path& path, const Asset& asset) {
  if (const std::string problem = assetProblem(asset); !problem.empty())
    throw Error(ErrorKind::Usage, problem);
  std::string body;
  ByteWriter out(body);
  writePart(out, "SURF", surfaceBytes(asset));
  writePart(out, "CAGE", cageBytes(asset.cage));
  writePart(out, "EMBD", embeddedBytes(asset.embedded));
  for (const AssetPart& part : asset.parts) writePart(out, part.tag, part.bytes);
  std::string head;
  ByteWriter header(head);
  header.string(kAssetMagic);
  header.u32(kAssetVersion);
  header.u32(0);
  header.u64(hash64(std::string_view(body)));
  OutputFile file(path);
  file.write(head);
  file.write(body);
  file.commit();
}

Asset readAsset(const std::filesystem::path& path) {
  const InputFile file(path);
  ByteReader in(file.bytes(), path.string());
  if (in.size() < kAssetHeader || in.string(kAssetMagic.size(), "the header") != kAssetMagic)
    throw Error(ErrorKind::Format, "is not an embedded surface of sunder embed").inFile(path.string());
  const uint32_t version = in.u32("version");
  if (version != kAssetVersion)
    throw Error(ErrorKind::Unsupported,
                fmt::format("has version {}, this program reads {}", version, kAssetVersion))
        .inFile(path.string())
        .hint("make it again with sunder embed");
  in.u32("the header");
  const uint64_t checksum = in.u64("checksum");
  if (hash64(file.bytes().subspan(kAssetHeader)) != checksum)
    throw Error(ErrorKind::Format, "is damaged: its checksum is wrong").inFile(path.string());
  Asset asset;
  unsigned seen = 0;
  while (!in.atEnd()) {
    const std::string tag = in.string(4, "tag of a part");
    const uint64_t length = in.u64("length of a part");
    in.need(length, 1, "a part");
    const uint64_t offset = in.fileOffset();
    ByteReader part(in.bytes(size_t(length), "a part"), path.string(), ByteOrder::Little, offset);
    const auto read = [&](unsigned bit, auto&& reader) {
      if (seen & bit) part.fail("the part " + tag + " is there twice");
      seen |= bit;
      reader(part, asset);
      if (!part.atEnd()) part.fail("the part " + tag + " is longer than what it holds");
    };
    if (tag == "SURF")
      read(1, readSurface);
    else if (tag == "CAGE")
      read(2, readCage);
    else if (tag == "EMBD")
      read(4, readEmbedded);
    else
      asset.parts.push_back({tag, part.string(size_t(length), "a part")});
  }
  if (seen != 7) in.fail("the surface, the cage or the surface in the cage is missing");
  if (const std::string problem = assetProblem(asset); !problem.empty())
    throw Error(ErrorKind::Format, problem).inFile(path.string());
  derive(asset);
  return asset;
}

bool isAsset(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string head(kAssetMagic.size(), '\0');
  return in.read(head.data(), std::streamsize(head.size())) && head == kAssetMagic;
}

}  // namespace sunder::soft
