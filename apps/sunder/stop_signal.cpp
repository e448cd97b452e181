#include "stop_signal.h"

#include "sunder/base/stop.h"

#include <csignal>

namespace sunder::cli {

namespace {

std::atomic<bool> asked{false};
std::atomic<int> signalNumber{SIGINT};

void askToStop(int signal) {
  signalNumber = signal;
  asked = true;
  requestStop();
  std::signal(signal, SIG_DFL);
}

}  // namespace

void catchStopSignals() {
  if (asked) return;
  std::signal(SIGINT, askToStop);
  std::signal(SIGTERM, askToStop);
}

const std::atomic<bool>& stopAsked() { return asked; }

int interruptedCode() { return 128 + signalNumber; }

}  // namespace sunder::cli
