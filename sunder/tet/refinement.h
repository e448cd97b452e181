// Static reversible refinement of tetrahedral meshes: five states, every one of them a conforming mesh,
// every operation undone at any time and in any order. Specification 07, M6, of adaptive fracture.
//
// A full cycle splits a tetrahedron (A), flips or splits its faces (B, B*), cuts its edges in three (C),
// flips the corners of its faces (D, D*) and merges what is left at its corners (E); lengths become a third,
// volumes a twentieth on average. Each tetrahedron has a generation: state = generation % 5, cycle =
// generation / 5. The mesh is a function of the set of operations done, not of their order: with the same set
// it has the same tetrahedra between the same points, bit for bit.
//
// Guarantees, after every operation: tetrahedra are positive and fill the input exactly; faces match; input
// vertices never move; the boundary as a set of points does not change; undoing everything gives the input's
// tetrahedra under their own numbers. Flips that would invert a tetrahedron (M6.6) are refused: the
// tetrahedra are marked as blocked and the mesh stays as it is.
//
// What depends on the mesh follows it by records of change (takeChange), once that is asked for.
//
// Cost: an operation visits the tetrahedra around a vertex, about a microsecond; 32 bytes a tetrahedron,
// dead ones kept while something is made of them, and about 150 bytes an operation. One thread.
#pragma once

#include "sunder/base/index.h"
#include "sunder/geometry/mesh.h"
#include "sunder/geometry/topology_change.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sunder::tet {

enum class RefineKind : uint8_t {
  Split,               // A: a tetrahedron at its centroid
  FaceFlip,            // B: the two quarters at an inner face become three
  FaceSplit,           // B*: the quarter at a boundary face, at the face's centroid
  EdgeCut,             // C: an edge in three, with everything around it
  CornerFlip,          // D: two corner pieces become three
  BoundaryCornerFlip,  // D*: two become two
  CornerMerge,         // E: three become two
};
inline constexpr size_t kRefineKinds = 7;

enum class RefineStatus : uint8_t {
  Done,
  Locked,   // a tetrahedron that takes part is locked
  Blocked,  // a flip would invert a tetrahedron
  Deepest,  // the generation would pass kLargestGeneration
};

inline constexpr uint32_t kLargestGeneration = 40;  // eight full cycles: what a history word holds

// Vertices are in the order of the state:
//   0  any
//   1  (f0, f1, f2, m)  the input's face, then the centroid
//   2  (e0, e1, x, y)   the input's edge, then the new edge
//   3  (b, p, x, y)     the input's vertex, the cut next to it, the new edge
//   4  (b, p1, p2, m)   the input's vertex, two cuts, the centroid
struct RefinedTet {
  std::array<uint32_t, 4> v{};
  uint16_t generation = 0;
  bool alive = false, locked = false, blocked = false;
  uint32_t madeBy = kNoIndex;  // operation; kNoIndex for tetrahedra of the input
  uint32_t usedBy = kNoIndex;  // operation that replaced it, when it is not alive

  uint32_t state() const { return generation % 5; }
  uint32_t cycle() const { return generation / 5; }
};

struct RefineOp {
  RefineKind kind = RefineKind::Split;
  bool alive = false;
  std::vector<uint32_t> in, out;      // tetrahedra; C has three of `out` for each of `in`
  std::vector<uint32_t> newVertices;  // that it made
};

class Refinement {
 public:
  // Throws Error (Geometry) for tetrahedra that are not positive or faces with more than two.
  explicit Refinement(const geometry::TetMesh& input);
  // Some tetrahedra are locked from the start (one entry each). Of these nothing is asked: they may lie over
  // each other and share faces with more than two, as copies at the end of a crack do.
  Refinement(const geometry::TetMesh& input, std::span<const char> locked);

  // Advances a living tetrahedron by one state, neighbours that are behind first (M6.3). When it is refused,
  // what was done for neighbours stays.
  RefineStatus step(uint32_t tet);
  // One whole cycle for everything the tetrahedron is made into.
  RefineStatus refineFull(uint32_t tet);
  // All living tetrahedra to at least this generation; returns how many steps were refused.
  size_t refineAll(uint32_t generation);

  // Undoing needs all that the operation made alive and unlocked.
  bool undoable(uint32_t op) const;
  bool undo(uint32_t op);
  // Undoes whatever can be; returns the number of operations undone.
  size_t coarsenAll();

