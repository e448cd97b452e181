// The closed surface of a cracked mesh. Corners of cells are one vertex where their cells hang together on a
// face that has both. Where a crack ends in a face, the two cells on its sides meet there too, and the points
// in which it crosses the edges of that face are inserted into whatever else has the edge; so are those in
// which it crosses other cracks on that face, into edges of the other cracks.
// An edge between two points of a crack's end that does not run along that end has a twin on the other side
// of the crack; each gets a point in its middle, so that they stay two edges.
#include "sunder/base/disjoint_sets.h"
#include "sunder/fracture/crack/cracked_mesh.h"
#include "sunder/geometry/tet_mesh.h"

#include <algorithm>
#include <map>
#include <set>

namespace sunder::fracture {

namespace {

struct SurfaceMaker {
  const CrackedMesh& mesh;
  std::span<const CutCell> cells;
  std::vector<uint32_t> first = {};  // number of a tetrahedron's first corner
  DisjointSets sets = {};
  // Where cracks end on an edge of the mesh: corner and its part of the way from the lower vertex.
  struct TipPoint {
    double part;
    uint32_t corner, surface;
  };
  std::map<std::pair<uint32_t, uint32_t>, std::vector<TipPoint>> tips = {};
  // The same on the line of another crack across a face: by the face, that crack and its side.
  struct CrossPoint {
    Vec3 at;
    uint32_t corner, surface;
  };
  using FaceLine = std::array<uint32_t, 4>;
  std::map<FaceLine, std::vector<CrossPoint>> crossings = {};
  std::set<std::pair<uint32_t, uint32_t>> ends = {};  // 4 * tetrahedron + face, a crack of it that ends there
  std::vector<char> front = {};                       // corner at the end of a crack, by its set
  using TwinKey = std::array<uint32_t, 4>;
  std::map<TwinKey, uint32_t> twins = {};  // vertices in the middle of such edges
  std::vector<char> ending = {};           // vertex at the end of a crack
  std::vector<char> shown = {};            // vertex of the mesh that may be on the surface
  std::vector<uint32_t> loop = {};         // of the face at hand
  std::vector<uint32_t> number = {};       // of a corner's set in the result
  CrackedSurface out = {};

  bool cut(uint32_t t) const { return !mesh.cuts[t].empty(); }
  CornerKey key(uint32_t t, uint32_t corner) const {
    if (cut(t)) return cells[t].corners[corner].key;
    CornerKey k;
    k.vertices.fill(kNoIndex);
    k.surfaces.fill(kNoIndex);
    k.vertices[0] = mesh.mesh.tets[t][corner];
    return k;
  }
  bool sameKey(const CornerKey& k, uint32_t t, uint32_t corner) const {
    if (cut(t)) return cells[t].corners[corner].key == k;
    return k.vertices[0] == mesh.mesh.tets[t][corner] && k.vertices[1] == kNoIndex;
  }
  Vec3 position(uint32_t t, uint32_t corner) const {
    return cut(t) ? cells[t].corners[corner].position : mesh.mesh.positions[mesh.mesh.tets[t][corner]];
  }
  // Corners of a face of the tetrahedron itself.
  std::span<const uint8_t> faceCorners(uint32_t t, uint8_t side) const {
    if (!cut(t)) return geometry::kTetFaces[side];
    const CutCell::Face* face = cells[t].face(side);
    return face ? cells[t].cornersOf(*face) : std::span<const uint8_t>{};
  }

  void unite(uint32_t a, uint8_t sideA, uint32_t b, uint8_t sideB) {
    const std::span<const uint8_t> ca = faceCorners(a, sideA), cb = faceCorners(b, sideB);
    if (!cut(a) && !cut(b)) {
      for (const uint8_t i : ca) {
        if (!shown[mesh.mesh.tets[a][i]]) continue;
        for (const uint8_t j : cb)
          if (mesh.mesh.tets[a][i] == mesh.mesh.tets[b][j]) sets.unite(first[a] + i, first[b] + j);
      }
      return;
    }
    // A corner is on one of the other's corners at most.
    for (const uint8_t i : ca) {
      const CornerKey of = key(a, i);
      for (const uint8_t j : cb) {
        if (!sameKey(of, b, j)) continue;
        sets.unite(first[a] + i, first[b] + j);
        break;
      }
    }
  }

