#include "sunder/spatial/query/float_point.h"
#include "sunder/spatial/query/mesh_queries.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sunder/spatial/query/closest_kernel.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per target
#include <hwy/highway.h>

// clang-format off: has to come after the loop over targets
#include "sunder/base/lanes_inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace sunder::spatial::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using lanes::HWY_NAMESPACE::dot;
using lanes::HWY_NAMESPACE::maskBits;
using lanes::HWY_NAMESPACE::prefetch;

using F8 = hn::CappedTag<float, 8>;
using V = hn::Vec<F8>;
constexpr size_t kLanes = hn::MaxLanes(F8());

struct QueryPoint {
  D3 exact;
  float high[3], low[3];  // the point is their sum
  double noise;           // what a distance computed in double may be wrong by, generously

  QueryPoint(D3 p, double scale) : exact(p) {
    const double c[3] = {p.x, p.y, p.z};
    for (int k = 0; k < 3; ++k) {
      high[k] = static_cast<float>(floatPart(c[k]));
      low[k] = static_cast<float>(c[k] - floatPart(c[k]));
      scale = std::max(scale, std::abs(c[k]));
    }
    noise = 0x1p-47 * scale;
  }
};

// What is further away than this need not be looked at. Each of the float computations has fewer than eight
// roundings, 2^-21 in all.
struct Reach {
  float radius;   // of triangles
  float squared;  // of boxes

  void set(double squaredDistance, double noise) {
    constexpr double kSlack = 1 + 0x1p-20;
    const double r = (std::sqrt(squaredDistance) + noise) * kSlack;
    radius = saturated(r);
    squared = saturated(r * r * kSlack + std::numeric_limits<float>::min());
  }
  void tighten(double squaredDistance, double noise) {
    Reach other;
    other.set(squaredDistance, noise);
    if (other.radius < radius) *this = other;
  }
  // The same for a distance found in float.
  void tighten(float distance, float slack, double noise) {
    const float r = (distance + slack + static_cast<float>(noise)) * (1 + 0x1p-20f);
    if (!(r < radius)) return;
    radius = r;
    squared = r * r * (1 + 0x1p-20f) + std::numeric_limits<float>::min();
  }
};

// Squared distances to eight oriented boxes, from below; returns which are in reach.
HWY_INLINE uint32_t boxDistances(const OrientedBlock& block, const QueryPoint& p, float reach, float* out) {
  const F8 d;
  const auto zero = hn::Zero(d);
  uint32_t bits = 0;
  for (size_t k = 0; k < 8; k += kLanes) {
    const auto offset = [&](int axis) HWY_ATTR {
      return hn::Add(hn::Sub(hn::Set(d, p.high[axis]), hn::Load(d, block.centre[axis] + k)),
                     hn::Set(d, p.low[axis]));
    };
    const auto x = offset(0), y = offset(1), z = offset(2);
    // Seven roundings of the offset, of which each counts with at most the sum of its coordinates.
    const auto slack = hn::Mul(hn::Add(hn::Add(hn::Abs(x), hn::Abs(y)), hn::Abs(z)), hn::Set(d, 0x1p-20f));
    const auto gap = [&](int axis) HWY_ATTR {
      const auto along = dot(x, y, z, hn::Load(d, block.axis[axis][0] + k),
                             hn::Load(d, block.axis[axis][1] + k), hn::Load(d, block.axis[axis][2] + k));
      return hn::Max(hn::Sub(hn::Sub(hn::Abs(along), hn::Load(d, block.half[axis] + k)), slack), zero);
    };
    const auto u = gap(0), v = gap(1), w = gap(2);
    const auto squared = dot(u, v, w, u, v, w);
    hn::Store(squared, d, out + k);
    bits |= maskBits(F8(), hn::Le(squared, hn::Set(d, reach))) << k;
  }
  return bits;
}

struct TriangleBounds {
  alignas(64) float lower[8];
  float least;  // of the distances to points that were found on the triangles
  float slack;  // what the bounds may be wrong by, besides a few roundings
};

