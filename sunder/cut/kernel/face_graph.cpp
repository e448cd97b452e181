#include "sunder/cut/kernel/face_graph.h"

#include "sunder/base/box.h"
#include "sunder/base/disjoint_sets.h"
#include "sunder/base/index.h"
#include "sunder/geometry/rows.h"

#include <algorithm>
#include <map>
#include <set>

namespace sunder::cut {

using geometry::u32;

uint32_t ExactPoints::add(ExactPoint p) {
  const auto at = std::lower_bound(order_.begin(), order_.end(), p, [&](uint32_t i, const ExactPoint& q) {
    return grid_.compare(points_[i], q) < 0;
  });
  if (at != order_.end() && grid_.compare(points_[*at], p) == 0) return *at;
  const uint32_t number = size();
  order_.insert(at, number);
  points_.push_back(std::move(p));
  return number;
}

namespace {

// Is a point that is on the line of a segment on it?
bool isBetween(const ExactPoints& points, uint32_t p, uint32_t from, uint32_t to) {
  const ExactGrid& grid = points.grid();
  return grid.compare(points[from], points[p]) * grid.compare(points[p], points[to]) >= 0;
}

class Graph {
 public:
  Graph(const FaceGraph& face, const ExactPoints& points) : face_(face), points_(points) {}

  void addRow(std::vector<uint32_t> row) {
    std::sort(row.begin(), row.end(), [&](uint32_t a, uint32_t b) {
      return a != b && points_.grid().compare(points_[a], points_[b]) < 0;
    });
    row.erase(std::unique(row.begin(), row.end()), row.end());
    for (size_t i = 1; i < row.size(); ++i) addEdge(row[i - 1], row[i]);
  }

  // Joins what does not hang together with the border.
  void connect() {
    std::vector<uint32_t> vertices;
    for (const auto& [v, neighbours] : around_) vertices.push_back(v);
    const auto placeOf = [&](uint32_t v) {
      return u32(std::lower_bound(vertices.begin(), vertices.end(), v) - vertices.begin());
    };
    DisjointSets sets(vertices.size());
    for (const auto& [a, b] : edges_) sets.unite(placeOf(a), placeOf(b));
    const uint32_t border = face_.corners[0];
    while (true) {
      const auto apart = std::find_if(vertices.begin(), vertices.end(), [&](uint32_t v) {
        return sets.find(placeOf(v)) != sets.find(placeOf(border));
      });
      if (apart == vertices.end()) return;
      // The shortest of the lines from there to another component that meets no edge.
      const uint32_t component = sets.find(placeOf(*apart));
      std::vector<std::array<uint32_t, 2>> lines;
      for (const uint32_t a : vertices)
        for (const uint32_t b : vertices)
          if (sets.find(placeOf(a)) == component && sets.find(placeOf(b)) != component)
            lines.push_back({a, b});
      const auto length = [&](const std::array<uint32_t, 2>& l) {
        return (points_[l[0]].at - points_[l[1]].at).squaredNorm();
      };
      std::stable_sort(lines.begin(), lines.end(),
                       [&](const auto& x, const auto& y) { return length(x) < length(y); });
      const auto free =
          std::find_if(lines.begin(), lines.end(), [&](const auto& l) { return isFree(l[0], l[1]); });
      if (free == lines.end()) return;  // does not happen: two components always see each other
      addEdge((*free)[0], (*free)[1]);
      sets.unite(placeOf((*free)[0]), placeOf((*free)[1]));
    }
  }

  std::vector<std::vector<uint32_t>> rings() {
    for (auto& [v, neighbours] : around_) sortAround(v, neighbours);
    std::set<std::array<uint32_t, 2>> seen;
    // What is left of the border's half-edges the wrong way round is outside.
    follow(outside_[0], outside_[1], seen);
    std::vector<std::vector<uint32_t>> rings;
    for (const auto& [a, b] : edges_)
      for (const auto& h : {std::array<uint32_t, 2>{a, b}, std::array<uint32_t, 2>{b, a}})
        if (seen.count(h) == 0) rings.push_back(follow(h[0], h[1], seen));
    return rings;
  }

  // A half-edge that has the outside on its left: the first one of the row of the first edge, against it.
  void setOutside(uint32_t from, uint32_t to) { outside_ = {from, to}; }

 private:
  int turn(uint32_t a, uint32_t b, uint32_t c) const {
    const int t = points_.grid().turn(points_[a], points_[b], points_[c], face_.axis);
    return face_.turned ? -t : t;
  }

  void addEdge(uint32_t a, uint32_t b) {
    if (!edges_.insert({std::min(a, b), std::max(a, b)}).second) return;
    around_[a].push_back(b);
    around_[b].push_back(a);
  }

  bool isFree(uint32_t a, uint32_t b) const {
    for (const auto& [c, d] : edges_) {
      const int cSide = turn(a, b, c), dSide = turn(a, b, d);
      if (cSide * dSide > 0) continue;
      if (c == a || c == b || d == a || d == b) {
        const uint32_t other = c == a || c == b ? d : c;
        const int s = other == d ? dSide : cSide;
        if (s == 0 && (isBetween(points_, other, a, b) || isBetween(points_, c == other ? d : c, a, b)) &&
            overlaps(a, b, c, d))
          return false;
        continue;
      }
      const int aSide = turn(c, d, a), bSide = turn(c, d, b);
      if (aSide * bSide > 0) continue;
      if (cSide == 0 && dSide == 0 && !isBetween(points_, c, a, b) && !isBetween(points_, d, a, b)) continue;
      return false;
    }
    return true;
  }

