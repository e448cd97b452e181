#include "sunder/cut/tet_cutter.h"

#include "sunder/cut/cut.h"
#include "sunder/cut/regions.h"
#include "sunder/cut/tet_seam.h"
#include "sunder/geometry/disjoint_sets.h"

#include <algorithm>

namespace sunder::cut {

namespace {

using geometry::kTetFaces;

// A corner of the border of a face: a vertex, or a point on one of its edges.
struct BorderCorner {
  uint32_t point;  // kNoIndex: a vertex
  Vec3 at;
};

}  // namespace

class TetCutter::Work {
 public:
  explicit Work(const geometry::TriMesh& sheet) : seam_(sheet) {
    for (uint32_t f = 0; f < seam_.sheet.triangles.size(); ++f) allFaces_.push_back(f);
    localOf_.assign(allFaces_.size(), kNoIndex);
  }

  std::span<const uint32_t> allFaces() const { return allFaces_; }
  const TetCut& result() const { return out_; }

  // False where a loop lies inside a face: then bridges or cavities are needed, which cut() knows about.
  bool run(const std::array<Vec3, 4>& tet, std::span<const uint32_t> faces) {
    begin();
    seam_.find(tet, faces);
    for (uint32_t j = 0; j < seam_.locals.size(); ++j) localOf_[seam_.locals[j].face] = j;
    const bool done = seam_.segments.empty() ? seam_.locals.empty() && keepWhole() : divide();
    for (const TetSheetFace& l : seam_.locals) localOf_[l.face] = kNoIndex;
    return done;
  }

  void runSlowly(const std::array<Vec3, 4>& tet, std::span<const uint32_t> faces);

 private:
  void begin() {
    out_.fragments.clear();
    out_.pieces.clear();
    out_.corners.clear();
    out_.bridged = false;
  }

  bool keepWhole() {
    nodes_ = 4;
    for (uint32_t i = 0; i < 4; ++i) {
      const Corners3 f = seam_.tetFace(i);
      TetPiece piece{.fragment = i, .face = uint8_t(i), .first = u32(out_.corners.size()), .count = 3};
      for (const Vec3* p : {f.a, f.b, f.c}) out_.corners.push_back(*p);
      out_.pieces.push_back(piece);
    }
    geometry::DisjointSets sets(4);
    for (uint32_t i = 1; i < 4; ++i) sets.unite(0, i);
    sides_.assign(4, 0);
    corner_.fill(0);
    return finish(sets);
  }

  bool divide() {
    seam_.placePoints();
    nodes_ = 0;
    sides_.clear();
    pieceNode_.clear();
    for (uint32_t i = 0; i < 4; ++i)
      if (!traceTetFace(i)) return false;
    for (uint32_t j = 0; j < seam_.locals.size(); ++j)
      if (!traceSheetFace(j)) return false;
    geometry::DisjointSets sets(nodes_);
    joinTetEdges(sets);
    joinSheetEdges(sets);
    for (const TetSegment& s : seam_.segments) {
      if (s.plusNode == kNoIndex || s.minusNode == kNoIndex || s.lidNode == kNoIndex) return false;
      sets.unite(s.plusNode, s.lidNode);
      sets.unite(s.minusNode, s.lidNode + 1);
    }
    return finish(sets);
  }

  // A vertex and the points after it on its edge; returns where their pieces begin.
  uint32_t addBorder(const Vec3& vertex, const TetRun& run, bool forward) {
    const uint32_t first = u32(border_.size());
    border_.push_back({kNoIndex, vertex});
    for (uint32_t i = 0; i < run.count; ++i) {
      const uint32_t x = seam_.order[run.first + (forward ? i : run.count - 1 - i)];
      border_.push_back({x, seam_.points[x].position});
    }
    return first;
  }

