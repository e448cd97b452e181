// The seven operations of the refinement, M6.1. Each expects its neighbours to be in the same generation.
#include "sunder/tet/refinement.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace sunder::tet {

namespace {

constexpr double kSmallestShare = 1e-3;  // of the smaller input volume that a flip's outputs must have

// Mean of points in an order that does not depend on how they are numbered.
template <size_t N>
Vec3 meanOf(std::array<Vec3, N> points) {
  std::sort(points.begin(), points.end(), [](const Vec3& a, const Vec3& b) {
    if (a.x() != b.x()) return a.x() < b.x();
    return a.y() != b.y() ? a.y() < b.y() : a.z() < b.z();
  });
  Vec3 sum = points[0];
  for (size_t i = 1; i < N; ++i) sum += points[i];
  return sum / double(N);
}

}  // namespace

uint32_t Refinement::newVertex(const Vec3& position) {
  if (freeVertices_.empty()) {
    positions_.push_back(position);
    star_.emplace_back();
    if (recording_) vertexThen_.push_back(kNoIndex);
    return uint32_t(positions_.size() - 1);
  }
  const uint32_t v = freeVertices_.back();
  freeVertices_.pop_back();
  if (recording_) vertexThen_[v] = kNoIndex;
  positions_[v] = position;
  return v;
}

uint32_t Refinement::beginOp(RefineKind kind, std::vector<uint32_t> in) {
  uint32_t op;
  if (freeOps_.empty()) {
    op = uint32_t(ops_.size());
    ops_.emplace_back();
  } else {
    op = freeOps_.back();
    freeOps_.pop_back();
  }
  for (const uint32_t t : in) {
    leave(t);
    tets_[t].usedBy = op;
  }
  ops_[op].kind = kind;
  ops_[op].alive = true;
  ops_[op].in = std::move(in);
  ++counts_[size_t(kind)];
  return op;
}

void Refinement::addOutput(uint32_t op, const std::array<uint32_t, 4>& v, uint32_t generation) {
  uint32_t t;
  if (freeTets_.empty()) {
    t = uint32_t(tets_.size());
    tets_.emplace_back();
  } else {
    t = freeTets_.back();
    freeTets_.pop_back();
  }
  tets_[t].v = v;
  tets_[t].generation = uint16_t(generation);
  tets_[t].madeBy = op;
  ops_[op].out.push_back(t);
  enter(t);
}

RefineStatus Refinement::refusal(std::span<const uint32_t> in) const {
  for (const uint32_t t : in)
    if (tets_[t].locked) return RefineStatus::Locked;
  for (const uint32_t t : in)
    if (tets_[t].blocked) return RefineStatus::Blocked;
  return RefineStatus::Done;
}

void Refinement::block(std::span<const uint32_t> tets) {
  for (const uint32_t t : tets) tets_[t].blocked = true;
}

// Does the segment between the two apices pass through the face, and not too near its sides?
bool Refinement::flipIsGood(const std::array<uint32_t, 3>& face, uint32_t above, uint32_t below) const {
  const double least = kSmallestShare * std::min(std::abs(volume({face[0], face[1], face[2], above})),
                                                 std::abs(volume({face[0], face[1], face[2], below})));
  std::array<double, 3> parts;
  for (size_t i = 0; i < 3; ++i) parts[i] = volume({above, below, face[i], face[(i + 1) % 3]});
  const double way = parts[0] + parts[1] + parts[2] < 0 ? -1 : 1;
  return std::all_of(parts.begin(), parts.end(), [&](double p) { return way * p > least; });
}

RefineStatus Refinement::advance(uint32_t tet) {
  RefineStatus status;
  switch (tets_[tet].state()) {
    case 0:
      status = split(tet);
      break;
    case 1:
      status = faceOperation(tet);
      break;
    case 2:
      status = edgeCut(tet);
      break;
    case 3:
      status = cornerOperation(tet);
      break;
    default:
      status = cornerMerge(tet);
      break;
  }
  if (recording_ && status == RefineStatus::Done) recordOp(tets_[tet].usedBy);
  return status;
}

// A
RefineStatus Refinement::split(uint32_t tet) {
  const RefinedTet t = tets_[tet];
  const uint32_t op = beginOp(RefineKind::Split, {tet});
  const uint32_t m =
      newVertex(meanOf<4>({positions_[t.v[0]], positions_[t.v[1]], positions_[t.v[2]], positions_[t.v[3]]}));
  ops_[op].newVertices = {m};
  for (size_t i = 0; i < 4; ++i)
    addOutput(op, {t.v[(i + 1) % 4], t.v[(i + 2) % 4], t.v[(i + 3) % 4], m}, t.generation + 1u);
  return RefineStatus::Done;
}