  // Segments on one line with an end in common: does one run along the other?
  bool overlaps(uint32_t a, uint32_t b, uint32_t c, uint32_t d) const {
    const uint32_t common = a == c || a == d ? a : b, one = common == a ? b : a, other = common == c ? d : c;
    const ExactGrid& grid = points_.grid();
    return grid.compare(points_[common], points_[one]) == grid.compare(points_[common], points_[other]);
  }

  void sortAround(uint32_t v, std::vector<uint32_t>& neighbours) const {
    const int i = (face_.axis + 1) % 3, j = (face_.axis + 2) % 3;
    const ExactGrid& grid = points_.grid();
    const auto upper = [&](uint32_t n) {
      const int y = grid.compare(points_[n], points_[v], j);
      return y != 0 ? y > 0 : grid.compare(points_[n], points_[v], i) > 0;
    };
    std::sort(neighbours.begin(), neighbours.end(), [&](uint32_t a, uint32_t b) {
      if (a == b) return false;
      const bool ua = upper(a), ub = upper(b);
      if (ua != ub) return ua;
      return grid.turn(points_[v], points_[a], points_[b], face_.axis) > 0;
    });
  }

  std::vector<uint32_t> follow(uint32_t from, uint32_t to, std::set<std::array<uint32_t, 2>>& seen) const {
    std::vector<uint32_t> ring;
    while (seen.insert({from, to}).second) {
      ring.push_back(from);
      // The next one clockwise around `to`, or counter-clockwise where the face is seen from behind.
      const std::vector<uint32_t>& n = around_.at(to);
      const size_t at = static_cast<size_t>(std::find(n.begin(), n.end(), from) - n.begin());
      const uint32_t next = n[(at + (face_.turned ? 1 : n.size() - 1)) % n.size()];
      from = to;
      to = next;
    }
    return ring;
  }

  const FaceGraph& face_;
  const ExactPoints& points_;
  std::map<uint32_t, std::vector<uint32_t>> around_;  // neighbours, counter-clockwise seen along the axis
  std::set<std::array<uint32_t, 2>> edges_;
  std::array<uint32_t, 2> outside_{};
};

}  // namespace

void crossSegments(const FaceGraph& face, ExactPoints& points,
                   std::vector<std::vector<uint32_t>>& onSegment) {
  struct Line {
    uint32_t from, to;
    const ExactPlane3* plane;
  };
  std::vector<Line> lines;
  for (const FaceSegment& s : face.segments) lines.push_back({s.from, s.to, &s.plane});
  for (size_t k = 0; k < 3; ++k) lines.push_back({face.corners[k], face.corners[(k + 1) % 3], nullptr});
  onSegment.assign(lines.size(), {});
  for (size_t i = 0; i < lines.size(); ++i) onSegment[i] = {lines[i].from, lines[i].to};
  const ExactGrid& grid = points.grid();
  for (size_t i = 0; i < face.segments.size(); ++i)
    for (size_t j = i + 1; j < lines.size(); ++j) {
      const Line a = lines[i], b = lines[j];
      Box3 boxA, boxB;
      for (const uint32_t p : {a.from, a.to}) boxA.grow(points[p].at);
      for (const uint32_t p : {b.from, b.to}) boxB.grow(points[p].at);
      const double slack =
          1e-14 * std::max(boxA.lower.cwiseAbs().maxCoeff(), boxA.upper.cwiseAbs().maxCoeff());
      if (((boxA.lower.array() > boxB.upper.array() + slack) ||
           (boxB.lower.array() > boxA.upper.array() + slack))
              .any())
        continue;
      const int bFrom = grid.turn(points[a.from], points[a.to], points[b.from], face.axis),
                bTo = grid.turn(points[a.from], points[a.to], points[b.to], face.axis),
                aFrom = grid.turn(points[b.from], points[b.to], points[a.from], face.axis),
                aTo = grid.turn(points[b.from], points[b.to], points[a.to], face.axis);
      if (bFrom == 0 && isBetween(points, b.from, a.from, a.to)) onSegment[i].push_back(b.from);
      if (bTo == 0 && isBetween(points, b.to, a.from, a.to)) onSegment[i].push_back(b.to);
      if (aFrom == 0 && isBetween(points, a.from, b.from, b.to)) onSegment[j].push_back(a.from);
      if (aTo == 0 && isBetween(points, a.to, b.from, b.to)) onSegment[j].push_back(a.to);
      if (bFrom * bTo >= 0 || aFrom * aTo >= 0) continue;
      const uint32_t x = points.add(b.plane ? grid.meet(points[a.from], points[a.to], *b.plane)
                                            : grid.meet(points[b.from], points[b.to], *a.plane));
      onSegment[i].push_back(x);
      onSegment[j].push_back(x);
    }
}

std::vector<std::vector<uint32_t>> ringsOf(const FaceGraph& face, const ExactPoints& points,
                                           const std::vector<std::vector<uint32_t>>& rows) {
  Graph graph(face, points);
  for (const auto& row : rows) graph.addRow(row);
  // The neighbour of the first corner along the first edge.
  std::vector<uint32_t> first = rows[rows.size() - 3];
  const ExactGrid& grid = points.grid();
  const int along = grid.compare(points[face.corners[0]], points[face.corners[1]]);
  std::sort(first.begin(), first.end(),
            [&](uint32_t a, uint32_t b) { return a != b && grid.compare(points[a], points[b]) * along > 0; });
  first.erase(std::unique(first.begin(), first.end()), first.end());
  graph.setOutside(first[1], first[0]);
  graph.connect();
  return graph.rings();
}

}  // namespace sunder::cut
