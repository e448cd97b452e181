#include "sunder/fracture/crack/crack_sheets.h"

#include "sunder/base/disjoint_sets.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/geometry/vector_area.h"

#include <algorithm>
#include <numeric>

namespace sunder::fracture {

namespace {
constexpr double kAlong = 1e-9;  // of a cut's values: less is none
}  // namespace

CrackSheets::CrackSheets(const CrackedMesh& mesh, std::span<const uint32_t> tetSource,
                         std::span<const uint32_t> vertexSource, std::span<const uint32_t> piece,
                         uint32_t pieces)
    : pieces_(pieces) {
  std::vector<uint32_t> order(mesh.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return tetSource[a] < tetSource[b]; });
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && tetSource[order[end]] == tetSource[order[begin]]) ++end;
    for (size_t i = begin; i < end; ++i)
      for (size_t j = begin; j < end; ++j) {
        const uint32_t a = order[i], b = order[j];
        if (piece[a] == piece[b]) continue;
        std::array<uint32_t, 4> vertices;
        for (size_t k = 0; k < 4; ++k) vertices[k] = vertexSource[mesh.mesh.tets[a][k]];
        meet(mesh, vertices, tetSource[a], a, b, piece);
      }
  }
  for (uint32_t t = 0; t < mesh.size(); ++t) {
    Vec3 middle = Vec3::Zero();
    if (mesh.cuts[t].empty()) {
      for (const Vec3& p : mesh.corners(t)) middle += p / 4;
    } else {
      const CutCell cell = makeCell(mesh.mesh.tets[t], mesh.corners(t), mesh.cuts[t]);
      for (const CutCell::Corner& c : cell.corners) middle += c.position / double(cell.corners.size());
    }
    middles_.push_back(middle);
    middlePiece_.push_back(piece[t]);
  }
  meets_.resize(pieces);
  for (const Polygon& p : polygons_) {
    const auto at = [&](size_t i) -> const Vec3& { return positions_[corners_[p.first + i].id]; };
    meets_[p.inner][p.outer] += 0.5 * geometry::twiceVectorArea(p.count, at).norm();
  }
  known_.clear();
  lines_.clear();
}

// The polygon in which the cell of copy `a` of a tetrahedron touches that of copy `b`: its face on the one
// crack that parts them, as far as the cuts of the other go. Those that only run along its edge, as planes
// between three Voronoi cells do, are left out: rounding would say where they cross it.
void CrackSheets::meet(const CrackedMesh& mesh, const std::array<uint32_t, 4>& vertices, uint32_t source,
                       uint32_t a, uint32_t b, std::span<const uint32_t> piece) {
  std::vector<Cut> cuts = mesh.cuts[a], others;
  uint32_t crack = kNoIndex;
  for (const Cut& cut : mesh.cuts[b]) {
    const auto own =
        std::find_if(cuts.begin(), cuts.end(), [&](const Cut& c) { return c.surface == cut.surface; });
    if (own == cuts.end()) {
      others.push_back(cut);
    } else if (own->side != cut.side) {
      if (crack != kNoIndex) return;  // an edge at most
      crack = cut.surface;
    }
  }
  if (crack == kNoIndex) return;
  const auto planeOf = [&] {
    return uint8_t(4 +
                   (std::find_if(cuts.begin(), cuts.end(), [&](const Cut& c) { return c.surface == crack; }) -
                    cuts.begin()));
  };
  CutCell cell = makeCell(vertices, mesh.corners(a), cuts);
  const CutCell::Face* face = cell.face(planeOf());
  if (!face) return;
  bool more = false;
  for (const Cut& cut : others) {
    double low = Box3::kInfinity, high = -Box3::kInfinity, size = 0;
    for (const double phi : cut.phi) size = std::max(size, std::abs(phi));
    for (const uint8_t i : cell.cornersOf(*face)) {
      const double value = cut.side * cell.value(cell.corners[i], cut.phi);
      low = std::min(low, value);
      high = std::max(high, value);
    }
    if (high <= kAlong * size) return;
    if (low >= -kAlong * size) continue;
    cuts.push_back(cut);
    more = true;
  }
  if (more) {
    std::sort(cuts.begin(), cuts.end(), [](const Cut& p, const Cut& q) { return p.surface < q.surface; });
    cell = makeCell(vertices, mesh.corners(a), cuts);
    face = cell.face(planeOf());
    if (!face) return;
  }
  const uint8_t plane = planeOf();
  polygons_.push_back({piece[a], piece[b], uint32_t(corners_.size()), face->count});
  const std::span<const uint8_t> loop = cell.cornersOf(*face);
  for (size_t i = 0; i < loop.size(); ++i) {
    const CutCell::Corner &c = cell.corners[loop[i]], &next = cell.corners[loop[(i + 1) % loop.size()]];
    const auto [found, fresh] = known_.try_emplace(c.key, uint32_t(positions_.size()));
    if (fresh) positions_.push_back(c.position);
    Corner corner{found->second, kNoIndex, false};
    for (const uint8_t p : c.planes) {
      if (p == plane || std::find(next.planes.begin(), next.planes.end(), p) == next.planes.end()) continue;
      std::array<uint32_t, 4> key{kNoIndex, source, crack, crack};
      if (p < 4) {
        size_t n = 0;
        for (size_t k = 0; k < 4; ++k)
          if (k != p) key[n++] = vertices[k];
        std::sort(key.begin(), key.begin() + 3);
        key[3] = crack;
      } else {
        key[2] = std::min(crack, cuts[p - 4u].surface);
        key[3] = std::max(crack, cuts[p - 4u].surface);
      }
      corner.line = lines_.try_emplace(key, uint32_t(lines_.size())).first->second;
      corner.atFace = p < 4;
      break;
    }
    corners_.push_back(corner);
  }
}

