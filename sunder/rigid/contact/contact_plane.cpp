// Half-spaces against polyhedra: corners below the margin, at most four of them.
#include "sunder/rigid/contact/contact_parts.h"

#include <algorithm>
#include <cmath>

namespace sunder::rigid {

namespace {

// Draws points towards the lowest one, the higher ones the more, those at the margin all the way: among
// corners above each other the lower ones are then the outer ones.
void preferLow(std::span<FlatPoint> points, double margin) {
  const FlatPoint lowest =
      *std::min_element(points.begin(), points.end(),
                        [](const FlatPoint& a, const FlatPoint& b) { return a.height < b.height; });
  for (FlatPoint& p : points) {
    const double weight = (margin - p.height) / (margin - lowest.height);
    p.x = lowest.x + weight * (p.x - lowest.x);
    p.y = lowest.y + weight * (p.y - lowest.y);
  }
}

void cornerContact(const PairQuery& q, const Vec3& corner, double height, const Vec3& up, uint32_t id) {
  q.out.push_back({corner - 0.5 * height * up, -up, height, id});
}

}  // namespace

void chooseFour(std::span<const FlatPoint> points, uint32_t (&kept)[4], double level) {
  uint32_t first = 0;
  double best = Box3::kInfinity;
  for (uint32_t i = 0; i < points.size(); ++i)
    if (const double m = points[i].height + level * (points[i].x + 0.7 * points[i].y); m < best) {
      best = m;
      first = i;
    }
  const FlatPoint& p = points[first];
  uint32_t second = first;
  best = -1;
  for (uint32_t i = 0; i < points.size(); ++i) {
    const double dx = points[i].x - p.x, dy = points[i].y - p.y, m = dx * dx + dy * dy;
    if (i != first && m > best) {
      best = m;
      second = i;
    }
  }
  const double ex = points[second].x - p.x, ey = points[second].y - p.y;
  uint32_t left = first, right = first;
  double mostLeft = 0, mostRight = 0;
  for (uint32_t i = 0; i < points.size(); ++i) {
    if (i == first || i == second) continue;
    const double m = ex * (points[i].y - p.y) - ey * (points[i].x - p.x);
    if (m > mostLeft) {
      mostLeft = m;
      left = i;
    }
    if (m < mostRight) {
      mostRight = m;
      right = i;
    }
  }
  kept[0] = first;
  kept[1] = second;
  kept[2] = left;
  kept[3] = right;
  // All on one side or in a line: any points that are not taken.
  for (int k = 2; k < 4; ++k)
    for (uint32_t i = 0; kept[k] == first && i < points.size(); ++i) {
      bool taken = false;
      for (int l = 0; l < 4; ++l) taken |= kept[l] == i;
      if (!taken) kept[k] = i;
    }
}

void contactBoxPlane(const PairQuery& q) {
  const Vec3 up = q.poseB.direction(Vec3::UnitY());
  const Mat3 turn = q.poseA.rotation.toRotationMatrix();
  const Vec3& half = q.a.halfExtent();
  const double middle = up.dot(q.poseA.position - q.poseB.position);
  const Vec3 slopes = (turn.transpose() * up).cwiseProduct(half);
  if (middle - slopes.cwiseAbs().sum() >= q.margin) return;
  // The corners of the face that looks down most: of a thin rod that rolls, all eight may be below the
  // margin.
  int axis;
  slopes.cwiseAbs().cwiseQuotient(half).maxCoeff(&axis);
  const uint32_t lower = slopes[axis] > 0 ? 0 : 1;
  for (uint32_t i = 0; i < 8; ++i) {
    if ((i >> axis & 1) != lower) continue;
    const double height = middle + (i & 1 ? slopes.x() : -slopes.x()) + (i & 2 ? slopes.y() : -slopes.y()) +
                          (i & 4 ? slopes.z() : -slopes.z());
    if (height >= q.margin) continue;
    const Vec3 local(i & 1 ? half.x() : -half.x(), i & 2 ? half.y() : -half.y(),
                     i & 4 ? half.z() : -half.z());
    cornerContact(q, q.poseA.position + turn * local, height, up, i);
  }
}

void contactHullPlane(const PairQuery& q) {
  const Vec3 up = q.poseB.direction(Vec3::UnitY()), localUp = q.poseA.localDirection(up);
  const double middle = up.dot(q.poseA.position - q.poseB.position);
  const Vec3 u = localUp.unitOrthogonal(), v = localUp.cross(u);
  constexpr uint32_t kMost = 64;
  FlatPoint flat[kMost];
  uint32_t corners[kMost], count = 0;
  const std::vector<Vec3>& vertices = q.a.hull()->vertices;
  for (uint32_t i = 0; i < vertices.size(); ++i) {
    const double height = middle + localUp.dot(vertices[i]);
    if (height >= q.margin) continue;
    if (count == kMost) {
      // Too many corners: four of them stand for those so far.
      uint32_t kept[4];
      chooseFour({flat, count}, kept);
      std::sort(kept, kept + 4);
      for (uint32_t k = 0; k < 4; ++k) {
        flat[k] = flat[kept[k]];
        corners[k] = corners[kept[k]];
      }
      count = 4;
    }
    flat[count] = {u.dot(vertices[i]), v.dot(vertices[i]), height};
    corners[count++] = i;
  }
  uint32_t kept[4] = {0, 1, 2, 3};
  if (count > 4) {
    preferLow({flat, count}, q.margin);
    chooseFour({flat, count}, kept);
  }
  for (uint32_t k = 0; k < std::min(count, 4u); ++k)
    cornerContact(q, q.poseA.point(vertices[corners[kept[k]]]), flat[kept[k]].height, up, corners[kept[k]]);
}

}  // namespace sunder::rigid
