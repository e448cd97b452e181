#include "sunder/cut/tet/tet_cells.h"

#include "sunder/geometry/rows.h"
#include "sunder/geometry/tet_mesh.h"

#include <algorithm>
#include <cassert>

namespace sunder::cut {

using geometry::kTetFaces;
using geometry::u32;

void TetCells::reset(const std::array<Vec3, 4>& tet, const CutSheets& sheets,
                     std::span<const uint32_t> faces) {
  points_.reset(tet, sheets, faces);
  edges_.clear();
  inserted_.clear();
  facetCount_ = cellCount_ = 0;
  newCell();
  uint32_t edgeOf[4][4];
  for (uint32_t a = 0; a < 4; ++a)
    for (uint32_t b = a + 1; b < 4; ++b) {
      std::array<uint32_t, 2> planes{};
      size_t count = 0;
      for (uint32_t i = 0; i < 4; ++i)
        if (i != a && i != b) planes[count++] = i;
      edgeOf[a][b] = 2 * u32(edges_.size());
      edgeOf[b][a] = edgeOf[a][b] + 1;
      edges_.push_back({{a, b}, planes});
    }
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t f = newFacet();
    facets_[f].plane = i;
    facets_[f].cells = {0, kNoIndex};
    for (size_t k = 0; k < 3; ++k)
      facets_[f].ring.push_back(edgeOf[kTetFaces[i][k]][kTetFaces[i][(k + 1) % 3]]);
    cells_[0].facets.push_back(f);
  }
}

uint32_t TetCells::newCell() {
  if (cellCount_ == cells_.size()) cells_.emplace_back();
  cells_[cellCount_].facets.clear();
  cells_[cellCount_].origin = cellCount_;
  return cellCount_++;
}

uint32_t TetCells::newFacet() {
  if (facetCount_ == facets_.size()) facets_.emplace_back();
  facets_[facetCount_].ring.clear();
  facets_[facetCount_].cover.clear();
  return facetCount_++;
}

void TetCells::mark() {
  for (uint32_t c = 0; c < cellCount_; ++c) cells_[c].origin = c;
}

const TetCells::Inserted& TetCells::inserted(uint32_t face) const {
  return *std::find_if(inserted_.begin(), inserted_.end(), [&](const Inserted& t) { return t.face == face; });
}

// What of a cell is on the side of a wall that the triangle is on.
TetCells::Part TetCells::partInside(uint32_t cell, uint32_t plane, int inside) {
  bool in = false, out = false;
  for (const uint32_t f : cells_[cell].facets)
    for (const uint32_t h : facets_[f].ring) {
      const int s = points_.side(from(h), plane) * inside;
      in = in || s > 0;
      out = out || s < 0;
      if (in && out) return Part::Divided;
    }
  return in ? Part::Whole : Part::Outside;
}

bool TetCells::isOn(const CellFacet& f, uint32_t plane) {
  return std::all_of(f.ring.begin(), f.ring.end(),
                     [&](uint32_t h) { return points_.side(from(h), plane) == 0; });
}

// Does the plane divide the cell, or one of its facets lie in it?
bool TetCells::meetsPlane(uint32_t cell, uint32_t plane, bool& divided) {
  divided = partInside(cell, plane, 1) == Part::Divided;
  if (divided) return true;
  for (const uint32_t f : cells_[cell].facets)
    if (isOn(facets_[f], plane)) return true;
  return false;
}

// False where the triangle is clearly beyond one of the cell's facets. This only saves work.
bool TetCells::reaches(uint32_t cell, const Inserted& t) {
  const double margin = 1e-9 * points_.reach();
  const CutSheets& sheets = points_.sheets();
  for (const uint32_t f : cells_[cell].facets) {
    const uint32_t plane = facets_[f].plane;
    if (!(points_.planeError(plane) < 1e-3 * margin)) continue;
    bool above = true, below = true;
    for (const uint32_t p : sheets.triangle(t.face)) {
      const Vec3& at = sheets.point(p);
      const double d = points_.distance(plane, at);
      const double far = margin * (1 + (at - points_.tet()[0]).norm() / points_.reach());
      above = above && d > far;
      below = below && d < -far;
    }
    if (!above && !below) continue;
    double least = 0, most = 0;  // of the cell, which is on one side
    bool sure = true;
    for (const uint32_t g : cells_[cell].facets)
      for (const uint32_t h : facets_[g].ring) {
        const uint32_t x = from(h);
        const double d = points_.distance(plane, points_.nearPosition(x));
        least = std::min(least, d);
        most = std::max(most, d);
        sure = sure && points_.pointError(x) < 0.1 * margin;
      }
    if (sure && (above ? most < margin && least < -2 * margin : least > -margin && most > 2 * margin))
      return false;
  }
  return true;
}

