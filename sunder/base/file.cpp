#include "sunder/base/file.h"

#include "sunder/base/error.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sunder {

namespace {

constexpr size_t kBufferSize = 1u << 20;

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

Error cannotRead(const std::filesystem::path& path, const std::string& reason) {
  return Error(ErrorKind::Missing, "cannot read: " + reason).inFile(path.string());
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  // O_NONBLOCK so that opening a pipe nobody writes to answers at once; regular files do not care.
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) {
    const int code = errno;
    Error error = cannotRead(path, std::strerror(code));
    if (code == ENOENT) error.hint("check the spelling and the folder you are in");
    throw error;
  }
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) throw cannotRead(path, std::strerror(errno));
  if (S_ISDIR(status.st_mode)) throw cannotRead(path, "it is a folder").hint("name a file inside it");
  if (!S_ISREG(status.st_mode)) throw cannotRead(path, "it is not a regular file");
  size_ = static_cast<size_t>(status.st_size);
  if (size_ == 0) return;
  void* address = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (address == MAP_FAILED) throw cannotRead(path, std::strerror(errno));
  ::madvise(address, size_, MADV_SEQUENTIAL);
  data_ = static_cast<const std::byte*>(address);
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(const_cast<std::byte*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

OutputFile::OutputFile(std::filesystem::path path) : path_(std::move(path)) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path_, ignored))
    throw Error(ErrorKind::Usage, "cannot write: it is a folder")
        .inFile(path_.string())
        .hint("name a file inside it");
  temporary_ = path_;
  temporary_ += ".part" + std::to_string(::getpid());
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    const int code = errno;
    Error error = Error(code == ENOENT || code == ENOTDIR ? ErrorKind::Usage : ErrorKind::Write,
                        std::string("cannot write: ") + std::strerror(code))
                      .inFile(path_.string());
    if (code == ENOENT) error.hint("the folder does not exist; make it first");
    throw error;
  }
  buffer_.reserve(kBufferSize);
}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void OutputFile::fail(const char* action) {
  throw Error(ErrorKind::Write, std::string("cannot ") + action + ": " + std::strerror(errno))
      .inFile(path_.string());
}

void OutputFile::write(std::span<const std::byte> bytes) {
  write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

void OutputFile::write(std::string_view text) {
  written_ += text.size();
  if (buffer_.size() + text.size() > kBufferSize) flush();
  if (text.size() < kBufferSize) {
    buffer_.append(text);
    return;
  }
  while (!text.empty()) {
    const ssize_t done = ::write(descriptor_, text.data(), text.size());
    if (done < 0 && errno != EINTR) fail("write");
    if (done > 0) text.remove_prefix(static_cast<size_t>(done));
  }
}

void OutputFile::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t done = ::write(descriptor_, rest.data(), rest.size());
    if (done < 0 && errno != EINTR) fail("write");
    if (done > 0) rest.remove_prefix(static_cast<size_t>(done));
  }
  buffer_.clear();
}

void OutputFile::commit() {
  flush();
  if (::fsync(descriptor_) != 0 && errno != EINVAL) fail("flush to disk");
  if (::close(std::exchange(descriptor_, -1)) != 0) {
    ::unlink(temporary_.c_str());
    fail("close");
  }
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int code = errno;
    ::unlink(temporary_.c_str());
    errno = code;
    fail("rename into place");
  }
}

void writeFile(const std::filesystem::path& path, std::string_view content) {
  OutputFile file(path);
  file.write(content);
  file.commit();
}

std::string readTextFile(const std::filesystem::path& path) { return std::string(MappedFile(path).text()); }

}  // namespace sunder
