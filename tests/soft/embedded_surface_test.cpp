#include "sunder/soft/embed/embedded_surface.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/random.h"
#include "sunder/base/simd.h"
#include "sunder/soft/embed/skin.h"

#include "soft/solids.h"

#include <cstring>
#include <map>

#include <gtest/gtest.h>

namespace sunder::soft {

namespace {

struct Ball {
  geometry::TriMesh surface = splitSphere(0.9, 3);
  Cage cage = makeCage(kuhnCage(3));
  Ball() {
    const Mat3 turn = Quat(0.9, 0.1, 0.3, -0.2).normalized().toRotationMatrix();
    for (Vec3& p : surface.positions) p = turn * p;
  }
};

Mat3 randomMatrix(RandomStream& random) {
  Mat3 m;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) m(i, j) = random.uniform(-1, 1);
  return m;
}

bool sameBits(const Vec3f& a, const Vec3f& b) { return std::memcmp(a.data(), b.data(), sizeof(Vec3f)) == 0; }

}  // namespace

TEST(EmbeddedSurface, FollowsAffineMapsOfTheCage) {
  const Ball ball;
  RandomStream random(1);
  for (const EmbedMode mode : {EmbedMode::Copies, EmbedMode::Clipped}) {
    const EmbeddedSurface embedded = embedSurface(ball.surface, ball.cage, mode);
    const Skin skin(embedded, ball.cage);
    std::vector<Vec3f> placed(embedded.weights.size());
    for (int trial = 0; trial < 5; ++trial) {
      const Mat3 map = randomMatrix(random);
      const Vec3 shift = 100 * random.unitVector();
      std::vector<Vec3> cage = ball.cage.rest.positions;
      double size = 0;
      for (Vec3& p : cage) {
        p = map * p + shift;
        size = std::max(size, (p - shift).norm());
      }
      skin.place(cage, ball.cage.rest.tets, shift, placed);
      for (size_t v = 0; v < placed.size(); ++v)
        ASSERT_LT((placed[v].cast<double>() - map * embedded.rest[v]).norm(), 1e-6 * size) << v;
    }
  }
}

TEST(EmbeddedSurface, CopiesKeepTheTriangles) {
  const Ball ball;
  const EmbeddedSurface embedded = embedSurface(ball.surface, ball.cage, EmbedMode::Copies);
  EXPECT_EQ(embedded.triangles.size(), copyStatistics(assignSurface(ball.surface, ball.cage)).copies);
  EXPECT_TRUE(std::is_sorted(embedded.tets.begin(), embedded.tets.end()));
  for (uint32_t k = 0; k < embedded.triangles.size(); ++k)
    for (size_t c = 0; c < 3; ++c) {
      const uint32_t v = embedded.triangles[k][c];
      EXPECT_EQ(embedded.tets[v], embedded.tetOf(k));
      const Vec3& p = ball.surface.positions[ball.surface.triangles[embedded.source[k]][c]];
      EXPECT_LT((embedded.rest[v] - p).norm(), 1e-12);
      EXPECT_LT((embedded.normals[v].cast<double>() - p.normalized()).norm(), 0.05);
    }
}

TEST(EmbeddedSurface, PiecesHaveTheAreaOfTheSurface) {
  const Ball ball;
  const EmbeddedSurface embedded = embedSurface(ball.surface, ball.cage, EmbedMode::Clipped);
  double sum = 0, whole = 0;
  const geometry::TriMesh shown{embedded.rest, embedded.triangles};
  for (uint32_t k = 0; k < shown.triangles.size(); ++k) sum += areaOf(shown, k);
  for (uint32_t t = 0; t < ball.surface.triangles.size(); ++t) whole += areaOf(ball.surface, t);
  EXPECT_NEAR(sum, whole, 1e-12 * whole);
  for (const Vec4& w : embedded.weights) EXPECT_GE(w.minCoeff(), 0);
}