bool TetCells::isAbove(uint32_t cell, uint32_t plane) {
  for (const uint32_t f : cells_[cell].facets)
    for (const uint32_t h : facets_[f].ring)
      if (const int s = points_.side(from(h), plane); s != 0) return s > 0;
  return false;
}

bool TetCells::insert(uint32_t face) {
  if (!points_.sheets().hasArea(face)) return false;
  Inserted t{.face = face, .plane = points_.addFace(face), .walls = {}, .inside = {}};
  bool above = false, below = false;
  for (uint32_t v = 0; v < 4; ++v) (points_.side(v, t.plane) > 0 ? above : below) = true;
  if (!above || !below) return false;
  near_.clear();
  for (uint32_t c = 0; c < cellCount_; ++c)
    if (bool divided = false; meetsPlane(c, t.plane, divided) && reaches(c, t)) near_.push_back(c);
  for (size_t k = 0; k < 3 && !near_.empty(); ++k) {
    t.walls[k] = points_.wall(face, k);
    t.inside[k] = points_.inside(face, k);
  }
  // Cells that are wholly beyond one wall need not be divided by another one.
  for (size_t k = 0; k < 3; ++k)
    std::erase_if(near_, [&](uint32_t c) { return partInside(c, t.walls[k], t.inside[k]) == Part::Outside; });
  for (size_t k = 0; k < 3; ++k) {
    kept_.clear();
    divided_.clear();
    for (const uint32_t c : near_) {
      const Part part = partInside(c, t.walls[k], t.inside[k]);
      if (part == Part::Divided) divided_.push_back(c);
      if (part == Part::Whole) kept_.push_back(c);
    }
    const uint32_t first = cellCount_;
    split(t.walls[k], divided_);
    for (size_t i = 0; i < divided_.size(); ++i)
      kept_.push_back(t.inside[k] > 0 ? divided_[i] : first + u32(i));
    near_.clear();
    for (const uint32_t c : kept_)
      if (bool divided = false; meetsPlane(c, t.plane, divided)) near_.push_back(c);
  }
  if (near_.empty()) return false;
  divided_.clear();
  for (const uint32_t c : near_)
    if (bool divided = false; meetsPlane(c, t.plane, divided) && divided) divided_.push_back(c);
  split(t.plane, divided_);
  bool covered = false;
  for (const uint32_t c : near_)
    for (const uint32_t f : cells_[c].facets) {
      if (facets_[f].cells[1] == kNoIndex || !isOn(facets_[f], t.plane)) continue;
      covered = true;
      std::vector<uint32_t>& cover = facets_[f].cover;
      if (cover.empty() || cover.back() != face) cover.push_back(face);
    }
  if (covered) inserted_.push_back(t);
  return covered;
}

// All cells are on both sides of the plane. What is above keeps its number; the parts below are numbered in
// the order of the cells.
void TetCells::split(uint32_t plane, std::span<const uint32_t> cells) {
  if (cells.empty()) return;
  for (const uint32_t c : cells)
    for (const uint32_t f : cells_[c].facets)
      for (const uint32_t h : facets_[f].ring)
        if (edges_[h >> 1].child == kNoIndex && points_.side(from(h), plane) * points_.side(to(h), plane) < 0)
          splitEdge(h >> 1, plane);
  renewRings();
  for (const uint32_t c : cells) {
    const size_t count = cells_[c].facets.size();
    for (size_t i = 0; i < count; ++i) splitFacet(cells_[c].facets[i], plane);
  }
  for (const uint32_t c : cells) splitCell(c, plane);
}

