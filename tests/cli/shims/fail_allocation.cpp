// Preloaded into the command by the tests: makes allocations fail.
//
//   SUNDER_FAIL_AT=n      the n-th allocation of the process fails (from 1)
//   SUNDER_FAIL_ON=1      and so do all after it
//   SUNDER_COUNT_TO=FILE  at the end the number of allocations is written there
//
// The functions that glibc's own are built on are called directly, so that looking them up needs no memory.
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include <fcntl.h>
#include <unistd.h>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
}

namespace {

std::atomic<long> count{0};
long failAt = -1;  // -1: not read from the environment yet
bool failOn = false;

// getenv does not allocate, but the environment may not be there yet in the earliest calls.
bool fails() {
  if (failAt < 0 && environ) {
    const char* at = std::getenv("SUNDER_FAIL_AT");
    failAt = at ? std::atol(at) : 0;
    failOn = std::getenv("SUNDER_FAIL_ON") != nullptr;
  }
  const long number = ++count;
  if (failAt <= 0) return false;
  const bool failing = failOn ? number >= failAt : number == failAt;
  if (failing) errno = ENOMEM;
  return failing;
}

__attribute__((destructor)) void writeCount() {
  const char* path = std::getenv("SUNDER_COUNT_TO");
  if (!path) return;
  const int file = ::open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (file < 0) return;
  char text[32];
  const int size = std::snprintf(text, sizeof text, "%ld\n", count.load());
  (void)!::write(file, text, static_cast<size_t>(size));
  ::close(file);
}

}  // namespace

extern "C" {

void* malloc(size_t size) { return fails() ? nullptr : __libc_malloc(size); }
void* calloc(size_t number, size_t size) { return fails() ? nullptr : __libc_calloc(number, size); }
void* realloc(void* old, size_t size) { return fails() ? nullptr : __libc_realloc(old, size); }
void* memalign(size_t alignment, size_t size) { return fails() ? nullptr : __libc_memalign(alignment, size); }
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void** out, size_t alignment, size_t size) {
  void* made = memalign(alignment, size);
  if (!made) return ENOMEM;
  *out = made;
  return 0;
}

}  // extern "C"
