// The exact answer to a continuous collision query with integer coordinates below 2^38, and an independent
// distance in floating point. The difference of the two features is a planar convex polygon with linearly
// moving corners; it meets the origin at a root of the coplanarity cubic where the origin is inside. Where
// the polygon has no area at the root, or the cubic vanishes identically, contact is decided on the polygon's
// edges in the same way.
#pragma once

#include "sunder/base/math.h"

#include "spatial/ccd_polynomial.h"

#include <array>
#include <cstdint>

namespace sunder::spatial::exact {

// Vertex and face (p a b c) or two edges (a b c d): four points at the start, then at the end.
struct Query {
  bool edges = false;
  std::array<std::array<int64_t, 3>, 8> x{};

  std::array<Vec3, 8> points(double scale = 1, const Vec3& offset = Vec3::Zero()) const {
    std::array<Vec3, 8> r;
    for (size_t i = 0; i < 8; ++i)
      r[i] = scale * Vec3(double(x[i][0]), double(x[i][1]), double(x[i][2])) + offset;
    return r;
  }
};

struct Answer {
  bool hit = false;
  double from = 0, to = 0;  // the first contact is in between
};

using Corner = std::array<Poly, 3>;
inline Corner operator-(const Corner& a, const Corner& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
inline Corner crossProduct(const Corner& a, const Corner& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
inline Poly dotProduct(const Corner& a, const Corner& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
inline bool vanishes(const Corner& a) { return a[0].empty() && a[1].empty() && a[2].empty(); }
inline bool zeroAt(const Corner& a, Root& r) {
  return signAt(a[0], r) == 0 && signAt(a[1], r) == 0 && signAt(a[2], r) == 0;
}

class Oracle {
 public:
  explicit Oracle(const Query& query) : n_(query.edges ? 4 : 3) {
    static constexpr int kFace[3][2] = {{0, 1}, {0, 2}, {0, 3}},
                         kEdge[4][2] = {{0, 2}, {1, 2}, {1, 3}, {0, 3}};
    for (int i = 0; i < n_; ++i) {
      const int a = query.edges ? kEdge[i][0] : kFace[i][0], b = query.edges ? kEdge[i][1] : kFace[i][1];
      for (size_t k = 0; k < 3; ++k) {
        start_[i][k] = query.x[size_t(a)][k] - query.x[size_t(b)][k];
        end_[i][k] = query.x[size_t(a) + 4][k] - query.x[size_t(b) + 4][k];
      }
    }
  }

  Answer answer() {
    if (plainlyApart()) return {};
    for (int i = 0; i < n_; ++i)
      for (size_t k = 0; k < 3; ++k) {
        Poly p{mpz_class(long(start_[i][k])), mpz_class(long(end_[i][k] - start_[i][k]))};
        corner_[i][k] = trim(p);
      }
    normal_ = crossProduct(corner_[1] - corner_[0], corner_[n_ - 1] - corner_[0]);
    const Poly cubic = dotProduct(normal_, corner_[0]);
    if (cubic.empty()) return coplanar();
    for (Root& root : rootsOf(cubic)) {
      if (zeroAt(normal_, root) ? onAnyEdge(root) : inside(root)) return at(root);
    }
    return {};
  }

 private:
  // Cheap exact "no": an axis, or the cubic's Bernstein coefficients, in 128-bit integers.
  bool plainlyApart() const {
    for (size_t k = 0; k < 3; ++k) {
      bool above = true, below = true;
      for (int i = 0; i < n_; ++i) {
        above = above && start_[i][k] > 0 && end_[i][k] > 0;
        below = below && start_[i][k] < 0 && end_[i][k] < 0;
      }
      if (above || below) return true;
    }
    using Wide = __int128;
    using Int3 = std::array<int64_t, 3>;
    const auto minus = [](const Int3& a, const Int3& b) {
      return Int3{a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    };
    const auto det = [](const Int3& a, const Int3& b, const Int3& c) {
      return Wide(c[0]) * (Wide(a[1]) * b[2] - Wide(a[2]) * b[1]) +
             Wide(c[1]) * (Wide(a[2]) * b[0] - Wide(a[0]) * b[2]) +
             Wide(c[2]) * (Wide(a[0]) * b[1] - Wide(a[1]) * b[0]);
    };
    const Int3 a[2] = {minus(start_[1], start_[0]), minus(end_[1], end_[0])};
    const Int3 b[2] = {minus(start_[n_ - 1], start_[0]), minus(end_[n_ - 1], end_[0])};
    const Int3 c[2] = {start_[0], end_[0]};
    const Wide w[4] = {
        det(a[0], b[0], c[0]), det(a[1], b[0], c[0]) + det(a[0], b[1], c[0]) + det(a[0], b[0], c[1]),
        det(a[0], b[1], c[1]) + det(a[1], b[0], c[1]) + det(a[1], b[1], c[0]), det(a[1], b[1], c[1])};
    return (w[0] > 0 && w[1] > 0 && w[2] > 0 && w[3] > 0) || (w[0] < 0 && w[1] < 0 && w[2] < 0 && w[3] < 0);
  }

  bool inside(Root& root) const {
    for (int i = 0; i < n_; ++i)
      if (signAt(dotProduct(normal_, crossProduct(corner_[i], corner_[(i + 1) % n_])), root) < 0)
        return false;
    return true;
  }

  // The origin is on the line of edge i at this root already; is it between the ends?
  bool between(int i, Root& root) const {
    const Corner e = corner_[(i + 1) % n_] - corner_[i];
    if (zeroAt(e, root)) return zeroAt(corner_[i], root);
    return signAt(dotProduct(corner_[i], e), root) <= 0 &&
           signAt(dotProduct(corner_[(i + 1) % n_], e), root) >= 0;
  }
  bool onAnyEdge(Root& root) const {
    for (int i = 0; i < n_; ++i)
      if (zeroAt(crossProduct(corner_[i], corner_[(i + 1) % n_]), root) && between(i, root)) return true;
    return false;
  }

  // All motion within a plane through the origin: contact at the start, or first on an edge.
  Answer coplanar() const {
    Root zero{{}, {}, 0, 0, true};
    if (zeroAt(normal_, zero) ? onAnyEdge(zero) : inside(zero)) return {true, 0, 0};
    Answer best;
    for (int i = 0; i < n_; ++i) {
      const Corner onLine = crossProduct(corner_[i], corner_[(i + 1) % n_]);
      // All motion along a line as well: contact begins with a corner.
      const Corner& conditions = vanishes(onLine) ? corner_[i] : onLine;
      if (vanishes(conditions)) return {true, 0, 0};
      Poly common;
      for (const Poly& p : conditions) common = commonDivisor(common, p);
      if (common.size() <= 1) continue;
      for (Root& root : rootsOf(common)) {
        if (!vanishes(onLine) && !between(i, root)) continue;
        const Answer candidate = at(root);
        if (!best.hit || candidate.to < best.to) best = candidate;
        break;
      }
    }
    return best;
  }

  static Answer at(Root& root) {
    while (!root.exactly && root.k < 50) root.refine();
    return {true, root.lower(), root.upper()};
  }

  int n_;
  std::array<int64_t, 3> start_[4], end_[4];
  Corner corner_[4], normal_;
};

inline Answer answerExactly(const Query& query) { return Oracle(query).answer(); }

// Distance at a time, by solving for the parameters of the nearest points; in extended precision, because the
// equations of nearly parallel edges lose twice the digits.
using Wide3 = Eigen::Matrix<long double, 3, 1>;

inline long double pointSegment(const Wide3& p, const Wide3& a, const Wide3& b) {
  const Wide3 e = b - a;
  const long double ee = e.squaredNorm();
  const long double s = ee > 0 ? std::clamp((p - a).dot(e) / ee, 0.0L, 1.0L) : 0.0L;
  return (p - a - s * e).norm();
}
inline long double pointTriangle(const Wide3& p, const Wide3& a, const Wide3& b, const Wide3& c) {
  long double best = std::min({pointSegment(p, a, b), pointSegment(p, b, c), pointSegment(p, c, a)});
  const Wide3 e = b - a, f = c - a, d = p - a;
  const long double ee = e.dot(e), ef = e.dot(f), ff = f.dot(f), det = ee * ff - ef * ef;
  if (det > 1e-30L * ee * ff) {
    const long double u = (ff * d.dot(e) - ef * d.dot(f)) / det, v = (ee * d.dot(f) - ef * d.dot(e)) / det;
    if (u >= 0 && v >= 0 && u + v <= 1) best = std::min(best, (d - u * e - v * f).norm());
  }
  return best;
}
inline long double segmentSegment(const Wide3& a, const Wide3& b, const Wide3& c, const Wide3& d) {
  long double best =
      std::min({pointSegment(a, c, d), pointSegment(b, c, d), pointSegment(c, a, b), pointSegment(d, a, b)});
  // By cross products, which lose only as many digits as the angle is small; its square would hide the
  // answer.
  const Wide3 e = b - a, f = d - c, r = c - a, n = e.cross(f);
  const long double nn = n.dot(n);
  if (nn > 1e-30L * e.dot(e) * f.dot(f)) {
    const long double u = r.cross(f).dot(n) / nn, v = r.cross(e).dot(n) / nn;
    if (u >= 0 && u <= 1 && v >= 0 && v <= 1) best = std::min(best, std::abs(r.dot(n)) / std::sqrt(nn));
  }
  return best;
}
inline double distanceAt(bool edges, const std::array<Vec3, 8>& x, double t) {
  Wide3 y[4];
  // Relative to one point first: far from the world's origin, interpolated positions would cost digits.
  for (size_t i = 0; i < 4; ++i) {
    const Wide3 from = x[i].cast<long double>() - x[0].cast<long double>();
    const Wide3 to = x[i + 4].cast<long double>() - x[4].cast<long double>();
    y[i] = (1 - static_cast<long double>(t)) * from + static_cast<long double>(t) * to;
  }
  return double(edges ? segmentSegment(y[0], y[1], y[2], y[3]) : pointTriangle(y[0], y[1], y[2], y[3]));
}

}  // namespace sunder::spatial::exact