// B and B*
RefineStatus Refinement::faceOperation(uint32_t tet) {
  const RefinedTet t = tets_[tet];
  const std::array<uint32_t, 3> face{t.v[0], t.v[1], t.v[2]};
  const uint32_t other = neighbour(tet, face[0], face[1], face[2]);
  std::vector<uint32_t> in{tet};
  if (other != kNoIndex) {
    assert(tets_[other].generation == t.generation);
    in.push_back(other);
  }
  if (const RefineStatus no = refusal(in); no != RefineStatus::Done) return no;
  uint32_t op, x, y;
  if (other != kNoIndex) {
    x = t.v[3];
    y = tets_[other].v[3];
    if (!flipIsGood(face, x, y)) {
      block(in);
      return RefineStatus::Blocked;
    }
    op = beginOp(RefineKind::FaceFlip, in);
  } else {
    op = beginOp(RefineKind::FaceSplit, in);
    x = newVertex(meanOf<3>({positions_[face[0]], positions_[face[1]], positions_[face[2]]}));
    y = t.v[3];
    ops_[op].newVertices = {x};
  }
  for (size_t i = 0; i < 3; ++i) addOutput(op, {face[i], face[(i + 1) % 3], x, y}, t.generation + 1u);
  return RefineStatus::Done;
}

// C
RefineStatus Refinement::edgeCut(uint32_t tet) {
  const RefinedTet t = tets_[tet];
  const uint32_t b = t.v[0], c = t.v[1];
  std::vector<uint32_t> in;
  aroundEdge(b, c, in);
  std::rotate(in.begin(), std::find(in.begin(), in.end(), tet), std::find(in.begin(), in.end(), tet) + 1);
  if (const RefineStatus no = refusal(in); no != RefineStatus::Done) return no;
  const uint32_t op = beginOp(RefineKind::EdgeCut, in);
  const uint32_t p = newVertex((2 * positions_[b] + positions_[c]) / 3);
  const uint32_t q = newVertex((positions_[b] + 2 * positions_[c]) / 3);
  ops_[op].newVertices = {p, q};
  for (const uint32_t i : in) {
    const RefinedTet piece = tets_[i];
    assert(piece.generation == t.generation && (piece.v[0] == b || piece.v[0] == c));
    const uint32_t x = piece.v[2], y = piece.v[3];
    addOutput(op, {p, q, x, y}, 5 * (t.cycle() + 1));
    addOutput(op, {b, p, x, y}, t.generation + 1u);
    addOutput(op, {c, q, x, y}, t.generation + 1u);
  }
  return RefineStatus::Done;
}

// D and D*
RefineStatus Refinement::cornerOperation(uint32_t tet) {
  const RefinedTet t = tets_[tet];
  const uint32_t b = t.v[0], p = t.v[1];
  uint32_t x = t.v[2], y = t.v[3];
  const uint32_t other = neighbour(tet, b, x, y);
  assert(other != kNoIndex && tets_[other].generation == t.generation && tets_[other].v[0] == b);
  const uint32_t q = tets_[other].v[1];
  const std::array<uint32_t, 2> in{tet, other};
  if (const RefineStatus no = refusal(in); no != RefineStatus::Done) return no;
  const auto onBoundary = [&](uint32_t z) {
    return neighbour(tet, b, p, z) == kNoIndex && neighbour(other, b, q, z) == kNoIndex;
  };
  if (onBoundary(y)) std::swap(x, y);
  const bool boundary = onBoundary(x);  // then x is the face's centroid
  if (!boundary && !flipIsGood({b, x, y}, p, q)) {
    block(in);
    return RefineStatus::Blocked;
  }
  const uint32_t op =
      beginOp(boundary ? RefineKind::BoundaryCornerFlip : RefineKind::CornerFlip, {tet, other});
  addOutput(op, {p, q, x, y}, 5 * (t.cycle() + 1));
  if (!boundary) addOutput(op, {b, p, q, x}, t.generation + 1u);
  addOutput(op, {b, p, q, y}, t.generation + 1u);
  return RefineStatus::Done;
}

// E
RefineStatus Refinement::cornerMerge(uint32_t tet) {
  const RefinedTet t = tets_[tet];
  const uint32_t b = t.v[0], m = t.v[3];
  std::vector<uint32_t> in;
  aroundEdge(b, m, in);
  std::rotate(in.begin(), std::find(in.begin(), in.end(), tet), std::find(in.begin(), in.end(), tet) + 1);
  assert(in.size() == 3);
  if (const RefineStatus no = refusal(in); no != RefineStatus::Done) return no;
  std::array<uint32_t, 3> p{t.v[1], t.v[2], kNoIndex};
  for (const uint32_t i : in) {
    assert(tets_[i].generation == t.generation);
    for (const uint32_t v : {tets_[i].v[1], tets_[i].v[2]})
      if (v != p[0] && v != p[1]) p[2] = v;
  }
  const uint32_t op = beginOp(RefineKind::CornerMerge, in);
  addOutput(op, {b, p[0], p[1], p[2]}, 5 * (t.cycle() + 1));
  addOutput(op, {m, p[0], p[1], p[2]}, 5 * (t.cycle() + 1));
  return RefineStatus::Done;
}

}  // namespace sunder::tet
