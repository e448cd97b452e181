#include "sunder/tet/solid_fill.h"

#include "sunder/base/error.h"
#include "sunder/geometry/mass_properties.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/meshio/mesh_file.h"
#include "sunder/shapes/catalogue.h"
#include "sunder/tet/stuffing.h"
#include "sunder/tet/tet_report.h"

#include "folders.h"

#include <filesystem>
#include <regex>

#include <gtest/gtest.h>

namespace sunder::tet {

namespace {

struct SolidCase {
  explicit SolidCase(geometry::TriMesh m) : mesh(std::move(m)), field(mesh) {}

  geometry::TetMesh filled(double edge) const {
    FillReport report;
    return fill(field, {.edge = edge, .sharp = true}, report);
  }
  Filling filling() const {
    return [this](double edge) { return filled(edge); };
  }
  double offBy(double edge) const {
    return geometry::totalVolume(filled(edge)) / std::abs(geometry::massProperties(mesh).volume) - 1;
  }

  geometry::TriMesh mesh;
  sdf::MeshField field;
};

// Refused with this edge, and the edge that the message names does: no more than 2 % off, in one part.
void expectTheNamedEdgeDoes(const SolidCase& solid, double edge) {
  const SolidSize size = solidSize(solid.field, solid.mesh, edge);
  try {
    fillSolid(solid.filling(), size, edge);
    FAIL() << "filled with " << edge << ", off by " << solid.offBy(edge);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Geometry);
    EXPECT_NE(error.message().find("lose"), std::string::npos) << error.what();
    std::smatch found;
    ASSERT_TRUE(std::regex_search(error.hint(), found, std::regex("an edge of ([0-9.e-]+) m would do")))
        << error.what();
    const double named = std::stod(found[1]);
    EXPECT_LT(named, edge);
    EXPECT_LE(std::abs(solid.offBy(named)), kMostVolumeOff) << error.what();
    EXPECT_EQ(tetAdjacency(solid.filled(named)).components, 1u) << error.what();
    EXPECT_EQ(fillSolid(solid.filling(), size, edge, true).edge, named) << "the same edge is taken";
  }
}

}  // namespace

TEST(SolidFill, KeepsAFillingThatHasTheVolume) {
  const SolidCase box(shapes::makeShape("box"));
  const SolidFill made = fillSolid(box.filling(), solidSize(box.field, box.mesh, 0.2), 0.2);
  EXPECT_EQ(made.edge, 0.2);
  EXPECT_NEAR(made.volume, 1, kMostVolumeOff);
  EXPECT_EQ(made.mesh.tets.size(), box.filled(0.2).tets.size());
}

TEST(SolidFill, ABowlThatLosesItsWallIsRefusedWithAnEdgeThatDoes) {
  expectTheNamedEdgeDoes(SolidCase(shapes::makeShape("bowl")), 0.01);
}

TEST(SolidFill, ABodyThatVanishesIsRefusedToo) {
  const SolidCase torus(shapes::makeShape("torus"));
  expectTheNamedEdgeDoes(torus, 5);
}

TEST(SolidFill, MeshesWithoutADefiniteVolumeAreMeasuredByTheirField) {
  // Two boxes that overlap: triangles count the overlap twice.
  geometry::TriMesh two = shapes::makeShape("box");
  const auto count = static_cast<uint32_t>(two.positions.size());
  const geometry::TriMesh one = two;
  for (const Vec3& p : one.positions) two.positions.push_back(p + Vec3(0.5, 0, 0));
  for (const geometry::Triangle& t : one.triangles)
    two.triangles.push_back({t[0] + count, t[1] + count, t[2] + count});
  const sdf::MeshField field(two);
  EXPECT_NEAR(geometry::massProperties(two).volume, 2, 1e-9);
  EXPECT_NEAR(solidSize(field, two, 0.1).volume, 1.5, 0.03);
}

TEST(SolidFill, TrialsEnd) {
  // Nothing that this filling does keeps the volume.
  size_t fillings = 0;
  const Filling never = [&](double) {
    ++fillings;
    return geometry::TetMesh{};
  };
  EXPECT_FALSE(edgeThatKeeps(never, {1.0, 1}, 1.0, 0, 1000));
  EXPECT_LE(fillings, 8u) << "edges of a half to a 256th";
  try {
    fillSolid(never, {1.0, 1}, 1.0);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("too thin"), std::string::npos) << error.what();
  }
}

TEST(SolidFillFull, WineGlassesAndRockerArms) {
  expectTheNamedEdgeDoes(SolidCase(shapes::makeShape("wine-glass")), 0.003);
  const std::filesystem::path arm = sharedData() / "meshes/rocker-arm.obj";
  if (!std::filesystem::exists(arm)) GTEST_SKIP() << "no rocker-arm.obj in the shared data";
  const SolidCase rocker(geometry::toTriMesh(meshio::readMesh(arm).surface));
  expectTheNamedEdgeDoes(rocker, geometry::bounds(rocker.mesh.positions).extent().maxCoeff() / 12);
}

}  // namespace sunder::tet