  void setLocked(uint32_t tet, bool locked) { tets_[tet].locked = locked; }

  // Slots: living tetrahedra are those with `alive`. Input tetrahedra have the slots of the input.
  std::span<const RefinedTet> tets() const { return tets_; }
  std::span<const RefineOp> ops() const { return ops_; }
  const Vec3& position(uint32_t vertex) const { return positions_[vertex]; }
  size_t tetCount() const { return livingTets_; }
  size_t vertexCount() const { return positions_.size() - freeVertices_.size(); }
  size_t opCount(RefineKind kind) const { return counts_[size_t(kind)]; }  // alive

  // The present mesh, positive, by ascending slot; vertices that are in use, in their order. `slots` receives
  // each tetrahedron's slot.
  geometry::TetMesh mesh(std::vector<uint32_t>* slots = nullptr) const;

  // From now on changes are recorded, those of a body with this id; the mesh is that of mesh().
  void recordChanges(uint64_t body);
  // What became of mesh() since the last call, or since recordChanges(): after each step, refinement, undoing
  // or coarsening, or after many. Kind Refine, one body for another; no faces. A vertex that is still there
  // has itself as source, one that was made has none. A tetrahedron has a source that it overlaps, the one
  // that holds its centroid where that is known; it is the same tetrahedron exactly if its four vertices
  // have the four of the source as sources. O(tetrahedra). Throws Error (Usage) when nothing is recorded.
  geometry::TopologyChange takeChange();

  // The history of a living tetrahedron in one word (refinement_history.h).
  uint64_t historyWord(uint32_t tet) const;
  // The operations alive, each as its kind and the first of the tetrahedra it replaced, in an order in which
  // they can be done again: five bytes each, and the input.
  struct LoggedOp {
    RefineKind kind;
    uint32_t tet;
    bool operator==(const LoggedOp&) const = default;
  };
  std::vector<LoggedOp> log() const;
  // Does the operations of a log, whose numbers are those of `log()`; throws Error (Usage) where one does not
  // fit.
  static Refinement replay(const geometry::TetMesh& input, std::span<const LoggedOp> log);

  // Empty, or what is wrong with the structure: for tests.
  std::string validate() const;

 private:
  RefineStatus advance(uint32_t tet);  // one operation, whose neighbours are ready
  RefineStatus split(uint32_t tet);
  RefineStatus faceOperation(uint32_t tet);
  RefineStatus edgeCut(uint32_t tet);
  RefineStatus cornerOperation(uint32_t tet);
  RefineStatus cornerMerge(uint32_t tet);
  RefineStatus refusal(std::span<const uint32_t> in) const;
  bool flipIsGood(const std::array<uint32_t, 3>& face, uint32_t above, uint32_t below) const;
  void block(std::span<const uint32_t> tets);

  uint32_t neighbour(uint32_t tet, uint32_t a, uint32_t b, uint32_t c) const;
  void aroundEdge(uint32_t a, uint32_t b, std::vector<uint32_t>& out) const;
  uint32_t newVertex(const Vec3& position);
  uint32_t beginOp(RefineKind kind, std::vector<uint32_t> in);
  void addOutput(uint32_t op, const std::array<uint32_t, 4>& v, uint32_t generation);
  void enter(uint32_t tet);
  void leave(uint32_t tet);
  double volume(const std::array<uint32_t, 4>& v) const;
  void recordOp(uint32_t op);
  void recordUndo(uint32_t op);
  void numberForChanges();
  uint32_t sourceAmong(std::span<const uint32_t> candidates, uint32_t tet) const;

  size_t inputVertices_ = 0;
  std::vector<Vec3> positions_;
  std::vector<std::vector<uint32_t>> star_;  // living tetrahedra of each vertex
  std::vector<RefinedTet> tets_;
  std::vector<RefineOp> ops_;
  std::vector<uint32_t> freeTets_, freeVertices_, freeOps_;
  std::array<size_t, kRefineKinds> counts_{};
  size_t livingTets_ = 0;

  // Since the last record: per slot its number then, and the number of what it comes from; kNoIndex for what
  // was not there. Per vertex its number then.
  bool recording_ = false;
  geometry::BodyRecord body_;
  std::vector<uint32_t> numberThen_, originThen_, vertexThen_;
};

}  // namespace sunder::tet
