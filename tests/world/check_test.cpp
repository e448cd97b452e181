// What a check says before a run.
#include "sunder/world/check.h"

#include <filesystem>

#include <gtest/gtest.h>

namespace sunder::world {
namespace {

CheckReport check(const std::string& text) {
  return checkScene(readScene(SceneDocument::parse(text, "scene.json", ".", {})));
}

std::string tiles(const std::string& fracture) {
  return R"({"world": {"frames": 30}, "bodies": [
    {"id": "a", "shape": {"box": {"size": [0.4, 0.05, 0.4]}}, "material": "plaster", "position": [0, 3, 0])" +
         fracture + R"(},
    {"id": "b", "shape": {"box": {"size": [0.4, 0.05, 0.4]}}, "material": "plaster", "position": [1, 3, 0])" +
         fracture + R"(}]})";
}

// They do not break within the first frames, and count all the same.
TEST(Check, BodiesThatMayBreakCount) {
  const CheckReport whole = check(tiles("")), brittle = check(tiles(R"(, "fracture": {})"));
  EXPECT_EQ(whole.breakable, 0u);
  EXPECT_EQ(whole.breakingSeconds, 0);
  EXPECT_EQ(brittle.breakable, 2u);
  EXPECT_GT(brittle.breakingSeconds, 1e-3);  // two analyses of some hundred tetrahedra
  EXPECT_GT(brittle.seconds, brittle.breakingSeconds);
  EXPECT_GT(brittle.memoryBytes, whole.memoryBytes);
  const CheckReport cells = check(tiles(R"(, "fracture": {"model": "voronoi", "pieces": 9})"));
  EXPECT_EQ(cells.breakable, 2u);
  EXPECT_GT(cells.breakingSeconds, 0);
}

TEST(Check, LettersTakeTime) {
  const CheckReport report =
      checkScene(readScene(std::filesystem::path(SUNDER_SOURCE_DIR) / "scenes/letters.json"));
  EXPECT_EQ(report.breakable, 6u);
  EXPECT_GT(report.breakingSeconds, 0.05);  // 0.6 s on the machine of this test
  EXPECT_FALSE(report.failed());
}

}  // namespace
}  // namespace sunder::world
