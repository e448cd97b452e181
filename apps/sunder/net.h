// The net under the command: whatever a verb throws ends in one line on standard error and an exit code,
// never in a signal. docs/cli/exit-codes.md lists the codes.
//
// Reporting an exception does not allocate, so that it works when memory is what ran out. Only the JSON
// object of an Error is composed on the heap; where that fails, a fixed object takes its place.
#pragma once

namespace sunder::cli {

// Call it first. Signals that ask to stop (stop_signal.h) are noted before it already. Standard streams that
// the caller closed are opened again, so that no file of ours takes their numbers; writing to them fails. A
// reader that goes away and a file that may not grow become errors of the write instead of signals. An
// exception that leaves a thread or a destructor ends the program by reportException().
void prepareProcess(int argc, char** argv);

// True if --json is among the arguments that prepareProcess() saw. Known before parsing, so that a usage
// error comes out as JSON too.
bool jsonAsked();

// Prints the exception that is being handled; returns the exit code that it ends with. Call it inside a catch
// block.
int reportException() noexcept;

// Flushes standard output and returns the exit code of the program: `code`, or 1 where the output could not
// be written. A reader that went away ("| head -1") is no failure.
int finishOutput(int code) noexcept;

}  // namespace sunder::cli
