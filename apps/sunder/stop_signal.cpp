#include "stop_signal.h"

#include "sunder/base/stop.h"

#include <csignal>
#include <cstdint>
#include <ctime>

#include <unistd.h>

namespace sunder::cli {

namespace {

constexpr int64_t kPatience = 2'000'000'000;  // ns from the first signal to one that ends the program

// Constant initialisers: the handler may run before main.
constinit std::atomic<bool> asked{false};
constinit std::atomic<int> signalNumber{SIGINT};
constinit std::atomic<int64_t> askedAt{0};  // ns

int64_t clockNow() noexcept {
  struct timespec now {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

void askToStop(int signal) {
  if (!asked.exchange(true)) {
    signalNumber = signal;
    askedAt = clockNow();
    requestStop();
  } else if (askedAt != 0 && clockNow() - askedAt > kPatience) {
    constexpr char kText[] = "sunder: stopped at once\n";
    (void)!::write(STDERR_FILENO, kText, sizeof kText - 1);
    ::_exit(interruptedCode());
  }
}

}  // namespace

void catchStopSignals() noexcept {
  for (const int number : {SIGINT, SIGTERM}) std::signal(number, askToStop);
}

const std::atomic<bool>& stopAsked() { return asked; }

int interruptedCode() { return 128 + signalNumber; }

}  // namespace sunder::cli
