#include "sunder/record/commit.h"

#include "sunder/base/bytes.h"

namespace sunder::record {

namespace {

ByteReader bytesOf(std::string_view payload, const std::string& file) {
  return ByteReader(std::as_bytes(std::span(payload.data(), payload.size())), file);
}

constexpr uint32_t Counts::*kMoreCounts[] = {&Counts::materials, &Counts::changes, &Counts::embeddings,
                                             &Counts::inputs, &Counts::fronts};

}  // namespace

Counts withMore(Counts counts, const Counts& seen) {
  for (const auto count : kMoreCounts) counts.*count = seen.*count;
  return counts;
}

std::string encode(const Commit& commit) {
  std::string out;
  ByteWriter writer(out);
  writer.u64(commit.offset);
  writer.u64(commit.chain);
  writer.u64(commit.counts.frames);
  writer.u32(commit.counts.meshes);
  writer.u32(commit.counts.bodies);
  writer.u32(commit.counts.nameLists);
  for (const auto count : kMoreCounts) writer.u32(commit.counts.*count);
  return out;
}

Commit decodeCommit(std::string_view payload, const std::string& file) {
  ByteReader in = bytesOf(payload, file);
  Commit commit;
  commit.offset = in.u64("place of a commit");
  commit.chain = in.u64("running hash");
  commit.counts.frames = in.u64("number of frames");
  commit.counts.meshes = in.u32("number of meshes");
  commit.counts.bodies = in.u32("number of bodies");
  commit.counts.nameLists = in.u32("lists of names");
  commit.extended = !in.atEnd();
  if (commit.extended)
    for (const auto count : kMoreCounts) commit.counts.*count = in.u32("counts of a commit");
  return commit;
}

std::string encode(const Epoch& epoch) {
  std::string out;
  ByteWriter writer(out);
  writer.u64(epoch.continueAt);
  writer.u64(epoch.chain);
  writer.u32(epoch.number);
  return out;
}

Epoch decodeEpoch(std::string_view payload, const std::string& file) {
  ByteReader in = bytesOf(payload, file);
  Epoch epoch;
  epoch.continueAt = in.u64("place to continue from");
  epoch.chain = in.u64("running hash");
  epoch.number = in.u32("number of an epoch");
  return epoch;
}

}  // namespace sunder::record
