// Exclusive prefix sums: out[i] = in[0] + ... + in[i-1], and the total is returned. The middle step of every
// list that is made by count, prefix sum, write.
//
// `out` may be `in` itself. It has as many elements as `in`, or one more, which then receives the total
// (offsets of groups that end where the next begins). Sums are made in 64 bits: a total that does not fit the
// output throws Error (Limit), and the output's content is then unspecified.
//
// Cost: one pass in one thread; with more threads two passes over fixed blocks, the sums of the blocks and
// then the elements. Integers, so the result is the same for any number of threads.
#pragma once

#include <cstdint>
#include <span>

namespace sunder {

uint32_t exclusiveScan(std::span<const uint32_t> in, std::span<uint32_t> out);
uint64_t exclusiveScan(std::span<const uint32_t> in, std::span<uint64_t> out);
uint64_t exclusiveScan(std::span<const uint64_t> in, std::span<uint64_t> out);

// In place.
uint32_t exclusiveScan(std::span<uint32_t> values);
uint64_t exclusiveScan(std::span<uint64_t> values);

}  // namespace sunder
