#include "sunder/soft/embed/embedded_surface.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/geometry/rows.h"
#include "sunder/soft/embed/corner_normals.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace sunder::soft {

namespace {

// What one tetrahedron holds, made on its own so that tetrahedra can be made in parallel.
struct TetPiece {
  std::vector<Vec4> weights;
  std::vector<Vec3f> normals;
  std::vector<geometry::Triangle> triangles;
  std::vector<uint32_t> source;
  std::vector<Vec2f> uvs;
};

class PieceBuilder {
 public:
  PieceBuilder(const geometry::TriMesh& surface, const Cage& cage, const SurfaceCopies& copies,
               EmbedMode mode, const SurfaceAttributes& attributes, const CornerNormals& normals)
      : surface_(surface),
        cage_(cage),
        copies_(copies),
        mode_(mode),
        attributes_(attributes),
        normals_(normals) {}

  TetPiece part(uint32_t tet) const {
    TetPiece part;
    std::vector<std::pair<uint32_t, uint32_t>> shared;  // number of a corner normal, vertex
    // Vertices of the surface, by normal: found by sorting, so that no hash decides the order.
    const uint32_t begin = copies_.trianglesOf.offsets[tet], end = copies_.trianglesOf.offsets[tet + 1];
    for (uint32_t copy = begin; copy < end; ++copy) {
      const uint32_t t = copies_.trianglesOf.items[copy];
      if (isDust(copies_.polygon(copy))) continue;
      if (mode_ == EmbedMode::Copies)
        for (uint32_t c = 0; c < 3; ++c) shared.emplace_back(normals_.ofCorner[3 * size_t(t) + c], 0u);
      else
        for (const ClipCorner& corner : copies_.polygon(copy))
          if (corner.faces == 0 && isVertex(corner))
            shared.emplace_back(normals_.ofCorner[3 * size_t(t) + vertexOf(corner)], 0u);
    }
    std::sort(shared.begin(), shared.end());
    shared.erase(std::unique(shared.begin(), shared.end()), shared.end());
    for (auto& [normal, vertex] : shared) {
      vertex = uint32_t(part.weights.size());
      const Vec3& p = surface_.positions[normals_.vertex[normal]];
      part.weights.push_back(cageWeights(cage_.rest, tet, p));
      if (mode_ == EmbedMode::Clipped) part.weights.back() = part.weights.back().cwiseMax(0);
      part.normals.push_back(normals_.normal[normal].cast<float>());
    }
    const auto find = [&](uint32_t normal) {
      return std::lower_bound(shared.begin(), shared.end(), std::pair(normal, 0u))->second;
    };
    for (uint32_t copy = begin; copy < end; ++copy) {
      const uint32_t t = copies_.trianglesOf.items[copy];
      const auto corners = copies_.polygon(copy);
      if (isDust(corners)) continue;
      if (mode_ == EmbedMode::Copies) {
        geometry::Triangle triangle;
        for (uint32_t c = 0; c < 3; ++c) triangle[c] = find(normals_.ofCorner[3 * size_t(t) + c]);
        add(part, triangle, t, {Vec3::UnitX(), Vec3::UnitY(), Vec3::UnitZ()});
        continue;
      }
      std::array<uint32_t, kMostClipCorners> vertices{};
      for (size_t c = 0; c < corners.size(); ++c) {
        if (corners[c].faces == 0 && isVertex(corners[c])) {
          vertices[c] = find(normals_.ofCorner[3 * size_t(t) + vertexOf(corners[c])]);
        } else {
          vertices[c] = uint32_t(part.weights.size());
          part.weights.push_back(corners[c].weights);
          part.normals.push_back(normalAt(t, corners[c].inTriangle));
        }
      }
      for (size_t c = 2; c < corners.size(); ++c)
        add(part, {vertices[0], vertices[c - 1], vertices[c]}, t,
            {corners[0].inTriangle, corners[c - 1].inTriangle, corners[c].inTriangle});
    }
    return part;
  }

 private:
  static bool isVertex(const ClipCorner& corner) { return (corner.edges & (corner.edges - 1)) != 0; }
  static uint32_t vertexOf(const ClipCorner& corner) {
    return corner.edges == 6 ? 0 : corner.edges == 5 ? 1 : 2;
  }

  // Sums run over the corners by ascending vertex, so that both triangles at an edge get the same.
  Vec3f normalAt(uint32_t t, const Vec3& inTriangle) const {
    std::array<uint32_t, 3> corners{0, 1, 2};
    const geometry::Triangle& v = surface_.triangles[t];
    if (v[corners[0]] > v[corners[1]]) std::swap(corners[0], corners[1]);
    if (v[corners[1]] > v[corners[2]]) std::swap(corners[1], corners[2]);
    if (v[corners[0]] > v[corners[1]]) std::swap(corners[0], corners[1]);
    Vec3 normal = Vec3::Zero();
    for (const uint32_t c : corners)
      normal += inTriangle[int(c)] * normals_.normal[normals_.ofCorner[3 * size_t(t) + c]];
    const double length = normal.norm();
    return length > 0 ? Vec3f((normal / length).cast<float>()) : Vec3f(Vec3f::Zero());
  }

