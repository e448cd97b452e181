// The benchmark program's frame. A benchmark is a function registered for a room; it measures and adds rows
// to the report. `sunder bench ROOM --json` prints them all as one object (docs/cli/bench.md gives the
// fields).
//
//   SUNDER_BENCH("base", sortKeys) {                       // (Report& report, const Options& options)
//     for (size_t n : options.sizes(10'000, 10'000'000)) {
//       const double ours = bestSeconds(options, [&] { radixSort(...); });
//       report.add({.name = "sort/u32", .size = n, .metric = "rate", .value = n / ours, .unit = "keys/s",
//                   .peer = "std::stable_sort", .peerValue = n / theirs});
//     }
//   }
//
// Peers are libraries from tools/packages-bench.txt, linked here only: guarded by SUNDER_HAS_<PEER>, and
// reported with report.missingPeer("name") when they are not there.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sunder::bench {

struct Row {
  std::string name = {};  // the case, e.g. "sort/u32"
  size_t size = 0;        // elements, triangles, bytes: what the case counts
  unsigned threads = 1;
  std::string metric = "rate";  // "rate" (more is better), "time", "memory", "count" (less is better)
  double value = 0;
  std::string unit = {};
  std::string peer = {};  // empty: nobody to compare with
  std::optional<double> peerValue = {};
  std::optional<double> sd = {};   // of a mean: the standard deviation beside it
  std::optional<double> bar = {};  // what the value has to reach (rates), or may not exceed (all others)
};

struct Options {
  double seconds = 0.5;         // how long to repeat one measurement at most; the best run counts
  size_t largest = 10'000'000;  // sizes above this are left out
  unsigned threads = 0;         // 0: one thread and all of them
  std::string filter;           // only cases whose name contains this

  // first, 10*first, ... up to last and `largest`
  std::vector<size_t> sizes(size_t first, size_t last) const;
  // What to measure parallel code with; put a ThreadLimit around each.
  std::vector<unsigned> threadCounts() const;
  // False for cases that the filter leaves out. Rows of such cases are dropped anyway; asking saves measuring
  // them.
  bool wants(const std::string& name) const;
};

class Report {
 public:
  void add(Row row);
  void missingPeer(const std::string& name);
  const std::vector<Row>& rows() const { return rows_; }
  const std::vector<std::string>& missingPeers() const { return missing_; }
  std::function<bool(const Row&)> keepRow;  // rows it says no to are dropped
  std::function<void(const Row&)> onRow;    // called as each row arrives, for progress

 private:
  std::vector<Row> rows_;
  std::vector<std::string> missing_;
};

// peerValue/value for times and memory, value/peerValue for rates: above 1 means ours is better.
std::optional<double> ratio(const Row& row);

// Whether the row's bar is reached; nothing for a row without one.
std::optional<bool> met(const Row& row);

// The shortest of several runs of `work` (at least 3, until options.seconds have passed); `prepare` runs
// untimed before each.
double bestSeconds(const Options& options, const std::function<void()>& work,
                   const std::function<void()>& prepare = {});

// Keeps the compiler from throwing a computed value away.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

using BenchFunction = void (*)(Report&, const Options&);
struct Registration {
  Registration(const char* room, const char* name, BenchFunction function);
};

#define SUNDER_BENCH(room, name)                                                      \
  static void name(::sunder::bench::Report&, const ::sunder::bench::Options&);        \
  static const ::sunder::bench::Registration registration_##name(room, #name, &name); \
  static void name([[maybe_unused]] ::sunder::bench::Report& report,                  \
                   [[maybe_unused]] const ::sunder::bench::Options& options)

}  // namespace sunder::bench
