// Small solids and sheets to cut, and what every result must be.
#pragma once

#include "sunder/base/random.h"
#include "sunder/cut/cut.h"
#include "sunder/geometry/mass_properties.h"
#include "sunder/shapes/catalogue.h"

#include <algorithm>
#include <map>
#include <vector>

#include <gtest/gtest.h>

namespace sunder::cut::testing {

using geometry::PolygonSoup;

// A prism over a polygon in the xy-plane that turns counter-clockwise, from z = 0 to `height`.
inline PolygonSoup prism(const std::vector<Vec2>& outline, double height) {
  PolygonSoup soup;
  const uint32_t n = static_cast<uint32_t>(outline.size());
  for (const double z : {0.0, height})
    for (const Vec2& p : outline) soup.positions.push_back({p.x(), p.y(), z});
  std::vector<uint32_t> ring(n);
  for (uint32_t i = 0; i < n; ++i) ring[i] = n - 1 - i;
  soup.addFace(ring);
  for (uint32_t i = 0; i < n; ++i) ring[i] = n + i;
  soup.addFace(ring);
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t j = (i + 1) % n;
    soup.addFace(std::vector<uint32_t>{i, j, n + j, n + i});
  }
  return soup;
}

inline double total(const CutResult& r) {
  double sum = 0;
  for (const double v : r.volume) sum += v;
  return sum;
}

inline void expectEqual(const CutResult& a, const CutResult& b) {
  EXPECT_EQ(a.mesh.corners, b.mesh.corners);
  EXPECT_EQ(a.mesh.positions, b.mesh.positions);
  EXPECT_EQ(a.sourceFace, b.sourceFace);
  EXPECT_EQ(a.fragment, b.fragment);
  EXPECT_EQ(a.cutter, b.cutter);
  EXPECT_EQ(a.volume, b.volume);
  EXPECT_EQ(a.crossings, b.crossings);
}

// The benchmark's bumpy sphere, moved.
inline geometry::TriMesh rippled(int n, const Vec3& at = Vec3::Zero()) {
  shapes::RippledSphereShape shape;
  shape.n = n;
  geometry::TriMesh mesh = shapes::makeRippledSphere(shape);
  for (Vec3& p : mesh.positions) p += at;
  return mesh;
}

inline PolygonSoup box(const Vec3& lower, const Vec3& upper) {
  PolygonSoup soup = prism({{0, 0}, {1, 0}, {1, 1}, {0, 1}}, 1);
  for (Vec3& p : soup.positions) p = lower + p.cwiseProduct(upper - lower);
  return soup;
}
inline PolygonSoup unitCube() { return box(Vec3::Zero(), Vec3::Ones()); }

inline PolygonSoup sheet(const std::vector<Vec3>& corners, const std::vector<std::vector<uint32_t>>& faces) {
  PolygonSoup soup;
  soup.positions = corners;
  for (const auto& f : faces) soup.addFace(f);
  return soup;
}
inline PolygonSoup quad(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  return sheet({a, b, c, d}, {{0, 1, 2, 3}});
}

// The bar of height 1 with three teeth.
inline std::vector<Vec2> combOutline() {
  return {{0, 0}, {6, 0}, {6, 5}, {5, 5}, {5, 1}, {4, 1}, {4, 5},
          {3, 5}, {3, 1}, {2, 1}, {2, 5}, {1, 5}, {1, 1}, {0, 1}};
}

inline PolygonSoup moved(PolygonSoup soup, const Vec3& by, const Quat& turn = Quat::Identity()) {
  for (Vec3& p : soup.positions) p = turn * p + by;
  return soup;
}

// One mesh of them all.
inline PolygonSoup together(const std::vector<PolygonSoup>& parts) {
  PolygonSoup all;
  for (const PolygonSoup& p : parts) {
    const uint32_t first = static_cast<uint32_t>(all.positions.size());
    all.positions.insert(all.positions.end(), p.positions.begin(), p.positions.end());
    for (size_t f = 0; f < p.faceCount(); ++f) {
      std::vector<uint32_t> ring(p.face(f).begin(), p.face(f).end());
      for (uint32_t& v : ring) v += first;
      all.addFace(ring);
    }
  }
  return all;
}

inline PolygonSoup turnedOver(const PolygonSoup& soup) {
  PolygonSoup out;
  out.positions = soup.positions;
  for (size_t f = 0; f < soup.faceCount(); ++f) {
    std::vector<uint32_t> ring(soup.face(f).begin(), soup.face(f).end());
    std::reverse(ring.begin(), ring.end());
    out.addFace(ring);
  }
  return out;
}

// Directed edges without exactly one opposite.
inline size_t unmatchedEdges(const PolygonSoup& soup) {
  std::vector<std::pair<uint32_t, uint32_t>> edges;
  for (size_t f = 0; f < soup.faceCount(); ++f) {
    const auto face = soup.face(f);
    for (size_t i = 0; i < face.size(); ++i) edges.push_back({face[i], face[(i + 1) % face.size()]});
  }
  std::sort(edges.begin(), edges.end());
  size_t bad = 0;
  for (size_t i = 0; i < edges.size(); ++i) {
    const auto range =
        std::equal_range(edges.begin(), edges.end(), std::make_pair(edges[i].second, edges[i].first));
    bad += range.second - range.first != 1 || (i > 0 && edges[i] == edges[i - 1]);
  }
  return bad;
}

inline double volumeOf(const PolygonSoup& soup) {
  return soup.faceCount() == 0 ? 0 : geometry::massProperties(soup).volume;
}

struct Counts {
  size_t vertices, edges, faces;
  bool operator==(const Counts&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const Counts& c) {
    return out << '(' << c.vertices << ", " << c.edges << ", " << c.faces << ')';
  }
};
inline Counts countsOf(const PolygonSoup& soup) {
  return {soup.positions.size(), soup.corners.size() / 2, soup.faceCount()};
}

// Closed, and the volumes it states are those of its fragments.
inline void expectSound(const CutResult& result) {
  EXPECT_EQ(unmatchedEdges(result.mesh), 0u);
  const auto fragments = separate(result);
  ASSERT_EQ(fragments.size(), result.fragments);
  ASSERT_EQ(result.volume.size(), result.fragments);
  for (size_t i = 0; i < fragments.size(); ++i) {
    EXPECT_EQ(unmatchedEdges(fragments[i]), 0u) << "fragment " << i;
    EXPECT_NEAR(volumeOf(fragments[i]), result.volume[i], 1e-9 * (1 + std::abs(result.volume[i])));
  }
}

inline std::vector<double> sortedVolumes(const CutResult& result) {
  std::vector<double> v = result.volume;
  std::sort(v.begin(), v.end());
  return v;
}

inline void expectVolumes(const CutResult& result, const std::vector<double>& expected,
                          double tolerance = 1e-12) {
  const auto volumes = sortedVolumes(result);
  ASSERT_EQ(volumes.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(volumes[i], expected[i], tolerance);
}

}  // namespace sunder::cut::testing
