// The distance field of a fragment: inside, the smaller one of the distances to the surface of the object it
// comes from and to its cracks; outside, that to its cracks where they are near, else a bound below. All
// fragments of an object share its field and its tetrahedra (rest_mesh.h); each one has the tetrahedra it has
// a part of, its polygons of cracks, and, per vertex, the nearest one of those (Glondu et al. 2012, section
// 4, with the closest points of variant Q in specification 05, 3.1: the rule as published does not end).
//
// Where cracks are flat and run right through (half_spaces.h) a fragment is the object within half-spaces,
// and its field the larger one of the object's and of the height above the planes: inside that is the
// distance, outside it is one where the nearest place is on the object, on a plane or on an edge of two, and
// a bound below elsewhere. There are no polygons then, and nothing is handed on.
//
// Otherwise, within band() of a crack, all polygons nearby are asked, which a grid has: exact inside and
// outside. Deeper, vertices know: each one has its nearest crack polygon, not only the nearest point, and
// what is handed on from vertex to vertex is the polygon. Values never fall below the distance, and fronts
// end as the polygons are finite in number. A fracture inherits the records of the parent, asks the new
// polygons at the vertices of cut tetrahedra and hands on what is nearer; other fragments are not touched.
// Vertices outside of what is there (copies, cracked_mesh.h) know nothing.
//
// Inside or outside is decided by the linear functions that cut the tetrahedra, with the same numbers in all
// fragments: every point of the object is in exactly one. Points beyond the object's surface belong to the
// fragment that has their foot on it.
//
// Guarantees: with polygons, values are distances, up to the object's own error, where |field| < band(), for
// objects without gaps thinner than that; a value outside that is larger is a bound below the distance, a
// value inside that is deeper is at least the depth, and off by 0.7 % of the mean at vertices of a cube in 14
// pieces. errors() says so in the terms of rigid::Shape. Gradients have unit length. Same field for any
// number of threads.
//
// Cost: with half-spaces that of the object's field and some nanoseconds a plane, near the planes, else the
// planes alone; with polygons 0.3 to 1 us more a point, and 1 us a polygon to make.
#pragma once

#include "sunder/fracture/crack/cracked_mesh.h"
#include "sunder/fracture/pieces/crack_faces.h"
#include "sunder/fracture/pieces/fragment_masks.h"
#include "sunder/fracture/pieces/half_spaces.h"
#include "sunder/fracture/pieces/rest_mesh.h"
#include "sunder/sdf/field.h"

#include <array>
#include <bit>
#include <memory>
#include <span>
#include <vector>

namespace sunder::fracture {

// The nearest crack that a vertex knows of.
struct NodeRecord {
  double distance = Box3::kInfinity;
  Vec3 point = Vec3::Zero();
  uint32_t face = kNoIndex;  // of faces()
  bool operator==(const NodeRecord&) const = default;
};

// Which of many things a fragment has, as ranks among those it has.
class SparseRanks {
 public:
  void set(size_t i) {
    if (i / 64 >= words_.size()) words_.resize(i / 64 + 1, 0);
    words_[i / 64] |= uint64_t(1) << (i % 64);
  }
  void close();
  uint32_t count() const { return count_; }
  uint32_t rank(size_t i) const {  // kNoIndex: not there
    if (i / 64 >= words_.size()) return kNoIndex;
    const uint64_t word = words_[i / 64], bit = uint64_t(1) << (i % 64);
    if (!(word & bit)) return kNoIndex;
    return before_[i / 64] + uint32_t(std::popcount(word & (bit - 1)));
  }

 private:
  std::vector<uint64_t> words_;
  std::vector<uint32_t> before_;
  uint32_t count_ = 0;
};

class FragmentField final : public sdf::Field {
 public:
  // Of the part `mesh` with its cells. `rootTets`, `rootVertices`: where its tetrahedra and vertices come
  // from in the rest mesh. All cracks are asked.
  FragmentField(RestMeshPtr rest, const CrackedMesh& mesh, std::span<const CutCell> cells,
                std::span<const uint32_t> rootTets, std::span<const uint32_t> rootVertices);
  // The same after a fracture of `parent`, of which it takes what it knows; sources are numbers of the
  // parent's mesh.
  FragmentField(const FragmentField& parent, const CrackedMesh& mesh, std::span<const CutCell> cells,
                std::span<const uint32_t> tetSource, std::span<const uint32_t> vertexSource);
  // Bounds for points that are far; without them the box alone is used. Before the field is shared.
  void setMasks(std::shared_ptr<const FragmentMasks> masks, uint32_t id);

