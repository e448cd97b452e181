#include "sunder/base/profiler.h"

#include "sunder/base/json.h"

#include <chrono>
#include <functional>
#include <thread>

#include <gtest/gtest.h>

namespace sunder {

namespace {

struct FakeClock {
  double now = 0;
  std::function<double()> function() {
    return [this] { return now; };
  }
};

void step(FakeClock& clock, double seconds) {
  ProfileScope scope("step");
  {
    ProfileScope inner("detect");
    clock.now += seconds;
  }
  ProfileScope inner("solve");
  clock.now += 2 * seconds;
}

}  // namespace

TEST(Profiler, SumsCallsTimesAndLongest) {
  FakeClock clock;
  Profiler profiler(clock.function());
  {
    Profiler::Activation active(profiler);
    step(clock, 1);
    step(clock, 3);
    ProfileScope other("detect");
    clock.now += 0.5;
  }
  step(clock, 100);  // nobody listens
  ASSERT_EQ(profiler.stages().size(), 5u);
  const Profiler::Stage& whole = profiler.stages()[1];
  EXPECT_EQ(whole.name, "step");
  EXPECT_EQ(whole.calls, 2u);
  EXPECT_EQ(whole.total, 12);
  EXPECT_EQ(whole.longest, 9);
  const Profiler::Stage& solve = profiler.stages()[3];
  EXPECT_EQ(solve.name, "solve");
  EXPECT_EQ(solve.parent, 1u);
  EXPECT_EQ(solve.total, 8);
  EXPECT_EQ(profiler.stages()[4].name, "detect");
  EXPECT_EQ(profiler.stages()[4].parent, 0u);
}

TEST(Profiler, TableAndJson) {
  FakeClock clock;
  Profiler profiler(clock.function());
  {
    Profiler::Activation active(profiler);
    step(clock, 1);
  }
  EXPECT_EQ(profiler.table(),
            "stage         calls     total ms      mean ms   longest ms  share\n"
            "step              1     3000.000    3000.0000    3000.0000 100.0%\n"
            "  detect          1     1000.000    1000.0000    1000.0000  33.3%\n"
            "  solve           1     2000.000    2000.0000    2000.0000  66.7%\n");
  const Json json = profiler.json();
  ASSERT_EQ(json.size(), 1u);
  EXPECT_EQ(json[0]["name"], "step");
  EXPECT_EQ(json[0]["children"][1]["name"], "solve");
  EXPECT_EQ(json[0]["children"][1]["total"], 2.0);
  EXPECT_EQ(json[0]["children"][0]["children"].size(), 0u);
  profiler.clear();
  EXPECT_EQ(profiler.stages().size(), 1u);
  EXPECT_EQ(profiler.json().text(), "[]");
}

TEST(Profiler, ActivationsNestAndBelongToTheirThread) {
  Profiler outer, inner;
  EXPECT_EQ(Profiler::active(), nullptr);
  {
    Profiler::Activation a(outer);
    {
      Profiler::Activation b(inner);
      EXPECT_EQ(Profiler::active(), &inner);
      Profiler* elsewhere = &outer;
      std::thread([&] { elsewhere = Profiler::active(); }).join();
      EXPECT_EQ(elsewhere, nullptr);
    }
    EXPECT_EQ(Profiler::active(), &outer);
  }
  EXPECT_EQ(Profiler::active(), nullptr);
}

TEST(Profiler, MeasuresRealTime) {
  Profiler profiler;
  {
    Profiler::Activation active(profiler);
    ProfileScope scope("sleep");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_GE(profiler.stages()[1].total, 0.005);
  EXPECT_LT(profiler.stages()[1].total, 5);
}

TEST(Profiler, AnExceptionLeavesTheStage) {
  Profiler profiler;
  Profiler::Activation active(profiler);
  try {
    ProfileScope scope("bad");
    throw 1;
  } catch (int) {
  }
  ProfileScope after("after");
  EXPECT_EQ(profiler.stages()[2].parent, 0u);
}

}  // namespace sunder
