#include "sunder/record/run_writer.h"

#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/record/run_reader.h"
#include "sunder/record/tables.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/core.h>

namespace sunder::record {

RunWriter::RunWriter(const std::filesystem::path& path, const RunInfo& info, Existing existing) {
  auto output = FileOutput::create(path, existing);
  file_ = output.get();
  output_ = std::move(output);
  start(info, !file_->replaces());
}

RunWriter::RunWriter(std::unique_ptr<RunOutput> output, const RunInfo& info) : output_(std::move(output)) {
  start(info, false);
}

RunWriter::RunWriter(const RunReader& run, const ResumePoint& at)
    : RunWriter(
          [&] {
            auto output = FileOutput::open(run.path());
            if (output->size() != run.fileSize() || output->identity() != run.identity())
              throw Error(ErrorKind::Write, "cannot go on with: it was written to meanwhile")
                  .inFile(run.path().string())
                  .hint("another run was using it; try again");
            return output;
          }(),
          run, at) {}

RunWriter::RunWriter(std::unique_ptr<RunOutput> output, const RunReader& run, const ResumePoint& at)
    : output_(std::move(output)), forbidden_(run.list().tornEnds()), counts_(at.counts), chain_(at.chain) {
  index_.assign(run.chunks().begin(), run.chunks().begin() + static_cast<std::ptrdiff_t>(at.chunks));
  for (const Chunk& chunk : index_) epochs_ += chunk.head.type == ChunkType::Epoch;
  for (const Chunk& chunk : index_) {
    if (chunk.head.type == ChunkType::MeshChange)
      ++changesOf_[decodeMeshChange(run.payload(chunk), run.path().string()).change.body];
    if (chunk.head.type != ChunkType::Inputs) continue;
    for (const Input& input : decodeInputs(run.payload(chunk), run.path().string()))
      lastInput_ = input.sequence;
  }
  lastFrame_ = run.checkpointFrame(at.checkpoint);
  frame_ = run.checkpointFrame(at.checkpoint);
  time_ = index_.back().head.time;
  // An epoch has nothing in front of it, so it is padded by itself.
  std::string payload = encode(Epoch{at.continueAt, at.chain, epochs_ + 1});
  for (std::string bytes;; payload += '\0') {
    bytes.clear();
    appendChunk(bytes, ChunkType::Epoch, frame_, time_, payload);
    if (!std::binary_search(forbidden_.begin(), forbidden_.end(), output_->size() + bytes.size())) break;
  }
  add(ChunkType::Epoch, payload);
  flush();
}

RunWriter::~RunWriter() = default;

void RunWriter::start(const RunInfo& info, bool publish) {
  pending_ = fileHeader();
  add(ChunkType::Scene, encode(info));
  flush();
  if (!publish) return;
  if (const int code = output_->sync()) fail("write to the disk", code);
  if (const int code = output_->publish()) fail("write", code);
}

std::filesystem::path RunWriter::kept() const { return file_ ? file_->kept() : std::filesystem::path(); }

void RunWriter::requireSound() const {
  if (!failure_.empty())
    throw Error(ErrorKind::Write, "nothing more is written: " + failure_).inFile(path().string());
}

void RunWriter::fail(const char* action, int code) {
  failure_ = fmt::format("cannot {}: {}", action, std::strerror(code));
  Error error(ErrorKind::Write, failure_);
  if (code == ENOSPC || code == EDQUOT || code == EFBIG)
    error.hint("what was recorded is whole; make room and go on with 'sunder run --resume'");
  throw std::move(error.inFile(path().string()));
}

void RunWriter::setKeyInterval(uint32_t frames) { keyInterval_ = std::max(frames, 1u); }

void RunWriter::add(ChunkType type, std::string_view payload) {
  requireSound();
  std::string bytes;
  appendChunk(bytes, type, frame_, time_, payload);
  padFor(bytes.size());
  const ChunkHead head = parseHead(std::as_bytes(std::span(bytes)).first(kChunkHeadSize)).value();
  index_.push_back({head, output_->size() + pending_.size()});
  chain_ = chainHash(chain_, head);
  pending_ += bytes;
}

// Lets a chunk of `length` bytes end, and with it the next one begin, at a place where that is allowed.
void RunWriter::padFor(size_t length) {
  const auto allowed = [&](uint64_t place) {
    return !std::binary_search(forbidden_.begin(), forbidden_.end(), place);
  };
  const uint64_t offset = output_->size() + pending_.size();
  if (allowed(offset + length)) return;
  std::string bytes;
  for (size_t size = 1; bytes.empty(); ++size) {
    appendChunk(bytes, ChunkType::Pad, frame_, time_, std::string(size, '\0'));
    if (!allowed(offset + bytes.size()) || !allowed(offset + bytes.size() + length)) bytes.clear();
  }
  const ChunkHead head = parseHead(std::as_bytes(std::span(bytes)).first(kChunkHeadSize)).value();
  index_.push_back({head, offset});
  chain_ = chainHash(chain_, head);
  pending_ += bytes;
}

void RunWriter::flush() {
  requireSound();
  const uint64_t begin = output_->size();
  const RunOutput::Written written = output_->append(pending_);
  if (written.bytes == pending_.size() && written.code == 0) {
    pending_.clear();
    return;
  }
  // Chunks that did reach the file stay; the one that was cut is taken off again.
  uint64_t whole = begin;
  for (const Chunk& chunk : index_)
    if (chunk.offset >= begin && chunk.end() <= begin + written.bytes) whole = chunk.end();
  output_->cut(whole);
  pending_.clear();
  fail("write", written.code);
}

void RunWriter::addCommit() {
  padFor(kChunkHeadSize + encode(Commit{}).size());  // before its own place is known
  const uint64_t offset = output_->size() + pending_.size();
  add(ChunkType::Commit, encode(Commit{offset, chain_, counts_}));
}

void RunWriter::commit() {
  flush();
  if (const int code = output_->sync()) fail("write to the disk", code);
  if (const int code = output_->publish()) fail("write under its name", code);
}

uint32_t RunWriter::addMaterial(const material::Material& material) {
  add(ChunkType::Material, encode(material, counts_.materials));
  return counts_.materials++;
}

uint32_t RunWriter::addMesh(const MeshEntry& mesh) {
  add(ChunkType::Mesh, encode(mesh, counts_.meshes));
  return counts_.meshes++;
}

uint32_t RunWriter::addBody(const BodyEntry& body) {
  add(ChunkType::Body, encode(body, counts_.bodies));
  return counts_.bodies++;
}

uint32_t RunWriter::addEmbedding(const Embedding& embedding) {
  if (std::max(embedding.surface, embedding.cage) >= counts_.meshes ||
      (embedding.source != kNoIndex && embedding.source >= counts_.meshes))
    throw Error(ErrorKind::Usage, "an embedding needs meshes that are there");
  add(ChunkType::Embedding, encode(embedding, counts_.embeddings));
  return counts_.embeddings++;
}

uint32_t RunWriter::changeMesh(const MeshChange& change) {
  if (change.body >= counts_.bodies || (change.mesh != kNoIndex && change.mesh >= counts_.meshes))
    throw Error(ErrorKind::Usage, "the change of a mesh needs a body and a mesh that are there");
  if (lastFrame_ && change.frame <= *lastFrame_)
    throw Error(ErrorKind::Usage, fmt::format("body {} cannot change its mesh from frame {} on: frame {} is "
                                              "already written",
                                              change.body, change.frame, *lastFrame_));
  add(ChunkType::MeshChange, encode(change, counts_.changes, changesOf_[change.body]));
  ++changesOf_[change.body];
  return counts_.changes++;
}

void RunWriter::addInputs(std::span<const Input> inputs) {
  for (const Input& input : inputs) {
    if (lastInput_ && input.sequence <= *lastInput_)
      throw Error(ErrorKind::Usage,
                  fmt::format("input {} does not follow input {}", input.sequence, *lastInput_));
    lastInput_ = input.sequence;
    inputs_.push_back(input);
  }
}

void RunWriter::addFronts(std::span<const CrackFront> fronts) {
  for (const CrackFront& front : fronts)
    if (front.body >= counts_.bodies)
      throw Error(ErrorKind::Usage,
                  fmt::format("a crack front is in body {}, which is not there", front.body));
  fronts_.insert(fronts_.end(), fronts.begin(), fronts.end());
}

void RunWriter::frame(uint64_t number, double time, std::span<const BodyState> bodies,
                      std::span<const BodyField> fields, std::span<const Statistic> statistics,
                      std::span<const Event> events, std::span<const BodyPoints> points) {
  requireSound();
  frame_ = number;
  time_ = time;
  // The frame comes last: where it is whole, what belongs to it is too.
  if (!statistics.empty()) {
    bool same = counts_.nameLists > 0 && statistics.size() == statisticNames_.size();
    for (size_t i = 0; same && i < statistics.size(); ++i) same = statistics[i].name == statisticNames_[i];
    if (!same) {
      statisticNames_.clear();
      for (const Statistic& s : statistics) statisticNames_.push_back(s.name);
      add(ChunkType::StatisticNames, encodeNames(statisticNames_, counts_.nameLists));
      ++counts_.nameLists;
    }
    add(ChunkType::Statistics, encodeStatistics(counts_.nameLists - 1, statistics));
  }
  if (!events.empty()) add(ChunkType::Events, encode(events));
  if (!inputs_.empty()) {
    add(ChunkType::Inputs, encode(std::exchange(inputs_, {})));
    ++counts_.inputs;
  }
  if (!fronts_.empty()) {
    add(ChunkType::Fronts, encode(std::exchange(fronts_, {})));
    ++counts_.fronts;
  }
  now_.states.clear();
  for (const BodyState& body : bodies) now_.states.push_back(quantise(body));
  now_.fields.assign(fields.begin(), fields.end());
  now_.points.clear();
  for (const BodyPoints& p : points) {
    if (p.body >= bodies.size() || (!now_.points.empty() && now_.points.back().body >= p.body))
      throw Error(ErrorKind::Usage, "points must come by ascending body, of bodies that are there");
    now_.points.push_back(quantise(p));
  }
  const bool key = keyNext_ || sinceKey_ + 1 >= keyInterval_;
  add(key ? ChunkType::KeyFrame : ChunkType::Frame, encodeFrame(last_, now_, key));
  ++counts_.frames;
  lastFrame_ = number;
  sinceKey_ = key ? 0 : sinceKey_ + 1;
  keyNext_ = false;
  std::swap(last_, now_);
  flush();
}

void RunWriter::checkpoint(const Checkpoint& checkpoint, double time) {
  frame_ = checkpoint.frame;
  time_ = time;
  std::string payload;
  ByteWriter(payload).u64(checkpoint.hash);
  payload += checkpoint.state;
  add(ChunkType::Checkpoint, payload);
  addCommit();
  commit();
}

void RunWriter::lost(std::span<const std::string> sentences) {
  std::string payload;
  ByteWriter writer(payload);
  writer.u32(static_cast<uint32_t>(sentences.size()));
  for (const std::string& sentence : sentences) {
    writer.u32(static_cast<uint32_t>(sentence.size()));
    writer.string(sentence);
  }
  add(ChunkType::Lost, payload);
}

void RunWriter::finish(const RunEnd& end) {
  add(ChunkType::End, encode(end));
  addCommit();
  std::string payload;
  ByteWriter writer(payload);
  writer.u64(index_.size());
  for (const Chunk& chunk : index_) {
    writer.u64(chunk.offset);
    writer.u32(static_cast<uint32_t>(chunk.head.type));
    writer.u64(chunk.head.storedBytes);
    writer.u64(chunk.head.rawBytes);
    writer.u64(chunk.head.frame);
    writer.f64(chunk.head.time);
    writer.u64(chunk.head.payloadHash);
  }
  add(ChunkType::Index, payload);
  ByteWriter trailer(pending_);
  trailer.u64(index_.back().offset);
  trailer.string(kTrailerMagic);
  commit();
}

}  // namespace sunder::record
