#include "sunder/cut/arrangement/regions.h"

#include "sunder/base/parallel.h"
#include "sunder/cut/kernel/holes.h"
#include "sunder/geometry/predicates.h"
#include "sunder/geometry/vector_area.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace sunder::cut {

namespace {

constexpr size_t kFaceGrain = 64;
constexpr double kOnTheSpot = std::numbers::pi - 1e-6;

// What one block of faces writes; regions and pieces count from its own beginning.
struct Block {
  std::vector<RingCorner> corners;
  std::vector<uint32_t> ringEnds, regionsOfFace, pieceRegion, cornerPiece;
  std::vector<uint8_t> sides;
};

struct FlatBox {
  Vec2 lower = Vec2::Constant(std::numeric_limits<double>::infinity()), upper = -lower;
  void grow(const Vec2& p) {
    lower = lower.cwiseMin(p);
    upper = upper.cwiseMax(p);
  }
  bool overlaps(const FlatBox& o) const {
    return (lower.array() <= o.upper.array()).all() && (o.lower.array() <= upper.array()).all();
  }
};

bool haveSamePlaces(const Loop& a, const Loop& b) {
  if (a.size() != b.size()) return false;
  const auto sorted = [](const Loop& loop) {
    std::vector<std::array<double, 2>> places;
    for (const LoopCorner& c : loop) places.push_back({c.at.x(), c.at.y()});
    std::sort(places.begin(), places.end());
    return places;
  };
  return sorted(a) == sorted(b);
}

class FaceTracer {
 public:
  FaceTracer(const KernelMesh& mesh, const KernelMesh& other, MeshId id, const Seam& seam, Regions& out)
      : mesh_(mesh), other_(other), id_(id), seam_(seam), out_(out) {}

  void trace(uint32_t face, std::span<const uint32_t> segments, Block& block) {
    face_ = face;
    segments_ = segments;
    walkBorder();
    linkSegments();
    findCycles();
    const uint32_t first = u32(block.sides.size());
    cycleRegion_.assign(cycles_.size(), kNoIndex);
    if (hasInner_)
      emitWithHoles(block);
    else
      for (size_t c = 0; c < cycles_.size(); ++c) {
        cycleRegion_[c] = u32(block.sides.size());
        emitCycle(c, block);
        block.ringEnds.push_back(u32(block.corners.size()));
        block.sides.push_back(cycles_[c].sides);
      }
    for (const uint32_t start : cornerStart_)
      block.cornerPiece.push_back(u32(block.pieceRegion.size()) + start);
    for (size_t h = 0; h < border_.size(); ++h) block.pieceRegion.push_back(cycleRegion_[cycleOf_[h]]);
    block.regionsOfFace.push_back(u32(block.sides.size()) - first);
    for (size_t j = 0; j < segments.size(); ++j) {
      out_.plusRegion[segments[j]] = cycleRegion_[cycleOf_[border_.size() + 2 * j]];
      out_.minusRegion[segments[j]] = cycleRegion_[cycleOf_[border_.size() + 2 * j + 1]];
    }
  }

 private:
  struct End {
    uint32_t point, segment;
    bool atEnd;
  };
  struct Cycle {
    uint32_t first;  // half-edge
    uint8_t sides = 0;
    bool border = false;
  };

  void walkBorder() {
    border_.clear();
    for (uint32_t k = 0; k < 3; ++k) {
      const uint32_t h = 3 * face_ + k, lower = edgeOf(mesh_, h);
      const bool diagonal = mesh_.isFlatDiagonal(h);
      cornerStart_[k] = u32(border_.size());
      border_.push_back({mesh_.triangles[face_][k], false, 0, diagonal});
      const EdgeRun run = seam_.run(id_, lower);
      for (uint32_t i = 0; i < run.count; ++i)
        border_.push_back({h == lower ? run.first + i : run.first + run.count - 1 - i, true, 0, diagonal});
    }
  }

