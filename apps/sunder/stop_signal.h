// Ctrl-C and SIGTERM: the first signal asks the work to end (sunder::requestStop). More of them soon after,
// from an impatient hand or from a program that signals the whole group as well, change nothing, so that
// unfinished files are still removed; one that comes later ends the program at once.
#pragma once

#include <atomic>

namespace sunder::cli {

// From here on signals are noted. Needs no initialiser to have run, so that it can come before all of them.
void catchStopSignals() noexcept;
const std::atomic<bool>& stopAsked();
// 128 and the number of the signal that asked, as shells have it: 130 for Ctrl-C, 143 for SIGTERM.
int interruptedCode();

}  // namespace sunder::cli
