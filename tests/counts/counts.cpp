// sunder_counts: prints the names of the workloads; sunder_counts NAME: runs one. counts.py runs it under
// callgrind, which counts the instructions inside of sunder_counted().
#include "sunder/base/parallel.h"
#include "sunder/base/simd.h"

#include "workloads.h"

#include <cstdio>
#include <exception>
#include <string_view>

namespace sunder::counts {

namespace {
volatile size_t kept;
}

void use(size_t value) { kept = value; }

}  // namespace sunder::counts

// Found by its name, so neither inlined nor left by a jump.
extern "C" __attribute__((noinline)) void sunder_counted(const std::function<void()>& work) {
  work();
  asm volatile("" ::: "memory");
}

int main(int argc, char** argv) try {
  using namespace sunder;
  const SimdTargetOverride target(
      "SSE4");  // valgrind knows it, and so does every processor of the last fifteen years
  const ThreadLimit one(1);
  std::vector<counts::Workload> workloads = counts::meshWorkloads();
  for (counts::Workload& workload : counts::bodyWorkloads()) workloads.push_back(std::move(workload));
  for (const counts::Workload& workload : workloads) {
    if (argc < 2) {
      std::puts(workload.name);
    } else if (workload.name == std::string_view(argv[1])) {
      const std::function<void()> work = workload.prepare();
      sunder_counted(work);
      return 0;
    }
  }
  return argc < 2 ? 0 : 2;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
