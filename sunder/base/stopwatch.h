// Seconds on the clock that never goes back: for statistics and costs, never for what a result depends on.
// Deadlines of waits use the clock itself, whose type they need. One reading takes some 25 ns.
#pragma once

#include <chrono>

namespace sunder {

// Since some moment in the past, which stays the same while the program runs.
inline double steadySeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Runs from when it is made.
class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  // The same, and starts anew at that moment: laps add up to the whole.
  double lap() {
    const Clock::time_point now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - start_).count();
    start_ = now;
    return seconds;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

// Adds the seconds of a scope to a sum when the scope ends, by an exception too.
class ScopeTimer {
 public:
  explicit ScopeTimer(double& sum) : sum_(sum) {}
  ~ScopeTimer() { sum_ += watch_.seconds(); }
  ScopeTimer(const ScopeTimer&) = delete;
  ScopeTimer& operator=(const ScopeTimer&) = delete;

 private:
  double& sum_;
  Stopwatch watch_;
};

}  // namespace sunder
