// The reader of run files on random bytes: it may open or throw sunder::Error, and every item it offers may
// be read or throw. The fuzzer cannot guess hashes, so the input is a list of chunks that are given theirs
// here: type (1 byte), length (1 byte), payload; a first byte of 0 takes the rest as a file as it is.
#include "sunder/base/error.h"
#include "sunder/record/chunk.h"
#include "sunder/record/run_reader.h"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

using namespace sunder::record;

namespace {

constexpr std::array<ChunkType, 11> kTypes{ChunkType::Scene,  ChunkType::Mesh,          ChunkType::Body,
                                           ChunkType::Frame,  ChunkType::KeyFrame,      ChunkType::Statistics,
                                           ChunkType::Events, ChunkType::Index,         ChunkType::Checkpoint,
                                           ChunkType::End,    ChunkType::StatisticNames};

template <class Read>
void attempt(Read&& read) {
  try {
    read();
  } catch (const sunder::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string file = fileHeader();
  const std::string input(reinterpret_cast<const char*>(data), size);
  if (size > 0 && data[0] == 0) {
    file = input.substr(1);
  } else {
    for (size_t at = 0; at + 2 <= size;) {
      const size_t length = std::min<size_t>(data[at + 1], size - at - 2);
      appendChunk(file, kTypes[data[at] % kTypes.size()], data[at] / 16, 0.5, input.substr(at + 2, length));
      at += 2 + length;
    }
  }
  // A file in memory: disks are a hundred times slower than the reader.
  static const int kFile = ::memfd_create("sunder-fuzz-run", 0);
  static const std::string kPath = "/proc/self/fd/" + std::to_string(kFile);
  if (kFile < 0 || ::ftruncate(kFile, 0) != 0 ||
      ::pwrite(kFile, file.data(), file.size(), 0) != static_cast<ssize_t>(file.size()))
    std::abort();
  attempt([&] {
    const RunReader run(kPath);
    Frame frame;
    for (size_t i = 0; i < run.frameCount(); ++i) {
      attempt([&] { run.readFrame(i, frame); });
      attempt([&] { run.events(i); });
      attempt([&] { run.statistics(i); });
    }
    // A gap before a mesh may be large: all in it are missing in the same way.
    const size_t meshes = run.meshCount();
    for (size_t i = 0; i<meshes; i += meshes> 40 && i == 20 ? meshes - 40 : 1) attempt([&] { run.mesh(i); });
    for (size_t i = 0; i < run.checkpointCount(); ++i) attempt([&] { run.checkpoint(i); });
    run.lastGoodCheckpoint();
    run.verify();
  });
  return 0;
}
