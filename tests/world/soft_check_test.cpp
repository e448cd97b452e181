// What a check says of soft bodies before a run, and what they are estimated to cost.
#include "sunder/base/error.h"
#include "sunder/base/file.h"
#include "sunder/world/build/cost_soft.h"
#include "sunder/world/build/ready_scene.h"
#include "sunder/world/check/check.h"

#include "temporary_folder.h"

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace sunder::world {
namespace {

// What is found, errors with a mark before them.
std::vector<std::string> findings(const std::string& text) {
  const CheckReport report =
      checkScene(readScene(SceneDocument::parse(text, "scene.json", ".")), {.depth = CheckDepth::Numbers});
  std::vector<std::string> all;
  for (const Finding& f : report.findings) all.push_back((f.error ? "error: " : "") + f.text);
  return all;
}

testing::AssertionResult finds(const std::string& text, const std::string& what) {
  std::string all;
  for (const std::string& found : findings(text)) {
    if (found.find(what) != std::string::npos) return testing::AssertionSuccess();
    all += found + "; ";
  }
  return testing::AssertionFailure() << "found: " << all;
}

// A cube of 20 cm on a floor.
std::string cube(const std::string& soft, const std::string& own = "") {
  return R"({"world": {"frames": 30}, "bodies": [{"id": "floor", "shape": {"plane": {}}, "kind": "static"},
    {"id": "cube", "shape": {"box": {"size": [0.2, 0.2, 0.2]}}, "kind": "deformable", "position": [0, 0.3, 0],
     "soft": {)" +
         soft + "}" + own + "}]}";
}

// A cage of six tetrahedra around a box of that half width, in which some are changed.
std::string cageText(double half, const std::vector<std::array<int, 4>>& more = {}, bool inverted = false) {
  std::string text = "# vtk DataFile Version 3.0\ncage\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 12 double\n";
  for (int v = 0; v < 8; ++v)
    text += fmt::format("{} {} {}\n", v & 1 ? half : -half, v & 2 ? half : -half, v & 4 ? half : -half);
  text += "5 0 0\n6 0 0\n5 1 0\n5 0 1\n";  // 8 to 11: far away
  std::vector<std::array<int, 4>> tets{{0, 1, 3, 7}, {0, 3, 2, 7}, {0, 2, 6, 7},
                                       {0, 6, 4, 7}, {0, 4, 5, 7}, {0, 5, 1, 7}};
  if (inverted) std::swap(tets[2][0], tets[2][1]);
  tets.insert(tets.end(), more.begin(), more.end());
  text += fmt::format("CELLS {} {}\n", tets.size(), 5 * tets.size());
  for (const auto& t : tets) text += fmt::format("4 {} {} {} {}\n", t[0], t[1], t[2], t[3]);
  text += fmt::format("CELL_TYPES {}\n", tets.size());
  for (size_t i = 0; i < tets.size(); ++i) text += "10\n";
  return text;
}

TEST(SoftCheck, PlainBodiesAreNotDoubted) {
  EXPECT_EQ(findings(cube(R"("young": "20 kPa")")), std::vector<std::string>());
  EXPECT_EQ(findings(cube("", R"(, "material": "rubber")")), std::vector<std::string>());
  EXPECT_EQ(findings(cube(R"("young": "20 kPa", "tear": {"strength": "30 kPa"}, "spheres": "1 cm",
      "pins": [{"lower": [-1, 0.05, -1], "upper": [1, 1, 1]}])")),
            std::vector<std::string>());
}

TEST(SoftCheck, NothingBelowIsDoubted) {
  const std::string falling = R"({"bodies": [{"id": "a", "shape": {"sphere": {"radius": 0.1}},
    "kind": "deformable", "material": "rubber"}]})";
  EXPECT_TRUE(finds(falling, "falls with nothing below"));
}

