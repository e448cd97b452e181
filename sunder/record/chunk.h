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
#include <string_view>

namespace sunder::record {

inline constexpr uint32_t kFormatVersion = 2;  // written
inline constexpr uint32_t kOldestVersion = 1;  // still read
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
  Material = chunkTag("MATL"),
  MeshChange = chunkTag("MCHG"),  // a body shows another mesh, or its mesh changes, from a frame on
  Embedding = chunkTag("EMBD"),   // a fine surface in a coarse cage of tetrahedra
  Inputs = chunkTag("INPT"),      // what users did on the way to a frame
  Fronts = chunkTag("FRNT"),      // crack fronts of a frame
  StatisticNames = chunkTag("STNM"),
  Statistics = chunkTag("STAT"),
  Events = chunkTag("EVNT"),
  Frame = chunkTag("FRAM"),     // what changed since the frame before
  KeyFrame = chunkTag("KEYF"),  // everything
  Checkpoint = chunkTag("CHKP"),
  Commit = chunkTag("CMIT"),  // seals what is before it: counts and a running hash
  Epoch = chunkTag("EPOC"),   // the run was resumed: what follows continues from an earlier commit
  Pad = chunkTag("PAD "),     // nothing
  Lost = chunkTag("LOST"),    // what 'sunder repair' could not save
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

// A chunk's head and where it is in the file.
struct Chunk {
  ChunkHead head;
  uint64_t offset = 0;  // of the head
  uint64_t payloadAt() const { return offset + kChunkHeadSize; }
  uint64_t end() const { return payloadAt() + head.storedBytes; }
};

std::string fileHeader(uint32_t version = kFormatVersion);
// The file's version. Throws Error (Format) for a file that is no run file, (Unsupported) for a later
// version.
uint32_t checkFileHeader(std::span<const std::byte> bytes, const std::string& fileName);

// Whether a payload of such sizes may be unpacked: a head that claims more than its stored bytes can hold is
// refused before memory is taken for it.
bool plausible(const ChunkHead& head);

// The running hash after a chunk: XXH3-64 of the first 48 bytes of its head, seeded with the hash before. As
// heads hold the hashes of payloads, equal running hashes mean equal recordings.
uint64_t chainHash(uint64_t before, const ChunkHead& head);

// Appends head and payload. Throws Error (Limit) for a payload above kChunkLimit.
void appendChunk(std::string& out, ChunkType type, uint64_t frame, double time, std::string_view payload);

// None where the bytes are no head: wrong marker, wrong hash, sizes that cannot be.
std::optional<ChunkHead> parseHead(std::span<const std::byte> bytes);

// The payload as it was before packing. Throws Error (Format) naming the chunk where the stored bytes are
// damaged.
std::string unpack(const ChunkHead& head, std::span<const std::byte> stored, const std::string& fileName,
                   uint64_t offset);

}  // namespace sunder::record
