#include "sunder/fem/solid/tangent_kernel.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sunder/fem/solid/tangent_kernel.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per target
#include <hwy/highway.h>

// clang-format off: has to come after the loop over targets
#include "sunder/fem/solid/batch_lanes_inl.h"
#include "sunder/fem/solid/model_lanes_inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace sunder::fem::kernels::solid::HWY_NAMESPACE {

// A matrix with the negative eigenvalues of m as zero, where it has any.
HWY_INLINE SymmetricLanes madePositive(const SymmetricLanes& m) {
  const V zero = hn::Zero(D());
  const V minor = hn::Sub(hn::Mul(m.xx, m.yy), hn::Mul(m.xy, m.xy));
  const M3 columns{{m.xx, m.xy, m.zx}, {m.xy, m.yy, m.yz}, {m.zx, m.yz, m.zz}};
  const auto positive =
      hn::And(hn::And(hn::Gt(m.xx, zero), hn::Gt(minor, zero)), hn::Gt(determinant(columns), zero));
  if (hn::AllTrue(D(), positive)) return m;
  const EigenLanes e = eigen(m);
  const V3 values = largest(e.values, zero);
  const M3 scaled{e.vectors.a * values.x, e.vectors.b * values.y, e.vectors.c * values.z};
  const M3 r = times(scaled, transposed(e.vectors));
  return {hn::IfThenElse(positive, m.xx, r.a.x), hn::IfThenElse(positive, m.yy, r.b.y),
          hn::IfThenElse(positive, m.zz, r.c.z), hn::IfThenElse(positive, m.xy, r.b.x),
          hn::IfThenElse(positive, m.yz, r.c.y), hn::IfThenElse(positive, m.zx, r.c.x)};
}

// The second derivative as it acts on pairs of entries: `direct` on each with itself, `crossed` on the two.
struct Pairs {
  SymmetricLanes stretch;
  V3 direct, crossed;
};
HWY_INLINE Pairs pairsOf(const Curvature& c, bool positive, V weight) {
  const V half = hn::Mul(number(0.5), weight), zero = hn::Zero(D());
  const SymmetricLanes s = positive ? madePositive(c.stretch) : c.stretch;
  const V3 twist = positive ? largest(c.twist, zero) : c.twist;
  const V3 flip = positive ? largest(c.flip, zero) : c.flip;
  return {{hn::Mul(s.xx, weight), hn::Mul(s.yy, weight), hn::Mul(s.zz, weight), hn::Mul(s.xy, weight),
           hn::Mul(s.yz, weight), hn::Mul(s.zx, weight)},
          (flip + twist) * half,
          (flip - twist) * half};
}

HWY_INLINE V two(V a, V p, V b, V q) { return hn::Add(hn::Mul(a, p), hn::Mul(b, q)); }
HWY_INLINE V three(V a, V p, V b, V q, V c, V r) { return hn::Add(two(a, p, b, q), hn::Mul(c, r)); }

// Of shape functions with gradients p and q in the frame of V, turned by u.
HWY_INLINE M3 blockOf(const Pairs& k, const M3& u, const V3& p, const V3& q) {
  const V xx = hn::Mul(p.x, q.x), xy = hn::Mul(p.x, q.y), xz = hn::Mul(p.x, q.z);
  const V yx = hn::Mul(p.y, q.x), yy = hn::Mul(p.y, q.y), yz = hn::Mul(p.y, q.z);
  const V zx = hn::Mul(p.z, q.x), zy = hn::Mul(p.z, q.y), zz = hn::Mul(p.z, q.z);
  const SymmetricLanes& s = k.stretch;
  const V3 &c = k.direct, &d = k.crossed;
  const M3 block{{three(s.xx, xx, c.z, yy, c.y, zz), two(s.xy, yx, d.z, xy), two(s.zx, zx, d.y, xz)},
                 {two(s.xy, xy, d.z, yx), three(s.yy, yy, c.z, xx, c.x, zz), two(s.yz, zy, d.x, yz)},
                 {two(s.zx, xz, d.y, zx), two(s.yz, yz, d.x, zy), three(s.zz, zz, c.y, xx, c.x, yy)}};
  return times(times(u, block), transposed(u));
}

