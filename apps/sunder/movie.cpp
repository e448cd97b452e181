#include "movie.h"

#include "sunder/base/error.h"
#include "sunder/base/file.h"
#include "sunder/base/log.h"
#include "sunder/base/stop.h"
#include "sunder/base/work.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sunder::cli {

namespace {

constexpr int kPollStep = 10;  // ms between two looks at a request to stop

// The full path of a program that PATH leads to; empty where there is none.
std::string findProgram(const std::string& name) {
  const char* variable = std::getenv("PATH");
  std::string_view folders = variable ? variable : "/usr/bin:/bin";
  while (!folders.empty()) {
    const size_t end = std::min(folders.find(':'), folders.size());
    const std::string path = std::string(end > 0 ? folders.substr(0, end) : ".") + "/" + name;
    struct stat status {};
    if (::access(path.c_str(), X_OK) == 0 && ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode))
      return path;
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  return "";
}

int waitFor(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return status;
}

// The last line that is not empty.
std::string lastLine(int file) {
  std::string text(4096, '\0');
  const off_t size = ::lseek(file, 0, SEEK_END);
  const ssize_t got = ::pread(file, text.data(), text.size(), std::max<off_t>(0, size - off_t(text.size())));
  text.resize(got > 0 ? size_t(got) : 0);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.pop_back();
  const size_t start = text.rfind('\n');
  return start == std::string::npos ? text : text.substr(start + 1);
}

void closeFile(int& descriptor) {
  if (descriptor >= 0) ::close(std::exchange(descriptor, -1));
}

}  // namespace

PictureSink::PictureSink(std::filesystem::path output, size_t width, size_t height, double rate, size_t count)
    : output_(std::move(output)), count_(count) {
  if (output_.extension() != ".mp4") return;
  checkName();
  if (findProgram("ffmpeg").empty()) {
    logWarn(
        "ffmpeg is not installed (Debian: apt-get install ffmpeg): writing numbered pictures instead of {}",
        output_.string());
    output_.replace_extension(".png");
    count_ = std::max<size_t>(count_, 2);
    return;
  }
  movie_ = true;
  makePartial();
  try {
    startEncoder(width, height, rate);
  } catch (...) {
    ::unlink(partial_.c_str());
    closeFile(pictures_);
    closeFile(complaints_);
    throw;
  }
}

void PictureSink::checkName() const {
  struct stat status {};
  const char* wrong = nullptr;
  if (::stat(output_.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    wrong = S_ISDIR(status.st_mode) ? "it is a folder" : "a movie goes into a regular file";
  if (wrong)
    throw Error(ErrorKind::Usage, fmt::format("cannot write: {}", wrong))
        .inFile(output_.string())
        .hint("give the name of a file, such as movie.mp4");
  if (output_.filename().native().size() > 255)
    throw Error(ErrorKind::Usage, "cannot write: the name is too long")
        .inFile(output_.string())
        .hint("a name has at most 255 bytes");
}

// Made here and not by ffmpeg, so that a folder that cannot be written to is found before the first picture.
void PictureSink::makePartial() {
  partial_ = output_.parent_path() / fmt::format(".sunder-{}.part.mp4", ::getpid());
  const int file = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file >= 0) {
    ::close(file);
    return;
  }
  const int code = errno;
  Error error(code == ENOSPC || code == EROFS || code == EACCES ? ErrorKind::Write : ErrorKind::Usage,
              fmt::format("cannot write: {}", std::strerror(code)));
  if (code == ENOENT) error.hint("the folder does not exist; make it first");
  throw std::move(error.inFile(output_.string()));
}

void PictureSink::startEncoder(size_t width, size_t height, double rate) {
  std::vector<std::string> words{findProgram("ffmpeg"), "-loglevel", "error", "-y", "-f", "rawvideo",
                                 "-pix_fmt", "rgb24", "-s", fmt::format("{}x{}", width, height), "-r",
                                 fmt::format("{}", rate), "-i", "-", "-c:v", "libx264", "-crf", "18",
                                 "-pix_fmt", "yuv420p", "-movflags", "+faststart", "-f", "mp4",
                                 // Without this a colon in a folder's name would be read as a protocol.
                                 "file:" + partial_.string()};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  int ends[2] = {-1, -1};
  complaints_ = ::memfd_create("ffmpeg", MFD_CLOEXEC);
  if (complaints_ < 0 || ::pipe2(ends, O_CLOEXEC) != 0)
    throw Error(ErrorKind::Write, fmt::format("ffmpeg could not be started: {}", std::strerror(errno)))
        .inFile(output_.string());
  pictures_ = ends[1];
  ::fcntl(pictures_, F_SETFL, O_NONBLOCK);  // our end only
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, complaints_, STDERR_FILENO);
  // A group of its own: Ctrl-C is for us, and we end it.
  posix_spawnattr_t settings;
  posix_spawnattr_init(&settings);
  posix_spawnattr_setflags(&settings, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&settings, 0);
  const int code = ::posix_spawn(&encoder_, words[0].c_str(), &actions, &settings, arguments.data(), environ);
  posix_spawnattr_destroy(&settings);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[0]);
  if (code == 0) return;
  encoder_ = -1;
  throw Error(ErrorKind::Write, fmt::format("ffmpeg could not be started: {}", std::strerror(code)))
      .inFile(output_.string());
}

