#include "sunder/soft/embed/skin_kernel.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sunder/soft/embed/skin_kernel.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per target
#include <hwy/highway.h>

// clang-format off: has to come after the loop over targets
#include "sunder/base/lanes_inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace sunder::soft::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using lanes::HWY_NAMESPACE::dot;
using lanes::HWY_NAMESPACE::Lanes3;

using Wide = hn::ScalableTag<float>;
using One = hn::CappedTag<float, 1>;

// Calls body(tag, vertex) for all vertices of the range, as many at a time as the tag has lanes. `Setup`
// makes what a tetrahedron's vertices share.
template <class Setup>
HWY_INLINE void overRange(const SkinRange& range, const Setup& setup) {
  const Wide wide;
  const size_t lanes = hn::Lanes(wide);
  size_t tet = range.tet, at = range.begin;
  while (at < range.end) {
    const size_t end = std::min<size_t>(range.first[tet + 1], range.end);
    size_t i = at;
    if (i < end) {
      const auto body = setup(wide, tet);
      for (; i < end && i + lanes <= range.end; i += lanes) body(i);
    }
    if (i < end) {
      const auto body = setup(One(), tet);
      for (; i < end; ++i) body(i);
    }
    at = end;
    ++tet;
  }
}

template <class D>
HWY_INLINE Lanes3<hn::Vec<D>> broadcast(D d, const float* p) {
  return {hn::Set(d, p[0]), hn::Set(d, p[1]), hn::Set(d, p[2])};
}

template <class D>
struct PlaceBody {
  using V = hn::Vec<D>;
  const float* const* weights;
  float* out;
  Lanes3<V> a, b, c, e;

  HWY_INLINE void operator()(size_t i) const {
    const D d;
    const V wa = hn::LoadU(d, weights[0] + i), wb = hn::LoadU(d, weights[1] + i);
    const V wc = hn::LoadU(d, weights[2] + i), we = hn::LoadU(d, weights[3] + i);
    // In this order: a weight of zero anywhere leaves the bits of the others' sum. The last zero makes one
    // zero of both.
    const Lanes3<V> sum = a * wa + b * wb + c * wc + e * we;
    const V zero = hn::Zero(d);
    hn::StoreInterleaved3(hn::Add(sum.x, zero), hn::Add(sum.y, zero), hn::Add(sum.z, zero), d, out + 3 * i);
  }
};

template <class D>
HWY_INLINE void storeUnit(D d, const Lanes3<hn::Vec<D>>& n, float* out) {
  using V = hn::Vec<D>;
  const V squared = dot(n, n), zero = hn::Zero(d);
  const auto some = hn::Gt(squared, hn::Set(d, 1e-30f));
  const V scale = hn::Div(hn::Set(d, 1.0f), hn::Sqrt(hn::IfThenElse(some, squared, hn::Set(d, 1.0f))));
  const Lanes3<V> unit = n * scale;
  hn::StoreInterleaved3(hn::IfThenElse(some, unit.x, zero), hn::IfThenElse(some, unit.y, zero),
                        hn::IfThenElse(some, unit.z, zero), d, out);
}

template <class D>
struct NormalBody {
  using V = hn::Vec<D>;
  const float* const* covectors;
  float* out;
  Lanes3<V> a, b, c;

  HWY_INLINE void operator()(size_t i) const {
    const D d;
    const Lanes3<V> n = a * hn::LoadU(d, covectors[0] + i) + b * hn::LoadU(d, covectors[1] + i) +
                        c * hn::LoadU(d, covectors[2] + i);
    storeUnit(d, n, out + 3 * i);
  }
};

template <class D>
struct SmoothBody {
  using V = hn::Vec<D>;
  const float* const* weights;
  const float* const* normals;
  const float* maps;  // of the tetrahedron
  float* out;

  HWY_INLINE void operator()(size_t i) const {
    const D d;
    const V x = hn::LoadU(d, normals[0] + i), y = hn::LoadU(d, normals[1] + i),
            z = hn::LoadU(d, normals[2] + i);
    Lanes3<V> sum{hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    for (size_t k = 0; k < 4; ++k) {
      const float* m = maps + 9 * k;
      const auto row = [&](size_t r) HWY_ATTR {
        return dot(hn::Set(d, m[3 * r]), hn::Set(d, m[3 * r + 1]), hn::Set(d, m[3 * r + 2]), x, y, z);
      };
      const Lanes3<V> mapped{row(0), row(1), row(2)};
      sum = sum + mapped * hn::LoadU(d, weights[k] + i);
    }
    storeUnit(d, sum, out + 3 * i);
  }
};

void Place(const SkinRange& range, const float* const* weights, const float* corners, float* out) {
  overRange(range, [&](auto d, size_t tet) HWY_ATTR {
    const float* p = corners + 12 * tet;
    return PlaceBody<decltype(d)>{
        weights, out, broadcast(d, p), broadcast(d, p + 3), broadcast(d, p + 6), broadcast(d, p + 9)};
  });
}

void Normals(const SkinRange& range, const float* const* covectors, const float* cofactors, float* out) {
  overRange(range, [&](auto d, size_t tet) HWY_ATTR {
    const float* p = cofactors + 9 * tet;
    return NormalBody<decltype(d)>{covectors, out, broadcast(d, p), broadcast(d, p + 3), broadcast(d, p + 6)};
  });
}

void SmoothNormals(const SkinRange& range, const float* const* weights, const float* const* restNormals,
                   const float* maps, float* out) {
  overRange(range, [&](auto d, size_t tet) HWY_ATTR {
    return SmoothBody<decltype(d)>{weights, restNormals, maps + 36 * tet, out};
  });
}

}  // namespace sunder::soft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sunder::soft::kernels {

HWY_EXPORT(Place);
HWY_EXPORT(Normals);
HWY_EXPORT(SmoothNormals);

void place(const SkinRange& range, const float* const weights[4], const float* corners, float* out) {
  HWY_DYNAMIC_DISPATCH(Place)(range, weights, corners, out);
}
void normals(const SkinRange& range, const float* const covectors[3], const float* cofactors, float* out) {
  HWY_DYNAMIC_DISPATCH(Normals)(range, covectors, cofactors, out);
}
void smoothNormals(const SkinRange& range, const float* const weights[4], const float* const normals[3],
                   const float* maps, float* out) {
  HWY_DYNAMIC_DISPATCH(SmoothNormals)(range, weights, normals, maps, out);
}

}  // namespace sunder::soft::kernels
#endif