// What fibres add: weight w_a w_b (n n^T + ratio (1 - n n^T)) with w the gradients along the fibres.
struct FibreBlock {
  M3 base;
  V3 along;  // of corners 1 to 3
};
HWY_INLINE FibreBlock fibreBlock(const Fibres& fibres, const M3& gradients, bool positive, V weight) {
  const V stretch = hn::Sub(fibres.length, number(1));
  V ratio = hn::Mul(stretch, fibres.inverse);
  if (positive) ratio = hn::Max(ratio, hn::Zero(D()));
  const V young = hn::Mul(fibres.young, weight), side = hn::Mul(young, ratio);
  const V3 n = fibres.now, scaled = n * hn::Sub(young, side);
  M3 base{scaled * n.x, scaled * n.y, scaled * n.z};
  base.a.x = hn::Add(base.a.x, side);
  base.b.y = hn::Add(base.b.y, side);
  base.c.z = hn::Add(base.c.z, side);
  return {base, transposedTimes(gradients, fibres.direction)};
}

// All ten blocks from the six of corners 1 to 3: rows of blocks add up to zero.
HWY_INLINE void putBlocks(const M3& k11, const M3& k21, const M3& k22, const M3& k31, const M3& k32,
                          const M3& k33, double (*rows)[kLanes]) {
  const V minus = number(-1);
  const M3 k10 = (k11 + transposed(k21) + transposed(k31)) * minus;
  const M3 k20 = (k21 + k22 + transposed(k32)) * minus;
  const M3 k30 = (k31 + k32 + k33) * minus;
  put(transposed(k10 + k20 + k30) * minus, rows);
  put(k10, rows + 9);
  put(k11, rows + 18);
  put(k20, rows + 27);
  put(k21, rows + 36);
  put(k22, rows + 45);
  put(k30, rows + 54);
  put(k31, rows + 63);
  put(k32, rows + 72);
  put(k33, rows + 81);
}

HWY_ATTR void Blocks(const SolidView& view, size_t first, size_t last, TangentKind kind, double scale,
                     double* out) {
  HWY_ALIGN double rows[kBlockRecord][kLanes];
  for (size_t i = first; i < last; ++i) {
    const ElementBatch& b = view.batches[i];
    for (size_t lane = 0; lane < kBatchTets; lane += kLanes, out += kBlockRecord * kLanes) {
      const Tets t = tetsOf(b, lane);
      const M3 f = deformation(b, t.gradients, lane, view.positions);
      const V p = view.pressures ? hn::LoadU(D(), view.pressures + kBatchTets * i + lane) : hn::Zero(D());
      const V weight = hn::Mul(number(scale), t.volume);
      Singular w{identity(), identity(), vector(1, 1, 1)};
      if (b.model != ElasticModel::Linear) w = singular(f, polarRotation(f));
      const Pairs k = pairsOf(curvature(b.model, w.s, t.mu, t.lambda, p, kind.frozen), kind.positive, weight);
      const V3 g1 = transposedTimes(w.v, t.gradients.a), g2 = transposedTimes(w.v, t.gradients.b),
               g3 = transposedTimes(w.v, t.gradients.c);
      M3 k11 = blockOf(k, w.u, g1, g1), k21 = blockOf(k, w.u, g2, g1), k22 = blockOf(k, w.u, g2, g2),
         k31 = blockOf(k, w.u, g3, g1), k32 = blockOf(k, w.u, g3, g2), k33 = blockOf(k, w.u, g3, g3);
      if (b.fibres != kNoIndex) {
        const FibreBlock fibre =
            fibreBlock(fibresOf(view.fibres[b.fibres], lane, f), t.gradients, kind.positive, weight);
        const V3 a = fibre.along;
        k11 = k11 + fibre.base * hn::Mul(a.x, a.x);
        k21 = k21 + fibre.base * hn::Mul(a.y, a.x);
        k22 = k22 + fibre.base * hn::Mul(a.y, a.y);
        k31 = k31 + fibre.base * hn::Mul(a.z, a.x);
        k32 = k32 + fibre.base * hn::Mul(a.z, a.y);
        k33 = k33 + fibre.base * hn::Mul(a.z, a.z);
      }
      putBlocks(k11, k21, k22, k31, k32, k33, rows);
      scatterRecords<kBlockRecord>(rows, out);
    }
  }
}

