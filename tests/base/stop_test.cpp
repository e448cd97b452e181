#include "sunder/base/stop.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"

#include <atomic>

#include <gtest/gtest.h>

namespace sunder {

namespace {

// However a test ends, the next one starts without a request.
struct ClearedStop {
  ~ClearedStop() { clearStop(); }
};

}  // namespace

TEST(Stop, CheckThrowsOnlyWhileAStopIsRequested) {
  const ClearedStop cleared;
  EXPECT_FALSE(stopRequested());
  EXPECT_NO_THROW(checkStop());
  requestStop();
  EXPECT_TRUE(stopRequested());
  EXPECT_THROW(checkStop(), Interrupted);
  clearStop();
  EXPECT_NO_THROW(checkStop());
}

TEST(Stop, ADeferralLetsWorkFinish) {
  const ClearedStop cleared;
  requestStop();
  {
    const StopDeferral whole;
    EXPECT_TRUE(stopRequested());
    EXPECT_NO_THROW(checkStop());
    std::atomic<size_t> done{0};
    parallelFor(
        1000, [&](size_t) { ++done; }, 10);
    EXPECT_EQ(done, 1000u);
  }
  EXPECT_THROW(checkStop(), Interrupted);
}

TEST(Stop, AGraceLetsOnlyShortWorkFinish) {
  const ClearedStop cleared;
  requestStop();
  {
    const StopGrace anHour(3600);
    EXPECT_NO_THROW(checkStop());
  }
  {
    const StopGrace over(1e-9);
    EXPECT_THROW(checkStop(), Interrupted);
  }
  EXPECT_THROW(checkStop(), Interrupted);
}

// The request comes from inside the loop, so that the test does not depend on time.
TEST(Stop, ParallelLoopsEndAtTheNextBlock) {
  for (const unsigned threads : {1u, 2u, 4u}) {
    const ClearedStop cleared;
    const ThreadLimit limit(threads);
    std::atomic<size_t> done{0};
    EXPECT_THROW(parallelBlocks(100'000, 1,
                                [&](size_t, size_t) {
                                  if (++done == 10) requestStop();
                                }),
                 Interrupted);
    EXPECT_GE(done, 10u);
    EXPECT_LE(done, 10u + threads) << "each thread ends with the block it has";
  }
}

TEST(Stop, IsNotAnErrorThatCouldBeHandled) {
  const ClearedStop cleared;
  requestStop();
  bool handled = false;
  try {
    try {
      checkStop();
    } catch (const Error&) {
      handled = true;
    }
  } catch (const Interrupted&) {
  }
  EXPECT_FALSE(handled);
}

}  // namespace sunder
