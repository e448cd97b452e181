#include "sunder/cut/tet/plane_points.h"

#include "sunder/base/error.h"
#include "sunder/geometry/predicates.h"
#include "sunder/geometry/rows.h"
#include "sunder/geometry/tet_mesh.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sunder::cut {

namespace {

using geometry::BigInteger;
using geometry::kTetFaces;
using geometry::u32;

constexpr double kPlaneUlp = 0x1p-52;
constexpr double kSmallestArea = 1e-280;  // below it products lose digits
constexpr int8_t kNotAsked = 2;
// Sides are determinants of degree nine in the coordinates, and big integers have 10,624 bits.
constexpr int kMostPlaneBits = 1150;

struct BigVector {
  BigInteger x[3];
};

BigVector crossOf(const ExactPlane3& p, const ExactPlane3& q) {
  BigVector out;
  for (int k = 0; k < 3; ++k) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    out.x[k] = p.n[i] * q.n[j] - p.n[j] * q.n[i];
  }
  return out;
}

BigInteger dotOf(const ExactPlane3& p, const BigVector& v) {
  return (p.n[0] * v.x[0] + p.n[1] * v.x[1]) + p.n[2] * v.x[2];
}

}  // namespace

void PlanePoints::reset(const std::array<Vec3, 4>& tet, const CutSheets& sheets,
                        std::span<const uint32_t> faces) {
  tet_ = tet;
  sheets_ = &sheets;
  faces_ = faces;
  planes_.clear();
  points_.clear();
  fixed_.reset();
  exactCount_ = 0;
  reach_ = 0;
  for (const Vec3& p : tet) reach_ = std::max(reach_, (p - tet[0]).norm());
  for (uint32_t i = 0; i < 4; ++i) {
    Plane plane{.kind = Kind::Tet, .face = i};
    const Vec3 &a = tet[kTetFaces[i][0]], &b = tet[kTetFaces[i][1]], &c = tet[kTetFaces[i][2]];
    const Vec3 u = b - a, v = c - a, n = u.cross(v);
    const double length = n.norm();
    plane.normal = n / length;
    plane.offset = i == 0 ? plane.normal.dot(a - tet[0]) : 0;
    plane.error = 4 * (8 * u.norm() * v.norm() / length + 8) * kPlaneUlp * 2 * reach_;
    if (!std::isfinite(plane.error) || !(length > kSmallestArea))
      plane.error = std::numeric_limits<double>::infinity();
    addPlane(plane);
  }
  for (uint32_t v = 0; v < 4; ++v) {
    Point x{.planes = {(v + 1) % 4, (v + 2) % 4, (v + 3) % 4}};
    x.at = tet[v] - tet[0];
    x.error = 4 * kPlaneUlp * reach_;
    points_.push_back(x);
  }
}

uint32_t PlanePoints::addPlane(const Plane& plane) {
  const uint32_t number = u32(planes_.size());
  planes_.push_back(plane);
  if (signs_.size() <= number) signs_.emplace_back();
  signs_[number].clear();
  return number;
}

uint32_t PlanePoints::addFace(uint32_t face) {
  const geometry::Triangle& t = sheets_->triangle(face);
  Plane plane{.kind = Kind::Face, .face = face, .points = t};
  const Vec3 &a = sheets_->point(t[0]), &b = sheets_->point(t[1]), &c = sheets_->point(t[2]);
  const Vec3 u = b - a, v = c - a, n = u.cross(v);
  const double length = n.norm();
  plane.normal = n / length;
  Vec3 from = a - tet_[0];
  for (const Vec3* p : {&b, &c})
    if ((*p - tet_[0]).squaredNorm() < from.squaredNorm()) from = *p - tet_[0];
  plane.offset = plane.normal.dot(from);
  plane.error = 4 * (8 * u.norm() * v.norm() / length + 8) * kPlaneUlp * (reach_ + from.norm());
  if (!std::isfinite(plane.error) || !std::isfinite(plane.offset) || !(length > kSmallestArea))
    plane.error = std::numeric_limits<double>::infinity();
  return addPlane(plane);
}

uint32_t PlanePoints::wall(uint32_t face, size_t k) {
  const geometry::Triangle& t = sheets_->triangle(face);
  const uint32_t low = std::min(t[k], t[(k + 1) % 3]), high = std::max(t[k], t[(k + 1) % 3]);
  const int8_t axis = static_cast<int8_t>(sheets_->axis(face));
  for (uint32_t p = 4; p < planes_.size(); ++p)
    if (planes_[p].kind == Kind::Wall && planes_[p].points[0] == low && planes_[p].points[1] == high &&
        planes_[p].axis == axis)
      return p;
  Plane plane{.kind = Kind::Wall, .points = {low, high, kNoIndex}, .axis = axis};
  const Vec3 &a = sheets_->point(low), &b = sheets_->point(high);
  const int i = (axis + 1) % 3, j = (axis + 2) % 3;
  Vec3 n = Vec3::Zero();
  n[i] = a[j] - b[j];
  n[j] = b[i] - a[i];
  plane.normal = n / n.norm();
  const Vec3 u = a - tet_[0], v = b - tet_[0];
  const Vec3& from = u.squaredNorm() < v.squaredNorm() ? u : v;
  plane.offset = plane.normal.dot(from);
  plane.error = 64 * kPlaneUlp * (reach_ + from.norm());
  if (!std::isfinite(plane.offset) || !(n.norm() > 1e-140))
    plane.error = std::numeric_limits<double>::infinity();
  return addPlane(plane);
}

