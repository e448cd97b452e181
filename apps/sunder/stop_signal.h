// Ctrl-C and SIGTERM: the first signal asks (sunder::requestStop), a second one ends the program at once.
#pragma once

#include <atomic>

namespace sunder::cli {

// From here on signals are noted.
void catchStopSignals();
const std::atomic<bool>& stopAsked();
// 128 and the number of the signal that asked, as shells have it: 130 for Ctrl-C, 143 for SIGTERM.
int interruptedCode();

}  // namespace sunder::cli
