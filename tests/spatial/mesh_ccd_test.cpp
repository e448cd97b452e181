#include "sunder/spatial/ccd/mesh_ccd.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/shapes/catalogue.h"

#include "spatial_scenes.h"

#include <set>

#include <gtest/gtest.h>

namespace sunder::spatial {
namespace {

// Every vertex-face and edge-edge pair of a mesh that shares no vertex, one after the other.
EarliestContact earliestByForce(const MovingMesh& mesh) {
  EarliestContact earliest;
  const auto look = [&](ContactKind kind, const CcdHit& hit, const CcdPair& pair) {
    if (hit.hit && (earliest.kind == ContactKind::None || hit.time < earliest.time))
      earliest = {kind, hit.time, pair};
  };
  const auto &s = mesh.start, &e = mesh.end;
  std::set<uint32_t> vertices;
  std::set<std::pair<uint32_t, uint32_t>> edges;
  for (const auto& t : mesh.triangles)
    for (int k = 0; k < 3; ++k) {
      vertices.insert(t[k]);
      edges.insert(std::minmax(t[k], t[(k + 1) % 3]));
    }
  for (uint32_t v : vertices)
    for (const auto& t : mesh.triangles)
      if (v != t[0] && v != t[1] && v != t[2])
        look(ContactKind::VertexFace,
             vertexFace(s[v], s[t[0]], s[t[1]], s[t[2]], e[v], e[t[0]], e[t[1]], e[t[2]]),
             {v, t[0], t[1], t[2]});
  for (const auto& [a, b] : edges)
    for (const auto& [c, d] : edges)
      if (std::pair(a, b) < std::pair(c, d) && a != c && a != d && b != c && b != d)
        look(ContactKind::EdgeEdge, edgeEdge(s[a], s[b], s[c], s[d], e[a], e[b], e[c], e[d]), {a, b, c, d});
  return earliest;
}

TEST(MeshCcd, EarliestSelfContactEqualsBruteForce) {
  RandomStream random(8, 0);
  MeshCcd ccd;
  int contacts = 0;
  for (int scene = 0; scene < 60; ++scene) {
    const auto mesh = randomTriangles(random, 24, 0.12);
    std::vector<Vec3> end = mesh.positions;
    for (Vec3& p : end) p += 0.15 * random.uniform() * random.unitVector();
    const MovingMesh moving{mesh.positions, end, mesh.triangles};
    const EarliestContact expected = earliestByForce(moving), found = ccd.self(moving);
    ASSERT_EQ(found.kind == ContactKind::None, expected.kind == ContactKind::None);
    // The batch filter may turn a false alarm into a true "no": never an earlier time, and nothing later that
    // is real.
    EXPECT_NEAR(found.time, expected.time, 1e-9);
    contacts += found.kind != ContactKind::None;
  }
  EXPECT_GT(contacts, 20);
}

TEST(MeshCcd, ABallFallingOnAPlateStopsAtTheGap) {
  const auto ball = shapes::makeShape("icosphere", {{"radius", "0.5"}, {"frequency", "8"}});
  const auto plate = shapes::makeShape("box", {{"width", "4"}, {"height", "0.2"}, {"depth", "4"}});
  std::vector<Vec3> start = ball.positions, end = ball.positions;
  double lowest = 1e9;
  for (Vec3& p : start) {
    p.y() += 2;
    lowest = std::min(lowest, p.y());
  }
  for (Vec3& p : end) p.y() -= 2;
  MeshCcd ccd;
  const MovingMesh falling{start, end, ball.triangles};
  const MovingMesh still{plate.positions, plate.positions, plate.triangles};
  const EarliestContact contact = ccd.between(falling, still);
  ASSERT_NE(contact.kind, ContactKind::None);
  EXPECT_NEAR(contact.time, (lowest - 0.1) / 4, 1e-9);
  EXPECT_LE(contact.time, (lowest - 0.1) / 4);
  const EarliestContact apart = ccd.between(falling, still, {.minSeparation = 0.4});
  EXPECT_NEAR(apart.time, (lowest - 0.5) / 4, 1e-6);
  EXPECT_GT(ccd.statistics().trianglePairs, 0u);
}

TEST(MeshCcd, NothingTouchesInARigidMotion) {
  const auto mesh = shapes::makeShape("torus");
  std::vector<Vec3> end = mesh.positions;
  for (Vec3& p : end) p += Vec3(0.1, -0.2, 0.3);
  MeshCcd ccd;
  EXPECT_EQ(ccd.self({mesh.positions, end, mesh.triangles}).kind, ContactKind::None);
  EXPECT_EQ(ccd.self({mesh.positions, end, mesh.triangles}).time, 1);
}

TEST(MeshCcd, SameAnswerForAnyNumberOfThreads) {
  RandomStream random(9, 0);
  const auto mesh = randomTriangles(random, 2000, 0.05);
  std::vector<Vec3> end = mesh.positions;
  for (Vec3& p : end) p += 0.01 * random.unitVector();
  std::vector<EarliestContact> answers;
  for (unsigned threads : {1u, 2u, 4u}) {
    ThreadLimit limit(threads);
    MeshCcd ccd;
    answers.push_back(ccd.self({mesh.positions, end, mesh.triangles}));
  }
  for (const EarliestContact& answer : answers) {
    EXPECT_EQ(answer.time, answers[0].time);
    EXPECT_EQ(answer.vertices, answers[0].vertices);
  }
}

TEST(MeshCcd, MorePairsThanAreLookedAtAtOnce) {
  // Two stacks of triangles: one rests, the other falls through it by 20. Every swept box meets every box;
  // the first to touch are the top of one and the bottom of the other.
  const uint32_t n = 730;
  std::vector<Vec3> rest, high, low;
  std::vector<geometry::Triangle> triangles;
  for (uint32_t i = 0; i < n; ++i) {
    for (const Vec3& corner : {Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 0, 1)}) {
      const uint32_t shuffled = i * 7 % n;
      rest.push_back(corner + Vec3(0, 1e-3 * shuffled, 0));
      high.push_back(corner + Vec3(0.1, 10 + 1e-3 * shuffled, 0.1));
      low.push_back(high.back() - Vec3(0, 20, 0));
    }
    triangles.push_back({3 * i, 3 * i + 1, 3 * i + 2});
  }
  MeshCcd ccd;
  const EarliestContact contact = ccd.between({rest, rest, triangles}, {high, low, triangles});
  EXPECT_EQ(ccd.statistics().trianglePairs, uint64_t(n) * n);
  EXPECT_GT(ccd.statistics().trianglePairs, 524'288u);
  EXPECT_NE(contact.kind, ContactKind::None);
  const double exact = (10 - 1e-3 * (n - 1)) / 20;
  EXPECT_LE(contact.time, exact);
  EXPECT_NEAR(contact.time, exact, 1e-5);
}

TEST(MeshCcd, BadInputIsRefused) {
  MeshCcd ccd;
  const std::vector<Vec3> three(3, Vec3::Zero()), two(2, Vec3::Zero());
  const std::vector<geometry::Triangle> triangle{{0, 1, 2}}, outside{{0, 1, 7}};
  EXPECT_THROW(ccd.self({three, two, triangle}), Error);
  EXPECT_THROW(ccd.self({three, three, outside}), Error);
  EXPECT_EQ(ccd.self({{}, {}, {}}).kind, ContactKind::None);
}

}  // namespace
}  // namespace sunder::spatial
