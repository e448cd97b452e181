// A second opinion on what cleaning leaves: only an oriented 2-manifold can be built as half-edges.
//
// PolyMesh: an oriented 2-manifold of polygons, with or without boundary, as half-edges. Each half-edge knows
// the next one of its face, its twin, its origin and its face; half-edges on the open side of a boundary edge
// have no face and are linked into boundary loops, so walking around a vertex never needs a special case.
//
// Guarantees (validate() checks every one): faces have three or more different vertices; an edge joins two
// different vertices, no two edges join the same two; the faces at a vertex form one fan, open or closed; a
// vertex on the boundary starts its star with the boundary half-edge; every edge has at least one face.
// Vertices without faces are allowed. Half-edge c of a freshly built mesh is corner c of the input; boundary
// half-edges follow.
//
// Cost: O(corners) to build, 16 bytes a half-edge. The structure follows Muller and Preparata 1978 and Weiler
// 1985, with boundary loops as in Kettner 1999.
#pragma once

#include "sunder/base/index.h"
#include "sunder/geometry/mesh_view.h"

#include <iterator>
#include <string>
#include <vector>

namespace sunder::geometry {

using VertexIndex = Index<struct VertexTag>;
using HalfedgeIndex = Index<struct HalfedgeTag>;
using FaceIndex = Index<struct FaceTag>;

class PolyMesh {
 public:
  PolyMesh() = default;
  // Throws Error (Geometry) naming the edge, face or vertex that keeps the input from being an oriented
  // 2-manifold.
  explicit PolyMesh(const MeshView& mesh);

  size_t vertexCount() const { return positions_.size(); }
  size_t halfedgeCount() const { return next_.size(); }
  size_t edgeCount() const { return next_.size() / 2; }
  size_t faceCount() const { return faceHalfedge_.size(); }

  HalfedgeIndex next(HalfedgeIndex h) const { return next_[h.value]; }
  HalfedgeIndex twin(HalfedgeIndex h) const { return twin_[h.value]; }
  VertexIndex origin(HalfedgeIndex h) const { return origin_[h.value]; }
  VertexIndex target(HalfedgeIndex h) const { return origin(twin(h)); }
  FaceIndex face(HalfedgeIndex h) const {
    return face_[h.value];
  }                                               // invalid on the open side of the boundary
  HalfedgeIndex previous(HalfedgeIndex h) const;  // O(valence of its origin)
  HalfedgeIndex halfedge(VertexIndex v) const { return vertexHalfedge_[v.value]; }  // invalid: isolated
  HalfedgeIndex halfedge(FaceIndex f) const { return faceHalfedge_[f.value]; }

  bool isBoundary(HalfedgeIndex h) const { return !face(h).valid(); }
  bool isBoundary(VertexIndex v) const { return halfedge(v).valid() && isBoundary(halfedge(v)); }
  HalfedgeIndex find(VertexIndex from,
                     VertexIndex to) const;  // invalid when there is no such edge; O(valence)

  const Vec3& position(VertexIndex v) const { return positions_[v.value]; }
  Vec3& position(VertexIndex v) { return positions_[v.value]; }
  std::span<const Vec3> positions() const { return positions_; }
  // The face of the input that a face came from; faces made by splitting keep it.
  uint32_t source(FaceIndex f) const { return faceSource_[f.value]; }
  void setSource(FaceIndex f, uint32_t source) { faceSource_[f.value] = source; }

  // Half-edges of a face or a boundary loop in order, starting with `h`.
  auto loop(HalfedgeIndex h) const { return Cycle<false>{this, h}; }
  auto corners(FaceIndex f) const { return Cycle<false>{this, halfedge(f)}; }
  // Outgoing half-edges of a vertex, clockwise seen from outside; empty for an isolated vertex.
  auto star(VertexIndex v) const { return Cycle<true>{this, halfedge(v)}; }

  size_t degree(FaceIndex f) const;
  size_t valence(VertexIndex v) const;               // number of edges
  std::vector<HalfedgeIndex> boundaryLoops() const;  // the lowest half-edge of each, ascending

  VertexIndex addVertex(const Vec3& position);  // isolated

  // Puts a vertex on an edge. `h` then ends at it, next(h) runs on to the old target. O(1).
  VertexIndex splitEdge(HalfedgeIndex h, const Vec3& position);

  // Connects the origins of two corners of one face. The part that starts with `a` stays the old face, the
  // part that starts with `b` is the returned new one. Throws Error (Usage) when the corners are not of one
  // face or are neighbours, Error (Geometry) when an edge joins the two vertices already. O(size of the
  // face).
  FaceIndex splitFace(HalfedgeIndex a, HalfedgeIndex b);

  // Empty when every invariant holds, else the first that does not. O(half-edges * log).
  std::string validate() const;

 private:
  template <bool kAroundVertex>
  struct Cycle {
    const PolyMesh* mesh;
    HalfedgeIndex first;

    struct Iterator {
      using value_type = HalfedgeIndex;
      using difference_type = std::ptrdiff_t;
      const PolyMesh* mesh;
      HalfedgeIndex first, current;
      HalfedgeIndex operator*() const { return current; }
      Iterator& operator++() {
        current = mesh->next(kAroundVertex ? mesh->twin(current) : current);
        if (current == first) current = HalfedgeIndex();
        return *this;
      }
      void operator++(int) { ++*this; }
      bool operator==(std::default_sentinel_t) const { return !current.valid(); }
    };
    Iterator begin() const { return {mesh, first, first}; }
    std::default_sentinel_t end() const { return {}; }
  };

  HalfedgeIndex addHalfedge(VertexIndex origin, FaceIndex face);

  std::vector<Vec3> positions_;
  std::vector<HalfedgeIndex> next_, twin_;
  std::vector<VertexIndex> origin_;
  std::vector<FaceIndex> face_;
  std::vector<HalfedgeIndex> vertexHalfedge_, faceHalfedge_;
  std::vector<uint32_t> faceSource_;
};

// Same vertices and faces, in order; a face starts with the corner halfedge(f).
PolygonSoup toSoup(const PolyMesh& mesh);

}  // namespace sunder::geometry
