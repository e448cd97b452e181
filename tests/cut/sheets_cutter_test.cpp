// Single tetrahedra cut by several sheets at once: against one sheet cut by TetCutter, closed forms, signs of
// planes at random points, and walks that cross no sheet.
#include "sunder/cut/tet/sheets_cutter.h"

#include "sunder/base/disjoint_sets.h"
#include "sunder/base/error.h"
#include "sunder/geometry/predicates.h"

#include "cut/tet_shapes.h"

#include <cstdio>
#include <numbers>

namespace sunder::cut {

namespace {

using namespace testing;

const Tet kUnitTet{Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1)};

std::vector<uint32_t> facesOf(const CutSheets& sheets) {
  std::vector<uint32_t> faces(sheets.faces());
  for (uint32_t f = 0; f < faces.size(); ++f) faces[f] = f;
  return faces;
}

SheetsCut cutBy(const Tet& tet, const std::vector<geometry::TriMesh>& meshes, uint32_t later = kNoIndex) {
  CutSheets sheets;
  for (const auto& mesh : meshes) sheets.add(mesh);
  SheetsCutter cutter(sheets);
  return cutter.cut(tet, facesOf(sheets), later);
}

// A quad of two triangles through a point.
geometry::TriMesh quad(const Vec3& at, const Vec3& u, const Vec3& v) {
  geometry::TriMesh mesh;
  mesh.positions = {at - u - v, at + u - v, at + u + v, at - u + v};
  mesh.triangles = {{0, 1, 2}, {0, 2, 3}};
  return mesh;
}

geometry::TriMesh randomPlane(RandomStream& random, const Vec3& at) {
  const Vec3 n = random.unitVector(), u = n.unitOrthogonal(), v = n.cross(u);
  geometry::TriMesh plane;
  plane.positions = {at - 20 * u - 10 * v, at + 20 * u - 10 * v, at + 20 * v};
  plane.triangles = {{0, 1, 2}};
  return plane;
}

struct Moments {
  double volume = 0;
  Vec3 first = Vec3::Zero();
  Mat3 second = Mat3::Zero();
};
// About a point.
Moments momentsOf(const TetFragment& f, const Vec3& at) {
  const Vec3 d = f.centroid - at;
  return {f.volume, f.volume * d, f.second + f.volume * d * d.transpose()};
}
Moments momentsOf(const Tet& tet, const Vec3& at) {
  Moments m{tetVolumeOf(tet)};
  Vec3 sum = Vec3::Zero();
  for (const Vec3& p : tet) {
    sum += p - at;
    m.second += m.volume / 20 * (p - at) * (p - at).transpose();
  }
  m.first = m.volume / 4 * sum;
  m.second += m.volume / 20 * sum * sum.transpose();
  return m;
}

// The ten moments of all fragments add up, areas too; surfaces are closed and nodes are in one fragment each.
void expectPartition(const Tet& tet, const SheetsCut& cut) {
  const Vec3 at = 0.25 * (tet[0] + tet[1] + tet[2] + tet[3]);
  const Moments whole = momentsOf(tet, at);
  double size = 0;
  for (const Vec3& p : tet) size = std::max(size, (p - at).norm());
  Moments sum;
  int nodes = 0;
  std::array<double, 4> area{};
  for (const TetFragment& f : cut.fragments) {
    ASSERT_GT(f.volume, -1e-13 * whole.volume);
    const Moments m = momentsOf(f, at);
    sum.volume += m.volume;
    sum.first += m.first;
    sum.second += m.second;
    ASSERT_EQ(nodes & f.nodes, 0);
    nodes |= f.nodes;
    for (size_t i = 0; i < 4; ++i) area[i] += f.faceArea[i];
  }
  ASSERT_EQ(nodes, 15);
  // Relative to the largest terms; coordinates of sheets far away are rounded more coarsely.
  ASSERT_NEAR(sum.volume, whole.volume, 1e-12 * whole.volume);
  ASSERT_LT((sum.first - whole.first).norm(), 1e-12 * whole.volume * size);
  ASSERT_LT((sum.second - whole.second).norm(), 1e-12 * whole.volume * size * size);
  std::vector<Vec3> closed(cut.fragments.size(), Vec3::Zero());
  for (const TetPiece& p : cut.pieces) closed[p.fragment] += p.area;
  for (const Vec3& c : closed) ASSERT_LT(c.norm(), 1e-12 * size * size);
  if (!cut.bridged)
    for (size_t i = 0; i < 4; ++i) {
      const auto& f = geometry::kTetFaces[i];
      const double face = 0.5 * (tet[f[1]] - tet[f[0]]).cross(tet[f[2]] - tet[f[0]]).norm();
      ASSERT_NEAR(area[i], face, 1e-12 * size * size);
    }
}

// How often the surface of a fragment winds around a point: by solid angles (Van Oosterom and Strackee 1983).
double windingOf(const SheetsCut& cut, uint32_t fragment, const Vec3& at) {
  double angle = 0;
  for (const TetPiece& p : cut.pieces) {
    if (p.fragment != fragment) continue;
    const auto ring = cut.cornersOf(p);
    for (size_t k = 2; k < ring.size(); ++k) {
      const Vec3 a = ring[0] - at, b = ring[k - 1] - at, c = ring[k] - at;
      const double la = a.norm(), lb = b.norm(), lc = c.norm();
      const double part =
          std::atan2(a.dot(b.cross(c)), la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb);
      angle += p.reversed ? -part : part;
    }
  }
  return angle / (2 * std::numbers::pi);
}
uint32_t fragmentAt(const SheetsCut& cut, const Vec3& at) {
  uint32_t found = kNoIndex;
  for (uint32_t f = 0; f < cut.fragments.size(); ++f)
    if (windingOf(cut, f, at) > 0.5) {
      EXPECT_EQ(found, kNoIndex);
      found = f;
    }
  return found;
}
Vec3 pointIn(const Tet& tet, RandomStream& random) {
  double w[4], sum = 0;
  for (double& x : w) {
    const double u = random.uniform(1e-9, 1);
    x = -std::log(u);
    sum += x;
  }
  return (w[0] * tet[0] + w[1] * tet[1] + w[2] * tet[2] + w[3] * tet[3]) / sum;
}

using FragmentSummary = std::vector<std::tuple<int, bool, bool, double>>;
FragmentSummary fragmentsOf(const TetCut& cut) {
  FragmentSummary s;
  for (const TetFragment& f : cut.fragments) s.push_back({f.nodes, f.above, f.below, f.volume});
  std::sort(s.begin(), s.end());
  return s;
}

void compareWithOneSheet(uint64_t count, uint64_t seed, double bumps, bool aligned) {
  size_t separated = 0, polygons = 0;
  for (uint64_t i = 0; i < count && !::testing::Test::HasFatalFailure(); ++i) {
    SCOPED_TRACE(i);
    RandomStream random(seed, i);
    const uint32_t n = 1 + random.below(4);
    const geometry::TriMesh sheet = randomSheet(random, n, bumps, aligned);
    const Tet tet = randomTet(random, aligned);
    TetCutter one(sheet);
    const TetCut expected = one.cut(tet);
    const SheetsCut cut = cutBy(tet, {sheet});
    const FragmentSummary a = fragmentsOf(cut), b = fragmentsOf(expected);
    ASSERT_EQ(a.size(), b.size());
    // A sheet within the tetrahedron is a slit here; TetCutter does not mention it.
    if (a.size() == 1 && expected.fragments[0].lidArea == 0) continue;
    for (size_t k = 0; k < a.size(); ++k) {
      ASSERT_EQ(std::get<0>(a[k]), std::get<0>(b[k]));
      ASSERT_EQ(std::get<1>(a[k]), std::get<1>(b[k]));
      ASSERT_EQ(std::get<2>(a[k]), std::get<2>(b[k]));
      ASSERT_NEAR(std::get<3>(a[k]), std::get<3>(b[k]), 1e-12 * tetVolumeOf(tet));
    }
    separated += cut.separates();
    expectPartition(tet, cut);
    if (cut.bridged || expected.bridged) continue;
    for (uint8_t f = 0; f < 4; ++f) {
      ASSERT_EQ(polygonsOn(cut, f, false), polygonsOn(expected, f, false));
      ++polygons;
    }
  }
  EXPECT_GT(separated, count / 20);
  EXPECT_GT(polygons, count);
}

TEST(SheetsCutter, FlatSheetsAsTetCutterDoes) { compareWithOneSheet(500, 101, 0, false); }
TEST(SheetsCutter, BentSheetsAsTetCutterDoes) { compareWithOneSheet(500, 102, 0.2, false); }
TEST(SheetsCutter, SheetsThroughNodesAsTetCutterDoes) { compareWithOneSheet(400, 103, 0, true); }
TEST(SheetsCutter, BentSheetsThroughNodesAsTetCutterDoes) { compareWithOneSheet(400, 104, 1, true); }
TEST(SheetsCutterFull, AsTetCutterDoes) {
  compareWithOneSheet(50'000, 105, 0, false);
  compareWithOneSheet(50'000, 106, 0.2, false);
  compareWithOneSheet(20'000, 107, 0, true);
  compareWithOneSheet(20'000, 108, 1, true);
}

TEST(SheetsCutter, NoSheetLeavesTheTetrahedronWhole) {
  const SheetsCut cut = cutBy(kUnitTet, {quad({5, 0, 0}, {0, 1, 0}, {0, 0, 1})});
  ASSERT_EQ(cut.fragments.size(), 1u);
  EXPECT_FALSE(cut.touched);
  EXPECT_EQ(cut.fragments[0].nodes, 15);
  EXPECT_DOUBLE_EQ(cut.fragments[0].volume, 1.0 / 6);
  EXPECT_EQ(cut.regions.size(), 4u);
  EXPECT_EQ(cut.rim.size(), 12u);
}

// Two planes that cross inside make four fragments, three make eight.
TEST(SheetsCutter, PlanesThatCrossInsideMakeFourAndEight) {
  for (uint64_t i = 0; i < 300; ++i) {
    SCOPED_TRACE(i);
    RandomStream random(41, i);
    const Tet tet = randomTet(random, false);
    const Vec3 at = pointIn(tet, random);
    std::vector<geometry::TriMesh> planes{randomPlane(random, at), randomPlane(random, at)};
    const SheetsCut two = cutBy(tet, planes);
    ASSERT_EQ(two.fragments.size(), 4u);
    expectPartition(tet, two);
    planes.push_back(randomPlane(random, at));
    const SheetsCut three = cutBy(tet, planes);
    ASSERT_EQ(three.fragments.size(), 8u);
    expectPartition(tet, three);
  }
}

// Planes of an octant, exactly: volumes by hand.
TEST(SheetsCutter, ThreePlanesThroughOnePointExactly) {
  const Tet tet{Vec3(-1, -1, -1), Vec3(4, -1, -1), Vec3(-1, 4, -1), Vec3(-1, -1, 4)};
  const SheetsCut cut =
      cutBy(tet, {quad(Vec3::Zero(), {0, 9, 0}, {0, 0, 9}), quad(Vec3::Zero(), {0, 0, 9}, {9, 0, 0}),
                  quad(Vec3::Zero(), {9, 0, 0}, {0, 9, 0})});
  ASSERT_EQ(cut.fragments.size(), 8u);
  expectPartition(tet, cut);
  // x + y + z <= 2: the positive octant is a tetrahedron of edge 2.
  std::multiset<double> volumes;
  for (const TetFragment& f : cut.fragments) volumes.insert(std::round(f.volume * 1e9) / 1e9);
  EXPECT_EQ(*volumes.begin(), 1);
  EXPECT_EQ(volumes.count(std::round((8.0 / 6) * 1e9) / 1e9), 1u);
  EXPECT_EQ(volumes.count(1), 1u);
  // Fragments on two adjacent octants of a square column: (27 - 1 - 1 - 8 + ...)/6 by inclusion.
  EXPECT_EQ(volumes.count(std::round((27.0 - 8) / 6 * 1e9) / 1e9), 3u);
}

// Random points: signs of planes tell the fragment, and no others do.
TEST(SheetsCutter, FragmentsAreTheSignsOfPlanes) {
  size_t most = 0;
  for (uint64_t i = 0; i < 60; ++i) {
    SCOPED_TRACE(i);
    RandomStream random(43, i);
    const Tet tet = randomTet(random, false);
    std::vector<geometry::TriMesh> planes;
    for (uint32_t k = 2 + random.below(3); k > 0; --k) {
      const Vec3 at = pointIn(tet, random);
      planes.push_back(randomPlane(random, at));
    }
    const SheetsCut cut = cutBy(tet, planes);
    expectPartition(tet, cut);
    std::map<unsigned, uint32_t> of;
    std::map<uint32_t, unsigned> back;
    for (int n = 0; n < 200; ++n) {
      const Vec3 x = pointIn(tet, random);
      unsigned signs = 0;
      for (size_t k = 0; k < planes.size(); ++k)
        if (geometry::orient3d(planes[k].positions[0], planes[k].positions[1], planes[k].positions[2], x) > 0)
          signs |= 1u << k;
      const uint32_t f = fragmentAt(cut, x);
      ASSERT_NE(f, kNoIndex);
      ASSERT_EQ(of.try_emplace(signs, f).first->second, f);
      ASSERT_EQ(back.try_emplace(f, signs).first->second, signs);
    }
    most = std::max(most, cut.fragments.size());
  }
  EXPECT_GE(most, 11u);
}

bool crosses(const Vec3& p, const Vec3& q, const std::vector<geometry::TriMesh>& meshes) {
  for (const auto& mesh : meshes)
    for (const auto& t : mesh.triangles) {
      const Vec3 &a = mesh.positions[t[0]], &b = mesh.positions[t[1]], &c = mesh.positions[t[2]];
      if ((geometry::orient3d(a, b, c, p) > 0) == (geometry::orient3d(a, b, c, q) > 0)) continue;
      const bool s = geometry::orient3d(p, q, a, b) > 0;
      if ((geometry::orient3d(p, q, b, c) > 0) == s && (geometry::orient3d(p, q, c, a) > 0) == s) return true;
    }
  return false;
}

// A flood fill over n^3 points along lines that cross no triangle: points that it joins are in one fragment,
// and it joins all that are, where parts are well apart.
void compareWithFlood(uint64_t count, uint64_t seed, int n, size_t& equal, size_t& all, size_t& partial) {
  for (uint64_t i = 0; i < count && !::testing::Test::HasFatalFailure(); ++i) {
    SCOPED_TRACE(i);
    RandomStream random(seed, i);
    const Tet tet = randomTet(random, false);
    std::vector<geometry::TriMesh> sheets;
    for (uint32_t k = 2 + random.below(2); k > 0; --k) {
      const uint32_t size = 1 + random.below(3);
      sheets.push_back(randomSheet(random, size, 0.15, false));
    }
    const SheetsCut cut = cutBy(tet, sheets);
    expectPartition(tet, cut);
    // Points with barycentric coordinates (a, b, c, rest) / n off the border.
    std::map<std::array<int, 3>, uint32_t> number;
    std::vector<Vec3> at;
    for (int a = 0; a < n; ++a)
      for (int b = 0; a + b < n; ++b)
        for (int c = 0; a + b + c < n; ++c) {
          number[{a, b, c}] = uint32_t(at.size());
          const double u = (a + 0.25) / n, v = (b + 0.25) / n, w = (c + 0.25) / n;
          at.push_back(tet[0] + u * (tet[1] - tet[0]) + v * (tet[2] - tet[0]) + w * (tet[3] - tet[0]));
        }
    DisjointSets sets(at.size());
    for (const auto& [key, p] : number)
      for (const std::array<int, 3>& d : {std::array{1, 0, 0}, std::array{0, 1, 0}, std::array{0, 0, 1},
                                          std::array{1, -1, 0}, std::array{1, 0, -1}, std::array{0, 1, -1}}) {
        const auto other = number.find({key[0] + d[0], key[1] + d[1], key[2] + d[2]});
        if (other != number.end() && !crosses(at[p], at[other->second], sheets)) sets.unite(p, other->second);
      }
    std::vector<uint32_t> fragment(at.size());
    std::map<uint32_t, std::set<uint32_t>> components;
    for (uint32_t p = 0; p < at.size(); ++p) {
      fragment[p] = sets.isRoot(p) ? fragmentAt(cut, at[p]) : kNoIndex;
      if (sets.isRoot(p)) components[fragment[p]].insert(p);
    }
    // Some more of each component.
    for (uint32_t p = 0; p < at.size(); p += 7) ASSERT_EQ(fragmentAt(cut, at[p]), fragment[sets.find(p)]);
    ASSERT_EQ(components.count(kNoIndex), 0u);
    size_t seen = 0;
    for (const auto& [f, roots] : components) {
      ++all;
      equal += roots.size() == 1;
      ++seen;
    }
    for (const TetFragment& f : cut.fragments) partial += f.above && f.below;
    ASSERT_LE(seen, cut.fragments.size());
  }
}

TEST(SheetsCutter, FragmentsAreWhatAFloodFills) {
  size_t equal = 0, all = 0, partial = 0;
  compareWithFlood(40, 47, 14, equal, all, partial);
  std::printf("%zu of %zu parts by the flood alone, %zu partly cut\n", equal, all, partial);
  EXPECT_GT(equal, all * 9 / 10);  // thin parts fall between its points
  EXPECT_GT(all, 80u);
  EXPECT_GT(partial, 10u);
}
TEST(SheetsCutterFull, FragmentsAreWhatAFloodFills) {
  size_t equal = 0, all = 0, partial = 0;
  compareWithFlood(1000, 48, 32, equal, all, partial);
  std::printf("%zu of %zu parts by the flood alone, %zu partly cut\n", equal, all, partial);
  EXPECT_GT(equal, all * 9 / 10);
}

// A sheet that ends on another one: exactly, a little beyond, and a little before.
TEST(SheetsCutter, ASheetThatEndsOnAnotherSeparates) {
  const Tet tet{Vec3(-1, -1, -1), Vec3(4, -1, -1), Vec3(-1, 4, -1), Vec3(-1, -1, 4)};
  const geometry::TriMesh floor = quad(Vec3::Zero(), {9, 0, 0}, {0, 9, 0});
  for (const double end : {0.0, -0.125, 1e-9, 0.125}) {
    SCOPED_TRACE(end);
    geometry::TriMesh wall;  // x = 0, from z = end upwards
    wall.positions = {{0, -9, end}, {0, 9, end}, {0, 9, 9}, {0, -9, 9}};
    wall.triangles = {{0, 1, 2}, {0, 2, 3}};
    const SheetsCut cut = cutBy(tet, {floor, wall});
    expectPartition(tet, cut);
    EXPECT_EQ(cut.fragments.size(), end <= 0 ? 3u : 2u);
    // Turned, nothing is exact: only the one beyond separates for sure.
    if (end == 0 || end == 1e-9) continue;
    const Quat turn = rotationBetween(Vec3::UnitX(), Vec3(1, 2, 3).normalized());
    const auto turned = [&](auto points) {
      for (Vec3& p : points) p = turn * p;
      return points;
    };
    geometry::TriMesh f = floor, w = wall;
    f.positions = turned(f.positions);
    w.positions = turned(w.positions);
    const SheetsCut again = cutBy(turned(tet), {f, w});
    EXPECT_EQ(again.fragments.size(), cut.fragments.size());
  }
}

// Three half planes from one line, in one mesh or in three: three fragments, whatever the line's direction.
TEST(SheetsCutter, ASheetMayBranch) {
  for (uint64_t i = 0; i < 200; ++i) {
    SCOPED_TRACE(i);
    RandomStream random(53, i);
    const Tet tet = randomTet(random, false);
    const Vec3 at = pointIn(tet, random), along = random.unitVector(), u = along.unitOrthogonal(),
               v = along.cross(u);
    geometry::TriMesh star;
    star.positions = {at - 10 * along, at + 10 * along};
    std::vector<geometry::TriMesh> three;
    for (uint32_t k = 0; k < 3; ++k) {
      const double angle = 2 * std::numbers::pi * k / 3 + 0.1;
      const Vec3 out = 10 * (std::cos(angle) * u + std::sin(angle) * v);
      star.positions.push_back(at - 10 * along + out);
      star.positions.push_back(at + 10 * along + out);
      const uint32_t p = 2 + 2 * k;
      star.triangles.push_back({0, 1, p + 1});
      star.triangles.push_back({0, p + 1, p});
      geometry::TriMesh leaf;
      leaf.positions = {star.positions[0], star.positions[1], star.positions[p + 1], star.positions[p]};
      leaf.triangles = {{0, 1, 2}, {0, 2, 3}};
      three.push_back(leaf);
    }
    const SheetsCut cut = cutBy(tet, {star}), apart = cutBy(tet, three);
    ASSERT_EQ(cut.fragments.size(), 3u);
    expectPartition(tet, cut);
    ASSERT_EQ(fragmentsOf(cut), fragmentsOf(apart));
    // Two of the three do not separate.
    three.pop_back();
    ASSERT_EQ(cutBy(tet, three).fragments.size(), 2u);
    three.pop_back();
    ASSERT_EQ(cutBy(tet, three).fragments.size(), 1u);
  }
}

// A closed box inside is a fragment without nodes; what is around it stays one.
TEST(SheetsCutter, ABubbleIsAFragmentOfItsOwn) {
  const Tet tet{Vec3(-1, -1, -1), Vec3(5, -1, -1), Vec3(-1, 5, -1), Vec3(-1, -1, 5)};
  geometry::TriMesh ball;
  ball.positions = {{.5, 0, 0}, {-.5, 0, 0}, {0, .5, 0}, {0, -.5, 0}, {0, 0, .5}, {0, 0, -.5}};
  ball.triangles = {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4}, {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
  const SheetsCut cut = cutBy(tet, {ball});
  ASSERT_EQ(cut.fragments.size(), 2u);
  expectPartition(tet, cut);
  EXPECT_EQ(cut.fragments[0].nodes, 15);
  EXPECT_EQ(cut.fragments[1].nodes, 0);
  EXPECT_NEAR(cut.fragments[1].volume, 4.0 / 3 * 0.125, 1e-15);
  EXPECT_TRUE(cut.fragments[0].above && !cut.fragments[0].below);
  // Through it a plane: four parts, and another bubble in one of them.
  const SheetsCut more = cutBy(tet, {ball, quad({0, 0, 0.25}, {9, 0, 0}, {0, 9, 0})});
  ASSERT_EQ(more.fragments.size(), 4u);
  expectPartition(tet, more);
}

// A tube through a face makes a region with a hole: in convex pieces, with closed fragments.
TEST(SheetsCutter, ATubeThroughAFace) {
  const Tet tet{Vec3(0, 0, 0), Vec3(4, 0, 0), Vec3(0, 4, 0), Vec3(0, 0, 4)};
  geometry::TriMesh tube;
  for (const double z : {-1.0, 9.0})
    for (const Vec2& p : {Vec2(0.5, 0.5), Vec2(1, 0.5), Vec2(1, 1), Vec2(0.5, 1)})
      tube.positions.push_back({p.x(), p.y(), z});
  for (uint32_t k = 0; k < 4; ++k) {
    const uint32_t next = (k + 1) % 4;
    tube.triangles.push_back({k, next, next + 4});
    tube.triangles.push_back({k, next + 4, k + 4});
  }
  const SheetsCut cut = cutBy(tet, {tube});
  ASSERT_EQ(cut.fragments.size(), 2u);
  EXPECT_TRUE(cut.bridged);
  expectPartition(tet, cut);
  // The column under x + y + z = 4 over the square: 0.25 * (4 - 1.5).
  EXPECT_NEAR(cut.fragments[1].volume, 0.625, 1e-14);
  EXPECT_EQ(cut.fragments[1].nodes, 0);
  EXPECT_EQ(cut.regions.size(), 6u);
}

// Sheets that touch vertices, edges and faces exactly: as if moved by an infinitely small vector.
TEST(SheetsCutter, TouchingExactly) {
  const Tet tet{Vec3(0, 0, 0), Vec3(2, 0, 0), Vec3(0, 2, 0), Vec3(0, 0, 2)};
  struct Case {
    const char* name;
    geometry::TriMesh sheet;
    size_t fragments;
  };
  const Case cases[] = {
      // The shift is towards +x, so a sheet in x = 0 is inside, one in x + y + z = 2 outside.
      {"the face x = 0", quad({0, 0, 0}, {0, 9, 0}, {0, 0, 9}), 2},
      {"the slanted face", quad({2, 0, 0}, {-9, 9, 0}, {-9, 0, 9}), 1},
      {"the vertex (2, 0, 0) from beyond", quad({2, 0, 0}, {0, 9, 0}, {0, 0, 9}), 1},
      {"through the edge to (0, 0, 2) and the middle of the opposite one",
       quad({0, 0, 0}, {9, 9, 0}, {0, 0, 9}), 2},
      {"through two vertices and inside", quad({1, 0, 0}, {1, 1, 0}, {1, 0, 1}), 2},
      {"its own face", {{tet[0], tet[3], tet[2]}, {{0, 1, 2}}}, 1}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const SheetsCut cut = cutBy(tet, {c.sheet});
    expectPartition(tet, cut);
    TetCutter one(c.sheet);
    const TetCut& expected = one.cut(tet);
    EXPECT_EQ(cut.fragments.size(), expected.fragments.size());
    EXPECT_EQ(fragmentsOf(cut), fragmentsOf(expected));
    // Twice the same sheet is that sheet.
    const SheetsCut twice = cutBy(tet, {c.sheet, c.sheet});
    EXPECT_EQ(fragmentsOf(twice), fragmentsOf(cut));
  }
}

// On grids everything touches: sheets each other, and tetrahedra. Also checks polygons across a common face.
void neighbours(uint64_t count, uint64_t seed) {
  size_t compared = 0, divided = 0, named = 0;
  for (uint64_t i = 0; i < count && !::testing::Test::HasFatalFailure(); ++i) {
    SCOPED_TRACE(i);
    RandomStream random(seed, i);
    const bool aligned = i % 4 == 0;
    const Tet tet = randomTet(random, aligned);
    Tet other{tet[1], tet[0], tet[2], Vec3(tet[0] + tet[1] - tet[3])};
    const Vec3 apex = other[3];
    for (uint32_t turns = random.below(4); turns > 0; --turns) {
      // Even permutations keep it positive.
      if (random.below(2) == 0)
        other = {other[1], other[2], other[0], other[3]};
      else
        other = {other[3], other[0], other[2], other[1]};
    }
    if (tetVolumeOf(other) <= 0.01) continue;
    uint8_t face = 0;
    while (other[face] != apex) ++face;
    std::vector<geometry::TriMesh> sheets;
    for (uint32_t k = 1 + random.below(3); k > 0; --k) {
      const uint32_t size = 1 + random.below(3);
      sheets.push_back(randomSheet(random, size, k % 2 == 0 ? 0 : (aligned ? 1 : 0.3), aligned));
    }
    const SheetsCut first = cutBy(tet, sheets), second = cutBy(other, sheets);
    expectPartition(tet, first);
    expectPartition(other, second);
    // Rims by name: each edge of one side is there on the other, the other way round.
    const auto rimsOf = [](const SheetsCut& cut, uint8_t f, const Tet& corners, bool turned) {
      std::multiset<std::vector<std::pair<std::vector<std::array<double, 3>>, uint64_t>>> rims;
      for (const FaceRegion& r : cut.regions) {
        if (r.face != f) continue;
        for (uint32_t e = r.first; e < r.first + r.count; ++e) {
          std::vector<std::pair<std::vector<std::array<double, 3>>, uint64_t>> edge;
          for (const RimCorner& c : cut.rim[e]) {
            std::vector<std::array<double, 3>> support;
            for (size_t v = 0; v < 4; ++v)
              if ((c.faces >> v & 1) == 0)
                support.push_back({corners[v].x(), corners[v].y(), corners[v].z()});
            std::sort(support.begin(), support.end());
            edge.push_back({support, c.name});
          }
          if (turned) std::swap(edge[0], edge[1]);
          rims.insert(edge);
        }
      }
      return rims;
    };
    const auto rims = rimsOf(first, 3, tet, false);
    ASSERT_EQ(rims, rimsOf(second, face, other, true));
    for (const auto& edge : rims) ASSERT_EQ(rims.count(edge), 1u);
    named += rims.size();
    const auto regionsOn = [](const SheetsCut& cut, uint8_t f) {
      return std::ranges::count(cut.regions, f, &FaceRegion::face);
    };
    ASSERT_EQ(regionsOn(first, 3), regionsOn(second, face));
    divided += regionsOn(first, 3) > 1;
    if (first.bridged || second.bridged) continue;
    ++compared;
    ASSERT_EQ(polygonsOn(first, 3, false), polygonsOn(second, face, true));
  }
  std::printf("%zu compared, %zu divided, %zu edges of rims\n", compared, divided, named);
  EXPECT_GT(compared, count / 3);
  EXPECT_GT(divided, count / 10);
}
TEST(SheetsCutter, NeighboursDivideTheirCommonFaceAlike) { neighbours(800, 61); }
TEST(SheetsCutterFull, NeighboursDivideTheirCommonFaceAlike) { neighbours(40'000, 62); }

// What a fragment was before the later sheets came is the fragment of the cut without them.
TEST(SheetsCutter, FragmentsKnowWhatTheyWereBefore) {
  size_t finer = 0;
  for (uint64_t i = 0; i < 200; ++i) {
    SCOPED_TRACE(i);
    RandomStream random(67, i);
    const Tet tet = randomTet(random, false);
    std::vector<geometry::TriMesh> sheets;
    for (uint32_t k = 0; k < 3; ++k) sheets.push_back(randomSheet(random, 1 + k, 0.2, false));
    const SheetsCut before = cutBy(tet, {sheets[0], sheets[1]});
    CutSheets all;
    for (const auto& s : sheets) all.add(s);
    SheetsCutter cutter(all);
    const SheetsCut& now = cutter.cut(tet, facesOf(all), all.firstFace(2));
    std::vector<Moments> sums(before.fragments.size());
    std::vector<int> nodes(before.fragments.size(), 0);
    for (size_t f = 0; f < now.fragments.size(); ++f) {
      ASSERT_LT(now.before[f], before.fragments.size());
      sums[now.before[f]].volume += now.fragments[f].volume;
      nodes[now.before[f]] |= now.fragments[f].nodes;
      sums[now.before[f]].first += momentsOf(now.fragments[f], tet[0]).first;
    }
    for (size_t f = 0; f < sums.size(); ++f) {
      ASSERT_EQ(nodes[f], before.fragments[f].nodes);
      ASSERT_NEAR(sums[f].volume, before.fragments[f].volume, 1e-14);
      ASSERT_LT((sums[f].first - momentsOf(before.fragments[f], tet[0]).first).norm(), 1e-13);
    }
    finer += now.fragments.size() > before.fragments.size();
  }
  EXPECT_GT(finer, 50u);
}

TEST(SheetsCutter, RefusesWhatIsNoSheet) {
  CutSheets sheets;
  geometry::TriMesh bad;
  bad.positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  bad.triangles = {{0, 1, 3}};
  EXPECT_THROW(sheets.add(bad), Error);
  bad.triangles = {{0, 1, 2}};
  bad.positions[1].x() = std::nan("");
  EXPECT_THROW(sheets.add(bad), Error);
  EXPECT_EQ(sheets.sheets(), 0u);
  // Triangles without area, or with a corner twice, do not cut.
  bad.positions = {{-9, 0.1, 0.1}, {9, 0.1, 0.1}, {1, 0.1, 0.1}};
  bad.triangles = {{0, 1, 2}, {0, 0, 1}};
  EXPECT_EQ(cutBy(kUnitTet, {bad}).fragments.size(), 1u);
}

}  // namespace

}  // namespace sunder::cut
