#include "sunder/base/work.h"

#include "sunder/base/log.h"
#include "sunder/base/parallel.h"
#include "sunder/base/stop.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace sunder {

namespace {

// A terminal whose clock the test sets; the watch writes to it from its own thread.
struct WatchedTerminal {
  std::mutex mutex;
  std::string text;
  std::atomic<double> now{100};

  ProgressOutput output(bool terminal = true, size_t columns = 200) {
    ProgressOutput result;
    result.terminal = terminal;
    result.columns = columns;
    result.seconds = [this] { return now.load(); };
    result.write = [this](std::string_view t) {
      const std::lock_guard lock(mutex);
      text += t;
    };
    return result;
  }
  std::string written() {
    const std::lock_guard lock(mutex);
    return text;
  }
};

}  // namespace

TEST(Work, LineOfWorkWithAnEndHasShareRateAndTimeLeft) {
  WatchedTerminal fake;
  const WorkWatch watch(fake.output());
  Work work("filling", 1000, "blocks");
  work.step(400);
  fake.now = 104;
  EXPECT_EQ(watch.line(), "filling  40%  400/1000 blocks  100 blocks/s  6.0 s left  4.0 s");
}

TEST(Work, IsShownWhereTheProgressThatHasTheLineIsSilent) {
  WatchedTerminal fake;
  WorkWatch watch(fake.output());
  Progress progress("run", 10, "frames", fake.output());
  const Work work("frame 4");
  fake.now = 100.5;
  progress.set(3);
  fake.now = 101.4;
  watch.draw();
  EXPECT_EQ(fake.written().find("frame 4"), std::string::npos);
  fake.now = 101.6;
  watch.draw();
  EXPECT_NE(fake.written().find("frame 4"), std::string::npos);
}

// The time left must not stand still while nothing is done.
TEST(Work, TimeLeftGrowsWhileAStepTakesLong) {
  WatchedTerminal fake;
  const WorkWatch watch(fake.output());
  Work work("filling", 1000, "blocks");
  work.step(500);
  fake.now = 101;
  EXPECT_NE(watch.line().find("1.0 s left"), std::string::npos) << watch.line();
  fake.now = 160;
  EXPECT_NE(watch.line().find("1 min 0 s left"), std::string::npos) << watch.line();
}

TEST(Work, WorkThatGrowsClaimsNoEnd) {
  WatchedTerminal fake;
  const WorkWatch watch(fake.output());
  Work work("fitting", 0, "cells");
  work.step(300);
  work.note("error 0.003, target 0.001");
  fake.now = 103;
  EXPECT_EQ(watch.line(), "fitting  300 cells  100 cells/s  error 0.003, target 0.001  3.0 s");
}

TEST(Work, OuterWorkIsNamedBeforeTheInnermost) {
  WatchedTerminal fake;
  const WorkWatch watch(fake.output());
  const Work outer("fracture");
  Work cycle("cycle", 2, "cycles");
  cycle.step();
  {
    Work inner("time steps", 20, "steps");
    inner.step(5);
    fake.now = 101;
    EXPECT_EQ(watch.line(), "fracture: cycle 2/2: time steps  25%  5/20 steps  5 steps/s  3.0 s left  1.0 s");
  }
  EXPECT_EQ(watch.line(), "fracture: cycle  50%  1/2 cycles  1 cycles/s  1.0 s left  1.0 s");
}

TEST(Work, TheWatchDrawsByItselfAndErasesItsLine) {
  WatchedTerminal fake;
  std::optional<WorkWatch> watch(std::in_place, fake.output());
  {
    const Work work("reading");
    for (int i = 0; i < 1000 && fake.written().empty(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(fake.written().substr(0, 16), "\r\x1b[Kreading  0.0");
  }
  EXPECT_TRUE(fake.written().ends_with("\r\x1b[K")) << "erased when the work ends";
  watch.reset();
}

TEST(Work, MessagesEraseTheLineFirst) {
  WatchedTerminal fake;
  WorkWatch watch(fake.output());
  const Work work("reading");
  watch.draw();
  testing::internal::CaptureStderr();
  logInfo("a message");
  testing::internal::GetCapturedStderr();
  const std::string text = fake.written();
  EXPECT_NE(text.find("\r\x1b[Kreading  0.0 s\r\x1b[K"), std::string::npos) << text;
}

TEST(Work, NothingIsShownWithoutATerminalOrFromOtherThreads) {
  WatchedTerminal fake;
  {
    WorkWatch watch(fake.output(false));
    const Work work("reading");
    watch.draw();
    EXPECT_EQ(watch.line(), "");
  }
  EXPECT_EQ(fake.written(), "");
  const WorkWatch watch(fake.output());
  std::thread([&] {
    const Work work("elsewhere");
    EXPECT_EQ(watch.line(), "");
  }).join();
}

TEST(Work, CountsFromAllThreadsAndStops) {
  Work work("counting", 100'000, "blocks");
  parallelFor(
      100'000, [&](size_t) { work.step(); }, 100);
  EXPECT_EQ(work.done(), 100'000u);
  requestStop();
  EXPECT_THROW(work.step(), Interrupted);
  clearStop();
}

}  // namespace sunder
