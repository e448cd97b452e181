#include "sunder/record/chunk_list.h"

#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/record/tables.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/core.h>

namespace sunder::record {

namespace {

constexpr size_t kTrailerSize = 16;
constexpr size_t kIndexEntrySize = 52;
constexpr size_t kSearchBlock = size_t(1) << 16;
constexpr size_t kMostEpochs = 10'000;
constexpr size_t kMostRefusals = 100;
constexpr size_t kNoNode = SIZE_MAX;
constexpr uint64_t kNoGap = UINT64_MAX;

// The offset in a trailer: that of the index.
std::optional<uint64_t> trailerOf(const std::byte* bytes) {
  if (std::memcmp(bytes + 8, kTrailerMagic.data(), 8) != 0) return std::nullopt;
  return loadValue<uint64_t>(bytes, kNativeOrder != ByteOrder::Little);
}

}  // namespace

void ChunkList::clear() { *this = ChunkList(); }

// A file only grows, but for a writer that takes back what it could not finish.
bool ChunkList::unchanged(const RunFile& file) const {
  if (file.size() < scanned_) return false;
  if (nodes_.empty()) return true;
  const Chunk& last = nodes_.back().chunk;
  std::array<std::byte, kChunkHeadSize> bytes{};
  file.readAt(last.offset, bytes.data(), bytes.size());
  const auto head = parseHead(bytes);
  return head && head->payloadHash == last.head.payloadHash && head->frame == last.head.frame;
}

ChunkList::Change ChunkList::update(const RunFile& file) {
  const bool again = scanned_ > 0 && !unchanged(file);
  if (again) clear();
  fileSize_ = file.size();
  if (scanned_ == 0) {
    std::array<std::byte, kFileHeaderSize> header{};
    version_ = checkFileHeader(std::span(header).first(file.readAt(0, header.data(), header.size())),
                               file.path().string());
    scanned_ = kFileHeaderSize;
    if (!readIndex(file)) scan(file);
  } else {
    scan(file);
  }
  const Change change = collect();
  return again ? Change::Replaced : change;
}

// An epoch counts from its first commit on, or when it has come as far as what it replaces.
size_t ChunkList::tip() const {
  if (last_ == kNoNode || held_ == kNoNode) return last_;
  return nodes_[last_].committed || nodes_[last_].framesEnd >= nodes_[held_].framesEnd ? last_ : held_;
}

bool ChunkList::holds(size_t tip, size_t node) const {
  while (tip != kNoNode && nodes_[tip].epoch != nodes_[node].epoch) tip = epochFrom_[nodes_[tip].epoch];
  return tip != kNoNode && node <= tip;
}

ChunkList::Change ChunkList::collect() {
  const size_t now = tip();
  if (now == collected_) return Change::None;
  std::vector<size_t> path;
  size_t node = now;
  for (; node != kNoNode && node != collected_; node = nodes_[node].previous) path.push_back(node);
  const Change change = collected_ != kNoNode && node == collected_ ? Change::Appended : Change::Replaced;
  if (change == Change::Replaced) {
    chunks_.clear();
    gaps_.clear();
  }
  for (auto i = path.rbegin(); i != path.rend(); ++i) {
    const Node& next = nodes_[*i];
    if (next.gap.end > 0) gaps_.push_back({next.gap.begin, next.gap.end, chunks_.size()});
    chunks_.push_back(next.chunk);
  }
  collected_ = now;
  return change;
}

std::vector<uint64_t> ChunkList::tornEnds() const {
  std::vector<uint64_t> ends;
  for (const uint64_t end : tornEnds_)
    if (end > fileSize_) ends.push_back(end);
  if (unfinished_) ends.push_back(unfinished_->end());
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  return ends;
}

std::vector<Chunk> ChunkList::epochs() const {
  std::vector<Chunk> out;
  for (const Node& node : nodes_)
    if (node.chunk.head.type == ChunkType::Epoch) out.push_back(node.chunk);
  return out;
}

bool ChunkList::readIndex(const RunFile& file) {
  std::array<std::byte, kTrailerSize> trailer{};
  if (fileSize_ < kFileHeaderSize + kTrailerSize) return false;
  file.readAt(fileSize_ - kTrailerSize, trailer.data(), trailer.size());
  const auto place = trailerOf(trailer.data());
  if (!place || *place < kFileHeaderSize || *place > fileSize_ - kTrailerSize) return false;
  Chunk index;
  index.offset = *place;
  std::array<std::byte, kChunkHeadSize> bytes{};
  if (file.readAt(index.offset, bytes.data(), bytes.size()) != bytes.size()) return false;
  const auto head = parseHead(bytes);
  if (!head || head->type != ChunkType::Index) return false;
  index.head = *head;
  if (index.end() != fileSize_ - kTrailerSize) return false;
  std::vector<Chunk> found;
  try {
    const std::string data = file.payload(index);
    ByteReader in(std::as_bytes(std::span(data.data(), data.size())), file.path().string());
    const uint64_t count = in.u64("number of chunks");
    in.need(count, kIndexEntrySize, "index");
    uint64_t expected = kFileHeaderSize, chain = 0;
    for (uint64_t i = 0; i < count; ++i) {
      Chunk chunk;
      chunk.offset = in.u64("index");
      chunk.head.type = static_cast<ChunkType>(in.u32("index"));
      chunk.head.storedBytes = in.u64("index");
      chunk.head.rawBytes = in.u64("index");
      chunk.head.frame = in.u64("index");
      chunk.head.time = in.f64("index");
      chunk.head.payloadHash = in.u64("index");
      // Only what an epoch superseded is left out.
      const bool follows = version_ == 1 ? chunk.offset >= expected
                                         : chunk.offset == expected || (chunk.head.type == ChunkType::Epoch &&
                                                                        chunk.offset > expected);
      if (!follows || chunk.offset > index.offset || !plausible(chunk.head) || chunk.end() > index.offset)
        return false;
      if (version_ > 1 && i + 1 == count) {
        if (chunk.head.type != ChunkType::Commit) return false;
        const Commit commit = decodeCommit(file.payload(chunk), file.path().string());
        if (commit.chain != chain || commit.offset != chunk.offset) return false;
      }
      chain = chainHash(chain, chunk.head);
      expected = chunk.end();
      found.push_back(chunk);
    }
    if (version_ > 1 && expected != index.offset) return false;
  } catch (const Error&) {
    return false;  // walking the chunks finds the same
  }
  for (const Chunk& chunk : found) {
    if (chunk.head.type == ChunkType::Epoch && version_ > 1) epochFrom_.push_back(last_);
    add(chunk, {});
  }
  add(index, {});
  scanned_ = fileSize_;
  indexed_ = true;
  return true;
}

std::optional<uint64_t> ChunkList::search(const RunFile& file, uint64_t from) const {
  std::vector<std::byte> block(kSearchBlock + kChunkHeadSize);
  for (uint64_t at = from; at + kChunkHeadSize <= fileSize_;) {
    const size_t count = file.readAt(at, block.data(), block.size());
    if (count < kChunkHeadSize) break;
    for (size_t i = 0; i + kChunkHeadSize <= count; ++i)
      if (parseHead(std::span(block).subspan(i, kChunkHeadSize))) return at + i;
    at += count - kChunkHeadSize + 1;
  }
  return std::nullopt;
}

void ChunkList::scan(const RunFile& file) {
  std::array<std::byte, kChunkHeadSize> bytes{};
  uint64_t gapBegin = kNoGap;
  const size_t before = nodes_.size();
  unfinished_.reset();
  while (scanned_ + kTrailerSize <= fileSize_) {
    const size_t count = file.readAt(scanned_, bytes.data(), bytes.size());
    if (count < kTrailerSize) break;
    uint64_t from = scanned_ + 1;
    const bool follows = !nodes_.empty() && nodes_.back().chunk.end() == scanned_;
    if (const auto head = parseHead(std::span(bytes).first(count))) {
      const Chunk chunk{*head, scanned_};
      bool whole = chunk.end() <= fileSize_;
      if (whole && chunk.head.type == ChunkType::Epoch && version_ > 1) {
        try {
          Gap gap;  // torn bytes before an epoch harm nobody
          if (takeEpoch(chunk, decodeEpoch(file.payload(chunk), file.path().string()), gap)) add(chunk, gap);
          gapBegin = kNoGap;
          scanned_ = chunk.end();
          continue;
        } catch (const Error&) {
          whole = false;  // torn, and what follows is inside what it claims
        }
      }
      if (whole) {
        add(chunk, gapBegin != kNoGap ? Gap{gapBegin, scanned_} : Gap{});
        gapBegin = kNoGap;
        scanned_ = chunk.end();
        continue;
      }
      from = chunk.payloadAt();
      unfinished_ = chunk;
    } else if (const auto index = trailerOf(bytes.data());
               index && follows && nodes_.back().chunk.offset == *index) {
      scanned_ += kTrailerSize;
      continue;
    } else if (follows && nodes_.back().chunk.head.type != ChunkType::Epoch) {
      // No head where the last chunk ends: that one may be torn, with an epoch inside what it claims.
      from = nodes_.back().chunk.payloadAt();
    }
    const auto next = search(file, from);
    if (!next) break;  // the rest may still be written, or is torn
    if (*next < scanned_) gapBegin = std::min(gapBegin, takeBack());
    if (unfinished_) tornEnds_.push_back(unfinished_->end());
    unfinished_.reset();
    gapBegin = std::min(gapBegin, scanned_);
    scanned_ = *next;
  }
  // A gap that no chunk ends yet is looked at again.
  scanned_ = std::min(scanned_, gapBegin);
  // The last chunk may be torn and yet as long as it claims, where part of something else follows.
  // Epochs are known to be whole.
  if (nodes_.empty() || (nodes_.size() == before && scanned_ == fileSize_) ||
      nodes_.back().chunk.head.type == ChunkType::Epoch)
    return;
  try {
    file.payload(nodes_.back().chunk);
  } catch (const Error&) {
    unfinished_ = nodes_.back().chunk;
    scanned_ = std::min(scanned_, takeBack());
  }
}

// Forgets the last chunk. Returns where what is not understood begins.
uint64_t ChunkList::takeBack() {
  const Node torn = nodes_.back();
  nodes_.pop_back();
  last_ = torn.previous;
  collected_ = kNoNode;
  scanned_ = torn.chunk.offset;
  return torn.gap.end > 0 ? torn.gap.begin : scanned_;
}

void ChunkList::add(const Chunk& chunk, const Gap& gap) {
  Node node;
  node.chunk = chunk;
  node.previous = last_;
  node.epoch = epochFrom_.size() - 1;
  node.gap = gap;
  if (last_ != kNoNode) {
    node.framesEnd = nodes_[last_].framesEnd;
    node.committed = nodes_[last_].epoch == node.epoch && nodes_[last_].committed;
  }
  if (chunk.head.type == ChunkType::Frame || chunk.head.type == ChunkType::KeyFrame)
    node.framesEnd = std::max(chunk.head.frame, chunk.head.frame + 1);
  node.committed |= chunk.head.type == ChunkType::Commit;
  last_ = nodes_.size();
  nodes_.push_back(node);
}

// Makes the node that the epoch continues from the last one. False: the epoch does not count. `gap`: the
// bytes before that place where they are damaged.
bool ChunkList::takeEpoch(const Chunk& chunk, const Epoch& epoch, Gap& gap) {
  const auto after = std::lower_bound(nodes_.begin(), nodes_.end(), epoch.continueAt,
                                      [](const Node& n, uint64_t at) { return n.chunk.offset < at; });
  const size_t recording = tip();
  if (after != nodes_.begin() && epochFrom_.size() <= kMostEpochs) {
    const auto from = static_cast<size_t>(after - nodes_.begin()) - 1;
    const uint64_t end = nodes_[from].chunk.end();
    const bool damaged = end < epoch.continueAt && after != nodes_.end() && after->gap.begin == end &&
                         epoch.continueAt <= after->gap.end;
    if ((end == epoch.continueAt || damaged) && holds(recording, from)) {
      if (damaged) gap = {end, epoch.continueAt};
      epochFrom_.push_back(from);
      last_ = from;
      held_ = recording;
      return true;
    }
  }
  if (problems_.size() < kMostRefusals)
    problems_.push_back(
        fmt::format("the epoch at byte {} does not count: byte {}, from which it continues, ends no chunk of "
                    "the recording",
                    chunk.offset, epoch.continueAt));
  return false;
}

}  // namespace sunder::record
