#include "sunder/base/prefix_sum.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"

#include <cassert>
#include <limits>
#include <string>
#include <vector>

namespace sunder {

namespace {

constexpr size_t kScanBlock = size_t(1) << 16;

[[noreturn]] void failTooLarge(unsigned bits) {
  throw Error(ErrorKind::Limit, "a sum of counts does not fit " + std::to_string(bits) + " bits")
      .hint("the problem is too large; split it");
}

// Writes the scan of [begin, end) that starts at `sum` and returns the sum after it.
template <class In, class Out>
uint64_t scanBlock(const In* in, Out* out, size_t begin, size_t end, uint64_t sum) {
  for (size_t i = begin; i < end; ++i) {
    const uint64_t value = in[i];  // read before write: in and out may be the same
    out[i] = static_cast<Out>(sum);
    sum += value;
  }
  return sum;
}

// The sum of [begin, end) started at `sum`; false where 64 bits overflow.
template <class In>
bool addBlock(const In* in, size_t begin, size_t end, uint64_t& sum) {
  uint64_t block = 0, carry = 0;
  for (size_t i = begin; i < end; ++i) {
    block += in[i];
    if constexpr (sizeof(In) == 8) carry |= uint64_t(block < in[i]);
  }
  sum += block;
  return carry == 0 && sum >= block;
}

template <class In, class Out>
Out scan(std::span<const In> in, std::span<Out> out) {
  assert(out.size() == in.size() || out.size() == in.size() + 1);
  const size_t n = in.size();
  uint64_t total = 0;
  bool fits = true;
  if (n <= kScanBlock || threadCount() == 1) {
    if constexpr (sizeof(In) == 8) {
      uint64_t check = 0;
      fits = addBlock(in.data(), 0, n, check);
    }
    total = scanBlock(in.data(), out.data(), 0, n, 0);
  } else {
    std::vector<uint64_t> starts((n + kScanBlock - 1) / kScanBlock, 0);
    std::vector<uint8_t> good(starts.size(), 1);
    parallelBlocks(n, kScanBlock, [&](size_t begin, size_t end) {
      const size_t block = begin / kScanBlock;
      good[block] = addBlock(in.data(), begin, end, starts[block]);
    });
    for (size_t block = 0; block < starts.size(); ++block) {
      const uint64_t sum = starts[block];
      starts[block] = total;
      total += sum;
      fits = fits && good[block] && total >= sum;
    }
    if (fits && total <= std::numeric_limits<Out>::max()) {
      parallelBlocks(n, kScanBlock, [&](size_t begin, size_t end) {
        scanBlock(in.data(), out.data(), begin, end, starts[begin / kScanBlock]);
      });
    }
  }
  if (!fits || total > std::numeric_limits<Out>::max()) failTooLarge(8 * sizeof(Out));
  if (out.size() > n) out[n] = static_cast<Out>(total);
  return static_cast<Out>(total);
}

}  // namespace

uint32_t exclusiveScan(std::span<const uint32_t> in, std::span<uint32_t> out) { return scan(in, out); }
uint64_t exclusiveScan(std::span<const uint32_t> in, std::span<uint64_t> out) { return scan(in, out); }
uint64_t exclusiveScan(std::span<const uint64_t> in, std::span<uint64_t> out) { return scan(in, out); }

uint32_t exclusiveScan(std::span<uint32_t> values) { return scan(std::span<const uint32_t>(values), values); }
uint64_t exclusiveScan(std::span<uint64_t> values) { return scan(std::span<const uint64_t>(values), values); }

}  // namespace sunder
