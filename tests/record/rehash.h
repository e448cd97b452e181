// A recording with other content and right hashes: what a reader's checks of hashes cannot catch.
#pragma once

#include "sunder/base/random.h"
#include "sunder/record/commit.h"
#include "sunder/record/run_reader.h"

#include <functional>
#include <string>

namespace sunder::record {

// `change` may alter the head's type, frame and time, and the payload. Commits are made to fit, the index is
// left out.
inline std::string rehashed(const RunReader& run,
                            const std::function<void(ChunkHead&, std::string&)>& change) {
  std::string out = fileHeader(run.version());
  uint64_t chain = 0;
  Counts counts;
  for (const Chunk& chunk : run.chunks()) {
    if (chunk.head.type == ChunkType::Index || chunk.head.type == ChunkType::Epoch) continue;
    ChunkHead head = chunk.head;
    std::string payload = run.payload(chunk);
    if (head.type == ChunkType::Commit)
      payload = encode(Commit{out.size(), chain, counts});
    else
      change(head, payload);
    const size_t start = out.size();
    appendChunk(out, head.type, head.frame, head.time, payload);
    chain = chainHash(chain, parseHead(std::as_bytes(std::span(out)).subspan(start, kChunkHeadSize)).value());
    counts.frames += head.type == ChunkType::Frame || head.type == ChunkType::KeyFrame;
    counts.meshes += head.type == ChunkType::Mesh;
    counts.bodies += head.type == ChunkType::Body;
    counts.nameLists += head.type == ChunkType::StatisticNames;
    counts.materials += head.type == ChunkType::Material;
    counts.changes += head.type == ChunkType::MeshChange;
    counts.embeddings += head.type == ChunkType::Embedding;
    counts.inputs += head.type == ChunkType::Inputs;
    counts.fronts += head.type == ChunkType::Fronts;
  }
  return out;
}

// The same recording in format 1, as earlier programs left it without an index.
inline std::string asVersion1(const RunReader& run) {
  std::string out = fileHeader(1);
  for (const Chunk& chunk : run.chunks()) {
    const ChunkType type = chunk.head.type;
    if (type == ChunkType::Index || type == ChunkType::Epoch || type == ChunkType::Commit) continue;
    const std::string payload = run.payload(chunk);
    appendChunk(out, type, chunk.head.frame, chunk.head.time,
                type == ChunkType::StatisticNames ? payload.substr(4) : payload);
  }
  return out;
}

// One chunk in so many gets a few other bytes, a cut, or another frame or time.
inline std::string randomlyDamaged(const RunReader& run, uint64_t seed, uint32_t oneIn = 6) {
  RandomStream random(seed);
  return rehashed(run, [&](ChunkHead& head, std::string& payload) {
    if (random.below(oneIn) != 0) return;
    switch (random.below(8)) {
      case 0:
        payload.resize(payload.size() - std::min<size_t>(payload.size(), 1 + random.below(40)));
        break;
      case 1:
        head.frame = random.below(2) ? uint64_t(1) << 32 : head.frame + 1 - random.below(3);
        break;
      case 2:
        head.time = random.below(2) ? std::numeric_limits<double>::quiet_NaN() : -1e300;
        break;
      default:
        for (uint32_t k = 1 + random.below(3); k-- > 0 && !payload.empty();) {
          // The first bytes are numbers of bodies and sizes, which matter most.
          const auto reach =
              static_cast<uint32_t>(random.below(2) ? std::min<size_t>(payload.size(), 40) : payload.size());
          const char values[] = {0, 1, -1, 127, static_cast<char>(random.below(256))};
          payload[random.below(reach)] = values[random.below(5)];
        }
    }
  });
}

}  // namespace sunder::record