int PlanePoints::inside(uint32_t face, size_t k) const {
  const geometry::Triangle& t = sheets_->triangle(face);
  return t[k] < t[(k + 1) % 3] ? sheets_->turn(face) : -sheets_->turn(face);
}

uint32_t PlanePoints::addPoint(uint32_t p, uint32_t q, uint32_t r) {
  Point x{.planes = {p, q, r}};
  const Plane &a = planes_[p], &b = planes_[q], &c = planes_[r];
  const Vec3 bc = b.normal.cross(c.normal), ca = c.normal.cross(a.normal), ab = a.normal.cross(b.normal);
  const double d = a.normal.dot(bc);
  x.at = (a.offset * bc + b.offset * ca + c.offset * ab) / d;
  const double offsets = std::abs(a.offset) + std::abs(b.offset) + std::abs(c.offset);
  x.error = 2 * (a.error + b.error + c.error + kPlaneUlp * (8 * offsets + 16 * reach_)) / std::abs(d);
  if (!std::isfinite(x.error) || !x.at.allFinite()) {
    x.at.setZero();
    x.error = std::numeric_limits<double>::infinity();
  }
  points_.push_back(x);
  return u32(points_.size() - 1);
}

int PlanePoints::side(uint32_t point, uint32_t plane) {
  std::vector<int8_t>& signs = signs_[plane];
  if (signs.size() <= point) signs.resize(points_.size(), kNotAsked);
  if (signs[point] == kNotAsked) signs[point] = static_cast<int8_t>(sideOf(point, plane));
  return signs[point];
}

int PlanePoints::sideOf(uint32_t point, uint32_t plane) {
  const Point& x = points_[point];
  const Plane& h = planes_[plane];
  for (const uint32_t p : x.planes)
    if (p == plane) return 0;
  const double value = h.normal.dot(x.at) - h.offset;
  if (std::abs(value) > x.error + h.error) return value > 0 ? 1 : -1;
  if (point < 4 && h.kind == Kind::Face) return sideOfMeshVertex(tet_[point], sheets_->corners(h.face));
  return areOnePoint(x, h) ? 0 : exactSide(x, plane);
}

// Is the point on an edge, or in a corner, of a sheet that the plane runs through?
bool PlanePoints::areOnePoint(const Point& x, const Plane& h) const {
  for (const uint32_t p : h.points) {
    if (p == kNoIndex) continue;
    size_t with = 0, edges = 0;
    for (const uint32_t number : x.planes) {
      const auto& points = planes_[number].points;
      if (std::find(points.begin(), points.end(), p) == points.end()) continue;
      ++with;
    }
    if (with == 3) return true;
    if (with < 2) continue;
    // Two planes through p: do they share another point with h?
    for (const uint32_t q : h.points) {
      if (q == p || q == kNoIndex) continue;
      edges = 0;
      for (const uint32_t number : x.planes) {
        const auto& points = planes_[number].points;
        edges += std::find(points.begin(), points.end(), p) != points.end() &&
                 std::find(points.begin(), points.end(), q) != points.end();
      }
      if (edges >= 2) return true;
    }
  }
  return false;
}

