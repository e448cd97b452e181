#include "sunder/cut/arrangement/unfold.h"

#include "sunder/base/disjoint_sets.h"

#include <algorithm>
#include <optional>

namespace sunder::cut {

namespace {

// Which vertices of one mesh are inside the other, asked once for vertices that no point comes between.
class Insides {
 public:
  Insides(const KernelMesh& own, const KernelMesh& closed, MeshId id, const Seam& seam)
      : own_(own), closed_(closed), id_(id), sets_(own.positions.size()), known_(own.positions.size()) {
    std::vector<uint8_t> crossed(own.twin.size(), 0);
    for (const EdgeRun& run : seam.runs[id]) crossed[run.halfedge] = 1;
    for (uint32_t h = 0; h < own.twin.size(); ++h)
      if (h < own.twin[h] && !crossed[h]) sets_.unite(own.origin(h), own.target(h));
  }

  bool operator()(uint32_t vertex) {
    std::optional<bool>& answer = known_[sets_.find(vertex)];
    if (!answer) answer = windingAround(own_.positions[vertex], id_, closed_) > 0;
    return *answer;
  }

 private:
  const KernelMesh& own_;
  const KernelMesh& closed_;
  MeshId id_;
  DisjointSets sets_;
  std::vector<std::optional<bool>> known_;
};

// The order in which the edge leaves and enters by turns; that of before where there is none, or where a
// point would move too far.
std::vector<uint32_t> byTurns(std::span<const SeamPoint> points, const std::vector<uint8_t>& leaves,
                              bool inside, double reach) {
  const uint32_t n = u32(points.size());
  std::vector<uint32_t> order(n), same(n), queue[2];
  for (uint32_t i = n; i > 0; --i) queue[leaves[i - 1]].push_back(i - 1);
  for (uint32_t i = 0; i < n; ++i) same[i] = i;
  for (uint32_t i = 0; i < n; ++i, inside = !inside) {
    if (queue[inside].empty()) return same;
    order[i] = queue[inside].back();
    queue[inside].pop_back();
    if ((points[order[i]].position - points[i].position).cwiseAbs().maxCoeff() > reach) return same;
  }
  return order;
}

}  // namespace

bool unfoldSeam(const KernelMesh& mesh, const KernelMesh& cutter, Seam& seam) {
  const KernelMesh* const meshes[] = {&mesh, &cutter};
  Box3 box = mesh.bounds;
  box.grow(cutter.bounds);
  const double reach = kFoldReach * box.extent().maxCoeff();
  std::vector<uint32_t> place(seam.points.size());
  for (uint32_t i = 0; i < place.size(); ++i) place[i] = i;
  std::vector<SeamPoint> before;
  std::vector<uint8_t> leaves;
  bool changed = false;
  for (const MeshId id : {kMesh, kCutter}) {
    const KernelMesh &own = *meshes[id], &other = *meshes[1 - id];
    if (!other.closed()) continue;
    Insides insides(own, other, id, seam);
    for (const EdgeRun& run : seam.runs[id]) {
      if (run.count < 2) continue;
      const std::span<SeamPoint> points(seam.points.data() + run.first, run.count);
      const uint32_t from = own.origin(run.halfedge);
      leaves.clear();
      for (const SeamPoint& x : points) {
        const Corners3 face = cornersOf(other, x.face);
        const int side = id == kMesh ? sideOfMeshVertex(own.positions[from], face)
                                     : sideOfCutterVertex(own.positions[from], face);
        leaves.push_back(side < 0);
      }
      const auto order = byTurns(points, leaves, insides(from), reach);
      if (std::is_sorted(order.begin(), order.end())) continue;
      changed = true;
      before.assign(points.begin(), points.end());
      for (uint32_t i = 0; i < run.count; ++i) {
        points[i] = before[order[i]];
        place[run.first + order[i]] = run.first + i;
      }
    }
  }
  for (SeamSegment& s : seam.segments) {
    s.start = place[s.start];
    s.end = place[s.end];
  }
  return changed;
}

}  // namespace sunder::cut
