// All benchmarks that were linked in, in the order of their registration; and the machine they run on.
#pragma once

#include "bench/bench.h"

#include <string>
#include <vector>

namespace sunder::bench {

struct Benchmark {
  std::string room, name;
  BenchFunction function;
};

std::vector<Benchmark>& registry();

}  // namespace sunder::bench
