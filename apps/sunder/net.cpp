#include "net.h"

#include "sunder/base/error.h"
#include "sunder/base/stop.h"

#include "command.h"
#include "stop_signal.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace sunder::cli {

namespace {

// How much of the main thread's stack is made at the start. Under a limit of the address space a stack that
// cannot grow later would be a signal.
constexpr size_t kStackMade = size_t(1) << 20;
constexpr size_t kStackSpare = size_t(256) << 10;  // beside it: what is called until then, and the guard gap
constexpr std::string_view kReport = "please report it, with the command";
constexpr std::string_view kSmaller = "make the input smaller or coarser";
constexpr std::string_view kAllow = "allow more memory";

bool jsonWanted = false;
std::atomic<bool> terminating{false}, reported{false};

// Text of any length to standard error, without the heap. Everything before finish() is one line: control
// characters, as names of files may hold, become question marks.
class ErrorLine {
 public:
  ErrorLine& operator<<(std::string_view text) {
    for (const char c : text) put(static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c);
    return *this;
  }
  void colour(const char* code) {
    if (terminal_)
      for (; *code; ++code) put(*code);
  }
  void finish() {
    put('\n');
    flush();
  }

 private:
  void put(char c) {
    if (used_ == sizeof buffer_) flush();
    buffer_[used_++] = c;
  }
  void flush() {
    for (size_t done = 0; done < used_;) {
      const ssize_t count = ::write(STDERR_FILENO, buffer_ + done, used_ - done);
      if (count < 0 && errno != EINTR) break;
      if (count > 0) done += static_cast<size_t>(count);
    }
    used_ = 0;
  }

  char buffer_[512];
  size_t used_ = 0;
  bool terminal_ = ::isatty(STDERR_FILENO) == 1;
};

struct Trouble {
  ErrorKind kind;
  std::string_view message, file = {}, place = {}, hint = {};
  std::string_view detail = {};  // stands after the message
};

void printLine(const Trouble& trouble) {
  ErrorLine line;
  line << "sunder: ";
  line.colour("\x1b[31m\x1b[1m");
  line << "error: ";
  line.colour("\x1b[m");
  line << trouble.file;
  if (!trouble.place.empty()) line << (trouble.file.empty() ? "" : ":") << trouble.place;
  if (!trouble.file.empty() || !trouble.place.empty()) line << ": ";
  line << trouble.message << (trouble.detail.empty() ? "" : ": ") << trouble.detail;
  if (!trouble.hint.empty()) line << " (" << trouble.hint << ")";
  line.finish();
}

Json jsonOf(const Trouble& trouble) {
  return {{"kind", name(trouble.kind)},
          {"message",
           std::string(trouble.message) + (trouble.detail.empty() ? "" : ": ") + std::string(trouble.detail)},
          {"file", trouble.file},
          {"place", trouble.place},
          {"hint", trouble.hint}};
}

Trouble troubleOf(const Error& e) { return {e.kind(), e.message(), e.file(), e.place(), e.hint()}; }

// With what came with it, of an input with several errors.
void printObject(const Trouble& trouble, std::span<const Error> others = {}) {
  try {
    Json json = {{"error", jsonOf(trouble)}};
    for (const Error& other : others) json["more_errors"].push_back(jsonOf(troubleOf(other)));
    printJson(json);
  } catch (...) {
    std::cout
        << R"({"error": {"kind": "limit", "message": "out of memory", "file": "", "place": "", "hint": ""}})"
        << '\n';
  }
}

// What fails after the first failure, in another thread or on the way out, only follows from it.
int report(const Trouble& trouble, int code) {
  if (reported.exchange(true)) return code;
  printLine(trouble);
  if (jsonWanted) printObject(trouble);
  return code;
}

int report(const Trouble& trouble) { return report(trouble, exitCode(trouble.kind)); }

int reportErrors(const Error& error) {
  const int code = exitCode(error.kind());
  if (reported.exchange(true)) return code;
  printLine(troubleOf(error));
  for (const Error& other : error.others()) printLine(troubleOf(other));
  if (jsonWanted) printObject(troubleOf(error), error.others());
  return code;
}

// Whether a failed system call blames the input (a name, a permission) or the job (a full disk, no threads).
ErrorKind kindOf(const std::error_code& code) {
  for (const std::errc blame :
       {std::errc::no_such_file_or_directory, std::errc::permission_denied,
        std::errc::operation_not_permitted, std::errc::filename_too_long,
        std::errc::too_many_symbolic_link_levels, std::errc::not_a_directory, std::errc::is_a_directory,
        std::errc::file_exists, std::errc::invalid_argument})
    if (code == blame) return ErrorKind::Missing;
  return ErrorKind::Write;
}

const char* reasonOf(const std::error_code& code) {
  const bool system = code.category() == std::generic_category() || code.category() == std::system_category();
  return system ? ::strerror(code.value()) : code.category().name();
}

int reportNoThread() {
  return report({ErrorKind::Limit,
                 "a thread could not be started",
                 {},
                 {},
                 "give fewer --threads, or allow more memory and processes"});
}

int reportSystem(const std::system_error& error) {
  if (error.code() == std::errc::resource_unavailable_try_again) return reportNoThread();
  return report({kindOf(error.code()), reasonOf(error.code())});
}

int reportInterrupt() {
  ErrorLine line;
  line << "sunder: interrupted";
  line.finish();
  if (jsonWanted) std::cout << R"({"error": {"kind": "interrupted", "message": "interrupted"}})" << '\n';
  return interruptedCode();
}

[[noreturn]] void onTerminate() noexcept {
  if (terminating.exchange(true)) {  // another thread is about to print its line, or printing threw
    ::sleep(1);
    ::_exit(1);
  }
  // Without an exception there was no memory to make one, as far as we know.
  int code = exitCode(ErrorKind::Limit);
  if (std::current_exception())
    code = reportException();
  else
    printLine({ErrorKind::Limit, "out of memory to say what went wrong", {}, {}, "allow more memory"});
  ::_exit(code);
}

// Before all initialisers, those of shared libraries too, which allocate, may throw and take most of the time
// that the program needs to start.
void installHandlers(int, char**, char**) {
  std::set_terminate(onTerminate);
  catchStopSignals();
}
__attribute__((section(".preinit_array"), used)) void (*const installFirst)(int, char**,
                                                                            char**) = installHandlers;

__attribute__((noinline)) void makeStack() {
  volatile char page[kStackMade];
  for (size_t i = 0; i < kStackMade; i += 4096) page[i] = 0;
  (void)page[0];
}

// Bytes of the main thread's stack from its top, where the arguments and the environment are, to here.
size_t stackUsed(int argc, char** argv) {
  char here = 0;
  uintptr_t top = reinterpret_cast<uintptr_t>(&here);
  const auto look = [&](const char* text) {
    top = std::max(top, reinterpret_cast<uintptr_t>(text) + std::strlen(text));
  };
  for (int i = 0; i < argc; ++i) look(argv[i]);
  for (char** entry = environ; *entry; ++entry) look(*entry);
  return top - reinterpret_cast<uintptr_t>(&here);
}

// A stack that ends too early would be a signal. The soft limit is ours to raise, also for threads, which
// take theirs from it; below the hard one nothing is tried.
void requireStack(int argc, char** argv) {
  const size_t needed = stackUsed(argc, argv) + kStackMade + kStackSpare;
  pthread_attr_t threads;
  if (::pthread_getattr_default_np(&threads) == 0) {
    size_t size = 0;
    if (::pthread_attr_getstacksize(&threads, &size) == 0 && size < 2 * kStackMade &&
        ::pthread_attr_setstacksize(&threads, 2 * kStackMade) == 0)
      ::pthread_setattr_default_np(&threads);
    ::pthread_attr_destroy(&threads);
  }
  // Room in the address space is tried out with a mapping, which can fail without a signal.
  void* const room = ::mmap(nullptr, kStackMade + kStackSpare, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED)
    std::exit(report({ErrorKind::Limit, "out of memory for the stack", {}, {}, kAllow}));
  ::munmap(room, kStackMade + kStackSpare);
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= needed) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 8 * kStackMade);
  if (limit.rlim_cur >= needed && ::setrlimit(RLIMIT_STACK, &limit) == 0) return;
  const std::string message = "the stack is limited to " + std::to_string(limit.rlim_cur >> 10) +
                              " kB, and " + std::to_string((needed >> 10) + 1) + " kB are needed";
  std::exit(report({ErrorKind::Limit, message, {}, {}, "raise the limit, in a shell with 'ulimit -s 8192'"}));
}