  FaceLine lineOn(uint32_t t, uint8_t side, uint32_t surface) const {
    std::array<uint32_t, 3> v = geometry::tetFace(mesh.mesh.tets[t], side);
    std::sort(v.begin(), v.end());
    const auto cut = std::find_if(mesh.cuts[t].begin(), mesh.cuts[t].end(),
                                  [&](const Cut& c) { return c.surface == surface; });
    return {v[0], v[1], v[2], 2 * surface + (cut->side > 0)};
  }

  bool cutBy(uint32_t t, uint32_t surface) const {
    return std::any_of(mesh.cuts[t].begin(), mesh.cuts[t].end(),
                       [&](const Cut& c) { return c.surface == surface; });
  }

  // Cracks of a cell that its neighbour on a face does not have.
  void noteTips(uint32_t t, uint8_t side, uint32_t neighbour) {
    for (const Cut& c : mesh.cuts[t])
      if (!cutBy(neighbour, c.surface)) ends.emplace(4 * t + side, c.surface);
    for (const uint8_t i : faceCorners(t, side)) {
      const CornerKey k = key(t, i);
      for (const uint32_t surface : k.surfaces)
        if (surface != kNoIndex && !cutBy(neighbour, surface)) front[sets.find(first[t] + i)] = 1;
      if (k.surfaces[1] != kNoIndex && k.surfaces[2] == kNoIndex)
        for (const bool second : {false, true})
          crossings[lineOn(t, side, k.surfaces[second])].push_back(
              {position(t, i), first[t] + i, k.surfaces[!second]});
      if (k.vertices[1] == kNoIndex || k.vertices[2] != kNoIndex) continue;
      const CutCell::Corner& corner = cells[t].corners[i];
      double part = 0;
      for (size_t v = 0; v < 4; ++v)
        if (mesh.mesh.tets[t][v] == k.vertices[1]) part = corner.weights[v];
      tips[{k.vertices[0], k.vertices[1]}].push_back({part, first[t] + i, k.surfaces[0]});
    }
  }

  uint32_t vertex(uint32_t corner, const Vec3& at) {
    uint32_t& n = number[sets.find(corner)];
    if (n == kNoIndex) {
      n = uint32_t(out.mesh.positions.size());
      out.mesh.positions.push_back(at);
      ending.resize(n + 1, 0);
      ending[n] = front[sets.find(corner)];
    }
    return n;
  }

  // The edge of the mesh that both corners lie on, if there is one.
  static bool commonEdge(const CornerKey& a, const CornerKey& b, std::pair<uint32_t, uint32_t>& edge) {
    if (a.vertices[2] != kNoIndex || b.vertices[2] != kNoIndex) return false;
    std::array<uint32_t, 4> all{a.vertices[0], a.vertices[1], b.vertices[0], b.vertices[1]};
    std::sort(all.begin(), all.end());
    const auto end = std::unique(all.begin(), all.end());
    const auto count = std::count_if(all.begin(), end, [](uint32_t v) { return v != kNoIndex; });
    if (count != 2) return false;
    edge = {all[0], all[1]};
    return true;
  }

  double partOn(const std::pair<uint32_t, uint32_t>& edge, uint32_t t, uint32_t corner) const {
    const CornerKey k = key(t, corner);
    if (k.vertices[1] == kNoIndex) return k.vertices[0] == edge.second ? 1 : 0;
    for (size_t v = 0; v < 4; ++v)
      if (mesh.mesh.tets[t][v] == edge.second) return cells[t].corners[corner].weights[v];
    return 0;
  }

  // The plane besides that of a face that the edge from a to b lies on.
  uint8_t otherPlane(uint32_t t, uint8_t plane, uint8_t a, uint8_t b) const {
    const auto &p = cells[t].corners[a].planes, &q = cells[t].corners[b].planes;
    uint8_t other = plane;
    for (const uint8_t i : p)
      if (i != plane && std::find(q.begin(), q.end(), i) != q.end()) other = i;
    return other;
  }