// What leads from the nearest points of triangles k .. k + kLanes - 1 of a block to a point, as float finds
// it; ap leads from their first corners to the point.
HWY_INLINE void wayFromTriangles(const TriangleBlock& block, size_t k, V apx, V apy, V apz, V& nx, V& ny,
                                 V& nz) {
  const F8 d;
  const auto zero = hn::Zero(d), one = hn::Set(d, 1.0f), tiny = hn::Set(d, 1e-37f);
  const auto abx = hn::Load(d, block.ab[0] + k), aby = hn::Load(d, block.ab[1] + k),
             abz = hn::Load(d, block.ab[2] + k);
  const auto acx = hn::Load(d, block.ac[0] + k), acy = hn::Load(d, block.ac[1] + k),
             acz = hn::Load(d, block.ac[2] + k);
  const auto e = dot(abx, aby, abz, abx, aby, abz), f = dot(abx, aby, abz, acx, acy, acz),
             g = dot(acx, acy, acz, acx, acy, acz);
  const auto d1 = dot(abx, aby, abz, apx, apy, apz), d2 = dot(acx, acy, acz, apx, apy, apz);
  const auto clamp = [&](V x) HWY_ATTR { return hn::Min(hn::Max(x, zero), one); };
  // Candidates by what they add to |ap|^2: the edges ab, ac and bc, then the face.
  const auto tab = clamp(hn::Div(d1, hn::Add(e, tiny)));
  const auto tac = clamp(hn::Div(d2, hn::Add(g, tiny)));
  const auto bc = hn::Add(hn::Sub(hn::Sub(e, f), f), g);
  const auto tbc = clamp(hn::Div(hn::Sub(hn::Sub(d2, d1), hn::Sub(f, e)), hn::Add(bc, tiny)));
  const auto qab = hn::Mul(tab, hn::Sub(hn::Mul(tab, e), hn::Add(d1, d1)));
  const auto qac = hn::Mul(tac, hn::Sub(hn::Mul(tac, g), hn::Add(d2, d2)));
  const auto vbc = hn::Sub(one, tbc);
  const auto cross = hn::Mul(f, hn::Mul(vbc, tbc));
  const auto qbc = hn::Add(hn::Add(hn::Mul(vbc, hn::Sub(hn::Mul(vbc, e), hn::Add(d1, d1))),
                                   hn::Mul(tbc, hn::Sub(hn::Mul(tbc, g), hn::Add(d2, d2)))),
                           hn::Add(cross, cross));
  const auto useAc = hn::Lt(qac, qab);
  auto v = hn::IfThenElse(useAc, zero, tab), w = hn::IfThenElse(useAc, tac, zero);
  const auto useBc = hn::Lt(qbc, hn::Min(qab, qac));
  v = hn::IfThenElse(useBc, vbc, v);
  w = hn::IfThenElse(useBc, tbc, w);
  const auto det = hn::Sub(hn::Mul(e, g), hn::Mul(f, f));
  const auto numV = hn::Sub(hn::Mul(g, d1), hn::Mul(f, d2)), numW = hn::Sub(hn::Mul(e, d2), hn::Mul(f, d1));
  const auto inside =
      hn::And(hn::And(hn::Gt(numV, zero), hn::Gt(numW, zero)), hn::Lt(hn::Add(numV, numW), det));
  const auto inverse = hn::Div(one, det);
  v = hn::IfThenElse(inside, hn::Mul(numV, inverse), v);
  w = hn::IfThenElse(inside, hn::Mul(numW, inverse), w);
  nx = hn::Sub(hn::Sub(apx, hn::Mul(v, abx)), hn::Mul(w, acx));
  ny = hn::Sub(hn::Sub(apy, hn::Mul(v, aby)), hn::Mul(w, acy));
  nz = hn::Sub(hn::Sub(apz, hn::Mul(v, abz)), hn::Mul(w, acz));
}

struct BlockPoint {
  float x, y, z;  // relative to the block's origin

  BlockPoint(const TriangleBlock& block, D3 p)
      : x(static_cast<float>(p.x - block.origin[0])),
        y(static_cast<float>(p.y - block.origin[1])),
        z(static_cast<float>(p.z - block.origin[2])) {}
};

