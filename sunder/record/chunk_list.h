// Which chunks of a run file make up the recording, in order: found through the index at the end of a
// finished file, or by walking from head to head, with epochs applied (commit.h) and damaged bytes stepped
// over. Reads heads and epochs only. Not for use outside this room.
//
// Cost: about 2 us a chunk; the bytes of damaged places once more. At most 10,000 epochs count.
#pragma once

#include "sunder/record/commit.h"
#include "sunder/record/run_file.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sunder::record {

class ChunkList {
 public:
  // Bytes in which no chunk could be found, before chunks()[before].
  struct Gap {
    uint64_t begin = 0, end = 0;
    size_t before = 0;
  };
  // Appended: the chunks known before are the first ones still. Replaced: start again with all of them.
  enum class Change { None, Appended, Replaced };

  // Looks for what was written since. Throws Error (Format, Unsupported) for a file that is no run file.
  Change update(const RunFile& file);

  const std::vector<Chunk>& chunks() const { return chunks_; }
  const std::vector<Gap>& gaps() const { return gaps_; }
  const std::vector<std::string>& problems() const { return problems_; }  // epochs that were refused
  uint32_t version() const { return version_; }
  bool indexed() const { return indexed_; }
  uint64_t fileSize() const { return fileSize_; }  // when update() looked
  uint64_t wholeEnd() const { return scanned_; }   // what follows is torn, or still being written
  // All epochs that were ever accepted, superseded ones too; an index does not list these.
  std::vector<Chunk> epochs() const;
  // Where torn chunks claim to end, behind the end of the file: no chunk may begin there.
  std::vector<uint64_t> tornEnds() const;

 private:
  // A chunk, and the one before it in the recording.
  struct Node {
    Chunk chunk;
    size_t previous = SIZE_MAX;
    size_t epoch = 0;
    Gap gap;                 // damaged bytes before it; empty: none
    uint64_t framesEnd = 0;  // number of the last frame up to here, and one; 0: none
    bool committed = false;  // its epoch has a commit up to here
  };
  void clear();
  bool unchanged(const RunFile& file) const;
  bool readIndex(const RunFile& file);
  void scan(const RunFile& file);
  void add(const Chunk& chunk, const Gap& gap);
  uint64_t takeBack();
  bool takeEpoch(const Chunk& chunk, const Epoch& epoch, Gap& gap);
  size_t tip() const;  // the last node of the recording
  bool holds(size_t tip, size_t node) const;
  Change collect();
  std::optional<uint64_t> search(const RunFile& file, uint64_t from) const;

  std::vector<Node> nodes_;                  // by offset
  std::vector<size_t> epochFrom_{SIZE_MAX};  // by epoch: the node it continues from
  size_t last_ = SIZE_MAX;                   // node
  size_t held_ = SIZE_MAX;                   // the recording before the last epoch
  size_t collected_ = SIZE_MAX;              // the tip that chunks_ was made of
  std::vector<Chunk> chunks_;
  std::vector<Gap> gaps_;
  std::optional<Chunk> unfinished_;  // at scanned_: its head is whole, its payload is not
  std::vector<uint64_t> tornEnds_;
  std::vector<std::string> problems_;
  uint64_t scanned_ = 0, fileSize_ = 0;
  uint32_t version_ = 0;
  bool indexed_ = false;
};

}  // namespace sunder::record
