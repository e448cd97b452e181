// What a reader learns of the chunks of a recording, one after the other: the tables, the frames, and whether
// all of it is there.
#include "sunder/base/error.h"
#include "sunder/record/run_reader.h"
#include "sunder/record/tables.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/core.h>

namespace sunder::record {

namespace {

constexpr size_t kLost = SIZE_MAX;
constexpr size_t kMostProblems = 100;

}  // namespace

void RunReader::note(std::string problem) {
  if (problems_.size() < kMostProblems) problems_.push_back(std::move(problem));
}

void RunReader::resetView() {
  taken_ = takenGaps_ = 0;
  info_ = {};
  materials_.clear();
  lostMaterials_.clear();
  meshes_.clear();
  changes_.clear();
  embeddings_.clear();
  changesOf_.clear();
  embeddingOf_.clear();
  names_.clear();
  checkpoints_.clear();
  inputs_.clear();
  bodies_.clear();
  lostBodies_.clear();
  frames_.clear();
  commits_.clear();
  end_.reset();
  problems_.clear();
  lostBefore_.clear();
  missing_.clear();
  counts_ = {};
  chain_ = gapBytes_ = 0;
  pending_ = {};
  current_ = kLost;
  brokenChain_ = gapSinceFrame_ = false;
}

void RunReader::takeAll() {
  if (taken_ == 0)
    for (const std::string& problem : list_.problems()) note(problem);
  for (; taken_ < chunks().size(); ++taken_) {
    while (takenGaps_ < list_.gaps().size() && list_.gaps()[takenGaps_].before <= taken_)
      takeGap(list_.gaps()[takenGaps_++]);
    take(taken_);
    if (chunks()[taken_].head.type != ChunkType::Index) chain_ = chainHash(chain_, chunks()[taken_].head);
  }
}

void RunReader::takeGap(const ChunkList::Gap& gap) {
  note(fmt::format("bytes {} to {} are damaged and were left out", gap.begin, gap.end));
  gapBytes_ += gap.end - gap.begin;
  pending_ = {};
  gapSinceFrame_ = true;
}

void RunReader::take(size_t place) {
  const Chunk& chunk = chunks()[place];
  try {
    switch (chunk.head.type) {
      case ChunkType::Scene:
        info_ = decodeInfo(file_.payload(chunk), path().string());
        break;
      case ChunkType::Material:
        takeMaterial(place);
        break;
      case ChunkType::Mesh:
        takeMesh(place);
        break;
      case ChunkType::Body:
        takeBody(place);
        break;
      case ChunkType::MeshChange:
        takeChange(place);
        break;
      case ChunkType::Embedding:
        takeEmbedding(place);
        break;
      case ChunkType::StatisticNames:
        takeNames(place);
        break;
      case ChunkType::Statistics:
        pending_.statistics = place;
        break;
      case ChunkType::Events:
        pending_.events = place;
        break;
      case ChunkType::Inputs:
        ++counts_.inputs;
        inputs_.push_back(place);
        break;
      case ChunkType::Fronts:
        ++counts_.fronts;
        pending_.fronts = place;
        break;
      case ChunkType::Frame:
      case ChunkType::KeyFrame:
        takeFrame(place);
        break;
      case ChunkType::Checkpoint:
        checkpoints_.push_back(place);
        break;
      case ChunkType::Commit:
        takeCommit(place);
        break;
      case ChunkType::Lost:
        for (std::string& line : decodeNames(file_.payload(chunk), false, path().string()))
          lostBefore_.push_back(std::move(line));
        break;
      case ChunkType::End:
        end_ = decodeEnd(file_.payload(chunk), path().string());
        break;
      case ChunkType::Epoch:
      case ChunkType::Pad:
      case ChunkType::Index:
        break;
    }
  } catch (const Error& error) {
    note(error.what());
  }
}

// Each entry of a table is a chunk, so a file cannot hold more entries than heads.
size_t RunReader::mostEntries() const { return static_cast<size_t>(list_.fileSize() / kChunkHeadSize); }

void RunReader::loseChunks(std::vector<size_t>& table, size_t count) const {
  if (table.size() < count) table.resize(std::min(count, mostEntries()), kLost);
}

void RunReader::loseMeshes(size_t count) { loseChunks(meshes_, count); }

void RunReader::loseBodies(size_t count) {
  count = std::min(count, mostEntries());
  while (bodies_.size() < count) {
    bodies_.emplace_back().name = fmt::format("lost[{}]", bodies_.size() - 1);
    lostBodies_.push_back(true);
  }
}

void RunReader::loseMaterials(size_t count) {
  count = std::min(count, mostEntries());
  if (materials_.size() >= count) return;
  materials_.resize(count);
  lostMaterials_.resize(count, true);
}

void RunReader::takeMaterial(size_t place) {
  ++counts_.materials;
  size_t index = 0;
  material::Material entry;
  try {
    const std::string data = file_.payload(chunks()[place]);
    entry = decodeMaterial(data, path().string());
    index = decodeIndex(data, path().string());
  } catch (const Error&) {
    loseMaterials(materials_.size() + 1);
    throw;
  }
  if (index >= mostEntries() || (index < materials_.size() && !lostMaterials_[index])) {
    note(fmt::format("a material with the number {} does not fit and was left out", index));
    return;
  }
  loseMaterials(index + 1);
  materials_[index] = std::move(entry);
  lostMaterials_[index] = false;
}

void RunReader::takeMesh(size_t place) {
  ++counts_.meshes;
  size_t index = 0;
  try {
    index = decodeIndex(file_.payload(chunks()[place]), path().string());
  } catch (const Error&) {
    loseMeshes(meshes_.size() + 1);
    throw;
  }
  if (index >= mostEntries() || (index < meshes_.size() && meshes_[index] != kLost)) {
    note(fmt::format("a mesh with the number {} does not fit and was left out", index));
    return;
  }
  loseMeshes(index + 1);
  meshes_[index] = place;
}

void RunReader::takeBody(size_t place) {
  ++counts_.bodies;
  size_t index = 0;
  BodyEntry entry;
  try {
    const std::string data = file_.payload(chunks()[place]);
    entry = decodeBody(data, path().string());
    index = decodeIndex(data, path().string());
  } catch (const Error&) {
    loseBodies(bodies_.size() + 1);
    throw;
  }
  if (index >= mostEntries() || (index < bodies_.size() && !lostBodies_[index])) {
    note(fmt::format("a body with the number {} does not fit and was left out", index));
    return;
  }
  loseBodies(index + 1);
  // A body's mesh comes before it.
  if (entry.mesh != kNoIndex) {
    if (entry.mesh >= mostEntries())
      entry.mesh = kNoIndex;
    else
      loseMeshes(entry.mesh + 1);
  }
  bodies_[index] = std::move(entry);
  lostBodies_[index] = false;
}

void RunReader::takeNames(size_t place) {
  ++counts_.nameLists;
  size_t index = names_.size();
  if (version() > 1) index = decodeIndex(file_.payload(chunks()[place]), path().string());
  if (index >= mostEntries()) return note("a list of names of statistics does not fit and was left out");
  if (names_.size() <= index) names_.resize(index + 1, kLost);
  names_[index] = place;
}

void RunReader::takeFrame(size_t place) {
  ++counts_.frames;
  const ChunkHead& head = chunks()[place].head;
  FrameEntry entry = std::exchange(pending_, {});
  entry.chunk = place;
  entry.key = kLost;
  entry.bodies = entry.limit = bodies_.size();
  for (size_t* chunk : {&entry.events, &entry.statistics, &entry.fronts})
    if (*chunk != kLost && chunks()[*chunk].head.frame != head.frame) *chunk = kLost;
  if (!std::isfinite(head.time) || (!frames_.empty() && (head.frame <= frameNumber(frames_.size() - 1) ||
                                                         head.time < frameTime(frames_.size() - 1)))) {
    note(fmt::format("a frame {} at {} s does not follow the one before it and was left out", head.frame,
                     head.time));
    brokenChain_ = true;
    return;
  }
  // Entries of bodies may be among damaged bytes; and programs that wrote version 1 could leave some out.
  entry.limit += version() == 1 ? mostEntries() : static_cast<size_t>(gapBytes_ / kChunkHeadSize);
  if (gapSinceFrame_) {
    // A frame may be among the damaged bytes: then what follows cannot build on the frame before.
    const uint64_t expected = frames_.empty() ? 0 : frameNumber(frames_.size() - 1) + 1;
    if (head.frame != expected) brokenChain_ = true;
    if (head.frame > expected) missing_.emplace_back(expected, head.frame - 1);
    gapSinceFrame_ = false;
  }
  if (head.type == ChunkType::KeyFrame) {
    entry.key = frames_.size();
    brokenChain_ = false;
  } else if (!brokenChain_ && !frames_.empty()) {
    entry.key = frames_.back().key;
  }
  frames_.push_back(entry);
}

void RunReader::takeCommit(size_t place) {
  const Chunk& chunk = chunks()[place];
  CommitEntry entry{place, decodeCommit(file_.payload(chunk), path().string()), false};
  if (!entry.commit.extended) entry.commit.counts = withMore(entry.commit.counts, counts_);
  const Commit& commit = entry.commit;
  entry.fits = commit.chain == chain_ && commit.offset == chunk.offset && commit.counts == counts_;
  if (!entry.fits) {
    std::string what;
    const auto compare = [&](const char* name, uint64_t wanted, uint64_t found) {
      if (wanted != found)
        what += fmt::format("{}{} of {} {}", what.empty() ? ": " : ", ", found, wanted, name);
    };
    compare("frames", commit.counts.frames, counts_.frames);
    compare("bodies", commit.counts.bodies, counts_.bodies);
    compare("meshes", commit.counts.meshes, counts_.meshes);
    compare("lists of names", commit.counts.nameLists, counts_.nameLists);
    compare("materials", commit.counts.materials, counts_.materials);
    compare("changes of meshes", commit.counts.changes, counts_.changes);
    compare("embeddings", commit.counts.embeddings, counts_.embeddings);
    compare("lists of inputs", commit.counts.inputs, counts_.inputs);
    compare("lists of crack fronts", commit.counts.fronts, counts_.fronts);
    note(fmt::format("what comes before the commit of frame {} is not all that was written{}",
                     chunk.head.frame, what));
    loseMeshes(commit.counts.meshes);
    loseBodies(commit.counts.bodies);
    loseMaterials(commit.counts.materials);
    loseChunks(changes_, commit.counts.changes);
    loseChunks(embeddings_, commit.counts.embeddings);
    const uint64_t expected = frames_.empty() ? 0 : frameNumber(frames_.size() - 1) + 1;
    if (gapSinceFrame_ && chunk.head.frame >= expected) {
      missing_.emplace_back(expected, chunk.head.frame);
      brokenChain_ = true;
      gapSinceFrame_ = false;
    }
    // What follows is judged by itself.
    counts_ = commit.counts;
    chain_ = commit.chain;
  }
  commits_.push_back(entry);
}

}  // namespace sunder::record
