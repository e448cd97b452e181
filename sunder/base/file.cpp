#include "sunder/base/file.h"

#include "sunder/base/error.h"
#include "sunder/base/stop.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstring>
#include <new>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sunder {

namespace {

namespace fs = std::filesystem;

constexpr size_t kBufferSize = 1u << 20;
constexpr size_t kReadAtOnce = size_t(1) << 26;  // bytes between two looks at a request to stop
constexpr size_t kPipeAtOnce = PIPE_BUF;         // a pipe that has room at all has room for so many bytes
constexpr int kMostLinks = 40;
constexpr std::chrono::milliseconds kWaitForReader{5000}, kWaitStep{10};

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

Error cannotRead(const fs::path& path, const std::string& reason) {
  return Error(ErrorKind::Missing, "cannot read: " + reason).inFile(path.string());
}

Error cannotWrite(ErrorKind kind, const fs::path& path, const std::string& reason) {
  return Error(kind, "cannot write: " + reason).inFile(path.string());
}

// What to do about a path that the system refuses; empty where the reason says it all.
const char* adviceOf(int code) {
  switch (code) {
    case ENOENT:
      return "check the spelling and the folder you are in";
    case EACCES:
    case EPERM:
      return "check the permissions of the file and of the folders it is in";
    case ENAMETOOLONG:
      return "a name has at most 255 bytes, a whole path 4095";
    case ELOOP:
      return "links lead in a circle";
    case ENOTDIR:
      return "a part of the path is a file where a folder is needed";
    default:
      return "";
  }
}

// A name with a zero in it would be cut there by the system.
void checkName(const fs::path& path, const char* action, ErrorKind kind) {
  if (path.empty()) throw Error(kind, std::string(action) + ": the name of the file is empty");
  if (path.native().find('\0') != std::string::npos)
    throw Error(kind, std::string(action) + ": the name of the file has a zero byte in it")
        .inFile(path.native().substr(0, path.native().find('\0')));
}

uint64_t memoryOfMachine() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? uint64_t(pages) * uint64_t(size) : UINT64_MAX;
}

// Where the next data or the next hole of a file begins, from `from` on and at most at `size`.
size_t nextPart(int file, int what, size_t from, size_t size) {
  const off_t found = ::lseek(file, static_cast<off_t>(from), what);
  if (found < 0)
    return what == SEEK_DATA && errno != ENXIO ? from : size;  // ENXIO: nothing but a hole follows
  return std::min(static_cast<size_t>(found), size);
}

// Whole pages are handed back to the system, which gives zeros in their place when they are read.
void makeZero(std::byte* begin, size_t size) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t before = std::min(size, (page - reinterpret_cast<uintptr_t>(begin) % page) % page);
  const size_t pages = (size - before) / page * page;
  const bool zero = pages > 0 && ::madvise(begin + before, pages, MADV_DONTNEED) == 0;
  std::memset(begin, 0, before);
  if (!zero) std::memset(begin + before, 0, pages);
  std::memset(begin + before + pages, 0, size - before - pages);
}

bool isStandardOutput(const struct stat& status) {
  struct stat output {};
  return ::fstat(STDOUT_FILENO, &output) == 0 && output.st_dev == status.st_dev &&
         output.st_ino == status.st_ino;
}

bool isLink(const fs::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
}

// The file that a link points to, whether it is there or not.
fs::path behindLinks(fs::path path) {
  std::error_code code;
  for (int i = 0; i < kMostLinks && isLink(path); ++i) {
    fs::path next = fs::read_symlink(path, code);
    if (code) break;
    path = next.is_absolute() ? std::move(next) : path.parent_path() / next;
  }
  return path;
}

// Short and without the file's own name, which may already be as long as names can be.
fs::path freshName(const fs::path& folder) {
  static std::atomic<unsigned> count{0};
  return folder / fmt::format(".sunder-{}-{}.part", ::getpid(), ++count);
}

}  // namespace

InputFile::InputFile(const fs::path& path) {
  checkName(path, "cannot read", ErrorKind::Missing);
  // O_NONBLOCK so that opening a pipe nobody writes to answers at once; regular files do not care.
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (fd.get() < 0 || ::fstat(fd.get(), &status) != 0) {
    const int code = errno;
    throw cannotRead(path, std::strerror(code)).hint(adviceOf(code));
  }
  if (S_ISDIR(status.st_mode)) throw cannotRead(path, "it is a folder").hint("name a file inside it");
  if (!S_ISREG(status.st_mode)) throw cannotRead(path, "it is not a regular file");
  const auto size = static_cast<uint64_t>(status.st_size);
  if (size == 0) return;
  if (size <= memoryOfMachine() / 2) data_.reset(new (std::nothrow) std::byte[size]);
  if (!data_)
    throw Error(ErrorKind::Limit, fmt::format("cannot read: {} bytes are too many for the memory", size))
        .inFile(path.string());
  // Holes of a sparse file are not read: gigabytes of nothing cost nothing.
  while (size_ < size) {
    const size_t data = nextPart(fd.get(), SEEK_DATA, size_, size);
    if (data > size_) {
      makeZero(data_.get() + size_, data - size_);
      size_ = data;
      continue;
    }
    const size_t hole = std::max(nextPart(fd.get(), SEEK_HOLE, size_, size), size_ + 1);
    checkStop();
    const size_t part = std::min(hole - size_, kReadAtOnce);
    const ssize_t got = ::pread(fd.get(), data_.get() + size_, part, static_cast<off_t>(size_));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw cannotRead(path, std::strerror(errno));
    if (got == 0) break;
    size_ += static_cast<size_t>(got);
  }
  if (::fstat(fd.get(), &status) != 0 || static_cast<uint64_t>(status.st_size) < size || size_ < size)
    throw cannotRead(path, fmt::format("it shrank from {} to {} bytes meanwhile", size, status.st_size))
        .hint("wait for the program that writes it, then try again");
}

