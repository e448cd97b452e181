// Files as a whole: read by mapping them into memory, written under a temporary name and renamed at the end,
// so that a reader never sees half a file and a failed job leaves the old one as it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace sunder {

// A regular file's bytes, read-only. Throws Error (Missing) for a directory, a device, or a file that cannot
// be opened, with the system's reason. An empty file gives an empty span.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }

 private:
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

// Buffered output to `path` through a temporary file in the same folder. Nothing appears under `path` before
// commit(); a writer that goes away without it removes its temporary file.
class OutputFile {
 public:
  explicit OutputFile(std::filesystem::path path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  uint64_t size() const { return written_; }
  void commit();  // flush to disk, then rename

 private:
  void flush();
  [[noreturn]] void fail(const char* action);

  std::filesystem::path path_, temporary_;
  std::string buffer_;
  int descriptor_ = -1;
  uint64_t written_ = 0;
};

// The two above in one call.
void writeFile(const std::filesystem::path& path, std::string_view content);
std::string readTextFile(const std::filesystem::path& path);

}  // namespace sunder
