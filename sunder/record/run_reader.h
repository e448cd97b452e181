// Reads a run file: finished, cut off, resumed, damaged, or still being written. Opening finds the chunks
// (chunk_list.h, commit.h) and reads the tables of bodies and commits; frames are read in any order.
//
//   RunReader run("out/pile/run.sunder");
//   Frame frame;
//   for (size_t i = 0; i < run.frameCount(); ++i) { run.readFrame(i, frame); ... }
//   while (run.refresh()) ...                    // what was written since
//
// Damage stays where it is. A damaged chunk costs what it holds: a material, a mesh, a body, a change of a
// mesh (and those that follow it, up to the body's next mesh), the events of a frame, or the frames up to the
// next key frame. Bodies that are lost keep their number, with an empty entry
// and bodyLost(); readers of single items throw Error (Format) naming the damaged chunk. problems() has what
// opening finds, verify() and findLosses() (losses.h) what reading everything finds.
//
// Guarantee, for hostile files too: a frame has no states or points of bodies beyond bodies(), numbers of
// frames increase, times are finite and do not decrease, and tables take memory in proportion to the file.
//
// Cost: a frame that follows the one read before, or a key frame, is one read and unpacking, about 300 us for
// 1000 moving bodies; any other the frames since its key frame (30 at most by default). Not for several
// threads at once.
//
// Errors: Missing for a file that cannot be opened, Format and Unsupported for one that is no run file. A
// file in which the scene's chunk is not whole yet has an empty info().
#pragma once

#include "sunder/material/material.h"
#include "sunder/record/chunk_list.h"
#include "sunder/record/frame_codec.h"
#include "sunder/record/frame_lists.h"
#include "sunder/record/mesh_change.h"
#include "sunder/record/recording.h"

#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sunder::record {

// Where a recording can go on: behind a commit.
struct ResumePoint {
  size_t checkpoint = 0;    // its index
  uint64_t continueAt = 0;  // byte behind the commit
  uint64_t chain = 0;       // running hash there
  Counts counts;
  size_t chunks = 0;  // of the recording, up to there
};

class RunReader {
 public:
  // With a `limit`, the recording as it was when the file had so many bytes.
  explicit RunReader(std::filesystem::path path, uint64_t limit = std::numeric_limits<uint64_t>::max());

  // Looks for what was written since; true where there is something new. Frames may become fewer where a run
  // is resumed, or a file is cut.
  bool refresh();

  const std::filesystem::path& path() const { return file_.path(); }
  uint32_t version() const { return list_.version(); }  // of the format
  const RunInfo& info() const { return info_; }
  // The table that BodyEntry::material names rows of. Empty in recordings of programs that wrote none, where
  // the scene has what is known.
  const std::vector<material::Material>& materials() const { return materials_; }
  bool materialLost(size_t i) const { return lostMaterials_[i]; }
  const std::vector<BodyEntry>& bodies() const { return bodies_; }
  bool bodyLost(size_t i) const { return lostBodies_[i]; }
  size_t meshCount() const { return meshes_.size(); }
  MeshEntry mesh(size_t i) const;

  // How meshes of bodies change; body_meshes.h puts the meshes together. `frame` counts from 0 as in
  // readFrame().
  MeshVersion meshVersion(size_t body, size_t frame) const;
  uint32_t meshOf(size_t body, size_t frame) const {
    return meshVersion(body, frame).mesh;
  }  // kNoIndex: none
  size_t changeCount(size_t body) const;
  uint64_t changeFrame(size_t body, size_t k) const;  // number of the first frame that shows it
  // The k-th change of a body. Throws Error (Format) where it, or one before it that it builds on, is lost.
  MeshChange changeOf(size_t body, uint32_t k) const;
  // The frames from which on a body shows other meshes than the one of its entry, with these; ascending.
  std::vector<std::pair<size_t, MeshVersion>> meshVersions(size_t body) const;
  size_t changeCount() const { return changes_.size(); }  // of all bodies
  bool changeLost(size_t i) const { return changes_[i] == SIZE_MAX; }
  size_t embeddingCount() const { return embeddings_.size(); }
  Embedding embedding(size_t i) const;
  uint32_t embeddingOf(uint32_t mesh) const;  // whose surface the mesh is; kNoIndex: none

  size_t frameCount() const { return frames_.size(); }
  uint64_t frameNumber(size_t i) const;
  double frameTime(size_t i) const;
  size_t frameAt(double time) const;  // the last one not after `time`, or the first; frameCount() > 0
  void readFrame(size_t i, Frame& out) const;
  // The same in the whole numbers of the file, for comparing runs. Where bodies are lost at the end of the
  // table there may be more states than bodies.
  const QuantisedFrame& readQuantised(size_t i) const;
  std::vector<Event> events(size_t i) const;
  std::vector<Statistic> statistics(size_t i) const;
  // That led to the frame from the one before it, readable or not; those of frames lost in between too.
  std::vector<Input> inputs(size_t i) const;
  std::vector<CrackFront> fronts(size_t i) const;

  size_t checkpointCount() const { return checkpoints_.size(); }
  uint64_t checkpointFrame(size_t i) const;
  Checkpoint checkpoint(size_t i) const;
  // The last one whose bytes are whole; none in a run that was stopped before its first.
  std::optional<size_t> lastGoodCheckpoint() const;
  // The last committed checkpoint before anything that is damaged, and not behind `latest`, the number of a
  // frame. Reads all chunks up to the damage. Throws Error (Unsupported) for files of version 1, which have
  // no commits.
  std::optional<ResumePoint> resumePoint(uint64_t latest = UINT64_MAX) const;