TEST(EmbeddedSurface, PointsOnSharedFacesHaveTheSameBits) {
  const Ball ball;
  const EmbeddedSurface embedded = embedSurface(ball.surface, ball.cage, EmbedMode::Clipped);
  const Skin skin(embedded, ball.cage);
  RandomStream random(5);
  std::vector<Vec3> cage = ball.cage.rest.positions;
  for (Vec3& p : cage) p += 0.2 * random.unitVector();
  std::vector<Vec3f> placed(embedded.weights.size()), normals(placed.size());
  skin.place(cage, ball.cage.rest.tets, Vec3(0.1, 0.2, 0.3), placed);
  skin.smoothNormals(cage, ball.cage.rest.tets, normals);
  // By the source's triangle, and where they were at rest.
  std::map<std::array<double, 3>, std::vector<uint32_t>> at;
  for (uint32_t v = 0; v < placed.size(); ++v)
    if (embedded.weights[v].minCoeff() == 0) {
      std::map<uint32_t, double> byVertex;
      for (int k = 0; k < 4; ++k)
        if (embedded.weights[v][k] > 0)
          byVertex[ball.cage.rest.tets[embedded.tets[v]][size_t(k)]] = embedded.weights[v][k];
      Vec3 p = Vec3::Zero();
      for (const auto& [vertex, w] : byVertex) p += w * ball.cage.rest.positions[vertex];
      at[{p.x(), p.y(), p.z()}].push_back(v);
    }
  size_t pairs = 0;
  for (const auto& [where, vertices] : at) {
    bool several = false;
    for (const uint32_t v : vertices) {
      EXPECT_TRUE(sameBits(placed[v], placed[vertices[0]]));
      EXPECT_TRUE(sameBits(normals[v], normals[vertices[0]]));
      several |= embedded.tets[v] != embedded.tets[vertices[0]];
    }
    EXPECT_TRUE(several) << "a point on a face that only one tetrahedron has";
    pairs += several;
  }
  EXPECT_GT(pairs, 300u);
}

TEST(EmbeddedSurface, NormalsAreThoseOfTheDeformedSurface) {
  const Ball ball;
  const EmbeddedSurface embedded = embedSurface(ball.surface, ball.cage, EmbedMode::Clipped);
  const Skin skin(embedded, ball.cage);
  RandomStream random(2);
  std::vector<Vec3f> normals(embedded.weights.size()), smooth(normals.size());
  int inverted = 0;
  for (int trial = 0; trial < 40; ++trial) {
    const Mat3 f = randomMatrix(random);
    if (std::abs(f.determinant()) < 0.1) continue;
    inverted += f.determinant() < 0;
    std::vector<Vec3> cage = ball.cage.rest.positions;
    for (Vec3& p : cage) p = f * p + Vec3(1, 2, 3);
    skin.normals(cage, ball.cage.rest.tets, normals);
    skin.smoothNormals(cage, ball.cage.rest.tets, smooth);
    const Mat3 cofactor = f.inverse().transpose();
    for (size_t v = 0; v < normals.size(); ++v) {
      const Vec3 expected = (cofactor * embedded.normals[v].cast<double>()).normalized();
      ASSERT_LT((normals[v].cast<double>() - expected).norm(), 1e-4) << v;
      ASSERT_LT((smooth[v].cast<double>() - expected).norm(), 1e-4) << v;
    }
  }
  EXPECT_GT(inverted, 3);
}

TEST(EmbeddedSurface, EdgesOfABoxStaySharp) {
  const geometry::TriMesh cube = box(Vec3::Constant(-0.7), Vec3::Constant(0.7));
  const Cage cage = makeCage(kuhnCage(2));
  for (const EmbedMode mode : {EmbedMode::Copies, EmbedMode::Clipped}) {
    const EmbeddedSurface embedded = embedSurface(cube, cage, mode);
    for (const Vec3f& n : embedded.normals) {
      EXPECT_NEAR(n.cwiseAbs().maxCoeff(), 1, 1e-6);
      EXPECT_NEAR(n.norm(), 1, 1e-6);
    }
  }
}