// Lower bounds of the distances to eight triangles. For any direction n, the corner that is least far along n
// bounds the distance from below by (p - corner) . n / |n|; n points from the nearest point as float finds
// it, and how well it does so matters for sharpness only.
HWY_INLINE void triangleBounds(const TriangleBlock& block, const QueryPoint& point, TriangleBounds& out) {
  const F8 d;
  const auto infinite = hn::Set(d, std::numeric_limits<float>::infinity());
  auto least = infinite;
  const BlockPoint p(block, point.exact);
  const auto zero = hn::Zero(d);
  for (size_t k = 0; k < 8; k += kLanes) {
    const auto apx = hn::Sub(hn::Set(d, p.x), hn::Load(d, block.a[0] + k));
    const auto apy = hn::Sub(hn::Set(d, p.y), hn::Load(d, block.a[1] + k));
    const auto apz = hn::Sub(hn::Set(d, p.z), hn::Load(d, block.a[2] + k));
    V nx, ny, nz;
    wayFromTriangles(block, k, apx, apy, apz, nx, ny, nz);
    const auto farB = dot(nx, ny, nz, hn::Load(d, block.ab[0] + k), hn::Load(d, block.ab[1] + k),
                          hn::Load(d, block.ab[2] + k)),
               farC = dot(nx, ny, nz, hn::Load(d, block.ac[0] + k), hn::Load(d, block.ac[1] + k),
                          hn::Load(d, block.ac[2] + k));
    const auto far = hn::Max(hn::Max(farB, farC), zero);
    const auto along = hn::Sub(dot(nx, ny, nz, apx, apy, apz), far);
    const auto length = hn::Sqrt(hn::Add(dot(nx, ny, nz, nx, ny, nz), hn::Set(d, 1e-30f)));
    const auto bound = hn::Div(along, length);
    // Not a number: nothing is known.
    hn::Store(hn::IfThenElse(hn::Gt(bound, zero), bound, zero), d, out.lower + k);
    least = hn::Min(least, hn::IfThenElse(hn::Lt(length, infinite), length, infinite));
  }
  out.least = hn::GetLane(hn::MinOfLanes(d, least));
  // Differences carry up to three roundings of the block's or the point's reach, the dot products eight of
  // the product, and 1e-29 is for what underflows; where products may overflow nothing is known.
  const float reach = block.reach + std::abs(p.x) + std::abs(p.y) + std::abs(p.z);
  out.slack = reach < 1e18f ? reach * 0x1p-19f + 1e-29f : std::numeric_limits<float>::infinity();
}

// The least of (squared distance, leaf) so far and in a block, distances as float finds them.
HWY_INLINE void nearestInBlock(const QueryView& view, uint32_t b, D3 point, float& least, uint32_t& leaf) {
  const F8 d;
  const TriangleBlock& block = view.blocks[b];
  const BlockPoint p(block, point);
  for (size_t k = 0; k < 8; k += kLanes) {
    const auto apx = hn::Sub(hn::Set(d, p.x), hn::Load(d, block.a[0] + k));
    const auto apy = hn::Sub(hn::Set(d, p.y), hn::Load(d, block.a[1] + k));
    const auto apz = hn::Sub(hn::Set(d, p.z), hn::Load(d, block.a[2] + k));
    V nx, ny, nz;
    wayFromTriangles(block, k, apx, apy, apz, nx, ny, nz);
    const auto squared = dot(nx, ny, nz, nx, ny, nz);
    const float found = hn::GetLane(hn::MinOfLanes(d, squared));
    if (!(found <= least)) continue;
    const uint32_t same = maskBits(F8(), hn::Eq(squared, hn::Set(d, found)));
    if (same == 0) continue;
    const uint32_t at =
        b * kBlockLanes + static_cast<uint32_t>(k) + static_cast<uint32_t>(std::countr_zero(same));
    if (found < least || at < leaf) leaf = at;
    least = found;
  }
}

template <class Sink>
HWY_INLINE void visitLeaves(const QueryView& view, const QueryPoint& p, uint32_t block, Sink& sink) {
  const OiTree& tree = *view.tree;
  const uint32_t first = block * kBlockLanes;
  const uint32_t count = std::min(kBlockLanes, tree.leafCount() - first);
  TriangleBounds bounds;
  triangleBounds(view.blocks[block], p, bounds);
  sink.triangles(bounds);
  const F8 d;
  const auto reach = hn::Set(d, sink.reach.radius + bounds.slack);
  uint32_t near = 0;
  for (size_t k = 0; k < 8; k += kLanes)
    near |= maskBits(F8(), hn::Le(hn::Load(d, bounds.lower + k), reach)) << k;
  for (uint32_t bits = near & ((1u << count) - 1); bits; bits &= bits - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(bits));
    sink.offer(first + lane, bounds.lower[lane] - bounds.slack);
  }
}