HWY_ATTR void TurnedGradients(const SolidView& view, size_t first, size_t last, double scale, double* out) {
  HWY_ALIGN double rows[kTurnedRecord][kLanes];
  for (size_t i = first; i < last; ++i) {
    const ElementBatch& b = view.batches[i];
    for (size_t lane = 0; lane < kBatchTets; lane += kLanes, out += kTurnedRecord * kLanes) {
      const Tets t = tetsOf(b, lane);
      M3 h = t.gradients;
      if (b.model != ElasticModel::Linear)
        h = times(polarRotation(deformation(b, t.gradients, lane, view.positions)), h);
      const V weight = hn::Mul(number(scale), t.volume), zero = hn::Zero(D());
      put(vector(0, 0, 0) - (h.a + h.b + h.c), rows);
      hn::Store(hn::Mul(weight, t.mu), D(), rows[3]);
      put(h.a, rows + 4);
      hn::Store(hn::Mul(weight, t.lambda), D(), rows[7]);
      put(h.b, rows + 8);
      hn::Store(zero, D(), rows[11]);
      put(h.c, rows + 12);
      hn::Store(zero, D(), rows[15]);
      scatterRecords<kTurnedRecord>(rows, out);
    }
  }
}

using D4 = hn::CappedTag<double, 4>;
using V4 = hn::Vec<D4>;
constexpr size_t kWide4 = hn::MaxLanes(D4()), kParts4 = 4 / kWide4;

// Four numbers, in as many registers as it takes.
struct Quad {
  V4 part[kParts4];
};
HWY_INLINE Quad zeroQuad() {
  Quad q;
  for (size_t p = 0; p < kParts4; ++p) q.part[p] = hn::Zero(D4());
  return q;
}
HWY_INLINE Quad loadQuad(const double* at) {
  Quad q;
  for (size_t p = 0; p < kParts4; ++p) q.part[p] = hn::LoadU(D4(), at + p * kWide4);
  return q;
}
HWY_INLINE void storeQuad(const Quad& q, double* at) {
  for (size_t p = 0; p < kParts4; ++p) hn::StoreU(q.part[p], D4(), at + p * kWide4);
}
HWY_INLINE void addTo(Quad& q, const Quad& r) {
  for (size_t p = 0; p < kParts4; ++p) q.part[p] = hn::Add(q.part[p], r.part[p]);
}
HWY_INLINE Quad scaledQuad(const Quad& q, double s) {
  const V4 by = hn::Set(D4(), s);
  Quad r;
  for (size_t p = 0; p < kParts4; ++p) r.part[p] = hn::Mul(q.part[p], by);
  return r;
}
HWY_INLINE void addProduct(Quad& q, const Quad& r, double s) { addTo(q, scaledQuad(r, s)); }

// Blocks of a chunk ascend with gaps, which only a request ahead of time hides in large matrices.
HWY_INLINE double* blockAt(const GatherTables& tables, size_t entry, size_t last, double* values) {
  constexpr size_t kAhead = 12;
  const double* ahead = values + 9 * size_t(tables.slots[std::min(entry + kAhead, last - 1)]);
  hwy::Prefetch(ahead);
  hwy::Prefetch(ahead + 8);
  return values + 9 * size_t(tables.slots[entry]);
}

HWY_ATTR void AddBlocks(const GatherTables& tables, size_t first, size_t last, const double* records,
                        double* values) {
  constexpr uint8_t kPair[16] = {0, 0, 0, 0, 1, 2, 0, 0, 3, 4, 5, 0, 6, 7, 8, 9};
  for (size_t e = first; e < last; ++e) {
    double* to = blockAt(tables, e, last, values);
    Quad a = zeroQuad(), b = zeroQuad();
    double c = 0;
    for (uint32_t s = tables.starts[e]; s < tables.starts[e + 1]; ++s) {
      const uint32_t code = tables.codes[s];
      const double* from = records + kBlockRecord * (code >> 4) + 9 * size_t(kPair[code & 15]);
      addTo(a, loadQuad(from));
      addTo(b, loadQuad(from + 4));
      c += from[8];
    }
    addTo(a, loadQuad(to));
    addTo(b, loadQuad(to + 4));
    storeQuad(a, to);
    storeQuad(b, to + 4);
    to[8] += c;
  }
}