// Loops of the polygons of the sheet, with the corners that others of them have on an edge.
std::vector<std::vector<CrackSheets::Corner>> CrackSheets::loops(std::span<const Group> groups) const {
  std::vector<std::vector<Corner>> out;
  std::vector<std::pair<uint32_t, uint32_t>> onLine;  // lines and corners on them
  for (const Polygon& polygon : polygons_) {
    if (groups[polygon.inner] != Group::First || groups[polygon.outer] != Group::Second) continue;
    const auto* first = &corners_[polygon.first];
    out.emplace_back(first, first + polygon.count);
    for (uint32_t i = 0; i < polygon.count; ++i)
      if (first[i].line != kNoIndex) {
        onLine.emplace_back(first[i].line, first[i].id);
        onLine.emplace_back(first[i].line, first[(i + 1) % polygon.count].id);
      }
  }
  std::sort(onLine.begin(), onLine.end());
  onLine.erase(std::unique(onLine.begin(), onLine.end()), onLine.end());
  std::vector<std::pair<double, uint32_t>> between;
  for (std::vector<Corner>& loop : out) {
    std::vector<Corner> full;
    for (size_t i = 0; i < loop.size(); ++i) {
      const Corner& c = loop[i];
      const uint32_t next = loop[(i + 1) % loop.size()].id;
      full.push_back(c);
      if (c.line == kNoIndex) continue;
      const auto begin = std::lower_bound(onLine.begin(), onLine.end(), std::pair(c.line, 0u)),
                 end = std::lower_bound(begin, onLine.end(), std::pair(c.line + 1, 0u));
      if (end - begin <= 2) continue;
      const Vec3 from = positions_[c.id], way = positions_[next] - from;
      between.clear();
      for (auto it = begin; it != end; ++it) {
        const double part = (positions_[it->second] - from).dot(way) / way.squaredNorm();
        if (it->second != c.id && it->second != next && part > kAlong && part < 1 - kAlong)
          between.emplace_back(part, it->second);
      }
      std::sort(between.begin(), between.end());
      for (const auto& [part, p] : between) full.push_back({p, c.line, c.atFace});
    }
    loop = std::move(full);
  }
  return out;
}

CrackSheets::Contact CrackSheets::contact(uint32_t piece, std::span<const Group> groups) const {
  Contact out;
  for (const auto& [other, area] : meets_[piece]) {
    if (groups[other] == Group::None) continue;
    ++out.pieces;
    out.area += area;
  }
  return out;
}

uint32_t CrackSheets::nearest(const Vec3& point, std::span<const Group> groups) const {
  double best = Box3::kInfinity;
  uint32_t piece = kNoIndex;
  for (size_t i = 0; i < middles_.size(); ++i) {
    if (groups[middlePiece_[i]] == Group::None) continue;
    const double distance = (middles_[i] - point).squaredNorm();
    if (distance < best) {
      best = distance;
      piece = middlePiece_[i];
    }
  }
  return piece;
}