  void values(std::span<const Vec3> points, std::span<double> out) const override;
  void samples(std::span<const Vec3> points, std::span<sdf::FieldSample> out) const override;
  Box3 bounds() const override { return box_; }

  // Whether the point of rest space is in this fragment, whatever the object's surface says.
  bool holds(const Vec3& point) const;
  bool holds(const RestMesh::Place& place) const { return holder(place) != kNoIndex; }

  double band() const { return band_; }
  FieldErrors errors() const;
  // Whether the fragment is the object within half-spaces; then there are no polygons and no records.
  bool clipped() const { return clipped_; }
  const HalfSpaces& halfSpaces() const { return halfSpaces_; }

  const RestMesh& rest() const { return *rest_; }
  const RestMeshPtr& restPtr() const { return rest_; }
  const CrackFaces& faces() const { return faces_; }
  std::span<const NodeRecord> records() const { return records_; }
  std::span<const uint32_t> rootTets() const { return rootTet_; }
  std::span<const uint32_t> rootVertices() const { return rootVertex_; }
  // Whether the vertex is part of the material, not only of a copy.
  bool present(uint32_t vertex) const { return present_[vertex] != 0; }
  // Below the nearest surface, crack or not, by what the vertex knows.
  double depth(uint32_t vertex) const;
  std::span<const uint32_t> facesOf(uint32_t tet) const {
    return {faceList_.data() + faceStart_[tet], faceList_.data() + faceStart_[tet + 1]};
  }
  // Which of the tetrahedron's vertices its cell has, as bits.
  uint8_t corners(uint32_t tet) const { return corners_[tet]; }
  // Whether a place in the tetrahedron is on this side of its cuts from number `first` on.
  bool onSides(uint32_t tet, const std::array<double, 4>& weights, uint32_t first = 0) const;
  uint32_t cutCount(uint32_t tet) const { return sideStart_[tet + 1] - sideStart_[tet]; }
  const geometry::Tetrahedron& tet(uint32_t t) const { return tets_[t]; }
  size_t tetCount() const { return tets_.size(); }
  const Vec3& position(uint32_t vertex) const { return positions_[vertex]; }
  // The tetrahedron whose cell holds the place; kNoIndex.
  uint32_t holder(const RestMesh::Place& place) const;
  std::span<const uint32_t> tetsAt(uint32_t rootTet) const;

  // What the last construction did.
  struct Work {
    size_t seeds = 0;    // polygons asked at vertices
    size_t updates = 0;  // records that fell by handing on
    uint32_t steps = 0;  // fronts
  };
  const Work& work() const { return work_; }

 private:
  void build(const CrackedMesh& mesh, std::span<const CutCell> cells, const FragmentField* parent,
             std::span<const uint32_t> tetSource, std::span<const uint32_t> vertexSource);
  void addFaces(const CrackedMesh& mesh, std::span<const CutCell> cells);
  void inherit(const FragmentField& parent, std::span<const uint32_t> tetSource,
               std::span<const uint32_t> vertexSource);
  void handOn(std::vector<uint32_t> front);
  bool tryFace(uint32_t vertex, uint32_t face);
  sdf::FieldSample sampleAt(const Vec3& p, const sdf::FieldSample& object) const;
  void clippedSamples(std::span<const Vec3> points, std::span<sdf::FieldSample> out) const;
  sdf::FieldSample outside(const Vec3& p, const sdf::FieldSample& object) const;

  struct Side {
    std::array<double, 4> phi;
    bool positive;
  };

  RestMeshPtr rest_;
  std::shared_ptr<const FragmentMasks> masks_;
  uint32_t slot_ = kNoIndex;
  Box3 box_;
  double band_ = 0;
  HalfSpaces halfSpaces_;
  bool clipped_ = false;
  std::vector<Vec3> positions_;
  std::vector<geometry::Tetrahedron> tets_;
  std::vector<uint32_t> rootTet_, rootVertex_;
  std::vector<uint8_t> corners_, present_;
  std::vector<uint32_t> sideStart_;  // per tetrahedron
  std::vector<Side> sides_;
  CrackFaces faces_;
  FaceGrid grid_;
  std::vector<uint32_t> faceStart_, faceList_;
  std::vector<NodeRecord> records_;
  SparseRanks tetRanks_;
  std::vector<uint32_t> tetsAtStart_, tetsAt_;  // by rank of the root tetrahedron
  Work work_;
};

}  // namespace sunder::fracture
