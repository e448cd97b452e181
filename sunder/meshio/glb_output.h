// The data side of a .glb file being written: accessors with their bytes, and the container. Used by the mesh
// writer and by exporters of runs; include it in .cpp files only.
//
//   GlbOutput glb;
//   const int places = glb.add<float>(numbers, 3, GlbTarget::Vertices);
//   glb.accessor(places)["min"] = ...;
//   glb.write(file, root);    // root: nodes, meshes, ...; accessors and buffers are filled in
//
// The bytes are held in memory until write().
#pragma once

#include "sunder/base/index.h"
#include "sunder/base/json.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace sunder {
class OutputFile;
}

namespace sunder::meshio {

enum class GlbTarget { None = 0, Vertices = 34962, Indices = 34963 };

class GlbOutput {
 public:
  // Numbers, `components` to an element; returns the accessor's index.
  template <class T>
  int add(std::span<const T> values, int components, GlbTarget target) {
    constexpr int kType = std::is_same_v<T, float> ? 5126 : std::is_same_v<T, uint16_t> ? 5123 : 5125;
    static_assert(kType != 5125 || std::is_same_v<T, uint32_t>);
    return addBytes(std::as_bytes(values), values.size() / size_t(components), components, kType, target);
  }
  // Corners of triangles, in 16 bits where they fit.
  int addIndices(std::span<const uint32_t> indices, size_t vertices);
  // Three numbers a vertex, with the bounds that the format demands of positions and of times.
  int addWithBounds(std::span<const float> values, int components, GlbTarget target);

  Json& accessor(int index) { return accessors_[static_cast<size_t>(index)]; }
  size_t bytes() const { return binary_.size(); }

  // Throws Error (Limit) beyond 4 GiB, where the format ends.
  void write(OutputFile& out, Json root);

 private:
  int addBytes(std::span<const std::byte> bytes, size_t count, int components, int type, GlbTarget target);

  Json accessors_ = Json::array(), views_ = Json::array();
  std::string binary_;
};

// What makes a vertex in glTF: where it is, and what its corner carries.
struct VertexKey {
  uint32_t position = 0;
  float values[5] = {};  // normal, uv
  bool operator==(const VertexKey& other) const {
    return position == other.position && std::memcmp(values, other.values, sizeof values) == 0;
  }
};

// Numbers keys in order of first appearance; open addressing, at most half full.
class VertexTable {
 public:
  uint32_t add(const VertexKey& key);
  std::vector<VertexKey> keys;

 private:
  void grow();
  std::vector<uint32_t> slots_;
};

}  // namespace sunder::meshio
