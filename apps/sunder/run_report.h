// What `sunder run` shows to people: the line while it runs, and at the end where the time went and what
// went less well than asked.
#pragma once

#include "sunder/base/profiler.h"
#include "sunder/world/run/runner.h"

#include <cstddef>
#include <string>
#include <vector>

namespace sunder::cli {

// frame 420/1000  7.00 s  118 frames/s  4.9 s left  1002 bodies  12345 contacts  12.3 kJ
// Words become shorter where the line would not fit into `columns`; the last column stays free. The rate
// counts from the first call on, so that frames of an earlier run, which --resume went on from, are not part
// of it.
class RunLine {
 public:
  std::string text(const world::RunStatus& status, double now, size_t columns);

 private:
  bool started_ = false;
  uint64_t firstFrame_ = 0;
  double start_ = 0;
};

// 12.3 kJ
std::string energyText(double joules);

// The stages with their children: seconds and share of the `seconds` that the run took; and what no stage
// covers.
std::string stageTable(const Profiler& profiler, double seconds);

// A line for each thing that degraded, or one that says there was none.
std::string degradedText(const std::vector<world::Degradation>& degradations);

}  // namespace sunder::cli
