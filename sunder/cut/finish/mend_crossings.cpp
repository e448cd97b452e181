#include "sunder/base/box.h"
#include "sunder/base/index.h"
#include "sunder/cut/finish/rounding.h"
#include "sunder/cut/kernel/ring_triangles.h"
#include "sunder/geometry/rows.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace sunder::cut {

namespace {

using geometry::u32;

constexpr int kMostMendings = 6;
constexpr double kMendingUlp = 0x1p-52;

class Mender {
 public:
  explicit Mender(CutResult& result) : result_(result), mesh_(result.mesh) {
    boxes_.resize(mesh_.faceCount());
    for (uint32_t f = 0; f < boxes_.size(); ++f) measure(f);
    facesOf_.resize(mesh_.positions.size());
    for (uint32_t f = 0; f < mesh_.faceCount(); ++f)
      for (const uint32_t v : mesh_.face(f)) facesOf_[v].push_back(f);
  }

  // Tries to separate two faces by moving one place of their vertices by steps of so many last digits.
  void mend(uint32_t a, uint32_t b, int step) {
    for (const uint32_t place : placesOf(a, b)) {
      const std::vector<uint32_t> vertices = at(mesh_.positions[place]);
      if (vertices.empty()) continue;
      findPairs(vertices);
      const Vec3 start = mesh_.positions[place];
      const double unit = step * kMendingUlp * std::max(start.cwiseAbs().maxCoeff(), 1e-300);
      size_t fewest = countCrossings(pairs_.size());
      if (fewest == 0) return;
      Vec3 best = start;
      for (int code = 0; code < 27 && fewest > 0; ++code) {
        const Vec3 by(code % 3 - 1, code / 3 % 3 - 1, code / 9 - 1);
        move(vertices, start + unit * by);
        const size_t count = countCrossings(fewest);
        if (count >= fewest) continue;
        fewest = count;
        best = start + unit * by;
      }
      move(vertices, best);
      for (const uint32_t f : own_) measure(f);
      if (fewest == 0) return;
    }
  }

 private:
  // Rounded vertices of the two, the one with the fewest faces around first; one of each place.
  std::vector<uint32_t> placesOf(uint32_t a, uint32_t b) {
    std::vector<uint32_t> places;
    for (const uint32_t f : {a, b})
      for (const uint32_t v : mesh_.face(f)) {
        if (result_.vertexFrom[v] != VertexFrom::Seam) continue;
        const auto same = [&](uint32_t w) { return mesh_.positions[w] == mesh_.positions[v]; };
        if (std::none_of(places.begin(), places.end(), same)) places.push_back(v);
      }
    return places;
  }

  // Vertices in one place, none where one of them is not rounded: those keep their bits.
  std::vector<uint32_t> at(const Vec3& place) const {
    std::vector<uint32_t> vertices;
    for (uint32_t v = 0; v < mesh_.positions.size(); ++v) {
      if (mesh_.positions[v] != place) continue;
      if (result_.vertexFrom[v] != VertexFrom::Seam) return {};
      vertices.push_back(v);
    }
    return vertices;
  }

  // Faces around the vertices, and their pairs with all faces of the same fragment that are within reach.
  void findPairs(const std::vector<uint32_t>& vertices) {
    own_.clear();
    pairs_.clear();
    divided_.clear();
    Box3 reach;
    for (const uint32_t v : vertices)
      for (const uint32_t f : facesOf_[v])
        if (own_.insert(f).second) reach.grow(inflated(f));
    std::vector<uint32_t> near;
    for (uint32_t g = 0; g < boxes_.size(); ++g)
      if (overlap(reach, boxes_[g])) near.push_back(g);
    for (const uint32_t f : own_) {
      const Box3 box = inflated(f);
      for (const uint32_t g : near) {
        const bool again = own_.count(g) != 0 && g <= f;
        if (again || result_.fragment[f] != result_.fragment[g] || !overlap(box, boxes_[g])) continue;
        pairs_.push_back({f, g});
        if (own_.count(g) == 0) divided_[g] = trianglesOf(g);
      }
    }
  }

  Box3 inflated(uint32_t f) const {
    Box3 box = boxes_[f];
    const double slack = 1e-12 * std::max(box.lower.cwiseAbs().maxCoeff(), box.upper.cwiseAbs().maxCoeff());
    box.lower.array() -= slack;
    box.upper.array() += slack;
    return box;
  }

  void measure(uint32_t f) {
    boxes_[f] = {};
    for (const uint32_t v : mesh_.face(f)) boxes_[f].grow(mesh_.positions[v]);
  }

  void move(const std::vector<uint32_t>& vertices, const Vec3& to) {
    for (const uint32_t v : vertices) {
      mesh_.positions[v] = to;
      if (result_.sourceVertex[v] < result_.seamPoints.size())
        result_.seamPoints[result_.sourceVertex[v]] = to;
    }
  }

  using Corners = std::array<const Vec3*, 3>;
  std::vector<Corners> trianglesOf(uint32_t f) const {
    const auto face = mesh_.face(f);
    const auto corner = [&](uint32_t k) { return &mesh_.positions[face[k]]; };
    if (face.size() == 3) return {{corner(0), corner(1), corner(2)}};
    std::vector<Vec3> ring;
    for (const uint32_t v : face) ring.push_back(mesh_.positions[v]);
    bool clean = true;
    std::vector<Corners> triangles;
    for (const auto& t : ringTriangles(ring, clean))
      triangles.push_back({corner(t[0]), corner(t[1]), corner(t[2])});
    return triangles;
  }

  // Of the pairs; stops counting at `most`.
  size_t countCrossings(size_t most) {
    for (const uint32_t f : own_) divided_[f] = trianglesOf(f);
    size_t count = 0;
    for (const auto& [f, g] : pairs_) {
      const auto &xs = divided_[f], &ys = divided_[g];
      count += std::any_of(xs.begin(), xs.end(), [&, &other = ys](const Corners& x) {
        return std::any_of(other.begin(), other.end(),
                           [&](const Corners& y) { return trianglesCross(x, y); });
      });
      if (count >= most) break;
    }
    return count;
  }

  CutResult& result_;
  geometry::PolygonSoup& mesh_;
  std::vector<Box3> boxes_;                     // per face
  std::vector<std::vector<uint32_t>> facesOf_;  // per vertex
  std::set<uint32_t> own_;                      // faces around the place that moves
  std::vector<std::array<uint32_t, 2>> pairs_;
  std::map<uint32_t, std::vector<Corners>> divided_;  // triangles of faces in the pairs
};

}  // namespace

std::vector<std::array<uint32_t, 2>> mendCrossings(CutResult& result, uint64_t most) {
  auto crossings = crossingFaces(result, most);
  int step = 1;
  for (int round = 0; round < kMostMendings && !crossings.empty(); ++round, step *= 2) {
    CutResult before = result;
    Mender mender(result);
    for (const auto& [a, b] : crossings) mender.mend(a, b, step);
    auto left = crossingFaces(result, most);
    if (left.size() > crossings.size()) {
      result = std::move(before);
      continue;
    }
    crossings = std::move(left);
  }
  return crossings;
}

}  // namespace sunder::cut
