// The data side of a glTF 2.0 file: container, JSON, buffers and typed accessors. Every number a file gives
// is checked against what is there before anything is read or allocated. Private to the room; include it in
// .cpp files only.
#pragma once

#include "sunder/base/error.h"
#include "sunder/base/file.h"
#include "sunder/base/json.h"
#include "sunder/meshio/mesh_formats.h"

#include <list>
#include <optional>
#include <string>
#include <vector>

namespace sunder::meshio {

// A place in the JSON document together with its pointer ("/meshes/0/primitives/1"), so that errors can name
// it.
struct JsonPlace {
  const Json* value;
  std::string pointer;
};

class GltfDocument {
 public:
  // Reads .gltf and .glb alike. `folder` holds external buffers; empty forbids them.
  GltfDocument(Bytes bytes, const std::string& name, const std::filesystem::path& folder);

  const Json& root() const { return root_; }
  uint64_t totalBytes() const { return totalBytes_; }  // of JSON and all buffers together

  Error error(const std::string& pointer, std::string message) const;
  // The element `index` of a top-level array such as "nodes".
  JsonPlace element(const char* array, uint64_t index, const std::string& from) const;
  // An unsigned integer member; `fallback` when absent, Error without a fallback.
  uint64_t unsignedMember(const JsonPlace& at, const char* key, std::optional<uint64_t> fallback = {}) const;
  std::string stringMember(const JsonPlace& at, const char* key) const;  // "" when absent
  // A list member; empty when absent.
  std::vector<JsonPlace> listMember(const JsonPlace& at, const char* key) const;
  double number(const JsonPlace& at) const;
  std::vector<double> numbers(const JsonPlace& at, const char* key, size_t count) const;  // empty when absent

  // Accessor `index` as numbers, `components` per element (1 for indices, 3 for positions, ...). Normalised
  // integers come out in 0..1 or -1..1. A colour with 3 components read as 4 gets a 1 at the end.
  std::vector<double> readNumbers(uint64_t index, int components, const std::string& from) const;
  std::vector<uint32_t> readIndices(uint64_t index, const std::string& from) const;
  uint64_t accessorCount(uint64_t index, const std::string& from) const;

 private:
  struct View {
    Bytes bytes;
    uint64_t stride = 0;
  };
  struct Accessor {
    uint64_t componentType = 0, count = 0;
    int components = 0;
    bool normalised = false;
    std::optional<View> view;
  };

  void splitContainer(Bytes bytes, std::string_view& json);
  void loadBuffers(const std::filesystem::path& folder);
  Bytes loadUri(const std::string& uri, const std::string& pointer, const std::filesystem::path& folder);
  View viewOf(uint64_t bufferView, uint64_t offset, uint64_t elementBytes, uint64_t count,
              const std::string& pointer) const;
  Accessor accessorOf(uint64_t index, const std::string& from, JsonPlace& at) const;
  template <class Out>
  void applySparse(const Accessor& accessor, const JsonPlace& at, std::vector<Out>& values) const;
  template <class Out>
  void convert(const View& view, const Accessor& accessor, Out* out) const;

  std::string name_;
  Json root_;
  std::optional<Bytes> binaryChunk_;
  std::vector<Bytes> buffers_;
  std::list<std::string> decoded_;
  std::list<InputFile> files_;
  uint64_t totalBytes_ = 0;
};

}  // namespace sunder::meshio
