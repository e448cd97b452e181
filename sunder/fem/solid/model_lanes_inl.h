// Elastic models in vector lanes: energy densities and first Piola-Kirchhoff stresses from the gradient F of
// the deformation, and their derivatives in the frame of the singular values of F, where an isotropic
// energy's second derivative falls into a 3x3 matrix (stretches) and three 2x2 ones with the modes twist, the
// antisymmetric pair of entries, and flip, the symmetric one (Smith, de Goes and Kim 2019, Analytic
// eigensystems for isotropic distortion energies). Read once for each vector target. Private to the room.
//
// `p` is the pressure of averaged volumes, which adds p times the volume ratio to the energy.
#if defined(SUNDER_FEM_MODEL_LANES_INL) == defined(HWY_TARGET_TOGGLE)  // once a target
#ifdef SUNDER_FEM_MODEL_LANES_INL
#undef SUNDER_FEM_MODEL_LANES_INL
#else
#define SUNDER_FEM_MODEL_LANES_INL
#endif

#include "sunder/fem/solid/element_batch.h"
#include "sunder/fem/solid/matrix_lanes_inl.h"

HWY_BEFORE_NAMESPACE();
namespace sunder::fem::kernels::solid::HWY_NAMESPACE {

HWY_INLINE V sum(const V3& v) { return hn::Add(hn::Add(v.x, v.y), v.z); }
HWY_INLINE V add(V a, V b, V c) { return hn::Add(hn::Add(a, b), c); }
HWY_INLINE V3 product(const V3& a, const V3& b) {
  return {hn::Mul(a.x, b.x), hn::Mul(a.y, b.y), hn::Mul(a.z, b.z)};
}
HWY_INLINE V3 plus(const V3& v, V s) { return {hn::Add(v.x, s), hn::Add(v.y, s), hn::Add(v.z, s)}; }
HWY_INLINE V3 largest(const V3& v, V s) { return {hn::Max(v.x, s), hn::Max(v.y, s), hn::Max(v.z, s)}; }
HWY_INLINE V3 reciprocal(const V3& v) {
  const V one = number(1);
  return {hn::Div(one, v.x), hn::Div(one, v.y), hn::Div(one, v.z)};
}
// Of each entry the product or sum of the other two.
HWY_INLINE V3 otherProducts(const V3& v) { return {hn::Mul(v.y, v.z), hn::Mul(v.z, v.x), hn::Mul(v.x, v.y)}; }
HWY_INLINE V3 otherSums(const V3& v) { return {hn::Add(v.y, v.z), hn::Add(v.z, v.x), hn::Add(v.x, v.y)}; }

// Stable neo-Hookean's own constants: at small strain the energy is Hooke's with mu and lambda.
struct NeoConstants {
  V mu, lambda, linear;  // linear: lambda (1 - alpha)
};
HWY_INLINE NeoConstants neoConstants(V mu, V lambda) {
  return {hn::Mul(number(4.0 / 3), mu), hn::Add(lambda, hn::Mul(number(5.0 / 6), mu)), hn::Neg(mu)};
}

// log(1 + y) - y for y > -1, without loss near 0.
HWY_INLINE V logRest(V y) {
  const D d;
  const hn::RebindToUnsigned<D> bits;
  const V one = number(1), x = hn::Add(one, y);
  // x = m 2^e with m in [0.75, 1.5); e as a number through the mantissa of 2^52.
  const V shifted = hn::Mul(x, number(4.0 / 3));
  const auto exponent = hn::ShiftRight<52>(hn::BitCast(bits, shifted));
  const V e =
      hn::Sub(hn::BitCast(d, hn::Or(exponent, hn::Set(bits, 0x4330000000000000u))), number(0x1p52 + 1023));
  const auto power = hn::ShiftLeft<52>(hn::Sub(hn::Set(bits, 2046u), exponent));  // 2^-e
  const V m = hn::Mul(x, hn::BitCast(d, power));
  const auto near = hn::Eq(e, hn::Zero(d));
  const V top = hn::IfThenElse(near, y, hn::Sub(m, one));
  const V s = hn::Div(top, hn::Add(number(2), top)), z = hn::Mul(s, s);
  V series = number(1.0 / 23);
  for (int k = 21; k >= 3; k -= 2) series = hn::Add(hn::Mul(series, z), number(1.0 / k));
  const V cubic = hn::Mul(hn::Mul(hn::Mul(number(2), s), z), series);  // 2 atanh(s) - 2 s
  // Near 0: 2 s - y = -y s.
  const V far = hn::Sub(hn::Add(hn::Mul(e, number(0.69314718055994530942)), hn::Mul(number(2), s)), y);
  return hn::Add(cubic, hn::IfThenElse(near, hn::Neg(hn::Mul(y, s)), far));
}

// Half of F^T F - 1 (Green's strain), or of F + F^T - 2.
HWY_INLINE SymmetricLanes greenStrain(const M3& f) {
  const V half = number(0.5), one = number(1);
  return {hn::Mul(half, hn::Sub(dot(f.a, f.a), one)),
          hn::Mul(half, hn::Sub(dot(f.b, f.b), one)),
          hn::Mul(half, hn::Sub(dot(f.c, f.c), one)),
          hn::Mul(half, dot(f.a, f.b)),
          hn::Mul(half, dot(f.b, f.c)),
          hn::Mul(half, dot(f.c, f.a))};
}
HWY_INLINE SymmetricLanes smallStrain(const M3& f) {
  const V half = number(0.5), one = number(1);
  return {hn::Sub(f.a.x, one),
          hn::Sub(f.b.y, one),
          hn::Sub(f.c.z, one),
          hn::Mul(half, hn::Add(f.a.y, f.b.x)),
          hn::Mul(half, hn::Add(f.b.z, f.c.y)),
          hn::Mul(half, hn::Add(f.c.x, f.a.z))};
}
HWY_INLINE V hookeEnergy(const SymmetricLanes& e, V mu, V lambda) {
  const V trace = add(e.xx, e.yy, e.zz);
  const V diagonal = add(hn::Mul(e.xx, e.xx), hn::Mul(e.yy, e.yy), hn::Mul(e.zz, e.zz));
  const V off = add(hn::Mul(e.xy, e.xy), hn::Mul(e.yz, e.yz), hn::Mul(e.zx, e.zx));
  return hn::Add(hn::Mul(mu, hn::Add(diagonal, hn::Add(off, off))),
                 hn::Mul(hn::Mul(number(0.5), lambda), hn::Mul(trace, trace)));
}
HWY_INLINE M3 hookeStress(const SymmetricLanes& e, V mu, V lambda) {
  const V two = hn::Add(mu, mu), all = hn::Mul(lambda, add(e.xx, e.yy, e.zz));
  const V xy = hn::Mul(two, e.xy), yz = hn::Mul(two, e.yz), zx = hn::Mul(two, e.zx);
  return {{hn::Add(hn::Mul(two, e.xx), all), xy, zx},
          {xy, hn::Add(hn::Mul(two, e.yy), all), yz},
          {zx, yz, hn::Add(hn::Mul(two, e.zz), all)}};
}

// Energy per volume at rest; what averaged volumes have is not in it.
HWY_INLINE V energyDensity(ElasticModel model, const M3& f, V mu, V lambda) {
  if (model == ElasticModel::Linear) return hookeEnergy(smallStrain(f), mu, lambda);
  if (model == ElasticModel::SaintVenantKirchhoff) return hookeEnergy(greenStrain(f), mu, lambda);
  if (model == ElasticModel::Corotated) {
    const M3 r = polarRotation(f), g = f - r;
    const V trace = product(r, g);
    return hn::Add(hn::Mul(mu, product(g, g)), hn::Mul(hn::Mul(number(0.5), lambda), hn::Mul(trace, trace)));
  }
  // With G = F - 1, terms of first order cancel on paper: |G|^2 and the second and third invariants of G
  // stay, so that little is lost near the rest.
  const NeoConstants neo = neoConstants(mu, lambda);
  const M3 g = f - identity();
  const V trace = add(g.a.x, g.b.y, g.c.z), square = product(g, g);
  const V second = add(hn::Sub(hn::Mul(g.a.x, g.b.y), hn::Mul(g.a.y, g.b.x)),
                       hn::Sub(hn::Mul(g.b.y, g.c.z), hn::Mul(g.b.z, g.c.y)),
                       hn::Sub(hn::Mul(g.c.z, g.a.x), hn::Mul(g.c.x, g.a.z)));
  const V higher = hn::Add(second, determinant(g)), volume = hn::Add(trace, higher);  // J - 1
  const V y = hn::Mul(number(0.25), hn::Add(hn::Add(trace, trace), square));          // (|F|^2 - 3) / 4
  const V first = hn::Sub(hn::Mul(number(0.375), square), hn::Mul(number(0.75), higher));
  return hn::Add(hn::Mul(neo.mu, hn::Sub(first, hn::Mul(number(0.5), logRest(y)))),
                 hn::Mul(hn::Mul(number(0.5), neo.lambda), hn::Mul(volume, volume)));
}

HWY_INLINE M3 piolaStress(ElasticModel model, const M3& f, V mu, V lambda, V p) {
  if (model == ElasticModel::Linear) {
    M3 s = hookeStress(smallStrain(f), mu, lambda);
    s.a.x = hn::Add(s.a.x, p);
    s.b.y = hn::Add(s.b.y, p);
    s.c.z = hn::Add(s.c.z, p);
    return s;
  }
  const M3 cofactor = cofactors(f);
  if (model == ElasticModel::SaintVenantKirchhoff)
    return times(f, hookeStress(greenStrain(f), mu, lambda)) + cofactor * p;
  if (model == ElasticModel::Corotated) {
    const M3 r = polarRotation(f), g = f - r;
    return g * hn::Add(mu, mu) + r * hn::Mul(lambda, product(r, g)) + cofactor * p;
  }
  const NeoConstants neo = neoConstants(mu, lambda);
  const V one = number(1), square = product(f, f);
  const V shear = hn::Mul(neo.mu, hn::Div(square, hn::Add(square, one)));
  const V volume = hn::Sub(dot(f.a, cofactor.a), one);
  return f * shear + cofactor * add(hn::Mul(neo.lambda, volume), neo.linear, p);
}

// F = U diag(s) V^T with rotations U and V; one or three of s are negative where F is inverted.
struct Singular {
  M3 u, v;
  V3 s;
};
HWY_INLINE Singular singular(const M3& f, const M3& r) {
  const V half = number(0.5);
  const M3 m = transposedTimes(r, f);
  const EigenLanes e = eigen({m.a.x, m.b.y, m.c.z, hn::Mul(half, hn::Add(m.a.y, m.b.x)),
                              hn::Mul(half, hn::Add(m.b.z, m.c.y)), hn::Mul(half, hn::Add(m.c.x, m.a.z))});
  return {times(r, e.vectors), e.vectors, e.values};
}

// Principal first Piola-Kirchhoff stresses.
HWY_INLINE V3 principalStress(ElasticModel model, const V3& s, V mu, V lambda, V p) {
  const V one = number(1), square = dot(s, s);
  const V3 areas = otherProducts(s);
  if (model == ElasticModel::SaintVenantKirchhoff) {
    const V3 squares = product(s, s);
    const V all = hn::Mul(lambda, hn::Mul(number(0.5), hn::Sub(square, number(3))));
    return product(plus(plus(squares, number(-1)) * mu, all), s) + areas * p;
  }
  if (model == ElasticModel::NeoHookean) {
    const NeoConstants neo = neoConstants(mu, lambda);
    const V shear = hn::Mul(neo.mu, hn::Div(square, hn::Add(square, one)));
    const V volume = hn::Sub(hn::Mul(s.x, areas.x), one);
    return s * shear + areas * add(hn::Mul(neo.lambda, volume), neo.linear, p);
  }
  const V trace = hn::Sub(sum(s), number(3));
  return plus(plus(s, number(-1)) * hn::Add(mu, mu), hn::Mul(lambda, trace)) + areas * p;
}

// The second derivative of the energy density in the frame of the singular values. Entry k of twist and flip
// belongs to the pair of the other two axes.
struct Curvature {
  SymmetricLanes stretch;
  V3 twist, flip;
};
HWY_INLINE Curvature curvature(ElasticModel model, const V3& s, V mu, V lambda, V p, bool frozen) {
  const V zero = hn::Zero(D()), one = number(1), two = hn::Add(mu, mu);
  const V hooke = hn::Add(two, lambda);
  const V3 shear{two, two, two}, none{zero, zero, zero};
  if (model == ElasticModel::Linear || (model == ElasticModel::Corotated && frozen))
    return {{hooke, hooke, hooke, lambda, lambda, lambda}, none, shear};
  const V3 areas = otherProducts(s), pressed = s * p;
  if (model == ElasticModel::Corotated) {
    // Rotations of two axes whose stretches add up to nothing cost nothing: there the derivative has a pole.
    const V trace = hn::Sub(sum(s), number(3));
    const V twice = hn::Mul(number(2), hn::Sub(two, hn::Mul(lambda, trace)));
    const V3 twist = shear - reciprocal(largest(otherSums(s), number(1e-6))) * twice;
    return {{hooke, hooke, hooke, hn::Add(lambda, pressed.z), hn::Add(lambda, pressed.x),
             hn::Add(lambda, pressed.y)},
            twist + pressed,
            shear - pressed};
  }
  const V square = dot(s, s);
  const V3 squares = product(s, s);
  if (model == ElasticModel::SaintVenantKirchhoff) {
    const V all = hn::Mul(lambda, hn::Mul(number(0.5), hn::Sub(square, number(3))));
    const V3 both = plus(otherSums(squares), number(-1));
    const V3 diagonal = plus(plus(squares * number(3), number(-1)) * mu, all) + squares * lambda;
    const V3 off = areas * lambda + pressed;
    return {{diagonal.x, diagonal.y, diagonal.z, off.z, off.x, off.y},
            plus((both - areas) * mu, all) + pressed,
            plus((both + areas) * mu, all) - pressed};
  }
  const NeoConstants neo = neoConstants(mu, lambda);
  const V inverse = hn::Div(one, hn::Add(square, one));
  const V base = hn::Mul(neo.mu, hn::Mul(square, inverse));
  const V outer = hn::Mul(hn::Mul(number(2), neo.mu), hn::Mul(inverse, inverse));
  const V volume = hn::Sub(hn::Mul(s.x, areas.x), one);
  const V3 skew = s * add(hn::Mul(neo.lambda, volume), neo.linear, p);
  const V3 diagonal = plus(squares * outer + product(areas, areas) * neo.lambda, base);
  const V3 off = areas * outer + otherProducts(areas) * neo.lambda + skew;
  return {
      {diagonal.x, diagonal.y, diagonal.z, off.z, off.x, off.y}, plus(skew, base), plus(none - skew, base)};
}

}  // namespace sunder::fem::kernels::solid::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
