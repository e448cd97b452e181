// The container of a run file: a header of 16 bytes, then chunks, each whole by itself. A chunk has a head of
// 56 bytes with its own hash, so a reader walks from head to head without unpacking anything, and a payload,
// packed with zstd where that makes it smaller, with a hash over the stored bytes. Appending is the only way
// to write; what a cut, a crash or a flipped bit can harm is one chunk, and it is noticed.
//
// Cost: packing some 400 MB/s (zstd level 1), walking a file some 2 us a chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace sunder::record {

inline constexpr uint32_t kFormatVersion = 1;
inline constexpr size_t kFileHeaderSize = 16;
inline constexpr size_t kChunkHeadSize = 56;
inline constexpr uint64_t kChunkLimit = uint64_t(1) << 30;  // bytes of a payload

constexpr uint32_t chunkTag(const char (&name)[5]) {
  return uint32_t(uint8_t(name[0])) | uint32_t(uint8_t(name[1])) << 8 | uint32_t(uint8_t(name[2])) << 16 |
         uint32_t(uint8_t(name[3])) << 24;
}

enum class ChunkType : uint32_t {
  Scene = chunkTag("SCEN"),
  Mesh = chunkTag("MESH"),
  Body = chunkTag("BODY"),
  StatisticNames = chunkTag("STNM"),
  Statistics = chunkTag("STAT"),
  Events = chunkTag("EVNT"),
  Frame = chunkTag("FRAM"),     // what changed since the frame before
  KeyFrame = chunkTag("KEYF"),  // everything
  Checkpoint = chunkTag("CHKP"),
  End = chunkTag("END "),
  Index = chunkTag("INDX"),
};

// "frame", "checkpoint"...; "unknown chunk" for a type of a later version.
const char* name(ChunkType type);

struct ChunkHead {
  ChunkType type = ChunkType::Frame;
  uint64_t storedBytes = 0;  // of the payload in the file
  uint64_t rawBytes = 0;     // unpacked; the same as storedBytes: not packed
  uint64_t frame = 0;        // the frame it belongs to
  double time = 0;           // simulated, s
  uint64_t payloadHash = 0;  // XXH3-64 of the stored bytes
};

std::string fileHeader();
// Throws Error (Format) for a file that is no run file, (Unsupported) for a later version.
void checkFileHeader(std::span<const std::byte> bytes, const std::string& fileName);

// Appends head and payload. Throws Error (Limit) for a payload above kChunkLimit.
void appendChunk(std::string& out, ChunkType type, uint64_t frame, double time, std::string_view payload);

// None where the bytes are no head: wrong marker, wrong hash, sizes that cannot be.
std::optional<ChunkHead> parseHead(std::span<const std::byte> bytes);

// The payload as it was before packing. Throws Error (Format) naming the chunk where the stored bytes are
// damaged.
std::string unpack(const ChunkHead& head, std::span<const std::byte> stored, const std::string& fileName,
                   uint64_t offset);

}  // namespace sunder::record
