// What is looked at of the pieces of broken bodies. Nothing in a simulation needs it, so a step only notes
// what broke; the surfaces are cut when somebody asks for one, all that were noted at once, in parallel.
//
// Guarantee: what a piece looks like depends on the breaks alone, not on when it is asked for nor on the
// number of threads.
#pragma once

#include "sunder/fracture/crack/fine_surface.h"
#include "sunder/rigid/shape/shape.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace sunder::world {

// A break, as far as its looks go. Sources are numbers of the body before it ever broke.
struct ShownBreak {
  std::shared_ptr<const fracture::FineSurface> fine;  // none: pieces are as coarse as their tetrahedra
  std::optional<uint32_t> parent;                     // the piece that broke; none: the whole
  uint64_t frame = 0;
  fracture::CrackedMesh mesh;
  std::vector<uint32_t> tetSource, vertexSource, piece;
  struct Coarse {
    rigid::ShapePtr shape;
    std::vector<uint8_t> interior;  // by triangle of its surface
  };
  std::vector<Coarse> coarse;  // by piece: what is shown where there is nothing finer
};

class ShownPieces {
 public:
  void clear();
  // Its pieces have the next numbers.
  void add(ShownBreak broke);

  // Cuts what was noted and not cut yet.
  void finish();
  // The surface of a piece; finish() made it.
  const fracture::FinePiece& piece(uint32_t number) const { return pieces_[number].shown; }

  // Pieces that are as coarse as their tetrahedra though something finer was asked for, by frame of their
  // birth; of breaks from the given one on that are finished.
  std::vector<uint64_t> coarseSince(size_t firstBreak) const;
  size_t finished() const { return finished_; }  // breaks

 private:
  struct Piece {
    size_t broke;  // the break that made it
    fracture::FinePiece shown;
    bool coarse = false;
  };
  struct Entry {
    uint32_t firstPiece, pieces;
    uint64_t frame;
    uint32_t coarse = 0;
    std::unique_ptr<ShownBreak> open;  // until it is finished
  };
  void finish(Entry& entry);

  std::vector<Piece> pieces_;
  std::vector<Entry> breaks_;
  size_t finished_ = 0;
};

}  // namespace sunder::world
