// sunder-bench [ROOM...]: runs the benchmarks of the rooms and prints a table, or with --json one object.
#include "sunder/base/error.h"
#include "sunder/base/json.h"
#include "sunder/base/parallel.h"
#include "sunder/base/progress.h"
#include "sunder/base/simd.h"

#include "bench/registry.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace sunder::bench {

namespace {

std::string processorName() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

Json machine() {
#if defined(__clang__)
  const std::string compiler = "clang " __clang_version__;
#else
  const std::string compiler = "gcc " __VERSION__;
#endif
  return {{"cpu", processorName()},
          {"cores", std::thread::hardware_concurrency()},
          {"compiler", compiler},
          {"flags", SUNDER_BENCH_FLAGS},
          {"simd", simdTarget()}};
}

// 1.23e+08 in a column is hard to compare: 123 M is not.
std::string scaled(double value) {
  for (auto [limit, suffix] : {std::pair{1e9, " G"}, {1e6, " M"}, {1e3, " k"}}) {
    if (value >= limit) return fmt::format("{:.4g}{}", value / limit, suffix);
  }
  return fmt::format("{:.4g}", value);
}

void printHeader() {
  fmt::print("{:<34} {:>10} {:>7}  {:<7} {:>14} {:<12} {:<28} {:>14} {:>7}\n", "case", "size", "threads",
             "metric", "value", "unit", "peer", "peer value", "ratio");
}

void printRow(const Row& row) {
  fmt::print("{:<34} {:>10} {:>7}  {:<7} {:>14} {:<12}", row.name, row.size, row.threads, row.metric,
             scaled(row.value), row.unit);
  if (row.peerValue) {
    const std::optional<double> better = ratio(row);
    fmt::print(" {:<28} {:>14} {:>7}", row.peer, scaled(*row.peerValue),
               better ? fmt::format("{:.2f}", *better) : std::string("-"));
  }
  if (row.sd) fmt::print(" sd {}", scaled(*row.sd));
  if (row.bar) fmt::print(" bar {} {}", scaled(*row.bar), *met(row) ? "met" : "MISSED");
  fmt::print("\n");
  std::fflush(stdout);
}

Json toJson(const Row& row, const std::string& room) {
  Json json;
  if (!room.empty()) json["room"] = room;
  json["case"] = row.name;
  json["size"] = row.size;
  json["threads"] = row.threads;
  json["metric"] = row.metric;
  json["value"] = row.value;
  json["unit"] = row.unit;
  if (!row.peer.empty() && row.peerValue) {
    json["peer"] = row.peer;
    json["peer_value"] = *row.peerValue;
    if (const std::optional<double> better = ratio(row)) json["ratio"] = *better;
  }
  if (row.sd) json["sd"] = *row.sd;
  if (row.bar) {
    json["bar"] = *row.bar;
    json["met"] = *met(row);
  }
  return json;
}

std::vector<std::string> knownRooms() {
  std::set<std::string> rooms;
  for (const Benchmark& b : registry()) rooms.insert(b.room);
  return {rooms.begin(), rooms.end()};
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

void run(std::vector<std::string> rooms, const Options& options, bool asJson) {
  for (const std::string& room : rooms) {
    const std::vector<std::string> known = knownRooms();
    if (std::find(known.begin(), known.end(), room) == known.end()) {
      throw Error(ErrorKind::Usage, "no benchmarks for room '" + room + "'")
          .hint("there are: " + joined(known));
    }
  }
  if (rooms.empty()) rooms = knownRooms();

  std::vector<const Benchmark*> chosen;
  for (const std::string& room : rooms) {
    for (const Benchmark& b : registry()) {
      if (b.room == room) chosen.push_back(&b);
    }
  }
  if (!asJson) {
    fmt::print("{}\n", machine().text({.asCame = true}));
    printHeader();
  }

  Progress progress("bench", chosen.size(), "benchmarks");
  Report report;
  const Benchmark* current = nullptr;
  std::vector<std::string> rowRooms;
  // A filter that names a benchmark keeps all its rows, otherwise the rows whose case it names.
  report.keepRow = [&](const Row& row) {
    return options.wants(row.name) || current->name.find(options.filter) != std::string::npos;
  };
  report.onRow = [&](const Row& row) {
    rowRooms.push_back(current->room);
    progress.erase();
    if (!asJson) printRow(row);
    progress.note(row.name);
  };
  for (const Benchmark* b : chosen) {
    current = b;
    progress.note(b->room + "/" + b->name);
    Options mine = options;
    if (b->name.find(options.filter) != std::string::npos) mine.filter.clear();
    b->function(report, mine);
    progress.advance();
  }
  progress.erase();

  if (asJson) {
    Json json;
    json["room"] = joined(rooms);
    json["machine"] = machine();
    json["results"] = Json::array();
    for (size_t i = 0; i < report.rows().size(); ++i) {
      json["results"].push_back(toJson(report.rows()[i], rooms.size() > 1 ? rowRooms[i] : std::string()));
    }
    json["missing_peers"] = report.missingPeers();
    fmt::print("{}\n", json.text({.indent = 2, .asCame = true}));
  } else if (!report.missingPeers().empty()) {
    fmt::print("peers that are not installed: {}\n", joined(report.missingPeers()));
  }
}

}  // namespace

}  // namespace sunder::bench

int main(int argc, char** argv) {
  using namespace sunder;
  CLI::App app("Measures Sunder's rooms, next to other libraries where they are installed.", "sunder-bench");
  std::vector<std::string> rooms;
  bench::Options options;
  bool asJson = false;
  app.add_option("ROOM", rooms, "rooms to measure; all when none is named");
  app.add_flag("--json", asJson, "print one JSON object instead of a table");
  app.add_option("--threads", options.threads, "measure with this many threads instead of 1 and all")
      ->check(CLI::Range(1u, 1024u));
  app.add_option("--seconds", options.seconds, "longest time to repeat one measurement")
      ->check(CLI::Range(0.0, 3600.0));
  app.add_option("--largest", options.largest, "leave out sizes above this");
  app.add_option("--case", options.filter, "only cases (or benchmarks) whose name contains this");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    bench::run(rooms, options, asJson);
  } catch (const Error& error) {
    fmt::print(stderr, "sunder-bench: {}\n", error.what());
    return exitCode(error.kind());
  } catch (const std::exception& error) {
    fmt::print(stderr, "sunder-bench: {}\n", error.what());
    return 1;
  }
  return 0;
}
