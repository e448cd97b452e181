#include "stop_signal.h"

#include <csignal>

namespace sunder::cli {

namespace {

std::atomic<bool> asked{false};

void askToStop(int signal) {
  asked = true;
  std::signal(signal, SIG_DFL);
}

}  // namespace

void catchStopSignals() {
  asked = false;
  std::signal(SIGINT, askToStop);
  std::signal(SIGTERM, askToStop);
}

const std::atomic<bool>& stopAsked() { return asked; }

}  // namespace sunder::cli