  // Points in which cracks that end there cross the edge of a lid, from a to b.
  void addCrossings(uint32_t t, uint8_t plane, uint8_t a, uint8_t b, std::vector<uint32_t>& loop) {
    const uint8_t side = otherPlane(t, plane, a, b);
    if (plane < 4 || side >= 4) return;
    const auto found = crossings.find(lineOn(t, side, mesh.cuts[t][plane - 4u].surface));
    if (found == crossings.end()) return;
    const Vec3 from = position(t, a), way = position(t, b) - from;
    std::vector<std::pair<double, const CrossPoint*>> between;
    for (const CrossPoint& p : found->second) {
      const double part = (p.at - from).dot(way) / way.squaredNorm();
      if (part > 0 && part < 1 && !cutBy(t, p.surface)) between.emplace_back(part, &p);
    }
    std::sort(between.begin(), between.end());
    for (const auto& [part, p] : between)
      if (const uint32_t v = vertex(p->corner, p->at); v != loop.back()) loop.push_back(v);
  }

  // The vertex in the middle of the edge from a to b of a face, where it needs one.
  uint32_t twin(uint32_t t, uint8_t plane, uint8_t a, uint8_t b) {
    const uint32_t rootA = sets.find(first[t] + a), rootB = sets.find(first[t] + b);
    if (!front[rootA] || !front[rootB]) return kNoIndex;
    const CutCell& cell = cells[t];
    const uint8_t other = otherPlane(t, plane, a, b);
    const uint8_t low = std::min(plane, other), high = std::max(plane, other);
    if (high < 4) return kNoIndex;
    if (low < 4 && ends.contains({4 * t + low, mesh.cuts[t][high - 4u].surface})) return kNoIndex;
    const auto sign = [&](uint8_t p) {
      const Cut& c = mesh.cuts[t][p - 4u];
      return 2 * c.surface + (c.side > 0);
    };
    const TwinKey k{std::min(rootA, rootB), std::max(rootA, rootB), sign(high),
                    low < 4 ? kNoIndex : sign(low)};
    const auto [found, fresh] = twins.try_emplace(k, uint32_t(out.mesh.positions.size()));
    if (fresh) out.mesh.positions.push_back(0.5 * (cell.corners[a].position + cell.corners[b].position));
    return found->second;
  }

  void emit(uint32_t t, uint8_t plane, std::span<const uint8_t> corners, uint32_t crack) {
    loop.clear();
    for (size_t i = 0; i < corners.size(); ++i) {
      const uint8_t a = corners[i], b = corners[(i + 1) % corners.size()];
      loop.push_back(vertex(first[t] + a, position(t, a)));
      if (tips.empty() && crossings.empty()) continue;
      if (!crossings.empty() && cut(t)) addCrossings(t, plane, a, b, loop);
      if (cut(t))
        if (const uint32_t middle = twin(t, plane, a, b); middle != kNoIndex) loop.push_back(middle);
      std::pair<uint32_t, uint32_t> edge;
      if (!commonEdge(key(t, a), key(t, b), edge)) continue;
      const auto found = tips.find(edge);
      if (found == tips.end()) continue;
      const double from = partOn(edge, t, a), to = partOn(edge, t, b);
      std::vector<TipPoint> between;
      for (const TipPoint& p : found->second)
        if ((p.part - from) * (p.part - to) < 0 && !cutBy(t, p.surface)) between.push_back(p);
      std::sort(between.begin(), between.end(), [&](const TipPoint& p, const TipPoint& q) {
        return from < to ? p.part < q.part : p.part > q.part;
      });
      uint32_t last = kNoIndex;
      for (const TipPoint& p : between) {
        const Vec3 at = mesh.mesh.positions[edge.first] +
                        p.part * (mesh.mesh.positions[edge.second] - mesh.mesh.positions[edge.first]);
        const uint32_t v = vertex(p.corner, at);
        if (v != last) loop.push_back(v);
        last = v;
      }
    }
    triangulate(t, crack);
  }

