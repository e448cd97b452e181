// Random concave prisms in random and in grid-aligned places: every result closed, volumes exact.
#include "sunder/base/error.h"
#include "sunder/geometry/components.h"

#include "cut/cut_shapes.h"
#include "cut/rational.h"

#include <cstdio>

namespace sunder::cut {

namespace {

using namespace testing;

// A star-shaped outline with corners on a grid.
std::vector<Vec2> randomOutline(RandomStream& random, int size) {
  for (;;) {
    const uint32_t n = 3 + random.below(8);
    std::vector<Vec2> outline;
    for (uint32_t k = 0; k < n; ++k) {
      const double angle = 2 * kPi * (k + random.uniform(0, 0.8)) / n, r = random.uniform(0.25, 1);
      outline.push_back({std::round(size * r * std::cos(angle)), std::round(size * r * std::sin(angle))});
    }
    double area = 0;
    bool proper = true;
    for (uint32_t k = 0; k < n; ++k) {
      const Vec2 &a = outline[k], &b = outline[(k + 1) % n];
      area += a.x() * b.y() - a.y() * b.x();
      // The middle sees every edge, so the outline is simple.
      proper = proper && a.x() * b.y() - a.y() * b.x() > 0;
    }
    if (proper && area > 0) return outline;
  }
}

// Rectilinear outlines: combs, steps and towers, where many faces are in one plane.
std::vector<Vec2> randomSkyline(RandomStream& random) {
  const uint32_t n = 1 + random.below(5);
  std::vector<Vec2> outline{{0, 0}, {double(n), 0}};
  for (uint32_t k = n; k > 0; --k) {
    const double height = 1 + random.below(3);
    if (outline.back() != Vec2(k, height)) outline.push_back({double(k), height});
    outline.push_back({double(k - 1), height});
  }
  // Straight corners are part of the fun, but not twice the same.
  outline.erase(std::unique(outline.begin(), outline.end()), outline.end());
  return outline;
}

PolygonSoup axisTurned(PolygonSoup soup, uint32_t axes) {
  for (Vec3& p : soup.positions)
    for (uint32_t i = 0; i < axes; ++i) p = Vec3(p.y(), p.z(), p.x());
  return soup;
}

// Volume of a result in rationals, the seam's points being what they are before rounding. Triangles of the
// kernel are flat, so any triangles of a face give the same.
Rational exactVolume(const CutResult& r, const KernelMesh& mesh, const KernelMesh& cutter, const Seam& seam) {
  Rational sum = 0;
  std::vector<RVec3> at;
  for (size_t v = 0; v < r.mesh.positions.size(); ++v) {
    if (r.vertexFrom[v] != VertexFrom::Seam) {
      at.push_back(exact(r.mesh.positions[v]));
      continue;
    }
    const SeamPoint& x = seam.points[r.sourceVertex[v]];
    at.push_back(x.edgeOf == kMesh ? seamPosition(x, mesh, cutter) : seamPosition(x, cutter, mesh));
  }
  for (size_t f = 0; f < r.mesh.faceCount(); ++f) {
    const auto face = r.mesh.face(f);
    for (size_t i = 1; i + 1 < face.size(); ++i)
      sum += dot(at[face[0]], crossed(at[face[i]], at[face[i + 1]]));
  }
  return sum / 6;
}

struct FuzzTallies {
  size_t pairs = 0, crossing = 0, degenerate = 0, exact = 0;
};

// Middles of edges that were split have no exact position; volumes are then checked in double only.
bool hasMiddles(const CutResult& r) {
  return std::find(r.sourceVertex.begin(), r.sourceVertex.end(), kNoIndex) != r.sourceVertex.end();
}

// Closed results and volume identities of one pair; with `rational` they hold exactly.
void checkPair(const PolygonSoup& a, const PolygonSoup& b, bool rational, FuzzTallies& tallies) {
  // Triangles inside, so that the rational volume is that of flat faces.
  const CutOptions base{.triangles = true, .keepEmpty = true};
  const auto run = [&](Op op) {
    CutOptions options = base;
    options.op = op;
    return cut(a, b, options);
  };
  const CutResult both = run(Op::Intersection), rest = run(Op::Difference), all = run(Op::Union),
                  split = run(Op::Split), either = run(Op::SymmetricDifference);
  for (const CutResult* r : {&both, &rest, &all, &split, &either}) ASSERT_EQ(unmatchedEdges(r->mesh), 0u);
  const auto total = [](const CutResult& r) {
    double sum = 0;
    for (const double v : r.volume) sum += v;
    return sum;
  };
  const double va = volumeOf(a), vb = volumeOf(b), tolerance = 1e-9 * (va + vb);
  ASSERT_NEAR(total(both) + total(rest), va, tolerance);
  ASSERT_NEAR(total(all), va + vb - total(both), tolerance);
  ASSERT_NEAR(total(either), va + vb - 2 * total(both), tolerance);
  ASSERT_NEAR(total(split), va, tolerance);
  ASSERT_GE(total(both), -tolerance);
  ASSERT_LE(total(both), std::min(va, vb) + tolerance);
  // Polygons.
  const CutResult polygons = cut(a, b, {.op = Op::Difference, .keepEmpty = true});
  ASSERT_EQ(unmatchedEdges(polygons.mesh), 0u);
  ASSERT_NEAR(total(polygons), total(rest), tolerance);
  ASSERT_LE(polygons.mesh.faceCount(), rest.mesh.faceCount());
  ++tallies.pairs;
  tallies.crossing += both.statistics.seamSegments > 0;
  if (!rational) return;
  const KernelMesh ka = makeKernelMesh(a, "mesh"), kb = makeKernelMesh(b, "cutter");
  const Seam seam = findSeam(ka, kb);
  bool onVertex = false;
  for (const SeamPoint& x : seam.points) onVertex = onVertex || x.t == 0 || x.t == 1;
  tallies.degenerate += onVertex;
  const auto volume = [&](const CutResult& r) { return exactVolume(r, ka, kb, seam); };
  for (const CutResult* r : {&both, &rest, &all, &split})
    if (hasMiddles(*r)) return;
  ++tallies.exact;
  const auto whole = [&](const KernelMesh& t) {
    Rational sum = 0;
    for (const auto& f : t.triangles)
      sum += dot(exact(t.positions[f[0]]), crossed(exact(t.positions[f[1]]), exact(t.positions[f[2]])));
    return Rational(sum / 6);
  };
  ASSERT_EQ(Rational(volume(both) + volume(rest)), whole(ka));
  ASSERT_EQ(Rational(volume(all) + volume(both)), Rational(whole(ka) + whole(kb)));
  ASSERT_EQ(volume(split), whole(ka));
}

// With `together` both solids are turned by one rotation: then everything that touched nearly does.
void alignedPairs(int count, uint64_t seed, bool rational, bool together = false) {
  FuzzTallies tallies;
  for (int i = 0; i < count && !::testing::Test::HasFatalFailure(); ++i) {
    SCOPED_TRACE(i);
    RandomStream random(seed, static_cast<uint64_t>(i));
    const auto solid = [&] {
      const auto outline = random.below(2) == 0 ? randomSkyline(random) : randomOutline(random, 4);
      PolygonSoup p = axisTurned(prism(outline, 1 + random.below(3)), random.below(3));
      return moved(p, {double(random.below(4)), double(random.below(4)), double(random.below(4))});
    };
    PolygonSoup a = solid(), b = solid();
    if (together) {
      const Quat turn =
          Quat(random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1), 0.5).normalized();
      a = moved(a, {0.1, 0.2, 0.3}, turn);
      b = moved(b, {0.1, 0.2, 0.3}, turn);
    }
    try {
      checkPair(a, b, rational, tallies);
    } catch (const Error& e) {
      FAIL() << e.what();
    }
  }
  std::printf("%zu aligned pairs, %zu crossing, %zu through vertices, %zu exact\n", tallies.pairs,
              tallies.crossing, tallies.degenerate, tallies.exact);
  EXPECT_GT(tallies.crossing, tallies.pairs / 3);
  if (rational) {
    EXPECT_GT(tallies.exact, tallies.pairs * 9 / 10);
  }
}

void turnedPairs(int count, uint64_t seed, bool rational) {
  FuzzTallies tallies;
  for (int i = 0; i < count && !::testing::Test::HasFatalFailure(); ++i) {
    SCOPED_TRACE(i);
    RandomStream random(seed, static_cast<uint64_t>(i));
    const auto solid = [&] {
      const PolygonSoup p = prism(randomOutline(random, 16), 8 + random.below(16));
      const Quat turn =
          Quat(random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1))
              .normalized();
      return moved(p, {random.uniform(-8, 8), random.uniform(-8, 8), random.uniform(-8, 8)}, turn);
    };
    const PolygonSoup a = solid(), b = solid();
    checkPair(a, b, rational, tallies);
  }
  std::printf("%zu turned pairs, %zu crossing, %zu exact\n", tallies.pairs, tallies.crossing, tallies.exact);
  EXPECT_GT(tallies.crossing, tallies.pairs / 3);
  if (rational) {
    EXPECT_EQ(tallies.exact, tallies.pairs);
  }
}

