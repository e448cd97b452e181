#include "sunder/record/mesh_change.h"

#include "sunder/record/payload.h"

#include <algorithm>

namespace sunder::record {

namespace {

constexpr float kSumOfWeights = 1e-3f;  // how far the weights of a vertex may be from adding up to 1

void putCorners(ByteWriter& out, const std::vector<CornerChange>& corners) {
  for (const CornerChange& c : corners) {
    out.u32(c.corner);
    out.u32(c.vertex);
  }
}

void getCorners(ByteReader& in, std::vector<CornerChange>& corners, uint32_t count) {
  in.need(count, 8, "corners that change");
  corners.resize(count);
  for (CornerChange& c : corners) {
    c.corner = in.u32("corners that change");
    c.vertex = in.u32("corners that change");
  }
}

void requireFit(bool fits, const char* what) {
  if (!fits) throw Error(ErrorKind::Usage, fmt::format("{} do not fit the triangles", what));
}

template <size_t N>
void changeCorners(const std::vector<CornerChange>& changes, std::vector<std::array<uint32_t, N>>& cells,
                   size_t vertices, const std::string& file) {
  for (const CornerChange& c : changes) {
    if (c.corner / N >= cells.size() || c.vertex >= vertices)
      throw Error(
          ErrorKind::Format,
          fmt::format("the change of a mesh gives corner {} to vertex {}, but the mesh has {} corners "
                      "and {} vertices",
                      c.corner, c.vertex, N * cells.size(), vertices))
          .inFile(file);
    cells[c.corner / N][c.corner % N] = c.vertex;
  }
}

}  // namespace

std::string encode(const MeshChange& change, uint32_t index, uint32_t ordinal) {
  const size_t added = change.triangles.size();
  requireFit(change.interior.empty() || change.interior.size() == added, "flags of inner faces");
  requireFit(change.uvs.empty() || change.uvs.size() == 3 * added, "texture coordinates");
  requireFit(change.slots.empty() || change.slots.size() == added, "material slots");
  std::string out;
  ByteWriter writer(out);
  writer.u32(index);
  writer.u32(change.body);
  writer.u64(change.frame);
  writer.u32(change.mesh);
  writer.u32(ordinal);
  for (const size_t count : {change.positions.size(), change.corners.size(), change.tetCorners.size(), added})
    writer.u32(static_cast<uint32_t>(count));
  writer.u8(uint8_t((change.interior.empty() ? 0 : kHasInterior) | (change.uvs.empty() ? 0 : kHasUvs) |
                    (change.slots.empty() ? 0 : kHasSlots)));
  for (const Vec3f& p : change.positions) putVector(writer, p);
  putCorners(writer, change.corners);
  putCorners(writer, change.tetCorners);
  putCells(writer, change.triangles);
  writer.writeArray(std::span(change.interior));
  for (const Vec2f& uv : change.uvs) writer.writeArray(std::span(uv.data(), 2));
  writer.writeArray(std::span(change.slots));
  return out;
}

NumberedChange decodeMeshChange(std::string_view payload, const std::string& file) {
  ByteReader in = readerOf(payload, file);
  in.u32("index");
  NumberedChange out;
  MeshChange& change = out.change;
  change.body = in.u32("body of a change");
  change.frame = in.u64("frame of a change");
  change.mesh = in.u32("mesh");
  out.ordinal = in.u32("number of a change");
  const uint32_t vertices = in.u32("number of vertices"), corners = in.u32("number of corners"),
                 tetCorners = in.u32("number of corners"), triangles = in.u32("number of triangles");
  const uint8_t flags = in.u8("kinds of values");
  in.need(vertices, 12, "vertices");
  change.positions.resize(vertices);
  for (Vec3f& p : change.positions) p = getVector(in, "vertices");
  getCorners(in, change.corners, corners);
  getCorners(in, change.tetCorners, tetCorners);
  getCells(in, change.triangles, triangles, kNoIndex, "triangles");
  if (flags & kHasInterior) {
    in.need(triangles, 1, "inner triangles");
    change.interior.resize(triangles);
    in.readArray(std::span(change.interior), "inner triangles");
  }
  if (flags & kHasUvs) getUvs(in, change.uvs, triangles);
  if (flags & kHasSlots) {
    in.need(triangles, 2, "material slots");
    change.slots.resize(triangles);
    in.readArray(std::span(change.slots), "material slots");
  }
  return out;
}

uint32_t lastMesh(const Embedding& embedding) {
  const uint32_t last = std::max(embedding.surface, embedding.cage);
  return embedding.source == kNoIndex ? last : std::max(last, embedding.source);
}

std::string encode(const Embedding& embedding, uint32_t index) {
  if (embedding.weights.size() != embedding.tets.size())
    throw Error(ErrorKind::Usage, fmt::format("{} vertices of an embedding have {} weights",
                                              embedding.tets.size(), embedding.weights.size()));
  if (embedding.sources.empty() != (embedding.source == kNoIndex))
    throw Error(ErrorKind::Usage, "an embedding names triangles of a source and the source, or neither");
  std::string out;
  ByteWriter writer(out);
  writer.u32(index);
  writer.u32(embedding.surface);
  writer.u32(embedding.cage);
  writer.u32(static_cast<uint32_t>(embedding.tets.size()));
  writer.u32(static_cast<uint32_t>(embedding.walls.size()));
  writer.writeArray(std::span(embedding.tets));
  for (const Vec4f& w : embedding.weights) writer.writeArray(std::span(w.data(), 4));
  writer.writeArray(std::span(embedding.walls));
  if (embedding.source == kNoIndex) return out;
  writer.u32(embedding.source);
  writer.u32(static_cast<uint32_t>(embedding.sources.size()));
  writer.writeArray(std::span(embedding.sources));
  return out;
}

Embedding decodeEmbedding(std::string_view payload, const std::string& file) {
  ByteReader in = readerOf(payload, file);
  in.u32("index");
  Embedding embedding;
  embedding.surface = in.u32("surface");
  embedding.cage = in.u32("cage");
  const uint32_t vertices = in.u32("number of vertices"), walls = in.u32("number of walls");
  in.need(vertices, 20, "vertices of an embedding");
  embedding.tets.resize(vertices);
  in.readArray(std::span(embedding.tets), "tetrahedra of an embedding");
  embedding.weights.resize(vertices);
  for (Vec4f& w : embedding.weights) {
    for (int k = 0; k < 4; ++k) w[k] = getFinite(in, "weight of a vertex");
    if (!(std::abs(w.sum() - 1) <= kSumOfWeights)) in.fail("weights of a vertex do not add up to 1");
  }
  in.need(walls, 4, "walls of an embedding");
  embedding.walls.resize(walls);
  in.readArray(std::span(embedding.walls), "walls of an embedding");
  if (in.atEnd()) return embedding;  // of a program that did not say what was clipped
  embedding.source = in.u32("source of an embedding");
  const uint32_t sources = in.u32("number of triangles");
  in.need(sources, 4, "sources of triangles");
  embedding.sources.resize(sources);
  in.readArray(std::span(embedding.sources), "sources of triangles");
  if (embedding.sources.empty() || embedding.source == kNoIndex) in.fail("an embedding has no source");
  return embedding;
}

void apply(const MeshChange& change, MeshEntry& mesh, const std::string& file) {
  if (mesh.positions.size() + change.positions.size() >= kNoIndex ||
      3 * (mesh.triangles.size() + change.triangles.size()) >= kNoIndex)
    throw Error(ErrorKind::Format, "the changes of a mesh make it larger than 32-bit indices allow")
        .inFile(file);
  mesh.positions.insert(mesh.positions.end(), change.positions.begin(), change.positions.end());
  const size_t vertices = mesh.positions.size(), before = mesh.triangles.size();
  changeCorners(change.corners, mesh.triangles, vertices, file);
  changeCorners(change.tetCorners, mesh.tets, vertices, file);
  for (const geometry::Triangle& t : change.triangles)
    for (const uint32_t v : t)
      if (v >= vertices)
        throw Error(ErrorKind::Format, fmt::format("the change of a mesh adds a triangle at vertex {}, but "
                                                   "there are only {}",
                                                   v, vertices))
            .inFile(file);
  for (const uint16_t slot : change.slots)
    if (slot > mesh.slotMaterials.size())
      throw Error(ErrorKind::Format, fmt::format("the change of a mesh names material slot {}, but there are "
                                                 "only {}",
                                                 slot, mesh.slotMaterials.size()))
          .inFile(file);
  mesh.triangles.insert(mesh.triangles.end(), change.triangles.begin(), change.triangles.end());
  // Values by triangle, where the triangles before or the new ones have some.
  const size_t after = mesh.triangles.size();
  const auto join = [&](auto& values, const auto& added, size_t each, const auto& none) {
    if (values.empty() && added.empty()) return;
    values.resize(each * before, none);
    values.insert(values.end(), added.begin(), added.end());
    values.resize(each * after, none);
  };
  join(mesh.interior, change.interior, 1, uint8_t(0));
  join(mesh.uvs, change.uvs, 3, Vec2f(0, 0));
  join(mesh.slots, change.slots, 1, uint16_t(0));
}

}  // namespace sunder::record
