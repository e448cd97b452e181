#include "sunder/soft/embed/surface_copies.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/rotation.h"
#include "sunder/geometry/mesh_view.h"
#include "sunder/meshio/mesh_file.h"
#include "sunder/soft/cage/auto_cage.h"

#include "folders.h"
#include "soft/solids.h"

#include <gtest/gtest.h>

namespace sunder::soft {

namespace {

// What the tetrahedra hold of each triangle, from the clipped polygons in space: area, and the vector area.
void expectWhole(const geometry::TriMesh& surface, const Cage& cage, const SurfaceCopies& copies) {
  double sum = 0, whole = 0;
  size_t count = 0;
  std::vector<double> area(surface.triangles.size(), 0);
  for (uint32_t t = 0; t < cage.rest.tets.size(); ++t) {
    const auto row = copies.trianglesOf.row(t);
    for (size_t i = 0; i < row.size(); ++i) {
      const auto polygon = copies.polygon(copies.trianglesOf.offsets[t] + i);
      ASSERT_GE(polygon.size(), 3u);
      if (i > 0) {
        ASSERT_LT(row[i - 1], row[i]);
      }
      std::vector<Vec3> points;
      for (const ClipCorner& corner : polygon) {
        EXPECT_GE(corner.weights.minCoeff(), 0);
        EXPECT_NEAR(corner.weights.sum(), 1, 1e-12);
        EXPECT_NEAR(corner.inTriangle.sum(), 1, 1e-12);
        EXPECT_EQ(std::popcount(unsigned(corner.faces)) + std::popcount(unsigned(corner.edges)), 2);
        Vec3 p = Vec3::Zero();
        for (int k = 0; k < 4; ++k) {
          p += corner.weights[k] * cage.rest.positions[cage.rest.tets[t][size_t(k)]];
          if (corner.faces >> k & 1) {
            EXPECT_EQ(corner.weights[k], 0);
          }
        }
        Vec3 q = Vec3::Zero();
        for (int k = 0; k < 3; ++k)
          q += corner.inTriangle[k] * surface.positions[surface.triangles[row[i]][size_t(k)]];
        EXPECT_LT((p - q).norm(), 1e-11);
        points.push_back(p);
      }
      Vec3 vector = Vec3::Zero();
      for (size_t c = 2; c < points.size(); ++c)
        vector += 0.5 * (points[c - 1] - points[0]).cross(points[c] - points[0]);
      area[row[i]] += vector.norm();
      count += !isDust(polygon);
      const geometry::Triangle& v = surface.triangles[row[i]];
      const Vec3 normal = (surface.positions[v[1]] - surface.positions[v[0]])
                              .cross(surface.positions[v[2]] - surface.positions[v[0]]);
      EXPECT_GE(vector.dot(normal), -1e-14) << "polygon " << i << " of " << t << " winds the other way";
    }
  }
  for (uint32_t t = 0; t < area.size(); ++t) {
    sum += area[t];
    whole += areaOf(surface, t);
    EXPECT_GE(copies.copiesOf[t], 1u) << "triangle " << t;
    EXPECT_NEAR(area[t], areaOf(surface, t), 1e-9 * areaOf(surface, t)) << "triangle " << t;
  }
  EXPECT_NEAR(sum, whole, 1e-12 * whole);
  const CopyStatistics table = copyStatistics(copies);
  size_t weighed = 0, triangles = 0;
  for (size_t k = 0; k < table.times.size(); ++k) weighed += k * table.times[k], triangles += table.times[k];
  EXPECT_EQ(weighed, count);
  EXPECT_EQ(table.copies, count);
  EXPECT_EQ(triangles, surface.triangles.size());
}

Cage kuhn(int n) { return makeCage(kuhnCage(n)); }

geometry::TriMesh turnedSphere(int levels) {
  geometry::TriMesh sphere = splitSphere(0.9, levels);
  const Mat3 turn = (Eigen::AngleAxisd(0.7, Vec3::UnitX()) * Eigen::AngleAxisd(0.3, Vec3::UnitZ())).matrix();
  for (Vec3& p : sphere.positions) p = turn * p;
  return sphere;
}

}  // namespace

TEST(SurfaceCopies, OfASphereInKuhnCagesAreThoseOfTheTable) {
  const geometry::TriMesh sphere = turnedSphere(4);
  ASSERT_EQ(sphere.triangles.size(), 5120u);
  const struct {
    int n;
    size_t copies, holding;
    double clipped;
  } rows[] = {{1, 5698, 6, 1.225},
              {2, 6994, 48, 1.725},
              {3, 7770, 114, 2.020},
              {4, 9150, 276, 2.539},
              {6, 11312, 588, 3.341}};
  for (const auto& row : rows) {
    const Cage cage = kuhn(row.n);
    const SurfaceCopies copies = assignSurface(sphere, cage);
    const CopyStatistics table = copyStatistics(copies);
    EXPECT_EQ(table.copies, row.copies) << row.n;
    EXPECT_NEAR(double(table.clippedTriangles) / 5120, row.clipped, 5e-4) << row.n;
    const auto contents = tetContents(sphere, cage, copies);
    EXPECT_EQ(size_t(std::count_if(contents.begin(), contents.end(),
                                   [](TetContent c) { return c == TetContent::Surface; })),
              row.holding)
        << row.n;
    expectWhole(sphere, cage, copies);
  }
}

TEST(SurfaceCopies, HalveWhenTrianglesQuadruple) {
  const double excess[] = {0.5176, 0.2538, 0.1253};
  for (int level = 4; level <= 6; ++level) {
    const CopyStatistics table = copyStatistics(assignSurface(turnedSphere(level), kuhn(3)));
    EXPECT_NEAR(table.perTriangle() - 1, excess[level - 4], 5e-5) << level;
  }
}

TEST(SurfaceCopiesFull, HalveAgain) {
  const CopyStatistics table = copyStatistics(assignSurface(turnedSphere(7), kuhn(3)));
  EXPECT_NEAR(table.perTriangle() - 1, 0.0623, 5e-5);
}

TEST(SurfaceCopies, OfABoxThatFillsItsCage) {
  for (const int n : {1, 2, 3}) {
    const geometry::TriMesh cube = box(Vec3::Constant(-1), Vec3::Constant(1));
    const Cage cage = kuhn(n);
    expectWhole(cube, cage, assignSurface(cube, cage));
  }
}

TEST(SurfaceCopies, OfTrianglesInFacesAreOnTheInnerSide) {
  // The upper half of the cage: its lower side lies in faces between tetrahedra.
  const geometry::TriMesh half = box({-1, -1, 0}, {1, 1, 1});
  const Cage cage = kuhn(2);
  const SurfaceCopies copies = assignSurface(half, cage);
  expectWhole(half, cage, copies);
  for (uint32_t t = 0; t < cage.rest.tets.size(); ++t) {
    double middle = 0;
    for (const uint32_t v : cage.rest.tets[t]) middle += cage.rest.positions[v].z();
    if (middle < 0) {
      EXPECT_TRUE(copies.trianglesOf.row(t).empty()) << t;
    }
  }
}

TEST(SurfaceCopies, OfTouchingLatticesAreWhole) {
  // Vertices, edges and triangles of the surface lie on vertices, edges and faces of the cage in every way.
  for (const int cells : {2, 4, 6}) {
    const geometry::TetBoundary inner = geometry::boundarySurface(kuhnCage(cells));
    geometry::TriMesh surface = inner.surface;
    for (Vec3& p : surface.positions) p *= 0.5;
    const Cage cage = kuhn(4);
    expectWhole(surface, cage, assignSurface(surface, cage));
    geometry::TriMesh turned = surface;  // and inside out
    for (auto& t : turned.triangles) std::swap(t[1], t[2]);
    expectWhole(turned, cage, assignSurface(turned, cage));
  }
}

TEST(SurfaceCopies, CornersOnSharedFacesHaveTheSameBits) {
  const geometry::TriMesh sphere = turnedSphere(3);
  const Cage cage = kuhn(2);
  const SurfaceCopies copies = assignSurface(sphere, cage);
  size_t compared = 0;
  for (uint32_t t = 0; t < cage.rest.tets.size(); ++t)
    for (size_t f = 0; f < 4; ++f) {
      const uint32_t other = cage.neighbours[t][f];
      if (other == kNoIndex) continue;
      const auto row = copies.trianglesOf.row(t);
      for (size_t i = 0; i < row.size(); ++i)
        for (const ClipCorner& a : copies.polygon(copies.trianglesOf.offsets[t] + i)) {
          if (!(a.faces >> f & 1)) continue;
          bool found = false;
          const auto there = copies.trianglesOf.row(other);
          for (size_t j = 0; j < there.size(); ++j) {
            if (there[j] != row[i]) continue;
            for (const ClipCorner& b : copies.polygon(copies.trianglesOf.offsets[other] + j)) {
              bool same = a.inTriangle == b.inTriangle;
              for (size_t k = 0; k < 4; ++k)
                for (size_t m = 0; m < 4; ++m)
                  if (k != f && cage.rest.tets[t][k] == cage.rest.tets[other][m])
                    same &= a.weights[int(k)] == b.weights[int(m)];
              found |= same;
            }
          }
          EXPECT_TRUE(found) << "tetrahedron " << t << ", face " << f;
          ++compared;
        }
    }
  EXPECT_GT(compared, 500u);
}

TEST(SurfaceCopies, DoNotDependOnThreads) {
  const geometry::TriMesh sphere = turnedSphere(4);
  const Cage cage = kuhn(3);
  std::vector<uint32_t> first;
  for (const unsigned threads : {1u, 2u, 4u}) {
    const ThreadLimit limit(threads);
    const SurfaceCopies copies = assignSurface(sphere, cage);
    if (first.empty()) first = copies.trianglesOf.items;
    EXPECT_EQ(copies.trianglesOf.items, first);
  }
}

TEST(SurfaceCopies, TellWhatIsOutsideOfTheCage) {
  geometry::TriMesh sphere = turnedSphere(3);
  for (Vec3& p : sphere.positions) p.x() += 0.3;
  try {
    assignSurface(sphere, kuhn(2));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Geometry);
    EXPECT_NE(error.message().find("% of the surface is outside the cage, first triangle"),
              std::string::npos);
  }
  EXPECT_THROW(assignSurface({}, kuhn(1)), Error);
  geometry::TetMesh twice = kuhnCage(1);
  twice.positions.push_back(Vec3(0.9, 0.8, -0.9));  // a tetrahedron across the others
  twice.tets.push_back({0, 8, 7, 1});
  if (geometry::signedVolumes(twice).back() < 0) std::swap(twice.tets.back()[0], twice.tets.back()[1]);
  EXPECT_THROW(assignSurface(splitSphere(0.9, 2), makeCage(twice)), Error);
}

