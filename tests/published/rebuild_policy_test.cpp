#include "bench/published/rebuild_policy.h"

#include "sunder/base/error.h"

#include <cmath>
#include <limits>
#include <map>

#include <gtest/gtest.h>

namespace sunder::published {
namespace {

constexpr uint32_t kLeaves = 1000;

// A body whose trees cost so many tests when fresh and decay by a factor each frame.
struct Body {
  double morton = 40 * kLeaves, selection = 22 * kLeaves, decay = 1.0;
  double now = 0;
  double after(TreeAction action) {
    if (action == TreeAction::Rebuild) return now = morton;
    if (action == TreeAction::Reorder) return now = selection;
    return now *= decay;
  }
};

struct PolicyOutcome {
  std::map<TreeAction, int> actions;
  double cost = 0;  // in box tests
};

PolicyOutcome simulate(Body body, int frames, const RebuildSettings& settings) {
  RebuildPolicy policy(settings);
  PolicyOutcome outcome;
  for (int f = 0; f < frames; ++f) {
    const TreeAction action = policy.next();
    ++outcome.actions[action];
    const double price = action == TreeAction::Refit     ? settings.refitPrice
                         : action == TreeAction::Rebuild ? settings.rebuildPrice
                                                         : settings.reorderPrice;
    const double tests = body.after(action);
    outcome.cost += price * kLeaves + tests;
    policy.measured(action, tests, kLeaves);
  }
  return outcome;
}

// Cost of doing the same thing every `period` frames and refitting in between.
double periodic(Body body, int frames, TreeAction what, int period, const RebuildSettings& settings) {
  double cost = 0;
  for (int f = 0; f < frames; ++f) {
    const TreeAction action = f % period == 0 ? what : TreeAction::Refit;
    const double price = action == TreeAction::Refit     ? settings.refitPrice
                         : action == TreeAction::Rebuild ? settings.rebuildPrice
                                                         : settings.reorderPrice;
    cost += price * kLeaves + body.after(action);
  }
  return cost;
}

TEST(RebuildPolicy, StillBodyIsOrderedOnceAndThenRefitted) {
  const PolicyOutcome outcome = simulate({}, 1000, {});
  EXPECT_EQ(outcome.actions.at(TreeAction::Rebuild), 1);
  EXPECT_EQ(outcome.actions.at(TreeAction::Reorder), 1);
  EXPECT_EQ(outcome.actions.at(TreeAction::Refit), 998);
}

TEST(RebuildPolicy, NeverFarFromTheBestPeriod) {
  const RebuildSettings settings;
  for (double decay : {1.0, 1.001, 1.01, 1.03, 1.1, 1.3, 2.0})
    for (double selection : {15.0, 22.0, 39.0}) {
      Body body;
      body.decay = decay;
      body.selection = selection * kLeaves;
      double best = std::numeric_limits<double>::infinity();
      for (const TreeAction what : {TreeAction::Rebuild, TreeAction::Reorder})
        for (int period = 1; period <= 600; ++period)
          best = std::min(best, periodic(body, 600, what, period, settings));
      const PolicyOutcome outcome = simulate(body, 600, settings);
      EXPECT_LT(outcome.cost, 1.65 * best) << "decay " << decay << ", selection " << selection;
    }
}

TEST(RebuildPolicy, FastDecayIsRebuiltOften) {
  Body body;
  body.decay = 1.5;
  const PolicyOutcome outcome = simulate(body, 300, {});
  EXPECT_GT(outcome.actions.at(TreeAction::Rebuild), 60);
}

TEST(RebuildPolicy, ThresholdRule) {
  RebuildSettings settings;
  settings.rule = RebuildSettings::Rule::Threshold;
  settings.reorderInterval = 50;
  Body body;
  body.decay = 1.05;
  const PolicyOutcome outcome = simulate(body, 500, settings);
  // 1.05^6 is the first power above 1.3: a new tree every seventh frame, now and then ordered right after.
  EXPECT_NEAR(outcome.actions.at(TreeAction::Rebuild), 500 / 7, 3);
  EXPECT_GE(outcome.actions.at(TreeAction::Reorder), 5);
  EXPECT_LE(outcome.actions.at(TreeAction::Reorder), 10);
}

TEST(RebuildPolicy, ResetStartsAgainAndNonsenseIsRefused) {
  RebuildPolicy policy;
  EXPECT_EQ(policy.next(), TreeAction::Rebuild);
  policy.measured(TreeAction::Rebuild, 100, 10);
  EXPECT_EQ(policy.next(), TreeAction::Refit);
  policy.reset();
  EXPECT_EQ(policy.next(), TreeAction::Rebuild);
  EXPECT_THROW(policy.measured(TreeAction::Refit, -1, 10), Error);
  EXPECT_THROW(policy.measured(TreeAction::Refit, std::nan(""), 10), Error);
}

}  // namespace
}  // namespace sunder::published
