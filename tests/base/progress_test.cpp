#include "sunder/base/progress.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace sunder {

namespace {

struct FakeTerminal {
  std::string text;
  double now = 100;
  int writes = 0;

  ProgressOutput output(bool terminal = true, size_t columns = 80) {
    ProgressOutput result;
    result.terminal = terminal;
    result.columns = columns;
    result.seconds = [this] { return now; };
    result.write = [this](std::string_view t) {
      text += t;
      ++writes;
    };
    return result;
  }
};

}  // namespace

TEST(Progress, LineShowsRateAndTimeLeft) {
  FakeTerminal fake;
  Progress progress("cutting", 1000, "steps", fake.output());
  fake.now += 4;
  progress.set(400);
  EXPECT_EQ(progress.line(), "cutting  40%  400/1000 steps  100 steps/s  6.0 s left");
  progress.note("body 7");
  EXPECT_EQ(progress.line(), "cutting  40%  400/1000 steps  100 steps/s  6.0 s left  body 7");
  EXPECT_EQ(fake.text, "\r\x1b[Kcutting  40%  400/1000 steps  100 steps/s  6.0 s left");
}

TEST(Progress, ShowsALineOfTheCaller) {
  FakeTerminal fake;
  Progress progress("run", 10, "frames", fake.output(true, 20));
  fake.now += 1;
  progress.show("frame 3/10");
  EXPECT_EQ(fake.text, "\r\x1b[Kframe 3/10");
  fake.now += 1;
  progress.show("a line that is wider than the terminal");
  EXPECT_EQ(fake.text.substr(fake.text.rfind('K') + 1), "a line that is wide") << "cut, never wrapped";
}

TEST(Progress, DrawsAtMostTenTimesASecond) {
  FakeTerminal fake;
  Progress progress("x", 0, "items", fake.output());
  for (int i = 0; i < 10'000; ++i) {
    fake.now += 0.0005;
    progress.advance();
  }
  EXPECT_GE(fake.writes, 45);
  EXPECT_LE(fake.writes, 50);
  EXPECT_EQ(progress.line(), "x  10000 items  2e+03 items/s");
}

TEST(Progress, ShortJobsAndOtherOutputsStaySilent) {
  FakeTerminal fake;
  {
    Progress quick("quick", 10, "steps", fake.output());
    quick.advance(10);
  }
  EXPECT_EQ(fake.text, "");
  {
    Progress piped("piped", 10, "steps", fake.output(false));
    fake.now += 60;
    piped.advance(10);
    piped.finish();
  }
  EXPECT_EQ(fake.text, "");
}

TEST(Progress, ErasedAtTheEndOrFinishedOnItsOwnLine) {
  FakeTerminal fake;
  auto progress = std::make_unique<Progress>("a", 2, "steps", fake.output());
  fake.now += 1;
  progress->advance();
  progress.reset();
  EXPECT_TRUE(fake.text.ends_with("\r\x1b[K"));

  fake.text.clear();
  progress = std::make_unique<Progress>("b", 2, "steps", fake.output());
  fake.now += 1;
  progress->set(2);
  progress->finish();
  progress->finish();
  progress.reset();
  EXPECT_TRUE(fake.text.ends_with("100%  2/2 steps  2 steps/s\n"));
}

TEST(Progress, NeverWiderThanTheTerminal) {
  FakeTerminal fake;
  Progress progress("a label that is rather long", 1000, "steps", fake.output(true, 20));
  fake.now += 1;
  progress.set(10);
  EXPECT_EQ(fake.text, "\r\x1b[Ka label that is rat");
}

TEST(Progress, Durations) {
  EXPECT_EQ(durationText(0.04), "0.0 s");
  EXPECT_EQ(durationText(59), "59 s");
  EXPECT_EQ(durationText(200), "3 min 20 s");
  EXPECT_EQ(durationText(7500), "2 h 5 min");
  EXPECT_EQ(durationText(1.0 / 0.0), "unknown time");
}

}  // namespace sunder
