// The list of what went less well than asked, told at the end of a run. Entries are told apart by their text:
// the same text again adds to its count.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sunder {
class ByteReader;
class ByteWriter;
}  // namespace sunder

namespace sunder::world {

// Something that went less well than asked.
struct Degradation {
  std::string what;  // "fast bodies lost the rest of a step"
  uint64_t count = 0;
  uint64_t firstFrame = 0;
  std::string example;  // a body, a shape
};

class Ledger {
 public:
  // Does nothing where `count` is 0.
  void add(std::string_view what, uint64_t count, uint64_t frame, std::string_view example = "");
  const std::vector<Degradation>& entries() const { return entries_; }

  void save(ByteWriter& out) const;
  void load(ByteReader& in);

 private:
  std::vector<Degradation> entries_;
};

}  // namespace sunder::world
