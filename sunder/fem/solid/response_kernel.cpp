#include "sunder/fem/solid/response_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sunder/fem/solid/response_kernel.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per target
#include <hwy/highway.h>

// clang-format off: has to come after the loop over targets
#include "sunder/fem/solid/batch_lanes_inl.h"
#include "sunder/fem/solid/model_lanes_inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace sunder::fem::kernels::solid::HWY_NAMESPACE {

HWY_INLINE V pressuresOf(const SolidView& view, size_t batch, size_t lane) {
  return view.pressures ? hn::LoadU(D(), view.pressures + kBatchTets * batch + lane) : hn::Zero(D());
}

HWY_ATTR double Energy(const SolidView& view, size_t first, size_t last) {
  double sum = 0;
  HWY_ALIGN double energies[kLanes];
  for (size_t i = first; i < last; ++i) {
    const ElementBatch& b = view.batches[i];
    for (size_t lane = 0; lane < kBatchTets; lane += kLanes) {
      const Tets t = tetsOf(b, lane);
      const M3 f = deformation(b, t.gradients, lane, view.positions);
      V density = energyDensity(b.model, f, t.mu, t.lambda);
      if (b.fibres != kNoIndex) {
        const Fibres fibres = fibresOf(view.fibres[b.fibres], lane, f);
        const V stretch = hn::Sub(fibres.length, number(1));
        density = hn::Add(density, hn::Mul(hn::Mul(number(0.5), fibres.young), hn::Mul(stretch, stretch)));
      }
      hn::Store(hn::Mul(t.volume, density), D(), energies);
      for (const double e : energies) sum += e;
    }
  }
  return sum;
}

HWY_ATTR void Forces(const SolidView& view, size_t first, size_t last, double* forces) {
  HWY_ALIGN double rows[12][kLanes];
  for (size_t i = first; i < last; ++i) {
    const ElementBatch& b = view.batches[i];
    for (size_t lane = 0; lane < kBatchTets; lane += kLanes) {
      const Tets t = tetsOf(b, lane);
      const M3 f = deformation(b, t.gradients, lane, view.positions);
      M3 stress = piolaStress(b.model, f, t.mu, t.lambda, pressuresOf(view, i, lane));
      if (b.fibres != kNoIndex) {
        const Fibres fibres = fibresOf(view.fibres[b.fibres], lane, f);
        const V3 pull = fibres.now * hn::Mul(fibres.young, hn::Sub(fibres.length, number(1)));
        const V3& a = fibres.direction;
        stress = stress + M3{pull * a.x, pull * a.y, pull * a.z};
      }
      stress = stress * hn::Neg(t.volume);
      const V3 p = times(stress, t.gradients.a), q = times(stress, t.gradients.b),
               r = times(stress, t.gradients.c), none = vector(0, 0, 0);
      put(none - (p + q + r), rows);
      put(p, rows + 3);
      put(q, rows + 6);
      put(r, rows + 9);
      scatterRecords<12>(rows, forces + 12 * (kBatchTets * i + lane));
    }
  }
}

HWY_ATTR void Ratios(const SolidView& view, size_t first, size_t last, double* ratios) {
  for (size_t i = first; i < last; ++i) {
    const ElementBatch& b = view.batches[i];
    for (size_t lane = 0; lane < kBatchTets; lane += kLanes) {
      const Tets t = tetsOf(b, lane);
      const M3 f = deformation(b, t.gradients, lane, view.positions);
      const V trace = hn::Sub(add(f.a.x, f.b.y, f.c.z), number(2));
      const V ratio = b.model == ElasticModel::Linear ? trace : determinant(f);
      hn::StoreU(ratio, D(), ratios + kBatchTets * i + lane);
    }
  }
}