template <class Sink>
HWY_INLINE void traverse(const QueryView& view, const QueryPoint& p, Sink& sink) {
  const OiTree& tree = *view.tree;
  if (tree.empty()) return;
  const OrientedBlock* oriented = view.oriented->blocks.data();
  const uint32_t leafLevel = tree.layout().leafLevel();
  if (leafLevel == 0) {
    visitLeaves(view, p, 0, sink);
    return;
  }
  // Distance (its bits order as an integer's) and position of nodes whose children are still to be seen.
  constexpr size_t kDeepest = 12 * 8;
  uint64_t stack[kDeepest];
  uint8_t levels[kDeepest];
  stack[0] = 0;
  levels[0] = 0;
  size_t top = 1;
  alignas(64) float distance[8];
  while (top > 0) {
    const uint64_t entry = stack[--top];
    if (std::bit_cast<float>(static_cast<uint32_t>(entry >> 32)) > sink.reach.squared) continue;
    const auto position = static_cast<uint32_t>(entry);
    const uint32_t childLevel = levels[top] + 1u;
    if (childLevel == leafLevel) {
      visitLeaves(view, p, position, sink);
      continue;
    }
    uint32_t bits = boxDistances(oriented[view.oriented->firstBlock[childLevel] + position], p,
                                 sink.reach.squared, distance);
    const uint32_t first = position * kBlockLanes;
    const uint32_t count = std::min(kBlockLanes, tree.layout().levelSize(childLevel) - first);
    bits &= (1u << count) - 1;
    const size_t bottom = top;
    for (; bits; bits &= bits - 1) {  // nearest on top
      const auto lane = static_cast<uint32_t>(std::countr_zero(bits));
      const uint64_t key = (uint64_t(std::bit_cast<uint32_t>(distance[lane])) << 32) | (first + lane);
      size_t place = top++;
      for (; place > bottom && stack[place - 1] < key; --place) stack[place] = stack[place - 1];
      stack[place] = key;
      if (childLevel + 1 == leafLevel)
        prefetch(view.blocks + first + lane);
      else
        prefetch(oriented + view.oriented->firstBlock[childLevel + 1] + first + lane);
      levels[top - 1] = static_cast<uint8_t>(childLevel);
    }
  }
}

// Triangles are noted while the float bounds are good enough to go on with; few of them are left for the
// computation in double when the search is over.
struct NearestSink {
  const QueryView& view;
  const QueryPoint& p;
  NearestLeaf& best;
  Reach reach;
  struct Noted {
    float lower;
    uint32_t leaf;
  };
  static constexpr size_t kMostNoted = 64;
  Noted noted[kMostNoted];
  size_t count = 0;

  NearestSink(const QueryView& v, const QueryPoint& point, NearestLeaf& result)
      : view(v), p(point), best(result) {
    reach.set(best.squared, p.noise);
  }
  HWY_INLINE void triangles(const TriangleBounds& bounds) {
    reach.tighten(bounds.least, bounds.slack, p.noise);
  }
  HWY_INLINE void offer(uint32_t leaf, float lower) {
    if (count == kMostNoted) settle();
    noted[count++] = {lower, leaf};
    prefetch(view.triangles + leaf);
  }
  void settle() {
    while (count > 0) {
      const Noted item = noted[--count];
      if (item.lower > reach.radius) continue;
      const double squared = nearestOnTriangle(p.exact, view.triangles[item.leaf]).squared;
      if (squared > best.squared) continue;
      const uint32_t triangle = view.tree->primitive(item.leaf);
      if (squared == best.squared && triangle >= best.triangle) continue;
      best = {squared, triangle, item.leaf};
      reach.tighten(squared, p.noise);
    }
  }
};

void Nearest(const QueryView& view, D3 point, NearestLeaf& result) {
  const QueryPoint p(point, view.scale);
  NearestSink sink(view, p, result);
  traverse(view, p, sink);
  sink.settle();
}

// Notes the blocks in reach; the first that does not fit ends the search.
struct BlockSink {
  std::span<uint32_t> out;
  Reach reach;
  size_t count = 0;
  bool full = false;
};

HWY_INLINE void visitLeaves(const QueryView&, const QueryPoint&, uint32_t block, BlockSink& sink) {
  sink.full = sink.full || sink.count == sink.out.size();
  if (sink.full)
    sink.reach.squared = -1;
  else
    sink.out[sink.count++] = block;
}

