// The parts of a solid in one tetrahedron, by what its boundary is made of: polygons of the surface, and the
// regions that the contours leave on the faces. Two polygons bound the same part if they share an edge of the
// surface, or if their contours bound one region of the inside. That is followed along the edges of the
// tetrahedron, where regions go round corners, and by rays in the faces and in space for contours and
// polygons that lie within a region or within the solid.
#include "sunder/base/disjoint_sets.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/soft/cage/clip_surface.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace sunder::soft {

namespace {

using geometry::kTetFaces;

// Where the surface crosses an edge of the tetrahedron, from g to h.
struct EdgeCrossing {
  double s;  // 0 at g
  uint32_t polygon;
  bool outAtG;  // the side of g is outside
};

struct ContourSegment {
  uint32_t polygon;
  Vec2 a, b;  // in the direction of the polygon
  uint32_t loop = 0;
};

class PartFinder {
 public:
  PartFinder(const ClipSurface& surface, const geometry::TetMesh& cage, const SurfaceClips& clips,
             uint32_t tet, const Solid& solid)
      : mesh_(surface.mesh), cage_(cage), clips_(clips), tet_(cage.tets[tet]), solid_(solid) {
    begin_ = clips.trianglesOf.offsets[tet];
    count_ = clips.trianglesOf.offsets[tet + 1] - begin_;
    sets_.reset(count_ + 4);
  }

  TetParts run() {
    joinAcrossEdges();
    for (size_t g = 0; g < 4; ++g)
      for (size_t h = g + 1; h < 4; ++h) crossings_[g][h] = crossingsOf(g, h);
    findCorners();
    for (size_t g = 0; g < 4; ++g)
      for (size_t h = g + 1; h < 4; ++h) joinAlong(g, h);
    std::vector<uint8_t> bounded(count_, 0);
    for (size_t f = 0; f < 4; ++f) joinInFace(f, bounded);
    joinClosed(bounded);
    return number();
  }

 private:
  std::span<const ClipCorner> polygon(uint32_t i) const { return clips_.polygon(begin_ + i); }
  uint32_t triangle(uint32_t i) const { return clips_.trianglesOf.items[begin_ + i]; }
  uint32_t cornerNode(size_t k) const { return count_ + uint32_t(k); }
  Vec3 at(const ClipCorner& corner) const {
    Vec3 p = Vec3::Zero();
    for (int k = 0; k < 4; ++k) p += corner.weights[k] * cage_.positions[tet_[size_t(k)]];
    return p;
  }
  static size_t lowestBit(unsigned bits) {
    size_t k = 0;
    while (!(bits >> k & 1)) ++k;
    return k;
  }

  void joinAcrossEdges() {
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> first;
    for (uint32_t i = 0; i < count_; ++i) {
      const auto corners = polygon(i);
      const geometry::Triangle& t = mesh_.triangles[triangle(i)];
      for (size_t c = 0; c < corners.size(); ++c) {
        const unsigned edge = corners[c].edges & corners[(c + 1) % corners.size()].edges;
        if (edge == 0) continue;
        const size_t e = lowestBit(edge);
        const auto key = std::minmax(t[(e + 1) % 3], t[(e + 2) % 3]);
        const auto [place, added] = first.try_emplace({key.first, key.second}, i);
        if (!added) sets_.unite(place->second, i);
      }
    }
  }

  // Whether corner k is in front of the triangle of a polygon.
  bool inFront(uint32_t i, size_t k) const {
    const geometry::Triangle& t = mesh_.triangles[triangle(i)];
    const Vec3 &a = mesh_.positions[t[0]], &b = mesh_.positions[t[1]], &c = mesh_.positions[t[2]];
    return ((b - a).cross(c - a).dot(cage_.positions[tet_[k]] - a) > 0) != solid_.turned();
  }

