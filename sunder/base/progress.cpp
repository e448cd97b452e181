#include "sunder/base/progress.h"

#include "sunder/base/stopwatch.h"
#include "sunder/base/work.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace sunder {

namespace {

constexpr double kDrawInterval = 0.1;
constexpr std::string_view kEraseLine = "\r\x1b[K";

}  // namespace

std::string durationText(double seconds) {
  if (!(seconds >= 0) || seconds > 1e9) return "unknown time";
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<long>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

ProgressOutput ProgressOutput::standardError() {
  ProgressOutput output;
  output.terminal = ::isatty(STDERR_FILENO) == 1;
  output.write = [](std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
  };
  output.seconds = steadySeconds;
  winsize size{};
  if (output.terminal && ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    output.columns = size.ws_col;
  }
  return output;
}

Progress::Progress(std::string label, uint64_t total, std::string unit, ProgressOutput output)
    : label_(std::move(label)), unit_(std::move(unit)), total_(total), output_(std::move(output)) {
  start_ = lastDraw_ = output_.terminal ? output_.seconds() : 0;
  if (output_.terminal) WorkWatch::hide();
}

Progress::~Progress() {
  erase();
  if (output_.terminal) WorkWatch::show();
}

void Progress::set(uint64_t done) {
  done_ = done;
  if (!output_.terminal || finished_) return;
  if (output_.seconds() - lastDraw_ >= kDrawInterval) draw();
}

void Progress::note(std::string text) {
  note_ = std::move(text);
  set(done_);
}

void Progress::show(std::string line) {
  own_ = std::move(line);
  set(done_);
}

void Progress::finish() {
  if (output_.terminal && !finished_) {
    draw();
    output_.write("\n");
  }
  finished_ = true;
  shown_ = false;
}

void Progress::erase() {
  if (shown_) output_.write(kEraseLine);
  shown_ = false;
}

std::string Progress::line() const {
  if (!own_.empty()) return own_;
  std::string text = label_;
  if (total_ > 0) {
    const double share = std::min(1.0, static_cast<double>(done_) / static_cast<double>(total_));
    text += fmt::format("  {:.0f}%  {}/{} {}", std::floor(100 * share), done_, total_, unit_);
  } else {
    text += fmt::format("  {} {}", done_, unit_);
  }
  const double elapsed = output_.seconds() - start_;
  if (done_ > 0 && elapsed > 0) {
    const double rate = static_cast<double>(done_) / elapsed;
    text += fmt::format("  {:.3g} {}/s", rate, unit_);
    if (total_ > done_)
      text += fmt::format("  {} left", durationText(static_cast<double>(total_ - done_) / rate));
  }
  if (!note_.empty()) text += "  " + note_;
  return text;
}

void Progress::draw() {
  lastDraw_ = output_.seconds();
  std::string text = line();
  // One column stays free: a full line would wrap, and then could not be erased.
  if (text.size() >= output_.columns) text.resize(std::max<size_t>(output_.columns, 1) - 1);
  WorkWatch::drawnByAnother();
  output_.write(std::string(kEraseLine) + text);
  shown_ = true;
}

}  // namespace sunder
