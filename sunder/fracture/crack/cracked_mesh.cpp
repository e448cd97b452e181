#include "sunder/fracture/crack/cracked_mesh.h"

#include "sunder/base/disjoint_sets.h"
#include "sunder/base/error.h"
#include "sunder/fracture/crack/cell_faces.h"
#include "sunder/geometry/tet_mesh.h"

#include <algorithm>

namespace sunder::fracture {

CrackedMesh::CrackedMesh(geometry::TetMesh tets) : mesh(std::move(tets)) { cuts.resize(mesh.tets.size()); }

std::array<Vec3, 4> CrackedMesh::corners(size_t tet) const {
  const auto& [a, b, c, d] = mesh.tets[tet];
  return {mesh.positions[a], mesh.positions[b], mesh.positions[c], mesh.positions[d]};
}

std::vector<CutCell> cellsOf(const CrackedMesh& mesh) {
  std::vector<CutCell> cells(mesh.size());
  for (size_t t = 0; t < mesh.size(); ++t)
    if (!mesh.cuts[t].empty()) cells[t] = makeCell(mesh.mesh.tets[t], mesh.corners(t), mesh.cuts[t]);
  return cells;
}

std::vector<double> fractionsOf(const CrackedMesh& mesh, std::span<const CutCell> cells) {
  std::vector<double> fractions(mesh.size(), 1.0);
  for (size_t t = 0; t < mesh.size(); ++t) {
    if (mesh.cuts[t].empty()) continue;
    const auto p = mesh.corners(t);
    fractions[t] = cells[t].volume() / geometry::signedVolume(p[0], p[1], p[2], p[3]);
  }
  return fractions;
}

std::vector<Link> linksOf(const CrackedMesh& mesh, std::span<const CutCell> cells) {
  std::vector<Link> links;
  const FaceOverlap overlap(mesh, cells);
  eachFaceGroup(mesh.mesh, [&](std::span<const FaceSide> sides) {
    for (size_t i = 0; i < sides.size(); ++i)
      for (size_t j = i + 1; j < sides.size(); ++j)
        if (sides[i].turned != sides[j].turned &&
            overlap(sides[i].tet, sides[i].side, sides[j].tet, sides[j].side))
          links.push_back({sides[i].tet, sides[j].tet, sides[i].side, sides[j].side});
  });
  return links;
}

std::vector<uint32_t> partsOf(size_t tets, std::span<const Link> links, uint32_t& count) {
  DisjointSets sets(tets);
  for (const Link& link : links) sets.unite(link.a, link.b);
  std::vector<uint32_t> parts(tets);
  count = 0;
  // The root is the smallest of its set, so it is numbered before the others ask for it.
  for (uint32_t t = 0; t < tets; ++t) {
    const uint32_t root = sets.find(t);
    parts[t] = root == t ? count++ : parts[root];
  }
  return parts;
}

std::vector<double> volumesOf(const CrackedMesh& mesh, std::span<const CutCell> cells,
                              std::span<const uint32_t> parts, uint32_t count) {
  std::vector<double> volume(count, 0);
  for (size_t t = 0; t < mesh.size(); ++t) {
    const auto p = mesh.corners(t);
    volume[parts[t]] +=
        mesh.cuts[t].empty() ? geometry::signedVolume(p[0], p[1], p[2], p[3]) : cells[t].volume();
  }
  return volume;
}

CrackedMesh partOf(const CrackedMesh& mesh, std::span<const uint32_t> parts, uint32_t part,
                   std::vector<uint32_t>* tetSource, std::vector<uint32_t>* vertexSource) {
  CrackedMesh out;
  std::vector<uint32_t> number(mesh.mesh.positions.size(), kNoIndex);
  for (size_t t = 0; t < mesh.size(); ++t)
    if (parts[t] == part)
      for (const uint32_t v : mesh.mesh.tets[t]) number[v] = 0;
  if (vertexSource) vertexSource->clear();
  for (uint32_t v = 0; v < number.size(); ++v) {
    if (number[v] == kNoIndex) continue;
    number[v] = uint32_t(out.mesh.positions.size());
    out.mesh.positions.push_back(mesh.mesh.positions[v]);
    if (vertexSource) vertexSource->push_back(v);
  }
  if (tetSource) tetSource->clear();
  for (size_t t = 0; t < mesh.size(); ++t) {
    if (parts[t] != part) continue;
    geometry::Tetrahedron tet = mesh.mesh.tets[t];
    for (uint32_t& v : tet) v = number[v];
    out.mesh.tets.push_back(tet);
    if (!mesh.mesh.region.empty()) out.mesh.region.push_back(mesh.mesh.region[t]);
    out.cuts.push_back(mesh.cuts[t]);
    if (tetSource) tetSource->push_back(uint32_t(t));
  }
  return out;
}

Dissection dissect(CrackedMesh mesh, std::vector<CutCell> cells, std::span<const Link> links, uint32_t crack,
                   std::span<const Mark> marks) {
  const size_t before = mesh.size(), vertices = mesh.mesh.positions.size();
  Dissection out;
  CrackedMesh& m = out.mesh;
  m = std::move(mesh);
  std::vector<uint32_t> copy(before, kNoIndex);
  out.tetSource.resize(before);
  for (uint32_t t = 0; t < before; ++t) out.tetSource[t] = t;
  std::vector<CutCell>& parts = out.cells;
  parts = std::move(cells);
  for (size_t k = 0; k < marks.size(); ++k) {
    const Mark& mark = marks[k];
    if (mark.tet >= before || copy[mark.tet] != kNoIndex || (k > 0 && mark.tet <= marks[k - 1].tet))
      throw Error(ErrorKind::Usage, "marks of a crack must be ascending tetrahedra of the mesh");
    std::vector<Cut> cuts = m.cuts[mark.tet];
    if (!cuts.empty() && cuts.back().surface >= crack)
      throw Error(ErrorKind::Usage, "a crack needs a number above those of the cracks before");
    const CutCell whole =
        cuts.empty() ? makeCell(m.mesh.tets[mark.tet], m.corners(mark.tet), {}) : std::move(parts[mark.tet]);
    copy[mark.tet] = uint32_t(m.mesh.tets.size());
    for (const int8_t side : {int8_t(1), int8_t(-1)}) {
      cuts.push_back({crack, side, mark.phi});
      CutCell cell = clipCell(whole, m.mesh.tets[mark.tet], m.corners(mark.tet), cuts);
      if (cell.empty()) throw Error(ErrorKind::Usage, "a marked tetrahedron lies on one side of the crack");
      if (side > 0) {
        m.cuts[mark.tet] = cuts;
        parts[mark.tet] = std::move(cell);
      } else {
        m.mesh.tets.push_back(m.mesh.tets[mark.tet]);
        if (!m.mesh.region.empty()) m.mesh.region.push_back(m.mesh.region[mark.tet]);
        m.cuts.push_back(cuts);
        parts.push_back(std::move(cell));
        out.tetSource.push_back(mark.tet);
      }
      cuts.pop_back();
    }
  }

  // Vertices of two copies are one where their cells hang together.
  DisjointSets sets(4 * m.mesh.tets.size());
  const FaceOverlap overlap(m, parts);
  const auto glue = [&](uint32_t a, uint8_t sideA, uint32_t b) {
    for (uint32_t i = 0; i < 4; ++i) {
      if (i == sideA) continue;
      const uint32_t v = m.mesh.tets[a][i];
      for (uint32_t j = 0; j < 4; ++j)
        if (m.mesh.tets[b][j] == v) sets.unite(4 * a + i, 4 * b + j);
    }
  };
  for (const Link& link : links) {
    const uint32_t as[2] = {link.a, copy[link.a]}, bs[2] = {link.b, copy[link.b]};
    const bool cutA = as[1] != kNoIndex, cutB = bs[1] != kNoIndex;
    for (size_t i = 0; i < 2; ++i)
      for (size_t j = 0; j < 2; ++j) {
        if (as[i] == kNoIndex || bs[j] == kNoIndex) continue;
        if (cutA && cutB && i != j) continue;  // two sides of the crack
        if ((!cutA && !cutB) || overlap(as[i], link.sideA, bs[j], link.sideB)) {
          glue(as[i], link.sideA, bs[j]);
          out.links.push_back({as[i], bs[j], link.sideA, link.sideB});
        }
      }
  }
  // The first class of a vertex keeps its number.
  out.vertexSource.resize(vertices);
  for (uint32_t v = 0; v < vertices; ++v) out.vertexSource[v] = v;
  std::vector<uint32_t> number(4 * m.mesh.tets.size(), kNoIndex);
  std::vector<char> taken(vertices, 0);
  for (uint32_t t = 0; t < m.mesh.tets.size(); ++t) {
    const geometry::Tetrahedron old = m.mesh.tets[t];
    for (uint32_t i = 0; i < 4; ++i) {
      uint32_t& v = m.mesh.tets[t][i];
      uint32_t& n = number[sets.find(4 * t + i)];
      if (n == kNoIndex) {
        if (!taken[v]) {
          n = v;
          taken[v] = 1;
        } else {
          n = uint32_t(m.mesh.positions.size());
          m.mesh.positions.push_back(Vec3(m.mesh.positions[v]));
          out.vertexSource.push_back(v);
        }
      }
      v = n;
    }
    // Cells know their corners by the numbers of vertices; sums over these go by their order.
    if (m.cuts[t].empty() || old == m.mesh.tets[t]) continue;
    if (ascending(m.mesh.tets[t]) == ascending(old))
      renumber(parts[t], old, m.mesh.tets[t]);
    else
      parts[t] = makeCell(m.mesh.tets[t], m.corners(t), m.cuts[t]);
  }
  return out;
}

std::vector<MeshPart> splitParts(Dissection dissected, std::span<const uint32_t> label, uint32_t count) {
  CrackedMesh& all = dissected.mesh;
  std::vector<MeshPart> parts(count);
  std::vector<uint32_t> place(all.size());  // of a tetrahedron in its part
  std::vector<std::vector<uint32_t>> tets(count);
  for (uint32_t t = 0; t < all.size(); ++t) {
    place[t] = uint32_t(tets[label[t]].size());
    tets[label[t]].push_back(t);
  }
  for (const Link& link : dissected.links)
    if (label[link.a] == label[link.b])
      parts[label[link.a]].links.push_back({place[link.a], place[link.b], link.sideA, link.sideB});
  // Parts may have a vertex in common where they touch.
  std::vector<uint32_t> seen(all.mesh.positions.size(), kNoIndex), number(all.mesh.positions.size());
  std::vector<uint32_t> vertices;
  for (uint32_t p = 0; p < count; ++p) {
    MeshPart& part = parts[p];
    vertices.clear();
    for (const uint32_t t : tets[p])
      for (const uint32_t v : all.mesh.tets[t])
        if (seen[v] != p) {
          seen[v] = p;
          vertices.push_back(v);
        }
    std::sort(vertices.begin(), vertices.end());
    part.mesh.mesh.positions.reserve(vertices.size());
    part.vertexSource.reserve(vertices.size());
    for (const uint32_t v : vertices) {
      number[v] = uint32_t(part.mesh.mesh.positions.size());
      part.mesh.mesh.positions.push_back(all.mesh.positions[v]);
      part.vertexSource.push_back(dissected.vertexSource[v]);
    }
    const size_t size = tets[p].size();
    part.mesh.mesh.tets.reserve(size);
    part.mesh.cuts.reserve(size);
    part.cells.reserve(size);
    part.tetSource.reserve(size);
    for (const uint32_t t : tets[p]) {
      geometry::Tetrahedron tet = all.mesh.tets[t];
      for (uint32_t& v : tet) v = number[v];
      part.mesh.mesh.tets.push_back(tet);
      if (!all.mesh.region.empty()) part.mesh.mesh.region.push_back(all.mesh.region[t]);
      part.mesh.cuts.push_back(std::move(all.cuts[t]));
      part.tetSource.push_back(dissected.tetSource[t]);
      part.cells.push_back(std::move(dissected.cells[t]));
      renumber(part.cells.back(), all.mesh.tets[t], tet);
    }
  }
  return parts;
}

}  // namespace sunder::fracture
