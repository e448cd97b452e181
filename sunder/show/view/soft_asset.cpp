#include "sunder/show/view/soft_asset.h"

#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/show/caged_normals.h"
#include "sunder/show/corner_normals.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace sunder::show {

namespace {

constexpr uint32_t kNoFace = 4, kInsideBit = 1u << 3, kUpperBit = 1u << 6, kOddBit = 1u << 7,
                   kExposureShift = 28;
constexpr size_t kMostCompared = 64;  // corners at a vertex; what more there are become vertices of their own

// Corners that agree in everything become one vertex.
class VertexTable {
 public:
  VertexTable(SoftVertices& out, const record::MeshEntry& cage, const CornerOrder& order)
      : out_(out), cage_(cage), order_(order) {}
  // `weights` by corner of the cage's tetrahedron.
  uint32_t add(uint32_t vertex, uint32_t tet, const Vec3f& normal, uint32_t flags, const Vec3f& rest,
               const Vec4f& weights) {
    const std::array<uint8_t, 4>& order = order_[tet];
    if (isOdd(order)) flags |= kOddBit;
    if (vertex >= first_.size()) first_.resize(size_t(vertex) + 1, kNoIndex);
    size_t steps = 0;
    for (uint32_t at = first_[vertex]; at != kNoIndex && steps < kMostCompared; at = next_[at], ++steps)
      if (out_.tets[at] == tet && out_.flags[at] == flags && normals_[at] == normal) return at;
    const auto added = uint32_t(out_.tets.size());
    next_.push_back(first_[vertex]);
    first_[vertex] = added;
    normals_.push_back(normal);
    const std::array<Vec3f, 4> given = cornersOf(cage_.tets[tet], cage_.positions);
    std::array<Vec3f, 4> corners;
    Vec4f& own = out_.weights.emplace_back();
    for (size_t k = 0; k < 4; ++k) {
      corners[k] = given[order[k]];
      own[int(k)] = weights[int(order[k])];
    }
    out_.covectors.push_back(covectorOf(normal, corners));
    out_.rest.push_back(rest);
    out_.tets.push_back(tet);
    out_.flags.push_back(flags);
    return added;
  }

 private:
  static bool isOdd(const std::array<uint8_t, 4>& order) {
    int swaps = 0;
    for (size_t i = 0; i < 4; ++i)
      for (size_t j = i + 1; j < 4; ++j) swaps += order[i] > order[j];
    return swaps % 2 != 0;
  }