void openStandardStreams() {
  // The wrong direction: what the caller closed stays unusable, only its number is taken.
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(number, F_GETFD) < 0 && errno == EBADF)
      (void)!::open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

bool readerWentAway() {
  struct pollfd output {
    STDOUT_FILENO, POLLOUT, 0
  };
  return ::poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

}  // namespace

void prepareProcess(int argc, char** argv) {
  openStandardStreams();
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]) == "--json") jsonWanted = true;
  requireStack(argc, argv);
  makeStack();
}

bool jsonAsked() { return jsonWanted; }

int reportException() noexcept {
  try {
    throw;
  } catch (const Error& e) {
    return reportErrors(e);
  } catch (const Interrupted&) {
    return reportInterrupt();
  } catch (const std::bad_alloc&) {
    return report({ErrorKind::Limit, "out of memory", {}, {}, kSmaller});
  } catch (const std::length_error&) {
    return report(
        {ErrorKind::Limit, "out of memory: a list would be longer than memory can hold", {}, {}, kSmaller});
  } catch (const std::filesystem::filesystem_error& e) {
    return report({kindOf(e.code()), reasonOf(e.code()), e.path1().native()});
  } catch (const std::system_error& e) {
    return reportSystem(e);
  } catch (const std::exception& e) {
    if (std::strstr(e.what(), "pthread_create")) return reportNoThread();  // oneTBB's own words
    return report({ErrorKind::Write, "internal error", {}, {}, kReport, e.what()}, 1);
  } catch (...) {
    return report({ErrorKind::Write, "internal error", {}, {}, kReport, "an unknown exception"}, 1);
  }
}

int finishOutput(int code) noexcept {
  std::cout.flush();
  if (std::cout && std::fflush(stdout) == 0 && !std::ferror(stdout)) return code;
  if (readerWentAway()) return code;
  printLine({ErrorKind::Write, "cannot write to standard output"});
  return code == 0 ? 1 : code;
}

}  // namespace sunder::cli