// A sheet of squares; it may end inside what it cuts.
PolygonSoup randomSheet(RandomStream& random, bool aligned) {
  const uint32_t nx = 1 + random.below(4), ny = 1 + random.below(4);
  const double step = aligned ? 1 + random.below(2) : random.uniform(0.5, 3),
               bend = random.below(2) == 0 ? 0 : 1;
  PolygonSoup soup;
  for (uint32_t i = 0; i <= nx; ++i)
    for (uint32_t j = 0; j <= ny; ++j) {
      const double z = aligned ? bend * random.below(2) : bend * random.uniform(-0.5, 0.5);
      soup.positions.push_back({step * i, step * j, z});
    }
  for (uint32_t i = 0; i < nx; ++i)
    for (uint32_t j = 0; j < ny; ++j) {
      const uint32_t a = i * (ny + 1) + j, b = a + ny + 1;
      if (bend == 0)
        soup.addFace(std::vector<uint32_t>{a, b, b + 1, a + 1});
      else {
        soup.addFace(std::vector<uint32_t>{a, b, b + 1});
        soup.addFace(std::vector<uint32_t>{a, b + 1, a + 1});
      }
    }
  return soup;
}

// Solids and open surfaces cut by sheets: closed, nothing lost, as triangles and as polygons.
void sheetCuts(int count, uint64_t seed, bool aligned) {
  size_t crossing = 0, separated = 0, tips = 0, folded = 0;
  for (int i = 0; i < count && !::testing::Test::HasFatalFailure(); ++i) {
    SCOPED_TRACE(i);
    RandomStream random(seed, static_cast<uint64_t>(i));
    PolygonSoup solid =
        prism(random.below(2) == 0 ? randomSkyline(random) : randomOutline(random, 4), 1 + random.below(3));
    PolygonSoup knife = axisTurned(randomSheet(random, aligned), random.below(3));
    if (aligned) {
      solid = moved(solid, {double(random.below(4)), double(random.below(4)), double(random.below(4))});
      knife = moved(knife,
                    {double(random.below(5)) - 1, double(random.below(5)) - 1, double(random.below(5)) - 1});
    } else {
      const Quat turn =
          Quat(random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1))
              .normalized();
      knife = moved(knife, {random.uniform(-3, 3), random.uniform(-3, 3), random.uniform(-1, 3)}, turn);
    }
    const double volume = volumeOf(solid), area = geometry::surfaceArea(solid);
    try {
      for (const bool triangles : {false, true}) {
        const CutResult r = cut(solid, knife, {.triangles = triangles, .keepEmpty = true});
        ASSERT_EQ(unmatchedEdges(r.mesh), 0u) << (triangles ? "triangles" : "polygons");
        double sum = 0, outside = 0;
        for (const double v : r.volume) sum += v;
        ASSERT_NEAR(sum, volume, 1e-9 * volume);
        double lids = 0;
        for (size_t f = 0; f < r.mesh.faceCount(); ++f)
          (r.fromCutter[f] ? lids : outside) += geometry::vectorArea(r.mesh, f).norm();
        // Along faces a piece can shrink to nothing, and its triangles can then lie on each other.
        const bool folds = std::abs(outside - area) > 1e-9 * area;
        ASSERT_TRUE(!folds || (aligned && triangles)) << outside << " instead of " << area;
        folded += folds;
        // Both sides of the cut have the same lids.
        double up = 0;
        for (size_t f = 0; f < r.mesh.faceCount(); ++f)
          if (r.fromCutter[f]) up += geometry::vectorArea(r.mesh, f).sum();
        ASSERT_NEAR(up, 0, 1e-9 * (1 + lids));
        if (triangles) continue;
        crossing += r.statistics.seamSegments > 0;
        separated += r.fragments > 1;
        tips += std::any_of(r.above.begin(), r.above.end(), [&](const uint8_t& a) {
          return a && r.below[static_cast<size_t>(&a - r.above.data())];
        });
      }
      // The same solid without its first face: no lids.
      PolygonSoup open;
      open.positions = solid.positions;
      for (size_t f = 1; f < solid.faceCount(); ++f) open.addFace(solid.face(f));
      const CutResult r = cut(open, knife, {.triangles = true});
      if (!aligned) {
        ASSERT_NEAR(geometry::surfaceArea(r.mesh), geometry::surfaceArea(open), 1e-9 * area);
      }
    } catch (const Error& e) {
      FAIL() << e.what();
    }
  }
  std::printf("%d cuts by sheets, %zu crossing, %zu separating, %zu incisions, %zu folded\n", count, crossing,
              separated, tips, folded);
  EXPECT_LE(folded, size_t(count) / 20);
  EXPECT_GT(crossing, size_t(count) / 4);
  EXPECT_GT(separated, size_t(count) / 50);
  EXPECT_GT(tips, size_t(count) / 50);
}

