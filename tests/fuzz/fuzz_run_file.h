// A run file from the bytes of a fuzzer. It cannot guess hashes, so the input is a list of chunks that are
// given theirs here: type (1 byte), length (1 byte), payload; a first byte of 0 takes the rest as a file as
// it is.
#pragma once

#include "sunder/base/error.h"
#include "sunder/record/chunk.h"
#include "sunder/record/commit.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

namespace sunder::record {

inline constexpr std::array<ChunkType, 15> kFuzzTypes{ChunkType::Scene,
                                                      ChunkType::Mesh,
                                                      ChunkType::Body,
                                                      ChunkType::Frame,
                                                      ChunkType::KeyFrame,
                                                      ChunkType::Statistics,
                                                      ChunkType::Events,
                                                      ChunkType::Index,
                                                      ChunkType::Checkpoint,
                                                      ChunkType::End,
                                                      ChunkType::StatisticNames,
                                                      ChunkType::Commit,
                                                      ChunkType::Epoch,
                                                      ChunkType::Pad,
                                                      ChunkType::Lost};
// Types that are younger than the corpus, from byte kFuzzYounger on.
inline constexpr uint8_t kFuzzYounger = 15;
inline constexpr std::array<ChunkType, 5> kFuzzYoungerTypes{
    ChunkType::Material, ChunkType::MeshChange, ChunkType::Embedding, ChunkType::Inputs, ChunkType::Fronts};

// The path of a file in memory, the same every time: disks are a hundred times slower than the reader.
inline const std::string& fuzzRunFile(const uint8_t* data, size_t size) {
  std::string file = fileHeader(size > 2 && data[size - 1] % 4 == 0 ? 1 : kFormatVersion);
  const std::string input(reinterpret_cast<const char*>(data), size);
  if (size > 0 && data[0] == 0) {
    file = input.substr(1);
  } else {
    uint64_t frame = 0;
    for (size_t at = 0; at + 2 <= size;) {
      const size_t length = std::min<size_t>(data[at + 1], size - at - 2);
      const size_t younger = data[at] - size_t(kFuzzYounger);
      const ChunkType type = younger < kFuzzYoungerTypes.size() ? kFuzzYoungerTypes[younger]
                                                                : kFuzzTypes[data[at] % kFuzzTypes.size()];
      // Frames mostly follow each other.
      const uint64_t number = data[at] < 240 ? frame : uint64_t(data[at] - 239) << 30;
      appendChunk(file, type, number, 0.1 * static_cast<double>(number), input.substr(at + 2, length));
      frame += type == ChunkType::Frame || type == ChunkType::KeyFrame;
      at += 2 + length;
    }
  }
  static const int kFile = ::memfd_create("sunder-fuzz-run", 0);
  static const std::string kPath = "/proc/self/fd/" + std::to_string(kFile);
  if (kFile < 0 || ::ftruncate(kFile, 0) != 0 ||
      ::pwrite(kFile, file.data(), file.size(), 0) != static_cast<ssize_t>(file.size()))
    std::abort();
  return kPath;
}

template <class Read>
void fuzzAttempt(Read&& read) {
  try {
    read();
  } catch (const sunder::Error&) {
  }
}

}  // namespace sunder::record
