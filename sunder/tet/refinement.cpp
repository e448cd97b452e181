#include "sunder/tet/refinement.h"

#include "sunder/base/error.h"
#include "sunder/geometry/predicates.h"
#include "sunder/geometry/tet_mesh.h"

#include <algorithm>
#include <cassert>
#include <string>

namespace sunder::tet {

namespace {

bool has(const RefinedTet& t, uint32_t v) { return t.v[0] == v || t.v[1] == v || t.v[2] == v || t.v[3] == v; }

}  // namespace

Refinement::Refinement(const geometry::TetMesh& input) : Refinement(input, {}) {}

Refinement::Refinement(const geometry::TetMesh& input, std::span<const char> locked)
    : inputVertices_(input.positions.size()) {
  geometry::TetMesh free;
  if (!locked.empty()) {
    free.positions = input.positions;
    for (size_t t = 0; t < input.tets.size(); ++t)
      if (!locked[t]) free.tets.push_back(input.tets[t]);
  }
  const geometry::TetReport report = geometry::tetReport(locked.empty() ? input : free);
  if (report.inverted + report.degenerate + report.duplicateTets + report.nonManifoldFaces +
          report.overlappingFaces !=
      0)
    throw Error(ErrorKind::Geometry, "a mesh to refine must be sound: " + std::to_string(report.inverted) +
                                         " tetrahedra are inverted, " + std::to_string(report.degenerate) +
                                         " flat, " + std::to_string(report.nonManifoldFaces) +
                                         " faces have more than two")
        .hint("turn or drop them first (tet_report.h)");
  positions_ = input.positions;
  star_.resize(positions_.size());
  tets_.resize(input.tets.size());
  for (uint32_t t = 0; t < tets_.size(); ++t) {
    tets_[t].v = input.tets[t];
    tets_[t].locked = !locked.empty() && locked[t];
    enter(t);
  }
}

void Refinement::enter(uint32_t tet) {
  tets_[tet].alive = true;
  for (const uint32_t v : tets_[tet].v) star_[v].push_back(tet);
  ++livingTets_;
}

void Refinement::leave(uint32_t tet) {
  tets_[tet].alive = false;
  for (const uint32_t v : tets_[tet].v) {
    std::vector<uint32_t>& star = star_[v];
    const auto it = std::find(star.begin(), star.end(), tet);
    assert(it != star.end());
    *it = star.back();
    star.pop_back();
  }
  --livingTets_;
}

// The other living tetrahedron with these three vertices.
uint32_t Refinement::neighbour(uint32_t tet, uint32_t a, uint32_t b, uint32_t c) const {
  if (star_[b].size() < star_[a].size()) std::swap(a, b);
  if (star_[c].size() < star_[a].size()) std::swap(a, c);
  for (const uint32_t t : star_[a])
    if (t != tet && has(tets_[t], b) && has(tets_[t], c)) return t;
  return kNoIndex;
}

void Refinement::aroundEdge(uint32_t a, uint32_t b, std::vector<uint32_t>& out) const {
  out.clear();
  if (star_[b].size() < star_[a].size()) std::swap(a, b);
  for (const uint32_t t : star_[a])
    if (has(tets_[t], b)) out.push_back(t);
  std::sort(out.begin(), out.end());
}

RefineStatus Refinement::step(uint32_t tet) {
  // Recursion goes to smaller generations only, so it ends within kLargestGeneration calls.
  assert(tet < tets_.size() && tets_[tet].alive);
  const RefinedTet t = tets_[tet];
  if (t.locked) return RefineStatus::Locked;
  if (t.blocked) return RefineStatus::Blocked;
  if (t.generation + 5 - t.state() > kLargestGeneration) return RefineStatus::Deepest;
  std::vector<uint32_t> others;
  for (;;) {
    others.clear();
    switch (t.state()) {
      case 0:
        break;
      case 1:
        others.push_back(neighbour(tet, t.v[0], t.v[1], t.v[2]));
        break;
      case 2:
        aroundEdge(t.v[0], t.v[1], others);
        break;
      case 3:
        others.push_back(neighbour(tet, t.v[0], t.v[2], t.v[3]));
        break;
      default:
        aroundEdge(t.v[0], t.v[3], others);
        break;
    }
    const auto behind = std::find_if(others.begin(), others.end(), [&](uint32_t o) {
      return o != kNoIndex && tets_[o].generation < t.generation;
    });
    if (behind == others.end()) return advance(tet);
    const RefineStatus status = step(*behind);
    if (status != RefineStatus::Done) return status;
    if (!tets_[tet].alive) return RefineStatus::Done;
  }
}

RefineStatus Refinement::refineFull(uint32_t tet) {
  const uint32_t target = 5 * (tets_[tet].cycle() + 1);
  std::vector<uint32_t> work{tet};
  std::vector<uint32_t> done;
  RefineStatus worst = RefineStatus::Done;
  uint32_t centroid = kNoIndex;
  while (!work.empty()) {
    const uint32_t t = work.back();
    if (tets_[t].alive) {
      RefineStatus status = RefineStatus::Done;
      if (tets_[t].generation < target) status = step(t);
      if (status != RefineStatus::Done) worst = status;
      if (tets_[t].generation >= target || status != RefineStatus::Done) work.pop_back();
      continue;
    }
    work.pop_back();
    if (std::find(done.begin(), done.end(), t) != done.end()) continue;
    done.push_back(t);
    // What it was made into; of an edge cut only its own three pieces, of a corner flip not the piece that
    // lies on the other side of the face.
    const RefineOp& op = ops_[tets_[t].usedBy];
    if (t == tet && op.kind == RefineKind::Split) centroid = op.newVertices[0];
    size_t first = 0, last = op.out.size();
    if (op.kind == RefineKind::EdgeCut) {
      first = 3 * size_t(std::find(op.in.begin(), op.in.end(), t) - op.in.begin());
      last = first + 3;
    }
    for (size_t i = last; i > first; --i) {
      const RefinedTet& piece = tets_[op.out[i - 1]];
      if (op.kind == RefineKind::CornerFlip && centroid != kNoIndex && piece.state() == 4 &&
          piece.v[3] != centroid)
        continue;
      work.push_back(op.out[i - 1]);
    }
  }
  return worst;
}

size_t Refinement::refineAll(uint32_t generation) {
  size_t refused = 0;
  // New tetrahedra come behind the ones they are made of, or in free slots before them: until nothing moves.
  for (bool moved = true; moved;) {
    moved = false;
    refused = 0;
    for (uint32_t t = 0; t < tets_.size(); ++t) {
      while (tets_[t].alive && tets_[t].generation < generation) {
        if (step(t) != RefineStatus::Done) {
          ++refused;
          break;
        }
        moved = true;
      }
    }
  }
  return refused;
}

bool Refinement::undoable(uint32_t op) const {
  if (op >= ops_.size() || !ops_[op].alive) return false;
  return std::all_of(ops_[op].out.begin(), ops_[op].out.end(),
                     [&](uint32_t t) { return tets_[t].alive && !tets_[t].locked; });
}

bool Refinement::undo(uint32_t op) {
  if (!undoable(op)) return false;
  if (recording_) recordUndo(op);
  RefineOp& o = ops_[op];
  for (const uint32_t t : o.out) {
    leave(t);
    tets_[t] = {};
    freeTets_.push_back(t);
  }
  for (const uint32_t t : o.in) {
    tets_[t].usedBy = kNoIndex;
    tets_[t].blocked = false;
    enter(t);
  }
  for (const uint32_t v : o.newVertices) {
    assert(star_[v].empty());
    freeVertices_.push_back(v);
  }
  --counts_[size_t(o.kind)];
  o = {};
  freeOps_.push_back(op);
  return true;
}

size_t Refinement::coarsenAll() {
  std::vector<uint32_t> work;
  for (uint32_t op = 0; op < ops_.size(); ++op)
    if (ops_[op].alive) work.push_back(op);
  size_t count = 0;
  while (!work.empty()) {
    const uint32_t op = work.back();
    work.pop_back();
    if (!undoable(op)) continue;
    const std::vector<uint32_t> in = ops_[op].in;
    undo(op);
    ++count;
    for (const uint32_t t : in)
      if (tets_[t].madeBy != kNoIndex) work.push_back(tets_[t].madeBy);
  }
  return count;
}

geometry::TetMesh Refinement::mesh(std::vector<uint32_t>* slots) const {
  geometry::TetMesh mesh;
  if (slots != nullptr) slots->clear();
  std::vector<uint32_t> number(positions_.size(), kNoIndex);
  for (uint32_t v = 0; v < positions_.size(); ++v) {
    if (star_[v].empty() && v >= inputVertices_) continue;
    number[v] = uint32_t(mesh.positions.size());
    mesh.positions.push_back(positions_[v]);
  }
  for (uint32_t t = 0; t < tets_.size(); ++t) {
    if (!tets_[t].alive) continue;
    std::array<uint32_t, 4> v = tets_[t].v;
    if (volume(v) < 0) std::swap(v[2], v[3]);
    for (uint32_t& i : v) i = number[i];
    mesh.tets.push_back(v);
    if (slots != nullptr) slots->push_back(t);
  }
  return mesh;
}

double Refinement::volume(const std::array<uint32_t, 4>& v) const {
  return geometry::orient3d(positions_[v[0]], positions_[v[1]], positions_[v[2]], positions_[v[3]]) / 6;
}

std::string Refinement::validate() const {
  size_t living = 0;
  for (uint32_t t = 0; t < tets_.size(); ++t) {
    const RefinedTet& tet = tets_[t];
    if (!tet.alive) continue;
    ++living;
    for (const uint32_t v : tet.v)
      if (std::count(star_[v].begin(), star_[v].end(), t) != 1)
        return "tetrahedron " + std::to_string(t) + " is not in the star of vertex " + std::to_string(v);
    if (tet.madeBy != kNoIndex) {
      if (!ops_[tet.madeBy].alive) return "tetrahedron " + std::to_string(t) + " was made by nothing";
      const std::vector<uint32_t>& out = ops_[tet.madeBy].out;
      if (std::find(out.begin(), out.end(), t) == out.end())
        return "operation " + std::to_string(tet.madeBy) + " does not know tetrahedron " + std::to_string(t);
    }
  }
  if (living != livingTets_) return "the number of living tetrahedra is wrong";
  for (const RefineOp& op : ops_) {
    if (!op.alive) continue;
    for (const uint32_t t : op.in)
      if (tets_[t].alive) return "a replaced tetrahedron is alive";
  }
  return {};
}

}  // namespace sunder::tet