  std::vector<EdgeCrossing> crossingsOf(size_t g, size_t h) const {
    std::vector<EdgeCrossing> result;
    const unsigned faces = 15u & ~(1u << g) & ~(1u << h);
    for (uint32_t i = 0; i < count_; ++i)
      for (const ClipCorner& corner : polygon(i))
        if (corner.faces == faces) {
          // The end that is further away tells the side more surely.
          const double s = corner.weights[int(h)];
          result.push_back({s, i, s > 0.5 ? inFront(i, g) : !inFront(i, h)});
        }
    std::stable_sort(result.begin(), result.end(), [](const EdgeCrossing& a, const EdgeCrossing& b) {
      return a.s < b.s || (a.s == b.s && a.outAtG && !b.outAtG);
    });
    return result;
  }

  void findCorners() {
    DisjointSets same(4);  // along edges without crossings
    std::array<int, 4> known{-1, -1, -1, -1};
    for (size_t g = 0; g < 4; ++g)
      for (size_t h = g + 1; h < 4; ++h) {
        const auto& crossings = crossings_[g][h];
        if (crossings.empty()) {
          same.unite(uint32_t(g), uint32_t(h));
        } else {
          known[g] = crossings.front().outAtG ? 0 : 1;
          known[h] = crossings.back().outAtG ? 1 : 0;
        }
      }
    for (uint32_t k = 0; k < 4; ++k)
      for (uint32_t j = 0; j < 4; ++j)
        if (known[k] < 0 && known[j] >= 0 && same.find(k) == same.find(j)) known[k] = known[j];
    for (size_t k = 0; k < 4; ++k)
      inside_[k] = known[k] >= 0 ? known[k] == 1 : solid_.inside(cage_.positions[tet_[k]]);
  }

  // Both ends of each stretch of the edge that is inside.
  void joinAlong(size_t g, size_t h) {
    const auto& crossings = crossings_[g][h];
    if (crossings.empty()) {
      if (inside_[g] && inside_[h]) sets_.unite(cornerNode(g), cornerNode(h));
      return;
    }
    if (!crossings.front().outAtG && inside_[g]) sets_.unite(cornerNode(g), crossings.front().polygon);
    if (crossings.back().outAtG && inside_[h]) sets_.unite(cornerNode(h), crossings.back().polygon);
    for (size_t i = 0; i + 1 < crossings.size(); ++i)
      if (crossings[i].outAtG || !crossings[i + 1].outAtG)
        sets_.unite(crossings[i].polygon, crossings[i + 1].polygon);
  }

  // Unites a polygon with the region of the inside at share s of the edge (g, h).
  void joinAtEdge(uint32_t i, size_t g, size_t h, double s) {
    if (g > h) std::swap(g, h), s = 1 - s;
    const auto& crossings = crossings_[g][h];
    const EdgeCrossing* before = nullptr;
    for (const EdgeCrossing& c : crossings)
      if (c.s <= s) before = &c;
    if (before)
      sets_.unite(i, before->polygon);
    else if (!crossings.empty())
      sets_.unite(i, crossings.front().polygon);
    else
      sets_.unite(i, cornerNode(g));
  }

  // The plane of face f: its first corner is (0, 0), the others are (1, 0) and (0, 1).
  Vec2 inFace(size_t f, const Vec4& weights) const {
    return {weights[int(kTetFaces[f][1])], weights[int(kTetFaces[f][2])]};
  }

  std::vector<ContourSegment> segmentsOf(size_t f) const {
    std::vector<ContourSegment> segments;
    for (uint32_t i = 0; i < count_; ++i) {
      const auto corners = polygon(i);
      for (size_t c = 0; c < corners.size(); ++c) {
        const ClipCorner &a = corners[c], &b = corners[(c + 1) % corners.size()];
        if ((a.faces & b.faces) >> f & 1) segments.push_back({i, inFace(f, a.weights), inFace(f, b.weights)});
      }
    }
    return segments;
  }

