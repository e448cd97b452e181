#include "sunder/spatial/mesh_ccd.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/spatial/tree_kernels.h"

#include <algorithm>
#include <string>
#include <utility>

namespace sunder::spatial {

namespace {

using geometry::Triangle;

constexpr size_t kGrain = 2048;           // pairs of triangles a block
constexpr size_t kAtOnce = 256 * kGrain;  // pairs of triangles whose features are in memory at one time

void check(const MovingMesh& mesh) {
  if (mesh.start.size() != mesh.end.size())
    throw Error(ErrorKind::Usage, "the start of the step has " + std::to_string(mesh.start.size()) +
                                      " vertices, its end " + std::to_string(mesh.end.size()));
  for (const Triangle& t : mesh.triangles)
    if (std::max({t[0], t[1], t[2]}) >= mesh.start.size())
      throw Error(ErrorKind::Usage, "a triangle refers to a vertex that does not exist");
}

bool overlaps(const PaddedBox& a, const PaddedBox& b) {
  return (a.lower[0] <= b.upper[0]) & (b.lower[0] <= a.upper[0]) & (a.lower[1] <= b.upper[1]) &
         (b.lower[1] <= a.upper[1]) & (a.lower[2] <= b.upper[2]) & (b.lower[2] <= a.upper[2]);
}

struct PairLists {
  std::vector<CcdPair> vertexFace, edgeEdge;
};

}  // namespace

struct MeshCcd::Side {
  std::span<const Triangle> triangles;
  const PaddedBox* boxes;  // of the moving vertices
  const uint8_t* owned;
  uint32_t offset;  // of its vertices in the joint list

