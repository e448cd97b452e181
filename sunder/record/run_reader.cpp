#include "sunder/record/run_reader.h"

#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/base/stop.h"
#include "sunder/record/tables.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include <fmt/core.h>

namespace sunder::record {

namespace {

constexpr size_t kNone = SIZE_MAX;

}  // namespace

RunReader::RunReader(std::filesystem::path path, uint64_t limit) : file_(std::move(path), limit) {
  refresh();
}

bool RunReader::refresh() {
  ChunkList::Change change = ChunkList::Change::None;
  try {
    change = list_.update(file_);
  } catch (...) {
    // The tables tell places among chunks that are not known any more.
    list_ = ChunkList();
    resetView();
    throw;
  }
  if (change == ChunkList::Change::None) return false;
  if (change == ChunkList::Change::Replaced) resetView();
  takeAll();
  return true;
}

MeshEntry RunReader::mesh(size_t i) const {
  assert(i < meshes_.size());
  if (meshes_[i] == kNone)
    throw Error(ErrorKind::Format, fmt::format("mesh {} is lost in a damaged part of the file", i))
        .inFile(path().string());
  return decodeMesh(file_.payload(chunks()[meshes_[i]]), path().string());
}

uint64_t RunReader::frameNumber(size_t i) const { return chunks()[frames_[i].chunk].head.frame; }
double RunReader::frameTime(size_t i) const { return chunks()[frames_[i].chunk].head.time; }

size_t RunReader::frameAt(double time) const {
  assert(!frames_.empty());
  size_t low = 0, high = frames_.size();
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    (frameTime(middle) <= time ? low : high) = middle;
  }
  return low;
}

const QuantisedFrame& RunReader::readQuantised(size_t i) const {
  assert(i < frames_.size());
  if (current_ == i) return decoded_;
  const FrameEntry& wanted = frames_[i];
  if (wanted.key == kNone)
    throw Error(ErrorKind::Format,
                fmt::format("frame {} cannot be read: the frames it builds on are damaged", frameNumber(i)))
        .inFile(path().string())
        .atByte(chunks()[wanted.chunk].offset);
  size_t from = wanted.key;
  if (current_ != kNone && current_ < i && current_ >= wanted.key) from = current_ + 1;
  for (size_t f = from; f <= i; ++f) {
    const Chunk& chunk = chunks()[frames_[f].chunk];
    current_ = kNone;
    decodeFrame(file_.payload(chunk), chunk.head.type == ChunkType::KeyFrame, frames_[f].limit, decoded_,
                path().string());
    current_ = f;
  }
  return decoded_;
}

void RunReader::readFrame(size_t i, Frame& out) const {
  readQuantised(i);
  out.number = frameNumber(i);
  out.time = frameTime(i);
  out.fields = decoded_.fields;
  out.bodies.clear();
  for (const QuantisedState& state : decoded_.states) out.bodies.push_back(restore(state));
  // Of bodies whose entries are lost at the end of the table nothing is known but that they were there.
  out.bodies.resize(std::min(std::max(out.bodies.size(), frames_[i].bodies), bodies_.size()));
  out.points.clear();
  for (const QuantisedPoints& points : decoded_.points)
    if (points.body < out.bodies.size()) out.points.push_back(restore(points));
}

std::vector<Event> RunReader::events(size_t i) const {
  const size_t chunk = frames_[i].events;
  return chunk == kNone ? std::vector<Event>()
                        : decodeEvents(file_.payload(chunks()[chunk]), path().string());
}

std::vector<Statistic> RunReader::statistics(size_t i) const {
  std::vector<Statistic> out;
  const size_t chunk = frames_[i].statistics;
  if (chunk == kNone) return out;
  const StatisticRow row = decodeStatistics(file_.payload(chunks()[chunk]), path().string());
  const auto lost = [&] {
    return Error(ErrorKind::Format,
                 fmt::format("the names of the statistics of frame {} are lost", frameNumber(i)))
        .inFile(path().string());
  };
  if (row.names >= names_.size() || names_[row.names] == kNone) throw lost();
  const auto names = decodeNames(file_.payload(chunks()[names_[row.names]]), version() > 1, path().string());
  if (names.size() != row.values.size()) throw lost();
  for (size_t k = 0; k < names.size(); ++k) out.push_back({names[k], row.values[k]});
  return out;
}

std::vector<Input> RunReader::inputs(size_t i) const {
  std::vector<Input> out;
  auto place =
      i == 0 ? inputs_.begin() : std::upper_bound(inputs_.begin(), inputs_.end(), frames_[i - 1].chunk);
  for (; place != inputs_.end() && *place < frames_[i].chunk; ++place)
    for (Input& input : decodeInputs(file_.payload(chunks()[*place]), path().string()))
      out.push_back(std::move(input));
  return out;
}

