#include "sunder/base/worker_threads.h"

#include "sunder/base/parallel.h"

#include <cstdlib>
#include <new>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace sunder {
namespace {

void bound(decltype(RLIMIT_AS) what, rlim_t value) {
  const rlimit limit{value, value};
  if (::setrlimit(what, &limit) != 0) std::_Exit(3);
}

// Memory that is not there for the numbers is told; whatever a thread lacks is not.
void loopOf(size_t count) {
  try {
    std::vector<double> values(count);
    parallelFor(
        count, [&](size_t i) { values[i] = 2 * static_cast<double>(i); }, 256);
    for (size_t i = 0; i < count; ++i)
      if (values[i] != 2 * static_cast<double>(i)) std::_Exit(4);
  } catch (const std::bad_alloc&) {
  }
}

constexpr size_t kCount = 100000;

// In a process of its own: limits stay, and so do the threads.
class WorkerThreadsDeathTest : public testing::Test {
 protected:
  void SetUp() override {
#if defined(SUNDER_SANITIZED)
    GTEST_SKIP() << "sanitizers take more addresses than the limits leave";
#endif
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
};

TEST_F(WorkerThreadsDeathTest, ALimitOnMemoryBeforeTheFirstThread) {
  for (const rlim_t megabytes : {300, 400, 700})
    EXPECT_EXIT(
        {
          ::alarm(30);
          bound(RLIMIT_AS, megabytes << 20);
          for (const unsigned threads : {16u, 4u, 64u}) {
            const ThreadLimit limit(threads);
            loopOf(kCount);
          }
          loopOf(kCount);
          std::_Exit(0);
        },
        testing::ExitedWithCode(0), "");
}

TEST_F(WorkerThreadsDeathTest, ALimitOnMemoryWhileThreadsAreThere) {
  EXPECT_EXIT(
      {
        ::alarm(30);
        {
          const ThreadLimit limit(8);
          if (threadCount() != 8) std::_Exit(5);
          bound(RLIMIT_AS, rlim_t(100) << 20);
          loopOf(kCount);
        }
        for (const unsigned threads : {8u, 200u, 2u}) {
          const ThreadLimit limit(threads);
          if (threadCount() > 8) std::_Exit(6);
          loopOf(kCount);
        }
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(WorkerThreadsDeathTest, ALimitOnProcesses) {
  EXPECT_EXIT(
      {
        ::alarm(30);
        // The limit does not hold for the superuser.
        if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) std::_Exit(0);
        bound(RLIMIT_NPROC, 1);
        for (const unsigned threads : {4u, 64u}) {
          const ThreadLimit limit(threads);
          if (threadCount() != 1) std::_Exit(5);
          loopOf(kCount);
        }
        loopOf(kCount);
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(WorkerThreadsDeathTest, AProgramThatEndsAfterARefusal) {
  EXPECT_EXIT(
      {
        ::alarm(30);
        bound(RLIMIT_AS, rlim_t(400) << 20);
        static const ThreadLimit limit(200);
        loopOf(kCount);
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST(WorkerThreads, ALimitInsideALimitWaitsForNobody) {
  const ThreadLimit one(1);
  for (int i = 0; i < 20; ++i) {
    const ThreadLimit four(4);
    loopOf(kCount);
  }
}

}  // namespace
}  // namespace sunder
