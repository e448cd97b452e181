#include "sunder/show/run_summary.h"

#include "sunder/record/run_writer.h"

#include "temporary_folder.h"

#include <gtest/gtest.h>

namespace sunder::show {
namespace {

// A square at y = -2 and a triangle that flies above it.
RunSummary summaryWith(std::optional<bool> ground, double lean = 0) {
  const TemporaryFolder folder;
  {
    record::RunWriter writer(folder / "run.sunder", {"sunder test", "scene", "{}", 60});
    writer.addMesh(
        {"square", {{-9, 0, -9}, {-9, 0, 9}, {9, 0, 9}, {9, 0, -9}}, {{0, 1, 2}, {0, 2, 3}}, {}, {}});
    writer.addMesh({"flyer", {{0, 0, 0}, {0, 0, 1}, {1, 0, 0}}, {{0, 1, 2}}, {}, {}});
    writer.addBody({"flyer", kNoIndex, "", 1, 1, record::BodyKind::Dynamic, 0, false});
    writer.addBody({"square", kNoIndex, "", 0, 0, record::BodyKind::Static, 0, ground});
    std::vector<record::BodyState> states(2);
    for (record::BodyState& s : states) s.present = true;
    states[1].position = Vec3f(0, -2, 0);
    states[1].rotation = record::Quatf(Eigen::AngleAxisf(float(lean), Vec3f::UnitX()));
    writer.frame(0, 0, states, {}, {}, {});
    writer.finish({record::EndKind::Finished, "", 1, "{}"});
  }
  return summarise(record::RunReader(folder / "run.sunder"));
}

TEST(RunSummary, TheGroundIsWhatTheRecordingSays) {
  EXPECT_EQ(summaryWith(true).groundBodies, std::vector<uint32_t>{1});
  EXPECT_EQ(summaryWith(true).ground, -2.0);
  EXPECT_TRUE(summaryWith(false).groundBodies.empty()) << "a square that is said to be none";
  EXPECT_TRUE(summaryWith(true, 0.5).groundBodies.empty()) << "a plane that leans is shown as a square";
}

TEST(RunSummary, RecordingsThatDoNotSayHaveASquareForGround) {
  EXPECT_EQ(summaryWith(std::nullopt).groundBodies, std::vector<uint32_t>{1});
  EXPECT_TRUE(summaryWith(std::nullopt, 0.5).groundBodies.empty());
}

}  // namespace
}  // namespace sunder::show