  bool traceTetFace(uint32_t i) {
    border_.clear();
    const uint32_t base = u32(pieceNode_.size());
    for (size_t k = 0; k < 3; ++k) {
      const TetHalfedge& h = kTetHalfedges[i][k];
      tetPiece_[i][k] = base + addBorder(seam_.tet[kTetFaces[i][k]], seam_.runOf(true, h.edge), h.forward);
    }
    own_.clear();
    for (uint32_t s = 0; s < seam_.segments.size(); ++s)
      if (seam_.segments[s].tetFace == i) own_.push_back(s);
    if ((own_.empty() && border_.size() == 3) || crossesOnce()) {
      divideOnce(i);
      return true;
    }
    if (!linkHalfedges(true)) return false;
    if (!forCycles(false, [&](uint32_t cycle, uint8_t sides) {
          const uint32_t node = nodes_++;
          cycleNode_[cycle] = node;
          sides_.push_back(sides);
          addPiece({.fragment = node, .face = uint8_t(i)});
          return true;
        }))
      return false;
    for (uint32_t h = 0; h < border_.size(); ++h) pieceNode_.push_back(cycleNode_[cycleOf_[h]]);
    for (size_t k = 0; k < 3; ++k) corner_[kTetFaces[i][k]] = pieceNode_[tetPiece_[i][k]];
    for (uint32_t n = 0; n < own_.size(); ++n) {
      seam_.segments[own_[n]].plusNode = cycleNode_[cycleOf_[border_.size() + 2 * n]];
      seam_.segments[own_[n]].minusNode = cycleNode_[cycleOf_[border_.size() + 2 * n + 1]];
    }
    return true;
  }

  // One segment from border to border, which most faces have.
  bool crossesOnce() const {
    return own_.size() == 1 && border_.size() == 5 && seam_.points[seam_.segments[own_[0]].start].ofTet &&
           seam_.points[seam_.segments[own_[0]].end].ofTet;
  }

  void divideOnce(uint32_t i) {
    const uint32_t pieces = u32(border_.size()), base = u32(pieceNode_.size());
    pieceNode_.resize(base + pieces);
    // Pieces of the border from one point to the other, and the segment back.
    const auto add = [&](uint32_t from, uint32_t to, uint8_t sides) {
      ring_.clear();
      for (uint32_t h = from;; h = h + 1 == pieces ? 0 : h + 1) {
        if (h != to || ring_.empty()) pieceNode_[base + h] = nodes_;
        ring_.push_back(border_[h].at);
        if (h == to && ring_.size() > 1) break;
      }
      addPiece({.fragment = nodes_, .face = uint8_t(i)});
      sides_.push_back(sides);
      return nodes_++;
    };
    if (own_.empty()) {
      add(0, pieces - 1, 0);
      pieceNode_[base + pieces - 1] = nodes_ - 1;
    } else {
      TetSegment& s = seam_.segments[own_[0]];
      uint32_t start = 0, end = 0;
      for (uint32_t h = 0; h < pieces; ++h) {
        if (border_[h].point == s.start) start = h;
        if (border_[h].point == s.end) end = h;
      }
      s.plusNode = add(end, start, kPlus);
      s.minusNode = add(start, end, kMinus);
    }
    for (size_t k = 0; k < 3; ++k) corner_[kTetFaces[i][k]] = pieceNode_[tetPiece_[i][k]];
  }

  bool traceSheetFace(uint32_t j) {
    TetSheetFace& local = seam_.locals[j];
    border_.clear();
    const uint32_t base = u32(pieceNode_.size());
    for (uint32_t k = 0; k < 3; ++k) {
      const uint32_t h = 3 * local.face + k, lower = edgeOf(seam_.sheet, h);
      local.firstPiece[k] =
          base + addBorder(seam_.sheet.at(local.face, k), seam_.runOf(false, lower), h == lower);
    }
    own_.clear();
    for (uint32_t s = 0; s < local.segments; ++s) own_.push_back(local.firstSegment + s);
    if (!linkHalfedges(false)) return false;
    if (!forCycles(true, [&](uint32_t cycle, uint8_t sides) {
          // Minus is inside; a face without segments is inside as a whole. What a face has inside is convex,
          // so a loop away from its border is that piece, and the same loop backwards the hole around it.
          if (sides == kBothSides) return false;
          if (sides == kPlus || (sides == 0 && !own_.empty())) return true;
          cycleNode_[cycle] = nodes_;
          sides_.insert(sides_.end(), 2, uint8_t(0));
          TetPiece lid{.fragment = nodes_, .sheetFace = local.face};
          addPiece(lid);
          lid = out_.pieces.back();
          lid.fragment = nodes_ + 1;
          lid.reversed = true;
          out_.pieces.push_back(lid);
          nodes_ += 2;
          return true;
        }))
      return false;
    for (uint32_t h = 0; h < border_.size(); ++h) pieceNode_.push_back(cycleNode_[cycleOf_[h]]);
    for (uint32_t n = 0; n < own_.size(); ++n)
      seam_.segments[own_[n]].lidNode = cycleNode_[cycleOf_[border_.size() + 2 * n + 1]];
    return true;
  }

