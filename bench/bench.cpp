#include "bench/bench.h"

#include "sunder/base/parallel.h"
#include "sunder/base/stopwatch.h"

#include "bench/registry.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace sunder::bench {

std::vector<size_t> Options::sizes(size_t first, size_t last) const {
  std::vector<size_t> result;
  for (size_t size = first; size <= std::min(last, largest); size *= 10) result.push_back(size);
  return result;
}

std::vector<unsigned> Options::threadCounts() const {
  if (threads != 0) return {threads};
  const unsigned all = threadCount();
  return all > 1 ? std::vector<unsigned>{1, all} : std::vector<unsigned>{1};
}

bool Options::wants(const std::string& name) const {
  return filter.empty() || name.find(filter) != std::string::npos;
}

void Report::add(Row row) {
  if (keepRow && !keepRow(row)) return;
  rows_.push_back(std::move(row));
  if (onRow) onRow(rows_.back());
}

void Report::missingPeer(const std::string& name) {
  if (std::find(missing_.begin(), missing_.end(), name) == missing_.end()) missing_.push_back(name);
}

std::optional<double> ratio(const Row& row) {
  if (!row.peerValue) return std::nullopt;
  const bool moreIsBetter = row.metric == "rate";
  const double better = moreIsBetter ? row.value : *row.peerValue;
  const double worse = moreIsBetter ? *row.peerValue : row.value;
  if (!(worse > 0)) return std::nullopt;
  return better / worse;
}

std::optional<bool> met(const Row& row) {
  if (!row.bar) return std::nullopt;
  return row.metric == "rate" ? row.value >= *row.bar : row.value <= *row.bar;
}

double bestSeconds(const Options& options, const std::function<void()>& work,
                   const std::function<void()>& prepare) {
  const Stopwatch all;
  double best = std::numeric_limits<double>::infinity();
  for (int run = 0; run < 3 || all.seconds() < options.seconds; ++run) {
    if (prepare) prepare();
    const Stopwatch watch;
    work();
    best = std::min(best, watch.seconds());
  }
  // A run shorter than the clock's tick still took some time.
  return std::max(best, 1e-9);
}

std::vector<Benchmark>& registry() {
  static std::vector<Benchmark> all;  // filled before main by the Registrations
  return all;
}

Registration::Registration(const char* room, const char* name, BenchFunction function) {
  registry().push_back({room, name, function});
}

}  // namespace sunder::bench
