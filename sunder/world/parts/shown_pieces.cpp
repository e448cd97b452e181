#include "sunder/world/parts/shown_pieces.h"

#include "sunder/base/parallel.h"
#include "sunder/base/profiler.h"

#include <algorithm>

namespace sunder::world {

void ShownPieces::clear() {
  pieces_.clear();
  breaks_.clear();
  finished_ = 0;
}

void ShownPieces::add(ShownBreak broke) {
  const auto first = uint32_t(pieces_.size()), count = uint32_t(broke.coarse.size());
  for (uint32_t p = 0; p < count; ++p) pieces_.push_back({breaks_.size(), {}, false});
  const uint64_t frame = broke.frame;
  breaks_.push_back({first, count, frame, 0, std::make_unique<ShownBreak>(std::move(broke))});
}

void ShownPieces::finish(Entry& entry) {
  const ShownBreak& broke = *entry.open;
  std::vector<fracture::FinePiece> shown(entry.pieces);
  // Pieces of what is coarse are as well.
  if (broke.fine && !(broke.parent && pieces_[*broke.parent].coarse))
    shown = broke.fine->split(broke.parent ? pieces_[*broke.parent].shown : broke.fine->whole(),
                              {broke.mesh, broke.tetSource, broke.vertexSource, broke.piece, entry.pieces});
  for (uint32_t p = 0; p < entry.pieces; ++p) {
    Piece& piece = pieces_[entry.firstPiece + p];
    piece.coarse = shown[p].mesh.triangles.empty();
    if (piece.coarse) {
      shown[p] = {broke.coarse[p].shape->surface(), broke.coarse[p].interior};
      entry.coarse += broke.fine != nullptr;
    }
    piece.shown = std::move(shown[p]);
  }
  entry.open.reset();
}

void ShownPieces::finish() {
  if (finished_ == breaks_.size()) return;
  const ProfileScope stage("fine surfaces");
  // A piece that broke needs its own surface first: one generation after the other.
  std::vector<std::vector<size_t>> generations;
  std::vector<size_t> generation(breaks_.size() - finished_, 0);
  for (size_t b = finished_; b < breaks_.size(); ++b) {
    const std::optional<uint32_t>& parent = breaks_[b].open->parent;
    size_t& own = generation[b - finished_];
    if (parent && pieces_[*parent].broke >= finished_)
      own = generation[pieces_[*parent].broke - finished_] + 1;
    generations.resize(std::max(generations.size(), own + 1));
    generations[own].push_back(b);
  }
  for (const std::vector<size_t>& some : generations)
    parallelFor(
        some.size(), [&](size_t i) { finish(breaks_[some[i]]); }, 1);
  finished_ = breaks_.size();
}

std::vector<uint64_t> ShownPieces::coarseSince(size_t firstBreak) const {
  std::vector<uint64_t> frames;
  for (size_t b = firstBreak; b < finished_; ++b)
    frames.insert(frames.end(), breaks_[b].coarse, breaks_[b].frame);
  return frames;
}

}  // namespace sunder::world
