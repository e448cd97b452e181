#include "sunder/tet/tet_report.h"

#include "sunder/base/error.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/meshio/mesh_file.h"
#include "sunder/sdf/mesh_field.h"
#include "sunder/shapes/catalogue.h"
#include "sunder/tet/stuffing.h"

#include "temporary_folder.h"
#include "tet/tet_cases.h"

#include <filesystem>
#include <numeric>

#include <gtest/gtest.h>

namespace sunder::tet {
namespace {

TEST(TetReport, QualityOfKnownShapes) {
  const TetQuality regular = tetQuality(regularTet());
  EXPECT_NEAR(regular.smallestAngle, 70.5288, 1e-4);
  EXPECT_NEAR(regular.largestAngle, 70.5288, 1e-4);
  EXPECT_EQ(regular.angles[14], 6u);
  EXPECT_NEAR(regular.worstRadiusEdge, std::sqrt(6.0) / 4, 1e-12);
  EXPECT_NEAR(regular.volume, 8.0 / 3, 1e-12);
  EXPECT_NEAR(regular.shortestEdge, std::sqrt(8.0), 1e-12);
  const TetQuality kuhn = tetQuality(cubes(2, true));
  EXPECT_NEAR(kuhn.smallestAngle, 45, 1e-9);
  EXPECT_NEAR(kuhn.largestAngle, 90, 1e-9);
  EXPECT_NEAR(kuhn.worstRadiusEdge, std::sqrt(3.0) / 2, 1e-12);
  EXPECT_EQ(std::accumulate(kuhn.angles.begin(), kuhn.angles.end(), uint64_t(0)), 6u * 48);
  geometry::TetMesh bad = cubes(1, false);
  std::swap(bad.tets[1][0], bad.tets[1][1]);
  bad.positions.push_back(bad.positions[0]);
  bad.tets.push_back({0, 1, 2, 8});
  EXPECT_EQ(tetQuality(bad).inverted, 1u);
  EXPECT_EQ(tetQuality(bad).flat, 1u);
  EXPECT_EQ(tetQuality({}).tets, 0u);
}

TEST(TetReport, FillOfAMeshFitsIt) {
  const geometry::TriMesh torus = shapes::makeShape("torus");
  const sdf::MeshField field(torus);
  const double size = field.bounds().extent().maxCoeff();
  double before = 1;
  for (const double edge : {size / 20, size / 40}) {
    FillReport report;
    const geometry::TetMesh mesh = fill(field, {.edge = edge, .levels = 2}, report);
    const VolumeComparison volumes = compareVolumes(mesh, torus);
    EXPECT_LT(std::abs(volumes.relative()), before / 2.5);
    before = std::abs(volumes.relative());
    const SurfaceDistance distance = boundaryDistance(mesh, torus, edge / 2);
    EXPECT_LT(distance.hausdorff(), 0.35 * edge);
    EXPECT_GT(distance.hausdorff(), 0);
    EXPECT_LE(distance.meanFromFirst, distance.fromFirst);
  }
  EXPECT_LT(before, 0.01);
}

TEST(TetReport, DistanceBetweenParallelSquares) {
  geometry::TriMesh a, b;
  a.positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  a.triangles = {{0, 1, 2}};
  b = a;
  for (Vec3& p : b.positions) p.z() += 0.25;
  b.positions[1].x() = 3;
  const SurfaceDistance d = surfaceDistance(a, b, 0.1);
  EXPECT_NEAR(d.fromFirst, 0.25, 1e-12);
  EXPECT_NEAR(d.fromSecond, std::hypot(2, 0.25), 1e-12);
  EXPECT_EQ(d.hausdorff(), d.fromSecond);
  EXPECT_THROW(surfaceDistance(a, {}, 0.1), Error);
  EXPECT_THROW(surfaceDistance(a, b, -1), Error);
}

TEST(TetReport, Adjacency) {
  geometry::TetMesh mesh = cubes(2, true);
  const TetAdjacency one = tetAdjacency(mesh);
  EXPECT_EQ(one.components, 1u);
  EXPECT_EQ(one.boundary.size(), 48u);
  for (uint32_t t = 0; t < mesh.tets.size(); ++t)
    for (size_t side = 0; side < 4; ++side) {
      const uint32_t n = one.neighbours[t][side];
      if (n == kNoIndex) {
        EXPECT_EQ(std::count(one.boundary.begin(), one.boundary.end(), TetFaceRef{t, uint8_t(side)}), 1);
      } else {
        EXPECT_EQ(std::count(one.neighbours[n].begin(), one.neighbours[n].end(), t), 1);
      }
    }
  const geometry::TetMesh other = regularTet();
  const auto base = uint32_t(mesh.positions.size());
  mesh.positions.insert(mesh.positions.end(), other.positions.begin(), other.positions.end());
  mesh.tets.push_back(
      {base + other.tets[0][0], base + other.tets[0][1], base + other.tets[0][2], base + other.tets[0][3]});
  EXPECT_EQ(tetAdjacency(mesh).components, 2u);
  EXPECT_EQ(tetAdjacency(mesh).component.back(), 1u);
}

class TetFiles : public ::testing::Test {
 protected:
  std::filesystem::path write(const geometry::TetMesh& mesh) {
    const std::filesystem::path path = folder_ / ("tets" + std::to_string(files_++) + ".vtu");
    meshio::MeshFile file;
    file.format = meshio::MeshFormat::Vtu;
    file.volume = mesh;
    meshio::writeMesh(path, file);
    return path;
  }
  TemporaryFolder folder_;
  int files_ = 0;
};

TEST_F(TetFiles, InvertedOnesAreTurnedOrRefused) {
  geometry::TetMesh mesh = cubes(2, false);
  for (const uint32_t t : {3u, 11u}) std::swap(mesh.tets[t][0], mesh.tets[t][1]);
  const auto path = write(mesh);
  TetFileReport report;
  const geometry::TetMesh read = readTetMesh(path, InvertedTets::Turn, report);
  EXPECT_EQ(report.defects.inverted, (std::vector<uint32_t>{3, 11}));
  EXPECT_EQ(report.turned, 2u);
  EXPECT_TRUE(geometry::tetReport(read).sound());
  EXPECT_NEAR(geometry::totalVolume(read), 8, 1e-12);
  try {
    readTetMesh(path, InvertedTets::Refuse, report);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(e.message().find("3, 11"), std::string::npos);
    EXPECT_FALSE(e.file().empty());
  }
}

TEST_F(TetFiles, DefectsAreNamedByIndex) {
  geometry::TetMesh mesh = cubes(1, false);
  mesh.positions.push_back(mesh.positions[2]);                                  // 8: a duplicate, unused
  mesh.positions.push_back({0.3, 0.3, 5});                                      // 9
  mesh.tets.push_back({mesh.tets[0][0], mesh.tets[0][1], mesh.tets[0][2], 9});  // a third one on a face
  mesh.tets.push_back(mesh.tets[4]);                                            // 6: a copy
  geometry::flipInverted(mesh);
  const TetDefects d = findDefects(mesh);
  EXPECT_EQ(d.duplicateVertices, (std::vector<std::array<uint32_t, 2>>{{8, 2}}));
  EXPECT_EQ(d.unusedVertices, (std::vector<uint32_t>{8}));
  EXPECT_EQ(d.duplicateTets, (std::vector<uint32_t>{6}));
  ASSERT_EQ(d.crowdedFaces.size(), 2u);  // the third on a face, and the inner face of the copied corner
  EXPECT_EQ(d.problems().size(), 4u);
  TetFileReport report;
  EXPECT_THROW(readTetMesh(write(mesh), InvertedTets::Turn, report), Error);
  EXPECT_EQ(findDefects(cubes(2, true)).problems().size(), 0u);
}

}  // namespace
}  // namespace sunder::tet