  // The half-edge after each, as in regions.h. Half-edges of segment n are border + 2n along it and the next
  // one back.
  bool linkHalfedges(bool ofTet) {
    const uint32_t pieces = u32(border_.size());
    for (uint32_t n = 0; n < own_.size(); ++n) {
      const TetSegment& s = seam_.segments[own_[n]];
      for (const bool atEnd : {false, true}) {
        TetSeamPoint& x = seam_.points[atEnd ? s.end : s.start];
        if (x.segments < 2) x.leaving[x.segments] = pieces + 2 * n + (atEnd ? 1 : 0);
        ++x.segments;
      }
    }
    const auto arriving = [&](uint32_t leaving) { return ((leaving - pieces) ^ 1u) + pieces; };
    next_.assign(pieces + 2 * own_.size(), kNoIndex);
    bool proper = true;
    for (uint32_t i = 0; i < pieces; ++i) {
      const uint32_t before = i == 0 ? pieces - 1 : i - 1;
      next_[before] = i;
      if (border_[i].point == kNoIndex) continue;
      const TetSeamPoint& x = seam_.points[border_[i].point];
      proper = proper && x.segments == 1;
      if (x.segments == 0) continue;
      next_[before] = x.leaving[0];
      next_[arriving(x.leaving[0])] = i;
    }
    for (const uint32_t s : own_)
      for (const uint32_t p : {seam_.segments[s].start, seam_.segments[s].end}) {
        TetSeamPoint& x = seam_.points[p];
        proper = proper && x.segments <= 2;
        if (x.ofTet != ofTet && x.segments > 0) {
          const uint32_t a = x.leaving[0], b = x.leaving[x.segments > 1 ? 1 : 0];
          next_[arriving(a)] = b;
          next_[arriving(b)] = a;
        }
        x.segments = 0;
      }
    return proper && std::find(next_.begin(), next_.end(), kNoIndex) == next_.end();
  }

  // visit(number, sides) for each cycle; false where visit says so, or one does not touch the border and may
  // not be `inner`.
  template <class Visit>
  bool forCycles(bool inner, Visit&& visit) {
    const uint32_t pieces = u32(border_.size());
    cycleOf_.assign(next_.size(), kNoIndex);
    cycleNode_.clear();
    for (uint32_t h = 0; h < next_.size(); ++h) {
      if (cycleOf_[h] != kNoIndex) continue;
      // Pieces of the border come first, so a cycle that starts at a segment has none.
      if (h >= pieces && !inner) return false;
      const uint32_t cycle = u32(cycleNode_.size());
      cycleNode_.push_back(kNoIndex);
      uint8_t sides = 0;
      ring_.clear();
      for (uint32_t at = h; cycleOf_[at] == kNoIndex; at = next_[at]) {
        cycleOf_[at] = cycle;
        if (at < pieces) {
          ring_.push_back(border_[at].at);
          continue;
        }
        const uint32_t n = (at - pieces) / 2;
        const bool back = ((at - pieces) & 1u) != 0;
        sides |= back ? kMinus : kPlus;
        const TetSegment& s = seam_.segments[own_[n]];
        ring_.push_back(seam_.points[back ? s.end : s.start].position);
      }
      if (!visit(cycle, sides)) return false;
    }
    return true;
  }

  // With the corners of the cycle that was last visited.
  void addPiece(TetPiece piece) {
    piece.first = u32(out_.corners.size());
    piece.count = u32(ring_.size());
    out_.corners.insert(out_.corners.end(), ring_.begin(), ring_.end());
    out_.pieces.push_back(piece);
  }

  void joinTetEdges(geometry::DisjointSets& sets) {
    uint32_t forward[6] = {}, backward[6] = {};
    for (size_t i = 0; i < 4; ++i)
      for (size_t k = 0; k < 3; ++k)
        (kTetHalfedges[i][k].forward ? forward : backward)[kTetHalfedges[i][k].edge] = tetPiece_[i][k];
    for (uint32_t e = 0; e < 6; ++e) {
      const uint32_t count = seam_.runOf(true, e).count;
      for (uint32_t m = 0; m <= count; ++m)
        sets.unite(pieceNode_[forward[e] + m], pieceNode_[backward[e] + count - m]);
    }
  }

