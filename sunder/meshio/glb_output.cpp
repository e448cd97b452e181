#include "sunder/meshio/glb_output.h"

#include "sunder/base/error.h"
#include "sunder/base/file.h"

#include <algorithm>
#include <limits>

namespace sunder::meshio {

namespace {

size_t hashOf(const VertexKey& key) {
  uint64_t h = key.position;
  for (const float v : key.values) {
    h = (h ^ std::bit_cast<uint32_t>(v)) * 0x9e3779b97f4a7c15u;
    h ^= h >> 32;
  }
  return static_cast<size_t>(h);
}

}  // namespace

uint32_t VertexTable::add(const VertexKey& key) {
  if (2 * (keys.size() + 1) > slots_.size()) grow();
  size_t at = hashOf(key) & (slots_.size() - 1);
  while (slots_[at] != kNoIndex) {
    if (keys[slots_[at]] == key) return slots_[at];
    at = (at + 1) & (slots_.size() - 1);
  }
  slots_[at] = static_cast<uint32_t>(keys.size());
  keys.push_back(key);
  return slots_[at];
}

void VertexTable::grow() {
  slots_.assign(std::max<size_t>(64, slots_.size() * 2), kNoIndex);
  for (size_t i = 0; i < keys.size(); ++i) {
    size_t at = hashOf(keys[i]) & (slots_.size() - 1);
    while (slots_[at] != kNoIndex) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = static_cast<uint32_t>(i);
  }
}

int GlbOutput::addBytes(std::span<const std::byte> bytes, size_t count, int components, int type,
                        GlbTarget target) {
  static constexpr const char* kNames[] = {"", "SCALAR", "VEC2", "VEC3", "VEC4"};
  Json view = {{"buffer", 0}, {"byteOffset", binary_.size()}, {"byteLength", bytes.size()}};
  if (target != GlbTarget::None) view["target"] = static_cast<int>(target);
  views_.push_back(std::move(view));
  binary_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  binary_.resize((binary_.size() + 3) / 4 * 4);
  accessors_.push_back({{"bufferView", views_.size() - 1},
                        {"componentType", type},
                        {"count", count},
                        {"type", kNames[components]}});
  return static_cast<int>(accessors_.size()) - 1;
}

int GlbOutput::addIndices(std::span<const uint32_t> indices, size_t vertices) {
  if (vertices >= 65535) return add(indices, 1, GlbTarget::Indices);
  const std::vector<uint16_t> small(indices.begin(), indices.end());
  return add(std::span<const uint16_t>(small), 1, GlbTarget::Indices);
}

int GlbOutput::addWithBounds(std::span<const float> values, int components, GlbTarget target) {
  const auto n = static_cast<size_t>(components);
  std::vector<float> lower(n, std::numeric_limits<float>::infinity()), upper(n, -lower[0]);
  for (size_t i = 0; i < values.size(); ++i) {
    lower[i % n] = std::min(lower[i % n], values[i]);
    upper[i % n] = std::max(upper[i % n], values[i]);
  }
  const int index = add(values, components, target);
  accessor(index)["min"] = lower;
  accessor(index)["max"] = upper;
  return index;
}

void GlbOutput::write(OutputFile& out, Json root) {
  root["asset"] = {{"version", "2.0"}, {"generator", "sunder"}};
  if (!accessors_.empty()) {
    root["accessors"] = std::move(accessors_);
    root["bufferViews"] = std::move(views_);
    root["buffers"] = Json::array({Json{{"byteLength", binary_.size()}}});
  }
  // Names from other formats may not be UTF-8; a replacement character is better than no file.
  std::string json = root.text();
  json.resize((json.size() + 3) / 4 * 4, ' ');
  const uint64_t total = 12 + 8 + json.size() + (binary_.empty() ? 0 : 8 + binary_.size());
  if (total > UINT32_MAX)
    throw Error(ErrorKind::Limit,
                "it takes " + std::to_string(total) + " bytes, and a .glb file ends at 4 GiB");
  auto put = [&](uint32_t value) { out.write(std::as_bytes(std::span(&value, 1))); };
  put(0x46546c67), put(2), put(static_cast<uint32_t>(total));
  put(static_cast<uint32_t>(json.size())), put(0x4e4f534a), out.write(json);
  if (binary_.empty()) return;
  put(static_cast<uint32_t>(binary_.size())), put(0x004e4942), out.write(binary_);
}

}  // namespace sunder::meshio