TEST(EmbeddedSurface, AttributesAreInterpolated) {
  const Ball ball;
  SurfaceAttributes attributes;
  for (uint32_t t = 0; t < ball.surface.triangles.size(); ++t) {
    for (const uint32_t v : ball.surface.triangles[t]) {
      const Vec3& p = ball.surface.positions[v];
      attributes.uvs.push_back(Vec2f(float(p.x()), float(p.y())));
    }
    attributes.slots.push_back(uint16_t(t % 7));
  }
  for (const EmbedMode mode : {EmbedMode::Copies, EmbedMode::Clipped}) {
    const EmbeddedSurface embedded = embedSurface(ball.surface, ball.cage, mode, attributes);
    for (size_t k = 0; k < embedded.triangles.size(); ++k) {
      EXPECT_EQ(embedded.slots[k], embedded.source[k] % 7);
      for (size_t c = 0; c < 3; ++c) {
        const Vec3& p = embedded.rest[embedded.triangles[k][c]];
        EXPECT_NEAR(embedded.uvs[3 * k + c].x(), p.x(), 1e-6);
        EXPECT_NEAR(embedded.uvs[3 * k + c].y(), p.y(), 1e-6);
      }
    }
  }
  attributes.slots.pop_back();
  EXPECT_THROW(embedSurface(ball.surface, ball.cage, EmbedMode::Copies, attributes), Error);
}

TEST(Skin, HasTheSameBitsOnEveryTargetAndAnyThreads) {
  const Ball ball;
  const EmbeddedSurface embedded = embedSurface(ball.surface, ball.cage, EmbedMode::Clipped);
  const Skin skin(embedded, ball.cage);
  RandomStream random(3);
  std::vector<Vec3> cage = ball.cage.rest.positions;
  for (Vec3& p : cage) p += 0.3 * random.unitVector();
  std::vector<Vec3f> first, firstNormals;
  for (const std::string& target : simdTargets())
    for (const unsigned threads : {1u, 2u, 4u}) {
      const SimdTargetOverride use(target);
      const ThreadLimit limit(threads);
      std::vector<Vec3f> placed(embedded.weights.size()), normals(embedded.weights.size());
      skin.place(cage, ball.cage.rest.tets, Vec3::Zero(), placed);
      skin.smoothNormals(cage, ball.cage.rest.tets, normals);
      std::vector<Vec3f> plain(normals.size());
      skin.normals(cage, ball.cage.rest.tets, plain);
      normals.insert(normals.end(), plain.begin(), plain.end());
      if (first.empty()) first = placed, firstNormals = normals;
      EXPECT_EQ(std::memcmp(first.data(), placed.data(), placed.size() * sizeof(Vec3f)), 0) << target;
      EXPECT_EQ(std::memcmp(firstNormals.data(), normals.data(), normals.size() * sizeof(Vec3f)), 0)
          << target;
    }
}

TEST(Skin, FollowsTornTetrahedra) {
  const Ball ball;
  const EmbeddedSurface embedded = embedSurface(ball.surface, ball.cage, EmbedMode::Clipped);
  const Skin skin(embedded, ball.cage);
  // Every tetrahedron has its own corners, moved by its number.
  std::vector<Vec3> positions = ball.cage.rest.positions;
  std::vector<geometry::Tetrahedron> tets = ball.cage.rest.tets;
  for (size_t t = 0; t < tets.size(); ++t)
    for (uint32_t& v : tets[t]) {
      positions.push_back(positions[v] + Vec3(double(t), 0, 0));
      v = uint32_t(positions.size() - 1);
    }
  std::vector<Vec3f> placed(embedded.weights.size());
  skin.place(positions, tets, Vec3::Zero(), placed);
  for (size_t v = 0; v < placed.size(); ++v) {
    const Vec3 expected = embedded.rest[v] + Vec3(double(embedded.tets[v]), 0, 0);
    EXPECT_LT((placed[v].cast<double>() - expected).norm(), 5e-5);
  }
  tets[3][1] = uint32_t(positions.size());
  EXPECT_THROW(skin.place(positions, tets, Vec3::Zero(), placed), Error);
  placed.pop_back();
  EXPECT_THROW(skin.place(positions, ball.cage.rest.tets, Vec3::Zero(), placed), Error);
}

}  // namespace sunder::soft