  void joinSheetEdges(geometry::DisjointSets& sets) {
    for (const TetSheetFace& local : seam_.locals)
      for (uint32_t k = 0; k < 3; ++k) {
        const uint32_t h = 3 * local.face + k, twin = seam_.sheet.twin[h];
        const uint32_t across = twin == kNoIndex ? kNoIndex : localOf_[twin / 3];
        if (across != kNoIndex && twin < h) continue;
        const uint32_t count = seam_.runOf(false, edgeOf(seam_.sheet, h)).count;
        for (uint32_t m = 0; m <= count; ++m) {
          const uint32_t node = pieceNode_[local.firstPiece[k] + m];
          if (node == kNoIndex) continue;
          if (across == kNoIndex) {
            sets.unite(node, node + 1);  // the sheet ends here: its two sides meet
            continue;
          }
          const uint32_t other = pieceNode_[seam_.locals[across].firstPiece[twin % 3] + count - m];
          if (other == kNoIndex) continue;
          sets.unite(node, other);
          sets.unite(node + 1, other + 1);
        }
      }
  }

  // Fragments of the sets of nodes; `fragment` of pieces is a node until here. False where one has no face of
  // the tetrahedron.
  bool finish(geometry::DisjointSets& sets) {
    number_.assign(nodes_, kNoIndex);
    for (uint32_t node = 0; node < nodes_; ++node) {
      const uint32_t root = sets.find(node);
      if (number_[root] == kNoIndex) {
        number_[root] = u32(out_.fragments.size());
        out_.fragments.emplace_back();
      }
      number_[node] = number_[root];
      TetFragment& f = out_.fragments[number_[node]];
      f.below = f.below || (sides_[node] & kPlus) != 0;
      f.above = f.above || (sides_[node] & kMinus) != 0;
    }
    for (TetPiece& p : out_.pieces) p.fragment = number_[p.fragment];
    for (size_t v = 0; v < 4; ++v) out_.fragments[number_[corner_[v]]].nodes |= uint8_t(1u << v);
    return measure();
  }

  // Areas, volumes and centroids, by the divergence theorem about a corner of the tetrahedron.
  bool measure() {
    const Vec3 origin = seam_.tet[0];
    hasFace_.assign(out_.fragments.size(), 0);
    Vec3 twice = Vec3::Zero(), moment = Vec3::Zero();
    double six = 0;
    for (TetPiece& p : out_.pieces) {
      // A reversed lid comes after the same one not reversed: the sums are still there.
      if (!p.reversed) {
        // Single numbers: vectors that are written in parts and read as a whole make the processor wait.
        const Vec3* ring = out_.corners.data() + p.first;
        const double ox = origin.x(), oy = origin.y(), oz = origin.z();
        const double ax = ring[0].x() - ox, ay = ring[0].y() - oy, az = ring[0].z() - oz;
        double bx = ring[1].x() - ox, by = ring[1].y() - oy, bz = ring[1].z() - oz;
        double tx = 0, ty = 0, tz = 0, mx = 0, my = 0, mz = 0;
        six = 0;
        for (uint32_t i = 1; i + 1 < p.count; ++i) {
          const double cx = ring[i + 1].x() - ox, cy = ring[i + 1].y() - oy, cz = ring[i + 1].z() - oz;
          const double ux = bx - ax, uy = by - ay, uz = bz - az, vx = cx - ax, vy = cy - ay, vz = cz - az;
          const double nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
          const double v = ax * nx + ay * ny + az * nz;
          tx += nx;
          ty += ny;
          tz += nz;
          six += v;
          mx += v * (ax + bx + cx);
          my += v * (ay + by + cy);
          mz += v * (az + bz + cz);
          bx = cx;
          by = cy;
          bz = cz;
        }
        twice = Vec3(tx, ty, tz);
        moment = Vec3(mx, my, mz);
      }
      TetFragment& fragment = out_.fragments[p.fragment];
      const double sign = p.reversed ? -1 : 1;
      p.area = 0.5 * sign * twice;
      fragment.volume += sign * six / 6;
      fragment.centroid += sign * moment / 24;
      (p.face == kTetLid ? fragment.lidArea : fragment.faceArea[p.face]) += p.area.norm();
      if (p.face != kTetLid) hasFace_[p.fragment] = 1;
    }
    for (TetFragment& f : out_.fragments) {
      if (f.volume > 0)
        f.centroid = origin + f.centroid / f.volume;
      else
        f.centroid = 0.25 * (seam_.tet[0] + seam_.tet[1] + seam_.tet[2] + seam_.tet[3]);
    }
    return std::find(hasFace_.begin(), hasFace_.end(), 0) == hasFace_.end();
  }

