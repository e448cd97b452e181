// C12: single tetrahedra cut by planes and by bent sheets, against cut() and against distances.
#include "sunder/cut/tet/tet_cutter.h"

#include "sunder/geometry/predicates.h"
#include "sunder/geometry/tet_mesh.h"

#include "cut/tet_shapes.h"

#include <cstdio>

namespace sunder::cut {

namespace {

using namespace testing;

std::vector<uint32_t> allFaces(const geometry::TriMesh& sheet) {
  std::vector<uint32_t> faces(sheet.triangles.size());
  for (uint32_t f = 0; f < faces.size(); ++f) faces[f] = f;
  return faces;
}

// What two ways of cutting must agree on, in an order of its own.
using Summary = std::vector<std::tuple<int, bool, bool, double>>;
Summary summaryOf(const TetCut& cut) {
  Summary s;
  for (const TetFragment& f : cut.fragments) s.push_back({f.nodes, f.above, f.below, f.volume});
  std::sort(s.begin(), s.end());
  return s;
}

struct TetTallies {
  size_t cuts = 0, separated = 0, incised = 0;
};

void compareWithCut(int count, uint64_t seed, double bumps, bool aligned) {
  TetTallies tallies;
  for (int i = 0; i < count && !::testing::Test::HasFatalFailure(); ++i) {
    SCOPED_TRACE(i);
    RandomStream random(seed, static_cast<uint64_t>(i));
    const geometry::TriMesh sheet = randomSheet(random, 1 + random.below(4), bumps, aligned);
    const Tet tet = randomTet(random, aligned);
    TetCutter cutter(sheet);
    const auto faces = allFaces(sheet);
    const TetCut slow = cutter.cutSlowly(tet, faces);
    const TetCut fast = cutter.cut(tet, faces);
    const Summary a = summaryOf(fast), b = summaryOf(slow);
    ASSERT_EQ(a.size(), b.size());
    const double volume = tetVolumeOf(tet);
    double sum = 0;
    Vec3 moment = Vec3::Zero();
    Mat3 second = Mat3::Zero();
    int nodes = 0;
    std::array<double, 4> area{};
    for (size_t k = 0; k < a.size(); ++k) {
      ASSERT_EQ(std::get<0>(a[k]), std::get<0>(b[k]));
      ASSERT_EQ(std::get<1>(a[k]), std::get<1>(b[k]));
      ASSERT_EQ(std::get<2>(a[k]), std::get<2>(b[k]));
      ASSERT_NEAR(std::get<3>(a[k]), std::get<3>(b[k]), 1e-12 * volume);
      const TetFragment& f = fast.fragments[k];
      ASSERT_EQ(nodes & f.nodes, 0);
      nodes |= f.nodes;
      sum += f.volume;
      if (f.volume > 0) {
        moment += f.volume * f.centroid;
        second += f.second + f.volume * f.centroid * f.centroid.transpose();
      }
      for (size_t v = 0; v < 4; ++v) area[v] += f.faceArea[v];
      // The area vectors of a closed surface cancel.
      Vec3 closed = Vec3::Zero();
      for (const TetPiece& p : fast.pieces)
        if (p.fragment == k) closed += p.area;
      ASSERT_LT(closed.norm(), 1e-13);
    }
    ASSERT_EQ(nodes, 15);
    ASSERT_NEAR(sum, volume, 1e-12 * volume);
    ASSERT_LT((moment / volume - 0.25 * (tet[0] + tet[1] + tet[2] + tet[3])).norm(), 1e-12);
    Mat3 wholeSecond = Mat3::Zero();  // V / 20 (sum x x^T + 16 c c^T)
    const Vec3 four = tet[0] + tet[1] + tet[2] + tet[3];
    for (const Vec3& x : tet) wholeSecond += volume / 20 * x * x.transpose();
    wholeSecond += volume / 20 * four * four.transpose();
    ASSERT_LT((second - wholeSecond).norm(), 1e-12 * (1 + wholeSecond.norm()));
    for (size_t v = 0; v < 4; ++v) {
      const auto& f = geometry::kTetFaces[v];
      const double whole = 0.5 * (tet[f[1]] - tet[f[0]]).cross(tet[f[2]] - tet[f[0]]).norm();
      ASSERT_NEAR(area[v], whole, 1e-12 * (1 + whole));
    }
    ++tallies.cuts;
    tallies.separated += fast.separates();
    for (const TetFragment& f : fast.fragments) tallies.incised += f.above && f.below;
  }
  std::printf("%zu tetrahedra, %zu separated, %zu incised\n", tallies.cuts, tallies.separated,
              tallies.incised);
  EXPECT_GT(tallies.separated, tallies.cuts / 20);
  EXPECT_GT(tallies.incised, tallies.cuts / 50);
}

TEST(TetCutter, C12_FlatSheetsAsCutDoes) { compareWithCut(1000, 1, 0, false); }
TEST(TetCutter, C12_BentSheetsAsCutDoes) { compareWithCut(1000, 2, 0.2, false); }
TEST(TetCutter, C12_SheetsThroughNodesAsCutDoes) { compareWithCut(1000, 3, 0, true); }
TEST(TetCutter, C12_BentSheetsThroughNodesAsCutDoes) { compareWithCut(1000, 4, 1, true); }
TEST(TetCutterFull, AsCutDoes) {
  compareWithCut(50'000, 5, 0, false);
  compareWithCut(50'000, 6, 0.2, false);
  compareWithCut(50'000, 7, 0, true);
  compareWithCut(50'000, 8, 1, true);
}

// A plane that cuts a corner off leaves a smaller tetrahedron, whose moments are known.
TEST(TetCutter, C12_FragmentsHaveTheMomentsOfTheirShape) {
  for (uint64_t i = 0; i < 200; ++i) {
    RandomStream random(23, i);
    const Tet tet = randomTet(random, false);
    Tet corner = tet;
    for (size_t k = 1; k < 4; ++k) corner[k] = tet[0] + random.uniform(0.1, 0.9) * (tet[k] - tet[0]);
    const Vec3 n = (corner[2] - corner[1]).cross(corner[3] - corner[1]).normalized(), u = n.unitOrthogonal(),
               v = n.cross(u), at = corner[1];
    geometry::TriMesh plane;
    plane.positions = {at - 20 * u - 10 * v, at + 20 * u - 10 * v, at + 20 * v};
    plane.triangles = {{0, 1, 2}};
    TetCutter cutter(plane);
    const TetCut& cut = cutter.cut(tet);
    ASSERT_EQ(cut.fragments.size(), 2u);
    const TetFragment& f = cut.fragments[cut.fragments[0].nodes == 1 ? 0 : 1];
    ASSERT_EQ(f.nodes, 1);
    const double volume = tetVolumeOf(corner);
    const Vec3 centroid = 0.25 * (corner[0] + corner[1] + corner[2] + corner[3]);
    Mat3 second = Mat3::Zero();
    for (const Vec3& x : corner) second += volume / 20 * (x - centroid) * (x - centroid).transpose();
    ASSERT_NEAR(f.volume, volume, 1e-13);
    ASSERT_LT((f.centroid - centroid).norm(), 1e-11);
    ASSERT_LT((f.second - second).norm(), 1e-13);
  }
}

// A plane separates nodes by their signed distance.
TEST(TetCutter, C12_NodesFollowTheSideOfAPlane) {
  size_t separated = 0;
  for (uint64_t i = 0; i < 10'000; ++i) {
    RandomStream random(21, i);
    const Tet tet = randomTet(random, false);
    const Vec3 n = random.unitVector(), u = n.unitOrthogonal(), v = n.cross(u);
    const Vec3 at(random.uniform(-0.5, 0.5), random.uniform(-0.5, 0.5), random.uniform(-0.5, 0.5));
    geometry::TriMesh plane;
    plane.positions = {at - 20 * u - 10 * v, at + 20 * u - 10 * v, at + 20 * v};
    plane.triangles = {{0, 1, 2}};
    TetCutter cutter(plane);
    const TetCut& cut = cutter.cut(tet);
    int above = 0;
    for (size_t k = 0; k < 4; ++k)
      if (geometry::orient3d(plane.positions[0], plane.positions[1], plane.positions[2], tet[k]) > 0)
        above |= 1 << k;
    if (above == 0 || above == 15) {
      ASSERT_EQ(cut.fragments.size(), 1u);
      continue;
    }
    ++separated;
    ASSERT_EQ(cut.fragments.size(), 2u);
    for (const TetFragment& f : cut.fragments) {
      ASSERT_NE(f.above, f.below);
      ASSERT_EQ(f.nodes, f.above ? above : 15 - above);
      // The centroid is on the fragment's own side.
      ASSERT_EQ((f.centroid - at).dot(n) > 0, f.above);
    }
    ASSERT_NEAR(cut.fragments[0].lidArea, cut.fragments[1].lidArea, 1e-14);
    ASSERT_NEAR(cut.fragments[0].volume + cut.fragments[1].volume, tetVolumeOf(tet),
                1e-12 * tetVolumeOf(tet));
  }
  EXPECT_GT(separated, 3000u);
}

TEST(TetCutter, C12_NeighboursCutTheirCommonFaceAlike) {
  size_t divided = 0, compared = 0;
  for (uint64_t i = 0; i < 3000; ++i) {
    SCOPED_TRACE(i);
    RandomStream random(31, i);
    const bool aligned = i % 2 == 0;
    const Tet tet = randomTet(random, aligned);
    // The other one, on the far side of the face opposite to node 3, with its nodes in any order.
    Tet other{tet[1], tet[0], tet[2], Vec3(tet[0] + tet[1] - tet[3])};
    if (tetVolumeOf(other) <= 0.01) continue;
    for (uint32_t turns = random.below(4); turns > 0; --turns) {
      // Even permutations keep it positive.
      if (random.below(2) == 0)
        other = {other[1], other[2], other[0], other[3]};
      else
        other = {other[3], other[0], other[2], other[1]};
    }
    uint8_t face = 0;
    while (other[face] != Vec3(tet[0] + tet[1] - tet[3])) ++face;
    if (tetVolumeOf(other) <= 0) continue;
    const geometry::TriMesh sheet = randomSheet(random, 1 + random.below(4), i % 3 == 0 ? 0 : 0.3, aligned);
    TetCutter cutter(sheet);
    const TetCut first = cutter.cut(tet), second = cutter.cut(other);
    const Polygons a = polygonsOn(first, 3, false), b = polygonsOn(second, face, true);
    ASSERT_EQ(polygonCornersOf(a), polygonCornersOf(b));
    ASSERT_EQ(a.size(), b.size());
    divided += a.size() > 1;
    if (first.bridged || second.bridged) continue;
    ++compared;
    ASSERT_EQ(a, b);
  }
  EXPECT_GT(compared, 2000u);
  EXPECT_GT(divided, 400u);
}

TEST(TetCutter, ASheetThatPokesAFaceLeavesItWhole) {
  const Tet tet{Vec3(0, 0, 0), Vec3(4, 0, 0), Vec3(0, 4, 0), Vec3(0, 0, 4)};
  geometry::TriMesh needle;  // through the face z = 0 away from its edges, ends inside
  needle.positions = {{0.5, 0.5, -1}, {0.7, 0.5, -1}, {0.6, 0.6, 0.5}};
  needle.triangles = {{0, 1, 2}};
  TetCutter cutter(needle);
  const TetCut& cut = cutter.cut(tet);
  ASSERT_EQ(cut.fragments.size(), 1u);
  EXPECT_TRUE(cut.fragments[0].above && cut.fragments[0].below);
  EXPECT_NEAR(cut.fragments[0].volume, 64.0 / 6, 1e-12);
  EXPECT_GT(cut.fragments[0].lidArea, 0);
  EXPECT_EQ(cut.fragments[0].nodes, 15);
}

}  // namespace

}  // namespace sunder::cut
