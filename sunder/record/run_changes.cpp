// How meshes of bodies change, as a reader learns it from the chunks and answers it.
#include "sunder/base/error.h"
#include "sunder/record/run_reader.h"
#include "sunder/record/tables.h"

#include <algorithm>
#include <cassert>

#include <fmt/core.h>

namespace sunder::record {

namespace {

constexpr size_t kNowhere = SIZE_MAX;  // a chunk that is lost

}  // namespace

void RunReader::takeChange(size_t place) {
  ++counts_.changes;
  size_t index = 0;
  NumberedChange numbered;
  try {
    const std::string data = file_.payload(chunks()[place]);
    numbered = decodeMeshChange(data, path().string());
    index = decodeIndex(data, path().string());
  } catch (const Error&) {
    loseChunks(changes_, changes_.size() + 1);
    throw;
  }
  const MeshChange& change = numbered.change;
  const auto refuse = [&] {
    note(fmt::format("a change of the mesh of body {} does not fit and was left out", change.body));
  };
  if (index >= mostEntries() || (index < changes_.size() && changes_[index] != kNowhere)) return refuse();
  loseChunks(changes_, index + 1);
  if (change.body >= bodies_.size() || (change.mesh != kNoIndex && change.mesh >= mostEntries()))
    return refuse();
  BodyChanges& body = changesOf_[change.body];
  if (!body.list.empty() && change.frame < body.list.back().frame) return refuse();
  const bool hole = numbered.ordinal != body.next;
  body.next = numbered.ordinal + 1;
  const auto here = static_cast<uint32_t>(body.list.size());
  ChangeEntry entry{change.frame, bodies_[change.body].mesh, 0, 0, place, hole};
  if (!body.list.empty()) {
    const ChangeEntry& last = body.list.back();
    entry = {change.frame, last.mesh, last.first, last.changes, place, hole || last.broken};
  }
  const bool edits = !change.positions.empty() || !change.corners.empty() || !change.tetCorners.empty() ||
                     !change.triangles.empty();
  if (change.mesh != kNoIndex) {
    loseMeshes(change.mesh + 1);
    entry = {change.frame, change.mesh, edits ? here : here + 1, 0, place, false};
  }
  entry.changes += change.mesh == kNoIndex || edits;
  changes_[index] = place;
  body.list.push_back(entry);
}

void RunReader::takeEmbedding(size_t place) {
  ++counts_.embeddings;
  size_t index = 0;
  Embedding embedding;
  try {
    const std::string data = file_.payload(chunks()[place]);
    embedding = decodeEmbedding(data, path().string());
    index = decodeIndex(data, path().string());
  } catch (const Error&) {
    loseChunks(embeddings_, embeddings_.size() + 1);
    throw;
  }
  if (index >= mostEntries() || (index < embeddings_.size() && embeddings_[index] != kNowhere) ||
      embedding.surface >= mostEntries() || embedding.cage >= mostEntries() ||
      (embedding.source != kNoIndex && embedding.source >= mostEntries()) ||
      embeddingOf_.contains(embedding.surface)) {
    note(fmt::format("the embedding of mesh {} does not fit and was left out", embedding.surface));
    return;
  }
  loseChunks(embeddings_, index + 1);
  loseMeshes(size_t(lastMesh(embedding)) + 1);
  embeddings_[index] = place;
  embeddingOf_[embedding.surface] = static_cast<uint32_t>(index);
}

MeshVersion RunReader::versionOf(const ChangeEntry& entry) {
  return {entry.mesh, entry.changes > 0 ? entry.first : 0, entry.changes};
}

MeshVersion RunReader::meshVersion(size_t body, size_t frame) const {
  assert(body < bodies_.size() && frame < frames_.size());
  const auto found = changesOf_.find(static_cast<uint32_t>(body));
  if (found != changesOf_.end()) {
    const std::vector<ChangeEntry>& list = found->second.list;
    const auto after =
        std::upper_bound(list.begin(), list.end(), frameNumber(frame),
                         [](uint64_t number, const ChangeEntry& entry) { return number < entry.frame; });
    if (after != list.begin()) return versionOf(*std::prev(after));
  }
  return {bodies_[body].mesh, 0, 0};
}

std::vector<std::pair<size_t, MeshVersion>> RunReader::meshVersions(size_t body) const {
  std::vector<std::pair<size_t, MeshVersion>> out;
  const auto found = changesOf_.find(static_cast<uint32_t>(body));
  if (found == changesOf_.end()) return out;
  for (const ChangeEntry& entry : found->second.list) {
    const auto frame = std::lower_bound(
        frames_.begin(), frames_.end(), entry.frame,
        [&](const FrameEntry& f, uint64_t number) { return chunks()[f.chunk].head.frame < number; });
    if (frame == frames_.end()) break;
    const auto i = static_cast<size_t>(frame - frames_.begin());
    if (!out.empty() && out.back().first == i)
      out.back().second = versionOf(entry);
    else
      out.emplace_back(i, versionOf(entry));
  }
  return out;
}

size_t RunReader::changeCount(size_t body) const {
  const auto found = changesOf_.find(static_cast<uint32_t>(body));
  return found == changesOf_.end() ? 0 : found->second.list.size();
}

uint64_t RunReader::changeFrame(size_t body, size_t k) const {
  return changesOf_.at(static_cast<uint32_t>(body)).list.at(k).frame;
}

MeshChange RunReader::changeOf(size_t body, uint32_t k) const {
  const ChangeEntry& entry = changesOf_.at(static_cast<uint32_t>(body)).list.at(k);
  if (entry.broken)
    throw Error(ErrorKind::Format,
                fmt::format("the mesh of body {} cannot be read from frame {} on: an earlier change of it is "
                            "lost",
                            body, entry.frame))
        .inFile(path().string());
  return decodeMeshChange(file_.payload(chunks()[entry.chunk]), path().string()).change;
}

Embedding RunReader::embedding(size_t i) const {
  if (embeddings_[i] == kNowhere)
    throw Error(ErrorKind::Format, fmt::format("embedding {} is lost in a damaged part of the file", i))
        .inFile(path().string());
  return decodeEmbedding(file_.payload(chunks()[embeddings_[i]]), path().string());
}

uint32_t RunReader::embeddingOf(uint32_t mesh) const {
  const auto found = embeddingOf_.find(mesh);
  return found == embeddingOf_.end() ? kNoIndex : found->second;
}

}  // namespace sunder::record