  // A fan from the corner whose thinnest triangle is largest.
  void triangulate(uint32_t t, uint32_t crack) {
    const size_t n = loop.size();
    const auto add = [&](uint32_t a, uint32_t b, uint32_t c) {
      out.mesh.triangles.push_back({a, b, c});
      out.crack.push_back(crack);
      out.tet.push_back(t);
    };
    // Both sides of a crack must not have the same diagonal between points of its end.
    const auto ends =
        std::count_if(loop.begin(), loop.end(), [&](uint32_t v) { return v < ending.size() && ending[v]; });
    if (crack != kNoIndex && n > 3 && ends >= 2) {
      Vec3 middle = Vec3::Zero();
      for (const uint32_t v : loop) middle += out.mesh.positions[v] / double(n);
      const auto centre = uint32_t(out.mesh.positions.size());
      out.mesh.positions.push_back(middle);
      for (size_t k = 0; k < n; ++k) add(loop[k], loop[(k + 1) % n], centre);
      return;
    }
    size_t best = 0;
    double widest = -1;
    for (size_t i = 0; n > 3 && i < n; ++i) {
      double thinnest = Box3::kInfinity;
      const Vec3& o = out.mesh.positions[loop[i]];
      for (size_t k = 1; k + 1 < n; ++k)
        thinnest = std::min(thinnest, (out.mesh.positions[loop[(i + k) % n]] - o)
                                          .cross(out.mesh.positions[loop[(i + k + 1) % n]] - o)
                                          .squaredNorm());
      if (thinnest > widest) {
        widest = thinnest;
        best = i;
      }
    }
    for (size_t k = 1; k + 1 < n; ++k) {
      add(loop[best], loop[(best + k) % n], loop[(best + k + 1) % n]);
    }
  }
};

}  // namespace

CrackedSurface surfaceOf(const CrackedMesh& mesh, std::span<const CutCell> cells,
                         std::span<const Link> links) {
  SurfaceMaker maker{.mesh = mesh, .cells = cells};
  maker.first.resize(mesh.size() + 1, 0);
  for (uint32_t t = 0; t < mesh.size(); ++t)
    maker.first[t + 1] = maker.first[t] + uint32_t(mesh.cuts[t].empty() ? 4 : cells[t].corners.size());
  maker.sets = DisjointSets(maker.first.back());
  maker.number.assign(maker.first.back(), kNoIndex);
  maker.front.assign(maker.first.back(), 0);
  // Partners of each face.
  std::vector<std::array<uint32_t, 2>> partners(4 * mesh.size(), {kNoIndex, kNoIndex});
  std::map<uint32_t, std::vector<uint32_t>> many;  // faces with more than one
  for (const Link& link : links) {
    const uint32_t fa = 4 * link.a + link.sideA, fb = 4 * link.b + link.sideB;
    for (const auto& [f, g] : {std::pair(fa, fb), std::pair(fb, fa)}) {
      if (partners[f][0] == kNoIndex) {
        partners[f][0] = g;
      } else {
        if (partners[f][1] == kNoIndex) many[f] = {partners[f][0]};
        partners[f][1] = g;
        many[f].push_back(g);
      }
    }
  }
  maker.shown.assign(mesh.mesh.positions.size(), 0);
  for (uint32_t t = 0; t < mesh.size(); ++t)
    for (uint8_t side = 0; side < 4; ++side)
      if (maker.cut(t) || partners[4 * t + side][0] == kNoIndex)
        for (const uint32_t v : geometry::tetFace(mesh.mesh.tets[t], side)) maker.shown[v] = 1;
  for (const Link& link : links) maker.unite(link.a, link.sideA, link.b, link.sideB);
  for (const auto& [f, others] : many) {
    for (size_t i = 0; i + 1 < others.size(); ++i)
      for (size_t j = i + 1; j < others.size(); ++j)
        maker.unite(others[i] / 4, uint8_t(others[i] % 4), others[j] / 4, uint8_t(others[j] % 4));
  }
  for (const auto& [f, others] : many)
    for (const uint32_t g : others)
      if (maker.cut(g / 4)) maker.noteTips(g / 4, uint8_t(g % 4), f / 4);
  for (uint32_t t = 0; t < mesh.size(); ++t) {
    for (uint8_t side = 0; side < 4; ++side)
      if (partners[4 * t + side][0] == kNoIndex)
        if (const std::span<const uint8_t> corners = maker.faceCorners(t, side); corners.size() >= 3)
          maker.emit(t, side, corners, kNoIndex);
    if (!maker.cut(t)) continue;
    for (const CutCell::Face& face : cells[t].faces)
      if (face.plane >= 4)
        maker.emit(t, face.plane, cells[t].cornersOf(face), mesh.cuts[t][face.plane - 4u].surface);
  }
  return maker.out;
}

}  // namespace sunder::fracture