  const std::optional<RunEnd>& end() const { return end_; }  // none: still running, or killed
  const std::vector<std::string>& problems() const { return problems_; }
  // Of what 'sunder repair' could not save, in sentences.
  const std::vector<std::string>& lostBefore() const { return lostBefore_; }
  // Frames that damage took away, by number, first and last of each run of them.
  const std::vector<std::pair<uint64_t, uint64_t>>& missingFrames() const { return missing_; }
  bool indexed() const { return list_.indexed(); }        // opened through the index
  uint64_t size() const { return list_.wholeEnd(); }      // bytes of whole chunks
  uint64_t fileSize() const { return list_.fileSize(); }  // with what is torn
  const ChunkList& list() const { return list_; }
  std::pair<uint64_t, uint64_t> identity() const { return file_.identity(); }

  // Reads every chunk; the damaged ones, in sentences.
  std::vector<std::string> verify() const;

  using Chunk = record::Chunk;
  const std::vector<Chunk>& chunks() const { return list_.chunks(); }
  std::string payload(const Chunk& chunk) const { return file_.payload(chunk); }

  // A time the run was resumed.
  struct Resumed {
    uint64_t epochAt = 0;  // byte: RunReader(path(), epochAt) is the recording before
    uint64_t frame = 0;    // of the checkpoint it went on from
  };
  std::vector<Resumed> resumed() const;

  // What was written at a stretch: the run as it began, and an epoch for each time it was resumed, or
  // continued from an earlier frame. Also of those that are superseded; the last 20 of them.
  struct Branch {
    uint32_t epoch = 0;    // 0: the run as it began
    uint64_t from = 0;     // the frame it continues; 0 where it began
    uint64_t last = 0;     // its last frame
    uint64_t end = 0;      // byte: RunReader(path(), end) is the recording as this branch left it
    bool current = false;  // its frames up to where the next one continues are part of the recording
  };
  // Walks the heads of the whole file, and once for each branch.
  std::vector<Branch> branches() const;

 private:
  struct FrameEntry {
    size_t chunk = 0;
    size_t events = SIZE_MAX, statistics = SIZE_MAX;  // chunks, or none
    size_t fronts = SIZE_MAX;
    size_t key = 0;     // frame to start decoding from; SIZE_MAX: none whole
    size_t bodies = 0;  // entries known when it was written
    size_t limit = 0;   // bodies it may name
  };
  struct ChangeEntry {
    uint64_t frame = 0;  // number of the first frame that shows it
    uint32_t mesh = kNoIndex;
    uint32_t first = 0, changes = 0;  // as in MeshVersion
    size_t chunk = 0;
    bool broken = false;  // a change that it builds on is lost
  };
  struct BodyChanges {
    std::vector<ChangeEntry> list;
    uint32_t next = 0;  // ordinal that is expected
  };
  struct CommitEntry {
    size_t chunk = 0;
    Commit commit;
    bool fits = false;  // what is before it is what it says
  };
  void resetView();
  void takeAll();
  void take(size_t place);
  void takeGap(const ChunkList::Gap& gap);
  void takeMaterial(size_t place);
  void takeMesh(size_t place);
  void takeBody(size_t place);
  void takeChange(size_t place);
  void takeEmbedding(size_t place);
  void takeNames(size_t place);
  void takeFrame(size_t place);
  void takeCommit(size_t place);
  size_t mostEntries() const;
  void note(std::string problem);
  void loseChunks(std::vector<size_t>& table, size_t count) const;
  void loseMeshes(size_t count);
  void loseBodies(size_t count);
  void loseMaterials(size_t count);
  static MeshVersion versionOf(const ChangeEntry& entry);

  RunFile file_;
  ChunkList list_;
  size_t taken_ = 0, takenGaps_ = 0;  // of the list
  RunInfo info_;
  std::vector<material::Material> materials_;
  std::vector<size_t> meshes_;                        // chunks by mesh; SIZE_MAX: lost
  std::vector<size_t> changes_, embeddings_;          // chunks by index; SIZE_MAX: lost
  std::map<uint32_t, BodyChanges> changesOf_;         // by body
  std::map<uint32_t, uint32_t> embeddingOf_;          // by mesh of the surface
  std::vector<size_t> names_, checkpoints_, inputs_;  // chunks
  std::vector<BodyEntry> bodies_;
  std::vector<bool> lostBodies_, lostMaterials_;
  std::vector<FrameEntry> frames_;
  std::vector<CommitEntry> commits_;
  std::optional<RunEnd> end_;
  std::vector<std::string> problems_, lostBefore_;
  std::vector<std::pair<uint64_t, uint64_t>> missing_;
  Counts counts_;       // chunks seen
  uint64_t chain_ = 0;  // running hash
  uint64_t gapBytes_ = 0;
  FrameEntry pending_;        // what came of the next frame
  bool brokenChain_ = false;  // something before the next key frame is missing
  bool gapSinceFrame_ = false;

  // The frame decoded last.
  mutable size_t current_ = SIZE_MAX;
  mutable QuantisedFrame decoded_;
};

}  // namespace sunder::record