std::vector<CrackFront> RunReader::fronts(size_t i) const {
  const FrameEntry& frame = frames_[i];
  if (frame.fronts == kNone) return {};
  return decodeFronts(file_.payload(chunks()[frame.fronts]), std::min(frame.limit, bodies_.size()),
                      path().string());
}

uint64_t RunReader::checkpointFrame(size_t i) const { return chunks()[checkpoints_[i]].head.frame; }

Checkpoint RunReader::checkpoint(size_t i) const {
  const Chunk& chunk = chunks()[checkpoints_[i]];
  std::string data = file_.payload(chunk);
  ByteReader in(std::as_bytes(std::span(data.data(), data.size())), path().string());
  Checkpoint result;
  result.frame = chunk.head.frame;
  result.hash = in.u64("hash of the state");
  result.state = data.substr(8);
  return result;
}

std::optional<size_t> RunReader::lastGoodCheckpoint() const {
  for (size_t i = checkpoints_.size(); i-- > 0;) {
    try {
      checkpoint(i);
      return i;
    } catch (const Error&) {
      continue;
    }
  }
  return std::nullopt;
}

std::optional<ResumePoint> RunReader::resumePoint(uint64_t latest) const {
  if (version() == 1)
    throw Error(ErrorKind::Unsupported,
                "is a recording of an earlier program (format 1): it can be looked at, but not resumed")
        .inFile(path().string())
        .hint("run the scene again into another folder with -o");
  size_t whole = chunks().size();  // chunks before the first damage
  if (!list_.gaps().empty()) whole = std::min(whole, list_.gaps().front().before);
  for (const CommitEntry& entry : commits_)
    if (!entry.fits) whole = std::min(whole, entry.chunk);
  for (size_t i = 0; i < whole; ++i) {
    checkStop();  // of a large recording all bytes are read
    try {
      file_.check(chunks()[i]);
    } catch (const Error&) {
      whole = i;
    }
  }
  // Only the checkpoints count that are followed by their commits.
  for (size_t i = commits_.size(); i-- > 0;) {
    const CommitEntry& entry = commits_[i];
    if (entry.chunk >= whole || entry.chunk == 0) continue;
    const auto found = std::lower_bound(checkpoints_.begin(), checkpoints_.end(), entry.chunk - 1);
    if (found == checkpoints_.end() || *found != entry.chunk - 1) continue;
    if (chunks()[*found].head.frame > latest) continue;
    const Chunk& chunk = chunks()[entry.chunk];
    return ResumePoint{static_cast<size_t>(found - checkpoints_.begin()), chunk.end(),
                       chainHash(entry.commit.chain, chunk.head), entry.commit.counts, entry.chunk + 1};
  }
  return std::nullopt;
}

std::vector<RunReader::Resumed> RunReader::resumed() const {
  std::vector<Resumed> out;
  if (version() == 1) return out;
  for (const Chunk& chunk : chunks())
    if (chunk.head.type == ChunkType::Epoch) out.push_back({chunk.offset, chunk.head.frame});
  return out;
}

std::vector<RunReader::Branch> RunReader::branches() const {
  constexpr size_t kMostBranches = 20;
  std::vector<Branch> out;
  if (frames_.empty()) return out;
  // Without its last byte a file has no index, so all heads are walked.
  std::vector<Chunk> epochs;
  if (version() > 1) epochs = RunReader(path(), fileSize() - 1).list().epochs();
  const size_t first = epochs.size() - std::min(epochs.size(), kMostBranches);
  for (size_t k = first; k <= epochs.size(); ++k) {
    checkStop();
    Branch branch;
    branch.epoch = static_cast<uint32_t>(k);
    branch.from = k == 0 ? 0 : epochs[k - 1].head.frame;
    branch.end = k < epochs.size() ? epochs[k].offset : fileSize();
    const uint64_t begin = k == 0 ? 0 : epochs[k - 1].offset;
    const RunReader then(path(), branch.end);
    branch.last = then.frames_.empty() ? 0 : then.frameNumber(then.frameCount() - 1);
    branch.current = std::any_of(frames_.begin(), frames_.end(), [&](const FrameEntry& frame) {
      const uint64_t offset = chunks()[frame.chunk].offset;
      return offset >= begin && offset < branch.end;
    });
    out.push_back(branch);
  }
  return out;
}

std::vector<std::string> RunReader::verify() const {
  std::vector<std::string> found = problems_;
  for (const Chunk& chunk : chunks()) {
    checkStop();
    try {
      file_.check(chunk);
    } catch (const Error& error) {
      if (std::find(found.begin(), found.end(), error.what()) == found.end()) found.push_back(error.what());
    }
  }
  return found;
}

}  // namespace sunder::record
