#include "sunder/sdf/point_samples.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/random.h"
#include "sunder/geometry/vector_area.h"
#include "sunder/sdf/farthest_point.h"

#include <algorithm>
#include <cmath>

namespace sunder::sdf {

namespace {

// Numbers of streams: what a sample is for never shares random numbers with anything else.
constexpr uint64_t kSurfaceStream = 1, kInsideStream = 2;

size_t candidateCount(const SampleSettings& settings) {
  if (settings.candidates < 1) throw Error(ErrorKind::Usage, "sampling needs at least one candidate a point");
  return settings.count * settings.candidates;
}

// Uniform over the candidate's stratum; three numbers each, so candidate i begins at a fixed position.
RandomStream streamOf(uint64_t seed, uint64_t stream, size_t candidate) {
  RandomStream random(seed, stream);
  random.seek(8 * candidate);
  return random;
}

}  // namespace

std::vector<SurfaceSample> scatterOnSurface(const geometry::TriMesh& mesh, size_t count, uint64_t seed) {
  std::vector<double> upTo(mesh.triangles.size());
  double area = 0;
  for (size_t t = 0; t < upTo.size(); ++t) {
    upTo[t] = area += geometry::triangleArea(mesh.positions, mesh.triangles[t]);
  }
  if (!(area > 0) || !std::isfinite(area))
    throw Error(ErrorKind::Geometry, "points cannot be spread over a surface without area");
  std::vector<SurfaceSample> samples(count);
  parallelFor(count, [&](size_t i) {
    RandomStream random = streamOf(seed, kSurfaceStream, i);
    const double at = (double(i) + random.uniform()) / double(count) * area;
    auto t = size_t(std::upper_bound(upTo.begin(), upTo.end(), at) - upTo.begin());
    // Rounding may lead past the end, to triangles without area.
    for (t = std::min(t, upTo.size() - 1); t > 0 && upTo[t] == upTo[t - 1]; --t) {
    }
    const auto& [a, b, c] = mesh.triangles[t];
    double u = random.uniform(), v = random.uniform();
    if (u + v > 1) {
      u = 1 - u;
      v = 1 - v;
    }
    samples[i] = {(1 - u - v) * mesh.positions[a] + u * mesh.positions[b] + v * mesh.positions[c],
                  uint32_t(t)};
  });
  return samples;
}

std::vector<SurfaceSample> sampleSurface(const geometry::TriMesh& mesh, const SampleSettings& settings) {
  const std::vector<SurfaceSample> candidates =
      scatterOnSurface(mesh, candidateCount(settings), settings.seed);
  std::vector<Vec3> points(candidates.size());
  for (size_t i = 0; i < points.size(); ++i) points[i] = candidates[i].point;
  std::vector<SurfaceSample> kept;
  for (const uint32_t id : farthestPointOrder(points, settings.count).order) kept.push_back(candidates[id]);
  return kept;
}

std::vector<Vec3> sampleInside(const Field& field, const SampleSettings& settings, double depth) {
  const Box3 box = field.bounds();
  if (box.empty() || !box.lower.allFinite() || !box.upper.allFinite())
    throw Error(ErrorKind::Geometry,
                "points cannot be spread through a field without a finite box around it");
  const size_t wanted = candidateCount(settings);
  std::vector<Vec3> inside, points;
  std::vector<double> values;
  constexpr size_t kRound = 16384;
  for (size_t tried = 0; inside.size() < wanted; tried += kRound) {
    if (tried > 1000 * (inside.size() + 64))
      throw Error(ErrorKind::Geometry, "hardly any point of the field's box is inside")
          .hint("the solid is too thin to be sampled at this depth");
    points.resize(kRound);
    values.resize(kRound);
    parallelFor(kRound, [&](size_t i) {
      RandomStream random = streamOf(settings.seed, kInsideStream, tried + i);
      points[i] = random.pointIn(box);
    });
    valuesOf(field, points, values);
    for (size_t i = 0; i < kRound && inside.size() < wanted; ++i)
      if (values[i] < -depth) inside.push_back(points[i]);
  }
  std::vector<Vec3> kept;
  for (const uint32_t id : farthestPointOrder(inside, settings.count).order) kept.push_back(inside[id]);
  return kept;
}

BodySamples sampleBody(const geometry::TriMesh& mesh, const Field& field, size_t onSurface, size_t inside,
                       uint64_t seed) {
  BodySamples body;
  for (const SurfaceSample& s : sampleSurface(mesh, {.count = onSurface, .seed = seed}))
    body.points.push_back(s.point);
  body.surface.assign(body.points.size(), 1);
  if (inside == 0) return body;
  // The spacing of so many points in the box's volume; less where the solid is thinner than that.
  const Box3 box = field.bounds();
  double depth = box.empty() ? 0 : 0.5 * std::cbrt(box.extent().prod() / double(inside));
  std::vector<Vec3> deep;
  for (int attempt = 0; deep.empty(); ++attempt) {
    try {
      deep = sampleInside(field, {.count = inside, .seed = seed}, attempt < 4 ? depth : 0);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Geometry || attempt == 4 || !std::isfinite(depth)) throw;
      depth /= 4;
    }
  }
  body.points.insert(body.points.end(), deep.begin(), deep.end());
  body.surface.resize(body.points.size(), 0);
  return body;
}

}  // namespace sunder::sdf
