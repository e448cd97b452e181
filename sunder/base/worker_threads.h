// The worker threads behind parallel loops. Not for use outside of parallel.cpp.
//
// oneTBB starts its workers in the middle of a loop, one by one, also from each other. A worker that the
// system refuses there (a limit on memory or on processes) ends the process, or leaves oneTBB waiting without
// end for the next change of demand. So no loop may start one: threads are tried first, those that the system
// grants are started at once, and they stay for the rest of the process.
// Results do not depend on how many there are.
//
// Cost: some 50 microseconds a thread, once.
#pragma once

namespace sunder::detail {

// Starts workers so that `wanted` threads, the caller among them, can take part in loops, and returns how
// many can: fewer where the system does not grant them, at least 1. Any thread may call it.
unsigned startWorkers(unsigned wanted);

}  // namespace sunder::detail
