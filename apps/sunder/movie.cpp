#include "movie.h"

#include "sunder/base/error.h"
#include "sunder/base/log.h"

#include <csignal>
#include <cstdlib>

#include <fmt/format.h>

namespace sunder::cli {

namespace {

bool haveFfmpeg() { return std::system("command -v ffmpeg >/dev/null 2>&1") == 0; }

// For the shell: nothing in it is special.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

PictureSink::PictureSink(std::filesystem::path output, size_t width, size_t height, double rate, size_t count)
    : output_(std::move(output)), count_(count) {
  if (output_.extension() != ".mp4") return;
  if (!haveFfmpeg()) {
    logWarn(
        "ffmpeg is not installed (Debian: apt-get install ffmpeg): writing numbered pictures instead of {}",
        output_.string());
    output_.replace_extension(".png");
    count_ = std::max<size_t>(count_, 2);
    return;
  }
  partial_ = output_;
  partial_ += ".partial.mp4";
  std::signal(SIGPIPE, SIG_IGN);  // a write to an ffmpeg that is gone is an error, not the end
  const std::string command = fmt::format(
      "ffmpeg -loglevel error -y -f rawvideo -pix_fmt rgb24 -s {}x{} -r {} -i - -c:v libx264 -crf 18 "
      "-pix_fmt yuv420p "
      "-movflags +faststart {}",
      width, height, rate, quoted(partial_.string()));
  pipe_ = ::popen(command.c_str(), "w");
  if (!pipe_) throw Error(ErrorKind::Write, "ffmpeg could not be started").inFile(output_.string());
}

PictureSink::~PictureSink() {
  if (pipe_) ::pclose(pipe_);
  std::error_code ignored;
  if (!finished_ && !partial_.empty()) std::filesystem::remove(partial_, ignored);
}

std::filesystem::path PictureSink::numbered(size_t number) const {
  std::filesystem::path path = output_;
  return path.replace_filename(fmt::format("{}-{:04}.png", output_.stem().string(), number));
}

void PictureSink::add(const Image& image) {
  if (pipe_) {
    if (std::fwrite(image.pixels.data(), sizeof(Rgb), image.pixels.size(), pipe_) != image.pixels.size())
      throw Error(ErrorKind::Write, "ffmpeg ended before the movie did").inFile(output_.string());
  } else {
    writePng(count_ > 1 ? numbered(added_) : output_, image);
  }
  ++added_;
}

void PictureSink::finish() {
  if (pipe_) {
    const int status = ::pclose(pipe_);
    pipe_ = nullptr;
    if (status != 0) throw Error(ErrorKind::Write, "ffmpeg failed").inFile(output_.string());
    std::filesystem::rename(partial_, output_);
  }
  finished_ = true;
}

std::string PictureSink::result() const {
  if (!partial_.empty() || count_ <= 1) return output_.string();
  return fmt::format("{} ... {}", numbered(0).string(), numbered(added_ ? added_ - 1 : 0).string());
}

}  // namespace sunder::cli
