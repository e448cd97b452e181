#include "sunder/record/output.h"

#include "sunder/base/error.h"
#include "sunder/record/run_reader.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sunder::record {

namespace {

constexpr int kMostRenames = 100;  // by other writers, while a file is opened

// False for a run that was ended before its first step, and for an empty file. What cannot be read is not
// ours to judge, and kept.
bool worthKeeping(const std::filesystem::path& path, uint64_t size) {
  if (size < kFileHeaderSize) return size > 0;
  try {
    return RunReader(path).frameCount() > 1;
  } catch (const Error&) {
    return true;
  }
}

Error cannot(const std::string& action, int code, const std::filesystem::path& path) {
  Error error(ErrorKind::Write, fmt::format("cannot {}: {}", action, std::strerror(code)));
  if (code == ENOENT || code == ENOTDIR) error.hint("the folder does not exist");
  error.inFile(path.string());
  return error;
}

int syncFolder(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return errno;
  // Some file systems cannot sync a folder; then there is nothing to wait for.
  const int code = ::fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno;
  ::close(descriptor);
  return code;
}

std::pair<uint64_t, uint64_t> identityOf(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return {};
  return {status.st_dev, status.st_ino};
}

}  // namespace

int FileOutput::openLocked(const std::filesystem::path& path, bool make) const {
  for (int round = 0; round < kMostRenames; ++round) {
    // What is made is ours: behind a link there would be a file of somebody else.
    const int descriptor =
        ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | (make ? O_CREAT | O_NOFOLLOW : 0), 0666);
    if (descriptor < 0) {
      if (errno == ENOENT && !make) return -1;
      throw errno == ELOOP ? cannot("write", errno, path).hint("it is a link; remove it")
                           : cannot("write", errno, path_);
    }
    struct stat locked {
    }, named{};
    if (::fstat(descriptor, &locked) != 0 || !S_ISREG(locked.st_mode)) {
      ::close(descriptor);
      throw Error(ErrorKind::Write, "cannot write: it is not a regular file").inFile(path.string());
    }
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      ::close(descriptor);
      throw Error(ErrorKind::Write, "another run is writing this file")
          .inFile(path_.string())
          .hint("wait for it to end, or choose another folder with -o");
    }
    if (::stat(path.c_str(), &named) == 0 && named.st_dev == locked.st_dev && named.st_ino == locked.st_ino)
      return descriptor;
    ::close(descriptor);  // renamed or removed between opening and locking
  }
  throw Error(ErrorKind::Write, "cannot write: other programs keep renaming it").inFile(path.string());
}

std::unique_ptr<FileOutput> FileOutput::create(std::filesystem::path path, Existing existing) {
  std::unique_ptr<FileOutput> out(new FileOutput(std::move(path)));
  std::filesystem::path draft = out->path_;
  draft += ".new";
  out->descriptor_ = out->openLocked(draft, true);
  out->draft_ = draft;  // ours from here on: taken away if anything below fails
  // Only now, so that nobody can publish a recording in between.
  out->old_ = out->openLocked(out->path_, false);
  if (out->old_ >= 0) {
    struct stat status {};
    ::fstat(out->old_, &status);
    out->keep_ =
        existing == Existing::KeepAside && worthKeeping(out->path_, static_cast<uint64_t>(status.st_size));
  }
  // A run that was killed before its first checkpoint may have left something.
  if (::ftruncate(out->descriptor_, 0) != 0) throw cannot("write", errno, out->path_);
  return out;
}

std::unique_ptr<FileOutput> FileOutput::open(std::filesystem::path path) {
  std::unique_ptr<FileOutput> out(new FileOutput(std::move(path)));
  out->descriptor_ = out->openLocked(out->path_, false);
  if (out->descriptor_ < 0) throw cannot("go on with", ENOENT, out->path_);
  struct stat status {};
  if (::fstat(out->descriptor_, &status) != 0) throw cannot("go on with", errno, out->path_);
  out->size_ = static_cast<uint64_t>(status.st_size);
  return out;
}

FileOutput::~FileOutput() {
  if (!draft_.empty()) ::unlink(draft_.c_str());
  if (descriptor_ >= 0) ::close(descriptor_);
  if (old_ >= 0) ::close(old_);
}

RunOutput::Written FileOutput::append(std::string_view bytes) {
  Written done;
  while (done.bytes < bytes.size()) {
    const ssize_t count = ::pwrite(descriptor_, bytes.data() + done.bytes, bytes.size() - done.bytes,
                                   static_cast<off_t>(size_));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      done.code = count < 0 ? errno : ENOSPC;
      break;
    }
    done.bytes += static_cast<size_t>(count);
    size_ += static_cast<uint64_t>(count);
  }
  return done;
}

int FileOutput::cut(uint64_t size) {
  if (::ftruncate(descriptor_, static_cast<off_t>(size)) != 0) return errno;
  size_ = size;
  return 0;
}

int FileOutput::sync() { return ::fdatasync(descriptor_) == 0 ? 0 : errno; }

// A second name for the old file, so that the first one is never without a recording.
int FileOutput::keepAside() {
  for (uint64_t number = 1;; ++number) {
    std::filesystem::path name = path_;
    name.replace_filename(path_.stem().string() + fmt::format(".{}", number) + path_.extension().string());
    if (::link(path_.c_str(), name.c_str()) != 0) {
      if (errno == EEXIST) continue;
      if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS) return errno;
      // A file system without second names.
      struct stat taken {};
      if (::lstat(name.c_str(), &taken) == 0) continue;
      if (::rename(path_.c_str(), name.c_str()) != 0) return errno;
    }
    kept_ = name;
    return 0;
  }
}

int FileOutput::publish() {
  if (published()) return 0;
  if (old_ >= 0 && keep_)
    if (const int code = keepAside()) return code;
  if (::rename(draft_.c_str(), path_.c_str()) != 0) return errno;
  draft_.clear();
  if (old_ >= 0) ::close(std::exchange(old_, -1));
  return syncFolder(path_);
}

std::pair<uint64_t, uint64_t> FileOutput::identity() const { return identityOf(descriptor_); }

}  // namespace sunder::record