TEST(SurfaceCopies, KnowFullAndEmptyTetrahedra) {
  const geometry::TriMesh sphere = splitSphere(0.9, 3);
  const Cage cage = kuhn(8);
  const SurfaceCopies copies = assignSurface(sphere, cage);
  const auto contents = tetContents(sphere, cage, copies);
  for (uint32_t t = 0; t < contents.size(); ++t) {
    double least = 10, most = 0;
    for (const uint32_t v : cage.rest.tets[t]) {
      least = std::min(least, cage.rest.positions[v].norm());
      most = std::max(most, cage.rest.positions[v].norm());
    }
    if (contents[t] == TetContent::Inside) {
      EXPECT_LT(most, 0.9);
    }
    if (contents[t] == TetContent::Outside) {
      EXPECT_GT(most, 0.89);
    }
    if (contents[t] == TetContent::Surface) {
      EXPECT_GT(most, 0.88);
      EXPECT_LT(least, 0.95);
    }
  }
  EXPECT_GT(std::count(contents.begin(), contents.end(), TetContent::Inside), 100);
}

TEST(SurfaceCopies, OfPublicMeshesAreWhole) {
  for (const char* name : {"spot.obj", "cow.obj", "suzanne.obj"}) {
    const auto path = sharedData() / "meshes" / name;
    if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
    const geometry::TriMesh mesh = geometry::toTriMesh(meshio::readMesh(path).surface);
    geometry::TetMesh cage = kuhnCage(4);
    const Box3 bounds = geometry::bounds(mesh.positions);
    for (Vec3& p : cage.positions) p = bounds.center() + 0.51 * bounds.extent().cwiseProduct(p);
    const Cage ready = makeCage(cage);
    expectWhole(mesh, ready, assignSurface(mesh, ready));
  }
}

}  // namespace sunder::soft
