#include "sunder/base/memory_limit.h"

#include "sunder/base/error.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cmath>
#include <fstream>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

namespace sunder {

namespace {

constexpr double kPartOfRoom = 0.8;
std::atomic<uint64_t> budget{0};                  // 0: none
constexpr uint64_t kNoLimit = uint64_t(1) << 60;  // control groups of version 1 state about 2^63 for none

// Names of files are strings here: joining paths of libstdc++ 12 frees twice where memory runs out meanwhile,
// which is when a limit is asked for.
std::string contentOf(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return in ? out.str() : std::string();
}

// The number that a file holds; none where it is not there, or says "max".
std::optional<uint64_t> numberIn(const std::string& path) {
  const std::string text = contentOf(path);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc()) return std::nullopt;
  return value;
}

// The number behind a word at the beginning of a line: "MemAvailable:  123 kB".
std::optional<uint64_t> numberAfter(const std::string& text, std::string_view word) {
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream parts(line);
    std::string first;
    uint64_t value = 0;
    if (parts >> first >> value && first == word) return value;
  }
  return std::nullopt;
}

// What one control group leaves. Pages of files that nobody uses are given back when memory is asked for.
std::optional<uint64_t> roomInGroup(const std::string& group, const char* limitFile, const char* usageFile,
                                    const char* cacheWord) {
  const auto limit = numberIn(group + "/" + limitFile), usage = numberIn(group + "/" + usageFile);
  if (!limit || *limit >= kNoLimit) return std::nullopt;
  const uint64_t cache = numberAfter(contentOf(group + "/memory.stat"), cacheWord).value_or(0);
  const uint64_t used = usage.value_or(0) - std::min(usage.value_or(0), cache);
  return *limit - std::min(*limit, used);
}

void lower(MemoryRoom& room, std::optional<uint64_t> bytes, const char* by) {
  if (!bytes || *bytes >= room.bytes) return;
  room = {*bytes, by};
}

// A group and all groups around it have their own limits. Inside of a container the path may not exist: its
// own group is then the one that is mounted.
void lowerByGroups(MemoryRoom& room, const std::string& mount, std::string path, const char* limitFile,
                   const char* usageFile, const char* cacheWord) {
  while (true) {
    while (!path.empty() && path.back() == '/') path.pop_back();
    lower(room, roomInGroup(mount + path, limitFile, usageFile, cacheWord), "the control group");
    if (path.empty()) return;
    path.resize(path.rfind('/') + 1);  // nothing where there is no '/'
  }
}

}  // namespace

MemoryRoom memoryRoom(const std::filesystem::path& folder) {
  const std::string root = folder.native() == "/" ? std::string() : folder.native();
  MemoryRoom room;
  if (const auto kilobytes = numberAfter(contentOf(root + "/proc/meminfo"), "MemAvailable:"))
    lower(room, *kilobytes * 1024, "available memory");
  std::istringstream groups(contentOf(root + "/proc/self/cgroup"));
  const std::string mount = root + "/sys/fs/cgroup";
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    std::string controllers(1, ',');
    controllers.append(line, first + 1, second - first - 1).append(1, ',');
    const std::string path = line.substr(second + 1);
    if (controllers == ",,")
      lowerByGroups(room, mount, path, "memory.max", "memory.current", "inactive_file");
    else if (controllers.find(",memory,") != std::string::npos)
      lowerByGroups(room, mount + "/memory", path, "memory.limit_in_bytes", "memory.usage_in_bytes",
                    "total_inactive_file");
  }
  if (!root.empty()) return room;
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    const uint64_t pages = numberIn("/proc/self/statm").value_or(0);
    const uint64_t used = pages * uint64_t(sysconf(_SC_PAGESIZE));
    lower(room, limit.rlim_cur - std::min<uint64_t>(limit.rlim_cur, used), "the address-space limit");
  }
  return room;
}

uint64_t memoryLimit() {
  if (const uint64_t given = budget.load()) return given;
  const uint64_t room = memoryRoom().bytes;
  return room == UINT64_MAX ? room : uint64_t(kPartOfRoom * double(room));
}

MemoryBudget::MemoryBudget(uint64_t bytes) : before_(budget.load()) {
  if (bytes > 0) budget = bytes;
}

MemoryBudget::~MemoryBudget() { budget = before_; }

uint64_t parseBytes(std::string_view text) {
  struct Unit {
    std::string_view name;
    double bytes;
  };
  static constexpr std::array<Unit, 9> kUnits{{{"", 1},
                                               {"b", 1},
                                               {"kb", 1e3},
                                               {"mb", 1e6},
                                               {"gb", 1e9},
                                               {"tb", 1e12},
                                               {"kib", 0x1p10},
                                               {"mib", 0x1p20},
                                               {"gib", 0x1p30}}};
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string unit;
  for (const char* c = end; c != text.data() + text.size(); ++c)
    if (*c != ' ') unit += char(*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
  const auto found =
      std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& known) { return known.name == unit; });
  if (error != std::errc() || found == kUnits.end() || !(number >= 1) || !(number * found->bytes < 1e18))
    throw Error(ErrorKind::Usage, fmt::format("\"{}\" is not an amount of memory", text))
        .hint("for example 2GB, 500MB or 1.5GiB");
  return uint64_t(number * found->bytes);
}

std::string bytesWords(double bytes) {
  if (bytes < 1e4) return fmt::format("{:.0f} bytes", bytes);
  if (bytes < 1e6) return fmt::format("{:.0f} kB", bytes / 1e3);
  if (bytes < 1e9) return fmt::format("{:.{}f} MB", bytes / 1e6, bytes < 1e8 ? 1 : 0);
  if (bytes < 1e15) return fmt::format("{:.{}f} GB", bytes / 1e9, bytes < 1e11 ? 1 : 0);
  return fmt::format("{:.2g} GB", bytes / 1e9);
}

}  // namespace sunder
