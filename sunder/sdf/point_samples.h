// Points spread evenly over the surface of a mesh or through the inside of a field: many candidates at
// random, of which the farthest-point order keeps the first (a blue-noise-like set: no two are close, no hole
// is large). The points come in that order, so any beginning of the list is spread evenly as well.
//
// Guarantees: depends on the arguments only, not on threads; candidates on a surface are uniform by area and
// stratified. Cost: `candidates` times `count` candidates and their order (farthest_point.h).
#pragma once

#include "sunder/geometry/mesh.h"
#include "sunder/sdf/field.h"

#include <cstdint>
#include <vector>

namespace sunder::sdf {

struct SampleSettings {
  size_t count = 1000;
  uint32_t candidates = 8;  // per point that is kept, at least 1
  uint64_t seed = 1;
};

struct SurfaceSample {
  Vec3 point = Vec3::Zero();
  uint32_t triangle = 0;
};

// Throws Error (Geometry) for a mesh without area.
std::vector<SurfaceSample> sampleSurface(const geometry::TriMesh& mesh, const SampleSettings& settings);

// `count` candidates, not thinned out: uniform by area, stratified, by triangle.
std::vector<SurfaceSample> scatterOnSurface(const geometry::TriMesh& mesh, size_t count, uint64_t seed);

// Points with value < -depth. Throws Error (Geometry) where the field's box is not finite, or where fewer
// than one point in a thousand of it is inside.
std::vector<Vec3> sampleInside(const Field& field, const SampleSettings& settings, double depth = 0);

// What a sphere tree is made of: points of the surface, then points inside that keep away from it by the
// spacing of the points inside.
struct BodySamples {
  std::vector<Vec3> points;
  std::vector<uint8_t> surface;
};
BodySamples sampleBody(const geometry::TriMesh& mesh, const Field& field, size_t onSurface, size_t inside,
                       uint64_t seed = 1);

}  // namespace sunder::sdf
