#include "sunder/geometry/adjacency.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/geometry/fans.h"

#include "geometry/test_meshes.h"

#include <map>
#include <random>

#include <gtest/gtest.h>

namespace sunder::geometry {

using namespace test;

namespace {

// The same by a map from vertex pairs, the obvious way.
void expectMatchesMap(const MeshView& mesh) {
  std::map<std::array<uint32_t, 2>, std::vector<EdgeUse>> reference;
  for (uint32_t f = 0; f < mesh.faceCount(); ++f) {
    for (uint32_t c = mesh.begin(f); c < mesh.end(f); ++c) {
      const uint32_t a = mesh.corners[c], b = mesh.corners[mesh.next(f, c)];
      if (a != b) reference[{std::min(a, b), std::max(a, b)}].push_back({f, c});
    }
  }
  const EdgeAdjacency edges = edgeAdjacency(mesh);
  ASSERT_EQ(edges.size(), reference.size());
  ASSERT_EQ(edges.uses.size(), reference.size());
  size_t e = 0, corners = 0;
  for (const auto& [pair, uses] : reference) {
    ASSERT_EQ(edges.edges[e], pair);
    const auto row = edges.uses.row(e);
    ASSERT_TRUE(std::equal(row.begin(), row.end(), uses.begin(), uses.end()));
    for (const EdgeUse& use : row) ASSERT_EQ(edges.cornerEdge[use.corner], e);
    corners += row.size();
    ++e;
  }
  ASSERT_EQ(
      corners + static_cast<size_t>(std::count(edges.cornerEdge.begin(), edges.cornerEdge.end(), kNoIndex)),
      mesh.corners.size());
}

PolygonSoup randomSoup(uint32_t seed, uint32_t vertices, uint32_t faces) {
  std::mt19937 random(seed);
  PolygonSoup soup;
  for (uint32_t i = 0; i < vertices; ++i) soup.positions.emplace_back(i, random() % 7, random() % 5);
  for (uint32_t f = 0; f < faces; ++f) {
    std::vector<uint32_t> v(random() % 6);
    for (uint32_t& i : v) i = static_cast<uint32_t>(random() % vertices);
    soup.addFace(v);
  }
  return soup;
}

}  // namespace

TEST(Adjacency, MatchesAMapOfPairs) {
  expectMatchesMap(box());
  expectMatchesMap(tetrahedron());
  expectMatchesMap(torus(12, 7, true));
  expectMatchesMap(cubesSharing(2));
  expectMatchesMap(PolygonSoup{});
  for (uint32_t seed = 0; seed < 50; ++seed) expectMatchesMap(randomSoup(seed, 2 + seed % 11, 40));
}

TEST(Adjacency, CubeNumbers) {
  const PolygonSoup cube = box();
  const EdgeAdjacency edges = edgeAdjacency(cube);
  EXPECT_EQ(edges.size(), 12u);
  for (size_t e = 0; e < edges.size(); ++e) EXPECT_TRUE(isRegular(cube, edges, e));
  const auto neighbours = faceNeighbours(cube, edges);
  const auto faces = cornerFaces(cube);
  std::vector<size_t> count(6, 0);
  for (size_t c = 0; c < neighbours.size(); ++c) {
    EXPECT_NE(neighbours[c], faces[c]);
    ++count[neighbours[c]];
  }
  EXPECT_EQ(count, std::vector<size_t>(6, 4));
  const Rows at = vertexFaces(cube);
  for (size_t v = 0; v < 8; ++v) EXPECT_EQ(at.row(v).size(), 3u);
}

TEST(Adjacency, NoNeighbourAcrossBoundaryAndCrowdedEdges) {
  const PolygonSoup soup =
      soupOf({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}}, {{0, 1, 2}, {1, 0, 3}, {0, 1, 4}});
  for (uint32_t n : faceNeighbours(soup, edgeAdjacency(soup))) EXPECT_EQ(n, kNoIndex);
}

TEST(Adjacency, AFaceThatRepeatsAVertexIsListedOnce) {
  const PolygonSoup soup = soupOf({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 0, 2}, {0, 1, 2}});
  const Rows faces = vertexFaces(soup);
  EXPECT_EQ(std::vector<uint32_t>(faces.row(0).begin(), faces.row(0).end()), (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(vertexCorners(soup).row(0).size(), 3u);
}

TEST(Adjacency, SaysWhichFaceRefersToAMissingVertex) {
  PolygonSoup soup = box();
  soup.corners[9] = 77;
  try {
    edgeAdjacency(soup);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Geometry);
    EXPECT_EQ(e.message(), "face 2 refers to vertex 77, but there are only 8");
  }
  soup = box();
  soup.faceOffsets[2] = 1;
  EXPECT_THROW(edgeAdjacency(soup), Error);
  soup = box();
  soup.faceOffsets.back() = 23;
  EXPECT_THROW(edgeAdjacency(soup), Error);
}

TEST(Adjacency, SameForAnyNumberOfThreads) {
  const PolygonSoup mesh = torus(200, 150, true);
  const EdgeAdjacency reference = withThreads(1, [&] { return edgeAdjacency(mesh); });
  EXPECT_EQ(reference.size(), 3u * 200 * 150);
  const EdgeAdjacency again = withThreads(4, [&] { return edgeAdjacency(mesh); });
  EXPECT_EQ(again.edges, reference.edges);
  EXPECT_EQ(again.uses.items, reference.uses.items);
  EXPECT_EQ(again.cornerEdge, reference.cornerEdge);
}

TEST(Fans, CountConesAtAVertex) {
  auto fansOf = [](const PolygonSoup& soup, FanEdges through) {
    const VertexFans fans = vertexFans(soup, edgeAdjacency(soup), through);
    std::map<size_t, size_t> histogram;
    for (size_t v = 0; v < soup.positions.size(); ++v) ++histogram[fans.count(v)];
    return histogram;
  };
  using Histogram = std::map<size_t, size_t>;
  EXPECT_EQ(fansOf(box(), FanEdges::All), (Histogram{{1, 8}}));
  EXPECT_EQ(fansOf(cubesSharing(1), FanEdges::All), (Histogram{{1, 14}, {2, 1}}));
  EXPECT_EQ(fansOf(cubesSharing(2), FanEdges::All), (Histogram{{1, 14}}));
  EXPECT_EQ(fansOf(cubesSharing(2), FanEdges::Regular), (Histogram{{1, 12}, {2, 2}}));
}

}  // namespace sunder::geometry
