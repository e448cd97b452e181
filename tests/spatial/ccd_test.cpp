// Continuous collision tests: cases with a closed-form answer, minimum separation against dense sampling,
// symmetry, settings and batches. The exact oracle is in ccd_exact_test.cpp, the public queries in
// ccd_public_test.cpp.
#include "sunder/spatial/ccd/ccd.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"

#include "spatial/ccd_cases.h"

#include <cstring>

#include <gtest/gtest.h>

namespace sunder::spatial {
namespace {

using exact::Stream;

CcdHit ask(bool edges, const std::array<Vec3, 8>& x, const CcdSettings& settings = {}) {
  return (edges ? edgeEdge : vertexFace)(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], settings);
}

std::array<Vec3, 8> randomQuery(Stream& random, double motion) {
  std::array<Vec3, 8> x;
  const auto vector = [&](double size) {
    return Vec3(size * (2 * random.uniform() - 1), size * (2 * random.uniform() - 1),
                size * (2 * random.uniform() - 1));
  };
  for (size_t i = 0; i < 4; ++i) {
    x[i] = vector(1);
    x[i + 4] = x[i] + vector(motion);
  }
  return x;
}

TEST(Ccd, VertexFallsOnFace) {
  const Vec3 a(0, 0, 0), b(4, 0, 0), c(0, 0, 4);
  const CcdHit hit = vertexFace({1, 3, 1}, a, b, c, {1, -1, 1}, a, b, c);
  ASSERT_TRUE(hit.hit);
  EXPECT_LE(hit.time, 0.75);
  EXPECT_NEAR(hit.time, 0.75, 1e-14);
  EXPECT_LE(hit.tolerance, 1e-13);
  EXPECT_FALSE(vertexFace({3, 3, 3}, a, b, c, {3, -1, 3}, a, b, c).hit);    // beside the face
  EXPECT_FALSE(vertexFace({1, 3, 1}, a, b, c, {1, 1e-9, 1}, a, b, c).hit);  // stops a nanometre above it
  EXPECT_TRUE(vertexFace({1, 3, 1}, a, b, c, {1, 0, 1}, a, b, c).hit);      // arrives exactly at the end
}

TEST(Ccd, MinimumSeparationShiftsTheTime) {
  const Vec3 a(0, 0, 0), b(4, 0, 0), c(0, 0, 4);
  CcdSettings settings;
  settings.minSeparation = 0.5;
  const CcdHit face = vertexFace({1, 3, 1}, a, b, c, {1, -1, 1}, a, b, c, settings);
  EXPECT_TRUE(face.hit);
  EXPECT_LE(face.time, 0.625);
  EXPECT_NEAR(face.time, 0.625, 1e-13);
  const CcdHit point = vertexVertex({0, 0, 0}, {2, 0, 0}, {0, 0, 0}, {-2, 0, 0}, settings);
  EXPECT_TRUE(point.hit);
  EXPECT_LE(point.time, 0.375);
  EXPECT_NEAR(point.time, 0.375, 1e-13);
  const CcdHit edge =
      vertexEdge({0, 2, 0}, {-1, 0, 0}, {1, 0, 0}, {0, 0, 0}, {-1, 0, 0}, {1, 0, 0}, settings);
  EXPECT_TRUE(edge.hit);
  EXPECT_LE(edge.time, 0.75);
  EXPECT_NEAR(edge.time, 0.75, 1e-13);
  EXPECT_FALSE(vertexVertex({0, 0.501, 0}, {2, 0, 0}, {0, 0.501, 0}, {-2, 0, 0}, settings).hit);
  EXPECT_TRUE(vertexVertex({0, 0.499, 0}, {2, 0, 0}, {0, 0.499, 0}, {-2, 0, 0}, settings).hit);
}

TEST(Ccd, EdgesCross) {
  const CcdHit hit =
      edgeEdge({-1, 0, 0}, {1, 0, 0}, {0, 1, -1}, {0, 1, 1}, {-1, 0, 0}, {1, 0, 0}, {0, -3, -1}, {0, -3, 1});
  ASSERT_TRUE(hit.hit);
  EXPECT_LE(hit.time, 0.25);
  EXPECT_NEAR(hit.time, 0.25, 1e-14);
  // Parallel edges that slide along each other, end to end: they touch when the gap of 1 is closed.
  const CcdHit ends =
      edgeEdge({0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}, {0, 0, 0}, {1, 0, 0}, {0, 0, 0}, {1, 0, 0});
  ASSERT_TRUE(ends.hit);
  EXPECT_LE(ends.time, 0.5);
  EXPECT_NEAR(ends.time, 0.5, 1e-14);
}

TEST(Ccd, TimeIsPositiveForEveryGap) {
  // A gap far below the tolerance must not be taken for contact at time 0, or a solver could never move.
  const Vec3 a(0, 0, 0), b(1, 0, 0), c(0, 0, 1);
  for (double gap = 1e-1; gap > 2e-14; gap /= 3) {
    const CcdHit hit = vertexFace({0.25, gap, 0.25}, a, b, c, {0.25, -1, 0.25}, a, b, c);
    ASSERT_TRUE(hit.hit);
    ASSERT_GT(hit.time, 0) << gap;
    ASSERT_LE(hit.time, gap / (1 + gap) * (1 + 1e-15)) << gap;
  }
}

TEST(Ccd, ContactAtTheStartIsTimeZero) {
  const Vec3 a(0, 0, 0), b(1, 0, 0), c(0, 0, 1), p(0.25, 0, 0.25);
  EXPECT_TRUE(vertexFace(p, a, b, c, p, a, b, c).hit);
  const CcdHit leaving = vertexFace(p, a, b, c, p + Vec3(0, 1, 0), a, b, c);
  EXPECT_TRUE(leaving.hit);
  EXPECT_EQ(leaving.time, 0);
  EXPECT_TRUE(vertexVertex(p, p, p, p).hit);
  EXPECT_TRUE(edgeEdge(p, p, p, p, p, p, p, p).hit);
}

TEST(Ccd, MaxTimeCutsTheStep) {
  const Vec3 a(0, 0, 0), b(4, 0, 0), c(0, 0, 4);
  CcdSettings settings;
  settings.maxTime = 0.74;
  const CcdHit miss = vertexFace({1, 3, 1}, a, b, c, {1, -1, 1}, a, b, c, settings);
  EXPECT_FALSE(miss.hit);
  EXPECT_EQ(miss.time, 0.74);
  settings.maxTime = 0.76;
  EXPECT_TRUE(vertexFace({1, 3, 1}, a, b, c, {1, -1, 1}, a, b, c, settings).hit);
  settings.maxTime = 0;
  EXPECT_FALSE(vertexFace({1, 3, 1}, a, b, c, {1, -1, 1}, a, b, c, settings).hit);
}

TEST(Ccd, OutOfIterationsIsAHit) {
  Stream random{7};
  CcdSettings settings;
  settings.maxIterations = 0;
  size_t more = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto x = randomQuery(random, 1);
    const CcdHit quick = ask(i % 2 != 0, x, settings), full = ask(i % 2 != 0, x);
    ASSERT_TRUE(quick.hit || !full.hit);
    if (quick.hit && full.hit) {
      ASSERT_LE(quick.time, full.time);
    }
    more += quick.hit && !full.hit;
  }
  EXPECT_GT(more, 0u);
}

