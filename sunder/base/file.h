// Files as a whole: read into memory, written under a temporary name and renamed at the end, so that a reader
// never sees half a file and a failed job leaves the old one as it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace sunder {

// A regular file's bytes. They are a copy: a file that another program cuts or writes meanwhile cannot change
// them. Throws Error (Missing) for a folder, a device, a file that cannot be opened, with the system's
// reason, and one that became shorter while it was read; Error (Limit) for a file that takes more than half
// of the machine's memory. An empty file gives an empty span.
class InputFile {
 public:
  explicit InputFile(const std::filesystem::path& path);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_.get(), size_}; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_.get()), size_}; }

 private:
  std::unique_ptr<std::byte[]> data_;
  size_t size_ = 0;
};

// Buffered output to `path`. Nothing appears under `path` before commit(); a writer that goes away without
// it, or is killed, leaves nothing behind where the file system knows files without a name, and else removes
// its temporary file. A link is followed: the file that it points to is replaced, not the link.
//
// A pipe, a terminal or another device of characters (/dev/null) is written to directly; a pipe that nobody
// reads is refused after a wait of five seconds. Folders, sockets and disks are refused. Errors are of the
// kind Usage where the path is at fault, else Write.
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
  void openDevice(bool pipe);
  void openTemporary();
  void flush();
  void put(std::string_view text);
  [[noreturn]] void fail(const char* action, int code) const;

  std::filesystem::path path_;       // as the caller gave it
  std::filesystem::path target_;     // behind all links; empty for a device
  std::filesystem::path temporary_;  // empty: the file has no name yet
  std::string buffer_;
  int descriptor_ = -1;
  uint64_t written_ = 0;
};

// Returns when a descriptor can be read from, or takes more: a pipe whose other end is idle may never get
// there. A request to stop (stop.h) ends the wait with Interrupted. Errors of the descriptor end it as well;
// reading or writing then tells them.
enum class Ready { ToRead, ToWrite };
void waitUntil(Ready what, int descriptor);

// The two above in one call.
void writeFile(const std::filesystem::path& path, std::string_view content);
std::string readTextFile(const std::filesystem::path& path);

}  // namespace sunder