size_t BlocksWithin(const QueryView& view, D3 point, double distance, std::span<uint32_t> blocks) {
  const QueryPoint p(point, view.scale);
  BlockSink sink{blocks, {}};
  sink.reach.set(distance * distance, p.noise);
  traverse(view, p, sink);
  return sink.full ? SIZE_MAX : sink.count;
}

// The discs of some blocks, relative to the first, to skip blocks eight at a time.
struct Discs {
  static constexpr size_t kMost = 256;
  alignas(64) float row[8][kMost];  // centre, normal, half, radius
  float origin[3];

  HWY_INLINE size_t set(const QueryView& view, std::span<const uint32_t> blocks) {
    const BlockDisc& first = view.discs[blocks[0]];
    for (size_t k = 0; k < 3; ++k) origin[k] = first.centre[k];
    size_t i = 0;
    for (; i < blocks.size(); ++i) {
      const BlockDisc& disc = view.discs[blocks[i]];
      for (size_t k = 0; k < 3; ++k) row[k][i] = disc.centre[k] - origin[k], row[k + 3][i] = disc.normal[k];
      row[6][i] = disc.half;
      row[7][i] = disc.radius;
    }
    // Never in reach.
    for (; i % 8 != 0; ++i) {
      for (size_t k = 0; k < 6; ++k) row[k][i] = 0;
      row[6][i] = row[7][i] = -std::numeric_limits<float>::infinity();
    }
    return i;
  }

  // Which of the discs k .. k + kLanes - 1 may be nearer than the root of `squared`.
  HWY_INLINE uint32_t inReach(size_t k, V px, V py, V pz, V squared) const {
    const F8 d;
    const auto zero = hn::Zero(d);
    const auto x = hn::Sub(px, hn::Load(d, row[0] + k)), y = hn::Sub(py, hn::Load(d, row[1] + k)),
               z = hn::Sub(pz, hn::Load(d, row[2] + k));
    const auto along =
        dot(x, y, z, hn::Load(d, row[3] + k), hn::Load(d, row[4] + k), hn::Load(d, row[5] + k));
    const auto aside = hn::Sqrt(hn::Max(hn::Sub(dot(x, y, z, x, y, z), hn::Mul(along, along)), zero));
    const auto u = hn::Max(hn::Sub(hn::Abs(along), hn::Load(d, row[6] + k)), zero),
               v = hn::Max(hn::Sub(aside, hn::Load(d, row[7] + k)), zero);
    return maskBits(F8(), hn::Le(hn::Add(hn::Mul(u, u), hn::Mul(v, v)), squared));
  }
};

// Points of a small region and the blocks around it: each point starts with the block where its predecessor
// found its triangle. At most kMost blocks.
void NearestAmong(const QueryView& view, std::span<const uint32_t> blocks, std::span<const D3> points,
                  NearestLeaf* results) {
  const F8 d;
  Discs discs;
  const size_t padded = discs.set(view, blocks);
  uint32_t first = blocks[0];
  for (size_t i = 0; i < points.size(); ++i) {
    const D3 p = points[i];
    float least = std::numeric_limits<float>::infinity();
    uint32_t leaf = UINT32_MAX;
    nearestInBlock(view, first, p, least, leaf);
    constexpr float kSlack = 1 + 0x1p-18f;
    const auto px = hn::Set(d, static_cast<float>(p.x - double(discs.origin[0]))),
               py = hn::Set(d, static_cast<float>(p.y - double(discs.origin[1]))),
               pz = hn::Set(d, static_cast<float>(p.z - double(discs.origin[2])));
    for (size_t k = 0; k < padded; k += kLanes) {
      uint32_t bits = discs.inReach(k, px, py, pz, hn::Set(d, least * kSlack));
      if (k + kLanes > blocks.size()) bits &= (1u << (blocks.size() - std::min(k, blocks.size()))) - 1;
      for (; bits; bits &= bits - 1) {
        const uint32_t b = blocks[k + static_cast<size_t>(std::countr_zero(bits))];
        if (b != first) nearestInBlock(view, b, p, least, leaf);
      }
    }
    leaf = std::min(leaf, view.tree->leafCount() - 1);  // the last block repeats its last triangle
    first = leaf / kBlockLanes;
    results[i] = {nearestOnTriangle(p, view.triangles[leaf]).squared, view.tree->primitive(leaf), leaf};
  }
}

