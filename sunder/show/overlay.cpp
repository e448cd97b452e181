#include "sunder/show/overlay.h"

#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/sdf/mesh_field.h"
#include "sunder/sdf/point_samples.h"
#include "sunder/sdf/sphere_tree.h"
#include "sunder/spatial/tree/oi_tree.h"

#include <algorithm>
#include <cmath>

namespace sunder::show {

namespace {

constexpr size_t kSurfacePoints = 512, kInnerPoints = 512;  // of a sphere tree

}  // namespace

struct Overlay::Impl {
  geometry::TriMesh mesh;
  spatial::OiTree tree;
  sdf::SphereTree spheres;
  std::unique_ptr<sdf::MeshField> field;

  const sdf::MeshField& distances() {
    if (!field) field = std::make_unique<sdf::MeshField>(mesh);
    return *field;
  }
};

Overlay::Overlay(const record::MeshEntry& mesh) : impl_(std::make_unique<Impl>()) {
  for (const Vec3f& p : mesh.positions) impl_->mesh.positions.push_back(p.cast<double>());
  impl_->mesh.triangles = mesh.triangles;
}

Overlay::~Overlay() = default;

std::string Overlay::boxes(uint32_t level) {
  spatial::OiTree& tree = impl_->tree;
  if (tree.empty()) {
    spatial::OiTreeBuilder builder;
    builder.build(tree, spatial::TriangleLeaves{impl_->mesh.positions, impl_->mesh.triangles});
  }
  std::string bytes;
  ByteWriter out(bytes);
  const uint32_t levels = tree.empty() ? 0 : tree.layout().leafLevel() + 1;
  const uint32_t shown = std::min(level, std::max(levels, 1u) - 1);
  const uint32_t count = levels == 0 ? 0 : tree.layout().levelSize(shown);
  out.u32(levels);
  out.u32(count);
  for (uint32_t i = 0; i < count; ++i) {
    const Box3f box = tree.box(shown, i);
    for (const Vec3f& corner : {box.lower, box.upper})
      for (int d = 0; d < 3; ++d) out.f32(corner[d]);
  }
  return bytes;
}

std::string Overlay::spheres(uint32_t level) {
  sdf::SphereTree& tree = impl_->spheres;
  if (tree.pointCount() == 0) {
    sdf::BodySamples samples;
    try {
      samples = sdf::sampleBody(impl_->mesh, impl_->distances(), kSurfacePoints, kInnerPoints);
    } catch (const Error&) {  // nothing inside: the surface alone
      samples = {};
      for (const sdf::SurfaceSample& s : sdf::sampleSurface(impl_->mesh, {.count = kSurfacePoints}))
        samples.points.push_back(s.point);
    }
    tree = sdf::buildSphereTree(samples.points, samples.surface);
  }
  std::string bytes;
  ByteWriter out(bytes);
  const uint32_t shown = std::min(level, std::max(tree.levels(), 1u) - 1);
  const uint32_t count = tree.levels() == 0 ? 0 : tree.levelSize(shown);
  out.u32(tree.levels());
  out.u32(count);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t at = tree.levelStart[shown] + i;
    const Vec3f centre = tree.position[tree.rank[at]].cast<float>();
    for (int d = 0; d < 3; ++d) out.f32(centre[d]);
    out.f32(tree.radius[at]);
  }
  return bytes;
}

std::string Overlay::slice(uint32_t axis, double share) {
  if (axis > 2) throw Error(ErrorKind::Usage, "a slice is across axis 0, 1 or 2");
  const sdf::MeshField& field = impl_->distances();
  Box3 box = field.bounds();
  const double grow = 0.15 * box.extent().maxCoeff();
  const Vec3 lower = box.lower - Vec3::Constant(grow), upper = box.upper + Vec3::Constant(grow);
  const int across = static_cast<int>(axis), u = (across + 1) % 3, v = (across + 2) % 3;
  const double position = lower[across] + std::clamp(share, 0.0, 1.0) * (upper[across] - lower[across]);
  std::vector<Vec3> points(size_t(kSliceCells) * kSliceCells);
  for (uint32_t j = 0; j < kSliceCells; ++j)
    for (uint32_t i = 0; i < kSliceCells; ++i) {
      Vec3& p = points[size_t(j) * kSliceCells + i];
      p[across] = position;
      p[u] = lower[u] + (upper[u] - lower[u]) * (i + 0.5) / kSliceCells;
      p[v] = lower[v] + (upper[v] - lower[v]) * (j + 0.5) / kSliceCells;
    }
  std::vector<double> values(points.size());
  sdf::valuesOf(field, points, values);
  std::string bytes;
  ByteWriter out(bytes);
  out.u32(kSliceCells);
  out.u32(axis);
  out.f32(static_cast<float>(position));
  for (const Vec3& corner : {lower, upper})
    for (int d = 0; d < 3; ++d) out.f32(static_cast<float>(corner[d]));
  for (const double value : values) out.f32(static_cast<float>(value));
  return bytes;
}

}  // namespace sunder::show
