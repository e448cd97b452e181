// Ctrl-C and SIGTERM for verbs that end in order: the first signal asks, a second one ends the program at
// once.
#pragma once

#include <atomic>

namespace sunder::cli {

// From here on signals are noted; what was noted before is forgotten.
void catchStopSignals();
const std::atomic<bool>& stopAsked();
// The number of the signal that asked; 0: none has. A program that a signal ended exits with 128 more.
int stopSignal();

}  // namespace sunder::cli
