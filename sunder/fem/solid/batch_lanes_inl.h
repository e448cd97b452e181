// Batches of tetrahedra in vector lanes: gradients of shape functions, the gradient of the deformation,
// fibres, and results written out tetrahedron by tetrahedron. Read once for each vector target. Private to
// the room.
#if defined(SUNDER_FEM_BATCH_LANES_INL) == defined(HWY_TARGET_TOGGLE)  // once a target
#ifdef SUNDER_FEM_BATCH_LANES_INL
#undef SUNDER_FEM_BATCH_LANES_INL
#else
#define SUNDER_FEM_BATCH_LANES_INL
#endif

#include "sunder/base/math.h"
#include "sunder/fem/solid/element_batch.h"
#include "sunder/fem/solid/matrix_lanes_inl.h"

HWY_BEFORE_NAMESPACE();
namespace sunder::fem::kernels::solid::HWY_NAMESPACE {

HWY_INLINE V load(const double* at) { return hn::Load(D(), at); }
HWY_INLINE V3 load3(const double (*rows)[kBatchTets], size_t lane) {
  return {load(rows[0] + lane), load(rows[1] + lane), load(rows[2] + lane)};
}

// Lanes `lane` and on of a batch.
struct Tets {
  M3 gradients;  // of corners 1 to 3
  V volume, mu, lambda;
};
HWY_INLINE Tets tetsOf(const ElementBatch& b, size_t lane) {
  return {{load3(b.gradient, lane), load3(b.gradient + 3, lane), load3(b.gradient + 6, lane)},
          load(b.volume + lane),
          load(b.mu + lane),
          load(b.lambda + lane)};
}

HWY_INLINE V3 cornersOf(const ElementBatch& b, size_t corner, size_t lane, const Vec3* positions) {
  HWY_ALIGN double rows[3][kLanes];
  for (size_t l = 0; l < kLanes; ++l) {
    const double* from = positions[b.corner[corner][lane + l]].data();
    rows[0][l] = from[0];
    rows[1][l] = from[1];
    rows[2][l] = from[2];
  }
  return {load(rows[0]), load(rows[1]), load(rows[2])};
}

// F = sum of (x_k - x_0) g_k^T.
HWY_INLINE M3 deformation(const ElementBatch& b, const M3& g, size_t lane, const Vec3* positions) {
  const V3 origin = cornersOf(b, 0, lane, positions);
  const V3 p = cornersOf(b, 1, lane, positions) - origin, q = cornersOf(b, 2, lane, positions) - origin,
           r = cornersOf(b, 3, lane, positions) - origin;
  return {p * g.a.x + q * g.b.x + r * g.c.x, p * g.a.y + q * g.b.y + r * g.c.y,
          p * g.a.z + q * g.b.z + r * g.c.z};
}

// Fibres along `direction` at rest: how long they are now and which way they go; those that vanish go
// nowhere.
struct Fibres {
  V3 direction, now;
  V young, length, inverse;  // inverse of the length; 0 where it vanishes
};
HWY_INLINE Fibres fibresOf(const FibreBatch& b, size_t lane, const M3& f) {
  Fibres r;
  r.direction = load3(b.direction, lane);
  r.young = load(b.young + lane);
  const V3 image = times(f, r.direction);
  r.length = hn::Sqrt(dot(image, image));
  const auto there = hn::Gt(r.length, number(1e-12));
  r.inverse = hn::IfThenElseZero(there, hn::Div(number(1), hn::IfThenElse(there, r.length, number(1))));
  r.now = image * r.inverse;
  return r;
}

// Rows of a stack to records: number k of lane l goes to out[l * kRow + k]. Four by four where registers are
// that wide.
template <size_t kRow, size_t kStack>
HWY_INLINE void scatterRecords(const double (&rows)[kStack][kLanes], double* out) {
  static_assert(kRow <= kStack);
  size_t k = 0;
  if constexpr (kLanes >= 4) {
    const hn::CappedTag<double, 4> d;
    for (; k + 4 <= kRow; k += 4)
      for (size_t l = 0; l < kLanes; l += 4) {
        const auto p = hn::Load(d, rows[k] + l), q = hn::Load(d, rows[k + 1] + l),
                   r = hn::Load(d, rows[k + 2] + l), s = hn::Load(d, rows[k + 3] + l);
        const auto pq0 = hn::InterleaveLower(d, p, q), pq1 = hn::InterleaveUpper(d, p, q);
        const auto rs0 = hn::InterleaveLower(d, r, s), rs1 = hn::InterleaveUpper(d, r, s);
        double* to = out + l * kRow + k;
        hn::StoreU(hn::ConcatLowerLower(d, rs0, pq0), d, to);
        hn::StoreU(hn::ConcatLowerLower(d, rs1, pq1), d, to + kRow);
        hn::StoreU(hn::ConcatUpperUpper(d, rs0, pq0), d, to + 2 * kRow);
        hn::StoreU(hn::ConcatUpperUpper(d, rs1, pq1), d, to + 3 * kRow);
      }
  }
  const size_t rest = k;
  for (size_t l = 0; l < kLanes; ++l)
    for (k = rest; k < kRow; ++k) out[l * kRow + k] = rows[k][l];
}
HWY_INLINE void put(const V3& v, double (*rows)[kLanes]) {
  hn::Store(v.x, D(), rows[0]);
  hn::Store(v.y, D(), rows[1]);
  hn::Store(v.z, D(), rows[2]);
}
HWY_INLINE void put(const M3& m, double (*rows)[kLanes]) {
  put(m.a, rows);
  put(m.b, rows + 3);
  put(m.c, rows + 6);
}

}  // namespace sunder::fem::kernels::solid::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
