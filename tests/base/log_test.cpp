#include "sunder/base/log.h"

#include <gtest/gtest.h>

namespace sunder {

namespace {

class Log : public ::testing::Test {
 protected:
  void TearDown() override { setLogLevel(LogLevel::Info); }
};

template <class Function>
std::string stderrOf(Function function) {
  testing::internal::CaptureStderr();
  function();
  return testing::internal::GetCapturedStderr();
}

}  // namespace

TEST_F(Log, PlainLinesWithoutColoursInAFile) {
  setLogLevel(LogLevel::Debug);
  EXPECT_EQ(stderrOf([] {
              logDebug("d {}", 1);
              logInfo("{} bodies", 3);
              logWarn("{}% {{}} %v", 50);
              logError("no {}", std::string("file"));
            }),
            "sunder: debug: d 1\nsunder: 3 bodies\nsunder: warning: 50% {} %v\nsunder: error: no file\n");
}

TEST_F(Log, LevelsHideWhatIsBelow) {
  EXPECT_EQ(logLevel(), LogLevel::Info);
  EXPECT_EQ(stderrOf([] { logDebug("hidden"); }), "");
  setLogLevel(LogLevel::Error);
  EXPECT_EQ(logLevel(), LogLevel::Error);
  EXPECT_EQ(stderrOf([] {
              logInfo("hidden");
              logWarn("hidden");
              logError("shown");
            }),
            "sunder: error: shown\n");
  setLogLevel(LogLevel::Off);
  EXPECT_EQ(logLevel(), LogLevel::Off);
  EXPECT_EQ(stderrOf([] { logError("hidden"); }), "");
}

}  // namespace sunder
