// The meshes that the benchmarks of trees and pairs share: the same triangles for us and for every peer.
#pragma once

#include "sunder/shapes/catalogue.h"
#include "sunder/spatial/tree/oi_tree.h"

#include <utility>

namespace sunder::bench {

// Coordinates rounded to float, so that every library sees the same boxes.
inline geometry::TriMesh rounded(geometry::TriMesh mesh) {
  for (Vec3& p : mesh.positions) p = p.cast<float>().cast<double>();
  return mesh;
}

// A rippled sphere of 8 n^2 triangles.
inline geometry::TriMesh sphere(int n, const Vec3& centre = Vec3::Zero()) {
  shapes::RippledSphereShape shape;
  shape.n = n;
  geometry::TriMesh mesh = shapes::makeRippledSphere(shape);
  for (Vec3& p : mesh.positions) p += centre;
  return rounded(std::move(mesh));
}

inline spatial::TriangleLeaves leavesOf(const geometry::TriMesh& mesh) {
  return {mesh.positions, mesh.triangles};
}

}  // namespace sunder::bench
