#include "sunder/base/work.h"

#include "sunder/base/stop.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace sunder {

namespace {

constexpr auto kWatchInterval = std::chrono::milliseconds(100);
constexpr const char* kWatchErase = "\r\x1b[K";

}  // namespace

struct WorkWatch::State {
  explicit State(ProgressOutput o) : output(std::move(o)), owner(std::this_thread::get_id()) {}

  std::string line() const;
  void draw();
  void erase();

  ProgressOutput output;
  const std::thread::id owner;
  std::vector<Work*> open;  // outermost first
  bool shown = false, ending = false;
  std::condition_variable end;
  std::thread drawer;
};

namespace {

// Guards the watch that there is and the works it sees.
std::mutex& watchMutex() {
  static std::mutex mutex;
  return mutex;
}

int hiders = 0;                       // calls of hide() without show()
double lastDrawn = 0;                 // by another than the watch, on the watch's clock
constexpr double kSilentSeconds = 1;  // of another, after which the watch speaks

}  // namespace

std::atomic<WorkWatch::State*> WorkWatch::current_{nullptr};

std::string WorkWatch::State::line() const {
  std::string text;
  const double now = output.seconds();
  for (const Work* work : open)
    text += work == open.back() ? work->line(now) : fmt::format("{}: ", work->heading());
  if (!open.empty()) text += fmt::format("  {}", durationText(now - open.front()->start_));
  return text;
}

void WorkWatch::State::draw() {
  std::string text = line();
  if (text.empty() || (hiders > 0 && output.seconds() - lastDrawn < kSilentSeconds)) return;
  // One column stays free: a full line would wrap, and then could not be erased.
  if (text.size() >= output.columns) text.resize(std::max<size_t>(output.columns, 1) - 1);
  output.write(kWatchErase + text);
  shown = true;
}

void WorkWatch::State::erase() {
  if (shown) output.write(kWatchErase);
  shown = false;
}

WorkWatch::WorkWatch(ProgressOutput output) {
  if (!output.terminal) return;
  const std::lock_guard lock(watchMutex());
  if (current_) return;
  state_ = std::make_unique<State>(std::move(output));
  try {
    state_->drawer = std::thread([state = state_.get()] {
      std::unique_lock guard(watchMutex());
      while (!state->end.wait_for(guard, kWatchInterval, [&] { return state->ending; })) state->draw();
    });
  } catch (const std::system_error&) {
    state_.reset();  // no thread to be had: work goes on without a line
    return;
  }
  current_ = state_.get();
}

WorkWatch::~WorkWatch() {
  if (!state_) return;
  {
    const std::lock_guard lock(watchMutex());
    for (Work* work : state_->open) work->watched_ = false;
    state_->ending = true;
    current_ = nullptr;
  }
  state_->end.notify_one();
  state_->drawer.join();
  state_->erase();
}

std::string WorkWatch::line() const {
  if (!state_) return "";
  const std::lock_guard lock(watchMutex());
  return state_->line();
}

void WorkWatch::draw() {
  if (!state_) return;
  const std::lock_guard lock(watchMutex());
  state_->draw();
}

void WorkWatch::erase() {
  const std::lock_guard lock(watchMutex());
  if (State* state = current_) state->erase();
}

void WorkWatch::hide() {
  const std::lock_guard lock(watchMutex());
  ++hiders;
  State* state = current_;
  if (!state) return;
  state->erase();
  lastDrawn = state->output.seconds();
}

void WorkWatch::drawnByAnother() {
  if (!current_) return;
  const std::lock_guard lock(watchMutex());
  if (State* state = current_) {
    state->shown = false;
    lastDrawn = state->output.seconds();
  }
}

void WorkWatch::show() {
  const std::lock_guard lock(watchMutex());
  --hiders;
}

Work::Work(std::string what, uint64_t total, std::string unit)
    : what_(std::move(what)), unit_(std::move(unit)), total_(total) {
  if (!WorkWatch::current_) return;
  const std::lock_guard lock(watchMutex());
  WorkWatch::State* state = WorkWatch::current_;
  if (!state || state->owner != std::this_thread::get_id()) return;
  start_ = state->output.seconds();
  state->open.push_back(this);
  watched_ = true;
}

Work::~Work() {
  if (!watched_) return;
  const std::lock_guard lock(watchMutex());
  WorkWatch::State* state = WorkWatch::current_;
  if (!state) return;
  std::erase(state->open, this);
  if (state->open.empty()) state->erase();
}

void Work::step(uint64_t count) {
  done_.fetch_add(count, std::memory_order_relaxed);
  checkStop();
}

void Work::set(uint64_t done) {
  done_.store(done, std::memory_order_relaxed);
  checkStop();
}

void Work::note(std::string text) {
  if (!watched_) return;
  const std::lock_guard lock(watchMutex());
  note_ = std::move(text);
}

std::string Work::heading() const {
  return total_ > 0 ? fmt::format("{} {}/{}", what_, std::min(done() + 1, total_), total_) : what_;
}

std::string Work::line(double seconds) const {
  const uint64_t count = done();
  std::string text = what_;
  if (total_ > 0) {
    const double share = std::min(1.0, static_cast<double>(count) / static_cast<double>(total_));
    text += fmt::format("  {}%  {}/{} {}", static_cast<int>(100 * share), count, total_, unit_);
  } else if (!unit_.empty()) {
    text += fmt::format("  {} {}", count, unit_);
  }
  const double elapsed = seconds - start_;
  if (count > 0 && elapsed > 0 && !unit_.empty()) {
    const double rate = static_cast<double>(count) / elapsed;
    text += fmt::format("  {:.3g} {}/s", rate, unit_);
    if (total_ > count)
      text += fmt::format("  {} left", durationText(static_cast<double>(total_ - count) / rate));
  }
  if (!note_.empty()) text += "  " + note_;
  return text;
}

}  // namespace sunder
