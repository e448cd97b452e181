#include "sunder/base/array/large_pages.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace sunder {

namespace {

std::align_val_t alignmentOf(size_t bytes) {
  return std::align_val_t{bytes >= kLargePage ? kLargePage : kCacheLine};
}

}  // namespace

void* allocatePages(size_t bytes) {
  void* memory = ::operator new(bytes, alignmentOf(bytes));
#if defined(__linux__)
  // Whole pages only: the rest of the last one may belong to somebody else.
  if (bytes >= kLargePage) (void)::madvise(memory, bytes / kLargePage * kLargePage, MADV_HUGEPAGE);
#endif
  return memory;
}

void freePages(void* memory, size_t bytes) noexcept { ::operator delete(memory, alignmentOf(bytes)); }

}  // namespace sunder