  void add(TetPiece& part, const geometry::Triangle& triangle, uint32_t t,
           const std::array<Vec3, 3>& in) const {
    part.triangles.push_back(triangle);
    part.source.push_back(t);
    if (attributes_.uvs.empty()) return;
    for (const Vec3& w : in) {
      Vec2 uv = Vec2::Zero();
      for (size_t c = 0; c < 3; ++c) uv += w[int(c)] * attributes_.uvs[3 * size_t(t) + c].cast<double>();
      part.uvs.push_back(uv.cast<float>());
    }
  }

  const geometry::TriMesh& surface_;
  const Cage& cage_;
  const SurfaceCopies& copies_;
  EmbedMode mode_;
  const SurfaceAttributes& attributes_;
  const CornerNormals& normals_;
};

void checkAttributes(const geometry::TriMesh& surface, const SurfaceAttributes& attributes) {
  const size_t n = surface.triangles.size();
  if (!attributes.uvs.empty() && attributes.uvs.size() != 3 * n)
    throw Error(ErrorKind::Usage,
                fmt::format("the surface has {} triangles and {} texture coordinates, not {}", n,
                            attributes.uvs.size(), 3 * n));
  if (!attributes.slots.empty() && attributes.slots.size() != n)
    throw Error(ErrorKind::Usage, fmt::format("the surface has {} triangles and {} material slots", n,
                                              attributes.slots.size()));
  if (!(attributes.crease >= 0 && attributes.crease <= 180))
    throw Error(ErrorKind::Usage, fmt::format("the crease angle {} is not from 0 to 180", attributes.crease));
}

}  // namespace

EmbeddedSurface embedSurface(const geometry::TriMesh& surface, const Cage& cage, EmbedMode mode,
                             const SurfaceAttributes& attributes) {
  checkAttributes(surface, attributes);
  return embedSurface(surface, cage, assignSurface(surface, cage), mode, attributes);
}

EmbeddedSurface embedSurface(const geometry::TriMesh& surface, const Cage& cage, const SurfaceCopies& copies,
                             EmbedMode mode, const SurfaceAttributes& attributes) {
  checkAttributes(surface, attributes);
  if (copies.trianglesOf.size() != cage.rest.tets.size() ||
      copies.copiesOf.size() != surface.triangles.size())
    throw Error(ErrorKind::Usage, "the copies are of another surface or cage");
  const CornerNormals normals = cornerNormals(surface, attributes.crease);
  const PieceBuilder builder(surface, cage, copies, mode, attributes, normals);
  const size_t tets = cage.rest.tets.size();
  std::vector<TetPiece> parts(tets);
  parallelFor(
      tets, [&](size_t t) { parts[t] = builder.part(uint32_t(t)); }, 1);

  EmbeddedSurface out;
  out.mode = mode;
  uint64_t vertices = 0, triangles = 0;
  for (const TetPiece& part : parts) {
    vertices += part.weights.size();
    triangles += part.triangles.size();
    if (vertices >= kNoIndex || 3 * triangles >= kNoIndex)
      throw Error(ErrorKind::Limit, "the embedded surface has more vertices than 32-bit numbers count")
          .hint("fewer tetrahedra, or a surface of fewer triangles");
    out.vertexStart.push_back(uint32_t(vertices));
    out.triangleStart.push_back(uint32_t(triangles));
  }
  out.tets.resize(vertices);
  out.weights.resize(vertices);
  out.rest.resize(vertices);
  out.normals.resize(vertices);
  out.covectors.resize(vertices);
  out.triangles.resize(triangles);
  out.source.resize(triangles);
  if (!attributes.uvs.empty()) out.uvs.resize(3 * triangles);
  if (!attributes.slots.empty()) out.slots.resize(triangles);
  parallelFor(
      tets,
      [&](size_t t) {
        const TetPiece& part = parts[t];
        const geometry::Tetrahedron& tet = cage.rest.tets[t];
        const std::vector<Vec3>& x = cage.rest.positions;
        for (size_t i = 0; i < part.weights.size(); ++i) {
          const size_t v = out.vertexStart[t] + i;
          out.tets[v] = uint32_t(t);
          out.weights[v] = part.weights[i];
          Vec3 rest = Vec3::Zero(), covector;
          for (int k = 0; k < 4; ++k) rest += part.weights[i][k] * x[tet[size_t(k)]];
          const Vec3 n = part.normals[i].cast<double>();
          for (int k = 0; k < 3; ++k) covector[k] = n.dot(x[tet[size_t(k) + 1]] - x[tet[0]]);
          out.rest[v] = rest;
          out.normals[v] = part.normals[i];
          out.covectors[v] = covector.cast<float>();
        }
        for (size_t i = 0; i < part.triangles.size(); ++i) {
          const size_t k = out.triangleStart[t] + i;
          for (size_t c = 0; c < 3; ++c) out.triangles[k][c] = part.triangles[i][c] + out.vertexStart[t];
          out.source[k] = part.source[i];
          if (!out.slots.empty()) out.slots[k] = attributes.slots[part.source[i]];
        }
        if (!out.uvs.empty())
          std::copy(part.uvs.begin(), part.uvs.end(), out.uvs.begin() + 3 * long(out.triangleStart[t]));
      },
      1);
  return out;
}

}  // namespace sunder::soft
