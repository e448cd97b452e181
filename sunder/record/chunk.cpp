#include "sunder/record/chunk.h"

#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/base/hash.h"
#include "sunder/base/scratch_pool.h"

#include <algorithm>

#include <fmt/core.h>
#include <zstd.h>

namespace sunder::record {

namespace {

constexpr std::string_view kMagic = "SUNDRUN\n";
constexpr uint32_t kMarker = chunkTag(
    "\xc5"
    "SUN");
constexpr int kPackLevel = 1;
constexpr size_t kSmallestPacked = 64;

// All meshes, bodies and materials may be in memory at once, so a small chunk of these unpacks to little.
uint64_t largestRaw(ChunkType type, uint64_t storedBytes) {
  const bool kept = type == ChunkType::Mesh || type == ChunkType::Body || type == ChunkType::Material ||
                    type == ChunkType::MeshChange || type == ChunkType::Embedding;
  return std::min(kChunkLimit, storedBytes * 1024 + (uint64_t(1) << (kept ? 16 : 20)));
}

// All of a head but its own hash.
std::string headBytes(const ChunkHead& head) {
  std::string out;
  ByteWriter writer(out);
  writer.u32(kMarker);
  writer.u32(static_cast<uint32_t>(head.type));
  writer.u64(head.storedBytes);
  writer.u64(head.rawBytes);
  writer.u64(head.frame);
  writer.f64(head.time);
  writer.u64(head.payloadHash);
  return out;
}

struct PackContext {
  ZSTD_CCtx* packer = ZSTD_createCCtx();
  PackContext() = default;
  ~PackContext() { ZSTD_freeCCtx(packer); }
  PackContext(const PackContext&) = delete;
  PackContext& operator=(const PackContext&) = delete;
};

}  // namespace

const char* name(ChunkType type) {
  switch (type) {
    case ChunkType::Scene:
      return "scene";
    case ChunkType::Mesh:
      return "mesh";
    case ChunkType::Body:
      return "body";
    case ChunkType::Material:
      return "material";
    case ChunkType::MeshChange:
      return "change of a mesh";
    case ChunkType::Embedding:
      return "embedding";
    case ChunkType::Inputs:
      return "inputs";
    case ChunkType::Fronts:
      return "crack fronts";
    case ChunkType::StatisticNames:
      return "names of statistics";
    case ChunkType::Statistics:
      return "statistics";
    case ChunkType::Events:
      return "events";
    case ChunkType::Frame:
      return "frame";
    case ChunkType::KeyFrame:
      return "key frame";
    case ChunkType::Checkpoint:
      return "checkpoint";
    case ChunkType::Commit:
      return "commit";
    case ChunkType::Epoch:
      return "epoch";
    case ChunkType::Pad:
      return "padding";
    case ChunkType::Lost:
      return "list of losses";
    case ChunkType::End:
      return "end";
    case ChunkType::Index:
      return "index";
  }
  return "unknown chunk";
}

std::string fileHeader(uint32_t version) {
  std::string out;
  ByteWriter writer(out);
  writer.string(kMagic);
  writer.u32(version);
  writer.u32(0);
  return out;
}

uint32_t checkFileHeader(std::span<const std::byte> bytes, const std::string& fileName) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (bytes.size() < kFileHeaderSize || text.substr(0, kMagic.size()) != kMagic) {
    Error error(ErrorKind::Format, "is not a run file: it does not begin with SUNDRUN");
    if (bytes.empty()) error = Error(ErrorKind::Format, "is empty, not a run file");
    throw std::move(error.inFile(fileName).hint("run files are written by 'sunder run' as run.sunder"));
  }
  const auto version = loadValue<uint32_t>(bytes.data() + kMagic.size(), kNativeOrder != ByteOrder::Little);
  if (version < kOldestVersion || version > kFormatVersion)
    throw Error(ErrorKind::Unsupported,
                fmt::format("is a run file of version {}, this program reads versions {} to {}", version,
                            kOldestVersion, kFormatVersion))
        .inFile(fileName)
        .hint("use the program that wrote it");
  return version;
}

bool plausible(const ChunkHead& head) {
  return head.storedBytes <= kChunkLimit && head.rawBytes <= largestRaw(head.type, head.storedBytes);
}

uint64_t chainHash(uint64_t before, const ChunkHead& head) {
  return hash64(std::string_view(headBytes(head)), before);
}

void appendChunk(std::string& out, ChunkType type, uint64_t frame, double time, std::string_view payload) {
  if (payload.size() > kChunkLimit)
    throw Error(ErrorKind::Limit,
                fmt::format("a {} of {} bytes is too large for a run file, which holds {} at most",
                            name(type), payload.size(), kChunkLimit));
  const size_t start = out.size();
  out.resize(start + kChunkHeadSize);
  uint64_t stored = payload.size();
  if (payload.size() >= kSmallestPacked) {
    static ScratchPool<PackContext> contexts;
    const ScratchPool<PackContext>::Loan context(contexts);
    const size_t room = ZSTD_compressBound(payload.size());
    out.resize(start + kChunkHeadSize + room);
    const size_t packed = ZSTD_compressCCtx(context->packer, out.data() + start + kChunkHeadSize, room,
                                            payload.data(), payload.size(), kPackLevel);
    if (!ZSTD_isError(packed) && packed < payload.size() && payload.size() <= largestRaw(type, packed))
      stored = packed;
    out.resize(start + kChunkHeadSize + (stored < payload.size() ? stored : 0));
  }
  if (stored == payload.size()) out.append(payload);

  const std::string_view body(out.data() + start + kChunkHeadSize, stored);
  std::string head = headBytes({type, stored, payload.size(), frame, time, hash64(body)});
  const uint64_t ownHash = hash64(std::string_view(head));
  ByteWriter(head).u64(ownHash);
  std::copy(head.begin(), head.end(), out.begin() + static_cast<std::ptrdiff_t>(start));
}

std::optional<ChunkHead> parseHead(std::span<const std::byte> bytes) {
  if (bytes.size() < kChunkHeadSize) return std::nullopt;
  ByteReader reader(bytes.first(kChunkHeadSize), "");
  if (reader.u32("marker") != kMarker) return std::nullopt;
  ChunkHead head;
  head.type = static_cast<ChunkType>(reader.u32("type"));
  head.storedBytes = reader.u64("size");
  head.rawBytes = reader.u64("size");
  head.frame = reader.u64("frame");
  head.time = reader.f64("time");
  head.payloadHash = reader.u64("hash");
  if (reader.u64("hash") != hash64(bytes.first(kChunkHeadSize - 8))) return std::nullopt;
  return plausible(head) ? std::optional(head) : std::nullopt;
}

std::string unpack(const ChunkHead& head, std::span<const std::byte> stored, const std::string& fileName,
                   uint64_t offset) {
  const auto damaged = [&](const char* why) {
    return Error(ErrorKind::Format,
                 fmt::format("the {} of frame {} is damaged: {}", name(head.type), head.frame, why))
        .inFile(fileName)
        .atByte(offset);
  };
  if (stored.size() != head.storedBytes) throw damaged("the file ends inside it");
  if (hash64(stored) != head.payloadHash)
    throw damaged("its bytes do not have the hash they were written with");
  if (head.rawBytes == head.storedBytes)
    return std::string(reinterpret_cast<const char*>(stored.data()), stored.size());
  std::string raw(head.rawBytes, '\0');
  const size_t size = ZSTD_decompress(raw.data(), raw.size(), stored.data(), stored.size());
  if (ZSTD_isError(size) || size != raw.size()) throw damaged("it does not unpack");
  return raw;
}

}  // namespace sunder::record
