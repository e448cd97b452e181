#include "sunder/cut/tet/tet_cutter.h"

#include "sunder/base/disjoint_sets.h"
#include "sunder/cut/arrangement/regions.h"
#include "sunder/cut/tet/tet_by_meshes.h"
#include "sunder/cut/tet/tet_measure.h"
#include "sunder/cut/tet/tet_trace.h"

#include <algorithm>

namespace sunder::cut {

using geometry::kTetFaces;

void TetCut::clear() {
  fragments.clear();
  pieces.clear();
  corners.clear();
  bridged = false;
}

class TetCutter::Work {
 public:
  explicit Work(const geometry::TriMesh& sheet) : seam_(sheet), tracer_(seam_, out_) {
    for (uint32_t f = 0; f < seam_.sheet.triangles.size(); ++f) allFaces_.push_back(f);
    localOf_.assign(allFaces_.size(), kNoIndex);
  }

  std::span<const uint32_t> allFaces() const { return allFaces_; }
  const TetCut& result() const { return out_; }

  void run(const std::array<Vec3, 4>& tet, std::span<const uint32_t> faces) {
    out_.clear();
    seam_.find(tet, faces);
    if (seam_.locals.empty()) {
      keepWhole();
    } else if (isPlaneCut()) {
      cutByPlane();
    } else if (!cutByLoops()) {
      runByMeshes(tet, faces);
    }
  }

  void runByMeshes(const std::array<Vec3, 4>& tet, std::span<const uint32_t> faces) {
    seam_.tet = tet;
    if (!faces.empty()) return cutTetByMeshes(tet, seam_.sheet, faces, out_);
    out_.clear();
    keepWhole();
  }

 private:
  void addCorners(TetPiece piece, std::span<const Vec3> ring) {
    piece.first = u32(out_.corners.size());
    piece.count = u32(ring.size());
    out_.corners.insert(out_.corners.end(), ring.begin(), ring.end());
    out_.pieces.push_back(piece);
  }

  void keepWhole() {
    out_.fragments.push_back({.nodes = 15});
    for (uint8_t i = 0; i < 4; ++i) {
      const Vec3 ring[] = {seam_.tet[kTetFaces[i][0]], seam_.tet[kTetFaces[i][1]],
                           seam_.tet[kTetFaces[i][2]]};
      addCorners({.face = i}, ring);
    }
    measure(seam_.tet, out_);
  }

  // One face of the sheet reaches through, and its edges stay outside: what most tetrahedra have of a sheet
  // that is coarser than they are.
  bool isPlaneCut() const {
    if (seam_.locals.size() != 1) return false;
    const auto& sides = seam_.locals[0].vertexSide;
    const size_t edges = std::ranges::count(sides, -1) == 2 ? 4 : 3;
    return seam_.points.size() == edges && seam_.segments.size() == edges &&
           std::ranges::all_of(seam_.points, &TetSeamPoint::ofTet);
  }

  void cutByPlane() {
    seam_.locatePoints();
    const TetSheetFace& local = seam_.locals[0];
    uint32_t pointOn[6];
    for (uint32_t& p : pointOn) p = kNoIndex;
    for (uint32_t x = 0; x < seam_.points.size(); ++x) pointOn[seam_.points[x].edge] = x;
    const auto isBelow = [&](uint32_t v) { return local.vertexSide[v] < 0; };
    // The fragment of the first face's first piece is the first.
    const auto& f = kTetFaces[0];
    const bool firstIsBelow = isBelow(f[0]) || isBelow(f[1]) || isBelow(f[2]);
    const uint32_t below = firstIsBelow ? 0 : 1, above = 1 - below;
    out_.fragments.resize(2);
    out_.fragments[below].below = out_.fragments[above].above = true;
    for (uint32_t v = 0; v < 4; ++v) out_.fragments[isBelow(v) ? below : above].nodes |= uint8_t(1u << v);
    for (uint8_t i = 0; i < 4; ++i) {
      // Vertices and points of one side, in order, are its ring.
      Vec3 rings[2][4];
      size_t counts[2] = {};
      for (size_t k = 0; k < 3; ++k) {
        const uint32_t v = kTetFaces[i][k], side = isBelow(v) ? 0 : 1, x = pointOn[kTetHalfedges[i][k].edge];
        rings[side][counts[side]++] = seam_.tet[v];
        if (x == kNoIndex) continue;
        for (const size_t s : {0u, 1u}) rings[s][counts[s]++] = seam_.points[x].position;
      }
      if (counts[0] > 0) addCorners({.fragment = below, .face = i}, {rings[0], counts[0]});
      if (counts[1] > 0) addCorners({.fragment = above, .face = i}, {rings[1], counts[1]});
    }
    // Segments have what is below on their left, the lid runs along them backwards.
    Vec3 ring[4];
    size_t count = 0;
    uint32_t at = seam_.segments[0].end;
    do {
      ring[count++] = seam_.points[at].position;
      const auto next = std::ranges::find(seam_.segments, at, &TetSegment::end);
      if (next == seam_.segments.end()) break;
      at = next->start;
    } while (at != seam_.segments[0].end && count < 4);
    TetPiece lid{.fragment = below, .sheetFace = local.face};
    addCorners(lid, {ring, count});
    lid = out_.pieces.back();
    lid.fragment = above;
    lid.reversed = true;
    out_.pieces.push_back(lid);
    measure(seam_.tet, out_);
  }

