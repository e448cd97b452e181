// A mesh of tetrahedra cut by sheets without touching its tetrahedra (extended finite elements in the
// fragment form: specification 08, X3 and X4; the basis of Hansbo and Hansbo 2004). Each tetrahedron has one
// part for every piece that the sheets divide it into, with exact moments; each part has its own node at each
// of the four vertices, and parts that hang together across a face share them. A node therefore has one copy
// for each connected class of the parts around it: it is copied where sheets separate its ring of tetrahedra
// completely, once more for every further class, and not where they end inside.
//
//   CutMesh body(mesh);
//   body.cut(sheet);
//   const PartMesh parts = partMesh(body);                    // part_mesh.h
//   ElasticBody elastic(parts.mesh, material, parts.fractions, parts.shares);
//
// Sheets may cross, branch, end on each other, run through nodes and leave the body; all cuts of a
// tetrahedron are taken together (cut/tet/sheets_cutter.h), in the order in which they came.
//
// Guarantees: parts of a tetrahedron add up to it, all ten moments. Nodes are only added: old ones keep their
// numbers, and each new one is at the vertex of the one it was copied from. Cutting again only divides:
// every part and every node has one it was before. Same bits for any number of threads.
//
// Parts of less than kLeastPart of their tetrahedron, which sheets through nodes leave, count as empty: they
// get no nodes of their own.
//
// Cost: about 10 us for each tetrahedron that a new sheet reaches, in parallel; the copies of nodes some
// microseconds for each tetrahedron that any sheet reaches.
#pragma once

#include "sunder/cut/tet/sheets_cutter.h"
#include "sunder/fem/elements.h"
#include "sunder/geometry/topology_change.h"
#include "sunder/spatial/pairs/overlap_pairs.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace sunder::fem {

inline constexpr double kLeastPart = 1e-12;  // of the volume of its tetrahedron

struct ElementPart {
  uint32_t tet = 0;
  std::array<uint32_t, 4> nodes{};  // at the vertices of the tetrahedron
  uint8_t holds = 15;               // which of the vertices lie in the part: a bit each
  double volume = 0;
  Vec3 centroid = Vec3::Zero();  // of the tetrahedron where the part has no volume
  Mat3 second = Mat3::Zero();    // integral of (x - centroid) (x - centroid)^T
};

struct CutCounts {
  size_t cut = 0;      // tetrahedra in more than one part
  size_t incised = 0;  // that a sheet reaches into and leaves whole
  size_t parts = 0;    // of all tetrahedra
  size_t empty = 0;    // of them
  size_t most = 0;     // parts in one tetrahedron
  size_t copies = 0;   // nodes beyond the vertices of the mesh
  size_t copied = 0;   // vertices that have copies
  size_t pieces = 0;   // bodies: what shares nodes
};

class CutMesh {
 public:
  // Throws what makeElements throws, and Error (Geometry) for a mesh without tetrahedra.
  explicit CutMesh(geometry::TetMesh mesh);

  // Returns the change from the body before, which stays itself: vertices are nodes, tetrahedra are parts,
  // and faces are the four of each part. Throws Error (Geometry) for what is no sheet, and Error (Limit) for
  // a sheet with more than `mostPairs` pairs of triangles and tetrahedra near each other or coordinates of
  // too many digits; nothing has changed then.
  geometry::TopologyChange cut(const geometry::TriMesh& sheet, uint64_t body = 0,
                               uint64_t mostPairs = spatial::kMostPairs);

  const geometry::TetMesh& mesh() const { return mesh_; }
  std::span<const Element> elements() const { return elements_; }  // of whole tetrahedra
  const cut::CutSheets& sheets() const { return sheets_; }
  // By tetrahedron; those of one are parts()[firstPart(t)] to parts()[firstPart(t + 1)].
  std::span<const ElementPart> parts() const { return parts_; }
  uint32_t firstPart(size_t tet) const { return first_[tet]; }
  // Triangles of the sheets that may reach into the tetrahedron, for the cutter.
  std::span<const uint32_t> facesNear(size_t tet) const {
    if (divisionOf_[tet] == kNoIndex) return {};
    return divisions_[divisionOf_[tet]].faces;
  }
  std::array<Vec3, 4> cornersOf(size_t tet) const {
    const geometry::Tetrahedron& t = mesh_.tets[tet];
    return {mesh_.positions[t[0]], mesh_.positions[t[1]], mesh_.positions[t[2]], mesh_.positions[t[3]]};
  }
  bool isEmpty(const ElementPart& part) const {
    return !(part.volume > kLeastPart * elements_[part.tet].volume);
  }
  size_t nodes() const { return vertexOf_.size(); }
  std::span<const uint32_t> vertexOf() const { return vertexOf_; }  // of the mesh, by node
  // Tetrahedra that the last sheet reached into.
  size_t reached() const { return reached_; }
  // Which body each part belongs to, by shared nodes; numbered by their first part, empty ones kNoIndex.
  std::vector<uint32_t> pieces(uint32_t& count) const;
  CutCounts counts() const;

 private:
  // A connected part of a face, or of an edge, of a tetrahedron: equal in all tetrahedra that have it.
  struct Contact {
    std::array<uint64_t, 3> key;
    uint32_t part;     // of the tetrahedron
    uint8_t vertices;  // of the tetrahedron's that span the face or edge: bits
  };
  // What sheets make of a tetrahedron that they are near to.
  struct Division {
    std::vector<uint32_t> faces;  // of the sheets
    std::vector<ElementPart> parts;
    std::vector<uint32_t> before;  // of each part: which one it was before the last sheet
    std::vector<Contact> contacts;
    bool touched = false, touchedLater = false;
  };
  struct Nodes {
    std::vector<uint32_t> vertexOf, source;  // source: the node before
  };

  void addContacts(uint32_t tet, const cut::SheetsCut& cut, Division& out) const;
  void divide(uint32_t tet, cut::SheetsCutter& cutter, uint32_t later, Division& out) const;
  Nodes numberNodes(std::span<const Division* const> divisionOf, std::vector<ElementPart>& parts,
                    std::span<const uint32_t> first, std::span<const uint32_t> partSource) const;

  geometry::TetMesh mesh_;
  std::vector<Element> elements_;
  spatial::OiTree tree_;  // of the tetrahedra's boxes
  cut::CutSheets sheets_;
  std::vector<Division> divisions_;   // in the order in which sheets came near
  std::vector<uint32_t> divisionOf_;  // by tetrahedron, or kNoIndex
  std::vector<ElementPart> parts_;
  std::vector<uint32_t> first_;
  std::vector<uint32_t> vertexOf_;
  size_t reached_ = 0;
};

}  // namespace sunder::fem
