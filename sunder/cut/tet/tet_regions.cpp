#include "sunder/cut/tet/tet_regions.h"

#include "sunder/base/hash.h"
#include "sunder/geometry/rows.h"
#include "sunder/geometry/tet_mesh.h"

#include <algorithm>

namespace sunder::cut {

using geometry::kTetFaces;
using geometry::u32;

namespace {

constexpr uint32_t kLid = 4;

}  // namespace

uint32_t TetRegions::surfaceOf(const CellFacet& f) const {
  if (f.cells[1] == kNoIndex) return f.plane;
  if (f.cover.empty()) return kNoIndex;
  return kLid + *std::min_element(f.cover.begin(), f.cover.end());
}

uint32_t TetRegions::next(uint32_t place) const {
  const uint32_t f = facetOf_[place];
  return place + 1 == facetStart_[f + 1] ? facetStart_[f] : place + 1;
}

// Rings of lids run counter-clockwise seen from above.
void TetRegions::orient(TetCells& cells) {
  const uint32_t count = cells.facets();
  surface_.assign(count, kNoIndex);
  above_.assign(count, kNoIndex);
  below_.assign(count, kNoIndex);
  facetStart_.assign(1, 0);
  halfedge_.clear();
  facetOf_.clear();
  order_.clear();
  for (uint32_t f = 0; f < count; ++f) {
    const CellFacet& facet = cells.facet(f);
    surface_[f] = surfaceOf(facet);
    if (surface_[f] != kNoIndex) {
      order_.push_back(f);
      bool back = false;
      if (surface_[f] >= kLid) {
        back = cells.isAbove(facet.cells[0], cells.inserted(surface_[f] - kLid).plane);
        above_[f] = facet.cells[back ? 0 : 1];
        below_[f] = facet.cells[back ? 1 : 0];
      }
      if (back)
        for (size_t i = facet.ring.size(); i > 0; --i) halfedge_.push_back(facet.ring[i - 1] ^ 1u);
      else
        halfedge_.insert(halfedge_.end(), facet.ring.begin(), facet.ring.end());
      facetOf_.resize(halfedge_.size(), f);
    }
    facetStart_.push_back(u32(halfedge_.size()));
  }
  std::sort(order_.begin(), order_.end(), [&](uint32_t a, uint32_t b) {
    return surface_[a] != surface_[b] ? surface_[a] < surface_[b] : a < b;
  });
}

void TetRegions::findIncidence(const TetCells& cells) {
  edgeStart_.assign(cells.edges() + 1, 0);
  for (const uint32_t h : halfedge_) ++edgeStart_[h >> 1];
  edgeStart_.back() = 0;
  places_.resize(geometry::countsToOffsets(edgeStart_));
  // Filled from the back of each row.
  for (size_t i = 0; i < halfedge_.size(); ++i) ++edgeStart_[halfedge_[i] >> 1];
  for (uint32_t i = u32(halfedge_.size()); i > 0; --i) places_[--edgeStart_[halfedge_[i - 1] >> 1]] = i - 1;

  alongStart_.assign(1, 0);
  along_.clear();
  for (uint32_t e = 0; e < cells.edges(); ++e) {
    const size_t first = along_.size();
    for (uint32_t i = edgeStart_[e]; i < edgeStart_[e + 1]; ++i) {
      const auto& cover = cells.facet(facetOf_[places_[i]]).cover;
      along_.insert(along_.end(), cover.begin(), cover.end());
    }
    std::sort(along_.begin() + static_cast<std::ptrdiff_t>(first), along_.end());
    along_.erase(std::unique(along_.begin() + static_cast<std::ptrdiff_t>(first), along_.end()),
                 along_.end());
    alongStart_.push_back(u32(along_.size()));
  }
  atPoint_.clear();
  for (const uint32_t f : order_)
    if (surface_[f] >= kLid)
      for (uint32_t i = facetStart_[f]; i < facetStart_[f + 1]; ++i)
        for (const uint32_t t : cells.facet(f).cover) atPoint_.push_back({cells.from(halfedge_[i]), t});
  std::sort(atPoint_.begin(), atPoint_.end());
  atPoint_.erase(std::unique(atPoint_.begin(), atPoint_.end()), atPoint_.end());
}

// Across an edge with nothing of another sheet: the corner of the other facet there.
void TetRegions::findTwins() {
  twin_.assign(halfedge_.size(), kNoIndex);
  for (size_t e = 0; e + 1 < edgeStart_.size(); ++e) {
    const uint32_t first = edgeStart_[e], last = edgeStart_[e + 1];
    if (last - first == 2 && surface_[facetOf_[places_[first]]] == surface_[facetOf_[places_[first + 1]]]) {
      twin_[places_[first]] = places_[first + 1];
      twin_[places_[first + 1]] = places_[first];
    }
  }
}

void TetRegions::joinRegions() {
  regions_.reset(surface_.size());
  for (uint32_t i = 0; i < twin_.size(); ++i)
    if (twin_[i] != kNoIndex) regions_.unite(facetOf_[i], facetOf_[twin_[i]]);
}

// How many edges between regions end at each point, of the surface alone that the corner is on.
void TetRegions::countEdges(const TetCells& cells) {
  degree_.assign(halfedge_.size(), 0);
  edgeSeen_.assign(cells.edges(), kNoIndex);
  std::vector<uint32_t>& count = corners_;
  uint32_t most = 0;
  for (const uint32_t h : halfedge_) most = std::max(most, cells.from(h));
  count.assign(most + 1, 0);
  for (size_t i = 0; i < order_.size();) {
    size_t end = i;
    const uint32_t surface = surface_[order_[i]];
    while (end < order_.size() && surface_[order_[end]] == surface) ++end;
    for (size_t n = i; n < end; ++n)
      for (uint32_t p = facetStart_[order_[n]]; p < facetStart_[order_[n] + 1]; ++p) {
        const uint32_t e = halfedge_[p] >> 1;
        if (twin_[p] != kNoIndex || edgeSeen_[e] == surface) continue;
        edgeSeen_[e] = surface;
        ++count[cells.from(halfedge_[p])];
        ++count[cells.to(halfedge_[p])];
      }
    for (size_t n = i; n < end; ++n)
      for (uint32_t p = facetStart_[order_[n]]; p < facetStart_[order_[n] + 1]; ++p)
        degree_[p] = count[cells.from(halfedge_[p])];
    for (size_t n = i; n < end; ++n)
      for (uint32_t p = facetStart_[order_[n]]; p < facetStart_[order_[n] + 1]; ++p)
        count[cells.from(halfedge_[p])] = 0;
    i = end;
  }
}

// Is there a corner between two half-edges of a border? Not where one line goes on with the same triangles.
bool TetRegions::isCorner(TetCells& cells, uint32_t before, uint32_t after) const {
  if (degree_[after] != 2) return true;
  const uint32_t e = halfedge_[before] >> 1, f = halfedge_[after] >> 1;
  if (e == f || !std::ranges::equal(facesAlong(e), facesAlong(f))) return true;
  // Different planes may have drawn the same line.
  for (const uint32_t plane : cells.edge(e).planes)
    if (cells.points().side(cells.to(halfedge_[after]), plane) != 0) return true;
  return false;
}

// Loops of the borders of regions, as places; those without corners left out.
void TetRegions::traceLoops(TetCells& cells) {
  seen_.assign(halfedge_.size(), 0);
  loops_.clear();
  loopStart_.assign(1, 0);
  loopsOf_.clear();
  for (const uint32_t f : order_)
    for (uint32_t p = facetStart_[f]; p < facetStart_[f + 1]; ++p) {
      if (twin_[p] != kNoIndex || seen_[p] != 0) continue;
      ring_.clear();
      for (uint32_t at = p; seen_[at] == 0;) {
        seen_[at] = 1;
        ring_.push_back(at);
        at = next(at);
        while (twin_[at] != kNoIndex) at = next(twin_[at]);
      }
      for (size_t i = 0; i < ring_.size(); ++i)
        if (isCorner(cells, ring_[i == 0 ? ring_.size() - 1 : i - 1], ring_[i])) loops_.push_back(ring_[i]);
      loopStart_.push_back(u32(loops_.size()));
      loopsOf_.push_back(regions_.find(f));
    }
}

Vec3 TetRegions::positionOf(TetCells& cells, uint32_t point) {
  if (point < placed_.size() && placed_[point] != 0) return position_[point];
  if (point >= placed_.size()) {
    placed_.resize(point + 1, 0);
    position_.resize(point + 1);
  }
  placed_[point] = 1;
  PlanePoints& points = cells.points();
  const CutSheets& sheets = points.sheets();
  const unsigned on = points.onFaces(point);
  const auto first = std::lower_bound(atPoint_.begin(), atPoint_.end(), std::array<uint32_t, 2>{point, 0});
  auto last = first;
  while (last != atPoint_.end() && (*last)[0] == point) ++last;
  Vec3& out = position_[point];
  if (point < 4 || first == last) return out = points.position(point);
  const auto& tet = points.tet();
  uint32_t vertices[4], count = 0;  // of the tetrahedron's feature that the point is on
  for (uint32_t v = 0; v < 4; ++v)
    if ((on >> v & 1u) == 0) vertices[count++] = v;
  if (count == 2)
    return out = sheets.plane((*first)[1]).crossing(tet[vertices[0]], tet[vertices[1]]).position;
  // Corners and edges of sheets.
  for (auto i = first; i != last; ++i) {
    const TetCells::Inserted& t = cells.inserted((*i)[1]);
    const geometry::Triangle& corner = sheets.triangle(t.face);
    bool at[3];
    for (size_t k = 0; k < 3; ++k) at[k] = points.side(point, t.walls[k]) == 0;
    for (size_t k = 0; k < 3; ++k)
      if (at[k] && at[(k + 2) % 3]) return out = sheets.point(corner[k]);
    for (size_t k = 0; k < 3; ++k) {
      if (!at[k]) continue;
      const Vec3 &p = sheets.point(corner[k]), &q = sheets.point(corner[(k + 1) % 3]);
      if (count == 3) {
        // The tetrahedron across has the same face with its corners in another order.
        Corners3 f{&tet[vertices[0]], &tet[vertices[1]], &tet[vertices[2]]};
        const auto before = [](const Vec3* a, const Vec3* b) {
          return std::lexicographical_compare(a->data(), a->data() + 3, b->data(), b->data() + 3);
        };
        if (before(f.b, f.a)) std::swap(f.a, f.b);
        if (before(f.c, f.b)) std::swap(f.b, f.c);
        if (before(f.b, f.a)) std::swap(f.a, f.b);
        return out = crossing(p, q, f).position;
      }
    }
  }
  if (count == 3) {
    // Where two triangles cross in the face: the first two that are not in one plane.
    uint32_t face = 0;
    while ((on >> face & 1u) == 0) ++face;
    const uint32_t plane = cells.inserted((*first)[1]).plane;
    for (auto i = first + 1; i != last; ++i) {
      const uint32_t other = cells.inserted((*i)[1]).plane;
      if (!points.areParallel(plane, other)) return out = points.meetingPoint(face, plane, other);
    }
  }
  return out = points.position(point);
}

RimCorner TetRegions::rimCorner(TetCells& cells, uint32_t point) {
  PlanePoints& points = cells.points();
  RimCorner out{.faces = static_cast<uint8_t>(points.onFaces(point))};
  if (point < 4) return out;
  corners_.clear();
  for (auto i = std::lower_bound(atPoint_.begin(), atPoint_.end(), std::array<uint32_t, 2>{point, 0});
       i != atPoint_.end() && (*i)[0] == point; ++i) {
    const TetCells::Inserted& t = cells.inserted((*i)[1]);
    uint32_t at = 0;
    for (size_t k = 0; k < 3; ++k) at |= points.side(point, t.walls[k]) == 0 ? 1u << k : 0u;
    corners_.push_back(t.face);
    corners_.push_back(at);
  }
  out.name = hash64(corners_) | 1u;
  return out;
}

void TetRegions::addPiece(TetCells& cells, std::span<const uint32_t> points, TetPiece piece, SheetsCut& out) {
  piece.first = u32(out.corners.size());
  piece.count = u32(points.size());
  for (const uint32_t p : points) out.corners.push_back(positionOf(cells, p));
  out.pieces.push_back(piece);
}

void TetRegions::emit(TetCells& cells, std::span<const uint32_t> fragmentOf, SheetsCut& out) {
  const CutSheets& sheets = cells.points().sheets();
  placed_.clear();
  const auto add = [&](uint32_t f, std::span<const uint32_t> points) {
    const uint32_t surface = surface_[f];
    if (surface < kLid) {
      addPiece(cells, points, {.fragment = fragmentOf[cells.facet(f).cells[0]], .face = uint8_t(surface)},
               out);
      return;
    }
    const uint32_t sheet = sheets.sheetOf(surface - kLid);
    TetPiece lid{.fragment = fragmentOf[below_[f]],
                 .sheet = static_cast<uint16_t>(sheet),
                 .sheetFace = surface - kLid - sheets.firstFace(sheet)};
    addPiece(cells, points, lid, out);
    lid = out.pieces.back();
    lid.fragment = fragmentOf[above_[f]];
    lid.reversed = true;
    out.pieces.push_back(lid);
  };
  // Loops come by surface and facet; a region's loops need not follow each other.
  std::vector<uint32_t>& count = loopCount_;
  count.assign(surface_.size(), 0);
  for (const uint32_t r : loopsOf_) ++count[r];
  for (size_t loop = 0; loop < loopsOf_.size(); ++loop) {
    const uint32_t region = loopsOf_[loop];
    if (count[region] != 1) continue;
    ring_.clear();
    for (uint32_t i = loopStart_[loop]; i < loopStart_[loop + 1]; ++i)
      ring_.push_back(cells.from(halfedge_[loops_[i]]));
    add(region, ring_);
  }
  for (const uint32_t f : order_) {
    if (count[regions_.find(f)] == 1) continue;
    out.bridged = true;
    ring_.clear();
    for (uint32_t p = facetStart_[f]; p < facetStart_[f + 1]; ++p) ring_.push_back(cells.from(halfedge_[p]));
    add(f, ring_);
  }
  // Regions of the faces with the rims of all their loops.
  for (const uint32_t f : order_) {
    if (surface_[f] >= kLid || regions_.find(f) != f) continue;
    FaceRegion region{.face = static_cast<uint8_t>(surface_[f]),
                      .fragment = fragmentOf[cells.facet(f).cells[0]],
                      .first = u32(out.rim.size()),
                      .count = 0};
    for (size_t loop = 0; loop < loopsOf_.size(); ++loop) {
      if (loopsOf_[loop] != f) continue;
      const uint32_t first = loopStart_[loop], size = loopStart_[loop + 1] - first;
      const size_t begin = out.rim.size();
      for (uint32_t i = 0; i < size; ++i)
        out.rim.push_back({rimCorner(cells, cells.from(halfedge_[loops_[first + i]])), {}});
      for (uint32_t i = 0; i < size; ++i) out.rim[begin + i][1] = out.rim[begin + (i + 1) % size][0];
    }
    region.count = u32(out.rim.size()) - region.first;
    out.regions.push_back(region);
  }
}

void TetRegions::trace(TetCells& cells, std::span<const uint32_t> fragmentOf, SheetsCut& out) {
  orient(cells);
  findIncidence(cells);
  findTwins();
  joinRegions();
  countEdges(cells);
  traceLoops(cells);
  emit(cells, fragmentOf, out);
}

}  // namespace sunder::cut