  // Unites polygon i with the region at p in face f, which is inside; contours of loop `own` do not count.
  void joinAtPoint(uint32_t i, size_t f, const Vec2& p, const std::vector<ContourSegment>& segments,
                   uint32_t own) {
    double nearest = std::numeric_limits<double>::infinity();
    uint32_t hit = kNoIndex;
    for (const ContourSegment& s : segments) {
      if (s.loop == own || (s.a.y() <= p.y()) == (s.b.y() <= p.y())) continue;
      const double x = s.a.x() + (p.y() - s.a.y()) / (s.b.y() - s.a.y()) * (s.b.x() - s.a.x());
      if (x < p.x() || x >= nearest) continue;
      nearest = x;
      hit = s.polygon;
    }
    if (hit != kNoIndex)
      sets_.unite(i, hit);
    else  // the ray leaves the face through the edge opposite to its first corner
      joinAtEdge(i, kTetFaces[f][1], kTetFaces[f][2], std::clamp(p.y(), 0.0, 1.0));
  }

  void joinInFace(size_t f, std::vector<uint8_t>& bounded) {
    std::vector<ContourSegment> segments = segmentsOf(f);
    if (segments.empty()) return;
    // Contours: segments that meet on an edge of the surface. Those that end at an edge of the tetrahedron
    // are joined already.
    DisjointSets loops(segments.size());
    std::vector<uint8_t> open(segments.size(), 0);
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> first;
    uint32_t at = 0;
    for (uint32_t i = 0; i < count_; ++i) {
      const auto corners = polygon(i);
      const geometry::Triangle& t = mesh_.triangles[triangle(i)];
      for (size_t c = 0; c < corners.size(); ++c) {
        const ClipCorner &a = corners[c], &b = corners[(c + 1) % corners.size()];
        if (!((a.faces & b.faces) >> f & 1)) continue;
        bounded[i] = 1;
        for (const ClipCorner* end : {&a, &b}) {
          if (end->edges == 0) {
            open[at] = 1;
            continue;
          }
          const size_t e = lowestBit(end->edges);
          const auto key = std::minmax(t[(e + 1) % 3], t[(e + 2) % 3]);
          const auto [place, added] = first.try_emplace({key.first, key.second}, at);
          if (!added) loops.unite(place->second, at);
        }
        ++at;
      }
    }
    std::vector<double> area(segments.size(), 0);
    std::vector<uint32_t> rightmost(segments.size(), kNoIndex);
    std::vector<uint8_t> ends(segments.size(), 0);
    for (uint32_t k = 0; k < segments.size(); ++k) {
      ContourSegment& s = segments[k];
      s.loop = loops.find(k);
      area[s.loop] += s.a.x() * s.b.y() - s.a.y() * s.b.x();
      ends[s.loop] |= open[k];
      if (rightmost[s.loop] == kNoIndex || s.a.x() > segments[rightmost[s.loop]].a.x()) rightmost[s.loop] = k;
    }
    for (uint32_t k = 0; k < segments.size(); ++k) {
      if (segments[k].loop != k || ends[k]) continue;
      // Seen from outside the solid is on the right: around a hole contours turn to the left.
      if ((area[k] > 0) == solid_.turned()) continue;
      const ContourSegment& from = segments[rightmost[k]];
      joinAtPoint(from.polygon, f, from.a, segments, k);
    }
  }

  // Closed patches, which reach no face: those that are cavities belong to the part around them.
  void joinClosed(const std::vector<uint8_t>& bounded) {
    std::map<uint32_t, double> volumes;
    std::vector<uint8_t> reaches(count_, 0);
    for (uint32_t i = 0; i < count_; ++i)
      if (bounded[i]) reaches[sets_.find(i)] = 1;
    for (uint32_t i = 0; i < count_; ++i) {
      const uint32_t set = sets_.find(i);
      if (set >= count_ || reaches[set]) continue;
      const geometry::Triangle& t = mesh_.triangles[triangle(i)];
      const Vec3 origin = cage_.positions[tet_[0]];
      volumes[set] += (mesh_.positions[t[0]] - origin)
                          .cross(mesh_.positions[t[1]] - origin)
                          .dot(mesh_.positions[t[2]] - origin);
    }
    for (const auto& [set, volume] : volumes)
      if ((volume < 0) != solid_.turned()) joinCavity(set);
  }