  // The half-edge of a segment that leaves, or arrives at, one of its ends.
  uint32_t leaving(const End& e) const { return u32(border_.size()) + 2 * e.segment + (e.atEnd ? 1 : 0); }
  uint32_t arriving(const End& e) const { return u32(border_.size()) + 2 * e.segment + (e.atEnd ? 0 : 1); }

  void linkSegments() {
    const size_t pieces = border_.size();
    ends_.clear();
    for (size_t j = 0; j < segments_.size(); ++j) {
      const SeamSegment& s = seam_.segments[segments_[j]];
      ends_.push_back({s.start, u32(j), false});
      ends_.push_back({s.end, u32(j), true});
    }
    std::sort(ends_.begin(), ends_.end(), [](const End& a, const End& b) {
      return a.point < b.point || (a.point == b.point && a.segment < b.segment);
    });
    next_.resize(pieces + 2 * segments_.size());
    for (size_t i = 0; i < pieces; ++i) {
      const size_t before = i == 0 ? pieces - 1 : i - 1;
      next_[before] = u32(i);
      if (!border_[i].point) continue;
      const auto e = std::lower_bound(ends_.begin(), ends_.end(), border_[i].id,
                                      [](const End& x, uint32_t p) { return x.point < p; });
      next_[before] = leaving(*e);
      next_[arriving(*e)] = u32(i);
    }
    for (size_t i = 0; i < ends_.size();) {
      const bool pair = i + 1 < ends_.size() && ends_[i + 1].point == ends_[i].point;
      if (seam_.points[ends_[i].point].edgeOf != id_) {
        const End &a = ends_[i], &b = ends_[pair ? i + 1 : i];
        next_[arriving(a)] = leaving(b);
        next_[arriving(b)] = leaving(a);
      }
      i += pair ? 2 : 1;
    }
  }

  uint8_t sideOf(uint32_t h) const {
    if (h < border_.size()) return 0;
    return (h - border_.size()) % 2 == 0 ? kPlus : kMinus;
  }
  uint32_t pointAtStart(uint32_t h) const {
    const SeamSegment& s = seam_.segments[segments_[(h - border_.size()) / 2]];
    return sideOf(h) == kPlus ? s.start : s.end;
  }

  void findCycles() {
    cycles_.clear();
    cycleOf_.assign(next_.size(), kNoIndex);
    hasInner_ = false;
    for (uint32_t h = 0; h < next_.size(); ++h) {
      if (cycleOf_[h] != kNoIndex) continue;
      Cycle cycle{h};
      for (uint32_t at = h; cycleOf_[at] == kNoIndex; at = next_[at]) {
        cycleOf_[at] = u32(cycles_.size());
        cycle.sides |= sideOf(at);
        cycle.border = cycle.border || at < border_.size();
      }
      hasInner_ = hasInner_ || !cycle.border;
      cycles_.push_back(cycle);
    }
  }

  // Corner at the origin of h, whose predecessor in the cycle is `before`.
  RingCorner cornerAt(uint32_t before, uint32_t h) const {
    RingCorner c = h < border_.size() ? border_[h] : RingCorner{pointAtStart(h), true, 0, false};
    if (c.point) c.sides = static_cast<uint8_t>(sideOf(before) | sideOf(h));
    return c;
  }

  template <class Visit>
  void visitCycle(size_t c, Visit&& visit) const {
    const uint32_t first = cycles_[c].first;
    uint32_t before = first;
    while (next_[before] != first) before = next_[before];
    for (uint32_t h = first;; h = next_[h]) {
      visit(cornerAt(before, h));
      if (next_[h] == first) break;
      before = h;
    }
  }

  void emitCycle(size_t c, Block& block) const {
    visitCycle(c, [&](const RingCorner& corner) { block.corners.push_back(corner); });
  }

