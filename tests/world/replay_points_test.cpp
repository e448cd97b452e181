// Replaying compares the particles of liquids and their values too; a run goes on from an earlier checkpoint.
#include "sunder/base/error.h"
#include "sunder/record/run_reader.h"
#include "sunder/record/run_writer.h"
#include "sunder/world/run/runner.h"

#include "temporary_folder.h"

#include <gtest/gtest.h>

namespace sunder::world {
namespace {

const char* kPuddle = R"({
  "world": {"frames": 8, "timeStep": "1/120 s"},
  "bodies": [{"id": "ground", "shape": {"plane": {}}, "kind": "static"}],
  "fluid": {"radius": "4 cm", "tank": {"lower": [0, 0, 0], "upper": [0.5, 0.6, 0.5]}, "liquids": [
    {"id": "water", "blocks": [{"lower": [0, 0, 0], "upper": [0.3, 0.3, 0.3]}]}]},
  "recording": {"checkpointFrames": 3}
})";

RunResult puddleTo(const std::filesystem::path& file, std::optional<uint64_t> from = {}) {
  RunOptions options;
  options.file = file;
  options.program = "test";
  options.resume = from.has_value();
  options.from = from;
  return runScene(readScene(SceneDocument::parse(kPuddle, "puddle.json", ".", {})), options);
}

// The same recording with frame 5 as `change` leaves it, and without checkpoints.
void copyChanged(const std::filesystem::path& from, const std::filesystem::path& to,
                 const std::function<void(std::vector<record::BodyPoints>&)>& change) {
  const record::RunReader run(from);
  record::RunWriter writer(to, run.info());
  for (size_t m = 0; m < run.meshCount(); ++m) writer.addMesh(run.mesh(m));
  for (const record::BodyEntry& body : run.bodies()) writer.addBody(body);
  record::Frame frame;
  for (size_t i = 0; i < run.frameCount(); ++i) {
    run.readFrame(i, frame);
    if (frame.number == 5) change(frame.points);
    writer.frame(frame.number, frame.time, frame.bodies, frame.fields, {}, {}, frame.points);
  }
  writer.finish(*run.end());
}

TEST(ReplayOfPoints, NamesTheFirstPointThatDiffers) {
  const TemporaryFolder folder;
  puddleTo(folder / "run.sunder");
  const ReplayResult same = replay(record::RunReader(folder / "run.sunder"));
  EXPECT_FALSE(same.difference) << same.difference->what;
  EXPECT_EQ(same.frames, 9u);

  const auto differenceOf = [&](const std::function<void(std::vector<record::BodyPoints>&)>& change) {
    copyChanged(folder / "run.sunder", folder / "changed.sunder", change);
    const ReplayResult result = replay(record::RunReader(folder / "changed.sunder"));
    EXPECT_EQ(result.frames, result.difference ? 5u : 9u);
    return result.difference.value_or(ReplayDifference{});
  };
  EXPECT_EQ(differenceOf([](auto&) {}).what, "") << "the copy is the same";
  const auto moved =
      differenceOf([](auto& points) { points.at(0).positions.at(3).x() += points[0].resolution; });
  EXPECT_EQ(moved.frame, 5u);
  EXPECT_EQ(moved.body, "water");
  EXPECT_EQ(moved.what, "has point 3 at another place");
  EXPECT_GT(moved.distance, 0);
  const auto valued = differenceOf([](auto& points) { points.at(0).fields.at(0).values.at(7) += 1; });
  EXPECT_EQ(valued.what, "has other values of 'velocity'");
  const auto fewer = differenceOf([](auto& points) {
    points.at(0).positions.pop_back();
    for (record::PointField& field : points[0].fields)
      field.values.resize(field.components * points[0].positions.size());
  });
  EXPECT_NE(fewer.what.find("points instead of"), std::string::npos) << fewer.what;
  const auto none = differenceOf([](auto& points) { points.clear(); });
  EXPECT_EQ(none.what, "has points in one of the two only");
}

TEST(RunFromAnEarlierFrame, GivesTheSameRunAgain) {
  const TemporaryFolder folder;
  const RunResult whole = puddleTo(folder / "run.sunder");
  const RunResult branch = puddleTo(folder / "run.sunder", 5);
  EXPECT_EQ(branch.resumed, 3u);
  EXPECT_EQ(branch.hash, whole.hash);
  EXPECT_TRUE(branch.notes.empty());
  const record::RunReader run(folder / "run.sunder");
  EXPECT_EQ(run.frameCount(), 9u);
  EXPECT_EQ(run.branches().size(), 2u);
  EXPECT_FALSE(replay(run).difference);
  const record::RunReader before(folder / "run.sunder", run.branches()[0].end);
  for (size_t i = 0; i < 9; ++i) EXPECT_EQ(run.readQuantised(i).points, before.readQuantised(i).points);
}

}  // namespace
}  // namespace sunder::world
