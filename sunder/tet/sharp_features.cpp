#include "sunder/tet/sharp_features.h"

#include "sunder/base/parallel.h"
#include "sunder/geometry/rows.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/tet/dihedral.h"

#include <algorithm>
#include <cmath>

#include <Eigen/Eigenvalues>

namespace sunder::tet {

namespace {

constexpr double kFarthest = 0.75;   // edges that a vertex may go
constexpr double kFlatShare = 0.05;  // of the largest eigenvalue: below, the planes leave a direction free
constexpr double kOnSurface = 0.02;  // edges: how near the field's zero a feature must be

struct Feature {
  double distance;
  uint32_t vertex;  // of the mesh
  Vec3 target;
};

// The point that the planes agree on best, nearest to their mean point.
Vec3 meetingPoint(std::span<const Vec3> points, std::span<const Vec3> normals) {
  Vec3 mean = Vec3::Zero();
  for (const Vec3& p : points) mean += p;
  mean /= double(points.size());
  Mat3 a = Mat3::Zero();
  Vec3 b = Vec3::Zero();
  for (size_t i = 0; i < points.size(); ++i) {
    a += normals[i] * normals[i].transpose();
    b += normals[i] * normals[i].dot(points[i] - mean);
  }
  const Eigen::SelfAdjointEigenSolver<Mat3> solver(a);
  Vec3 x = Vec3::Zero();
  for (int k = 0; k < 3; ++k) {
    const double value = solver.eigenvalues()[k];
    if (value > kFlatShare * solver.eigenvalues()[2])
      x += solver.eigenvectors().col(k) * (solver.eigenvectors().col(k).dot(b) / value);
  }
  return mean + x;
}

}  // namespace

void moveToFeatures(const sdf::Field& field, const FillSettings& settings, double edge,
                    geometry::TetMesh& mesh, FillReport& report) {
  const geometry::TetBoundary boundary = geometry::boundarySurface(mesh);
  const geometry::TriMesh& surface = boundary.surface;
  std::vector<sdf::FieldSample> samples(surface.positions.size());
  sdf::samplesOf(field, surface.positions, samples);
  report.samples += samples.size();
  const geometry::Rows ring = geometry::groupBy<uint32_t>(
      3 * surface.triangles.size(), surface.positions.size(),
      [&](size_t i) { return surface.triangles[i / 3][i % 3]; },
      [&](size_t i) { return surface.triangles[i / 3][(i + 1 - (i % 3 == 2 ? 3 : 0)) % 3]; });

  const double crease = std::cos(settings.creaseAngle * (kPi / 180));
  std::vector<Feature> features(surface.positions.size());
  std::vector<Vec3> targets(surface.positions.size());
  parallelFor(
      features.size(),
      [&](size_t v) {
        features[v].distance = -1;
        std::vector<Vec3> points, normals;
        const auto add = [&](uint32_t i) {
          const double length = samples[i].gradient.norm();
          // Where two sides meet a field has no gradient; such a vertex says nothing about the planes.
          if (!(length > 0.5)) return;
          points.push_back(surface.positions[i]);
          normals.push_back(samples[i].gradient / length);
        };
        add(uint32_t(v));
        for (const uint32_t i : ring.row(v)) add(i);
        bool sharp = false;
        for (size_t i = 0; i < normals.size(); ++i)
          for (size_t j = i + 1; j < normals.size(); ++j)
            sharp = sharp || normals[i].dot(normals[j]) < crease;
        if (!sharp) return;
        targets[v] = meetingPoint(points, normals);
        features[v] = {(targets[v] - surface.positions[v]).norm(), boundary.vertexSource[v], targets[v]};
      },
      256);
  std::vector<double> values(targets.size());
  std::erase_if(features, [&](const Feature& f) { return f.distance < 0 || f.distance > kFarthest * edge; });
  targets.resize(features.size());
  values.resize(features.size());
  for (size_t i = 0; i < features.size(); ++i) targets[i] = features[i].target;
  sdf::valuesOf(field, targets, values);
  report.samples += targets.size();
  size_t kept = 0;
  for (size_t i = 0; i < features.size(); ++i)
    if (std::abs(values[i]) <= kOnSurface * edge) features[kept++] = features[i];
  features.resize(kept);
  report.sharpCandidates = features.size();
  std::sort(features.begin(), features.end(), [](const Feature& a, const Feature& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.vertex < b.vertex;
  });

  const geometry::Rows tetsOf = geometry::groupBy<uint32_t>(
      4 * mesh.tets.size(), mesh.positions.size(), [&](size_t i) { return mesh.tets[i / 4][i % 4]; },
      [](size_t i) { return geometry::u32(i / 4); });
  const double least = std::cos(kSharpLargestAngle * (kPi / 180));
  const double most = std::cos(kSharpSmallestAngle * (kPi / 180));
  for (const Feature& f : features) {
    const Vec3 before = mesh.positions[f.vertex];
    mesh.positions[f.vertex] = f.target;
    bool good = true;
    for (const uint32_t t : tetsOf.row(f.vertex)) {
      const geometry::Tetrahedron& tet = mesh.tets[t];
      const Vec3 &a = mesh.positions[tet[0]], &b = mesh.positions[tet[1]], &c = mesh.positions[tet[2]],
                 &d = mesh.positions[tet[3]];
      const auto [low, high] = cosineRange(a, b, c, d);
      good = good && low >= least && high <= most && geometry::signedVolume(a, b, c, d) > 0;
    }
    if (!good)
      mesh.positions[f.vertex] = before;
    else
      ++report.sharpMoved;
  }
}

}  // namespace sunder::tet