HWY_ATTR void RatioGradients(const SolidView& view, size_t first, size_t last, double* gradients) {
  HWY_ALIGN double rows[12][kLanes];
  for (size_t i = first; i < last; ++i) {
    const ElementBatch& b = view.batches[i];
    for (size_t lane = 0; lane < kBatchTets; lane += kLanes) {
      const Tets t = tetsOf(b, lane);
      M3 cofactor = identity();
      if (b.model != ElasticModel::Linear)
        cofactor = cofactors(deformation(b, t.gradients, lane, view.positions));
      cofactor = cofactor * hn::Mul(number(0.25), t.volume);
      const V3 p = times(cofactor, t.gradients.a), q = times(cofactor, t.gradients.b),
               r = times(cofactor, t.gradients.c), none = vector(0, 0, 0);
      put(none - (p + q + r), rows);
      put(p, rows + 3);
      put(q, rows + 6);
      put(r, rows + 9);
      scatterRecords<12>(rows, gradients + 12 * (kBatchTets * i + lane));
    }
  }
}

// Areas and volumes count as at least this much of what they were.
constexpr double kLeastRatio = 0.1;

HWY_ATTR void Stresses(const SolidView& view, size_t first, size_t last, double* states) {
  HWY_ALIGN double rows[18][kLanes];
  for (size_t i = first; i < last; ++i) {
    const ElementBatch& b = view.batches[i];
    for (size_t lane = 0; lane < kBatchTets; lane += kLanes) {
      const Tets t = tetsOf(b, lane);
      const M3 f = deformation(b, t.gradients, lane, view.positions), r = polarRotation(f);
      const V p = pressuresOf(view, i, lane);
      M3 stress;
      if (b.model == ElasticModel::Linear) {
        stress = piolaStress(b.model, f, t.mu, t.lambda, p);
      } else {
        const Singular w = singular(f, r);
        const V3 areas = largest(otherProducts(w.s), number(kLeastRatio));
        const V3 principal = product(principalStress(b.model, w.s, t.mu, t.lambda, p), reciprocal(areas));
        stress = times(M3{w.u.a * principal.x, w.u.b * principal.y, w.u.c * principal.z}, transposed(w.u));
      }
      if (b.fibres != kNoIndex) {
        const Fibres fibres = fibresOf(view.fibres[b.fibres], lane, f);
        const V volume = hn::Max(determinant(f), number(kLeastRatio));
        const V pull = hn::Mul(fibres.young, hn::Mul(hn::Sub(fibres.length, number(1)), fibres.length));
        const V3 n = fibres.now, scaled = n * hn::Div(pull, volume);
        stress = stress + M3{scaled * n.x, scaled * n.y, scaled * n.z};
      }
      put(stress, rows);
      put(r, rows + 9);
      scatterRecords<18>(rows, states + 18 * (kBatchTets * i + lane));
    }
  }
}

}  // namespace sunder::fem::kernels::solid::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sunder::fem::kernels::solid {

HWY_EXPORT(Energy);
HWY_EXPORT(Forces);
HWY_EXPORT(Ratios);
HWY_EXPORT(RatioGradients);
HWY_EXPORT(Stresses);

double energy(const SolidView& view, size_t first, size_t last) {
  return HWY_DYNAMIC_DISPATCH(Energy)(view, first, last);
}
void forces(const SolidView& view, size_t first, size_t last, double* out) {
  HWY_DYNAMIC_DISPATCH(Forces)(view, first, last, out);
}
void ratios(const SolidView& view, size_t first, size_t last, double* out) {
  HWY_DYNAMIC_DISPATCH(Ratios)(view, first, last, out);
}
void ratioGradients(const SolidView& view, size_t first, size_t last, double* out) {
  HWY_DYNAMIC_DISPATCH(RatioGradients)(view, first, last, out);
}
void stresses(const SolidView& view, size_t first, size_t last, double* out) {
  HWY_DYNAMIC_DISPATCH(Stresses)(view, first, last, out);
}

}  // namespace sunder::fem::kernels::solid
#endif
