#include "sunder/spatial/ccd/mesh_ccd.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/spatial/pairs/feature_boxes.h"
#include "sunder/spatial/tree/tree_kernels.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <utility>

namespace sunder::spatial {

namespace {

using geometry::Triangle;

constexpr size_t kCcdGrain = 2048;           // pairs of triangles a block
constexpr size_t kAtOnce = 256 * kCcdGrain;  // pairs of triangles whose features are in memory at one time

void check(const MovingMesh& mesh) {
  if (mesh.start.size() != mesh.end.size())
    throw Error(ErrorKind::Usage, "the start of the step has " + std::to_string(mesh.start.size()) +
                                      " vertices, its end " + std::to_string(mesh.end.size()));
  for (const Triangle& t : mesh.triangles)
    if (std::max({t[0], t[1], t[2]}) >= mesh.start.size())
      throw Error(ErrorKind::Usage, "a triangle refers to a vertex that does not exist");
}

// For each pattern of equal corners of two triangles (bit 3 * i + j: corner i of the first is corner j of the
// second), the pairs of features that share a vertex, as bits of kernels::overlappingFeatures.
constexpr std::array<uint16_t, 512> makeSharing() {
  std::array<uint16_t, 512> table{};
  for (uint32_t equal = 0; equal < 512; ++equal) {
    const auto same = [&](uint32_t i, uint32_t j) { return (equal >> (3 * (i % 3) + j % 3) & 1) != 0; };
    uint32_t shared = 0;
    for (uint32_t i = 0; i < 3; ++i) {
      for (uint32_t j = 0; j < 3; ++j) {
        if (same(i, j) || same(i, j + 1) || same(i + 1, j) || same(i + 1, j + 1)) shared |= 1u << (3 * i + j);
      }
      if (same(i, 0) || same(i, 1) || same(i, 2)) shared |= 1u << (kernels::kFirstCornerOfA + i);
      if (same(0, i) || same(1, i) || same(2, i)) shared |= 1u << (kernels::kFirstCornerOfB + i);
    }
    table[equal] = static_cast<uint16_t>(shared);
  }
  return table;
}
constexpr std::array<uint16_t, 512> kSharing = makeSharing();

}  // namespace

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

void MeshCcd::collect(const Moving& a, const Moving& b, std::span<const PrimitivePair> pairs, bool same) {
  const uint32_t offset = same ? 0 : a.vertexCount;  // of b's vertices in the joint list
  const size_t blocks = (pairs.size() + kCcdGrain - 1) / kCcdGrain;
  if (found_.size() < blocks) found_.resize(blocks);
  parallelBlocks(pairs.size(), kCcdGrain, [&](size_t begin, size_t end) {
    PairLists& lists = found_[begin / kCcdGrain];
    lists.vertexFace.clear();
    lists.edgeEdge.clear();
    uint16_t masks[kCcdGrain], patterns[kCcdGrain];
    kernels::overlappingFeatures(a.features.data(), b.features.data(), &pairs[begin], end - begin, masks);
    if (same) {
      kernels::equalCorners(a.corners.data(), &pairs[begin], end - begin, patterns);
      for (size_t i = 0; i < end - begin; ++i) masks[i] &= static_cast<uint16_t>(~kSharing[patterns[i]]);
    }
    for (size_t i = begin; i < end; ++i) {
      uint32_t mask = masks[i - begin];
      if (mask == 0) continue;
      const Triangle &va = a.triangles[pairs[i].a], &vb = b.triangles[pairs[i].b];
      for (; mask; mask &= mask - 1) {
        const auto bit = static_cast<uint32_t>(std::countr_zero(mask));
        if (bit < kernels::kFirstCornerOfA) {
          const uint32_t ea = bit / 3, eb = bit % 3;
          lists.edgeEdge.push_back({va[ea], va[(ea + 1) % 3], offset + vb[eb], offset + vb[(eb + 1) % 3]});
        } else if (bit < kernels::kFirstCornerOfB) {
          lists.vertexFace.push_back(
              {va[bit - kernels::kFirstCornerOfA], offset + vb[0], offset + vb[1], offset + vb[2]});
        } else {
          lists.vertexFace.push_back({offset + vb[bit - kernels::kFirstCornerOfB], va[0], va[1], va[2]});
        }
      }
    }
  });
  vertexFace_.clear();
  edgeEdge_.clear();
  for (size_t i = 0; i < blocks; ++i) {
    const PairLists& lists = found_[i];
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

EarliestContact MeshCcd::search(const Moving& a, const Moving& b, bool same, std::span<const Vec3> start,
                                std::span<const Vec3> end, const CcdSettings& settings) {
  EarliestContact earliest;
  earliest.time = settings.maxTime;
  const std::span<const PrimitivePair> pairs = pairs_.pairs();
  statistics_.trianglePairs = pairs.size();
  for (size_t first = 0; first < pairs.size(); first += kAtOnce) {
    collect(a, b, pairs.subspan(first, std::min(kAtOnce, pairs.size() - first)), same);
    decide(start, end, settings, earliest);
  }
  return earliest;
}

// Half the separation on either side: boxes that miss each other are then further apart than the whole.
void MeshCcd::build(const MovingMesh& mesh, double margin, Moving& moving) {
  check(mesh);
  moving.builder.build(moving.tree, TriangleLeaves{mesh.start, mesh.triangles, mesh.end}, {.margin = margin});
  moving.vertexCount = static_cast<uint32_t>(mesh.start.size());
  if (std::ranges::equal(mesh.triangles, moving.triangles)) return;
  moving.triangles.assign(mesh.triangles.begin(), mesh.triangles.end());
  own(mesh.triangles, mesh.start.size(), moving.owned);
  kernels::PaddedTriangle* corners = moving.corners.reserve(mesh.triangles.size());
  for (size_t t = 0; t < mesh.triangles.size(); ++t)
    corners[t] = {{mesh.triangles[t][0], mesh.triangles[t][1], mesh.triangles[t][2], 0}};
}

// Of the triangles in pairs alone where most are in none, as when two meshes touch at one place.
void MeshCcd::boxFeatures(Moving& moving, std::span<const PrimitivePair> pairs,
                          uint32_t PrimitivePair::*side) {
  const size_t count = moving.triangles.size();
  const bool all = pairs.size() > count / 4;
  if (!all) {
    moving.needed.assign(count, 0);
    for (const PrimitivePair& pair : pairs) moving.needed[pair.*side] = 1;
  }
  BoxBlock* features = moving.features.reserve(count);
  const auto box = [&](size_t begin, size_t end) {
    kernels::boxFeatures(moving.triangles.data(), moving.builder.vertexBoxes(), moving.owned.data(), begin,
                         end, features);
  };
  parallelBlocks(count, 4096, [&](size_t begin, size_t end) {
    if (all) return box(begin, end);
    for (size_t t = begin; t < end; ++t)
      if (moving.needed[t]) box(t, t + 1);
  });
}

EarliestContact MeshCcd::self(const MovingMesh& mesh, const CcdSettings& settings, uint64_t mostPairs) {
  statistics_ = {};
  build(mesh, 0.5 * settings.minSeparation, a_);
  selfOverlapPairs(a_.tree, pairs_, mostPairs);
  boxFeatures(a_, pairs_.pairs(), &PrimitivePair::a);
  return search(a_, a_, true, mesh.start, mesh.end, settings);
}

EarliestContact MeshCcd::between(const MovingMesh& a, const MovingMesh& b, const CcdSettings& settings,
                                 uint64_t mostPairs) {
  statistics_ = {};
  const double margin = 0.5 * settings.minSeparation;
  build(a, margin, a_);
  build(b, margin, b_);
  overlapPairs(a_.tree, b_.tree, pairs_, mostPairs);
  boxFeatures(a_, pairs_.pairs(), &PrimitivePair::a);
  boxFeatures(b_, pairs_.pairs(), &PrimitivePair::b);
  start_.assign(a.start.begin(), a.start.end());
  start_.insert(start_.end(), b.start.begin(), b.start.end());
  end_.assign(a.end.begin(), a.end.end());
  end_.insert(end_.end(), b.end.begin(), b.end.end());
  return search(a_, b_, false, start_, end_, settings);
}

}  // namespace sunder::spatial
