#include "sunder/soft/walls/walls.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/geometry/mass_properties.h"
#include "sunder/geometry/vector_area.h"
#include "sunder/soft/walls/face_polygons.h"
#include "sunder/soft/walls/sections.h"
#include "sunder/spatial/query/winding_number.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

namespace sunder::soft {

namespace {

using geometry::kTetFaces;

constexpr double kWhole = 1e-12;  // a wall that misses less than this share of its face is all of it

// The wall of one face as its tetrahedron sees it.
struct Seen {
  std::vector<std::vector<Vec3>> loops;        // weights of the face's corners
  std::vector<std::array<double, 6>> contour;  // segments, directed
  double share = 0;
};

struct TetWalls {
  std::array<Seen, 4> faces;
  WallCounts counts;
};

std::array<double, 6> segment(const Vec3& a, const Vec3& b) { return {a[0], a[1], a[2], b[0], b[1], b[2]}; }

TetWalls see(const geometry::TriMesh& surface, const SurfaceCopies& copies, uint32_t tet,
             const std::function<bool()>& middleInside) {
  const TetContours contours = contoursOf(surface, copies, tet);
  const std::array<FaceSection, 4> sections = sectionsOf(contours, middleInside);
  TetWalls result;
  for (int k = 0; k < 4; ++k) {
    const auto weights = [&](uint32_t point) { return faceWeights(contours.points[point].weights, k); };
    Seen& seen = result.faces[k];
    seen.share = sections[k].share;
    for (const std::vector<uint32_t>& loop : sections[k].loops) {
      seen.loops.emplace_back();
      for (const uint32_t p : loop) seen.loops.back().push_back(weights(p));
    }
    const FaceContour& contour = contours.faces[k];
    for (const std::vector<uint32_t>& chain : contour.open)
      for (size_t i = 0; i + 1 < chain.size(); ++i)
        seen.contour.push_back(segment(weights(chain[i]), weights(chain[i + 1])));
    for (const std::vector<uint32_t>& loop : contour.loops)
      for (size_t i = 0; i < loop.size(); ++i)
        seen.contour.push_back(segment(weights(loop[i]), weights(loop[(i + 1) % loop.size()])));
    result.counts.healed += contour.healed;
    result.counts.longest = std::max(result.counts.longest, contour.longest);
    if (sections[k].crossed) ++result.counts.crossed;
  }
  return result;
}

// For each corner of a face of one tetrahedron, in the order of kTetFaces, the corner of the other with the
// same vertex. Nothing where there is none.
std::optional<std::array<uint8_t, 3>> sameCorners(const geometry::Tetrahedron& a, int face,
                                                  const geometry::Tetrahedron& b) {
  std::array<uint8_t, 3> corners{};
  for (int i = 0; i < 3; ++i) {
    const auto found = std::find(b.begin(), b.end(), a[kTetFaces[face][i]]);
    if (found == b.end()) return std::nullopt;
    corners[i] = static_cast<uint8_t>(found - b.begin());
  }
  return corners;
}

// Whether the second sees the same contour the other way round. `corners` are those of its tetrahedron that
// the first's weights belong to, `face` the corner opposite.
bool agree(const Seen& first, const Seen& second, const std::array<uint8_t, 3>& corners, int face) {
  if (first.contour.size() != second.contour.size()) return false;
  if (std::abs(first.share - second.share) > 1e-9) return false;
  std::array<int, 3> order{};  // of the second's weights
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      if (kTetFaces[face][j] == corners[i]) order[i] = j;
  std::vector<std::array<double, 6>> a = first.contour, b;
  for (const std::array<double, 6>& s : second.contour) {
    std::array<double, 6> turned{};
    for (int i = 0; i < 3; ++i) {
      turned[i] = s[3 + order[i]];
      turned[3 + i] = s[order[i]];
    }
    b.push_back(turned);
  }
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return a == b;
}

double restArea(const Cage& cage, uint32_t tet, int face) {
  const geometry::Triangle t = geometry::tetFace(cage.rest.tets[tet], face);
  return geometry::triangleArea(cage.rest.positions, t);
}

// What all tetrahedra see. Whether the middle of one is solid is asked for all that need it at once.
std::vector<TetWalls> seeAll(const geometry::TriMesh& surface, const Cage& cage,
                             const SurfaceCopies& copies) {
  const size_t tets = cage.rest.tets.size();
  std::vector<TetWalls> seen(tets);
  std::vector<uint8_t> asked(tets, 0);
  parallelFor(
      tets,
      [&](size_t t) {
        seen[t] = see(surface, copies, static_cast<uint32_t>(t), [&] {
          asked[t] = 1;
          return false;
        });
      },
      8);
  std::vector<uint32_t> who;
  std::vector<Vec3> middles;
  for (uint32_t t = 0; t < tets; ++t) {
    if (!asked[t]) continue;
    const geometry::Tetrahedron& c = cage.rest.tets[t];
    const std::vector<Vec3>& x = cage.rest.positions;
    who.push_back(t);
    middles.push_back(0.25 * (x[c[0]] + x[c[1]] + x[c[2]] + x[c[3]]));
  }
  if (who.empty()) return seen;
  const spatial::MeshQuery query(surface);
  std::vector<uint8_t> inside(who.size());
  spatial::WindingNumber(query).inside(middles, inside);
  for (size_t i = 0; i < who.size(); ++i)
    if (inside[i]) seen[who[i]] = see(surface, copies, who[i], [] { return true; });
  return seen;
}

void requireFit(const geometry::TriMesh& surface, const Cage& cage, const SurfaceCopies& copies) {
  const auto refuse = [](std::string what) { throw Error(ErrorKind::Usage, std::move(what)); };
  const size_t tets = cage.rest.tets.size();
  if (cage.neighbours.size() != tets)
    refuse(fmt::format("the cage has {} tetrahedra and the neighbours of {}", tets, cage.neighbours.size()));
  if (copies.trianglesOf.size() != tets)
    refuse(fmt::format("copies for {} tetrahedra do not fit a cage of {}", copies.trianglesOf.size(), tets));
  if (copies.copiesOf.size() != surface.triangles.size())
    refuse(fmt::format("copies of {} triangles do not fit a surface of {}", copies.copiesOf.size(),
                       surface.triangles.size()));
  if (copies.polygonStart.size() != copies.copies() + 1 ||
      copies.polygonStart.back() != copies.polygons.size())
    refuse("the polygons of the copies are not as many as the copies");
  for (const uint32_t t : copies.trianglesOf.items)
    if (t >= surface.triangles.size()) refuse(fmt::format("a copy of triangle {}, which is not there", t));
  if (tets > kNoIndex / 4) throw Error(ErrorKind::Limit, fmt::format("{} tetrahedra are too many", tets));
}

bool insideOut(const geometry::TriMesh& surface) {
  const Box3 box = geometry::bounds(surface.positions);
  if (box.empty()) return false;
  return geometry::massProperties(surface).volume < -1e-9 * (box.upper - box.lower).prod();
}

}  // namespace

Vec4 weightsIn(const WallFace& face, size_t side, const Vec3& point) {
  Vec4 weights = Vec4::Zero();
  for (int i = 0; i < 3; ++i) weights[face.corners[side][i]] = point[i];
  return weights;
}

Walls makeWalls(const geometry::TriMesh& surface, const Cage& cage, const SurfaceCopies& copies) {
  requireFit(surface, cage, copies);
  if (insideOut(surface))
    throw Error(ErrorKind::Geometry, "the surface is inside out, so it has no solid to show walls of")
        .hint("turn its triangles over");
  const size_t tets = cage.rest.tets.size();
  const std::vector<TetWalls> seen = seeAll(surface, cage, copies);

  Walls walls;
  walls.faceOf.assign(tets, {kNoIndex, kNoIndex, kNoIndex, kNoIndex});
  for (uint32_t t = 0; t < tets; ++t) {
    const WallCounts& c = seen[t].counts;
    walls.counts.healed += c.healed;
    walls.counts.longest = std::max(walls.counts.longest, c.longest);
    walls.counts.crossed += c.crossed;
    for (int k = 0; k < 4; ++k) {
      if (walls.faceOf[t][k] != kNoIndex) continue;
      WallFace face;
      face.tets[0] = t;
      face.opposite[0] = static_cast<uint8_t>(k);
      face.corners[0] = kTetFaces[k];
      const auto number = static_cast<uint32_t>(walls.faces.size());
      walls.faceOf[t][k] = number;
      const uint32_t other = cage.neighbours[t][k];
      if (other != kNoIndex && other > t) {
        const auto& back = cage.neighbours[other];
        const auto at = static_cast<int>(std::find(back.begin(), back.end(), t) - back.begin());
        const auto corners = sameCorners(cage.rest.tets[t], k, cage.rest.tets[other]);
        if (at < 4 && corners && agree(seen[t].faces[k], seen[other].faces[at], *corners, at)) {
          face.tets[1] = other;
          face.opposite[1] = static_cast<uint8_t>(at);
          face.corners[1] = *corners;
          walls.faceOf[other][at] = number;
        } else {
          ++walls.counts.oneSided;
        }
      }
      walls.faces.push_back(face);
    }
  }

  std::vector<FacePolygons> made(walls.faces.size());
  parallelFor(
      walls.faces.size(),
      [&](size_t f) {
        const WallFace& face = walls.faces[f];
        made[f] = facePolygons(seen[face.tets[0]].faces[face.opposite[0]].loops);
      },
      16);
  for (size_t f = 0; f < walls.faces.size(); ++f) {
    WallFace& face = walls.faces[f];
    const FacePolygons& polygons = made[f];
    const double share = seen[face.tets[0]].faces[face.opposite[0]].share;
    const auto base = static_cast<uint32_t>(walls.points.size());
    face.firstLoop = static_cast<uint32_t>(walls.loops());
    face.loops = static_cast<uint32_t>(polygons.loopSizes.size());
    face.firstTriangle = static_cast<uint32_t>(walls.triangles.size());
    face.triangles = static_cast<uint32_t>(polygons.triangles.size());
    face.area = share * restArea(cage, face.tets[0], face.opposite[0]);
    walls.points.insert(walls.points.end(), polygons.points.begin(), polygons.points.end());
    for (const uint32_t size : polygons.loopSizes) walls.loopStart.push_back(walls.loopStart.back() + size);
    for (const geometry::Triangle& t : polygons.triangles)
      walls.triangles.push_back({t[0] + base, t[1] + base, t[2] + base});
    if (!polygons.clean) ++walls.counts.crossed;
    if (face.loops == 0) {
      face.section = Section::Empty;
      ++walls.counts.empty;
    } else if (face.loops == 1 && share >= 1 - kWhole) {
      face.section = Section::Full;
      ++walls.counts.full;
    } else {
      face.section = Section::Partial;
      ++walls.counts.partial;
    }
  }
  return walls;
}

WallMesh wallMesh(const Walls& walls) {
  WallMesh mesh;
  for (const WallFace& face : walls.faces) {
    if (face.loops == 0) continue;
    const uint32_t from = walls.loopStart[face.firstLoop], to = walls.loopStart[face.firstLoop + face.loops];
    for (size_t side = 0; side < 2; ++side) {
      if (face.tets[side] == kNoIndex) continue;
      const auto base = static_cast<uint32_t>(mesh.tets.size());
      for (uint32_t p = from; p < to; ++p) {
        mesh.tets.push_back(face.tets[side]);
        mesh.weights.push_back(weightsIn(face, side, walls.points[p]));
      }
      for (const geometry::Triangle& t : walls.trianglesOf(face)) {
        geometry::Triangle turned{t[0] - from + base, t[1] - from + base, t[2] - from + base};
        if (side == 1) std::swap(turned[1], turned[2]);
        mesh.triangles.push_back(turned);
        mesh.walls.push_back(4 * face.tets[side] + face.opposite[side]);
      }
    }
  }
  return mesh;
}

}  // namespace sunder::soft