  PaddedBox faceBox(uint32_t t) const {
    const Triangle& v = triangles[t];
    return unite(unite(boxes[v[0]], boxes[v[1]]), boxes[v[2]]);
  }
};

// Each vertex to the first triangle that has it, each edge to the first of its triangles.
void MeshCcd::own(std::span<const Triangle> triangles, size_t vertexCount, std::vector<uint8_t>& owned) {
  owned.assign(triangles.size(), 0);
  std::vector<uint8_t> taken(vertexCount, 0);
  // Edges by their lower vertex: rows of (upper vertex, triangle, side).
  std::vector<uint32_t> rowBegin(vertexCount + 1, 0);
  for (const Triangle& t : triangles)
    for (int side = 0; side < 3; ++side) ++rowBegin[std::min(t[side], t[(side + 1) % 3])];
  uint32_t sum = 0;
  for (uint32_t& begin : rowBegin) sum += std::exchange(begin, sum);
  std::vector<uint32_t> seen(3 * triangles.size());
  std::vector<uint32_t> rowEnd(rowBegin.begin(), rowBegin.end() - 1);
  for (size_t f = 0; f < triangles.size(); ++f) {
    const Triangle& t = triangles[f];
    for (int side = 0; side < 3; ++side) {
      if (!std::exchange(taken[t[side]], uint8_t(1))) owned[f] |= static_cast<uint8_t>(1 << side);
      const auto [low, high] = std::minmax(t[side], t[(side + 1) % 3]);
      uint32_t* row = seen.data() + rowBegin[low];
      uint32_t* end = seen.data() + rowEnd[low];
      if (std::find(row, end, high) != end) continue;
      *end = high;
      ++rowEnd[low];
      owned[f] |= static_cast<uint8_t>(8 << side);
    }
  }
}

void MeshCcd::collect(const Side& a, const Side& b, std::span<const PrimitivePair> pairs, bool same) {
  const size_t blocks = (pairs.size() + kGrain - 1) / kGrain;
  std::vector<PairLists> found(blocks);
  // The corners of `from` that it owns against the face of `to`.
  const auto vertices = [&](const Side& from, uint32_t t, const Side& to, uint32_t f, const PaddedBox& face,
                            PairLists& lists) {
    const Triangle &mine = from.triangles[t], &theirs = to.triangles[f];
    for (uint32_t c = 0; c < 3; ++c) {
      if (!(from.owned[t] >> c & 1) || !overlaps(from.boxes[mine[c]], face)) continue;
      if (same && (mine[c] == theirs[0] || mine[c] == theirs[1] || mine[c] == theirs[2])) continue;
      lists.vertexFace.push_back(
          {from.offset + mine[c], to.offset + theirs[0], to.offset + theirs[1], to.offset + theirs[2]});
    }
  };
  parallelBlocks(pairs.size(), kGrain, [&](size_t begin, size_t end) {
    PairLists& lists = found[begin / kGrain];
    for (size_t i = begin; i < end; ++i) {
      const auto [ta, tb] = pairs[i];
      const Triangle &va = a.triangles[ta], &vb = b.triangles[tb];
      if ((a.owned[ta] & 7) != 0) vertices(a, ta, b, tb, b.faceBox(tb), lists);
      if ((b.owned[tb] & 7) != 0) vertices(b, tb, a, ta, a.faceBox(ta), lists);
      if ((a.owned[ta] >> 3) == 0 || (b.owned[tb] >> 3) == 0) continue;
      PaddedBox edgesOfB[3];
      for (uint32_t eb = 0; eb < 3; ++eb) edgesOfB[eb] = unite(b.boxes[vb[eb]], b.boxes[vb[(eb + 1) % 3]]);
      for (uint32_t ea = 0; ea < 3; ++ea) {
        if (!(a.owned[ta] >> (3 + ea) & 1)) continue;
        const uint32_t p = va[ea], q = va[(ea + 1) % 3];
        const PaddedBox edge = unite(a.boxes[p], a.boxes[q]);
        for (uint32_t eb = 0; eb < 3; ++eb) {
          if (!(b.owned[tb] >> (3 + eb) & 1) || !overlaps(edge, edgesOfB[eb])) continue;
          const uint32_t r = vb[eb], s = vb[(eb + 1) % 3];
          if (same && (p == r || p == s || q == r || q == s)) continue;
          lists.edgeEdge.push_back({a.offset + p, a.offset + q, b.offset + r, b.offset + s});
        }
      }
    }
  });
  vertexFace_.clear();
  edgeEdge_.clear();
  for (const PairLists& lists : found) {
    vertexFace_.insert(vertexFace_.end(), lists.vertexFace.begin(), lists.vertexFace.end());
    edgeEdge_.insert(edgeEdge_.end(), lists.edgeEdge.begin(), lists.edgeEdge.end());
  }
}

void MeshCcd::decide(std::span<const Vec3> start, std::span<const Vec3> end, const CcdSettings& settings,
                     EarliestContact& earliest) {
  // At the same time a vertex comes before an edge, and then the first pair.
  const auto look = [&](ContactKind kind, const std::vector<CcdPair>& pairs) {
    for (size_t i = 0; i < pairs.size(); ++i) {
      if (!hits_[i].hit) continue;
      ++statistics_.hits;
      if (earliest.kind == ContactKind::None || hits_[i].time < earliest.time ||
          (hits_[i].time == earliest.time && kind < earliest.kind))
        earliest = {kind, hits_[i].time, pairs[i]};
    }
  };
  hits_.resize(std::max(vertexFace_.size(), edgeEdge_.size()));
  vertexFaceBatch(start, end, vertexFace_, std::span(hits_).first(vertexFace_.size()), settings);
  look(ContactKind::VertexFace, vertexFace_);
  edgeEdgeBatch(start, end, edgeEdge_, std::span(hits_).first(edgeEdge_.size()), settings);
  look(ContactKind::EdgeEdge, edgeEdge_);
  statistics_.vertexFacePairs += vertexFace_.size();
  statistics_.edgeEdgePairs += edgeEdge_.size();
}

EarliestContact MeshCcd::search(const Side& a, const Side& b, bool same, std::span<const Vec3> start,
                                std::span<const Vec3> end, const CcdSettings& settings) {
  EarliestContact earliest;
  earliest.time = settings.maxTime;
  const std::span<const PrimitivePair> pairs = pairs_.pairs();
  for (size_t first = 0; first < pairs.size(); first += kAtOnce) {
    collect(a, b, pairs.subspan(first, std::min(kAtOnce, pairs.size() - first)), same);
    decide(start, end, settings, earliest);
  }
  return earliest;
}

namespace {

// Half the separation on either side: boxes that miss each other are then further apart than the whole.
void boxVertices(const MovingMesh& mesh, double margin, ReusableArray<PaddedBox>& boxes) {
  PaddedBox* out = boxes.reserve(mesh.start.size());
  parallelBlocks(mesh.start.size(), 4096, [&](size_t begin, size_t end) {
    PaddedBox ignored;
    kernels::boxPoints(&mesh.start[begin], &mesh.end[begin], end - begin, margin, out + begin, ignored);
  });
}

}  // namespace

EarliestContact MeshCcd::self(const MovingMesh& mesh, const CcdSettings& settings, uint64_t mostPairs) {
  check(mesh);
  statistics_ = {};
  const double margin = 0.5 * settings.minSeparation;
  builder_.build(treeA_, TriangleLeaves{mesh.start, mesh.triangles, mesh.end}, {.margin = margin});
  selfOverlapPairs(treeA_, pairs_, mostPairs);
  statistics_.trianglePairs = pairs_.size();
  boxVertices(mesh, margin, boxesA_);
  own(mesh.triangles, mesh.start.size(), ownedA_);
  const Side side{mesh.triangles, boxesA_.data(), ownedA_.data(), 0};
  return search(side, side, true, mesh.start, mesh.end, settings);
}

EarliestContact MeshCcd::between(const MovingMesh& a, const MovingMesh& b, const CcdSettings& settings,
                                 uint64_t mostPairs) {
  check(a);
  check(b);
  statistics_ = {};
  const double margin = 0.5 * settings.minSeparation;
  builder_.build(treeA_, TriangleLeaves{a.start, a.triangles, a.end}, {.margin = margin});
  builder_.build(treeB_, TriangleLeaves{b.start, b.triangles, b.end}, {.margin = margin});
  overlapPairs(treeA_, treeB_, pairs_, mostPairs);
  statistics_.trianglePairs = pairs_.size();
  boxVertices(a, margin, boxesA_);
  boxVertices(b, margin, boxesB_);
  own(a.triangles, a.start.size(), ownedA_);
  own(b.triangles, b.start.size(), ownedB_);
  const auto offset = static_cast<uint32_t>(a.start.size());
  std::vector<Vec3> start(a.start.begin(), a.start.end()), end(a.end.begin(), a.end.end());
  start.insert(start.end(), b.start.begin(), b.start.end());
  end.insert(end.end(), b.end.begin(), b.end.end());
  return search({a.triangles, boxesA_.data(), ownedA_.data(), 0},
                {b.triangles, boxesB_.data(), ownedB_.data(), offset}, false, start, end, settings);
}

}  // namespace sunder::spatial
