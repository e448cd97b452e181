// A request to end long work early: Ctrl-C of the command, or a program that changed its mind.
//
// requestStop() sets one flag for the whole process. Parallel loops look at it before every block, and long
// serial loops call checkStop(); both throw Interrupted, which unwinds to whoever started the work. Results
// that were begun are dropped: files appear under their names only when they are whole.
//
// Interrupted is not an Error, because nothing is wrong: code that handles an Error (a body that cannot
// break, a piece that cannot be cut) must not take a request to stop for one.
//
// Work that must not end halfway (writing a frame), and work that ends itself with the best result so
// far, holds a StopDeferral: while one lives, checkStop() does nothing in the whole process, and
// stopRequested() still tells. Work that is worth finishing only if it ends soon holds a StopGrace.
#pragma once

#include <exception>

namespace sunder {

class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

// Any thread, also a signal handler. Lasts until clearStop().
void requestStop() noexcept;
void clearStop() noexcept;
bool stopRequested() noexcept;

// Throws Interrupted if a stop is requested and not deferred. Costs two loads.
void checkStop();

class StopDeferral {
 public:
  StopDeferral() noexcept;
  ~StopDeferral();
  StopDeferral(const StopDeferral&) = delete;
  StopDeferral& operator=(const StopDeferral&) = delete;
};

// While one lives, checkStop() throws no sooner than `seconds` after the request. One at a time.
class StopGrace {
 public:
  explicit StopGrace(double seconds) noexcept;
  ~StopGrace();
  StopGrace(const StopGrace&) = delete;
  StopGrace& operator=(const StopGrace&) = delete;
};

}  // namespace sunder