// The hit and its time against distances at many times: a sample closer than the separation proves contact by
// then; without a hit no sample may be that close; a hit needs a distance that close at its own time.
void checkMinimumSeparationAgainstSampling(int queries, size_t leastHits) {
  constexpr int kSamples = 200;
  Stream random{11};
  size_t hits = 0;
  for (int i = 0; i < queries; ++i) {
    const bool edges = i % 2 != 0;
    const auto x = randomQuery(random, 1.0);
    CcdSettings settings;
    settings.minSeparation = std::pow(10.0, -4 * random.uniform());
    const CcdHit found = ask(edges, x, settings);
    hits += found.hit;
    for (int s = 0; s <= kSamples; ++s) {
      const double t = double(s) / kSamples;
      const double distance = exact::distanceAt(edges, x, t);
      if (distance < settings.minSeparation * (1 - 1e-12)) {
        ASSERT_TRUE(found.hit) << i << " at " << t;
        ASSERT_LE(found.time, t) << i;
        break;
      }
    }
    if (found.hit) {
      const double distance = exact::distanceAt(edges, x, found.time);
      ASSERT_LE(distance, settings.minSeparation + 4e-6) << i;
      ASSERT_NEAR(found.tolerance, std::max(0.0, distance - settings.minSeparation), 1e-12) << i;
      if (exact::distanceAt(edges, x, 0) > settings.minSeparation + 1e-12) {
        ASSERT_GT(found.time, 0) << i;
      }
    }
  }
  EXPECT_GT(hits, leastHits);
  EXPECT_LT(hits, 18000u);
}
TEST(Ccd, MinimumSeparationAgainstSampling) { checkMinimumSeparationAgainstSampling(20000, 2000); }
TEST(Ccd, MinimumSeparationOfAFewAgainstSampling) { checkMinimumSeparationAgainstSampling(500, 30); }

