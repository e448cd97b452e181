// What a recording should hold and does not, by name: for 'sunder info' and 'sunder repair'.
#pragma once

#include "sunder/record/run_reader.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sunder::record {

// Numbers from first to last.
using NumberRange = std::pair<uint64_t, uint64_t>;

struct Losses {
  std::vector<NumberRange> frames;                     // by number
  std::vector<NumberRange> events, statistics;         // frames that lack theirs
  std::vector<NumberRange> inputs, fronts;             // the same
  std::vector<NumberRange> checkpoints;                // by frame
  std::vector<NumberRange> bodies, meshes, materials;  // by index
  std::vector<NumberRange> changes, embeddings;        // of meshes, by index
  std::vector<NumberRange> shapes;    // bodies whose meshes cannot be put together in some frames
  std::vector<std::string> problems;  // what is damaged, in sentences

  bool any() const;
  // "frames 12 to 17 and 20", "body 4": one for each kind of which something is lost.
  std::vector<std::string> names() const;
};

// Reads all of the recording once.
Losses findLosses(const RunReader& run);

// Adds a number that is not below the last one.
void addNumber(std::vector<NumberRange>& ranges, uint64_t number);
// "12 to 17, 20 and 31"; of long lists the first ten.
std::string rangesText(const std::vector<NumberRange>& ranges);

}  // namespace sunder::record
