// Where the time goes: a tree of named stages with calls, total and longest time.
//
//   Profiler profiler;
//   { Profiler::Activation active(profiler);  step(); }     // inside: ProfileScope scope("solve");
//   fmt::print("{}", profiler.table());
//
// A ProfileScope records into the profiler that is active on its thread and does nothing where none is.
// Worker threads of parallel loops have none active, so put scopes around loops, not inside their bodies.
//
// Cost: two clock readings and a search among the sibling stages, about 60 ns; one load and a test when
// inactive.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sunder {

class Json;

class Profiler {
 public:
  struct Stage {
    std::string name;
    uint32_t parent = 0;
    std::vector<uint32_t> children;  // in the order of their first call
    uint64_t calls = 0;
    double total = 0, longest = 0;  // seconds
  };

  // Makes a profiler the thread's active one while it lives; the one before is active again afterwards.
  class Activation {
   public:
    explicit Activation(Profiler& profiler);
    ~Activation();
    Activation(const Activation&) = delete;
    Activation& operator=(const Activation&) = delete;

   private:
    Profiler* outer_;
  };

  Profiler();
  explicit Profiler(std::function<double()> seconds);  // another clock, for tests

  static Profiler* active();  // on this thread, or nullptr

  const std::vector<Stage>& stages() const {
    return stages_;
  }              // stage 0 is the root, which has no name and no times
  void clear();  // not inside a scope

  // Stages indented under their parents, with calls, total, mean and longest time, and the share of the
  // parent.
  std::string table() const;
  // [{"name", "calls", "total", "longest", "children": [...]}, ...], times in seconds
  Json json() const;

 private:
  friend class ProfileScope;
  void enter(std::string_view name);
  void leave(double start);

  std::function<double()> seconds_;
  std::vector<Stage> stages_;
  uint32_t current_ = 0;
};

class ProfileScope {
 public:
  explicit ProfileScope(std::string_view name) : profiler_(Profiler::active()) {
    if (profiler_) begin(name);
  }
  ~ProfileScope() {
    if (profiler_) profiler_->leave(start_);
  }
  ProfileScope(const ProfileScope&) = delete;
  ProfileScope& operator=(const ProfileScope&) = delete;

 private:
  void begin(std::string_view name);

  Profiler* profiler_;
  double start_ = 0;
};

}  // namespace sunder