  Vec2 flat(const RingCorner& c) const {
    const Vec3& p = c.point ? seam_.points[c.id].position : mesh_.positions[c.id];
    Vec2 q = geometry::withoutAxis(p, axis_);
    if (flip_) q.x() = -q.x();
    return q;
  }

  void lookFromTheFront() {
    const Corners3 t = cornersOf(mesh_, face_);
    axis_ = std::max(0, geometry::normalAxis(*t.a, *t.b, *t.c));
    flip_ = geometry::orient2d(*t.a, *t.b, *t.c, axis_) < 0;
  }

  // The direction of a segment's half-edge in space: from the normals of its two faces, so it is right also
  // where the segment has no length. Zero where a face has no area.
  Vec3 directionOf(uint32_t h) const {
    const SeamSegment& s = seam_.segments[segments_[(h - border_.size()) / 2]];
    const Corners3 own = cornersOf(mesh_, face_), other = cornersOf(other_, s.face[1 - id_]);
    const Vec3 d = id_ == kMesh ? meetingDirection(own, other) : meetingDirection(other, own);
    return sideOf(h) == kPlus ? d : Vec3(-d);
  }

  // The sum of a cycle's turns says whether it runs clockwise: a loop that shrank to a line or a point
  // because meshes touch has no area, but turns all the same. `sharpest` is the largest turn either way.
  struct Turns {
    double sum = 0, sharpest = 0;
  };
  Turns turnsOf(const Cycle& cycle) const {
    const Corners3 t = cornersOf(mesh_, face_);
    const Vec3 up = geometry::twiceVectorArea(*t.a, *t.b, *t.c).stableNormalized();
    Vec3 before = Vec3::Zero(), first = Vec3::Zero();
    Turns turns;
    uint32_t h = cycle.first;
    const auto turn = [&](const Vec3& from, const Vec3& to) {
      const double angle = std::atan2(up.dot(from.cross(to)), from.dot(to));
      turns.sum += angle;
      turns.sharpest = std::max(turns.sharpest, std::abs(angle));
    };
    do {
      const Vec3 d = directionOf(h);
      if (d.squaredNorm() > 0.5) {
        if (first.squaredNorm() < 0.5) first = d;
        if (before.squaredNorm() > 0.5) turn(before, d);
        before = d;
      }
      h = next_[h];
    } while (h != cycle.first);
    if (first.squaredNorm() > 0.5) turn(before, first);
    return turns;
  }

  // The side of the closed other mesh that the surroundings of a loop are on.
  uint8_t sideAround(size_t loop, const std::vector<uint8_t>& isHole) const {
    const uint8_t sides = cycles_[around(loop, kBothSides, isHole)].sides;
    if (sides == kPlus || sides == kMinus) return sides;
    const bool inside = windingAround(mesh_.at(face_, 0), id_, other_) > 0;
    return inside == (id_ == kMesh) ? kPlus : kMinus;
  }

