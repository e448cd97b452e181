#include "sunder/record/run_reader.h"

#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/record/tables.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sunder::record {

namespace {

constexpr size_t kNone = SIZE_MAX;
constexpr size_t kTrailerSize = 16;
constexpr size_t kIndexEntrySize = 52;
constexpr size_t kSearchBlock = size_t(1) << 16;
constexpr size_t kMostProblems = 100;
constexpr size_t kLargestGap = 65536;

}  // namespace

RunReader::RunReader(std::filesystem::path path) : path_(std::move(path)) { open(); }

RunReader::~RunReader() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

RunReader::RunReader(RunReader&& other) noexcept { *this = std::move(other); }

RunReader& RunReader::operator=(RunReader&& other) noexcept {
  if (this == &other) return *this;
  if (descriptor_ >= 0) ::close(descriptor_);
  path_ = std::move(other.path_);
  descriptor_ = std::exchange(other.descriptor_, -1);
  scanned_ = other.scanned_;
  indexed_ = other.indexed_;
  info_ = std::move(other.info_);
  chunks_ = std::move(other.chunks_);
  meshes_ = std::move(other.meshes_);
  names_ = std::move(other.names_);
  checkpoints_ = std::move(other.checkpoints_);
  bodies_ = std::move(other.bodies_);
  frames_ = std::move(other.frames_);
  end_ = std::move(other.end_);
  problems_ = std::move(other.problems_);
  pendingEvents_ = other.pendingEvents_;
  pendingStatistics_ = other.pendingStatistics_;
  brokenChain_ = other.brokenChain_;
  current_ = other.current_;
  decoded_ = std::move(other.decoded_);
  return *this;
}

void RunReader::open() {
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status {};
  if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) {
    const int code = errno;
    Error error =
        Error(ErrorKind::Missing, fmt::format("cannot read: {}", std::strerror(code))).inFile(path_.string());
    if (code == ENOENT) error.hint("check the spelling and the folder you are in");
    throw error;
  }
  if (!S_ISREG(status.st_mode))
    throw Error(ErrorKind::Missing, S_ISDIR(status.st_mode) ? "cannot read: it is a folder"
                                                            : "cannot read: it is not a regular file")
        .inFile(path_.string());
  refresh();
}

void RunReader::reset() {
  scanned_ = 0;
  indexed_ = false;
  info_ = {};
  chunks_.clear();
  meshes_.clear();
  names_.clear();
  checkpoints_.clear();
  bodies_.clear();
  frames_.clear();
  end_.reset();
  problems_.clear();
  pendingEvents_ = pendingStatistics_ = current_ = kNone;
  brokenChain_ = false;
}