CrackSheet CrackSheets::between(std::span<const Group> groups, uint32_t parts) const {
  // Edges of the polygons of the first group, one polygon after the other.
  struct Edge {
    uint32_t from, to, corner, next;  // points; places in `loops`
    bool atFace;
  };
  std::vector<Edge> edges;
  std::vector<uint32_t> start{0};
  for (const std::vector<Corner>& loop : loops(groups)) {
    const uint32_t base = start.back(), n = uint32_t(loop.size());
    for (uint32_t i = 0; i < n; ++i)
      edges.push_back({loop[i].id, loop[(i + 1) % n].id, base + i, base + (i + 1) % n, loop[i].atFace});
    start.push_back(base + n);
  }
  // Corners are one vertex where their polygons share an edge.
  std::vector<uint32_t> order(edges.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto key = [&](uint32_t e) {
    return std::array<uint32_t, 2>{std::min(edges[e].from, edges[e].to),
                                   std::max(edges[e].from, edges[e].to)};
  };
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return key(a) != key(b) ? key(a) < key(b) : a < b; });
  DisjointSets sets(edges.size());
  std::vector<uint8_t> isRim(edges.size(), 0);
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && key(order[end]) == key(order[begin])) ++end;
    const Edge &a = edges[order[begin]], &b = edges[order[end - 1]];
    if (end - begin == 2 && a.from == b.to) {
      sets.unite(a.corner, b.next);
      sets.unite(a.next, b.corner);
    } else {
      for (size_t i = begin; i < end; ++i) isRim[order[i]] = 1;
    }
  }
  CrackSheet sheet;
  std::vector<uint32_t> number(edges.size(), kNoIndex);
  const auto vertex = [&](uint32_t corner) {
    uint32_t& n = number[sets.find(corner)];
    if (n == kNoIndex) {
      n = uint32_t(sheet.mesh.positions.size());
      sheet.mesh.positions.push_back(positions_[edges[corner].from]);
    }
    return n;
  };
  std::map<uint32_t, uint32_t> rimOf;  // by vertex
  const auto rim = [&](uint32_t v, const Vec3& outward, bool atSurface) {
    const auto [found, fresh] = rimOf.try_emplace(v, uint32_t(sheet.rim.size()));
    if (fresh) sheet.rim.push_back({v, Vec3::Zero(), false, false});
    CrackSheet::RimVertex& r = sheet.rim[found->second];
    r.outward += outward;
    (atSurface ? r.atSurface : r.atCrack) = true;
    return found->second;
  };
  std::vector<uint32_t> loop;
  for (size_t p = 0; p + 1 < start.size(); ++p) {
    Vec3 normal = Vec3::Zero();
    const Vec3 origin = positions_[edges[start[p]].from];
    for (uint32_t e = start[p]; e < start[p + 1]; ++e)
      normal += (positions_[edges[e].from] - origin).cross(positions_[edges[e].to] - origin);
    loop.clear();
    bool straight = false;  // has corners in the middle of an edge
    for (uint32_t e = start[p]; e < start[p + 1]; ++e) {
      loop.push_back(vertex(e));
      if (!isRim[e]) continue;
      const Vec3 from = positions_[edges[e].from], way = positions_[edges[e].to] - from;
      const Vec3 outward = way.cross(normal).normalized();
      uint32_t last = rim(loop.back(), outward, edges[e].atFace);
      for (uint32_t k = 1; edges[e].atFace && k < parts; ++k) {
        loop.push_back(uint32_t(sheet.mesh.positions.size()));
        sheet.mesh.positions.push_back(from + way * (double(k) / parts));
        const uint32_t next = rim(loop.back(), outward, true);
        sheet.rimEdges.push_back({last, next});
        last = next;
        straight = true;
      }
      sheet.rimEdges.push_back({last, rim(vertex(edges[e].next), outward, edges[e].atFace)});
    }
    straight |= loop.size() > 4;
    const auto n = uint32_t(loop.size());
    if (!straight) {
      for (uint32_t k = 1; k + 1 < n; ++k) sheet.mesh.triangles.push_back({loop[0], loop[k], loop[k + 1]});
      continue;
    }
    Vec3 middle = Vec3::Zero();
    for (uint32_t e = start[p]; e < start[p + 1]; ++e)
      middle += positions_[edges[e].from] / double(start[p + 1] - start[p]);
    const auto centre = uint32_t(sheet.mesh.positions.size());
    sheet.mesh.positions.push_back(middle);
    for (uint32_t k = 0; k < n; ++k) sheet.mesh.triangles.push_back({loop[k], loop[(k + 1) % n], centre});
  }
  for (CrackSheet::RimVertex& v : sheet.rim) v.outward.normalize();
  return sheet;
}

}  // namespace sunder::fracture