TEST(Ccd, SymmetricInTheOrderOfVertices) {
  static constexpr size_t kFaces[][4] = {
      {0, 2, 3, 1}, {0, 3, 1, 2}, {0, 1, 3, 2}, {0, 3, 2, 1}, {0, 2, 1, 3}};
  static constexpr size_t kEdges[][4] = {
      {1, 0, 2, 3}, {0, 1, 3, 2}, {1, 0, 3, 2}, {2, 3, 0, 1}, {3, 2, 1, 0}};
  Stream random{13};
  size_t hits = 0;
  for (int i = 0; i < 20000; ++i) {
    const bool edges = i % 2 != 0;
    // Half of them random, half in exact contact, where rounding has the most to say.
    const auto x = i % 4 < 2 ? randomQuery(random, 1) : exact::buildContact(random, edges, 50).query.points();
    const CcdHit found = ask(edges, x);
    hits += found.hit;
    for (const auto& order : edges ? kEdges : kFaces) {
      std::array<Vec3, 8> y;
      for (size_t k = 0; k < 8; ++k) y[k] = x[order[k % 4] + k / 4 * 4];
      const CcdHit other = ask(edges, y);
      ASSERT_EQ(found.hit, other.hit) << i;
    }
  }
  EXPECT_GT(hits, 10000u);
}

// Any scale, any place: scaling by a power of two changes nothing but underflow and overflow, and those stay
// safe.
TEST(Ccd, ScalesAndFarPlaces) {
  Stream random{17};
  for (int i = 0; i < 4000; ++i) {
    const bool edges = i % 2 != 0;
    const auto built = exact::buildContact(random, edges, 100);
    for (const int power : {-1070, -1000, -300, -60, 60, 150, 300, 900}) {
      const auto x = built.query.points(std::ldexp(1.0, power));
      const CcdHit hit = ask(edges, x);
      ASSERT_TRUE(hit.hit) << i << " 2^" << power;
      ASSERT_LE(hit.time, built.time) << i << " 2^" << power;
    }
    const auto far = built.query.points(0x1p-20, Vec3(1e6, -2e6, 4e6));
    const CcdHit hit = ask(edges, far);
    ASSERT_TRUE(hit.hit) << i;
    ASSERT_LE(hit.time, built.time) << i;
  }
}

TEST(Ccd, BatchAgreesWithSingleForAnyNumberOfThreads) {
  Stream random{19};
  std::vector<Vec3> start, end;
  for (int i = 0; i < 3000; ++i) {
    const auto x = randomQuery(random, 0.5);
    start.push_back(x[0]);
    end.push_back(x[4]);
  }
  for (const double separation : {0.0, 0.05}) {
    CcdSettings settings;
    settings.minSeparation = separation;
    for (const bool edges : {false, true}) {
      std::vector<CcdPair> pairs(50021);
      for (CcdPair& p : pairs)
        for (uint32_t& v : p) v = uint32_t(random.below(3000));
      std::vector<CcdHit> hits(pairs.size()), again(pairs.size());
      const auto batch = edges ? edgeEdgeBatch : vertexFaceBatch;
      batch(start, end, pairs, hits, settings);
      {
        const ThreadLimit one(1);
        batch(start, end, pairs, again, settings);
      }
      size_t differing = 0;
      for (size_t i = 0; i < pairs.size(); ++i) {
        ASSERT_EQ(hits[i].hit, again[i].hit);
        ASSERT_EQ(hits[i].time, again[i].time);
        ASSERT_EQ(hits[i].tolerance, again[i].tolerance);
        const CcdPair& p = pairs[i];
        const CcdHit alone = ask(
            edges,
            {start[p[0]], start[p[1]], start[p[2]], start[p[3]], end[p[0]], end[p[1]], end[p[2]], end[p[3]]},
            settings);
        ASSERT_TRUE(alone.hit || !hits[i].hit);  // the filter may only remove false alarms
        differing += alone.hit != hits[i].hit;
        if (hits[i].hit) {
          ASSERT_EQ(hits[i].time, alone.time);
        }
      }
      EXPECT_LE(differing, 2u);
    }
  }
}

TEST(Ccd, BatchRefusesWhatDoesNotFit) {
  const std::vector<Vec3> three(3, Vec3::Zero()), four(4, Vec3::Zero());
  const std::vector<CcdPair> pair{{0, 1, 2, 3}};
  std::vector<CcdHit> one(1), none;
  EXPECT_THROW(vertexFaceBatch(three, three, pair, one), Error);
  EXPECT_THROW(vertexFaceBatch(three, four, pair, one), Error);
  EXPECT_THROW(edgeEdgeBatch(four, four, pair, none), Error);
  EXPECT_NO_THROW(edgeEdgeBatch(four, four, pair, one));
  EXPECT_NO_THROW(edgeEdgeBatch(four, four, {}, none));
}

}  // namespace
}  // namespace sunder::spatial
