// Meshes of tetrahedra cut by sheets: parts, copies of nodes and their counts, against closed forms, floods
// over the rings of vertices, and each other.
#include "sunder/fem/parts/cut_mesh.h"

#include "sunder/base/disjoint_sets.h"
#include "sunder/base/error.h"
#include "sunder/base/hash.h"
#include "sunder/base/parallel.h"
#include "sunder/geometry/predicates.h"

#include "fem/cut_cases.h"

#include <cstdio>
#include <map>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

namespace sunder::fem {

namespace {

double totalOf(const CutMesh& body) {
  double sum = 0;
  for (const ElementPart& p : body.parts()) sum += p.volume;
  return sum;
}

// Parts add up to their tetrahedra in all ten moments; nodes lie at the vertices of the tetrahedra; each
// vertex of a tetrahedron lies in one part.
void expectSound(const CutMesh& body) {
  const geometry::TetMesh& mesh = body.mesh();
  double worst = 0;
  for (uint32_t t = 0; t < mesh.tets.size(); ++t) {
    const double whole = body.elements()[t].volume;
    const Vec3& origin = mesh.positions[mesh.tets[t][0]];
    double volume = 0, size = 0;
    Vec3 first = Vec3::Zero(), sum = Vec3::Zero();
    Mat3 second = Mat3::Zero(), wholeSecond = Mat3::Zero();
    unsigned holds = 0;
    for (uint32_t p = body.firstPart(t); p < body.firstPart(t + 1); ++p) {
      const ElementPart& part = body.parts()[p];
      ASSERT_EQ(part.tet, t);
      ASSERT_EQ(holds & part.holds, 0u);
      holds |= part.holds;
      const Vec3 d = part.centroid - origin;
      volume += part.volume;
      first += part.volume * d;
      second += part.second + part.volume * d * d.transpose();
      for (size_t k = 0; k < 4; ++k) ASSERT_EQ(body.vertexOf()[part.nodes[k]], mesh.tets[t][k]);
    }
    ASSERT_EQ(holds, 15u);
    for (const uint32_t v : mesh.tets[t]) {
      const Vec3 d = mesh.positions[v] - origin;
      size = std::max(size, d.norm());
      sum += d;
      wholeSecond += whole / 20 * d * d.transpose();
    }
    wholeSecond += whole / 20 * sum * sum.transpose();
    worst =
        std::max({worst, std::abs(volume - whole) / whole, (first - whole / 4 * sum).norm() / (whole * size),
                  (second - wholeSecond).norm() / (whole * size * size)});
  }
  ASSERT_LT(worst, 1e-12);
}

std::vector<double> volumesOf(const CutMesh& body) {
  uint32_t count = 0;
  const std::vector<uint32_t> piece = body.pieces(count);
  std::vector<double> volumes(count, 0);
  for (size_t p = 0; p < piece.size(); ++p)
    if (piece[p] != kNoIndex) volumes[piece[p]] += body.parts()[p].volume;
  std::sort(volumes.begin(), volumes.end());
  return volumes;
}

TEST(CutMesh, WithoutSheetsPartsAreTheTetrahedra) {
  const geometry::TetMesh mesh = blockMesh({2, 2, 2}, {1, 1, 1});
  const CutMesh body(mesh);
  EXPECT_EQ(body.parts().size(), mesh.tets.size());
  EXPECT_EQ(body.nodes(), mesh.positions.size());
  for (size_t t = 0; t < mesh.tets.size(); ++t) EXPECT_EQ(body.parts()[t].nodes, mesh.tets[t]);
  expectSound(body);
}

TEST(CutMesh, APlaneMakesTwoBodies) {
  const geometry::TetMesh mesh = blockMesh({4, 3, 3}, {4, 3, 3}, 0.2, 5);
  for (const double x : {0.3, 1.5, 2.7}) {
    CutMesh body(mesh);
    const auto change = body.cut(plane({x, 0, 0}, {1, 0, 0}));
    EXPECT_EQ(geometry::validate(change), "");
    expectSound(body);
    const std::vector<double> volumes = volumesOf(body);
    ASSERT_EQ(volumes.size(), 2u);
    EXPECT_NEAR(volumes[0], 9 * std::min(x, 4 - x), 1e-11);
    // Each vertex whose ring reaches across has one copy.
    std::set<uint32_t> across;
    for (const auto& tet : mesh.tets) {
      double least = 1e9, most = -1e9;
      for (const uint32_t v : tet) {
        least = std::min(least, mesh.positions[v].x());
        most = std::max(most, mesh.positions[v].x());
      }
      if (least < x && most > x) across.insert(tet.begin(), tet.end());
    }
    EXPECT_EQ(body.counts().copies, across.size());
    EXPECT_EQ(body.counts().copied, across.size());
    EXPECT_EQ(body.counts().incised, 0u);
  }
}

// Acceptance check 13 of the specification: planes that cross make four bodies of exact mass, and eight.
TEST(CutMesh, CrossingPlanesMakeFourAndEightBodies) {
  for (const double jitter : {0.0, 0.25}) {
    const geometry::TetMesh mesh = blockMesh({3, 3, 3}, {3, 3, 3}, jitter, 7);
    CutMesh body(mesh);
    body.cut(plane({1.3, 0, 0}, {1, 0, 0}));
    body.cut(plane({0, 1.6, 0}, {0, 1, 0}));
    std::vector<double> volumes = volumesOf(body);
    ASSERT_EQ(volumes.size(), 4u);
    std::vector<double> expected{1.3 * 1.6 * 3, 1.7 * 1.6 * 3, 1.3 * 1.4 * 3, 1.7 * 1.4 * 3};
    std::sort(expected.begin(), expected.end());
    for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(volumes[i], expected[i], 1e-12 * 27);
    body.cut(plane({0, 0, 1.45}, {0, 0, 1}));
    volumes = volumesOf(body);
    ASSERT_EQ(volumes.size(), 8u);
    EXPECT_NEAR(volumes[0], 1.3 * 1.4 * 1.45, 1e-12 * 27);
    expectSound(body);
    EXPECT_GE(body.counts().most, 4u);
  }
}

// A sheet that ends on another one: three bodies if it goes beyond it, two if it ends before.
TEST(CutMesh, ATCutMakesThreeBodies) {
  const geometry::TetMesh mesh = blockMesh({3, 3, 3}, {3, 3, 3}, 0.2, 9);
  for (const bool first : {false, true})
    for (const double end : {1.39, 1.4, 1.5}) {
      SCOPED_TRACE(end);
      geometry::TriMesh wall;  // y = 1.6, x from `end` on
      wall.positions = {{end, 1.6, -1}, {4, 1.6, -1}, {4, 1.6, 4}, {end, 1.6, 4}};
      wall.triangles = {{0, 1, 2}, {0, 2, 3}};
      CutMesh body(mesh);
      if (first) body.cut(wall);
      body.cut(plane({1.4, 0, 0}, {1, 0, 0}));
      if (!first) body.cut(wall);
      expectSound(body);
      const std::vector<double> volumes = volumesOf(body);
      // Where it ends 0.1 before, no tetrahedron is divided all the way to the other sheet, or some are: in
      // either case the two hang together there.
      ASSERT_EQ(volumes.size(), end < 1.45 ? 3u : 2u);
      if (end < 1.45) {
        EXPECT_NEAR(volumes[0], 1.6 * 1.4 * 3, 1e-11);
      }
    }
}

// What walks over points of a fine grid in the ring of a vertex find: classes of points that hang together
// without crossing a sheet, for tetrahedra of n^3 / 6 points each.
size_t floodRing(const geometry::TetMesh& mesh, uint32_t vertex, const std::vector<geometry::TriMesh>& sheets,
                 int n) {
  std::map<std::vector<std::array<uint32_t, 2>>, uint32_t> numberOf;  // by (vertex, weight), ascending
  std::vector<Vec3> at;
  std::vector<std::array<uint32_t, 2>> links;
  for (const auto& tet : mesh.tets) {
    if (std::find(tet.begin(), tet.end(), vertex) == tet.end()) continue;
    std::map<std::array<int, 3>, uint32_t> local;
    for (int a = 0; a <= n; ++a)
      for (int b = 0; a + b <= n; ++b)
        for (int c = 0; a + b + c <= n; ++c) {
          const std::array<int, 4> w{a, b, c, n - a - b - c};
          std::vector<std::array<uint32_t, 2>> key;
          for (size_t k = 0; k < 4; ++k)
            if (w[k] > 0) key.push_back({tet[k], uint32_t(w[k])});
          std::sort(key.begin(), key.end());
          const auto [entry, added] = numberOf.try_emplace(key, uint32_t(at.size()));
          if (added) {
            Vec3 p = Vec3::Zero();
            for (const auto& [v, weight] : key) p += double(weight) / n * mesh.positions[v];
            at.push_back(p);
          }
          local[{a, b, c}] = entry->second;
        }
    for (const auto& [key, p] : local)
      for (const std::array<int, 3>& d : {std::array{1, 0, 0}, std::array{0, 1, 0}, std::array{0, 0, 1},
                                          std::array{1, -1, 0}, std::array{1, 0, -1}, std::array{0, 1, -1}}) {
        const auto other = local.find({key[0] + d[0], key[1] + d[1], key[2] + d[2]});
        if (other != local.end()) links.push_back({p, other->second});
      }
  }
  DisjointSets sets(at.size());
  for (const auto& [p, q] : links)
    if (!crossesSheet(at[p], at[q], sheets)) sets.unite(p, q);
  std::set<uint32_t> roots;
  for (uint32_t p = 0; p < at.size(); ++p) roots.insert(sets.find(p));
  return roots.size();
}

void compareWithFloods(const geometry::TetMesh& mesh, const std::vector<geometry::TriMesh>& sheets, int n,
                       size_t& copies) {
  CutMesh body(mesh);
  for (const auto& sheet : sheets) body.cut(sheet);
  expectSound(body);
  std::vector<size_t> nodes(mesh.positions.size(), 0);
  for (const uint32_t v : body.vertexOf()) ++nodes[v];
  for (uint32_t v = 0; v < nodes.size(); ++v) {
    SCOPED_TRACE(v);
    ASSERT_EQ(nodes[v], floodRing(mesh, v, sheets, n));
  }
  copies += body.counts().copies;
}

// A flood knows the true connection; nodes join what a tetrahedron that is cut in part leaves whole, which is
// the same as long as sheets end where the flood's rings do, too: in the ring of a vertex.
TEST(CutMesh, NodesAreWhatAFloodOfTheirRingFinds) {
  const geometry::TetMesh mesh = blockMesh({2, 2, 2}, {2, 2, 2}, 0.15, 3);
  size_t copies = 0;
  {
    SCOPED_TRACE("a complete cut");
    compareWithFloods(mesh, {plane({0.55, 0.4, 0.3}, {1, 0.2, 0.1})}, 10, copies);
  }
  {
    SCOPED_TRACE("two crossing cuts");
    compareWithFloods(mesh, {plane({0.55, 0, 0}, {1, 0.05, 0}), plane({0, 0.45, 0}, {0.05, 1, 0})}, 10,
                      copies);
  }
  {
    SCOPED_TRACE("two cuts beside each other");
    compareWithFloods(mesh, {plane({0.3, 0, 0}, {1, 0, 0}), plane({0.7, 0, 0}, {1, 0, 0})}, 10, copies);
  }
  {
    SCOPED_TRACE("a bubble around a vertex");
    compareWithFloods(mesh, {octahedron(mesh.positions[13], 0.42)}, 12, copies);
  }
  {
    SCOPED_TRACE("a wave");
    compareWithFloods(mesh, {accordion({0.2, 0.5, 0.8}, 6)}, 12, copies);
  }
  {
    SCOPED_TRACE("a tube and a plane");
    compareWithFloods(mesh, {tube({1.4537, 1.5113, 0}, 0.3), plane({0.4, 0, 0}, {1, 0, 0})}, 12, copies);
  }
  EXPECT_GT(copies, 80u);
}

// The same on a mesh of one inner vertex, whose ring is the whole: a cube of twelve tetrahedra around its
// middle.
TEST(CutMesh, EnrichmentsOfAnInnerVertex) {
  const geometry::TetMesh mesh = starMesh();
  const uint32_t middle = 8;
  const auto copiesOf = [&](const std::vector<geometry::TriMesh>& sheets) {
    CutMesh body(mesh);
    for (const auto& s : sheets) body.cut(s);
    expectSound(body);
    return std::count(body.vertexOf().begin(), body.vertexOf().end(), middle) - 1;
  };
  // Acceptance check 11.
  geometry::TriMesh half = plane({0.2, 0, 0}, {1, 0, 0});
  for (Vec3& p : half.positions) p.y() = std::max(p.y(), 0.3);
  EXPECT_EQ(copiesOf({half}), 0);
  EXPECT_EQ(copiesOf({plane({0.2, 0, 0}, {1, 0, 0})}), 1);
  EXPECT_EQ(copiesOf({plane({0.2, 0, 0}, {1, 0, 0}), plane({-0.3, 0, 0}, {1, 0, 0})}), 2);
  EXPECT_EQ(copiesOf({accordion({-0.5, 0.1, 0.6}, 9)}), 3);
  EXPECT_EQ(copiesOf({tube({0.4, 0.3, 0}, 0.25)}), 1);
  EXPECT_EQ(copiesOf({tube({0.4, 0.3, 0}, 0.25), plane({-0.5, 0, 0}, {1, 0, 0})}), 2);
  EXPECT_EQ(copiesOf({octahedron({0, 0, 0}, 0.5)}), 1);
  // Exactly through it, and through vertices and edges.
  EXPECT_EQ(copiesOf({plane({0, 0, 0}, {1, 0, 0})}), 1);
  EXPECT_EQ(copiesOf({plane({0, 0, 0}, {1, 1, 0})}), 1);
  EXPECT_EQ(copiesOf({plane({0, 0, 0}, {1, 0, 0}), plane({0, 0, 0}, {0, 1, 0})}), 3);
  EXPECT_EQ(copiesOf({plane({-1, 0, 0}, {1, 0, 0})}), 0);
  EXPECT_EQ(copiesOf({plane({1, 0, 0}, {1, 0, 0})}), 0);
}

// The bubble around the inner vertex: inside are new nodes at the corners, outside one at the middle.
TEST(CutMesh, ABubbleAroundAVertexComesLoose) {
  CutMesh body(starMesh());
  body.cut(octahedron({0, 0, 0}, 0.5));
  const std::vector<double> volumes = volumesOf(body);
  ASSERT_EQ(volumes.size(), 2u);
  EXPECT_NEAR(volumes[0], 4.0 / 3 * 0.125, 1e-14);
  EXPECT_EQ(body.counts().copies, 9u);
  EXPECT_EQ(body.counts().cut, 12u);
  // One within a single tetrahedron has four nodes of its own.
  CutMesh other(starMesh());
  other.cut(octahedron({0.1, 0.2, 0.7}, 0.05));
  EXPECT_EQ(volumesOf(other).size(), 2u);
  EXPECT_EQ(other.counts().copies, 4u);
}

TEST(CutMesh, ASheetThatEndsInsideDoesNotSeparate) {
  const geometry::TetMesh mesh = blockMesh({6, 3, 3}, {6, 3, 3});
  geometry::TriMesh sheet = plane({2.4, 0, 0}, {1, 0, 0});
  for (Vec3& p : sheet.positions) p.y() = std::max(p.y(), 1.7);
  CutMesh body(mesh);
  body.cut(sheet);
  expectSound(body);
  EXPECT_EQ(volumesOf(body).size(), 1u);
  const CutCounts counts = body.counts();
  EXPECT_GT(counts.cut, 0u);
  EXPECT_GT(counts.incised, 0u);
  EXPECT_GT(counts.copies, 0u);
  // Nodes of tetrahedra that it ends in have no copies there: those around them are whole.
  for (uint32_t t = 0; t < mesh.tets.size(); ++t)
    if (body.firstPart(t + 1) - body.firstPart(t) == 1) {
      EXPECT_EQ(body.parts()[body.firstPart(t)].nodes, mesh.tets[t]);
    }
  // The other half of the sheet completes the cut.
  geometry::TriMesh rest = plane({2.4, 0, 0}, {1, 0, 0});
  for (Vec3& p : rest.positions) p.y() = std::min(p.y(), 1.7);
  body.cut(rest);
  const std::vector<double> volumes = volumesOf(body);
  ASSERT_EQ(volumes.size(), 2u);
  EXPECT_NEAR(volumes[0], 9 * 2.4, 1e-11);
  EXPECT_EQ(body.counts().incised, 0u);
}

// Through nodes, edges and faces exactly: halves, and as many nodes as a plane beside them gives.
TEST(CutMesh, SheetsThroughNodesExactly) {
  const geometry::TetMesh mesh = blockMesh({4, 2, 2}, {4, 2, 2});
  struct Case {
    Vec3 at, normal;
    double smaller;
  };
  for (const Case& c :
       {Case{{2, 0, 0}, {1, 0, 0}, 8}, Case{{1, 0, 0}, {-1, 0, 0}, 4}, Case{{2, 1, 0}, {1, 1, 0}, 8},
        Case{{2, 1, 1}, {1, 1, 1}, 8}, Case{{2, 1, 1}, {1, -1, 1}, 8}, Case{{2, 1, 1}, {0, 1, -1}, 8}}) {
    CutMesh body(mesh);
    const auto change = body.cut(plane(c.at, c.normal));
    EXPECT_EQ(geometry::validate(change), "");
    expectSound(body);
    const std::vector<double> volumes = volumesOf(body);
    ASSERT_EQ(volumes.size(), 2u);
    EXPECT_NEAR(volumes[0], c.smaller, 1e-12 * 16);
    // No node is left without a part, and no part with a volume lacks nodes of its own piece.
    std::vector<double> share(body.nodes(), 0);
    for (const ElementPart& p : body.parts())
      if (!body.isEmpty(p))
        for (const uint32_t n : p.nodes) share[n] += p.volume;
    for (const double s : share) EXPECT_GT(s, 0);
  }
  // In a plane of faces no tetrahedron is divided in truth: as many nodes as on that plane are copied.
  CutMesh body(mesh);
  body.cut(plane({2, 0, 0}, {1, 0, 0}));
  EXPECT_EQ(body.counts().copies, 9u);
}

// Cuts one after another are the same as all of them in one sheet, in any order.
TEST(CutMesh, OrderOfCutsDoesNotMatter) {
  const geometry::TetMesh mesh = blockMesh({3, 3, 3}, {3, 3, 3}, 0.2, 21);
  for (uint64_t i = 0; i < 6; ++i) {
    RandomStream random(71, i);
    std::vector<geometry::TriMesh> sheets;
    for (int k = 0; k < 3; ++k) sheets.push_back(randomSheet(random, 1.5, 3));
    CutMesh one(mesh), other(mesh), all(mesh);
    for (const auto& s : sheets) one.cut(s);
    for (size_t k = 3; k > 0; --k) other.cut(sheets[k - 1]);
    geometry::TriMesh together;
    for (const auto& s : sheets) {
      const uint32_t first = geometry::u32(together.positions.size());
      together.positions.insert(together.positions.end(), s.positions.begin(), s.positions.end());
      for (auto t : s.triangles) together.triangles.push_back({t[0] + first, t[1] + first, t[2] + first});
    }
    all.cut(together);
    for (const CutMesh* body : {&other, &all}) {
      expectSound(*body);
      ASSERT_EQ(body->parts().size(), one.parts().size());
      ASSERT_EQ(body->nodes(), one.nodes());
      const std::vector<double> a = volumesOf(one), b = volumesOf(*body);
      ASSERT_EQ(a.size(), b.size());
      for (size_t k = 0; k < a.size(); ++k) ASSERT_NEAR(a[k], b[k], 1e-12 * 27);
      std::vector<size_t> x(mesh.positions.size(), 0), y = x;
      for (const uint32_t v : one.vertexOf()) ++x[v];
      for (const uint32_t v : body->vertexOf()) ++y[v];
      ASSERT_EQ(x, y);
    }
  }
}

// Every cut only adds nodes; a change says where parts and nodes come from, and changes in a row fit
// together.
TEST(CutMesh, ChangesSayWhereNodesAndPartsComeFrom) {
  const geometry::TetMesh mesh = blockMesh({4, 3, 3}, {4, 3, 3}, 0.2, 23);
  CutMesh body(mesh);
  geometry::TopologyChange sum;
  for (uint64_t i = 0; i < 8; ++i) {
    RandomStream random(73, i);
    const std::vector<ElementPart> before(body.parts().begin(), body.parts().end());
    const std::vector<uint32_t> vertexOf(body.vertexOf().begin(), body.vertexOf().end());
    const auto change = body.cut(randomSheet(random, 2, 3), 7);
    ASSERT_EQ(geometry::validate(change), "");
    ASSERT_EQ(change.disappeared[0].vertices, vertexOf.size());
    ASSERT_EQ(change.appeared[0].body.vertices, body.nodes());
    ASSERT_GE(body.nodes(), vertexOf.size());
    for (uint32_t n = 0; n < body.nodes(); ++n) {
      ASSERT_LT(change.vertexSource[n], vertexOf.size());
      if (n < vertexOf.size()) {
        ASSERT_EQ(change.vertexSource[n], n);
      }
      ASSERT_EQ(body.vertexOf()[n], vertexOf[change.vertexSource[n]]);
    }
    std::vector<double> volume(before.size(), 0);
    for (size_t p = 0; p < body.parts().size(); ++p) {
      const ElementPart &now = body.parts()[p], &was = before[change.tetSource[p]];
      ASSERT_EQ(now.tet, was.tet);
      volume[change.tetSource[p]] += now.volume;
      for (size_t k = 0; k < 4 && !body.isEmpty(now); ++k)
        ASSERT_EQ(change.vertexSource[now.nodes[k]], was.nodes[k]);
    }
    for (size_t p = 0; p < volume.size(); ++p) ASSERT_NEAR(volume[p], before[p].volume, 1e-12);
    sum = i == 0 ? change : geometry::compose(sum, change);
  }
  EXPECT_EQ(sum.disappeared[0].vertices, mesh.positions.size());
  for (uint32_t n = 0; n < body.nodes(); ++n) EXPECT_EQ(sum.vertexSource[n], body.vertexOf()[n]);
  EXPECT_GT(body.counts().copies, 50u);
}

uint64_t hashOf(const CutMesh& body) {
  Hasher hasher;
  for (const ElementPart& p : body.parts()) {
    hasher.update(p.tet);
    hasher.update(p.nodes);
    hasher.update(p.holds);
    hasher.update(p.volume);
    hasher.update(p.centroid);
    hasher.update(p.second);
  }
  hasher.update(body.vertexOf());
  return hasher.digest();
}

TEST(CutMesh, SameBitsForAnyNumberOfThreads) {
  const geometry::TetMesh mesh = blockMesh({6, 5, 5}, {6, 5, 5}, 0.2, 25);
  uint64_t first = 0;
  for (const unsigned threads : {1u, 2u, 4u}) {
    const ThreadLimit limit(threads);
    CutMesh body(mesh);
    for (uint64_t i = 0; i < 4; ++i) {
      RandomStream random(79, i);
      body.cut(randomSheet(random, 2.5, 4));
    }
    if (threads == 1) first = hashOf(body);
    EXPECT_EQ(hashOf(body), first);
  }
}

// Acceptance check 14: a plane through a mesh of a thousand tetrahedra anywhere, hits of vertices among them.
void sweep(int positions) {
  const geometry::TetMesh mesh = blockMesh({6, 6, 5}, {6, 6, 5}, 0.1, 27);
  ASSERT_GE(mesh.tets.size(), 1000u);
  const double whole = 180;
  for (int i = 0; i < positions; ++i) {
    SCOPED_TRACE(i);
    const double x = i % 7 == 0 ? double(1 + i / 7 % 5) : 6.0 * (i + 0.5) / positions;
    CutMesh body(mesh);
    body.cut(plane({x, 0, 0}, {1, 0, 0}));
    double worst = 0;
    for (const ElementPart& p : body.parts()) {
      ASSERT_TRUE(std::isfinite(p.volume) && p.centroid.allFinite() && p.second.allFinite());
      worst = std::min(worst, p.volume / body.elements()[p.tet].volume);
    }
    ASSERT_GT(worst, -1e-13);
    ASSERT_NEAR(totalOf(body), whole, 1e-12 * whole);
    const std::vector<double> volumes = volumesOf(body);
    ASSERT_EQ(volumes.size(), 2u);
    ASSERT_NEAR(volumes[0], 30 * std::min(x, 6 - x), 1e-12 * whole);
  }
}
TEST(CutMesh, APlaneAnywhere) { sweep(35); }
TEST(CutMeshFull, APlaneAnywhere) { sweep(10'000); }

// A hundred sheets that cross each other at random, one after the other.
void manyCuts(uint64_t seed, uint64_t count, double bumps) {
  const geometry::TetMesh mesh = blockMesh({4, 4, 4}, {4, 4, 4}, 0.2, 29);
  CutMesh body(mesh);
  for (uint64_t i = 0; i < count; ++i) {
    SCOPED_TRACE(i);
    RandomStream random(seed, i);
    const size_t nodes = body.nodes();
    body.cut(randomSheet(random, 0.4 + 0.02 * double(i % 50), 2, bumps));
    ASSERT_GE(body.nodes(), nodes);
  }
  expectSound(body);
  ASSERT_NEAR(totalOf(body), 64, 1e-12 * 64);
  const CutCounts c = body.counts();
  std::printf("%zu tetrahedra cut, %zu incised, %zu parts, %zu at most, %zu copies, %zu pieces\n", c.cut,
              c.incised, c.parts, c.most, c.copies, c.pieces);
}
TEST(CutMesh, TwentyRandomCuts) { manyCuts(83, 20, 0.1); }
TEST(CutMeshFull, AHundredRandomCuts) { manyCuts(89, 100, 0.1); }

// Folded sheets that touch and cross themselves, and ones with holes.
void foldedSheets(uint64_t seed, uint64_t count) {
  size_t parts = 0;
  for (uint64_t i = 0; i < count; ++i) {
    SCOPED_TRACE(i);
    RandomStream random(seed, i);
    const geometry::TetMesh mesh = blockMesh({2, 2, 2}, {2, 2, 2}, 0.2, i);
    geometry::TriMesh sheet;
    const bool aligned = random.below(2) == 0;
    for (int v = 0; v < 8; ++v) {
      const Vec3 p = random.pointIn({Vec3::Constant(-0.5), Vec3::Constant(2.5)});
      sheet.positions.push_back(aligned ? Vec3(p.array().round()) : p);
    }
    for (int f = 0; f < 6; ++f) {
      const uint32_t a = random.below(8);
      const uint32_t b = random.below(8);
      const uint32_t c = random.below(8);
      sheet.triangles.push_back({a, b, c});
    }
    CutMesh body(mesh);
    const auto change = body.cut(sheet);
    ASSERT_EQ(geometry::validate(change), "");
    expectSound(body);
    parts += body.parts().size() - mesh.tets.size();
    // What was cut again by the same sheet stays as it is.
    const size_t before = body.parts().size(), nodes = body.nodes();
    body.cut(sheet);
    ASSERT_EQ(body.parts().size(), before);
    ASSERT_EQ(body.nodes(), nodes);
  }
  EXPECT_GT(parts, count);
}
TEST(CutMesh, FoldedSheets) { foldedSheets(91, 40); }
TEST(CutMeshFull, FoldedSheets) { foldedSheets(93, 10'000); }

TEST(CutMesh, RefusesAndStaysAsItWas) {
  CutMesh body(starMesh());
  body.cut(plane({0.2, 0, 0}, {1, 0, 0}));
  const uint64_t before = hashOf(body);
  geometry::TriMesh bad = plane({0, 0.3, 0}, {0, 1, 0});
  bad.triangles.push_back({0, 1, 99});
  EXPECT_THROW(body.cut(bad), Error);
  EXPECT_THROW(body.cut(plane({0, 0.3, 0}, {0, 1, 0}), 0, 3), Error);
  EXPECT_EQ(hashOf(body), before);
  EXPECT_EQ(body.sheets().sheets(), 1u);
  // A sheet that misses the body, and one without triangles, change nothing.
  EXPECT_EQ(geometry::validate(body.cut(plane({9, 0, 0}, {1, 0, 0}))), "");
  EXPECT_EQ(geometry::validate(body.cut(geometry::TriMesh{})), "");
  EXPECT_EQ(hashOf(body), before);
  EXPECT_THROW(CutMesh(geometry::TetMesh{}), Error);
}

}  // namespace

}  // namespace sunder::fem
