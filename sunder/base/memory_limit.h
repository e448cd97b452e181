// How much memory a job may take, so that it can be refused before it takes more.
//
// The room is the least of what the system has available (MemAvailable), what control groups (version 1 or 2)
// leave of their limits, and what the address-space limit of the process (RLIMIT_AS) leaves. The limit of a
// job is 80 % of it. Where nothing can be read, there is no limit (UINT64_MAX).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace sunder {

struct MemoryRoom {
  uint64_t bytes = UINT64_MAX;
  std::string by = "nothing";  // what sets it, for messages: "available memory"
};

// `root` has the folders proc and sys; another one than / is for tests, and then the address-space limit does
// not count.
MemoryRoom memoryRoom(const std::filesystem::path& root = "/");

// 80 % of the room there is now, or what a MemoryBudget says.
uint64_t memoryLimit();

// Replaces the limit for as long as it lives; 0 leaves it as it is. For the whole process: one at a time.
class MemoryBudget {
 public:
  explicit MemoryBudget(uint64_t bytes);
  ~MemoryBudget();
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

 private:
  uint64_t before_;
};

// "2GB", "500 MB", "1.5 GiB", "4096" (bytes): the number of bytes. Throws Error (Usage) for anything else.
uint64_t parseBytes(std::string_view text);

// 8040 bytes, 650 kB, 12.3 MB, 1.8 GB
std::string bytesWords(double bytes);

}  // namespace sunder