  void joinCavity(uint32_t set) {
    // A ray along x from the corner that is furthest there.
    uint32_t from = kNoIndex;
    Vec3 start = Vec3::Zero();
    for (uint32_t i = 0; i < count_; ++i) {
      if (sets_.find(i) != set) continue;
      for (const ClipCorner& corner : polygon(i)) {
        const Vec3 p = at(corner);
        if (from != kNoIndex && p.x() <= start.x()) continue;
        from = i;
        start = p;
      }
    }
    double nearest = std::numeric_limits<double>::infinity();
    uint32_t hit = kNoIndex;
    for (uint32_t i = 0; i < count_; ++i) {
      if (sets_.find(i) == set) continue;
      const auto corners = polygon(i);
      for (size_t c = 2; c < corners.size(); ++c) {
        const Vec3 a = at(corners[0]) - start, b = at(corners[c - 1]) - start, d = at(corners[c]) - start;
        const auto turn = [](const Vec3& p, const Vec3& q) { return p.y() * q.z() - p.z() * q.y(); };
        const double wa = turn(b, d), wb = turn(d, a), wd = turn(a, b), sum = wa + wb + wd;
        if (sum == 0 || wa * sum < 0 || wb * sum < 0 || wd * sum < 0) continue;
        const double x = (wa * a.x() + wb * b.x() + wd * d.x()) / sum;
        if (x < 0 || x >= nearest) continue;
        nearest = x;
        hit = i;
      }
    }
    if (hit != kNoIndex) {
      sets_.unite(from, hit);
      return;
    }
    // Through the face where the ray leaves the tetrahedron.
    double least = std::numeric_limits<double>::infinity();
    size_t face = 0;
    for (size_t f = 0; f < 4; ++f) {
      const Vec3 &a = cage_.positions[tet_[kTetFaces[f][0]]], &b = cage_.positions[tet_[kTetFaces[f][1]]],
                 &c = cage_.positions[tet_[kTetFaces[f][2]]];
      const Vec3 normal = (b - a).cross(c - a);
      if (!(normal.x() > 0)) continue;
      const double x = normal.dot(a - start) / normal.x();
      if (x < least) least = x, face = f;
    }
    if (!std::isfinite(least)) return;
    const Vec3 out = start + Vec3(least, 0, 0);
    const Vec3 &a = cage_.positions[tet_[kTetFaces[face][0]]], &b = cage_.positions[tet_[kTetFaces[face][1]]],
               &c = cage_.positions[tet_[kTetFaces[face][2]]];
    const Vec3 normal = (b - a).cross(c - a);
    const Vec2 p{(out - a).cross(c - a).dot(normal) / normal.squaredNorm(),
                 (b - a).cross(out - a).dot(normal) / normal.squaredNorm()};
    std::vector<ContourSegment> segments = segmentsOf(face);
    for (ContourSegment& s : segments) s.loop = 0;
    joinAtPoint(from, face, p, segments, kNoIndex);
  }

  TetParts number() {
    TetParts parts;
    parts.ofPolygon.resize(count_);
    std::map<uint32_t, uint32_t> numbers;
    const auto numberOf = [&](uint32_t node) {
      return numbers.try_emplace(sets_.find(node), uint32_t(numbers.size())).first->second;
    };
    for (uint32_t i = 0; i < count_; ++i) parts.ofPolygon[i] = numberOf(i);
    for (size_t k = 0; k < 4; ++k)
      if (inside_[k]) parts.ofCorner[k] = numberOf(cornerNode(k));
    parts.count = uint32_t(numbers.size());
    return parts;
  }

  const geometry::TriMesh& mesh_;
  const geometry::TetMesh& cage_;
  const SurfaceClips& clips_;
  const geometry::Tetrahedron tet_;
  const Solid& solid_;
  uint32_t begin_ = 0, count_ = 0;
  DisjointSets sets_;  // polygons, then the four corners
  std::array<std::array<std::vector<EdgeCrossing>, 4>, 4> crossings_;
  std::array<bool, 4> inside_{};
};

}  // namespace

TetParts tetParts(const ClipSurface& surface, const geometry::TetMesh& cage, const SurfaceClips& clips,
                  uint32_t tet, const Solid& solid) {
  return PartFinder(surface, cage, clips, tet, solid).run();
}

}  // namespace sunder::soft