TEST(SoftCheck, CagesOfFilesAreLookedAt) {
  const TemporaryFolder folder;
  const auto with = [&](const std::string& text) {
    const std::filesystem::path file = folder / "cage.vtk";
    writeFile(file, text);
    return cube(fmt::format(R"("young": "20 kPa", "cage": "{}")", file.string()));
  };
  EXPECT_EQ(findings(with(cageText(0.11))), std::vector<std::string>());
  EXPECT_TRUE(finds(with(cageText(0.11, {}, true)), "1 tetrahedra of the cage"));
  EXPECT_TRUE(finds(with(cageText(0.11, {}, true)), "inverted and get turned, the first is number 2"));
  EXPECT_TRUE(finds(with(cageText(0.11, {{8, 9, 10, 11}})), "1 of the 7 tetrahedra of the cage"));
  EXPECT_TRUE(finds(with(cageText(0.11, {{0, 1, 3, 2}})), "error: 1 tetrahedra of the cage"));
  EXPECT_TRUE(finds(with(cageText(0.08)), "error: the cage"));
  EXPECT_TRUE(finds(with(cageText(0.08)), "0.02 m of it stick out"));
  EXPECT_TRUE(finds(with("# nothing"), "error: "));
  EXPECT_TRUE(finds(cube(R"("young": "20 kPa", "cage": "/no/such/file.vtk")"), "error: "));
}

TEST(SoftCheck, FewSpheresAreDoubted) {
  EXPECT_TRUE(finds(cube(R"("young": "20 kPa", "spheres": "4 cm")"), "too few to rest on"));
}

TEST(SoftCheck, StiffnessBeyondTheStepIsDoubted) {
  EXPECT_TRUE(finds(cube("", R"(, "material": "steel")"), "in a time step of 0.017 s"));
  EXPECT_TRUE(finds(cube("", R"(, "material": "plastic")"), "a rigid body does as well"));
}

TEST(SoftCheck, StrengthBelowTheOwnWeightIsDoubted) {
  EXPECT_TRUE(finds(cube(R"("young": "20 kPa", "tear": {"strength": "1 kPa"})"), "under its own weight"));
}

TEST(SoftCheck, PinsThatHoldNothingAreDoubted) {
  EXPECT_TRUE(finds(cube(R"("young": "20 kPa", "pins": [{"lower": [-1, 0.3, -1], "upper": [1, 1, 1]}])"),
                    "pin 1 holds nothing"));
  EXPECT_TRUE(finds(cube(R"("young": "20 kPa",
      "attach": [{"lower": [-1, 0.3, -1], "upper": [1, 1, 1], "body": "floor"}])"),
                    "glue 1 holds nothing"));
}

TEST(SoftCost, GrowsWithTetrahedraSpheresAndBodies) {
  const auto costOf = [](const std::string& text) {
    return estimateCost(readyScene(readScene(SceneDocument::parse(text, "scene.json", "."))));
  };
  const Cost few = costOf(cube(R"("young": 1e4, "tets": 100)"));
  EXPECT_EQ(few.softBodies, 1u);
  EXPECT_EQ(few.softTets, 100);
  EXPECT_EQ(few.bodies, 2u);
  const Cost many = costOf(cube(R"("young": 1e4, "tets": 10000)"));
  EXPECT_GT(many.memoryBytes, few.memoryBytes + 1e6);
  EXPECT_GT(many.stepSecondsHigh, few.stepSecondsHigh);
  EXPECT_GT(many.buildSeconds, few.buildSeconds);
  EXPECT_GT(many.recordingBytes, few.recordingBytes);
  const Cost fine = costOf(cube(R"("young": 1e4, "tets": 100, "spheres": "2 mm")"));
  EXPECT_GT(fine.memoryBytes, few.memoryBytes + 1e6);
  const std::string heap = R"({"arrays": [{"id": "h", "stack": {"count": 50, "height": 1}, "body":
    {"shape": {"sphere": {"radius": 0.1}}, "kind": "deformable", "material": "rubber", "soft": {"tets": 100}}}]})";
  const Cost heaped = costOf(heap);
  EXPECT_EQ(heaped.softBodies, 50u);
  EXPECT_EQ(heaped.softTets, 5000);
  EXPECT_LT(heaped.buildSeconds, 25 * few.buildSeconds) << "they share a cage";
}

}  // namespace
}  // namespace sunder::world
