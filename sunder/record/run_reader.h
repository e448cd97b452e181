// Reads a run file: finished, cut off, or still being written. Opening walks the heads of the chunks (or
// takes the index at the end, when it is whole); a last chunk that is torn is dropped, a damaged one in the
// middle is stepped over and named in problems(). Frames are read in any order.
//
//   RunReader run("out/pile/run.sunder");
//   Frame frame;
//   for (size_t i = 0; i < run.frameCount(); ++i) { run.readFrame(i, frame); ... }
//   while (run.refresh()) ...                    // what was written since
//
// Cost: a frame that follows the one read before, or a key frame, is one read and unpacking, about 300 us for
// 1000 moving bodies; any other the frames since its key frame (30 at most by default). Not for several
// threads at once.
//
// Errors: Missing for a file that cannot be opened, Format and Unsupported for one that is no run file;
// readers of single items throw Error (Format) naming the damaged chunk. A file in which the scene's chunk is
// not whole yet has an empty info().
#pragma once

#include "sunder/record/chunk.h"
#include "sunder/record/frame_codec.h"
#include "sunder/record/recording.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sunder::record {

class RunReader {
 public:
  explicit RunReader(std::filesystem::path path);
  ~RunReader();
  RunReader(RunReader&& other) noexcept;
  RunReader& operator=(RunReader&& other) noexcept;

  // Looks for what was written since; true where there is something new. Where the file was cut (a run that
  // was resumed) everything is read again.
  bool refresh();

  const std::filesystem::path& path() const { return path_; }
  const RunInfo& info() const { return info_; }
  const std::vector<BodyEntry>& bodies() const { return bodies_; }
  size_t meshCount() const { return meshes_.size(); }
  MeshEntry mesh(size_t i) const;

  size_t frameCount() const { return frames_.size(); }
  uint64_t frameNumber(size_t i) const;
  double frameTime(size_t i) const;
  size_t frameAt(double time) const;  // the last one not after `time`, or the first; frameCount() > 0
  void readFrame(size_t i, Frame& out) const;
  // The same in the whole numbers of the file, for comparing runs.
  const QuantisedFrame& readQuantised(size_t i) const;
  std::vector<Event> events(size_t i) const;
  std::vector<Statistic> statistics(size_t i) const;

  size_t checkpointCount() const { return checkpoints_.size(); }
  uint64_t checkpointFrame(size_t i) const;
  Checkpoint checkpoint(size_t i) const;
  // The last one whose bytes are whole; none in a run that was stopped before its first.
  std::optional<size_t> lastGoodCheckpoint() const;
  uint64_t endOfCheckpoint(size_t i) const;  // byte behind it

  const std::optional<RunEnd>& end() const { return end_; }  // none: still running, or killed
  const std::vector<std::string>& problems() const { return problems_; }
  bool indexed() const { return indexed_; }   // opened through the index
  uint64_t size() const { return scanned_; }  // bytes of whole chunks

  // Reads every chunk; the damaged ones, in sentences.
  std::vector<std::string> verify() const;

  struct Chunk {
    ChunkHead head;
    uint64_t offset = 0;  // of the head
    uint64_t payloadAt() const { return offset + kChunkHeadSize; }
    uint64_t end() const { return payloadAt() + head.storedBytes; }
  };
  const std::vector<Chunk>& chunks() const { return chunks_; }

 private:
  struct FrameEntry {
    size_t chunk = 0;
    size_t events = SIZE_MAX, statistics = SIZE_MAX;  // chunks, or none
    size_t key = 0;                                   // frame to start decoding from; SIZE_MAX: none whole
    size_t bodies = 0;                                // entries known when it was written
  };
  void open();
  void reset();
  bool readIndex(uint64_t fileSize);
  void scan(uint64_t fileSize);
  void take(Chunk chunk);
  void takeMesh(size_t place);
  void takeBody(size_t place);
  size_t readAt(uint64_t offset, void* out, size_t count) const;
  std::string payload(const Chunk& chunk) const;

  std::filesystem::path path_;
  int descriptor_ = -1;
  uint64_t scanned_ = 0;
  bool indexed_ = false;
  RunInfo info_;
  std::vector<Chunk> chunks_;
  std::vector<size_t> meshes_;  // chunks by mesh; SIZE_MAX: lost
  std::vector<size_t> names_, checkpoints_;
  std::vector<BodyEntry> bodies_;
  std::vector<FrameEntry> frames_;
  std::optional<RunEnd> end_;
  std::vector<std::string> problems_;
  size_t pendingEvents_ = SIZE_MAX, pendingStatistics_ = SIZE_MAX;
  bool brokenChain_ = false;  // something before the next key frame is missing

  // The frame decoded last.
  mutable size_t current_ = SIZE_MAX;
  mutable QuantisedFrame decoded_;
};

}  // namespace sunder::record
