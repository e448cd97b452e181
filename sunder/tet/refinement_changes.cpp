// Records of change of the refinement: what became of the mesh since the last record.
#include "sunder/base/error.h"
#include "sunder/geometry/predicates.h"
#include "sunder/tet/refinement.h"

#include <algorithm>
#include <limits>

namespace sunder::tet {

void Refinement::recordChanges(uint64_t body) {
  recording_ = true;
  body_ = {.id = body};
  numberForChanges();
}

// The numbers that mesh() gives.
void Refinement::numberForChanges() {
  numberThen_.assign(tets_.size(), kNoIndex);
  vertexThen_.assign(positions_.size(), kNoIndex);
  body_.tets = body_.vertices = 0;
  for (uint32_t t = 0; t < tets_.size(); ++t)
    if (tets_[t].alive) numberThen_[t] = body_.tets++;
  for (uint32_t v = 0; v < positions_.size(); ++v)
    if (!star_[v].empty() || v < inputVertices_) vertexThen_[v] = body_.vertices++;
  originThen_ = numberThen_;
}

// The candidate that the centroid lies in, or is nearest to lying in.
uint32_t Refinement::sourceAmong(std::span<const uint32_t> candidates, uint32_t tet) const {
  if (candidates.size() == 1) return candidates[0];
  Vec3 centroid = Vec3::Zero();
  for (const uint32_t v : tets_[tet].v) centroid += 0.25 * positions_[v];
  uint32_t best = candidates[0];
  double largest = -std::numeric_limits<double>::infinity();
  for (const uint32_t c : candidates) {
    std::array<Vec3, 4> p;
    for (size_t i = 0; i < 4; ++i) p[i] = positions_[tets_[c].v[i]];
    const double whole = geometry::orient3d(p[0], p[1], p[2], p[3]);
    double smallest = std::numeric_limits<double>::infinity();  // of the centroid's shares
    for (size_t i = 0; i < 4; ++i) {
      std::array<Vec3, 4> q = p;
      q[i] = centroid;
      smallest = std::min(smallest, geometry::orient3d(q[0], q[1], q[2], q[3]) / whole);
    }
    if (smallest > largest) {
      largest = smallest;
      best = c;
    }
  }
  return best;
}

void Refinement::recordOp(uint32_t op) {
  numberThen_.resize(tets_.size(), kNoIndex);
  originThen_.resize(tets_.size(), kNoIndex);
  const RefineOp& o = ops_[op];
  for (const uint32_t t : o.out) {
    numberThen_[t] = kNoIndex;  // the slot may have had another tenant
    originThen_[t] = originThen_[sourceAmong(o.in, t)];
  }
}

// Before it is undone. A tetrahedron that comes back and was there at the last record is itself again.
void Refinement::recordUndo(uint32_t op) {
  const RefineOp& o = ops_[op];
  for (const uint32_t t : o.in)
    originThen_[t] = numberThen_[t] != kNoIndex ? numberThen_[t] : originThen_[sourceAmong(o.out, t)];
  for (const uint32_t t : o.out) numberThen_[t] = kNoIndex;
  for (const uint32_t v : o.newVertices) vertexThen_[v] = kNoIndex;
}

geometry::TopologyChange Refinement::takeChange() {
  if (!recording_) throw Error(ErrorKind::Usage, "changes are recorded after recordChanges() only");
  geometry::TopologyChange change;
  change.kind = geometry::ChangeKind::Refine;
  change.disappeared = {body_};
  for (uint32_t v = 0; v < positions_.size(); ++v)
    if (!star_[v].empty() || v < inputVertices_) change.vertexSource.push_back(vertexThen_[v]);
  for (uint32_t t = 0; t < tets_.size(); ++t)
    if (tets_[t].alive) change.tetSource.push_back(originThen_[t]);
  const uint64_t parent = body_.id;
  body_.id = geometry::childId(parent, 0);
  numberForChanges();
  change.appeared = {{.body = body_, .parents = {0}, .ordinal = 0}};
  return change;
}

}  // namespace sunder::tet