  SoftVertices& out_;
  const record::MeshEntry& cage_;
  const CornerOrder& order_;
  std::vector<uint32_t> first_, next_;  // what became of each vertex, as chains
  std::vector<Vec3f> normals_;          // at rest, of the vertices that were made
};

// Tetrahedra that hold parts of each triangle of the source: pairs of triangle and tetrahedron, ascending.
std::vector<std::pair<uint32_t, uint32_t>> holdersOf(const record::CagedSurface& caged) {
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  const std::vector<uint32_t>& sources = caged.embedding->sources;
  for (size_t t = 0; t < sources.size(); ++t)
    if (sources[t] != kNoIndex)
      pairs.emplace_back(sources[t], caged.embedding->tets[caged.surface->triangles[t][0]]);
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

uint32_t slotOf(const record::MeshEntry& mesh, size_t triangle) {
  return mesh.slots.empty() ? 0u : uint32_t(mesh.slots[triangle]) << 16;
}

// Of a place in the tetrahedron at rest, or outside of it; of a flat one the first corner.
Vec4f weightsOf(const Vec3& place, const std::array<Vec3f, 4>& corners) {
  const Vec3 origin = corners[0].cast<double>();
  Mat3 edges;
  for (int k = 0; k < 3; ++k) edges.col(k) = corners[size_t(k) + 1].cast<double>() - origin;
  const double volume = edges.determinant();
  const Vec3 share = volume != 0 ? Vec3(edges.inverse() * (place - origin)) : Vec3::Zero();
  if (!share.allFinite()) return Vec4f(1, 0, 0, 0);
  return Vec4f(float(1 - share.sum()), float(share[0]), float(share[1]), float(share[2]));
}

void addCopies(const record::CagedSurface& caged, const CornerOrder& order, std::span<const uint32_t> counts,
               std::span<const std::pair<uint32_t, uint32_t>> holders, SoftVertices& out) {
  const record::MeshEntry &source = *caged.source, &cage = *caged.cage;
  geometry::TriMesh mesh;
  mesh.triangles = source.triangles;
  for (const Vec3f& p : source.positions) mesh.positions.push_back(p.cast<double>());
  const std::vector<Vec3f> normals = cornerNormals(mesh);
  VertexTable table(out, cage, order);
  for (const auto& [triangle, tet] : holders) {
    const uint32_t flags = kNoFace | std::min(counts[triangle], 3u) << 4 | slotOf(source, triangle) |
                           (!source.interior.empty() && source.interior[triangle] ? kInsideBit : 0u);
    geometry::Triangle corners{};
    for (size_t k = 0; k < 3; ++k) {
      const uint32_t v = source.triangles[triangle][k];
      corners[k] = table.add(v, tet, normals[3 * triangle + k], flags, source.positions[v],
                             weightsOf(mesh.positions[v], cornersOf(cage.tets[tet], cage.positions)));
    }
    out.triangles.push_back(corners);
  }
}

// Neighbours across faces: whether a wall's other side is a tetrahedron with a larger number.
std::vector<uint8_t> upperNeighbours(std::span<const geometry::Tetrahedron> tets) {
  std::vector<std::pair<std::array<uint32_t, 3>, uint32_t>> faces;
  for (uint32_t t = 0; t < tets.size(); ++t)
    for (uint32_t k = 0; k < 4; ++k) {
      std::array<uint32_t, 3> face{};
      size_t at = 0;
      for (uint32_t c = 0; c < 4; ++c)
        if (c != k) face[at++] = tets[t][c];
      std::sort(face.begin(), face.end());
      faces.emplace_back(face, 4 * t + k);
    }
  std::sort(faces.begin(), faces.end());
  std::vector<uint8_t> upper(4 * tets.size(), 0);
  for (size_t i = 0; i + 1 < faces.size(); ++i)
    if (faces[i].first == faces[i + 1].first) upper[faces[i].second] = 1;
  return upper;
}

void put(ByteWriter& writer, const SoftVertices& vertices) {
  for (const Vec4f& w : vertices.weights) writer.writeArray(std::span(w.data(), 4));
  for (const Vec3f& c : vertices.covectors) writer.writeArray(std::span(c.data(), 3));
  for (const Vec3f& p : vertices.rest) writer.writeArray(std::span(p.data(), 3));
  writer.writeArray(std::span(vertices.tets));
  writer.writeArray(std::span(vertices.flags));
  for (const geometry::Triangle& t : vertices.triangles) writer.writeArray(std::span(t.data(), 3));
}

}  // namespace

SoftAsset softAsset(const record::CagedSurface& caged) {
  const record::MeshEntry &surface = *caged.surface, &cage = *caged.cage;
  const record::Embedding& embedding = *caged.embedding;
  const std::vector<Vec3f> normals = normalsAtRest(caged);
  const std::vector<uint8_t> upper = upperNeighbours(cage.tets);
  const CornerOrder order = cornerOrder(cage.tets);
  const bool known = caged.source && !embedding.sources.empty();
  std::vector<std::pair<uint32_t, uint32_t>> holders;
  std::vector<uint32_t> counts;
  if (known) {
    holders = holdersOf(caged);
    counts.resize(caged.source->triangles.size(), 0);
    for (const auto& [triangle, tet] : holders) ++counts[triangle];
  }
  SoftAsset asset;
  VertexTable outside(asset.outside, cage, order), walls(asset.walls, cage, order);
  for (size_t t = 0; t < surface.triangles.size(); ++t) {
    const uint32_t wall = embedding.walls.empty() ? kNoIndex : embedding.walls[t];
    uint32_t flags = slotOf(surface, t);
    if (!surface.interior.empty() && surface.interior[t]) flags |= kInsideBit;
    if (wall == kNoIndex) {
      flags |= kNoFace;
      if (known && embedding.sources[t] != kNoIndex) flags |= std::min(counts[embedding.sources[t]], 3u) << 4;
    } else {
      const auto& corners = order[wall / 4];
      flags |= uint32_t(std::find(corners.begin(), corners.end(), uint8_t(wall % 4)) - corners.begin()) |
               kInsideBit;
      if (upper[wall]) flags |= kUpperBit;
    }
    geometry::Triangle corners{};
    for (size_t k = 0; k < 3; ++k) {
      const uint32_t v = surface.triangles[t][k];
      corners[k] = (wall == kNoIndex ? outside : walls)
                       .add(v, embedding.tets[v], normals[3 * t + k], flags, surface.positions[v],
                            embedding.weights[v]);
    }
    (wall == kNoIndex ? asset.outside : asset.walls).triangles.push_back(corners);
  }
  if (known) addCopies(caged, order, counts, holders, asset.copies);
  asset.depths = depthsOf(caged);
  return asset;
}

std::string bytesOf(const SoftAsset& asset, const record::MeshEntry& cage) {
  std::string out;
  ByteWriter writer(out);
  for (const SoftVertices* part : {&asset.outside, &asset.walls, &asset.copies}) {
    writer.u32(uint32_t(part->tets.size()));
    writer.u32(uint32_t(part->triangles.size()));
  }
  writer.u32(uint32_t(cage.positions.size()));
  writer.u32(uint32_t(cage.tets.size()));
  for (const uint32_t count : asset.depths.count) writer.u32(count);
  for (const Vec3f* corner : {&asset.depths.lower, &asset.depths.upper})
    writer.writeArray(std::span(corner->data(), 3));
  writer.f32(asset.depths.deepest);
  for (const SoftVertices* part : {&asset.outside, &asset.walls, &asset.copies}) put(writer, *part);
  for (const Vec3f& p : cage.positions) writer.writeArray(std::span(p.data(), 3));
  for (const TetTexel& texel : tetTexels(cage.tets, cornerOrder(cage.tets)))
    writer.writeArray(std::span<const uint32_t>(texel));
  writer.writeArray(std::span(asset.depths.shares));
  return out;
}

CornerOrder cornerOrder(std::span<const geometry::Tetrahedron> rest) {
  CornerOrder order(rest.size(), {0, 1, 2, 3});
  for (size_t t = 0; t < rest.size(); ++t)
    for (size_t i = 1; i < 4; ++i)
      for (size_t j = i; j > 0 && rest[t][order[t][j]] < rest[t][order[t][j - 1]]; --j)
        std::swap(order[t][j], order[t][j - 1]);
  return order;
}

std::vector<TetTexel> tetTexels(std::span<const geometry::Tetrahedron> tets, const CornerOrder& order) {
  const std::vector<uint8_t> exposed = record::exposedFaces(tets);
  std::vector<TetTexel> texels(tets.size());
  for (size_t t = 0; t < tets.size(); ++t) {
    uint32_t open = 0;
    for (size_t k = 0; k < 4; ++k) {
      const uint32_t vertex = tets[t][order[t][k]];
      if (vertex >> kExposureShift != 0)
        throw Error(ErrorKind::Limit,
                    fmt::format("tetrahedron {} has vertex {}: the page shows cages of up to 2^28 vertices",
                                t, vertex));
      texels[t][k] = vertex;
      open |= (exposed[t] >> order[t][k] & 1u) << k;
    }
    texels[t][3] |= open << kExposureShift;
  }
  return texels;
}

std::string texelChanges(std::span<const TetTexel> before, std::span<const TetTexel> now) {
  std::string out;
  ByteWriter writer(out);
  writer.u32(0);
  uint32_t count = 0;
  for (size_t t = 0; t < now.size(); ++t) {
    if (t < before.size() && before[t] == now[t]) continue;
    writer.u32(uint32_t(t));
    writer.writeArray(std::span<const uint32_t>(now[t]));
    ++count;
  }
  writer.overwrite<uint32_t>(0, count);
  return out;
}

}  // namespace sunder::show
