#include "sunder/spatial/query/winding_number.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/geometry/vector_area.h"
#include "sunder/spatial/query/float_point.h"
#include "sunder/spatial/query/winding_kernel.h"

#include <algorithm>
#include <cmath>

namespace sunder::spatial {

namespace {

constexpr size_t kWindingQueriesOfWork = 64;

// Where the symmetric products of coordinates live in the arrays of DipoleBlock.
constexpr int kSecond[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {1, 2}, {2, 0}};
constexpr int kThird[10][3] = {{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {0, 0, 1}, {0, 0, 2},
                               {1, 1, 0}, {1, 1, 2}, {2, 2, 0}, {2, 2, 1}, {0, 1, 2}};

struct Moments {
  Vec3 centre = Vec3::Zero();
  double area = 0;
  double radius = 0;
  double first[3] = {};
  double second[6] = {};
  double third[10] = {};

  double secondAt(int i, int j) const {
    static constexpr int kPlace[3][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}};
    return second[kPlace[i][j]];
  }
};

// Adds what a triangle has about the centre: with n twice the area long, integrals of 1, x and x x over it
// are n/2, n/6 (sum of corners) and n/24 (sum of squares of corners + square of their sum).
void addTriangle(Moments& m, const PlainTriangle& triangle) {
  Vec3 corner[3];
  for (int i = 0; i < 3; ++i)
    corner[i] = Vec3(triangle.corner[i].x, triangle.corner[i].y, triangle.corner[i].z) - m.centre;
  const Vec3 n = geometry::twiceVectorArea(corner[0], corner[1], corner[2]);
  const Vec3 sum = corner[0] + corner[1] + corner[2];
  Mat3 square = sum * sum.transpose();
  for (const Vec3& c : corner) square += c * c.transpose();
  for (int k = 0; k < 3; ++k) m.first[k] += n[k] / 2;
  for (int k = 0; k < 6; ++k) {
    const int i = kSecond[k][0], j = kSecond[k][1];
    m.second[k] += (sum[i] * n[j] + sum[j] * n[i]) / 12;
  }
  for (int k = 0; k < 10; ++k) {
    const int a = kThird[k][0], b = kThird[k][1], c = kThird[k][2];
    m.third[k] += (square(a, b) * n[c] + square(b, c) * n[a] + square(c, a) * n[b]) / 72;
  }
}

// Adds a cluster's moments, moved from its centre to m's.
void addCluster(Moments& m, const Moments& child) {
  const Vec3 d = child.centre - m.centre;
  for (int k = 0; k < 3; ++k) m.first[k] += child.first[k];
  for (int k = 0; k < 6; ++k) {
    const int i = kSecond[k][0], j = kSecond[k][1];
    m.second[k] += child.second[k] + (d[i] * child.first[j] + d[j] * child.first[i]) / 2;
  }
  for (int k = 0; k < 10; ++k) {
    const int a = kThird[k][0], b = kThird[k][1], c = kThird[k][2];
    m.third[k] +=
        child.third[k] +
        (d[a] * child.secondAt(b, c) + d[b] * child.secondAt(c, a) + d[c] * child.secondAt(a, b)) *
            (2.0 / 3) +
        (d[a] * d[b] * child.first[c] + d[b] * d[c] * child.first[a] + d[c] * d[a] * child.first[b]) / 3;
  }
}

void store(DipoleBlock& block, uint32_t lane, const Moments& m) {
  // A cluster of one point has no area: any unit will do for its zeros.
  const double scale = m.radius > 0 ? std::clamp(1 / m.radius, 1e-37, 1e37) : 1;
  const double square = scale * scale;
  for (int k = 0; k < 3; ++k) {
    block.centre[k][lane] = static_cast<float>(m.centre[k]);
    block.first[k][lane] = static_cast<float>(m.first[k] * square);
  }
  block.inverseRadius[lane] = static_cast<float>(scale);
  for (int k = 0; k < 6; ++k) block.second[k][lane] = static_cast<float>(m.second[k] * square * scale);
  for (int k = 0; k < 10; ++k) block.third[k][lane] = static_cast<float>(m.third[k] * square * square);
}

double farthestCorner(const Box3f& box, const Vec3& point) {
  Vec3 d;
  for (int k = 0; k < 3; ++k)
    d[k] = std::max(std::abs(double(box.lower[k]) - point[k]), std::abs(double(box.upper[k]) - point[k]));
  return d.norm();
}

// The centre is rounded to what a float holds, so that the moments are about the centre that the kernel sees.
Vec3 roundedCentre(const Vec3& weighted, double area, const Box3f& box) {
  const Vec3 centre = area > 0 ? Vec3(weighted / area) : Vec3(box.center().cast<double>());
  return {floatPart(centre.x()), floatPart(centre.y()), floatPart(centre.z())};
}

Moments clusterOfTriangles(const PlainTriangle* triangles, size_t count, const Box3f& box) {
  Moments m;
  Vec3 weighted = Vec3::Zero();
  const auto at = [](D3 p) { return Vec3(p.x, p.y, p.z); };
  for (size_t i = 0; i < count; ++i) {
    const Vec3 a = at(triangles[i].corner[0]), b = at(triangles[i].corner[1]), c = at(triangles[i].corner[2]);
    const double area = geometry::triangleArea(a, b, c);
    m.area += area;
    weighted += area * ((a + b + c) / 3);
  }
  m.centre = roundedCentre(weighted, m.area, box);
  for (size_t i = 0; i < count; ++i) {
    addTriangle(m, triangles[i]);
    for (const D3& corner : triangles[i].corner)
      m.radius = std::max(m.radius, (at(corner) - m.centre).norm());
  }
  return m;
}

Moments clusterOfClusters(const Moments* children, size_t count, const Box3f& box) {
  Moments m;
  Vec3 weighted = Vec3::Zero();
  for (size_t i = 0; i < count; ++i) {
    m.area += children[i].area;
    weighted += children[i].area * children[i].centre;
  }
  m.centre = roundedCentre(weighted, m.area, box);
  for (size_t i = 0; i < count; ++i) {
    addCluster(m, children[i]);
    m.radius = std::max(m.radius, (children[i].centre - m.centre).norm() + children[i].radius);
  }
  m.radius = std::min(m.radius, farthestCorner(box, m.centre));
  return m;
}

void checkBeta(double beta) {
  if (!(beta >= 1 && beta < 1e6))
    throw Error(ErrorKind::Usage, "beta of a fast winding number is at least 1");
}

D3 asD3(const Vec3& v) { return {v.x(), v.y(), v.z()}; }

}  // namespace

WindingNumber::WindingNumber(const MeshQuery& mesh) : mesh_(&mesh) {
  if (mesh.empty()) return;
  const OiLayout& layout = mesh.tree().layout();
  const uint32_t leafLevel = layout.leafLevel();
  const QueryView view = mesh.view();
  uint32_t blockCount = 0;
  for (uint32_t l = 0; l < leafLevel; ++l) {
    firstBlock_.push_back(blockCount);
    blockCount += (layout.levelSize(l) + kBlockLanes - 1) / kBlockLanes;
  }
  blocks_.resize(blockCount, DipoleBlock{});  // lanes of nobody are zero
  std::vector<Moments> below, moments;
  for (uint32_t level = leafLevel; level-- > 0;) {
    moments.assign(layout.levelSize(level), {});
    parallelFor((moments.size() + kBlockLanes - 1) / kBlockLanes,
                [&](size_t b) {
                  DipoleBlock& block = blocks_[firstBlock_[level] + b];
                  for (uint32_t lane = 0; lane < kBlockLanes; ++lane) {
                    const auto position = static_cast<uint32_t>(b * kBlockLanes + lane);
                    if (position >= moments.size()) break;
                    const size_t first = size_t(position) * kBlockLanes;
                    const uint32_t count = layout.childCount(level, position);
                    const Box3f box = mesh.tree().box(level, position);
                    moments[position] = level + 1 == leafLevel
                                            ? clusterOfTriangles(view.triangles + first, count, box)
                                            : clusterOfClusters(below.data() + first, count, box);
                    store(block, lane, moments[position]);
                  }
                },
                64);
    below.swap(moments);
  }
}

double WindingNumber::exact(const Vec3& point) const {
  checkQueryPoint(point);
  return kernels::windingExact(mesh_->view().triangles, mesh_->triangleCount(), asD3(point));
}

double WindingNumber::fast(const Vec3& point, double beta) const {
  checkQueryPoint(point);
  checkBeta(beta);
  return kernels::windingFast({mesh_->view(), blocks_.data(), firstBlock_.data()}, asD3(point), beta);
}

void WindingNumber::fast(std::span<const Vec3> points, std::span<double> results, double beta) const {
  if (points.size() != results.size())
    throw Error(ErrorKind::Usage, "as many results as query points are needed");
  parallelFor(
      points.size(), [&](size_t i) { results[i] = fast(points[i], beta); }, kWindingQueriesOfWork);
}

bool WindingNumber::inside(const Vec3& point) const {
  const double estimate = fast(point);
  return (std::abs(estimate - 0.5) < 0.1 ? exact(point) : estimate) > 0.5;
}

void WindingNumber::inside(std::span<const Vec3> points, std::span<uint8_t> results) const {
  if (points.size() != results.size())
    throw Error(ErrorKind::Usage, "as many results as query points are needed");
  parallelFor(
      points.size(), [&](size_t i) { results[i] = inside(points[i]); }, kWindingQueriesOfWork);
}

}  // namespace sunder::spatial