struct WithinSink {
  const QueryView& view;
  const QueryPoint& p;
  std::vector<TriangleAtDistance>& found;
  double limit;
  Reach reach;

  HWY_INLINE void triangles(const TriangleBounds&) {}
  HWY_INLINE void offer(uint32_t leaf, float) {
    const double squared = nearestOnTriangle(p.exact, view.triangles[leaf]).squared;
    if (squared <= limit) found.push_back({squared, view.tree->primitive(leaf)});
  }
};

void Within(const QueryView& view, D3 point, double distance, std::vector<TriangleAtDistance>& found) {
  const QueryPoint p(point, view.scale);
  WithinSink sink{view, p, found, distance * distance, {}};
  sink.reach.set(sink.limit, p.noise);
  traverse(view, p, sink);
}

inline bool nearer(const TriangleAtDistance& a, const TriangleAtDistance& b) {
  return a.squaredDistance != b.squaredDistance ? a.squaredDistance < b.squaredDistance
                                                : a.triangle < b.triangle;
}

struct ManySink {
  const QueryView& view;
  const QueryPoint& p;
  std::vector<TriangleAtDistance>& heap;  // the furthest on top
  size_t k;
  Reach reach;

  HWY_INLINE void triangles(const TriangleBounds&) {}
  HWY_INLINE void offer(uint32_t leaf, float lower) {
    if (lower > reach.radius) return;
    const double squared = nearestOnTriangle(p.exact, view.triangles[leaf]).squared;
    const TriangleAtDistance item{squared, view.tree->primitive(leaf)};
    if (heap.size() == k) {
      if (!nearer(item, heap.front())) return;
      std::pop_heap(heap.begin(), heap.end(), nearer);
      heap.back() = item;
    } else {
      heap.push_back(item);
    }
    std::push_heap(heap.begin(), heap.end(), nearer);
    if (heap.size() == k) reach.set(heap.front().squaredDistance, p.noise);
  }
};

void NearestMany(const QueryView& view, D3 point, size_t k, std::vector<TriangleAtDistance>& found) {
  const QueryPoint p(point, view.scale);
  ManySink sink{view, p, found, k, {}};
  sink.reach.set(std::numeric_limits<double>::infinity(), p.noise);
  traverse(view, p, sink);
}

}  // namespace sunder::spatial::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sunder::spatial::kernels {

HWY_EXPORT(Nearest);
HWY_EXPORT(Within);
HWY_EXPORT(NearestMany);
HWY_EXPORT(BlocksWithin);
HWY_EXPORT(NearestAmong);

void nearestLeaf(const QueryView& view, D3 point, NearestLeaf& result) {
  HWY_DYNAMIC_DISPATCH(Nearest)(view, point, result);
}

size_t blocksWithin(const QueryView& view, D3 point, double distance, std::span<uint32_t> blocks) {
  return HWY_DYNAMIC_DISPATCH(BlocksWithin)(view, point, distance, blocks);
}

void nearestAmong(const QueryView& view, std::span<const uint32_t> blocks, std::span<const D3> points,
                  NearestLeaf* results) {
  HWY_DYNAMIC_DISPATCH(NearestAmong)(view, blocks, points, results);
}

void leavesWithin(const QueryView& view, D3 point, double distance, std::vector<TriangleAtDistance>& found) {
  found.clear();
  HWY_DYNAMIC_DISPATCH(Within)(view, point, distance, found);
  std::sort(found.begin(), found.end(),
            [](const TriangleAtDistance& a, const TriangleAtDistance& b) { return a.triangle < b.triangle; });
}

void nearestLeaves(const QueryView& view, D3 point, size_t k, std::vector<TriangleAtDistance>& found) {
  found.clear();
  if (k == 0) return;
  HWY_DYNAMIC_DISPATCH(NearestMany)(view, point, k, found);
  std::sort_heap(found.begin(), found.end(), [](const TriangleAtDistance& a, const TriangleAtDistance& b) {
    return a.squaredDistance != b.squaredDistance ? a.squaredDistance < b.squaredDistance
                                                  : a.triangle < b.triangle;
  });
}

}  // namespace sunder::spatial::kernels
#endif
