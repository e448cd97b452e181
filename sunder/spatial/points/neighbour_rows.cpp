#include "sunder/spatial/points/neighbour_rows.h"

#include "sunder/base/error.h"
#include "sunder/base/prefix_sum.h"

#include <string>

namespace sunder::spatial {

uint32_t* NeighbourRows::begin(size_t rows) {
  size_ = 0;
  offsets_.reserve(rows + 1);
  counts_.reserve(rows);
  size_ = rows;
  offsets_.data()[rows] = 0;
  return counts_.data();
}

uint32_t* NeighbourRows::allocate(uint64_t most) {
  const size_t rows = size_;
  size_ = 0;  // stays so when this throws
  uint64_t total = 0;
  if (rows > 0)
    total = exclusiveScan(std::span<const uint32_t>(counts_.data(), rows), {offsets_.data(), rows + 1});
  if (total > most) refuseNeighbours("", total, most);
  uint32_t* items = items_.reserve(total);
  size_ = rows;
  return items;
}

void refuseNeighbours(const char* howMany, uint64_t needed, uint64_t most) {
  const std::string words = *howMany ? std::string(howMany) + " " : "";
  throw Error(ErrorKind::Limit, "there are " + words + std::to_string(needed) + " neighbours, " +
                                    std::to_string(most) + " may be returned")
      .hint("a smaller radius finds fewer, or set mostNeighbours");
}

}  // namespace sunder::spatial