TEST(CutFuzz, SheetsInGeneralPosition) { sheetCuts(300, 11, false); }
TEST(CutFuzz, SheetsAlongFaces) { sheetCuts(300, 12, true); }
TEST(CutFuzzFull, SheetsInGeneralPosition) { sheetCuts(10'000, 13, false); }
TEST(CutFuzzFull, SheetsAlongFaces) { sheetCuts(10'000, 14, true); }
TEST(CutFuzz, C9_AlignedPrisms) { alignedPairs(400, 1, false); }
TEST(CutFuzz, C9_TurnedPrisms) { turnedPairs(400, 2, false); }
TEST(CutFuzz, AlignedPrismsInRationals) { alignedPairs(100, 3, true); }
TEST(CutFuzz, TurnedPrismsInRationals) { turnedPairs(40, 4, true); }
TEST(CutFuzz, AlmostAlignedPrisms) { alignedPairs(400, 7, false, true); }
TEST(CutFuzzFull, AlmostAlignedPrisms) { alignedPairs(10'000, 8, true, true); }
TEST(CutFuzzFull, C9_AlignedPrisms) { alignedPairs(10'000, 5, true); }
TEST(CutFuzzFull, C9_TurnedPrisms) { turnedPairs(10'000, 6, true); }

}  // namespace

}  // namespace sunder::cut