// Sums of w p q^T, column by column.
struct GradientSum {
  Quad column[3];
};
HWY_INLINE GradientSum zeroSum() { return {{zeroQuad(), zeroQuad(), zeroQuad()}}; }
HWY_INLINE void addOuter(GradientSum& sum, const Quad& p, const double* q, double weight) {
  const Quad scaled = scaledQuad(p, weight);
  for (size_t k = 0; k < 3; ++k) addProduct(sum.column[k], scaled, q[k]);
}
HWY_INLINE void storeSum(const GradientSum& sum, double (&at)[12]) {
  for (size_t k = 0; k < 3; ++k) storeQuad(sum.column[k], at + 4 * k);
}
// to += ratio l + m^T + trace(m) 1.
HWY_INLINE void addHooke(const double (&l)[12], const double (&m)[12], double ratio, double* to) {
  const double trace = (m[0] + m[5]) + m[10];
  for (size_t j = 0; j < 3; ++j)
    for (size_t i = 0; i < 3; ++i) {
      const double entry = ratio * l[4 * j + i] + m[4 * i + j];
      to[3 * j + i] += i == j ? entry + trace : entry;
    }
}

HWY_ATTR void AddTurnedOfOneRatio(const GatherTables& tables, size_t first, size_t last,
                                  const double* records, double ratio, double* values) {
  double m[12];
  for (size_t e = first; e < last; ++e) {
    double* to = blockAt(tables, e, last, values);
    GradientSum sum = zeroSum();
    for (uint32_t s = tables.starts[e]; s < tables.starts[e + 1]; ++s) {
      const uint32_t code = tables.codes[s];
      const double* record = records + kTurnedRecord * (code >> 4);
      addOuter(sum, loadQuad(record + (code & 12)), record + 4 * (code & 3), record[3]);
    }
    storeSum(sum, m);
    addHooke(m, m, ratio, to);
  }
}

HWY_ATTR void AddTurned(const GatherTables& tables, size_t first, size_t last, const double* records,
                        double* values) {
  double l[12], m[12];
  for (size_t e = first; e < last; ++e) {
    double* to = blockAt(tables, e, last, values);
    GradientSum shear = zeroSum(), volume = zeroSum();
    for (uint32_t s = tables.starts[e]; s < tables.starts[e + 1]; ++s) {
      const uint32_t code = tables.codes[s];
      const double* record = records + kTurnedRecord * (code >> 4);
      const Quad p = loadQuad(record + (code & 12));
      addOuter(shear, p, record + 4 * (code & 3), record[3]);
      addOuter(volume, p, record + 4 * (code & 3), record[7]);
    }
    storeSum(shear, m);
    storeSum(volume, l);
    addHooke(l, m, 1, to);
  }
}

}  // namespace sunder::fem::kernels::solid::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sunder::fem::kernels::solid {

HWY_EXPORT(Blocks);
HWY_EXPORT(TurnedGradients);
HWY_EXPORT(AddBlocks);
HWY_EXPORT(AddTurned);
HWY_EXPORT(AddTurnedOfOneRatio);

void blocks(const SolidView& view, size_t first, size_t last, TangentKind kind, double scale, double* out) {
  HWY_DYNAMIC_DISPATCH(Blocks)(view, first, last, kind, scale, out);
}
void turnedGradients(const SolidView& view, size_t first, size_t last, double scale, double* out) {
  HWY_DYNAMIC_DISPATCH(TurnedGradients)(view, first, last, scale, out);
}
void addBlocks(const GatherTables& tables, size_t first, size_t last, const double* records, double* values) {
  HWY_DYNAMIC_DISPATCH(AddBlocks)(tables, first, last, records, values);
}
void addTurned(const GatherTables& tables, size_t first, size_t last, const double* records, double* values) {
  HWY_DYNAMIC_DISPATCH(AddTurned)(tables, first, last, records, values);
}
void addTurnedOfOneRatio(const GatherTables& tables, size_t first, size_t last, const double* records,
                         double ratio, double* values) {
  HWY_DYNAMIC_DISPATCH(AddTurnedOfOneRatio)(tables, first, last, records, ratio, values);
}

}  // namespace sunder::fem::kernels::solid
#endif