  // False where bridges or cavities are needed, which cut() knows about.
  bool cutByLoops() {
    if (seam_.segments.empty()) return false;
    seam_.locatePoints();
    seam_.orderPoints();
    if (!tracer_.trace()) return false;
    sets_.reset(tracer_.nodes);
    joinTetEdges();
    joinSheetEdges();
    for (const TetSegment& s : seam_.segments) {
      if (s.plusNode == kNoIndex || s.minusNode == kNoIndex || s.lidNode == kNoIndex) return false;
      sets_.unite(s.plusNode, s.lidNode);
      sets_.unite(s.minusNode, s.lidNode + 1);
    }
    return finish();
  }

  void joinTetEdges() {
    uint32_t forward[6] = {}, backward[6] = {};
    for (size_t i = 0; i < 4; ++i)
      for (size_t k = 0; k < 3; ++k)
        (kTetHalfedges[i][k].forward ? forward : backward)[kTetHalfedges[i][k].edge] = tracer_.tetPiece[i][k];
    for (uint32_t e = 0; e < 6; ++e) {
      const uint32_t count = seam_.runOf(true, e).count;
      for (uint32_t m = 0; m <= count; ++m)
        sets_.unite(tracer_.pieceNode[forward[e] + m], tracer_.pieceNode[backward[e] + count - m]);
    }
  }

  void joinSheetEdges() {
    for (uint32_t j = 0; j < seam_.locals.size(); ++j) localOf_[seam_.locals[j].face] = j;
    for (const TetSheetFace& local : seam_.locals)
      for (uint32_t k = 0; k < 3; ++k) {
        const uint32_t h = 3 * local.face + k, twin = seam_.sheet.twin[h];
        const uint32_t across = twin == kNoIndex ? kNoIndex : localOf_[twin / 3];
        if (across != kNoIndex && twin < h) continue;
        const uint32_t count = seam_.runOf(false, edgeOf(seam_.sheet, h)).count;
        for (uint32_t m = 0; m <= count; ++m) {
          const uint32_t node = tracer_.pieceNode[local.firstPiece[k] + m];
          if (node == kNoIndex) continue;
          if (across == kNoIndex) {
            sets_.unite(node, node + 1);  // the sheet ends here: its two sides meet
            continue;
          }
          const uint32_t other = tracer_.pieceNode[seam_.locals[across].firstPiece[twin % 3] + count - m];
          if (other == kNoIndex) continue;
          sets_.unite(node, other);
          sets_.unite(node + 1, other + 1);
        }
      }
    for (const TetSheetFace& l : seam_.locals) localOf_[l.face] = kNoIndex;
  }

  // Fragments of the sets of nodes; `fragment` of pieces is a node until here. False where one has no face of
  // the tetrahedron.
  bool finish() {
    number_.assign(tracer_.nodes, kNoIndex);
    for (uint32_t node = 0; node < tracer_.nodes; ++node) {
      const uint32_t root = sets_.find(node);
      if (number_[root] == kNoIndex) {
        if (node >= tracer_.tetNodes) return false;
        number_[root] = u32(out_.fragments.size());
        out_.fragments.emplace_back();
      }
      number_[node] = number_[root];
      TetFragment& f = out_.fragments[number_[node]];
      f.below = f.below || (tracer_.nodeSides[node] & kPlus) != 0;
      f.above = f.above || (tracer_.nodeSides[node] & kMinus) != 0;
    }
    for (TetPiece& p : out_.pieces) p.fragment = number_[p.fragment];
    for (size_t v = 0; v < 4; ++v) out_.fragments[number_[tracer_.corner[v]]].nodes |= uint8_t(1u << v);
    measure(seam_.tet, out_);
    return true;
  }

  TetSeam seam_;
  TetCut out_;
  TetTracer tracer_;
  DisjointSets sets_;
  std::vector<uint32_t> allFaces_, localOf_;  // per face of the sheet
  std::vector<uint32_t> number_;
};

TetCutter::TetCutter(const geometry::TriMesh& sheet) : work_(std::make_unique<Work>(sheet)) {}
TetCutter::~TetCutter() = default;

const TetCut& TetCutter::cut(const std::array<Vec3, 4>& tet, std::span<const uint32_t> faces) {
  work_->run(tet, faces);
  return work_->result();
}

const TetCut& TetCutter::cut(const std::array<Vec3, 4>& tet) { return cut(tet, work_->allFaces()); }

const TetCut& TetCutter::cutSlowly(const std::array<Vec3, 4>& tet, std::span<const uint32_t> faces) {
  work_->runByMeshes(tet, faces);
  return work_->result();
}

}  // namespace sunder::cut