  TetSeam seam_;
  std::vector<uint32_t> allFaces_, localOf_;  // per face of the sheet
  std::vector<uint32_t> own_, next_, cycleOf_, cycleNode_, pieceNode_, number_;
  std::vector<BorderCorner> border_;
  std::vector<Vec3> ring_;
  std::vector<uint8_t> sides_, hasFace_;  // per node, per fragment
  uint32_t tetPiece_[4][3] = {};
  std::array<uint32_t, 4> corner_{};  // a node for each vertex of the tetrahedron
  uint32_t nodes_ = 0;
  TetCut out_;
};

void TetCutter::Work::runSlowly(const std::array<Vec3, 4>& tet, std::span<const uint32_t> faces) {
  begin();
  seam_.tet = tet;
  geometry::TriMesh body, part;
  body.positions.assign(tet.begin(), tet.end());
  for (const auto& f : kTetFaces) body.triangles.push_back({f[0], f[1], f[2]});
  std::vector<uint32_t> vertices;
  for (const uint32_t f : faces)
    for (const uint32_t v : seam_.sheet.triangles[f]) vertices.push_back(v);
  std::sort(vertices.begin(), vertices.end());
  vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
  for (const uint32_t v : vertices) part.positions.push_back(seam_.sheet.positions[v]);
  for (const uint32_t f : faces) {
    geometry::Triangle t;
    for (size_t k = 0; k < 3; ++k)
      t[k] = u32(std::lower_bound(vertices.begin(), vertices.end(), seam_.sheet.triangles[f][k]) -
                 vertices.begin());
    part.triangles.push_back(t);
  }
  if (faces.empty()) {
    keepWhole();
    return;
  }
  out_.bridged = true;
  const CutResult r = cut::cut(body, part, {.keepEmpty = true});
  out_.fragments.resize(r.fragments);
  for (uint32_t i = 0; i < r.fragments; ++i) {
    out_.fragments[i].above = r.above[i] && !r.seam.empty();
    out_.fragments[i].below = r.below[i] && !r.seam.empty();
  }
  for (uint32_t f = 0; f < r.mesh.faceCount(); ++f) {
    const auto ring = r.mesh.face(f);
    TetPiece piece{.fragment = r.fragment[f], .first = u32(out_.corners.size()), .count = u32(ring.size())};
    if (r.fromCutter[f])
      piece.sheetFace = faces[r.sourceFace[f]];
    else
      piece.face = uint8_t(r.sourceFace[f]);
    for (const uint32_t v : ring) {
      out_.corners.push_back(r.mesh.positions[v]);
      if (r.vertexFrom[v] == VertexFrom::Mesh)
        out_.fragments[piece.fragment].nodes |= uint8_t(1u << r.sourceVertex[v]);
    }
    out_.pieces.push_back(piece);
  }
  measure();
}

TetCutter::TetCutter(const geometry::TriMesh& sheet) : work_(std::make_unique<Work>(sheet)) {}
TetCutter::~TetCutter() = default;

const TetCut& TetCutter::cut(const std::array<Vec3, 4>& tet, std::span<const uint32_t> faces) {
  if (!work_->run(tet, faces)) work_->runSlowly(tet, faces);
  return work_->result();
}

const TetCut& TetCutter::cut(const std::array<Vec3, 4>& tet) { return cut(tet, work_->allFaces()); }

const TetCut& TetCutter::cutSlowly(const std::array<Vec3, 4>& tet, std::span<const uint32_t> faces) {
  work_->runSlowly(tet, faces);
  return work_->result();
}

}  // namespace sunder::cut
