#include "sunder/tet/manifold.h"

#include "sunder/base/parallel.h"
#include "sunder/geometry/fans.h"
#include "sunder/geometry/tet_mesh.h"

#include <algorithm>
#include <array>

namespace sunder::tet {

namespace {

using geometry::TetMesh;
using geometry::Tetrahedron;
using geometry::Triangle;

struct Side {
  std::array<uint32_t, 2> others;  // the two higher vertices
  uint32_t tet, side;
  bool operator<(const Side& o) const { return others != o.others ? others < o.others : tet < o.tet; }
};

// Faces that one tetrahedron has alone, looking only at those between outer vertices.
std::vector<Triangle> boundaryFaces(const TetMesh& mesh, const std::vector<uint8_t>& outer) {
  std::vector<Side> sides;
  std::vector<uint32_t> lowest;
  for (uint32_t t = 0; t < mesh.tets.size(); ++t) {
    const Tetrahedron& tet = mesh.tets[t];
    if (outer[tet[0]] + outer[tet[1]] + outer[tet[2]] + outer[tet[3]] < 3) continue;
    for (uint32_t s = 0; s < 4; ++s) {
      Triangle f = geometry::tetFace(tet, s);
      if (!(outer[f[0]] && outer[f[1]] && outer[f[2]])) continue;
      std::sort(f.begin(), f.end());
      lowest.push_back(f[0]);
      sides.push_back({{f[1], f[2]}, t, s});
    }
  }
  geometry::RowsOf<Side> rows = geometry::groupBy<Side>(
      sides.size(), mesh.positions.size(), [&](size_t i) { return lowest[i]; },
      [&](size_t i) { return sides[i]; });
  std::vector<uint8_t> single(rows.items.size(), 0);
  parallelFor(
      rows.size(),
      [&](size_t v) {
        const size_t begin = rows.offsets[v], end = rows.offsets[v + 1];
        std::sort(rows.items.begin() + std::ptrdiff_t(begin), rows.items.begin() + std::ptrdiff_t(end));
        for (size_t i = begin; i < end; ++i) {
          const bool before = i > begin && rows.items[i - 1].others == rows.items[i].others;
          const bool after = i + 1 < end && rows.items[i + 1].others == rows.items[i].others;
          single[i] = !before && !after;
        }
      },
      512);
  std::vector<Triangle> faces;
  for (size_t i = 0; i < single.size(); ++i)
    if (single[i]) faces.push_back(geometry::tetFace(mesh.tets[rows.items[i].tet], rows.items[i].side));
  return faces;
}

// Vertices with several fans of boundary faces, or at an edge with more than two; ascending.
std::vector<uint32_t> pinched(const TetMesh& mesh, const std::vector<uint8_t>& outer) {
  geometry::TriMesh surface;
  surface.triangles = boundaryFaces(mesh, outer);
  std::vector<uint32_t> number(mesh.positions.size(), kNoIndex), source;
  for (Triangle& f : surface.triangles)
    for (uint32_t& v : f) {
      if (number[v] == kNoIndex) {
        number[v] = uint32_t(source.size());
        source.push_back(v);
        surface.positions.push_back(mesh.positions[v]);
      }
      v = number[v];
    }
  const geometry::MeshView view(surface);
  const geometry::EdgeAdjacency edges = geometry::edgeAdjacency(view);
  const geometry::VertexFans fans = geometry::vertexFans(view, edges, geometry::FanEdges::Regular);
  std::vector<uint8_t> bad(source.size(), 0);
  for (size_t e = 0; e < edges.size(); ++e)
    if (!geometry::isRegular(view, edges, e)) bad[edges.edges[e][0]] = bad[edges.edges[e][1]] = 1;
  std::vector<uint32_t> list;
  for (size_t v = 0; v < source.size(); ++v)
    if (bad[v] || fans.count(v) != 1) list.push_back(source[v]);
  std::sort(list.begin(), list.end());
  return list;
}

// Parts the tetrahedra around a vertex so that the faces opposite to it form a disc or a sphere in each part;
// returns the part of each.
std::vector<uint32_t> parted(const std::vector<Triangle>& link) {
  const auto shared = [&](size_t i, size_t j) {  // vertices
    size_t n = 0;
    for (const uint32_t a : link[i]) n += std::count(link[j].begin(), link[j].end(), a) != 0;
    return n;
  };
  std::vector<std::array<uint32_t, 3>> across(link.size());  // of the side opposite to each corner
  for (size_t i = 0; i < link.size(); ++i) {
    across[i].fill(kNoIndex);
    for (size_t j = 0; j < link.size(); ++j) {
      if (i == j || shared(i, j) != 2) continue;
      for (size_t k = 0; k < 3; ++k)
        if (std::count(link[j].begin(), link[j].end(), link[i][k]) == 0) across[i][k] = uint32_t(j);
    }
  }
  std::vector<uint32_t> part(link.size(), kNoIndex);
  std::vector<uint32_t> inside;  // vertices of the part that grows
  uint32_t count = 0;
  for (size_t seed = 0; seed < link.size(); ++seed) {
    if (part[seed] != kNoIndex) continue;
    part[seed] = count;
    inside.assign(link[seed].begin(), link[seed].end());
    for (bool grown = true; grown;) {
      grown = false;
      for (size_t i = seed; i < link.size(); ++i) {
        if (part[i] != kNoIndex) continue;
        size_t sides = 0, corner = 0;
        for (size_t k = 0; k < 3; ++k)
          if (across[i][k] != kNoIndex && part[across[i][k]] == count) {
            ++sides;
            corner = k;
          }
        const bool fresh = std::find(inside.begin(), inside.end(), link[i][corner]) == inside.end();
        if (sides == 0 || (sides == 1 && !fresh)) continue;
        part[i] = count;
        if (sides == 1) inside.push_back(link[i][corner]);
        grown = true;
      }
    }
    ++count;
  }
  return part;
}

}  // namespace

ManifoldReport makeManifold(TetMesh& mesh, std::vector<uint8_t> outer) {
  geometry::requireValid(mesh);
  ManifoldReport report;
  if (outer.empty()) outer.assign(mesh.positions.size(), 1);
  for (;;) {
    const std::vector<uint32_t> bad = pinched(mesh, outer);
    if (bad.empty()) return report;
    std::vector<uint32_t> row(mesh.positions.size(), kNoIndex);
    for (size_t i = 0; i < bad.size(); ++i) row[bad[i]] = uint32_t(i);
    std::vector<std::vector<uint32_t>> stars(bad.size());
    for (uint32_t t = 0; t < mesh.tets.size(); ++t)
      for (const uint32_t v : mesh.tets[t])
        if (row[v] != kNoIndex) stars[row[v]].push_back(t);
    ++report.rounds;
    // One after the other: a vertex that was doubled may have mended the next one.
    std::vector<Triangle> link;
    for (size_t i = 0; i < bad.size(); ++i) {
      const uint32_t v = bad[i];
      link.clear();
      for (const uint32_t t : stars[i]) {
        const Tetrahedron& tet = mesh.tets[t];
        const auto at = size_t(std::find(tet.begin(), tet.end(), v) - tet.begin());
        link.push_back(geometry::tetFace(tet, at));
      }
      const std::vector<uint32_t> part = parted(link);
      const uint32_t parts = 1 + *std::max_element(part.begin(), part.end());
      if (parts == 1) continue;
      const auto first = uint32_t(mesh.positions.size());
      mesh.positions.insert(mesh.positions.end(), parts - 1, Vec3(mesh.positions[v]));
      outer.insert(outer.end(), parts - 1, 1);
      report.doubled += parts - 1;
      for (size_t k = 0; k < part.size(); ++k) {
        for (const uint32_t w : link[k]) outer[w] = 1;  // the faces of slits are boundary now
        if (part[k] == 0) continue;
        for (uint32_t& w : mesh.tets[stars[i][k]])
          if (w == v) w = first + part[k] - 1;
      }
    }
  }
}

}  // namespace sunder::tet
