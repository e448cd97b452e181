#include "stop_signal.h"

#include <csignal>

namespace sunder::cli {

namespace {

std::atomic<bool> asked{false};
std::atomic<int> number{0};

void askToStop(int signal) {
  number = signal;
  asked = true;
  std::signal(signal, SIG_DFL);
}

}  // namespace

void catchStopSignals() {
  asked = false;
  number = 0;
  std::signal(SIGINT, askToStop);
  std::signal(SIGTERM, askToStop);
}

const std::atomic<bool>& stopAsked() { return asked; }

int stopSignal() { return number; }

}  // namespace sunder::cli
