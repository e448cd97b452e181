// Writes a run file. Everything is gathered in memory and goes to the file with frame(), checkpoint() and
// finish(), each in one write, so a reader that follows the file sees whole frames. checkpoint() and finish()
// commit (commit.h): what is before them is on the disk when they return.
//
//   RunWriter writer(path, info);
//   writer.addMaterial(material); writer.addMesh(mesh); writer.addBody(body);
//   writer.frame(number, time, states, fields, statistics, events);
//   writer.checkpoint({number, hash, state});
//   writer.finish({EndKind::Finished});
//
// A write or a sync that fails throws Error (Write), and nothing more is written: after a failed sync nobody
// knows what is on the disk, and a second one that succeeds would not say so. The recording is whole up to
// its last commit at least.
//
// One writer a file: a second one, also of another process, is refused (output.h). Cost: about 0.5 us a
// moving body and frame, 10 to 100 us a frame for the system, and the bytes of the states twice.
#pragma once

#include "sunder/material/material.h"
#include "sunder/record/commit.h"
#include "sunder/record/frame_codec.h"
#include "sunder/record/frame_lists.h"
#include "sunder/record/mesh_change.h"
#include "sunder/record/output.h"
#include "sunder/record/recording.h"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sunder::record {

class RunReader;
struct ResumePoint;

class RunWriter {
 public:
  // A new file. Who reads the one that was there keeps reading it, and it stays in its place until the first
  // checkpoint of the new one.
  RunWriter(const std::filesystem::path& path, const RunInfo& info, Existing existing = Existing::Replace);
  // Goes on from `at` in an epoch of its own: no byte of the file changes. The next frame is a key frame.
  // Throws Error (Write) where somebody has written to the file since `run` looked at it.
  RunWriter(const RunReader& run, const ResumePoint& at);
  // The same into any output; with `run`, what the output already holds.
  RunWriter(std::unique_ptr<RunOutput> output, const RunInfo& info);
  RunWriter(std::unique_ptr<RunOutput> output, const RunReader& run, const ResumePoint& at);
  ~RunWriter();
  RunWriter(const RunWriter&) = delete;
  RunWriter& operator=(const RunWriter&) = delete;

  // A key frame every so many frames; what seeking costs at most.
  void setKeyInterval(uint32_t frames);

  uint32_t addMaterial(const material::Material& material);  // its index
  uint32_t addMesh(const MeshEntry& mesh);
  uint32_t addBody(const BodyEntry& body);
  // Its meshes must have been added.
  uint32_t addEmbedding(const Embedding& embedding);
  // A body that was added shows another mesh, or its mesh changes, from a frame on that comes after those
  // that are written. Throws Error (Usage) for an earlier one, or a body or mesh that is not there.
  uint32_t changeMesh(const MeshChange& change);
  // What belongs to the next frame. Inputs by ascending sequence number. Throws Error (Usage) for one that
  // is not above the last, or a front of a body that is not there.
  void addInputs(std::span<const Input> inputs);
  void addFronts(std::span<const CrackFront> fronts);
  uint32_t materialCount() const { return counts_.materials; }
  uint32_t meshCount() const { return counts_.meshes; }
  uint32_t bodyCount() const { return counts_.bodies; }

  // `points` by ascending body.
  void frame(uint64_t number, double time, std::span<const BodyState> bodies,
             std::span<const BodyField> fields, std::span<const Statistic> statistics,
             std::span<const Event> events, std::span<const BodyPoints> points = {});
  void checkpoint(const Checkpoint& checkpoint, double time);  // and to the disk
  void finish(const RunEnd& end);                              // with the index; nothing may follow
  // Sentences on what is missing, of a recording that was repaired.
  void lost(std::span<const std::string> sentences);

  uint64_t size() const { return output_->size(); }  // bytes in the file
  const std::filesystem::path& path() const { return output_->path(); }
  // Where the recording is that was there before; empty: there was none, or it is not replaced yet.
  std::filesystem::path kept() const;

 private:
  void start(const RunInfo& info, bool publish);
  void add(ChunkType type, std::string_view payload);
  void padFor(size_t length);
  void addCommit();
  void flush();
  void commit();
  void requireSound() const;
  [[noreturn]] void fail(const char* action, int code);

  std::unique_ptr<RunOutput> output_;
  FileOutput* file_ = nullptr;       // output_, where it is a file
  std::string pending_;              // chunks not yet in the file
  std::vector<Chunk> index_;         // of the recording
  std::vector<uint64_t> forbidden_;  // places where no chunk may begin, ascending
  Counts counts_;
  uint64_t chain_ = 0;
  uint32_t epochs_ = 0;
  std::map<uint32_t, uint32_t> changesOf_;  // how many, by body
  std::vector<Input> inputs_;               // of the next frame
  std::vector<CrackFront> fronts_;
  std::optional<uint64_t> lastInput_, lastFrame_;  // sequence number; frame number
  std::string failure_;
  uint32_t keyInterval_ = 30, sinceKey_ = 0;
  uint64_t frame_ = 0;
  double time_ = 0;
  bool keyNext_ = true;
  QuantisedFrame last_, now_;
  std::vector<std::string> statisticNames_;
};

}  // namespace sunder::record
