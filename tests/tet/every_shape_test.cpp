// Every shape of the catalogue and every public mesh: distance field, surface of the field and tetrahedra at
// three sizes, with all that can be measured printed in one line each.
//
// Columns: error of the field by its target (root mean square at points that construction did not use, and
// its largest error near the surface in edges); triangles of the field's surface and |field| on them, in
// edges; tetrahedra with their dihedral angles, relative error of volume, distances tetrahedra to input and
// input to tetrahedra in edges, vertices doubled to make the boundary a manifold, parts.
#include "sunder/base/bounds.h"
#include "sunder/base/error.h"
#include "sunder/base/random.h"
#include "sunder/base/stopwatch.h"
#include "sunder/geometry/mesh_report.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/meshio/mesh_file.h"
#include "sunder/sdf/hp/hp_build.h"
#include "sunder/sdf/hp/hp_field.h"
#include "sunder/sdf/isosurface.h"
#include "sunder/sdf/mesh_field.h"
#include "sunder/shapes/catalogue.h"
#include "sunder/tet/point_location.h"
#include "sunder/tet/stuffing.h"
#include "sunder/tet/tet_report.h"

#include "folders.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

#include <gtest/gtest.h>

namespace sunder::tet {
namespace {

using geometry::TriMesh;

// Shapes with walls or gaps that are thin beside the whole: their sizes follow the wall.
struct Thin {
  double wall;  // m
  shapes::ShapeValues values = {};
};
const std::map<std::string, Thin> kThin{
    {"plate", {0.02}},        {"bowl", {0.005}},
    {"wine-glass", {0.0014}}, {"vase", {0.006}},
    {"bottle", {0.003}},      {"noisy-sheet", {0.016}},  // 0.02 upwards, less across the slopes
    {"letters", {0.1}},       {"brick-wall", {0.01, {{"columns", "3"}, {"rows", "3"}}}},
    {"rope", {0.01}},
};

// Sheets: a cloth has no inside; a scroll is a roll by its winding number, open at its ends.
const std::set<std::string> kOpenShapes{"cloth", "scroll"};

struct Size {
  double edge, fieldError;
};

void heading(const std::string& name, const TriMesh& mesh, const sdf::MeshField& exact) {
  std::string why;
  for (const std::string& problem : exact.sign().problems()) why += (why.empty() ? ": " : "; ") + problem;
  std::printf("%s: %zu triangles, sign by %s%s\n", name.c_str(), mesh.triangles.size(),
              exact.sign().rule == sdf::SignRule::Winding ? "winding number" : "normals", why.c_str());
}

void expectClosed(const geometry::MeshReport& r) {
  EXPECT_TRUE(r.watertight);
  EXPECT_TRUE(r.manifold());
  EXPECT_TRUE(r.consistentlyOriented);
  EXPECT_FALSE(r.insideOut);
}

// Are walls and gaps known to be thicker than the edge? Where they are not, as in meshes of animals with
// horns and tails, tetrahedra must hold what is deeper than an edge, and parts may fall apart.
enum class Walls { Known, Any };

size_t deepPointsMissed(const sdf::MeshField& exact, const geometry::TetMesh& tets, const Box3& box,
                        double depth) {
  RandomStream random(12);
  std::vector<Vec3> points(20'000);
  for (Vec3& p : points) p = random.pointIn(box);
  std::vector<double> values(points.size());
  sdf::valuesOf(exact, points, values);
  const PointLocator locator(tets);
  size_t missed = 0;
  for (size_t i = 0; i < points.size(); ++i)
    missed += values[i] < -depth && locator.holder(points[i]) == kNoIndex;
  return missed;
}

// Field, surface and tetrahedra at one size. An open mesh has no volume to compare with, and where its holes
// are the solid's surface is away from the mesh.
void check(const std::string& name, const TriMesh& mesh, const sdf::MeshField& exact, const Size& size,
           bool closed, Walls walls) {
  SCOPED_TRACE(name + ", edge " + std::to_string(size.edge));
  const Stopwatch watch;
  const Box3 box = boundsOf(mesh.positions);
  const geometry::MeshReport surface = geometry::meshReport(geometry::MeshView(mesh));

  sdf::HpSettings settings;
  settings.error = size.fieldError;
  if (!closed) settings.mostCoefficients = 300'000;
  sdf::HpReport built;
  const sdf::HpForest forest = sdf::buildHp(exact, settings, built);
  const double near = 2 * size.edge;
  const sdf::HpError error = sdf::measureHp(forest, exact, 50'000, 77, near);
  if (closed) {
    EXPECT_EQ(built.end, sdf::HpEnd::Target);
    EXPECT_LE(error.rms, 1.1 * size.fieldError);
    // Scanned meshes have folds of no thickness.
    EXPECT_LE(built.lostPlaces, walls == Walls::Known ? 0 : built.thinPlaces / 50);
  }

  const sdf::HpField field(forest, box);
  sdf::IsosurfaceReport iso;
  const TriMesh skin = sdf::isosurface(field, {.edge = size.edge}, iso);
  expectClosed(geometry::meshReport(geometry::MeshView(skin)));
  // Where a coarse field jumps between cells, so does its surface: by about the field's error there, which is
  // larger than that of the whole domain where walls are thin.
  EXPECT_LE(iso.rms, 0.05 * size.edge + std::max(size.fieldError, error.rmsNear));
  EXPECT_LE(error.rmsNear, 2.5 * size.fieldError);
  EXPECT_LE(iso.largest, 0.75 * size.edge + 2 * error.largestNear);

  FillReport filled;
  geometry::TetMesh tets;
  try {
    tets = fill(exact, {.edge = size.edge, .levels = 2}, filled);
  } catch (const Error& refused) {
    EXPECT_FALSE(closed) << refused.what();
    EXPECT_EQ(refused.kind(), ErrorKind::Geometry);
    std::printf("  edge %-9.3g | refused: %s\n", size.edge, refused.what());
    return;
  }
  ASSERT_FALSE(tets.tets.empty());
  const geometry::TetReport sound = geometry::tetReport(tets);
  EXPECT_TRUE(sound.sound());
  EXPECT_EQ(sound.isolatedVertices, 0u);
  EXPECT_FALSE(filled.cutOff);
  const TetQuality quality = tetQuality(tets);
  EXPECT_EQ(quality.inverted, 0u);
  EXPECT_EQ(quality.flat, 0u);
  EXPECT_GE(quality.smallestAngle, kFillSmallestAngle);
  EXPECT_LE(quality.largestAngle, kFillLargestAngle);
  const TriMesh boundary = geometry::boundarySurface(tets).surface;
  expectClosed(geometry::meshReport(geometry::MeshView(boundary)));
  const SurfaceDistance distance = surfaceDistance(boundary, mesh, size.edge);
  EXPECT_EQ(deepPointsMissed(exact, tets, box, size.edge), 0u);
  const uint32_t parts = tetAdjacency(tets).components;
  if (walls == Walls::Known) {
    EXPECT_LE(distance.fromSecond, 1.25 * size.edge);
    EXPECT_EQ(parts, surface.components);
  }
  if (closed) {
    EXPECT_LE(distance.fromFirst, 0.75 * size.edge);
    EXPECT_LE(std::abs(quality.volume - surface.volume), 0.1 * surface.area * size.edge);
  }
  const double seconds = watch.seconds();
  std::printf(
      "  edge %-9.3g | field %.2f of %.2g, near %.2f | skin %7zu, rms %.3f, max %.2f | tets %8zu, %5.2f to "
      "%6.2f deg, volume %+6.2f %%, %.2f and %.2f edges, %3zu doubled, %2u parts | %.1f s\n",
      size.edge, error.rms / size.fieldError, size.fieldError, error.largestNear / size.edge,
      skin.triangles.size(), iso.rms / size.edge, iso.largest / size.edge, tets.tets.size(),
      quality.smallestAngle, quality.largestAngle, closed ? 100 * (quality.volume / surface.volume - 1) : 0.0,
      distance.fromFirst / size.edge, distance.fromSecond / size.edge, filled.doubled, parts, seconds);
  std::fflush(stdout);
}

// Edges: shares of the longest side, or of the wall where that is thin. The field's errors are shares of the
// longest side.
std::array<Size, 3> sizesOf(const TriMesh& mesh, double wall) {
  const double longest = boundsOf(mesh.positions).extent().maxCoeff();
  std::array<Size, 3> sizes;
  for (size_t i = 0; i < 3; ++i) {
    sizes[i].edge =
        wall > 0 ? wall / std::array{2.0, 2.5, 3.0}[i] : longest / std::array{16.0, 32.0, 64.0}[i];
    sizes[i].fieldError = longest / std::array{256.0, 512.0, 1024.0}[i];
  }
  return sizes;
}

TEST(EveryShapeFull, ClosedShapesAtThreeSizes) {
  for (const shapes::ShapeInfo& info : shapes::shapeCatalogue()) {
    if (kOpenShapes.count(info.name)) continue;
    ASSERT_TRUE(info.closed) << info.name;
    const auto thin = kThin.find(info.name);
    const TriMesh mesh = thin != kThin.end() ? shapes::makeShape(info.name, thin->second.values)
                                             : shapes::makeShape(info.name);
    const sdf::MeshField exact(mesh);
    heading(info.name, mesh, exact);
    EXPECT_EQ(exact.sign().rule, sdf::SignRule::PseudoNormal) << info.name;
    for (const Size& size : sizesOf(mesh, thin != kThin.end() ? thin->second.wall : 0))
      check(info.name, mesh, exact, size, true, Walls::Known);
  }
}

// The field says why it takes the winding number; there is nothing to fill.
TEST(EveryShapeFull, SheetsAreRefused) {
  const std::pair<std::string, TriMesh> sheets[] = {
      {"cloth", shapes::makeShape("cloth")},
      {"noisy-sheet, open", shapes::makeShape("noisy-sheet", {{"closed", "0"}})}};
  for (const auto& [name, mesh] : sheets) {
    SCOPED_TRACE(name);
    const sdf::MeshField exact(mesh);
    heading(name, mesh, exact);
    EXPECT_EQ(exact.sign().rule, sdf::SignRule::Winding);
    EXPECT_GT(exact.sign().openEdges, 0u);
    for (const Size& size : sizesOf(mesh, 0)) {
      FillReport filled;
      std::string answer = "nothing is inside";
      try {
        EXPECT_EQ(fill(exact, {.edge = size.edge}, filled).tets.size(), 0u);
      } catch (const Error& refused) {
        EXPECT_EQ(refused.kind(), ErrorKind::Geometry);
        answer = refused.what();
      }
      std::printf("  edge %-9.3g | %s\n", size.edge, answer.c_str());
    }
  }
}

// All that is inside the outermost turn is solid.
TEST(EveryShapeFull, AScrollIsARoll) {
  const TriMesh mesh = shapes::makeShape("scroll", {{"n", "40"}});
  const sdf::MeshField exact(mesh);
  heading("scroll", mesh, exact);
  EXPECT_EQ(exact.sign().rule, sdf::SignRule::Winding);
  const double longest = boundsOf(mesh.positions).extent().maxCoeff();
  for (const double n : {12.0, 16.0, 24.0}) {
    SCOPED_TRACE(n);
    FillReport filled;
    const geometry::TetMesh tets = fill(exact, {.edge = longest / n}, filled);
    ASSERT_FALSE(tets.tets.empty());
    expectClosed(geometry::meshReport(geometry::MeshView(geometry::boundarySurface(tets).surface)));
    EXPECT_TRUE(geometry::tetReport(tets).sound());
    EXPECT_GE(filled.smallestAngle, kFillSmallestAngle);
    EXPECT_LE(filled.largestAngle, kFillLargestAngle);
    std::printf("  edge %-9.3g | tets %zu, %.2f to %.2f deg, %llu of %llu crossings are jumps\n", longest / n,
                tets.tets.size(), filled.smallestAngle, filled.largestAngle,
                static_cast<unsigned long long>(filled.jumps),
                static_cast<unsigned long long>(filled.crossed));
  }
}

TEST(EveryShapeFull, PublicMeshesAtThreeSizes) {
  const std::filesystem::path folder = sharedData() / "meshes";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& file : files) {
    const std::string name = file.stem().string();
    const TriMesh mesh = geometry::toTriMesh(meshio::readMesh(file).surface);
    const sdf::MeshField exact(mesh);
    heading(name, mesh, exact);
    const bool closed = geometry::meshReport(geometry::MeshView(mesh)).watertight;
    if (!closed) {
      EXPECT_EQ(exact.sign().rule, sdf::SignRule::Winding) << name;
      EXPECT_GT(exact.sign().openEdges, 0u) << name;
    }
    for (const Size& size : sizesOf(mesh, 0)) check(name, mesh, exact, size, closed, Walls::Any);
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace sunder::tet