PictureSink::~PictureSink() {
  closeFile(pictures_);
  if (encoder_ > 0) {
    ::kill(encoder_, SIGKILL);
    waitFor(encoder_);
  }
  closeFile(complaints_);
  if (!partial_.empty()) ::unlink(partial_.c_str());
}

std::filesystem::path PictureSink::numbered(size_t number) const {
  std::filesystem::path path = output_;
  return path.replace_filename(fmt::format("{}-{:04}.png", output_.stem().string(), number));
}

void PictureSink::encoderFailed() {
  const std::string reason = lastLine(complaints_);
  throw Error(ErrorKind::Write, reason.empty() ? "ffmpeg failed" : "ffmpeg failed: " + reason)
      .inFile(output_.string())
      .hint("there is no movie; numbered pictures are made by a name that ends in .png");
}

void PictureSink::add(const Image& image) {
  if (!movie_) {
    writePng(count_ > 1 ? numbered(added_) : output_, image);
    ++added_;
    return;
  }
  const char* at = reinterpret_cast<const char*>(image.pixels.data());
  for (size_t left = image.pixels.size() * sizeof(Rgb); left > 0;) {
    waitUntil(Ready::ToWrite, pictures_);
    const ssize_t count = ::write(pictures_, at, left);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0) {
      waitFor(std::exchange(encoder_, -1));  // it closed its end, so it is gone or about to go
      encoderFailed();
    }
    at += count;
    left -= size_t(count);
  }
  ++added_;
}

void PictureSink::finish() {
  if (!movie_) return;
  closeFile(pictures_);
  // It may have many pictures left to encode.
  const Work work("finishing the movie");
  int status = 0;
  for (pid_t ended = 0; ended == 0;) {
    checkStop();
    ended = ::waitpid(encoder_, &status, WNOHANG);
    if (ended < 0) status = -1;
    if (ended == 0) ::poll(nullptr, 0, kPollStep);
  }
  encoder_ = -1;
  if (status != 0) encoderFailed();
  if (::rename(partial_.c_str(), output_.c_str()) != 0)
    throw Error(ErrorKind::Write, fmt::format("cannot rename into place: {}", std::strerror(errno)))
        .inFile(output_.string());
  partial_.clear();
}

std::string PictureSink::result() const {
  if (movie_ || count_ <= 1) return output_.string();
  return fmt::format("{} ... {}", numbered(0).string(), numbered(added_ ? added_ - 1 : 0).string());
}

}  // namespace sunder::cli
