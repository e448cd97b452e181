#include "sunder/cut/kernel/exact_point.h"

#include "sunder/base/error.h"

#include <cmath>

#include <fmt/format.h>

namespace sunder::cut {

namespace {

using geometry::BigInteger;

// The tests are determinants of degree 38 in the coordinates at most, and big integers have 10,624 bits.
constexpr int kMostBits = 240;
constexpr double kUlp = 0x1p-52;

const BigInteger kOne(1, 0, false);

std::span<const double> numbersOf(std::span<const Vec3> positions) {
  static_assert(sizeof(Vec3) == 3 * sizeof(double));
  return {positions.empty() ? nullptr : positions[0].data(), 3 * positions.size()};
}

}  // namespace

ExactGrid::ExactGrid(std::span<const Vec3> positions, const std::string& name)
    : fixed_(numbersOf(positions)) {
  for (const Vec3& p : positions) largest_ = std::max(largest_, p.cwiseAbs().maxCoeff());
  if (largest_ > 0 && std::ilogb(largest_) - fixed_.exponent() > kMostBits)
    throw Error(ErrorKind::Limit,
                fmt::format("the {} crosses itself, and its coordinates span more than {} binary digits",
                            name, kMostBits))
        .hint("coordinates that are almost zero can be made zero");
}

ExactPoint ExactGrid::point(const Vec3& p) const {
  ExactPoint out;
  for (int k = 0; k < 3; ++k) out.x[k] = fixed_.integer(p[k]);
  out.w = kOne;
  out.at = p;
  return out;
}

void ExactGrid::round(ExactPoint& p) const {
  const int shift = -static_cast<int>(p.w.bits());
  const double w = p.w.toDouble(shift);
  for (int k = 0; k < 3; ++k)
    p.at[k] = p.x[k].sign() == 0 ? 0.0 : std::ldexp(p.x[k].toDouble(shift) / w, fixed_.exponent());
}

ExactPlane3 ExactGrid::plane(const Vec3& a, const Vec3& b, const Vec3& c) const {
  ExactPlane3 out;
  BigInteger u[3], v[3], o[3];
  for (int k = 0; k < 3; ++k) {
    o[k] = fixed_.integer(a[k]);
    u[k] = fixed_.integer(b[k]) - o[k];
    v[k] = fixed_.integer(c[k]) - o[k];
  }
  for (int k = 0; k < 3; ++k) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    out.n[k] = u[i] * v[j] - u[j] * v[i];
  }
  out.d = out.n[0] * o[0] + out.n[1] * o[1] + out.n[2] * o[2];
  return out;
}

ExactPlane3 ExactGrid::wall(const Vec3& a, const Vec3& b, int axis) const {
  ExactPlane3 out;
  const int i = (axis + 1) % 3, j = (axis + 2) % 3;
  out.n[i] = fixed_.integer(a[j]) - fixed_.integer(b[j]);
  out.n[j] = fixed_.integer(b[i]) - fixed_.integer(a[i]);
  out.d = out.n[i] * fixed_.integer(a[i]) + out.n[j] * fixed_.integer(a[j]);
  return out;
}

namespace {

BigInteger valueOf(const ExactPlane3& plane, const ExactPoint& p) {
  return (plane.n[0] * p.x[0] + plane.n[1] * p.x[1]) + (plane.n[2] * p.x[2] - plane.d * p.w);
}

}  // namespace

ExactPoint ExactGrid::meet(const ExactPoint& p, const ExactPoint& q, const ExactPlane3& plane) const {
  BigInteger from = valueOf(plane, p), to = valueOf(plane, q);
  ExactPoint out;
  out.w = to * p.w - from * q.w;
  const bool turned = out.w.sign() < 0;
  if (turned) out.w = from * q.w - to * p.w;
  for (int k = 0; k < 3; ++k) out.x[k] = turned ? from * q.x[k] - to * p.x[k] : to * p.x[k] - from * q.x[k];
  round(out);
  return out;
}

ExactPoint ExactGrid::middle(const ExactPoint& a, const ExactPoint& b, const ExactPoint& c) const {
  ExactPoint out;
  const BigInteger bc = b.w * c.w, ca = c.w * a.w, ab = a.w * b.w;
  for (int k = 0; k < 3; ++k) out.x[k] = (a.x[k] * bc + b.x[k] * ca) + c.x[k] * ab;
  out.w = BigInteger(3, 0, false) * (a.w * bc);
  round(out);
  return out;
}

int ExactGrid::side(const ExactPlane3& plane, const ExactPoint& p) const { return valueOf(plane, p).sign(); }

int ExactGrid::compare(const ExactPoint& p, const ExactPoint& q, int axis) const {
  const double difference = p.at[axis] - q.at[axis];
  if (std::abs(difference) > 8 * kUlp * largest_) return difference < 0 ? -1 : 1;
  return (p.x[axis] * q.w - q.x[axis] * p.w).sign();
}

int ExactGrid::compare(const ExactPoint& p, const ExactPoint& q) const {
  for (int axis = 0; axis < 3; ++axis)
    if (const int c = compare(p, q, axis); c != 0) return c;
  return 0;
}

int ExactGrid::turn(const ExactPoint& a, const ExactPoint& b, const ExactPoint& c, int axis) const {
  const int i = (axis + 1) % 3, j = (axis + 2) % 3;
  const double ux = b.at[i] - a.at[i], uy = b.at[j] - a.at[j], vx = c.at[i] - a.at[i], vy = c.at[j] - a.at[j];
  const double left = ux * vy, right = uy * vx;
  const double bound = 16 * kUlp * largest_ * (std::abs(ux) + std::abs(uy) + std::abs(vx) + std::abs(vy)) +
                       4 * kUlp * (std::abs(left) + std::abs(right));
  if (std::abs(left - right) > bound) return left > right ? 1 : -1;
  const BigInteger &ai = a.x[i], &aj = a.x[j], &bi = b.x[i], &bj = b.x[j];
  return (c.x[i] * (aj * b.w - bj * a.w) + (c.x[j] * (a.w * bi - b.w * ai) + c.w * (ai * bj - bi * aj)))
      .sign();
}

}  // namespace sunder::cut
