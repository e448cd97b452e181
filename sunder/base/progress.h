// One line on the terminal that says how far a long job is:  cutting  42%  420/1000 steps  118 steps/s  4.9 s
// left Drawn at most ten times a second and only where stderr is a terminal; elsewhere it writes nothing. The
// line is erased when the object goes away, or kept with finish().
//
// Cost: advance() is a clock reading, some 30 ns; call it per step or block, not per element. One thread at a
// time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace sunder {

// Where a Progress writes and what time it is.
struct ProgressOutput {
  std::function<void(std::string_view)> write;
  std::function<double()> seconds;  // of a clock that never goes back
  bool terminal = false;
  size_t columns = 80;

  static ProgressOutput standardError();
};

class Progress {
 public:
  // total 0: the end is not known.
  Progress(std::string label, uint64_t total, std::string unit = "steps",
           ProgressOutput output = ProgressOutput::standardError());
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(uint64_t count = 1) { set(done_ + count); }
  void set(uint64_t done);
  void note(std::string text);  // shown at the end of the line
  void show(std::string line);  // this line from now on, instead of the one made here
  void finish();                // the last state stays on the terminal
  void erase();                 // before other output; the next update draws the line again

  std::string line() const;

 private:
  void draw();

  std::string label_, unit_, note_, own_;
  uint64_t total_, done_ = 0;
  ProgressOutput output_;
  double start_, lastDraw_;
  bool shown_ = false, finished_ = false;
};

// 12 s, 3 min 20 s, 2 h 5 min
std::string durationText(double seconds);

}  // namespace sunder
