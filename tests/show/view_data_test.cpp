#include "sunder/show/view/view_data.h"

#include "sunder/base/error.h"

#include "show/particle_sample.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

namespace sunder::show {
namespace {

std::filesystem::path sampleRun(uint64_t frames) {
  const std::filesystem::path path =
      std::filesystem::path(testing::TempDir()) /
      ("view_data_" + std::to_string(::getpid()) + "_" + std::to_string(frames) + ".sunder");
  writeParticleRun(path, 10, frames);
  return path;
}

TEST(ViewData, FramesThatAreNotThereAreRefused) {
  const std::filesystem::path path = sampleRun(4);
  ViewData data(path);
  EXPECT_EQ(data.frameCount(), 4u);
  EXPECT_EQ(data.frames(0, 3).size() - 16, 4 * (data.frames(2, 2).size() - 16));
  for (const auto& [first, last] : {std::pair<size_t, size_t>(0, 4), {3, 2}, {4, 4}, {0, SIZE_MAX}})
    EXPECT_THROW(data.frames(first, last), Error) << first << " " << last;
  EXPECT_THROW(data.mesh(99), Error);
  EXPECT_THROW(data.boxes(99, 0), Error);
  EXPECT_THROW(data.points(4), Error);
  EXPECT_THROW(data.events(4), Error);
  std::filesystem::remove(path);
}

// Somebody writes something else into the file while it is shown.
TEST(ViewData, ARunThatIsNoRunAnyMoreHasNothing) {
  const std::filesystem::path path = sampleRun(5);
  ViewData data(path);
  EXPECT_NO_THROW(data.mesh(0));
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  { std::fstream(path, std::ios::in | std::ios::out | std::ios::binary) << "something else"; }
  EXPECT_THROW(data.info(), Error);
  EXPECT_EQ(data.frameCount(), 0u);
  EXPECT_THROW(data.mesh(0), Error);
  EXPECT_THROW(data.frames(0, 1), Error);
  EXPECT_THROW(data.points(0), Error);
  EXPECT_THROW(data.boxes(0, 0), Error);
  std::filesystem::remove(path);
}

TEST(ViewData, CancelEndsACallThatIsUnderWay) {
  const std::filesystem::path path = sampleRun(200);
  ViewData data(path);
  ErrorKind kind = ErrorKind::Usage;
  std::thread reader([&] {
    try {
      while (true) data.frames(0, 199);
    } catch (const Error& e) {
      kind = e.kind();
    }
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  data.cancel();
  reader.join();
  EXPECT_EQ(kind, ErrorKind::Limit);
  EXPECT_THROW(data.frames(0, 0), Error);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace sunder::show
