#include "sunder/fracture/pieces/half_spaces.h"

#include "sunder/fracture/crack/crack.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace sunder::fracture {

namespace {

constexpr double kMostBend = 3 * kNearestVertex;  // of the mean edge; edges at a vertex may be longer
constexpr double kSameCorner = 1e-7;              // of the object's size
constexpr double kLeastSine = 1e-6;               // between planes that meet
constexpr size_t kMostPlanes = 64;                // bits of a word

double leastOf(const std::array<double, 4>& phi) {
  return std::min(std::min(std::abs(phi[0]), std::abs(phi[1])), std::min(std::abs(phi[2]), std::abs(phi[3])));
}

}  // namespace

bool HalfSpaces::find(const RestMesh& rest, const CrackedMesh& mesh, std::span<const CutCell> cells,
                      std::span<const uint32_t> rootTets) {
  const double slack = kMostBend * rest.edge();
  if (findPlanes(rest, mesh, rootTets) && holds(mesh, cells, slack) && rulesOutOthers(rest, rootTets, slack))
    return true;
  planes_.clear();
  bend_ = 0;
  return false;
}

const HalfSpace* HalfSpaces::of(uint32_t crack) const {
  const auto at = std::lower_bound(planes_.begin(), planes_.end(), crack,
                                   [](const HalfSpace& h, uint32_t c) { return h.crack < c; });
  return at != planes_.end() && at->crack == crack ? &*at : nullptr;
}

bool HalfSpaces::findPlanes(const RestMesh& rest, const CrackedMesh& mesh,
                            std::span<const uint32_t> rootTets) {
  // The tetrahedron that each crack keeps farthest away from the vertices of; there it does not bend.
  struct Best {
    uint32_t tet;
    const Cut* cut;
    double least;
  };
  std::vector<Best> best;
  const auto bestOf = [&](uint32_t crack) {
    return std::lower_bound(best.begin(), best.end(), crack,
                            [](const Best& b, uint32_t c) { return b.cut->surface < c; });
  };
  for (uint32_t t = 0; t < mesh.size(); ++t)
    for (const Cut& cut : mesh.cuts[t]) {
      const double least = leastOf(cut.phi);
      const auto at = bestOf(cut.surface);
      if (at == best.end() || at->cut->surface != cut.surface) {
        if (best.size() == kMostPlanes) return false;
        best.insert(at, {t, &cut, least});
      } else {
        if (at->cut->side != cut.side) return false;
        if (least > at->least) *at = {t, &cut, least};
      }
    }
  std::vector<double> perLength;
  for (const Best& b : best) {
    const Vec3 gradient = rest.gradient(rootTets[b.tet], b.cut->phi);
    const double length = gradient.norm();
    if (!(length > 0) || !(b.least > kMostBend * rest.edge() * length)) return false;
    const Vec3 up = gradient / length;
    const double side = b.cut->side > 0 ? -1 : 1;
    const double offset =
        up.dot(rest.mesh().positions[rest.mesh().tets[rootTets[b.tet]][0]]) - b.cut->phi[0] / length;
    planes_.push_back({side * up, side * offset, b.cut->surface});
    perLength.push_back(side / length);
  }
  for (uint32_t t = 0; t < mesh.size(); ++t)
    for (const Cut& cut : mesh.cuts[t]) {
      const auto k = size_t(bestOf(cut.surface) - best.begin());
      for (size_t i = 0; i < 4; ++i)
        bend_ = std::max(bend_, std::abs(planes_[k].height(mesh.mesh.positions[mesh.mesh.tets[t][i]]) -
                                         cut.phi[i] * perLength[k]));
    }
  return bend_ <= kMostBend * rest.edge();
}

bool HalfSpaces::holds(const CrackedMesh& mesh, std::span<const CutCell> cells, double slack) const {
  // Where all four vertices are on the right side, so is what is left of the tetrahedron.
  const std::vector<uint64_t> beyond = above(mesh.mesh.positions, slack);
  for (uint32_t t = 0; t < mesh.size(); ++t) {
    const geometry::Tetrahedron& v = mesh.mesh.tets[t];
    uint64_t doubtful = beyond[v[0]] | beyond[v[1]] | beyond[v[2]] | beyond[v[3]];
    if (doubtful && mesh.cuts[t].empty()) return false;
    for (const Cut& cut : mesh.cuts[t]) doubtful &= ~(uint64_t(1) << (of(cut.surface) - planes_.data()));
    for (; doubtful; doubtful &= doubtful - 1) {
      const HalfSpace& plane = planes_[size_t(std::countr_zero(doubtful))];
      for (const CutCell::Corner& corner : cells[t].corners)
        if (plane.height(corner.position) > slack) return false;
    }
  }
  return true;
}

