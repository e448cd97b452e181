#include "sunder/record/run_file.h"

#include "sunder/base/error.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sunder::record {

RunFile::RunFile(std::filesystem::path path, uint64_t limit) : path_(std::move(path)), limit_(limit) {
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status {};
  if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) {
    const int code = errno;
    Error error =
        Error(ErrorKind::Missing, fmt::format("cannot read: {}", std::strerror(code))).inFile(path_.string());
    if (code == ENOENT) error.hint("check the spelling and the folder you are in");
    throw error;
  }
  if (S_ISREG(status.st_mode)) return;
  ::close(std::exchange(descriptor_, -1));
  throw Error(ErrorKind::Missing, S_ISDIR(status.st_mode) ? "cannot read: it is a folder"
                                                          : "cannot read: it is not a regular file")
      .inFile(path_.string());
}

RunFile::~RunFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

RunFile::RunFile(RunFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      limit_(other.limit_) {}

RunFile& RunFile::operator=(RunFile&& other) noexcept {
  path_.swap(other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(limit_, other.limit_);
  return *this;
}

uint64_t RunFile::size() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) return 0;
  return std::min(static_cast<uint64_t>(status.st_size), limit_);
}

std::pair<uint64_t, uint64_t> RunFile::identity() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) return {};
  return {status.st_dev, status.st_ino};
}

size_t RunFile::readAt(uint64_t offset, void* out, size_t count) const {
  count = offset < limit_ ? static_cast<size_t>(std::min<uint64_t>(count, limit_ - offset)) : 0;
  size_t done = 0;
  while (done < count) {
    const ssize_t got =
        ::pread(descriptor_, static_cast<char*>(out) + done, count - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      throw Error(ErrorKind::Missing, fmt::format("cannot read: {}", std::strerror(errno)))
          .inFile(path_.string())
          .atByte(offset + done);
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

std::string RunFile::payload(const Chunk& chunk) const {
  // The file's size first: a head that claims more must not take memory for it.
  if (chunk.end() > size())
    return unpack(chunk.head, {}, path_.string(), chunk.offset);  // throws: the file ends inside it
  std::vector<std::byte> stored(chunk.head.storedBytes);
  stored.resize(readAt(chunk.payloadAt(), stored.data(), stored.size()));
  return unpack(chunk.head, stored, path_.string(), chunk.offset);
}

void RunFile::check(const Chunk& chunk) const {
  payload(chunk);
  std::array<std::byte, kChunkHeadSize> bytes{};
  readAt(chunk.offset, bytes.data(), bytes.size());
  const auto head = parseHead(bytes);
  if (head && chainHash(0, *head) == chainHash(0, chunk.head)) return;
  throw Error(ErrorKind::Format,
              fmt::format("the head of the {} of frame {} is damaged; the index still has it",
                          name(chunk.head.type), chunk.head.frame))
      .inFile(path_.string())
      .atByte(chunk.offset);
}

}  // namespace sunder::record
