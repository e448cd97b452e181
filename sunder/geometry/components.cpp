#include "sunder/geometry/components.h"

#include "sunder/base/disjoint_sets.h"
#include "sunder/base/error.h"
#include "sunder/geometry/tet_mesh.h"

#include <algorithm>

#include <fmt/format.h>

namespace sunder::geometry {

namespace {

// Sets are rooted at their smallest member, so the first visit of each set is its root.
Components numberSets(DisjointSets& sets) {
  Components result;
  result.label.resize(sets.size());
  for (uint32_t i = 0; i < sets.size(); ++i) {
    const uint32_t root = sets.find(i);
    result.label[i] = root == i ? result.count++ : result.label[root];
  }
  return result;
}

Rows membersOf(const Components& components, size_t elements) {
  if (components.label.size() != elements) {
    throw Error(ErrorKind::Usage,
                fmt::format("{} labels for {} elements", components.label.size(), elements));
  }
  for (uint32_t l : components.label) {
    if (l >= components.count)
      throw Error(ErrorKind::Usage, fmt::format("label {} of {} parts", l, components.count));
  }
  return groupBy<uint32_t>(
      elements, components.count, [&](size_t i) { return components.label[i]; },
      [](size_t i) { return u32(i); });
}

// Gives the vertices of one part after another new numbers, in ascending order of the old ones.
class VertexNumbering {
 public:
  explicit VertexNumbering(size_t vertexCount) : local_(vertexCount, 0), owner_(vertexCount, kNoIndex) {}

  void meet(uint32_t vertex, uint32_t part, std::vector<uint32_t>& vertices) {
    if (owner_[vertex] == part) return;
    owner_[vertex] = part;
    vertices.push_back(vertex);
  }
  void number(std::vector<uint32_t>& vertices) {
    std::sort(vertices.begin(), vertices.end());
    for (uint32_t i = 0; i < vertices.size(); ++i) local_[vertices[i]] = i;
  }
  uint32_t operator[](uint32_t vertex) const { return local_[vertex]; }

 private:
  std::vector<uint32_t> local_, owner_;
};

}  // namespace

Components faceComponents(const MeshView& mesh, const EdgeAdjacency& edges) {
  DisjointSets sets(mesh.faceCount());
  for (size_t e = 0; e < edges.size(); ++e) {
    const auto uses = edges.uses.row(e);
    for (size_t i = 1; i < uses.size(); ++i) sets.unite(uses[0].face, uses[i].face);
  }
  return numberSets(sets);
}

Components faceComponents(const MeshView& mesh, Connect connect) {
  if (connect == Connect::Edges) return faceComponents(mesh, edgeAdjacency(mesh));
  requireValid(mesh);
  DisjointSets sets(mesh.faceCount());
  std::vector<uint32_t> firstFace(mesh.positions.size(), kNoIndex);
  for (size_t f = 0; f < mesh.faceCount(); ++f) {
    for (uint32_t v : mesh.face(f)) {
      if (firstFace[v] == kNoIndex) {
        firstFace[v] = u32(f);
      } else {
        sets.unite(firstFace[v], u32(f));
      }
    }
  }
  return numberSets(sets);
}

Components tetComponents(const TetMesh& mesh, Connect connect) {
  requireValid(mesh);
  DisjointSets sets(mesh.tets.size());
  if (connect == Connect::Edges) {
    const auto neighbours = tetNeighbours(mesh);
    for (uint32_t t = 0; t < neighbours.size(); ++t) {
      for (uint32_t n : neighbours[t]) {
        if (n != kNoIndex && n > t) sets.unite(t, n);
      }
    }
  } else {
    std::vector<uint32_t> firstTet(mesh.positions.size(), kNoIndex);
    for (uint32_t t = 0; t < mesh.tets.size(); ++t) {
      for (uint32_t v : mesh.tets[t]) {
        if (firstTet[v] == kNoIndex) {
          firstTet[v] = t;
        } else {
          sets.unite(firstTet[v], t);
        }
      }
    }
  }
  return numberSets(sets);
}

std::vector<SoupPart> splitComponents(const PolygonSoup& soup, const Components& components) {
  requireValid(MeshView(soup));
  const Rows members = membersOf(components, soup.faceCount());
  VertexNumbering numbering(soup.positions.size());
  std::vector<SoupPart> parts(components.count);
  for (uint32_t p = 0; p < components.count; ++p) {
    SoupPart& part = parts[p];
    const auto faces = members.row(p);
    part.faceSource.assign(faces.begin(), faces.end());
    for (uint32_t f : faces) {
      for (uint32_t v : soup.face(f)) numbering.meet(v, p, part.vertexSource);
    }
    numbering.number(part.vertexSource);
    for (uint32_t v : part.vertexSource) {
      part.mesh.positions.push_back(soup.positions[v]);
      if (!soup.vertexColours.empty()) part.mesh.vertexColours.push_back(soup.vertexColours[v]);
    }
    part.mesh.groupNames = soup.groupNames;
    for (uint32_t f : faces) {
      for (uint32_t c = soup.faceOffsets[f]; c < soup.faceOffsets[f + 1]; ++c) {
        part.mesh.corners.push_back(numbering[soup.corners[c]]);
        if (!soup.cornerNormals.empty()) part.mesh.cornerNormals.push_back(soup.cornerNormals[c]);
        if (!soup.cornerUvs.empty()) part.mesh.cornerUvs.push_back(soup.cornerUvs[c]);
      }
      part.mesh.faceOffsets.push_back(u32(part.mesh.corners.size()));
      if (!soup.faceGroup.empty()) part.mesh.faceGroup.push_back(soup.faceGroup[f]);
    }
  }
  return parts;
}

std::vector<TetPart> splitComponents(const TetMesh& mesh, const Components& components) {
  requireValid(mesh);
  const Rows members = membersOf(components, mesh.tets.size());
  VertexNumbering numbering(mesh.positions.size());
  std::vector<TetPart> parts(components.count);
  for (uint32_t p = 0; p < components.count; ++p) {
    TetPart& part = parts[p];
    const auto tets = members.row(p);
    part.tetSource.assign(tets.begin(), tets.end());
    for (uint32_t t : tets) {
      for (uint32_t v : mesh.tets[t]) numbering.meet(v, p, part.vertexSource);
    }
    numbering.number(part.vertexSource);
    for (uint32_t v : part.vertexSource) part.mesh.positions.push_back(mesh.positions[v]);
    for (uint32_t t : tets) {
      Tetrahedron tet = mesh.tets[t];
      for (uint32_t& v : tet) v = numbering[v];
      part.mesh.tets.push_back(tet);
      if (!mesh.region.empty()) part.mesh.region.push_back(mesh.region[t]);
    }
  }
  return parts;
}

}  // namespace sunder::geometry
