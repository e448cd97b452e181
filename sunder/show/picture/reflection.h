// How light leaves a surface, in its own frame: z along the normal, both directions pointing away from it. A
// mixture of a matt ground under a clear coat and metal, both with the microfacets of Trowbridge and Reitz
// (GGX) as in Walter et al. 2007; directions are drawn from the visible facets (Heitz 2018).
#pragma once

#include "sunder/show/look.h"

namespace sunder::show {

// Of light between two clear media, unpolarised; `cosine` on the side it comes from, `ratio` = index there
// over index beyond. 1 where all is reflected.
float fresnel(float cosine, float ratio);

// Two unit vectors that make a right-handed frame with a unit vector (Duff et al. 2017).
void orthonormalFrame(const Vec3f& normal, Vec3f& tangent, Vec3f& bitangent);

// What arrives along `in` leaves along `out` by this factor, the cosine of `in` included; 0 below the
// surface.
Vec3f reflected(const Look& look, const Vec3f& out, const Vec3f& in);

struct ReflectedSample {
  Vec3f in = Vec3f::UnitZ();
  Vec3f weight = Vec3f::Zero();  // reflected() over the density of drawing `in`; 0: nothing
};
ReflectedSample sampleReflected(const Look& look, const Vec3f& out, const Vec2f& u, float choice);

// A facet of the rough surface that is seen from `out`.
Vec3f visibleFacet(const Vec3f& out, float alpha, const Vec2f& u);

}  // namespace sunder::show
