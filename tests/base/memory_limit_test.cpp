// How much memory a job may take.
#include "sunder/base/memory_limit.h"

#include "sunder/base/error.h"

#include "temporary_folder.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace sunder {
namespace {

namespace fs = std::filesystem;

// A system made of files.
class MemoryRoomTest : public testing::Test {
 protected:
  void SetUp() override {
    write("proc/meminfo", "MemTotal:  99999 kB\nMemAvailable:   8000 kB\nBuffers: 1 kB\n");
  }

  void write(const fs::path& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  TemporaryFolder folder_;
  fs::path root_ = folder_ / "";
};

TEST_F(MemoryRoomTest, IsWhatTheSystemHasAvailable) {
  EXPECT_EQ(memoryRoom(root_).bytes, 8000u * 1024);
  EXPECT_EQ(memoryRoom(root_).by, "available memory");
}

TEST_F(MemoryRoomTest, IsWhatTheControlGroupLeaves) {
  write("proc/self/cgroup", "0::/jobs/mine\n");
  write("sys/fs/cgroup/jobs/mine/memory.max", "max\n");
  EXPECT_EQ(memoryRoom(root_).bytes, 8000u * 1024);
  write("sys/fs/cgroup/jobs/memory.max", "5000000\n");  // the group around it
  write("sys/fs/cgroup/jobs/memory.current", "2000000\n");
  EXPECT_EQ(memoryRoom(root_).bytes, 3000000u);
  EXPECT_EQ(memoryRoom(root_).by, "the control group");
  write("sys/fs/cgroup/jobs/memory.stat", "anon 5\ninactive_file 500000\n");
  EXPECT_EQ(memoryRoom(root_).bytes, 3500000u);
}

TEST_F(MemoryRoomTest, IsWhatTheControlGroupOfVersion1Leaves) {
  write("proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/a\n");
  write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(memoryRoom(root_).by, "available memory");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "4000000\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "1000000\n");
  EXPECT_EQ(memoryRoom(root_).bytes, 3000000u);
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "9000000\n");  // over its limit
  EXPECT_EQ(memoryRoom(root_).bytes, 0u);
}

TEST(MemoryLimit, IsFourFifthsOfTheRoomUnlessABudgetSaysOtherwise) {
  const double room = double(memoryRoom().bytes);
  EXPECT_NEAR(double(memoryLimit()), 0.8 * room, 0.1 * room);  // others take and give back memory meanwhile
  {
    const MemoryBudget budget(12345);
    EXPECT_EQ(memoryLimit(), 12345u);
    const MemoryBudget none(0);
    EXPECT_EQ(memoryLimit(), 12345u);
  }
  EXPECT_GT(memoryLimit(), 12345u);
}

TEST(MemoryLimit, AmountsAreReadWithTheirUnits) {
  EXPECT_EQ(parseBytes("2GB"), 2000000000u);
  EXPECT_EQ(parseBytes("500 MB"), 500000000u);
  EXPECT_EQ(parseBytes("1.5gib"), 1610612736u);
  EXPECT_EQ(parseBytes("4096"), 4096u);
  for (const char* bad : {"", "GB", "2 G", "-1MB", "0", "1e30 TB", "nan"})
    EXPECT_THROW(parseBytes(bad), Error) << bad;
}

TEST(MemoryLimit, AmountsAreWritten) {
  EXPECT_EQ(bytesWords(8040), "8040 bytes");
  EXPECT_EQ(bytesWords(650e3), "650 kB");
  EXPECT_EQ(bytesWords(12.34e6), "12.3 MB");
  EXPECT_EQ(bytesWords(1.8e9), "1.8 GB");
  EXPECT_EQ(bytesWords(250e9), "250 GB");
}

}  // namespace
}  // namespace sunder
