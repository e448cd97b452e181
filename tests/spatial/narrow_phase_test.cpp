#include "sunder/spatial/pairs/narrow_phase.h"

#include "sunder/base/parallel.h"
#include "sunder/shapes/catalogue.h"

#include "spatial_scenes.h"

#include <gtest/gtest.h>

namespace sunder::spatial {
namespace {

TriangleSet setOf(const geometry::TriMesh& mesh) { return {mesh.positions, mesh.triangles}; }

OiTree narrowTreeOf(const geometry::TriMesh& mesh) {
  OiTree tree;
  OiTreeBuilder().build(tree, TriangleLeaves{mesh.positions, mesh.triangles});
  return tree;
}

geometry::TriangleCorners corners(const geometry::TriMesh& mesh, uint32_t t) {
  const auto& v = mesh.triangles[t];
  return {mesh.positions[v[0]], mesh.positions[v[1]], mesh.positions[v[2]]};
}

TEST(NarrowPhase, KeepsExactlyThePairsThatMeet) {
  RandomStream random(5, 0);
  for (int scene = 0; scene < 40; ++scene) {
    const auto a = randomTriangles(random, 120, 0.3), b = randomTriangles(random, 90, 0.3);
    std::vector<PrimitivePair> expected;
    for (uint32_t i = 0; i < a.triangles.size(); ++i)
      for (uint32_t j = 0; j < b.triangles.size(); ++j)
        if (geometry::intersect(corners(a, i), corners(b, j))) expected.push_back({i, j});
    PairList list;
    overlapPairs(narrowTreeOf(a), narrowTreeOf(b), list);
    EXPECT_EQ(canonical(intersectingPairs(setOf(a), setOf(b), list.pairs())), expected);
    const auto contacts = triangleContacts(setOf(a), setOf(b), list.pairs());
    EXPECT_EQ(contacts.size(), expected.size());
    for (const TriangleContact& contact : contacts) EXPECT_GE(contact.meeting.count, 1);
  }
}

TEST(NarrowPhase, ContactsOfTheBenchmarkSpheres) {
  const auto a = shapes::makeShape("rippled-sphere", {{"n", "112"}});
  const auto b =
      shapes::makeShape("rippled-sphere", {{"n", "112"}, {"x", "0.5"}, {"y", "0.15"}, {"z", "0.1"}});
  PairList list;
  overlapPairs(narrowTreeOf(a), narrowTreeOf(b), list);
  EXPECT_EQ(intersectingPairs(setOf(a), setOf(b), list.pairs()).size(), 3'398u);
}

TEST(NarrowPhase, ACleanClosedMeshDoesNotMeetItself) {
  for (const char* shape : {"icosphere", "torus", "wine-glass", "trefoil"}) {
    const auto mesh = shapes::makeShape(shape);
    PairList list;
    selfOverlapPairs(narrowTreeOf(mesh), list);
    EXPECT_GT(list.size(), mesh.triangles.size());  // neighbours' boxes touch
    EXPECT_TRUE(selfIntersectingPairs(setOf(mesh), list.pairs()).empty()) << shape;
    EXPECT_TRUE(selfIntersectingPairs(setOf(mesh), list.pairs(), Neighbours::Exact).empty()) << shape;
  }
}

TEST(NarrowPhase, NeighboursThatOverlapAreFoundWhenAsked) {
  // A pair that shares an edge and is folded flat onto itself, a pair that shares a vertex and cuts through,
  // and the same triangle twice.
  const geometry::TriMesh fold{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.2, 0.9, 0}}, {{0, 1, 2}, {1, 0, 3}}};
  const geometry::TriMesh fin{{{0, 0, 0}, {2, 0, 0}, {0, 2, 0}, {1, 0.5, -1}, {0.5, 0.5, 1}},
                              {{0, 1, 2}, {0, 3, 4}}};
  const geometry::TriMesh twice{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}, {1, 2, 0}}};
  const geometry::TriMesh hinge{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, -1, 0}}, {{0, 1, 2}, {1, 0, 3}}};
  const auto found = [](const geometry::TriMesh& mesh, Neighbours neighbours) {
    PairList list;
    selfOverlapPairs(narrowTreeOf(mesh), list);
    return selfIntersectingPairs(setOf(mesh), list.pairs(), neighbours).size();
  };
  for (const auto* mesh : {&fold, &fin, &twice}) {
    EXPECT_EQ(found(*mesh, Neighbours::Skip), 0u);
    EXPECT_EQ(found(*mesh, Neighbours::Exact), 1u);
  }
  EXPECT_EQ(found(hinge, Neighbours::Exact), 0u);
}

TEST(NarrowPhase, SameOrderForAnyNumberOfThreads) {
  RandomStream random(6, 0);
  const auto mesh = randomTriangles(random, 3000, 0.1);
  PairList list;
  selfOverlapPairs(narrowTreeOf(mesh), list);
  std::vector<PrimitivePair> reference;
  for (unsigned threads : {1u, 2u, 4u}) {
    ThreadLimit limit(threads);
    const auto pairs = selfIntersectingPairs(setOf(mesh), list.pairs());
    if (reference.empty()) reference = pairs;
    EXPECT_EQ(pairs, reference);
    EXPECT_FALSE(pairs.empty());
  }
}

}  // namespace
}  // namespace sunder::spatial
