// Other libraries that build trees over triangles and search them for overlapping pairs of boxes: Embree and
// Bullet. Each function measures its library at its best reasonable settings and returns nothing when it was
// not there at compile time. What they share with ours: the meshes (coordinates rounded to float, so the
// boxes are the same bits), one box a triangle, and that the pairs are stored, not only counted.
#pragma once

#include "sunder/geometry/mesh.h"

#include "bench/bench.h"

#include <cstddef>
#include <optional>

namespace sunder::bench {

struct PeerSearch {
  double seconds = 0;
  size_t pairs = 0;
};

// Embree's builders: Low is Morton order, Medium (its default) binned surface areas.
enum class EmbreeQuality { Low, Medium };
const char* name(EmbreeQuality quality);

// A build over a triangle geometry. Embree's own threads, as many as said.
std::optional<double> embreeBuild(const Options& options, const geometry::TriMesh& mesh, unsigned threads,
                                  EmbreeQuality quality);
// rtcCollide. Its callback writes into a buffer of its thread's own, without locks or atomics; joining the
// buffers is not charged. Without `b` the mesh against itself: Embree then reports each pair both ways.
std::optional<PeerSearch> embreePairs(const Options& options, const geometry::TriMesh& a,
                                      const geometry::TriMesh* b, unsigned threads, EmbreeQuality quality);

// Bullet's trees over boxes that are not quantised; all have one thread.
enum class BulletTree {
  Optimized,  // btOptimizedBvh, the tree of btBvhTriangleMeshShape; builds only, it has no search of two
              // trees
  Dynamic,    // btDbvt, the tree of its broad phase and soft bodies, optimised top-down; searches only
  GImpact,    // btGImpactBvh, of moving concave meshes; two meshes only. It tests centres and half extents,
              // whose rounding decides otherwise about a few boxes in a million that only just touch
};
const char* name(BulletTree tree);

std::optional<double> bulletBuild(const Options& options, const geometry::TriMesh& mesh, BulletTree tree);
std::optional<PeerSearch> bulletPairs(const Options& options, const geometry::TriMesh& a,
                                      const geometry::TriMesh* b, BulletTree tree);

}  // namespace sunder::bench