void TetCells::splitEdge(uint32_t e, uint32_t plane) {
  const CellEdge old = edges_[e];
  const uint32_t x = points_.addPoint(old.planes[0], old.planes[1], plane);
  edges_[e].child = u32(edges_.size());
  edges_.push_back({{old.points[0], x}, old.planes});
  edges_.push_back({{x, old.points[1]}, old.planes});
}

// Puts the parts of divided edges in their place.
void TetCells::renewRings() {
  for (uint32_t f = 0; f < facetCount_; ++f) {
    std::vector<uint32_t>& ring = facets_[f].ring;
    if (std::none_of(ring.begin(), ring.end(), [&](uint32_t h) { return edges_[h >> 1].child != kNoIndex; }))
      continue;
    ring_.clear();
    for (const uint32_t h : ring) {
      const uint32_t child = edges_[h >> 1].child;
      if (child == kNoIndex) {
        ring_.push_back(h);
      } else if ((h & 1) == 0) {
        ring_.push_back(2 * child);
        ring_.push_back(2 * (child + 1));
      } else {
        ring_.push_back(2 * (child + 1) + 1);
        ring_.push_back(2 * child + 1);
      }
    }
    ring.assign(ring_.begin(), ring_.end());
  }
}

void TetCells::splitFacet(uint32_t f, uint32_t plane) {
  size_t zero[2] = {}, zeros = 0;
  bool above = false, below = false;
  const size_t size = facets_[f].ring.size();
  for (size_t i = 0; i < size; ++i) {
    const int s = points_.side(from(facets_[f].ring[i]), plane);
    above = above || s > 0;
    below = below || s < 0;
    if (s == 0 && zeros < 2) zero[zeros] = i;
    zeros += s == 0;
  }
  if (!above || !below) return;
  assert(zeros == 2);
  const uint32_t added = newFacet();
  CellFacet &old = facets_[f], &part = facets_[added];
  part.plane = old.plane;
  part.cells = old.cells;
  part.cover = old.cover;
  const uint32_t e = u32(edges_.size());
  edges_.push_back({{from(old.ring[zero[0]]), from(old.ring[zero[1]])}, {old.plane, plane}});
  const auto at = [&](size_t i) { return old.ring.begin() + static_cast<std::ptrdiff_t>(i); };
  part.ring.assign(at(zero[0]), at(zero[1]));
  part.ring.push_back(2 * e + 1);
  ring_.assign(at(zero[1]), old.ring.end());
  ring_.insert(ring_.end(), old.ring.begin(), at(zero[0]));
  ring_.push_back(2 * e);
  old.ring.assign(ring_.begin(), ring_.end());
  for (const uint32_t c : part.cells)
    if (c != kNoIndex) cells_[c].facets.push_back(added);
}

void TetCells::splitCell(uint32_t c, uint32_t plane) {
  const uint32_t other = newCell(), lid = newFacet();
  cells_[other].origin = cells_[c].origin;
  chain_.clear();
  ring_.clear();
  for (const uint32_t f : cells_[c].facets) {
    CellFacet& facet = facets_[f];
    int s = 0;
    for (size_t i = 0; i < facet.ring.size() && s == 0; ++i) s = points_.side(from(facet.ring[i]), plane);
    if (s < 0) {
      cells_[other].facets.push_back(f);
      facet.cells[facet.cells[0] == c ? 0 : 1] = other;
      continue;
    }
    chain_.push_back(f);
    for (const uint32_t h : facet.ring)
      if (points_.side(from(h), plane) == 0 && points_.side(to(h), plane) == 0)
        ring_.push_back(facet.cells[0] == c ? h ^ 1u : h);  // the way back
  }
  cells_[c].facets.assign(chain_.begin(), chain_.end());
  CellFacet& facet = facets_[lid];
  facet.plane = plane;
  facet.cells = {c, other};
  facet.ring.push_back(ring_[0]);
  while (facet.ring.size() < ring_.size()) {
    const uint32_t end = to(facet.ring.back());
    const auto next = std::find_if(ring_.begin(), ring_.end(), [&](uint32_t h) { return from(h) == end; });
    assert(next != ring_.end());
    if (next == ring_.end()) break;
    facet.ring.push_back(*next);
  }
  cells_[c].facets.push_back(lid);
  cells_[other].facets.push_back(lid);
}

}  // namespace sunder::cut
