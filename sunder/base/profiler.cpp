#include "sunder/base/profiler.h"

#include "sunder/base/json.h"
#include "sunder/base/stopwatch.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include <fmt/core.h>

namespace sunder {

namespace {

thread_local Profiler* activeProfiler = nullptr;

struct Line {
  uint32_t stage;
  size_t depth;
};

// Parents before children, without recursion: scopes may nest as deep as the program likes.
std::vector<Line> depthFirst(const std::vector<Profiler::Stage>& stages) {
  std::vector<Line> lines, open{{0, 0}};
  while (!open.empty()) {
    const Line line = open.back();
    open.pop_back();
    lines.push_back(line);
    const std::vector<uint32_t>& children = stages[line.stage].children;
    for (size_t i = children.size(); i-- > 0;) open.push_back({children[i], line.depth + 1});
  }
  return lines;
}

}  // namespace

Profiler::Activation::Activation(Profiler& profiler) : outer_(std::exchange(activeProfiler, &profiler)) {}
Profiler::Activation::~Activation() { activeProfiler = outer_; }

Profiler::Profiler() : Profiler(steadySeconds) {}
Profiler::Profiler(std::function<double()> seconds) : seconds_(std::move(seconds)) { clear(); }

Profiler* Profiler::active() { return activeProfiler; }

void Profiler::clear() {
  assert(current_ == 0);
  stages_.assign(1, Stage{});
}

void Profiler::enter(std::string_view name) {
  for (uint32_t child : stages_[current_].children) {
    if (stages_[child].name == name) {
      current_ = child;
      return;
    }
  }
  const auto added = static_cast<uint32_t>(stages_.size());
  Stage stage;
  stage.name = name;
  stage.parent = current_;
  stages_.push_back(std::move(stage));
  stages_[current_].children.push_back(added);
  current_ = added;
}

void Profiler::leave(double start) {
  const double seconds = seconds_() - start;
  Stage& stage = stages_[current_];
  ++stage.calls;
  stage.total += seconds;
  stage.longest = std::max(stage.longest, seconds);
  current_ = stage.parent;
}

void ProfileScope::begin(std::string_view name) {
  profiler_->enter(name);
  start_ = profiler_->seconds_();
}

std::string Profiler::table() const {
  const std::vector<Line> lines = depthFirst(stages_);
  size_t width = 5;
  for (const Line& line : lines) {
    if (line.depth > 0) width = std::max(width, 2 * (line.depth - 1) + stages_[line.stage].name.size());
  }
  std::string text = fmt::format("{:<{}} {:>10} {:>12} {:>12} {:>12} {:>6}\n", "stage", width, "calls",
                                 "total ms", "mean ms", "longest ms", "share");
  for (const Line& line : lines) {
    if (line.depth == 0) continue;
    const Stage& stage = stages_[line.stage];
    double whole = stages_[stage.parent].total;
    if (stage.parent == 0) {
      for (uint32_t sibling : stages_[0].children) whole += stages_[sibling].total;
    }
    const double mean = stage.calls ? stage.total / static_cast<double>(stage.calls) : 0;
    text += fmt::format("{:<{}} {:>10} {:>12.3f} {:>12.4f} {:>12.4f} {:>5.1f}%\n",
                        std::string(2 * (line.depth - 1), ' ') + stage.name, width, stage.calls,
                        1e3 * stage.total, 1e3 * mean, 1e3 * stage.longest,
                        whole > 0 ? 100 * stage.total / whole : 0.0);
  }
  return text;
}

Json Profiler::json() const {
  const std::vector<Line> lines = depthFirst(stages_);
  // Children come after their parents in `lines`, so that going backwards every stage is complete when it is
  // moved into its parent.
  std::vector<Json> children(stages_.size());
  for (size_t i = lines.size(); i-- > 0;) {
    const uint32_t index = lines[i].stage;
    Json mine = Json::array();
    for (uint32_t child : stages_[index].children) {
      const Stage& stage = stages_[child];
      mine.push_back({{"name", stage.name},
                      {"calls", stage.calls},
                      {"total", stage.total},
                      {"longest", stage.longest},
                      {"children", std::move(children[child])}});
    }
    children[index] = std::move(mine);
  }
  return std::move(children[0]);
}

}  // namespace sunder
