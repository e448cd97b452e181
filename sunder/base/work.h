// Long work that says how far it is and that can be stopped. The library opens a Work around a loop and
// counts its steps; a program that wants to show them keeps a WorkWatch, which draws one line on the terminal
// ten times a second from a thread of its own:
//
//   filling  42%  420/1000 blocks  118 blocks/s  4.9 s left
//   fitting  12400 cells  3100 cells/s  error 0.0032, target 0.001  4.0 s
//
// The second form is for work that grows while it is done: its end is not known, so none is claimed. The time
// at the end is how long the work has taken so far; it goes on while a step takes long.
//
// A Work is seen by the watch if it is opened on the thread that made the watch. Of works inside of works the
// outer ones are named before the line of the innermost. One watch at a time: a second one, and one whose
// output is no terminal, shows nothing. While a Progress with a terminal lives, the line belongs to it, and
// the watch draws only where the Progress has drawn nothing for a second.
//
// Cost: step() is an atomic addition and a look at the request to stop, some 5 ns. Opening a Work takes a
// lock where there is a watch.
#pragma once

#include "sunder/base/progress.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace sunder {

class Work {
 public:
  // total 0: the end is not known.
  explicit Work(std::string what, uint64_t total = 0, std::string unit = "");
  ~Work();
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  // From any thread. Throws Interrupted if a stop is requested.
  void step(uint64_t count = 1);
  void set(uint64_t done);
  // What else is known, shown behind the count: the error so far and its target. Not from several threads.
  void note(std::string text);

  uint64_t done() const { return done_.load(std::memory_order_relaxed); }

 private:
  friend class WorkWatch;
  std::string heading() const;
  std::string line(double seconds) const;

  std::string what_, unit_, note_;
  uint64_t total_;
  std::atomic<uint64_t> done_{0};
  double start_ = 0;
  bool watched_ = false;
};

class WorkWatch {
 public:
  explicit WorkWatch(ProgressOutput output = ProgressOutput::standardError());
  ~WorkWatch();  // erases the line
  WorkWatch(const WorkWatch&) = delete;
  WorkWatch& operator=(const WorkWatch&) = delete;

  std::string line() const;  // what the terminal shows
  void draw();

  // Erases the line of the watch that there is, if any: before other text on the terminal.
  static void erase();
  // Between these two calls, which nest, somebody else draws the line and says so each time.
  static void hide();
  static void show();
  static void drawnByAnother();

 private:
  friend class Work;
  struct State;
  static std::atomic<State*> current_;  // of the watch that there is
  std::unique_ptr<State> state_;        // null: shows nothing
};

}  // namespace sunder