OutputFile::OutputFile(fs::path path) : path_(std::move(path)) {
  checkName(path_, "cannot write", ErrorKind::Usage);
  buffer_.reserve(kBufferSize);
  struct stat status {};
  if (::stat(path_.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode))
      throw cannotWrite(ErrorKind::Usage, path_, "it is a folder").hint("name a file inside it");
    if (S_ISSOCK(status.st_mode) || S_ISBLK(status.st_mode))
      throw cannotWrite(ErrorKind::Usage, path_, S_ISSOCK(status.st_mode) ? "it is a socket" : "it is a disk")
          .hint("name a file");
    // /dev/stdout of a redirected command is a link to a regular file, whose end is where the output goes on.
    if (isStandardOutput(status) && (!S_ISREG(status.st_mode) || isLink(path_))) {
      std::fflush(stdout);
      descriptor_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
      if (descriptor_ < 0) fail("write", errno);
      return;
    }
    if (!S_ISREG(status.st_mode)) {
      openDevice(S_ISFIFO(status.st_mode));
      return;
    }
  } else if (errno != ENOENT) {
    fail("write", errno);
  }
  target_ = behindLinks(path_);
  openTemporary();
}

void OutputFile::openDevice(bool pipe) {
  const auto start = std::chrono::steady_clock::now();
  // A pipe without a reader would stop us here for ever; one whose reader is about to come is waited for.
  while ((descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)) < 0) {
    if (errno == EINTR) continue;
    if (!pipe || errno != ENXIO) fail("write", errno);
    checkStop();
    if (std::chrono::steady_clock::now() - start > kWaitForReader)
      throw cannotWrite(ErrorKind::Usage, path_, "nobody reads from this pipe")
          .hint("start its reader first");
    std::this_thread::sleep_for(kWaitStep);
  }
}

void OutputFile::openTemporary() {
  const fs::path folder = target_.has_parent_path() ? target_.parent_path() : fs::path(".");
  // A file without a name goes away with its last descriptor, whatever ends the program. /proc gives it one.
  if (::access("/proc/self/fd", X_OK) == 0)
    descriptor_ = ::open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
  if (descriptor_ >= 0) return;
  fs::path name;
  do {
    name = freshName(folder);
    descriptor_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && (errno == EEXIST || errno == EINTR));
  temporary_.swap(name);
  if (descriptor_ >= 0) return;
  const int code = errno;
  if (code == ENOENT)
    throw cannotWrite(ErrorKind::Usage, path_, std::strerror(code))
        .hint("the folder does not exist; make it first");
  fail("write", code);
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::fail(const char* action, int code) const {
  const bool ours =
      code == ENOENT || code == ENOTDIR || code == ENAMETOOLONG || code == ELOOP || code == EISDIR;
  throw Error(ours ? ErrorKind::Usage : ErrorKind::Write,
              std::string("cannot ") + action + ": " + std::strerror(code))
      .inFile(path_.string())
      .hint(adviceOf(code));
}

void OutputFile::write(std::span<const std::byte> bytes) {
  write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

void OutputFile::write(std::string_view text) {
  written_ += text.size();
  if (buffer_.size() + text.size() > kBufferSize) flush();
  if (text.size() < kBufferSize)
    buffer_.append(text);
  else
    put(text);
}

void OutputFile::put(std::string_view text) {
  while (!text.empty()) {
    // A pipe or a terminal whose reader waits takes nothing; a request to stop ends the wait.
    if (target_.empty()) waitUntil(Ready::ToWrite, descriptor_);
    const ssize_t done =
        ::write(descriptor_, text.data(), target_.empty() ? std::min(text.size(), kPipeAtOnce) : text.size());
    if (done < 0 && errno != EINTR && errno != EAGAIN) fail("write", errno);
    if (done > 0) text.remove_prefix(static_cast<size_t>(done));
  }
}

void OutputFile::flush() {
  checkStop();
  put(buffer_);
  buffer_.clear();
}

void OutputFile::commit() {
  flush();
  if (target_.empty()) {
    if (::close(std::exchange(descriptor_, -1)) != 0) fail("close", errno);
    return;
  }
  if (::fsync(descriptor_) != 0 && errno != EINVAL) fail("flush to disk", errno);
  if (temporary_.empty()) {
    const std::string unnamed = fmt::format("/proc/self/fd/{}", descriptor_);
    fs::path name;
    int code = EEXIST;
    while (code == EEXIST) {
      name = freshName(target_.parent_path());
      code = ::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
    }
    if (code != 0) fail("name", code);
    temporary_.swap(name);
  }
  if (::close(std::exchange(descriptor_, -1)) != 0) fail("close", errno);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("rename into place", errno);
  temporary_.clear();
}

void waitUntil(Ready what, int descriptor) {
  constexpr int kMilliseconds = 100;  // a signal just before the call would not end it
  struct pollfd one {
    descriptor, short(what == Ready::ToRead ? POLLIN : POLLOUT), 0
  };
  int ready = 0;
  do {
    checkStop();
    ready = ::poll(&one, 1, kMilliseconds);
  } while (ready == 0 || (ready < 0 && errno == EINTR));
}

void writeFile(const fs::path& path, std::string_view content) {
  OutputFile file(path);
  file.write(content);
  file.commit();
}

std::string readTextFile(const fs::path& path) { return std::string(InputFile(path).text()); }

}  // namespace sunder
