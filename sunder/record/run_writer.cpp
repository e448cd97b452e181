#include "sunder/record/run_writer.h"

#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/record/run_reader.h"
#include "sunder/record/tables.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sunder::record {

namespace {

// False for a run that was ended before its first step, and for an empty file. What cannot be read is not
// ours to judge, and kept.
bool worthKeeping(const std::filesystem::path& path, uint64_t size) {
  if (size < kFileHeaderSize) return size > 0;
  try {
    return RunReader(path).frameCount() > 1;
  } catch (const Error&) {
    return true;
  }
}

std::filesystem::path freeName(const std::filesystem::path& path) {
  for (uint64_t number = 1;; ++number) {
    std::filesystem::path name = path;
    name.replace_filename(path.stem().string() + fmt::format(".{}", number) + path.extension().string());
    std::error_code ignored;
    if (!std::filesystem::exists(std::filesystem::symlink_status(name, ignored))) return name;
  }
}

}  // namespace

void RunWriter::clearTheWay(Existing existing) {
  // A writer at work holds the lock of the file that is there: look before touching it.
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor_ < 0) return;
  struct stat status {};
  if (::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode)) {
    lock();
    if (existing == Existing::KeepAside && worthKeeping(path_, static_cast<uint64_t>(status.st_size))) {
      const std::filesystem::path name = freeName(path_);
      if (::rename(path_.c_str(), name.c_str()) != 0) fail("move the earlier recording aside", errno);
      kept_ = name;
    } else if (::unlink(path_.c_str()) != 0) {
      fail("replace", errno);
    }
  }
  ::close(std::exchange(descriptor_, -1));
}

RunWriter::RunWriter(std::filesystem::path path, const RunInfo& info, Existing existing)
    : path_(std::move(path)) {
  clearTheWay(existing);
  descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail("write", errno);
  lock();
  pending_ = fileHeader();
  add(ChunkType::Scene, encode(info));
  flush();
}

RunWriter::RunWriter(const RunReader& run, size_t at) : path_(run.path()) {
  descriptor_ = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor_ < 0) fail("go on with", errno);
  lock();
  end_ = run.endOfCheckpoint(at);
  if (::ftruncate(descriptor_, static_cast<off_t>(end_)) != 0) fail("go on with", errno);
  // What the cut takes away does not count: it is written again.
  for (const RunReader::Chunk& chunk : run.chunks()) {
    if (chunk.offset >= end_) break;
    if (chunk.head.type == ChunkType::Index || chunk.head.type == ChunkType::End) continue;
    index_.push_back({chunk.head, chunk.offset});
    meshes_ += chunk.head.type == ChunkType::Mesh;
    bodies_ += chunk.head.type == ChunkType::Body;
    names_ += chunk.head.type == ChunkType::StatisticNames;
  }
}

RunWriter::~RunWriter() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void RunWriter::lock() {
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  ::close(std::exchange(descriptor_, -1));
  throw Error(ErrorKind::Write, "another run is writing this file")
      .inFile(path_.string())
      .hint("wait for it to end, or choose another folder with -o");
}

void RunWriter::fail(const char* action, int code) {
  Error error(ErrorKind::Write, fmt::format("cannot {}: {}", action, std::strerror(code)));
  if (code == ENOSPC || code == EDQUOT || code == EFBIG)
    error.hint("what was recorded is whole; make room and go on with 'sunder run --resume'");
  if (code == ENOENT) error.hint("the folder does not exist");
  throw std::move(error.inFile(path_.string()));
}

void RunWriter::setKeyInterval(uint32_t frames) { keyInterval_ = std::max(frames, 1u); }

void RunWriter::add(ChunkType type, std::string_view payload) {
  const size_t start = pending_.size();
  appendChunk(pending_, type, frame_, time_, payload);
  const auto head = std::as_bytes(std::span(pending_.data() + start, kChunkHeadSize));
  index_.push_back({parseHead(head).value(), end_ + start});
}

void RunWriter::flush() {
  size_t written = 0;
  while (written < pending_.size()) {
    const ssize_t count = ::pwrite(descriptor_, pending_.data() + written, pending_.size() - written,
                                   static_cast<off_t>(end_ + written));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      const int code = count < 0 ? errno : ENOSPC;
      // Chunks that did reach the file stay; the one that was cut is taken off again.
      uint64_t whole = end_;
      while (!index_.empty() &&
             index_.back().offset + kChunkHeadSize + index_.back().head.storedBytes > end_ + written)
        index_.pop_back();
      if (!index_.empty())
        whole = std::max(whole, index_.back().offset + kChunkHeadSize + index_.back().head.storedBytes);
      [[maybe_unused]] const int ignored = ::ftruncate(descriptor_, static_cast<off_t>(whole));
      end_ = whole;
      pending_.clear();
      keyNext_ = true;
      fail("write", code);
    }
    written += static_cast<size_t>(count);
  }
  end_ += pending_.size();
  pending_.clear();
}

uint32_t RunWriter::addMesh(const MeshEntry& mesh) {
  add(ChunkType::Mesh, encode(mesh, meshes_));
  return meshes_++;
}

uint32_t RunWriter::addBody(const BodyEntry& body) {
  add(ChunkType::Body, encode(body, bodies_));
  return bodies_++;
}

void RunWriter::frame(uint64_t number, double time, std::span<const BodyState> bodies,
                      std::span<const BodyField> fields, std::span<const Statistic> statistics,
                      std::span<const Event> events, std::span<const BodyPoints> points) {
  frame_ = number;
  time_ = time;
  // The frame comes last: where it is whole, what belongs to it is too.
  if (!statistics.empty()) {
    bool same = names_ > 0 && statistics.size() == statisticNames_.size();
    for (size_t i = 0; same && i < statistics.size(); ++i) same = statistics[i].name == statisticNames_[i];
    if (!same) {
      statisticNames_.clear();
      for (const Statistic& s : statistics) statisticNames_.push_back(s.name);
      add(ChunkType::StatisticNames, encodeNames(statisticNames_));
      ++names_;
    }
    add(ChunkType::Statistics, encodeStatistics(names_ - 1, statistics));
  }
  if (!events.empty()) add(ChunkType::Events, encode(events));
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
  flush();
  ::fdatasync(descriptor_);
}

void RunWriter::finish(const RunEnd& end) {
  add(ChunkType::End, encode(end));
  std::string payload;
  ByteWriter writer(payload);
  writer.u64(index_.size());
  for (const Entry& entry : index_) {
    writer.u64(entry.offset);
    writer.u32(static_cast<uint32_t>(entry.head.type));
    writer.u64(entry.head.storedBytes);
    writer.u64(entry.head.rawBytes);
    writer.u64(entry.head.frame);
    writer.f64(entry.head.time);
    writer.u64(entry.head.payloadHash);
  }
  const uint64_t indexAt = end_ + pending_.size();
  add(ChunkType::Index, payload);
  ByteWriter trailer(pending_);
  trailer.u64(indexAt);
  trailer.string(kTrailerMagic);
  flush();
  ::fdatasync(descriptor_);
}

}  // namespace sunder::record
