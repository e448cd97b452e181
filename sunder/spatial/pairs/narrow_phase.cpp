#include "sunder/spatial/pairs/narrow_phase.h"

#include "sunder/base/parallel.h"

#include <algorithm>

namespace sunder::spatial {

namespace {

using geometry::intersect;
using geometry::meeting;
using geometry::MeetingKind;
using geometry::Triangle;
using geometry::TriangleCorners;
using geometry::TriangleMeeting;

constexpr size_t kNarrowGrain = 512;

TriangleCorners cornersOf(const TriangleSet& mesh, uint32_t t) {
  const Triangle& v = mesh.triangles[t];
  return {mesh.positions[v[0]], mesh.positions[v[1]], mesh.positions[v[2]]};
}

// Keeps what `test(pair, result)` says yes to, in the order of the candidates: blocks fill lists of their
// own, which are then joined in order.
template <class Result, class Test>
std::vector<Result> filter(std::span<const PrimitivePair> candidates, Test&& test) {
  const size_t blocks = (candidates.size() + kNarrowGrain - 1) / kNarrowGrain;
  std::vector<std::vector<Result>> found(blocks);
  parallelBlocks(candidates.size(), kNarrowGrain, [&](size_t begin, size_t end) {
    std::vector<Result>& list = found[begin / kNarrowGrain];
    Result result;
    for (size_t i = begin; i < end; ++i)
      if (test(candidates[i], result)) list.push_back(result);
  });
  size_t total = 0;
  for (const auto& list : found) total += list.size();
  std::vector<Result> all;
  all.reserve(total);
  for (const auto& list : found) all.insert(all.end(), list.begin(), list.end());
  return all;
}

uint32_t sharedVertices(const Triangle& a, const Triangle& b) {
  uint32_t shared = 0;
  for (uint32_t v : a) shared += v == b[0] || v == b[1] || v == b[2];
  return shared;
}

// Neighbours meet beyond what they share: more than the point of one common vertex, more than the segment of
// two. Three shared vertices are the same triangle twice.
bool beyondShared(uint32_t shared, MeetingKind kind) {
  switch (shared) {
    case 0:
      return kind != MeetingKind::None;
    case 1:
      return kind == MeetingKind::Segment || kind == MeetingKind::Polygon;
    case 2:
      return kind == MeetingKind::Polygon;
    default:
      return true;
  }
}

bool decideSelf(const TriangleSet& mesh, const PrimitivePair& pair, Neighbours neighbours) {
  const uint32_t shared = sharedVertices(mesh.triangles[pair.a], mesh.triangles[pair.b]);
  const auto a = cornersOf(mesh, pair.a), b = cornersOf(mesh, pair.b);
  if (shared == 0) return intersect(a, b);
  return neighbours == Neighbours::Exact && beyondShared(shared, meeting(a, b).kind);
}

}  // namespace

std::vector<PrimitivePair> intersectingPairs(const TriangleSet& a, const TriangleSet& b,
                                             std::span<const PrimitivePair> candidates) {
  return filter<PrimitivePair>(candidates, [&](const PrimitivePair& pair, PrimitivePair& result) {
    result = pair;
    return intersect(cornersOf(a, pair.a), cornersOf(b, pair.b));
  });
}

std::vector<TriangleContact> triangleContacts(const TriangleSet& a, const TriangleSet& b,
                                              std::span<const PrimitivePair> candidates) {
  return filter<TriangleContact>(candidates, [&](const PrimitivePair& pair, TriangleContact& result) {
    result = {pair, meeting(cornersOf(a, pair.a), cornersOf(b, pair.b))};
    return result.meeting.kind != MeetingKind::None;
  });
}

std::vector<PrimitivePair> selfIntersectingPairs(const TriangleSet& mesh,
                                                 std::span<const PrimitivePair> candidates,
                                                 Neighbours neighbours) {
  return filter<PrimitivePair>(candidates, [&](const PrimitivePair& pair, PrimitivePair& result) {
    result = pair;
    return decideSelf(mesh, pair, neighbours);
  });
}

std::vector<TriangleContact> selfTriangleContacts(const TriangleSet& mesh,
                                                  std::span<const PrimitivePair> candidates,
                                                  Neighbours neighbours) {
  return filter<TriangleContact>(candidates, [&](const PrimitivePair& pair, TriangleContact& result) {
    if (!decideSelf(mesh, pair, neighbours)) return false;
    result = {pair, meeting(cornersOf(mesh, pair.a), cornersOf(mesh, pair.b))};
    return true;
  });
}

}  // namespace sunder::spatial