  void emitWithHoles(Block& block) {
    lookFromTheFront();
    corners_.clear();
    loops_.assign(cycles_.size(), {});
    loopBoxes_.assign(cycles_.size(), {});
    std::vector<std::vector<uint32_t>> holesOf(cycles_.size());
    std::vector<uint8_t> isHole(cycles_.size(), 0);
    std::vector<size_t> thin;
    for (size_t c = 0; c < cycles_.size(); ++c) {
      visitCycle(c, [&](const RingCorner& corner) {
        loops_[c].push_back({flat(corner), u32(corners_.size())});
        loopBoxes_[c].grow(loops_[c].back().at);
        corners_.push_back(corner);
      });
      const Cycle& cycle = cycles_[c];
      if (cycle.border) continue;
      const Turns turns = turnsOf(cycle);
      isHole[c] = cycle.sides == kBothSides || turns.sum < 0;
      // It turns on the spot: the lids of an incision lie on each other, and which way round they go cannot
      // be seen. Then what is around must be on the side of the hole.
      if (cycle.sides != kBothSides && other_.closed() && turns.sharpest > kOnTheSpot) thin.push_back(c);
    }
    for (const size_t c : thin) isHole[c] = 1;
    std::vector<uint8_t> surroundings;
    for (const size_t c : thin) surroundings.push_back(sideAround(c, isHole));
    for (size_t i = 0; i < thin.size(); ++i) isHole[thin[i]] = cycles_[thin[i]].sides == surroundings[i];
    for (size_t c = 0; c < cycles_.size(); ++c)
      if (isHole[c]) holesOf[around(c, cycles_[c].sides, isHole)].push_back(u32(c));
    for (size_t c = 0; c < cycles_.size(); ++c) {
      if (isHole[c]) continue;
      const uint32_t region = u32(block.sides.size());
      cycleRegion_[c] = region;
      uint8_t sides = cycles_[c].sides;
      // Rightmost first: then no bridge crosses a hole that is still to come.
      std::vector<uint32_t>& holes = holesOf[c];
      const auto right = [&](uint32_t h) {
        double x = loops_[h][0].at.x();
        for (const LoopCorner& l : loops_[h]) x = std::max(x, l.at.x());
        return x;
      };
      std::stable_sort(holes.begin(), holes.end(),
                       [&](uint32_t a, uint32_t b) { return right(a) > right(b); });
      for (const uint32_t h : holes) {
        join(loops_[c], loops_[h]);
        cycleRegion_[h] = region;
        sides |= cycles_[h].sides;
      }
      for (const LoopCorner& l : loops_[c]) block.corners.push_back(corners_[l.tag]);
      block.ringEnds.push_back(u32(block.corners.size()));
      block.sides.push_back(sides);
    }
  }

  // The loop that a hole is in: the one most of it is inside of, the smallest if there are several.
  size_t around(size_t hole, uint8_t sides, const std::vector<uint8_t>& isHole) const {
    std::vector<size_t> fitting;
    for (size_t c = 0; c < cycles_.size(); ++c) {
      const uint8_t other = cycles_[c].sides;
      if (!isHole[c] && (sides == kBothSides || other == kBothSides || other == 0 || other == sides))
        fitting.push_back(c);
    }
    // Every face has a loop with its border, and one side at least of it fits any hole of two proper meshes.
    if (fitting.empty())
      return static_cast<size_t>(std::find(isHole.begin(), isHole.end(), 0) - isHole.begin());
    if (fitting.size() == 1) return fitting[0];
    size_t best = fitting[0];
    int64_t most = std::numeric_limits<int64_t>::min();
    double size = 0;
    for (const size_t c : fitting) {
      if (!loopBoxes_[c].overlaps(loopBoxes_[hole])) continue;
      // It lies on a loop of its side: between lids of an incision that lie on each other.
      if (sides == cycles_[c].sides && sides != kBothSides && haveSamePlaces(loops_[hole], loops_[c]))
        return c;
      const int64_t votes = votesInside(loops_[hole], loops_[c]);
      double area = 0;
      for (size_t i = 0; i < loops_[c].size(); ++i) {
        const Vec2 &a = loops_[c][i].at, &b = loops_[c][i + 1 == loops_[c].size() ? 0 : i + 1].at;
        area += a.x() * b.y() - a.y() * b.x();
      }
      if (votes > most || (votes == most && area < size)) {
        best = c;
        most = votes;
        size = area;
      }
    }
    return best;
  }

