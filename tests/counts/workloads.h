// Pieces of work whose instructions are counted (docs/building.md). Each takes between 50 and 300 million,
// does the same in every run, and uses one thread and one vector target.
#pragma once

#include <functional>
#include <vector>

namespace sunder::counts {

struct Workload {
  const char* name;
  std::function<std::function<void()>()> prepare;  // makes the input, and returns what is counted
};

std::vector<Workload> meshWorkloads();  // base to cut
std::vector<Workload> bodyWorkloads();  // tet to record

// What a workload computes must go somewhere, or the compiler leaves it out.
void use(size_t value);

}  // namespace sunder::counts