size_t RunReader::readAt(uint64_t offset, void* out, size_t count) const {
  size_t done = 0;
  while (done < count) {
    const ssize_t got =
        ::pread(descriptor_, static_cast<char*>(out) + done, count - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      throw Error(ErrorKind::Missing, fmt::format("cannot read: {}", std::strerror(errno)))
          .inFile(path_.string());
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

bool RunReader::refresh() {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) return false;
  const auto fileSize = static_cast<uint64_t>(status.st_size);
  if (scanned_ > 0) {
    bool same = fileSize >= scanned_;
    if (same && !chunks_.empty()) {
      const Chunk& last = chunks_.back();
      std::array<std::byte, kChunkHeadSize> bytes{};
      readAt(last.offset, bytes.data(), bytes.size());
      const auto head = parseHead(bytes);
      same = head && head->payloadHash == last.head.payloadHash && head->frame == last.head.frame;
    }
    if (!same) reset();
  }
  const size_t before = chunks_.size();
  if (scanned_ == 0) {
    std::array<std::byte, kFileHeaderSize> header{};
    checkFileHeader(std::span(header).first(readAt(0, header.data(), header.size())), path_.string());
    scanned_ = kFileHeaderSize;
    if (readIndex(fileSize)) return true;
  }
  scan(fileSize);
  return chunks_.size() > before;
}

bool RunReader::readIndex(uint64_t fileSize) {
  std::array<std::byte, kTrailerSize> trailer{};
  if (fileSize < kFileHeaderSize + kTrailerSize) return false;
  readAt(fileSize - kTrailerSize, trailer.data(), trailer.size());
  if (std::memcmp(trailer.data() + 8, kTrailerMagic.data(), 8) != 0) return false;
  Chunk index;
  index.offset = loadValue<uint64_t>(trailer.data(), kNativeOrder != ByteOrder::Little);
  std::array<std::byte, kChunkHeadSize> bytes{};
  if (index.offset < kFileHeaderSize || index.offset > fileSize - kTrailerSize) return false;
  if (readAt(index.offset, bytes.data(), bytes.size()) != bytes.size()) return false;
  const auto head = parseHead(bytes);
  if (!head || head->type != ChunkType::Index) return false;
  index.head = *head;
  if (index.end() != fileSize - kTrailerSize) return false;
  std::vector<Chunk> found;
  try {
    const std::string data = payload(index);
    ByteReader in(std::as_bytes(std::span(data.data(), data.size())), path_.string());
    const uint64_t count = in.u64("number of chunks");
    in.need(count, kIndexEntrySize, "index");
    uint64_t expected = kFileHeaderSize;
    for (uint64_t i = 0; i < count; ++i) {
      Chunk chunk;
      chunk.offset = in.u64("index");
      chunk.head.type = static_cast<ChunkType>(in.u32("index"));
      chunk.head.storedBytes = in.u64("index");
      chunk.head.rawBytes = in.u64("index");
      chunk.head.frame = in.u64("index");
      chunk.head.time = in.f64("index");
      chunk.head.payloadHash = in.u64("index");
      if (chunk.offset < expected || chunk.head.storedBytes > kChunkLimit ||
          chunk.head.rawBytes > kChunkLimit || chunk.end() > index.offset)
        return false;
      expected = chunk.end();
      found.push_back(chunk);
    }
  } catch (const Error&) {
    return false;  // walking the chunks finds the same
  }
  for (const Chunk& chunk : found) take(chunk);
  chunks_.push_back(index);
  scanned_ = fileSize;
  indexed_ = true;
  return true;
}

void RunReader::scan(uint64_t fileSize) {
  std::array<std::byte, kChunkHeadSize> bytes{};
  while (scanned_ + kChunkHeadSize <= fileSize) {
    if (readAt(scanned_, bytes.data(), bytes.size()) != bytes.size()) return;
    if (const auto head = parseHead(bytes)) {
      const Chunk chunk{*head, scanned_};
      if (chunk.end() > fileSize) return;  // torn, or still being written
      take(chunk);
      scanned_ = chunk.end();
      continue;
    }
    if (std::memcmp(bytes.data() + 8, kTrailerMagic.data(), 8) == 0 && scanned_ + kTrailerSize == fileSize)
      return;
    // Not a head: look for the next one. None: the rest may still be written, or is torn.
    uint64_t next = scanned_ + 1;
    bool found = false;
    std::vector<std::byte> block(kSearchBlock + kChunkHeadSize);
    while (!found && next + kChunkHeadSize <= fileSize) {
      const size_t count = readAt(next, block.data(), block.size());
      if (count < kChunkHeadSize) break;
      for (size_t i = 0; i + kChunkHeadSize <= count; ++i) {
        if (!parseHead(std::span(block).subspan(i, kChunkHeadSize))) continue;
        next += i;
        found = true;
        break;
      }
      if (!found) next += count - kChunkHeadSize + 1;
    }
    if (!found) return;
    if (problems_.size() < kMostProblems)
      problems_.push_back(fmt::format("bytes {} to {} are damaged and were left out", scanned_, next));
    pendingEvents_ = pendingStatistics_ = kNone;
    scanned_ = next;
    // A frame may be among them, so what follows cannot build on the frame before.
    brokenChain_ = true;
  }
}

// Tables may have gaps where an entry is damaged, but not so large that a single bad number fills the memory.
void RunReader::takeMesh(size_t place) {
  size_t index = meshes_.size();
  try {
    index = decodeIndex(payload(chunks_[place]), path_.string());
  } catch (const Error& error) {
    if (problems_.size() < kMostProblems) problems_.push_back(error.what());
  }
  if (index > meshes_.size() + kLargestGap) return;
  if (meshes_.size() <= index) meshes_.resize(index + 1, kNone);
  meshes_[index] = place;
}

void RunReader::takeBody(size_t place) {
  size_t index = bodies_.size();
  BodyEntry entry;
  try {
    const std::string data = payload(chunks_[place]);
    entry = decodeBody(data, path_.string());
    index = decodeIndex(data, path_.string());
  } catch (const Error& error) {
    if (problems_.size() < kMostProblems) problems_.push_back(error.what());
  }
  if (index > bodies_.size() + kLargestGap) return;
  if (bodies_.size() <= index) bodies_.resize(index + 1);
  bodies_[index] = std::move(entry);
}

void RunReader::take(Chunk chunk) {
  const size_t place = chunks_.size();
  chunks_.push_back(chunk);
  const auto note = [&](const Error& error) {
    if (problems_.size() < kMostProblems) problems_.push_back(error.what());
  };
  switch (chunk.head.type) {
    case ChunkType::Scene:
      try {
        info_ = decodeInfo(payload(chunk), path_.string());
      } catch (const Error& error) {
        note(error);
      }
      break;
    case ChunkType::Mesh:
      takeMesh(place);
      break;
    case ChunkType::Body:
      takeBody(place);
      break;
    case ChunkType::StatisticNames:
      names_.push_back(place);
      break;
    case ChunkType::Statistics:
      pendingStatistics_ = place;
      break;
    case ChunkType::Events:
      pendingEvents_ = place;
      break;
    case ChunkType::Frame:
    case ChunkType::KeyFrame: {
      FrameEntry entry{place, pendingEvents_, pendingStatistics_, kNone, bodies_.size()};
      pendingEvents_ = pendingStatistics_ = kNone;
      if (chunk.head.type == ChunkType::KeyFrame) {
        entry.key = frames_.size();
        brokenChain_ = false;
      } else if (!brokenChain_ && !frames_.empty()) {
        entry.key = frames_.back().key;
      }
      frames_.push_back(entry);
      break;
    }
    case ChunkType::Checkpoint:
      checkpoints_.push_back(place);
      break;
    case ChunkType::End:
      try {
        end_ = decodeEnd(payload(chunk), path_.string());
      } catch (const Error& error) {
        note(error);
      }
      break;
    case ChunkType::Index:
      break;
  }
}

std::string RunReader::payload(const Chunk& chunk) const {
  std::vector<std::byte> stored(chunk.head.storedBytes);
  stored.resize(readAt(chunk.payloadAt(), stored.data(), stored.size()));
  return unpack(chunk.head, stored, path_.string(), chunk.offset);
}

MeshEntry RunReader::mesh(size_t i) const {
  assert(i < meshes_.size());
  if (meshes_[i] == kNone)
    throw Error(ErrorKind::Format, fmt::format("mesh {} is lost in a damaged part of the file", i))
        .inFile(path_.string());
  return decodeMesh(payload(chunks_[meshes_[i]]), path_.string());
}

uint64_t RunReader::frameNumber(size_t i) const { return chunks_[frames_[i].chunk].head.frame; }
double RunReader::frameTime(size_t i) const { return chunks_[frames_[i].chunk].head.time; }

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
        .inFile(path_.string())
        .atByte(chunks_[wanted.chunk].offset);
  size_t from = wanted.key;
  if (current_ != kNone && current_ < i && current_ >= wanted.key) from = current_ + 1;
  for (size_t f = from; f <= i; ++f) {
    const FrameEntry& entry = frames_[f];
    const Chunk& chunk = chunks_[entry.chunk];
    current_ = kNone;
    const size_t limit = entry.bodies + (problems_.empty() ? 0 : kLargestGap);
    decodeFrame(payload(chunk), chunk.head.type == ChunkType::KeyFrame, limit, decoded_, path_.string());
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
  out.bodies.resize(std::max(out.bodies.size(), frames_[i].bodies));
  out.points.clear();
  for (const QuantisedPoints& points : decoded_.points)
    if (points.body < out.bodies.size()) out.points.push_back(restore(points));
}

std::vector<Event> RunReader::events(size_t i) const {
  const size_t chunk = frames_[i].events;
  return chunk == kNone ? std::vector<Event>() : decodeEvents(payload(chunks_[chunk]), path_.string());
}

std::vector<Statistic> RunReader::statistics(size_t i) const {
  std::vector<Statistic> out;
  const size_t chunk = frames_[i].statistics;
  if (chunk == kNone) return out;
  const StatisticRow row = decodeStatistics(payload(chunks_[chunk]), path_.string());
  if (row.names >= names_.size()) return out;
  const auto names = decodeNames(payload(chunks_[names_[row.names]]), path_.string());
  for (size_t k = 0; k < std::min(names.size(), row.values.size()); ++k)
    out.push_back({names[k], row.values[k]});
  return out;
}

uint64_t RunReader::checkpointFrame(size_t i) const { return chunks_[checkpoints_[i]].head.frame; }

Checkpoint RunReader::checkpoint(size_t i) const {
  const Chunk& chunk = chunks_[checkpoints_[i]];
  std::string data = payload(chunk);
  ByteReader in(std::as_bytes(std::span(data.data(), data.size())), path_.string());
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

uint64_t RunReader::endOfCheckpoint(size_t i) const { return chunks_[checkpoints_[i]].end(); }

std::vector<std::string> RunReader::verify() const {
  std::vector<std::string> found = problems_;
  for (const Chunk& chunk : chunks_) {
    try {
      payload(chunk);
    } catch (const Error& error) {
      if (std::find(found.begin(), found.end(), error.what()) == found.end()) found.push_back(error.what());
    }
  }
  return found;
}

}  // namespace sunder::record