const ExactPlane3& PlanePoints::exact(uint32_t plane) {
  Plane& h = planes_[plane];
  if (h.exact != kNoIndex) return *exact_[h.exact];
  if (!fixed_) {
    std::vector<double> numbers;
    const auto take = [&](const Vec3& p) { numbers.insert(numbers.end(), p.data(), p.data() + 3); };
    for (const Vec3& p : tet_) take(p);
    for (const uint32_t f : faces_)
      for (const uint32_t p : sheets_->triangle(f)) take(sheets_->point(p));
    fixed_.emplace(numbers);
    double largest = 0;
    for (const double x : numbers) largest = std::max(largest, std::abs(x));
    if (largest > 0 && std::ilogb(largest) - fixed_->exponent() > kMostPlaneBits)
      throw Error(ErrorKind::Limit, "the coordinates of tetrahedra and sheets span too many digits")
          .hint("coordinates that are almost zero can be made zero");
  }
  if (exactCount_ == exact_.size()) exact_.push_back(std::make_unique<ExactPlane3>());
  h.exact = exactCount_++;
  ExactPlane3& out = *exact_[h.exact];
  if (h.kind == Kind::Wall) {
    const Vec3 &a = sheets_->point(h.points[0]), &b = sheets_->point(h.points[1]);
    const int i = (h.axis + 1) % 3, j = (h.axis + 2) % 3;
    out.n[h.axis] = BigInteger();
    out.n[i] = fixed_->integer(a[j]) - fixed_->integer(b[j]);
    out.n[j] = fixed_->integer(b[i]) - fixed_->integer(a[i]);
    out.d = out.n[i] * fixed_->integer(a[i]) + out.n[j] * fixed_->integer(a[j]);
    return out;
  }
  const Vec3* corner[3];
  for (size_t k = 0; k < 3; ++k)
    corner[k] = h.kind == Kind::Tet ? &tet_[kTetFaces[h.face][k]] : &sheets_->point(h.points[k]);
  BigInteger u[3], v[3], o[3];
  for (int k = 0; k < 3; ++k) {
    o[k] = fixed_->integer((*corner[0])[k]);
    u[k] = fixed_->integer((*corner[1])[k]) - o[k];
    v[k] = fixed_->integer((*corner[2])[k]) - o[k];
  }
  for (int k = 0; k < 3; ++k) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    out.n[k] = u[i] * v[j] - u[j] * v[i];
  }
  out.d = (out.n[0] * o[0] + out.n[1] * o[1]) + out.n[2] * o[2];
  return out;
}

// With x = X / D in the planes p, q, r: the sign of (n . X - d D) / D, and where that is zero, of its
// derivatives by the shift, which moves the offset of a sheet's plane by its normal.
int PlanePoints::exactSide(const Point& x, uint32_t plane) {
  const ExactPlane3 &p = exact(x.planes[0]), &q = exact(x.planes[1]), &r = exact(x.planes[2]),
                    &s = exact(plane);
  const BigVector qr = crossOf(q, r);
  const BigInteger d = dotOf(p, qr), a = dotOf(s, qr), b = dotOf(s, crossOf(r, p)),
                   c = dotOf(s, crossOf(p, q));
  const int sign = ((p.d * a + q.d * b) + (r.d * c - s.d * d)).sign();
  if (sign != 0) return sign * d.sign();
  const BigInteger none(0, 0, false);
  const auto moves = [&](uint32_t number) { return planes_[number].kind != Kind::Tet; };
  for (int k = 0; k < 3; ++k) {
    BigInteger sum = none;
    if (moves(x.planes[0])) sum = sum + p.n[k] * a;
    if (moves(x.planes[1])) sum = sum + q.n[k] * b;
    if (moves(x.planes[2])) sum = sum + r.n[k] * c;
    if (moves(plane)) sum = sum - s.n[k] * d;
    if (sum.sign() != 0) return sum.sign() * d.sign();
  }
  return 0;
}

bool PlanePoints::isDependent(uint32_t p, uint32_t q) {
  const Vec3 cross = planes_[p].normal.cross(planes_[q].normal);
  if (cross.norm() > 1e-6 && std::isfinite(planes_[p].error + planes_[q].error)) return false;
  const BigVector exactCross = crossOf(exact(p), exact(q));
  return exactCross.x[0].sign() == 0 && exactCross.x[1].sign() == 0 && exactCross.x[2].sign() == 0;
}

unsigned PlanePoints::onFaces(uint32_t point) const {
  unsigned bits = 0;
  for (const uint32_t p : points_[point].planes)
    if (planes_[p].kind == Kind::Tet) bits |= 1u << planes_[p].face;
  return bits;
}

Vec3 PlanePoints::position(uint32_t point) {
  if (point < 4) return tet_[point];
  const Point& x = points_[point];
  if (x.error < 1e-12 * reach_) return tet_[0] + x.at;
  return meetingPoint(x.planes[0], x.planes[1], x.planes[2]);
}

Vec3 PlanePoints::meetingPoint(uint32_t first, uint32_t second, uint32_t third) {
  const ExactPlane3 &p = exact(first), &q = exact(second), &r = exact(third);
  const BigVector qr = crossOf(q, r), rp = crossOf(r, p), pq = crossOf(p, q);
  const BigInteger d = dotOf(p, qr);
  const int shift = -static_cast<int>(d.bits());
  const double scale = d.toDouble(shift);
  Vec3 out;
  for (int k = 0; k < 3; ++k) {
    const BigInteger x = (p.d * qr.x[k] + q.d * rp.x[k]) + r.d * pq.x[k];
    out[k] = x.sign() == 0 ? 0.0 : std::ldexp(x.toDouble(shift) / scale, fixed_->exponent());
  }
  return out;
}

}  // namespace sunder::cut
