#include "sunder/cut/tet/sheets_cutter.h"

#include "sunder/base/disjoint_sets.h"
#include "sunder/cut/tet/tet_cells.h"
#include "sunder/cut/tet/tet_measure.h"
#include "sunder/cut/tet/tet_regions.h"
#include "sunder/geometry/rows.h"

namespace sunder::cut {

using geometry::u32;

void SheetsCut::clear() {
  TetCut::clear();
  regions.clear();
  rim.clear();
  before.clear();
  touched = touchedLater = false;
}

class SheetsCutter::Work {
 public:
  explicit Work(const CutSheets& sheets) : sheets_(sheets) {}

  const SheetsCut& run(const std::array<Vec3, 4>& tet, std::span<const uint32_t> faces, uint32_t later) {
    out_.clear();
    cells_.reset(tet, sheets_, faces);
    size_t i = 0;
    for (; i < faces.size() && faces[i] < later; ++i) out_.touched = cells_.insert(faces[i]) || out_.touched;
    cells_.mark();
    const uint32_t cellsBefore = cells_.cells();
    numberFragments();
    before_.assign(number_.begin(), number_.begin() + cellsBefore);
    for (; i < faces.size(); ++i) out_.touchedLater = cells_.insert(faces[i]) || out_.touchedLater;
    out_.touched = out_.touched || out_.touchedLater;
    if (cells_.cells() != cellsBefore || out_.touched) numberFragments();
    out_.fragments.resize(fragments_);
    out_.before.resize(fragments_);
    for (uint32_t c = 0; c < cells_.cells(); ++c) out_.before[number_[c]] = before_[cells_.cell(c).origin];
    for (uint32_t v = 0; v < 4; ++v) out_.fragments[number_[cellAt_[v]]].nodes |= uint8_t(1u << v);
    regions_.trace(cells_, number_, out_);
    for (const TetPiece& p : out_.pieces)
      if (p.face == kTetLid)
        (p.reversed ? out_.fragments[p.fragment].above : out_.fragments[p.fragment].below) = true;
    measure(tet, out_);
    return out_;
  }

 private:
  // Cells with a facet in common that is on no triangle. Fragments with nodes come first, by their first
  // node, then the others in the order of their cells.
  void numberFragments() {
    const uint32_t cells = cells_.cells();
    sets_.reset(cells);
    for (uint32_t f = 0; f < cells_.facets(); ++f) {
      const CellFacet& facet = cells_.facet(f);
      if (facet.cells[1] != kNoIndex) {
        if (facet.cover.empty()) sets_.unite(facet.cells[0], facet.cells[1]);
        continue;
      }
      for (const uint32_t h : facet.ring)
        if (const uint32_t v = cells_.from(h); v < 4) cellAt_[v] = facet.cells[0];
    }
    number_.assign(cells, kNoIndex);
    fragments_ = 0;
    for (uint32_t i = 0; i < 4 + cells; ++i) {
      const uint32_t root = sets_.find(i < 4 ? cellAt_[i] : i - 4);
      if (number_[root] == kNoIndex) number_[root] = fragments_++;
    }
    for (uint32_t c = 0; c < cells; ++c) number_[c] = number_[sets_.find(c)];
  }

  const CutSheets& sheets_;
  TetCells cells_;
  TetRegions regions_;
  SheetsCut out_;
  DisjointSets sets_;
  std::array<uint32_t, 4> cellAt_{};  // that has the vertex
  std::vector<uint32_t> number_, before_;
  uint32_t fragments_ = 0;
};

SheetsCutter::SheetsCutter(const CutSheets& sheets) : work_(std::make_unique<Work>(sheets)) {}
SheetsCutter::~SheetsCutter() = default;

const SheetsCut& SheetsCutter::cut(const std::array<Vec3, 4>& tet, std::span<const uint32_t> faces,
                                   uint32_t later) {
  return work_->run(tet, faces, later);
}

}  // namespace sunder::cut
