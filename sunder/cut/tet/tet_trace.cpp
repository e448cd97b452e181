#include "sunder/cut/tet/tet_trace.h"

#include "sunder/cut/arrangement/regions.h"

#include <algorithm>

namespace sunder::cut {

using geometry::kTetFaces;

bool TetTracer::trace() {
  nodes = 0;
  nodeSides.clear();
  pieceNode.clear();
  for (uint32_t i = 0; i < 4; ++i)
    if (!traceTetFace(i)) return false;
  tetNodes = nodes;
  for (uint32_t j = 0; j < seam_.locals.size(); ++j)
    if (!traceSheetFace(j)) return false;
  return true;
}

// A vertex and the points after it on its edge; returns where their pieces begin.
uint32_t TetTracer::addBorder(const Vec3& vertex, const TetRun& run, bool forward) {
  const uint32_t first = u32(border_.size());
  border_.push_back({kNoIndex, vertex});
  for (uint32_t i = 0; i < run.count; ++i) {
    const uint32_t x = seam_.order[run.first + (forward ? i : run.count - 1 - i)];
    border_.push_back({x, seam_.points[x].position});
  }
  return first;
}

// visit(number, sides) for each cycle; false where visit says so, or one does not touch the border and may
// not be `inner`.
template <class Visit>
bool TetTracer::forCycles(bool inner, Visit&& visit) {
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

// Adds the ring along the border from one corner to another, and back along the chain's inner points.
void TetTracer::addRing(TetPiece piece, uint32_t from, uint32_t to, bool forward) {
  const uint32_t pieces = u32(border_.size()), base = u32(pieceNode.size()) - pieces;
  ring_.clear();
  for (uint32_t h = from; h != to; h = h + 1 == pieces ? 0 : h + 1) {
    pieceNode[base + h] = piece.fragment;
    ring_.push_back(border_[h].at);
  }
  ring_.push_back(border_[to].at);
  const size_t inner = chain_.size() - 2;
  for (size_t i = 0; i < inner; ++i)
    ring_.push_back(seam_.points[chain_[forward ? 1 + i : inner - i]].position);
  addPiece(piece);
}

// Whether the segments are one chain from border to border, which most faces have: then no loops are
// searched.
bool TetTracer::findChain(bool ofTet) {
  if (border_.size() != 5 || own_.empty()) return false;
  chain_.clear();
  for (const uint32_t s : own_)
    if (seam_.points[seam_.segments[s].start].ofTet == ofTet) chain_.push_back(seam_.segments[s].start);
  if (chain_.size() != 1) return false;
  do {
    const auto next =
        std::ranges::find(own_, chain_.back(), [&](uint32_t s) { return seam_.segments[s].start; });
    if (next == own_.end() || chain_.size() > own_.size()) return false;
    chain_.push_back(seam_.segments[*next].end);
  } while (seam_.points[chain_.back()].ofTet != ofTet);
  if (chain_.size() != own_.size() + 1) return false;
  for (uint32_t h = 0; h < border_.size(); ++h) {
    if (border_[h].point == chain_.front()) chainStart_ = h;
    if (border_[h].point == chain_.back()) chainEnd_ = h;
  }
  return chainStart_ != chainEnd_;
}

bool TetTracer::traceTetFace(uint32_t i) {
  border_.clear();
  const uint32_t base = u32(pieceNode.size());
  for (size_t k = 0; k < 3; ++k) {
    const TetHalfedge& h = kTetHalfedges[i][k];
    tetPiece[i][k] = base + addBorder(seam_.tet[kTetFaces[i][k]], seam_.runOf(true, h.edge), h.forward);
  }
  own_.clear();
  for (uint32_t s = 0; s < seam_.segments.size(); ++s)
    if (seam_.segments[s].tetFace == i) own_.push_back(s);
  if (own_.empty() && border_.size() == 3) {
    pieceNode.insert(pieceNode.end(), 3, nodes);
    ring_.assign({border_[0].at, border_[1].at, border_[2].at});
    addPiece({.fragment = nodes++, .face = uint8_t(i)});
    nodeSides.push_back(0);
  } else if (findChain(true)) {
    pieceNode.resize(base + border_.size());
    addRing({.fragment = nodes, .face = uint8_t(i)}, chainEnd_, chainStart_, true);
    addRing({.fragment = nodes + 1, .face = uint8_t(i)}, chainStart_, chainEnd_, false);
    nodeSides.push_back(kPlus);
    nodeSides.push_back(kMinus);
    for (const uint32_t s : own_) {
      seam_.segments[s].plusNode = nodes;
      seam_.segments[s].minusNode = nodes + 1;
    }
    nodes += 2;
  } else if (!traceTetLoops(i)) {
    return false;
  }
  for (size_t k = 0; k < 3; ++k) corner[kTetFaces[i][k]] = pieceNode[tetPiece[i][k]];
  return true;
}

bool TetTracer::traceTetLoops(uint32_t i) {
  if (!linkHalfedges(true)) return false;
  if (!forCycles(false, [&](uint32_t cycle, uint8_t sides) {
        cycleNode_[cycle] = nodes;
        nodeSides.push_back(sides);
        addPiece({.fragment = nodes++, .face = uint8_t(i)});
        return true;
      }))
    return false;
  for (uint32_t h = 0; h < border_.size(); ++h) pieceNode.push_back(cycleNode_[cycleOf_[h]]);
  for (uint32_t n = 0; n < own_.size(); ++n) {
    seam_.segments[own_[n]].plusNode = cycleNode_[cycleOf_[border_.size() + 2 * n]];
    seam_.segments[own_[n]].minusNode = cycleNode_[cycleOf_[border_.size() + 2 * n + 1]];
  }
  return true;
}

bool TetTracer::traceSheetFace(uint32_t j) {
  TetSheetFace& local = seam_.locals[j];
  border_.clear();
  const uint32_t base = u32(pieceNode.size());
  for (uint32_t k = 0; k < 3; ++k) {
    const uint32_t h = 3 * local.face + k, lower = edgeOf(seam_.sheet, h);
    local.firstPiece[k] =
        base + addBorder(seam_.sheet.at(local.face, k), seam_.runOf(false, lower), h == lower);
  }
  own_.clear();
  for (uint32_t s = 0; s < local.segments; ++s) own_.push_back(local.firstSegment + s);
  // Minus is inside.
  if (!findChain(false)) return traceSheetLoops(local);
  pieceNode.resize(base + border_.size(), kNoIndex);
  addRing({.fragment = nodes, .sheetFace = local.face}, chainStart_, chainEnd_, false);
  for (const uint32_t s : own_) seam_.segments[s].lidNode = nodes;
  turnLid();
  return true;
}

// The lid that was added last once more for the other side.
void TetTracer::turnLid() {
  TetPiece lid = out_.pieces.back();
  lid.fragment = nodes + 1;
  lid.reversed = true;
  out_.pieces.push_back(lid);
  nodeSides.insert(nodeSides.end(), 2, uint8_t(0));
  nodes += 2;
}

bool TetTracer::traceSheetLoops(const TetSheetFace& local) {
  if (!linkHalfedges(false)) return false;
  if (!forCycles(true, [&](uint32_t cycle, uint8_t sides) {
        // A face without segments is inside as a whole. What a face has inside is convex, so a loop away from
        // its border is that piece, and the same loop backwards the hole around it.
        if (sides == kBothSides) return false;
        if (sides == kPlus || (sides == 0 && !own_.empty())) return true;
        cycleNode_[cycle] = nodes;
        addPiece({.fragment = nodes, .sheetFace = local.face});
        turnLid();
        return true;
      }))
    return false;
  for (uint32_t h = 0; h < border_.size(); ++h) pieceNode.push_back(cycleNode_[cycleOf_[h]]);
  for (uint32_t n = 0; n < own_.size(); ++n)
    seam_.segments[own_[n]].lidNode = cycleNode_[cycleOf_[border_.size() + 2 * n + 1]];
  return true;
}

// The half-edge after each, as in regions.h. Half-edges of segment n are border + 2n along it and the next
// one back.
bool TetTracer::linkHalfedges(bool ofTet) {
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

// With the corners of the cycle that was last visited.
void TetTracer::addPiece(TetPiece piece) {
  piece.first = u32(out_.corners.size());
  piece.count = u32(ring_.size());
  out_.corners.insert(out_.corners.end(), ring_.begin(), ring_.end());
  out_.pieces.push_back(piece);
}

}  // namespace sunder::cut