  // Puts `hole` into `loop`: ..., w, v, the hole, v, w, ...
  void join(Loop& loop, const Loop& hole) {
    const Bridge bridge = findBridge(loop, hole);
    const LoopCorner w = loop[bridge.loop], v = hole[bridge.hole];
    Loop joined(loop.begin(), loop.begin() + static_cast<std::ptrdiff_t>(bridge.loop));
    const auto withoutEdge = [&](const LoopCorner& c) {
      RingCorner copy = corners_[c.tag];
      copy.diagonal = false;
      corners_.push_back(copy);
      return LoopCorner{c.at, u32(corners_.size() - 1)};
    };
    joined.push_back(withoutEdge(w));
    for (size_t i = 0; i < hole.size(); ++i) joined.push_back(hole[(bridge.hole + i) % hole.size()]);
    joined.push_back(withoutEdge(v));
    joined.insert(joined.end(), loop.begin() + static_cast<std::ptrdiff_t>(bridge.loop), loop.end());
    loop = std::move(joined);
  }

  const KernelMesh& mesh_;
  const KernelMesh& other_;
  MeshId id_;
  const Seam& seam_;
  Regions& out_;
  uint32_t face_ = 0;
  std::span<const uint32_t> segments_;
  std::vector<RingCorner> border_, corners_;
  uint32_t cornerStart_[3] = {};
  std::vector<End> ends_;
  std::vector<uint32_t> next_, cycleOf_, cycleRegion_;
  std::vector<Cycle> cycles_;
  std::vector<Loop> loops_;
  std::vector<FlatBox> loopBoxes_;
  bool hasInner_ = false;
  int axis_ = 0;
  bool flip_ = false;
};

}  // namespace

Regions traceRegions(const KernelMesh& mesh, const KernelMesh& other, MeshId id, const Seam& seam) {
  Regions out;
  const size_t count = seam.segments.size();
  std::vector<uint32_t> order(count), row{0};
  for (size_t i = 0; i < count; ++i) order[i] = u32(i);
  const auto faceOf = [&](uint32_t s) { return seam.segments[s].face[id]; };
  if (id == kCutter)
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return faceOf(a) < faceOf(b) || (faceOf(a) == faceOf(b) && a < b);
    });
  for (size_t i = 0; i < count; ++i) {
    if (i == 0 || faceOf(order[i]) != faceOf(order[i - 1])) {
      if (i > 0) row.push_back(u32(i));
      out.faces.push_back(faceOf(order[i]));
    }
  }
  row.push_back(u32(count));
  if (count == 0) row = {0};
  out.plusRegion.resize(count);
  out.minusRegion.resize(count);

  std::vector<Block> blocks((out.faces.size() + kFaceGrain - 1) / kFaceGrain);
  const auto segmentsOf = [&](size_t t) {
    return std::span<const uint32_t>(order.data() + row[t], row[t + 1] - row[t]);
  };
  parallelBlocks(out.faces.size(), kFaceGrain, [&](size_t begin, size_t end) {
    FaceTracer tracer(mesh, other, id, seam, out);
    for (size_t t = begin; t < end; ++t)
      tracer.trace(out.faces[t], segmentsOf(t), blocks[begin / kFaceGrain]);
  });

  for (size_t b = 0; b < blocks.size(); ++b) {
    const Block& block = blocks[b];
    const uint32_t base = u32(out.sides.size()), firstCorner = u32(out.corners.size()),
                   firstPiece = u32(out.pieceRegion.size());
    for (const uint32_t r : block.regionsOfFace) out.firstRegion.push_back(out.firstRegion.back() + r);
    for (const uint32_t p : block.cornerPiece) out.cornerPiece.push_back(firstPiece + p);
    for (const uint32_t e : block.ringEnds) out.offsets.push_back(firstCorner + e);
    for (const uint32_t r : block.pieceRegion) out.pieceRegion.push_back(base + r);
    out.corners.insert(out.corners.end(), block.corners.begin(), block.corners.end());
    out.sides.insert(out.sides.end(), block.sides.begin(), block.sides.end());
    for (size_t t = b * kFaceGrain; t < std::min(out.faces.size(), (b + 1) * kFaceGrain); ++t)
      for (const uint32_t s : segmentsOf(t)) {
        out.plusRegion[s] += base;
        out.minusRegion[s] += base;
      }
  }
  return out;
}

}  // namespace sunder::cut
