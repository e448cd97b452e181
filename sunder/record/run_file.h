// A run file that is open for reading: bytes at an offset, whole payloads. Reads by pread(), so a file that
// is cut while it is read gives an error, not a signal. Not for use outside this room.
#pragma once

#include "sunder/record/chunk.h"

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>

namespace sunder::record {

class RunFile {
 public:
  // Bytes from `limit` on do not count. Throws Error (Missing) for what cannot be opened or is no regular
  // file.
  explicit RunFile(std::filesystem::path path, uint64_t limit = std::numeric_limits<uint64_t>::max());
  ~RunFile();
  RunFile(RunFile&& other) noexcept;
  RunFile& operator=(RunFile&& other) noexcept;

  const std::filesystem::path& path() const { return path_; }
  uint64_t size() const;  // now, at most the limit
  // Device and inode, to recognise the file under another name.
  std::pair<uint64_t, uint64_t> identity() const;

  // Bytes that were there; fewer than asked for at the end of the file.
  size_t readAt(uint64_t offset, void* out, size_t count) const;
  // Throws Error (Format) naming the chunk where its bytes are damaged.
  std::string payload(const Chunk& chunk) const;
  // The same, and throws where the head in the file is another one than that of the index.
  void check(const Chunk& chunk) const;

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  uint64_t limit_;
};

}  // namespace sunder::record
