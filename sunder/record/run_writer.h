// Writes a run file. Everything is gathered in memory and goes to the file with endFrame(), addCheckpoint()
// and finish(), each in one write, so a reader that follows the file sees whole frames. A write that fails (a
// full disk) throws Error (Write) and cuts the file back to its last whole chunk.
//
//   RunWriter writer(path, info);
//   writer.addMesh(mesh); writer.addBody(body);
//   writer.frame(number, time, states, fields, statistics, events);
//   writer.checkpoint({number, hash, state});
//   writer.finish({EndKind::Finished});
//
// One writer a file: a second one, also of another process, is refused. Cost: about 0.5 us a moving body and
// frame, 10 to 100 us a frame for the system, and the bytes of the states twice.
#pragma once

#include "sunder/record/chunk.h"
#include "sunder/record/frame_codec.h"
#include "sunder/record/recording.h"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace sunder::record {

class RunReader;

// What becomes of a file that is already there. Kept aside, run.sunder becomes run.1.sunder, or the next
// number that is free; a run that holds no frame beyond its start is not worth that and is replaced.
enum class Existing { Replace, KeepAside };

class RunWriter {
 public:
  // A new file. Who reads the one that was there keeps reading it.
  RunWriter(std::filesystem::path path, const RunInfo& info, Existing existing = Existing::Replace);
  // Goes on after the checkpoint `at` of `run`: all behind it is cut off. The next frame is a key frame.
  RunWriter(const RunReader& run, size_t at);
  ~RunWriter();
  RunWriter(const RunWriter&) = delete;
  RunWriter& operator=(const RunWriter&) = delete;

  // A key frame every so many frames; what seeking costs at most.
  void setKeyInterval(uint32_t frames);

  uint32_t addMesh(const MeshEntry& mesh);  // its index
  uint32_t addBody(const BodyEntry& body);
  uint32_t meshCount() const { return meshes_; }
  uint32_t bodyCount() const { return bodies_; }

  // `points` by ascending body.
  void frame(uint64_t number, double time, std::span<const BodyState> bodies,
             std::span<const BodyField> fields, std::span<const Statistic> statistics,
             std::span<const Event> events, std::span<const BodyPoints> points = {});
  void checkpoint(const Checkpoint& checkpoint, double time);  // and to the disk
  void finish(const RunEnd& end);                              // with the index; nothing may follow

  uint64_t size() const { return end_; }  // bytes in the file
  const std::filesystem::path& path() const { return path_; }
  const std::filesystem::path& kept() const {
    return kept_;
  }  // where the old file is now; empty: there is none

 private:
  struct Entry {
    ChunkHead head;
    uint64_t offset;
  };
  void add(ChunkType type, std::string_view payload);
  void flush();
  void lock();
  void clearTheWay(Existing existing);
  [[noreturn]] void fail(const char* action, int code);

  std::filesystem::path path_, kept_;
  int descriptor_ = -1;
  uint64_t end_ = 0;     // of the last whole chunk in the file
  std::string pending_;  // chunks not yet in the file
  std::vector<Entry> index_;
  uint32_t meshes_ = 0, bodies_ = 0, names_ = 0;
  uint32_t keyInterval_ = 30, sinceKey_ = 0;
  uint64_t frame_ = 0;
  double time_ = 0;
  bool keyNext_ = true;
  QuantisedFrame last_, now_;
  std::vector<std::string> statisticNames_;
};

}  // namespace sunder::record