std::vector<uint64_t> HalfSpaces::above(std::span<const Vec3> points, double height) const {
  std::vector<uint64_t> bits(points.size(), 0);
  for (size_t k = 0; k < planes_.size(); ++k) {
    const HalfSpace plane = planes_[k];
    for (size_t i = 0; i < points.size(); ++i) bits[i] |= uint64_t(plane.height(points[i]) >= height) << k;
  }
  return bits;
}

bool HalfSpaces::rulesOut(const RestMesh& rest, uint32_t tet, double slack) const {
  const geometry::Tetrahedron& v = rest.mesh().tets[tet];
  std::array<Vec3, 4> at;
  for (size_t i = 0; i < 4; ++i) at[i] = rest.mesh().positions[v[i]];
  std::array<std::array<double, 4>, kMostPlanes> above;
  size_t count = 0;
  for (const HalfSpace& plane : planes_) {
    auto& h = above[count];
    for (size_t i = 0; i < 4; ++i) h[i] = plane.height(at[i]) + slack;
    count += std::max(std::max(h[0], h[1]), std::max(h[2], h[3])) >= 0;
  }
  // Beyond a plane through the edge of two of them.
  for (size_t a = 0; a < count; ++a)
    for (size_t b = a + 1; b < count; ++b) {
      double low = 0, high = 1;  // of the part of the first
      for (size_t i = 0; i < 4; ++i) {
        const double slope = above[a][i] - above[b][i];
        if (slope > 0)
          low = std::max(low, -above[b][i] / slope);
        else if (slope < 0)
          high = std::min(high, -above[b][i] / slope);
        else if (above[b][i] < 0)
          high = -1;
      }
      if (low <= high) return true;
    }
  // Beyond a corner: by cutting.
  std::vector<Cut> cuts;
  for (uint32_t k = 0; k < count && k < kMostCuts; ++k) cuts.push_back({k, -1, above[k]});
  return makeCell(v, at, cuts).empty();
}

bool HalfSpaces::rulesOutOthers(const RestMesh& rest, std::span<const uint32_t> rootTets,
                                double slack) const {
  const geometry::TetMesh& mesh = rest.mesh();
  std::vector<char> own(mesh.tets.size(), 0);
  for (const uint32_t t : rootTets) own[t] = 1;
  const std::vector<uint64_t> beyond = above(mesh.positions, -slack);
  for (uint32_t t = 0; t < mesh.tets.size(); ++t) {
    const geometry::Tetrahedron& v = mesh.tets[t];
    if (own[t] || (beyond[v[0]] & beyond[v[1]] & beyond[v[2]] & beyond[v[3]])) continue;
    if (!rulesOut(rest, t, slack)) return false;
  }
  return true;
}

std::vector<Vec3> HalfSpaces::corners(const RestMesh& rest) const {
  std::vector<HalfSpace> sides = planes_;
  for (const RestMesh::Side& side : rest.flatSides()) sides.push_back({side.normal, side.offset, kNoIndex});
  const double same = kSameCorner * rest.bounds().diagonal();
  std::vector<Vec3> corners;
  const size_t count = sides.size();
  for (size_t i = 0; i < count; ++i)
    for (size_t j = 0; j < i; ++j) {
      const Vec3 edge = sides[i].normal.cross(sides[j].normal);
      if (edge.squaredNorm() < kLeastSine * kLeastSine) continue;
      for (size_t k = 0; k < j; ++k) {
        const double sine = edge.dot(sides[k].normal);
        if (std::abs(sine) < kLeastSine) continue;
        const Vec3 p = (sides[k].offset * edge + sides[i].offset * sides[j].normal.cross(sides[k].normal) +
                        sides[j].offset * sides[k].normal.cross(sides[i].normal)) /
                       sine;
        if (std::all_of(sides.begin(), sides.end(),
                        [&](const HalfSpace& side) { return side.height(p) <= same; }) &&
            std::none_of(corners.begin(), corners.end(),
                         [&](const Vec3& c) { return (c - p).squaredNorm() < same * same; }))
          corners.push_back(p);
      }
    }
  return corners;
}

double HalfSpaces::distance(const Vec3& p, double height, uint32_t plane, Vec3& way) const {
  const Vec3& normal = planes_[plane].normal;
  way = normal;
  double beside = 0;  // squared: how far the foot on the plane is beyond another one, within the plane
  for (const HalfSpace& other : planes_) {
    const double cosine = other.normal.dot(normal), sine = 1 - cosine * cosine;
    const double above = other.height(p) - cosine * height;  // of the foot, above the other
    if (!(above > 0) || above * above <= beside * sine || sine < 1e-6) continue;
    beside = above * above / sine;
    way = normal * height + (other.normal - cosine * normal) * (above / sine);
  }
  if (beside == 0) return height;
  const double d = std::sqrt(height * height + beside);
  way /= d;
  return d;
}

}  // namespace sunder::fracture
