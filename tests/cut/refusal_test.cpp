// What cutting refuses, and that it names the faces.
#include "sunder/base/error.h"

#include "cut/cut_shapes.h"

#include <limits>

namespace sunder::cut {

namespace {

using namespace testing;

// The message of the error that a cut ends in; empty where it does not.
std::string refusal(const PolygonSoup& mesh, const PolygonSoup& cutter, const CutOptions& options = {}) {
  try {
    cut(mesh, cutter, options);
  } catch (const Error& e) {
    EXPECT_EQ(exitCode(e.kind()), 2);
    return e.what();
  }
  return "";
}

void expectSays(const std::string& text, const std::vector<std::string>& words) {
  for (const std::string& w : words)
    EXPECT_NE(text.find(w), std::string::npos) << '"' << text << "\" lacks " << w;
}

PolygonSoup withoutFace(const PolygonSoup& soup, size_t face) {
  PolygonSoup out;
  out.positions = soup.positions;
  for (size_t f = 0; f < soup.faceCount(); ++f)
    if (f != face) out.addFace(soup.face(f));
  return out;
}

TEST(CutRefusal, OpenWhereClosedIsNeeded) {
  const PolygonSoup open = withoutFace(unitCube(), 1), other = moved(unitCube(), {0.5, 0.5, 0.5});
  for (const Op op : {Op::Union, Op::Intersection, Op::Difference, Op::SymmetricDifference}) {
    expectSays(refusal(open, other, {.op = op}), {"the mesh is open", "face"});
    expectSays(refusal(other, open, {.op = op}), {"the cutter is open", "face"});
  }
  EXPECT_EQ(refusal(open, other), "");
}

TEST(CutRefusal, NonFiniteAndHugeCoordinates) {
  PolygonSoup bad = unitCube();
  bad.positions[5].y() = std::numeric_limits<double>::quiet_NaN();
  expectSays(refusal(bad, unitCube()), {"the mesh", "vertex 5", "finite"});
  bad.positions[5].y() = std::numeric_limits<double>::infinity();
  expectSays(refusal(unitCube(), bad), {"the cutter", "vertex 5"});
  bad.positions[5].y() = -1e40;
  expectSays(refusal(unitCube(), bad), {"the cutter", "vertex 5"});
}

TEST(CutRefusal, NonManifoldEdges) {
  PolygonSoup fin = unitCube();
  fin.positions.push_back({3, 3, 3});
  fin.addFace(std::vector<uint32_t>{0, 1, 8});
  expectSays(refusal(fin, unitCube()), {"edge 0-1", "3 faces", "6"});
  PolygonSoup flipped = withoutFace(unitCube(), 2);
  const PolygonSoup cube = unitCube();
  std::vector<uint32_t> ring(cube.face(2).begin(), cube.face(2).end());
  std::reverse(ring.begin(), ring.end());
  flipped.addFace(ring);
  expectSays(refusal(flipped, unitCube()), {"same direction", "edge"});
  PolygonSoup twice = unitCube();
  twice.addFace(std::vector<uint32_t>(twice.face(3).begin(), twice.face(3).end()));
  expectSays(refusal(unitCube(), twice), {"the cutter", "edge", "faces"});
}

TEST(CutRefusal, BrokenFaces) {
  PolygonSoup repeated = unitCube();
  repeated.addFace(std::vector<uint32_t>{1, 1, 2});
  expectSays(refusal(repeated, unitCube()), {"face 6", "more than once"});
  PolygonSoup two = unitCube();
  two.addFace(std::vector<uint32_t>{1, 2});
  expectSays(refusal(two, unitCube()), {"face 6", "three corners"});
  PolygonSoup dangling = unitCube();
  dangling.addFace(std::vector<uint32_t>{1, 2, 99});
  EXPECT_NE(refusal(dangling, unitCube()), "");
  expectSays(refusal(PolygonSoup(), unitCube()), {"the mesh", "no faces"});
}

TEST(CutRefusal, InsideOut) {
  expectSays(refusal(turnedOver(unitCube()), moved(unitCube(), {0.5, 0.2, 0.1})), {"the mesh", "inside out"});
  expectSays(refusal(unitCube(), turnedOver(moved(unitCube(), {0.5, 0.2, 0.1}))),
             {"the cutter", "inside out"});
}

TEST(CutRefusal, SelfIntersectionIsNamed) {
  const PolygonSoup tool = box({0.6, 0.6, 0.6}, {0.8, 3, 0.8});
  // Two cubes of one mesh that overlap; the last three with faces in common planes, and edges that meet.
  for (const Vec3& shift : {Vec3(0.5, 0.4, 0.3), Vec3(0, 0, 0.5), Vec3(0.5, 0.5, 0), Vec3(0.5, 0.5, 0.5)}) {
    const PolygonSoup two = together({unitCube(), moved(unitCube(), shift)});
    expectSays(refusal(two, tool, {.checkInput = true}), {"the mesh crosses itself", " and "});
  }
  const PolygonSoup two = together({unitCube(), moved(unitCube(), {0.5, 0.4, 0.3})});
  expectSays(refusal(two, tool, {.op = Op::Difference}), {"the mesh crosses itself", " and "});
  EXPECT_EQ(refusal(unitCube(), tool, {.checkInput = true}), "");
}

// Face on face, edge on edge, corner on corner, edge on face.
TEST(CutRefusal, TouchingIsNoCrossing) {
  const PolygonSoup tool = box({0.6, 0.6, 0.6}, {0.8, 3, 0.8});
  for (const Vec3& shift : {Vec3(0, 0, 1), Vec3(0.5, 0, 1), Vec3(0, 1, 1), Vec3(1, 1, 1), Vec3(1, 0.3, 0.4)})
    EXPECT_EQ(refusal(together({unitCube(), moved(unitCube(), shift)}), tool, {.checkInput = true}), "")
        << shift.transpose();
  const PolygonSoup slanted =
      moved(moved(unitCube(), {-0.5, -0.5, -0.5}, Quat(Eigen::AngleAxisd(kPi / 4, Vec3::UnitX()))),
            {0.5, 0.5, 1 + std::sqrt(0.5)});
  EXPECT_EQ(refusal(together({unitCube(), slanted}), tool, {.checkInput = true}), "");
}

TEST(CutRefusal, MixedScalesAreExact) {
  // A tiny cube at the corner of a huge one, and far from the origin.
  for (const double scale : {1e-12, 1e-3, 1e3, 1e12}) {
    PolygonSoup small = moved(unitCube(), {-0.5, -0.5, -0.5});
    for (Vec3& p : small.positions) p *= scale;
    const CutResult r =
        cut(small, box({0, 0, 0}, {1e15, 1e15, 1e15}), {.op = Op::Intersection, .keepEmpty = true});
    expectSound(r);
    ASSERT_EQ(r.fragments, 1u);
    EXPECT_NEAR(r.volume[0] / (scale * scale * scale), 0.125, 1e-12);
  }
}

TEST(CutRefusal, SharedVerticesOfSeveralFansAreSplit) {
  // Two cubes that touch in a vertex, as one mesh with that vertex shared.
  PolygonSoup two = unitCube();
  const PolygonSoup other = moved(unitCube(), {1, 1, 1});
  std::vector<uint32_t> map;
  for (const Vec3& p : other.positions) {
    const auto same = std::find(two.positions.begin(), two.positions.end(), p);
    map.push_back(static_cast<uint32_t>(same - two.positions.begin()));
    if (same == two.positions.end()) two.positions.push_back(p);
  }
  for (size_t f = 0; f < other.faceCount(); ++f) {
    std::vector<uint32_t> ring;
    for (const uint32_t v : other.face(f)) ring.push_back(map[v]);
    two.addFace(ring);
  }
  ASSERT_EQ(two.positions.size(), 15u);
  const CutResult r = cut(two, quad({-5, -5, 0.5}, {5, -5, 0.5}, {5, 5, 0.5}, {-5, 5, 0.5}));
  expectSound(r);
  expectVolumes(r, {0.5, 0.5, 1});
}

}  // namespace

}  // namespace sunder::cut
