#include "sunder/fracture/pieces/fragment_masks.h"

#include "sunder/base/error.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sunder::fracture {

namespace {

constexpr double kCellEdges = 1.2;     // edges of tetrahedra a cell
constexpr double kMostMaskCells = 64;  // along a side
constexpr double kOutward = 1 + 1e-9;  // for rounding

}  // namespace

MaskCells::MaskCells(const RestMesh& rest) {
  const Box3& box = rest.bounds();
  const double longest = box.extent().maxCoeff();
  cell_ = std::max(kCellEdges * rest.edge(), longest / kMostMaskCells);
  origin_ = box.lower;
  for (size_t d = 0; d < 3; ++d) size_[d] = uint32_t(std::floor(box.extent()[int(d)] / cell_)) + 1;
  const geometry::TetMesh& mesh = rest.mesh();
  const double pad = 1e-9 * longest;
  start_.push_back(0);
  for (const geometry::Tetrahedron& t : mesh.tets) {
    Box3 b;
    for (const uint32_t v : t) b.grow(mesh.positions[v]);
    std::array<uint32_t, 3> low, high;
    for (size_t d = 0; d < 3; ++d) {
      const auto at = [&](double x) {
        return uint32_t(std::clamp((x - origin_[int(d)]) / cell_, 0.0, double(size_[d] - 1)));
      };
      low[d] = at(b.lower[int(d)] - pad);
      high[d] = at(b.upper[int(d)] + pad);
    }
    for (uint32_t z = low[2]; z <= high[2]; ++z)
      for (uint32_t y = low[1]; y <= high[1]; ++y)
        for (uint32_t x = low[0]; x <= high[0]; ++x) list_.push_back(x + size_[0] * (y + size_[1] * z));
    start_.push_back(uint32_t(list_.size()));
  }
}

FragmentMasks::FragmentMasks(std::shared_ptr<const MaskCells> cells, std::span<const Piece> pieces)
    : cells_(std::move(cells)) {
  Level level{cells_->cell(), cells_->size(), {}};
  for (;;) {
    level.masks.assign(size_t(level.size[0]) * level.size[1] * level.size[2], 0);
    level_.push_back(level);
    if (*std::max_element(level.size.begin(), level.size.end()) == 1) break;
    level.cell *= 2;
    for (uint32_t& n : level.size) n = (n + 1) / 2;
  }
  add(pieces);
}

FragmentMasks::FragmentMasks(const FragmentMasks& before, uint32_t broken, std::span<const Piece> pieces)
    : cells_(before.cells_), ids_(before.ids_), words_(before.words_), level_(before.level_) {
  if (const uint32_t s = slot(broken); s != kNoIndex) {
    const uint64_t rest = ~(uint64_t(1) << (s % 64));
    for (size_t i = s / 64; i < level_[0].masks.size(); i += words_) level_[0].masks[i] &= rest;
    ids_[s] = kNoIndex;
  }
  add(pieces);
}

uint32_t FragmentMasks::slot(uint32_t id) const {
  const auto found = std::find(ids_.begin(), ids_.end(), id);
  return found == ids_.end() ? kNoIndex : uint32_t(found - ids_.begin());
}

void FragmentMasks::widen() {
  for (Level& level : level_) {
    std::vector<uint64_t> wide(level.masks.size() / words_ * (words_ + 1), 0);
    for (size_t i = 0; i < level.masks.size(); ++i)
      wide[i / words_ * (words_ + 1) + i % words_] = level.masks[i];
    level.masks = std::move(wide);
  }
  ++words_;
}

void FragmentMasks::add(std::span<const Piece> pieces) {
  for (const Piece& piece : pieces) {
    if (slot(piece.id) != kNoIndex)
      throw Error(ErrorKind::Usage, fmt::format("two fragments of one object have the number {}", piece.id));
    uint32_t s = slot(kNoIndex);
    if (s == kNoIndex) {
      s = uint32_t(ids_.size());
      ids_.push_back(piece.id);
      if (s / 64 >= words_) widen();
    }
    ids_[s] = piece.id;
    const uint64_t bit = uint64_t(1) << (s % 64);
    uint64_t* masks = level_[0].masks.data() + s / 64;
    for (const uint32_t t : piece.tets)
      for (const uint32_t cell : cells_->of(t)) masks[cell * words_] |= bit;
  }
  joinLevels();
}

void FragmentMasks::joinLevels() {
  for (size_t l = 1; l < level_.size(); ++l) {
    const Level& fine = level_[l - 1];
    Level& coarse = level_[l];
    std::fill(coarse.masks.begin(), coarse.masks.end(), 0);
    size_t from = 0;
    for (uint32_t z = 0; z < fine.size[2]; ++z)
      for (uint32_t y = 0; y < fine.size[1]; ++y)
        for (uint32_t x = 0; x < fine.size[0]; ++x) {
          const size_t to = words_ * (x / 2 + coarse.size[0] * (y / 2 + size_t(coarse.size[1]) * (z / 2)));
          for (size_t w = 0; w < words_; ++w) coarse.masks[to + w] |= fine.masks[from++];
        }
  }
}

bool FragmentMasks::clear(uint32_t slot, uint32_t level, const Vec3& point) const {
  const Level& l = level_[level];
  std::array<std::array<uint32_t, 2>, 3> range;
  for (size_t d = 0; d < 3; ++d) {
    const double v = std::floor((point[int(d)] - cells_->origin()[int(d)]) / l.cell + 0.5);
    // The cells below and above the vertex; beyond the grid there is nothing.
    if (!(v >= 0 && v <= double(l.size[d]))) return true;
    range[d][0] = v > 0 ? uint32_t(v) - 1 : 0;
    range[d][1] = std::min(uint32_t(v), l.size[d] - 1);
  }
  const uint64_t bit = uint64_t(1) << (slot % 64);
  const uint64_t* masks = l.masks.data() + slot / 64;
  for (uint32_t z = range[2][0]; z <= range[2][1]; ++z)
    for (uint32_t y = range[1][0]; y <= range[1][1]; ++y)
      for (uint32_t x = range[0][0]; x <= range[0][1]; ++x)
        if (masks[words_ * (x + l.size[0] * (y + size_t(l.size[1]) * z))] & bit) return false;
  return true;
}

bool FragmentMasks::mayTouch(uint32_t slot, const Vec3& centre, double radius) const {
  for (uint32_t l = 0; l < levels(); ++l)
    if (level_[l].cell >= 2 * radius * kOutward) return !clear(slot, l, centre);
  return true;
}

double FragmentMasks::distanceBelow(uint32_t slot, const Vec3& point) const {
  for (uint32_t l = levels(); l-- > 0;)
    if (clear(slot, l, point)) return 0.5 * level_[l].cell / kOutward;
  return 0;
}

}  // namespace sunder::fracture
