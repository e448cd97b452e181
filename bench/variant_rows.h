// Rows that the experiments on the source's variants share: a variant gives its time, box tests, passes and
// frontier; a series over frames its mean with the standard deviation beside it.
#pragma once

#include "sunder/base/stopwatch.h"

#include "bench/bench.h"
#include "bench/published/traversal.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace sunder::bench {

// Whether rows whose names begin with `base` can be asked for.
inline bool mayWant(const Options& options, const std::string& base) {
  return options.wants(base) || options.filter.starts_with(base);
}

inline void addRow(Report& report, const std::string& name, size_t size, unsigned threads, const char* metric,
                   double value, const char* unit) {
  report.add(
      {.name = name, .size = size, .threads = threads, .metric = metric, .value = value, .unit = unit});
}

inline void addVariant(Report& report, const std::string& name, size_t size, unsigned threads, double seconds,
                       const published::VariantStatistics& statistics) {
  addRow(report, name, size, threads, "time", 1e3 * seconds, "ms");
  addRow(report, name + "/tests", size, threads, "count", double(statistics.boxTests), "tests");
  if (statistics.passes > 1)
    addRow(report, name + "/passes", size, threads, "count", double(statistics.passes), "passes");
  if (statistics.peakFrontier > 0) {
    addRow(report, name + "/frontier", size, threads, "count", double(statistics.peakFrontier), "pairs");
    addRow(report, name + "/bytes", size, threads, "memory", double(statistics.frontierBytes), "B");
  }
}

struct Series {
  double sum = 0, squares = 0;
  int count = 0;
  void add(double x) {
    sum += x;
    squares += x * x;
    ++count;
  }
  double mean() const { return sum / count; }
  double deviation() const { return std::sqrt(std::max(0.0, squares / count - mean() * mean())); }
};

inline void addSeries(Report& report, const std::string& name, size_t size, unsigned threads,
                      const Series& series, const char* metric = "time", double scale = 1e3,
                      const char* unit = "ms") {
  report.add({.name = name,
              .size = size,
              .threads = threads,
              .metric = metric,
              .value = scale * series.mean(),
              .unit = unit,
              .sd = scale * series.deviation()});
}

template <class Work>
double secondsOf(Work&& work) {
  const Stopwatch watch;
  work();
  return watch.seconds();
}

}  // namespace sunder::bench
