#include "sunder/meshio/gltf_buffers.h"

#include "sunder/base/error.h"
#include "sunder/base/json_parse.h"
#include "sunder/meshio/soup_builder.h"
#include "sunder/meshio/text_scanner.h"

#include <algorithm>
#include <cstring>

namespace sunder::meshio {

namespace {

constexpr uint32_t kJsonChunk = 0x4e4f534a, kBinaryChunk = 0x004e4942;
constexpr size_t kBlanksBeforeJson = 4096;
constexpr uint64_t kByte = 5120, kUnsignedByte = 5121, kShort = 5122, kUnsignedShort = 5123,
                   kUnsignedInt = 5125, kFloat = 5126;

uint32_t word(Bytes bytes, size_t at) {
  uint32_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

uint64_t componentBytes(uint64_t type) {
  switch (type) {
    case kByte:
    case kUnsignedByte:
      return 1;
    case kShort:
    case kUnsignedShort:
      return 2;
    case kUnsignedInt:
    case kFloat:
      return 4;
    default:
      return 0;
  }
}

int componentsOf(std::string_view type) {
  if (type == "SCALAR") return 1;
  if (type == "VEC2") return 2;
  if (type == "VEC3") return 3;
  if (type == "VEC4") return 4;
  return 0;
}

// Standard alphabet with padding; blanks are not allowed. False when the text is not base64.
bool decodeBase64(std::string_view text, std::string& out) {
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  out.reserve(text.size() / 4 * 3 + 3);
  uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    uint32_t v = 0;
    if (c >= 'A' && c <= 'Z') {
      v = uint32_t(c - 'A');
    } else if (c >= 'a' && c <= 'z') {
      v = uint32_t(c - 'a') + 26;
    } else if (c >= '0' && c <= '9') {
      v = uint32_t(c - '0') + 52;
    } else if (c == '+' || c == '-') {
      v = 62;
    } else if (c == '/' || c == '_') {
      v = 63;
    } else {
      return false;
    }
    bits = (bits << 6 | v) & 0xffffff;
    held += 6;
    if (held >= 8) {
      held -= 8;
      out += static_cast<char>(bits >> held & 0xff);
    }
  }
  return true;
}

std::string percentDecoded(const std::string& uri) {
  auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  std::string out;
  for (size_t i = 0; i < uri.size(); ++i) {
    if (uri[i] == '%' && i + 2 < uri.size() && digit(uri[i + 1]) >= 0 && digit(uri[i + 2]) >= 0) {
      out += static_cast<char>(digit(uri[i + 1]) * 16 + digit(uri[i + 2]));
      i += 2;
    } else {
      out += uri[i];
    }
  }
  return out;
}

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

}  // namespace

GltfDocument::GltfDocument(Bytes bytes, const std::string& name, const std::filesystem::path& folder)
    : name_(name) {
  std::string_view text;
  splitContainer(bytes, text);
  if (text.empty()) throw Error(ErrorKind::Format, "the file is empty").inFile(name_);
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const std::string_view head = text.substr(0, kBlanksBeforeJson);
  const size_t first = head.find_first_not_of(" \t\r\n");
  if (first == head.npos || head[first] != '{' || text.back() == '\0')
    throw Error(ErrorKind::Format, "this is neither a .glb file nor the JSON of a .gltf file").inFile(name_);
  JsonFault fault;
  std::optional<Json> root = tryReadJson(text, &fault);
  if (!root) {
    const size_t start = static_cast<size_t>(reinterpret_cast<const std::byte*>(text.data()) - bytes.data());
    throw Error(ErrorKind::Format,
                fault.broken ? "the JSON is broken here" : "the JSON cannot be read: " + fault.reason)
        .inFile(name_)
        .atByte(start + fault.byte);
  }
  root_ = std::move(*root);
  if (!root_.isObject()) throw error("", "the JSON is not an object");
  totalBytes_ = text.size();
  const JsonPlace top{&root_, ""};
  if (!root_.contains("asset") || !root_["asset"].isObject()) throw error("", "there is no asset object");
  const std::string version = stringMember({&root_["asset"], "/asset"}, "version");
  if (!version.starts_with("2."))
    throw Error(ErrorKind::Unsupported, "glTF version " + meshio::quoted(version) + " is not read, only 2.x")
        .inFile(name_);
  loadBuffers(folder);
}

void GltfDocument::splitContainer(Bytes bytes, std::string_view& json) {
  auto text = [&](size_t at, size_t length) {
    return std::string_view(reinterpret_cast<const char*>(bytes.data()) + at, length);
  };
  if (bytes.size() < 4 || text(0, 4) != "glTF") {
    json = text(0, bytes.size());
    return;
  }
  auto broken = [&](size_t at, std::string message) {
    return Error(ErrorKind::Format, std::move(message)).inFile(name_).atByte(at);
  };
  if (bytes.size() < 20) throw broken(0, "the file is too short for a .glb file");
  if (word(bytes, 4) != 2)
    throw Error(ErrorKind::Unsupported,
                "version " + std::to_string(word(bytes, 4)) + " of .glb is not read, only 2")
        .inFile(name_);
  const size_t length = word(bytes, 8);
  if (length > bytes.size())
    throw broken(8, "the header says " + std::to_string(length) + " bytes, but the file has " +
                        std::to_string(bytes.size()));
  size_t at = 12;
  bool first = true;
  while (at < length) {
    if (length - at < 8) throw broken(at, "a chunk is cut off");
    const size_t size = word(bytes, at);
    const uint32_t type = word(bytes, at + 4);
    at += 8;
    if (size > length - at)
      throw broken(at - 8, "a chunk of " + std::to_string(size) + " bytes, but only " +
                               std::to_string(length - at) + " are left");
    if (first) {
      if (type != kJsonChunk) throw broken(at - 4, "the first chunk is not JSON");
      json = text(at, size);
      first = false;
    } else if (type == kBinaryChunk && !binaryChunk_) {
      binaryChunk_ = bytes.subspan(at, size);
    }
    at += size;
    at = std::min(length, (at + 3) / 4 * 4);
  }
}

void GltfDocument::loadBuffers(const std::filesystem::path& folder) {
  const std::vector<JsonPlace> list = listMember({&root_, ""}, "buffers");
  for (size_t i = 0; i < list.size(); ++i) {
    const JsonPlace& at = list[i];
    const uint64_t length = unsignedMember(at, "byteLength");
    Bytes bytes;
    if (at.value->contains("uri")) {
      bytes = loadUri(stringMember(at, "uri"), at.pointer + "/uri", folder);
    } else if (i == 0 && binaryChunk_) {
      bytes = *binaryChunk_;
    } else {
      // Allowed as long as nothing reads it: extensions put their data elsewhere.
      buffers_.emplace_back();
      continue;
    }
    if (length > bytes.size())
      throw error(at.pointer, "the buffer should have " + std::to_string(length) + " bytes, but only " +
                                  std::to_string(bytes.size()) + " are there");
    buffers_.push_back(bytes.first(static_cast<size_t>(length)));
    totalBytes_ += length;
  }
}

Bytes GltfDocument::loadUri(const std::string& uri, const std::string& pointer,
                            const std::filesystem::path& folder) {
  if (uri.starts_with("data:")) {
    const size_t comma = uri.find(',');
    if (comma == uri.npos || !uri.substr(0, comma).ends_with(";base64"))
      throw error(pointer, "a data URI that is not base64");
    std::string& bytes = decoded_.emplace_back();
    if (!decodeBase64(std::string_view(uri).substr(comma + 1), bytes))
      throw error(pointer, "the base64 is broken");
    return std::as_bytes(std::span(bytes.data(), bytes.size()));
  }
  const std::string file = percentDecoded(uri);
  if (file.empty() || file == "." || file == ".." ||
      file.find_first_of(std::string_view("/\\:\0", 4)) != file.npos)
    throw error(pointer, "external buffer " + meshio::quoted(file) + " is not a file name in the same folder")
        .hint("put the buffer next to the .gltf file, or save as .glb");
  if (folder.empty())
    throw error(pointer, "external buffer " + meshio::quoted(file) + " cannot be read here");
  return files_.emplace_back(folder / file).bytes();
}

Error GltfDocument::error(const std::string& pointer, std::string message) const {
  Error e(ErrorKind::Format, std::move(message));
  e.inFile(name_);
  if (!pointer.empty()) e.atPointer(pointer);
  return e;
}

JsonPlace GltfDocument::element(const char* array, uint64_t index, const std::string& from) const {
  const Json* const found = root_.find(array);
  const size_t size = !found || !found->isArray() ? 0 : found->size();
  if (index >= size)
    throw error(from, "refers to element " + std::to_string(index) + " of " + array + ", which has " +
                          std::to_string(size));
  JsonPlace place{&(*found)[static_cast<size_t>(index)], "/"};
  place.pointer.append(array).append("/").append(std::to_string(index));
  if (!place.value->isObject()) throw error(place.pointer, "expected an object");
  return place;
}

uint64_t GltfDocument::unsignedMember(const JsonPlace& at, const char* key,
                                      std::optional<uint64_t> fallback) const {
  const Json* const found = at.value->find(key);
  if (!found) {
    if (fallback) return *fallback;
    throw error(at.pointer, "'" + std::string(key) + "' is missing");
  }
  if (found->isWhole()) return found->whole();
  if (found->isDouble()) {  // some exporters write 3.0
    const double value = found->number();
    if (value >= 0 && value <= 9e15 && value == std::floor(value)) return static_cast<uint64_t>(value);
  }
  throw error(at.pointer + "/" + key, "expected a whole number of 0 or more");
}

std::string GltfDocument::stringMember(const JsonPlace& at, const char* key) const {
  const Json* const found = at.value->find(key);
  if (!found) return {};
  if (!found->isString()) throw error(at.pointer + "/" + key, "expected a text");
  return found->string();
}

std::vector<JsonPlace> GltfDocument::listMember(const JsonPlace& at, const char* key) const {
  const Json* const found = at.value->find(key);
  if (!found) return {};
  if (!found->isArray()) throw error(at.pointer + "/" + key, "expected a list");
  std::vector<JsonPlace> list;
  const bool objects = at.value == &root_ || std::strcmp(key, "primitives") == 0;
  for (size_t i = 0; i < found->size(); ++i) {
    list.push_back({&(*found)[i], at.pointer + "/" + key + "/" + std::to_string(i)});
    if (objects && !list.back().value->isObject()) throw error(list.back().pointer, "expected an object");
  }
  return list;
}

double GltfDocument::number(const JsonPlace& at) const {
  if (!at.value->isNumber()) throw error(at.pointer, "expected a number");
  const double value = at.value->number();
  if (!std::isfinite(value)) throw error(at.pointer, "the number is not finite");
  return value;
}

std::vector<double> GltfDocument::numbers(const JsonPlace& at, const char* key, size_t count) const {
  std::vector<double> values;
  if (!at.value->contains(key)) return values;
  for (const JsonPlace& place : listMember(at, key)) values.push_back(number(place));
  if (values.size() != count)
    throw error(at.pointer + "/" + key,
                "expected " + std::to_string(count) + " numbers, found " + std::to_string(values.size()));
  return values;
}

GltfDocument::View GltfDocument::viewOf(uint64_t bufferView, uint64_t offset, uint64_t elementBytes,
                                        uint64_t count, const std::string& pointer) const {
  const JsonPlace at = element("bufferViews", bufferView, pointer);
  const uint64_t buffer = unsignedMember(at, "buffer");
  if (buffer >= buffers_.size())
    throw error(at.pointer, "refers to buffer " + std::to_string(buffer) + ", but there are " +
                                std::to_string(buffers_.size()));
  const Bytes whole = buffers_[static_cast<size_t>(buffer)];
  const uint64_t start = unsignedMember(at, "byteOffset", 0), length = unsignedMember(at, "byteLength");
  if (start > whole.size() || length > whole.size() - start)
    throw error(at.pointer, "bytes " + std::to_string(start) + " to " + std::to_string(start) + "+" +
                                std::to_string(length) + " lie outside the buffer of " +
                                std::to_string(whole.size()));
  uint64_t stride = unsignedMember(at, "byteStride", 0);
  if (stride == 0) stride = elementBytes;
  if (stride < elementBytes || stride > 252)
    throw error(at.pointer + "/byteStride", "a stride of " + std::to_string(stride) + " for elements of " +
                                                std::to_string(elementBytes) + " bytes");
  if (count > 0 && (offset > length || elementBytes > length - offset ||
                    (count - 1) > (length - offset - elementBytes) / stride))
    throw error(pointer, std::to_string(count) + " elements of " + std::to_string(elementBytes) +
                             " bytes do not fit into a buffer view of " + std::to_string(length));
  if (count == 0) return {Bytes{}, stride};
  return {whole.subspan(static_cast<size_t>(start + offset)), stride};
}

GltfDocument::Accessor GltfDocument::accessorOf(uint64_t index, const std::string& from,
                                                JsonPlace& at) const {
  at = element("accessors", index, from);
  Accessor accessor;
  accessor.componentType = unsignedMember(at, "componentType");
  accessor.count = unsignedMember(at, "count");
  accessor.components = componentsOf(stringMember(at, "type"));
  const Json* const normalised = at.value->find("normalized");
  accessor.normalised = normalised && normalised->isBoolean() && normalised->boolean();
  const uint64_t each = componentBytes(accessor.componentType);
  if (each == 0) throw error(at.pointer + "/componentType", "an unknown component type");
  if (accessor.components == 0) throw error(at.pointer + "/type", "expected SCALAR, VEC2, VEC3 or VEC4 here");
  if (at.value->contains("bufferView")) {
    accessor.view = viewOf(unsignedMember(at, "bufferView"), unsignedMember(at, "byteOffset", 0),
                           each * uint64_t(accessor.components), accessor.count, at.pointer);
  } else if (accessor.count > totalBytes_) {
    throw Error(ErrorKind::Limit, std::to_string(accessor.count) + " elements without data in a file of " +
                                      std::to_string(totalBytes_) + " bytes")
        .inFile(name_)
        .atPointer(at.pointer);
  }
  checkIndexable(accessor.count, "elements of an accessor", name_);
  return accessor;
}

uint64_t GltfDocument::accessorCount(uint64_t index, const std::string& from) const {
  JsonPlace at;
  return accessorOf(index, from, at).count;
}

template <class Out>
void GltfDocument::convert(const View& view, const Accessor& accessor, Out* out) const {
  const size_t count = static_cast<size_t>(accessor.count), components = size_t(accessor.components);
  auto run = [&](auto sample, double scale) {
    using T = decltype(sample);
    for (size_t i = 0; i < count; ++i) {
      const std::byte* at = view.bytes.data() + i * view.stride;
      for (size_t k = 0; k < components; ++k, at += sizeof(T)) {
        const T value = load<T>(at);
        if constexpr (std::is_same_v<Out, double>) {
          // The lowest signed value lies a step below -1, where it is cut off.
          *out++ =
              scale == 1 ? static_cast<double>(value) : std::max(-1.0, static_cast<double>(value) / scale);
        } else if constexpr (!std::is_same_v<T, float>) {
          *out++ = static_cast<Out>(value);
        }
      }
    }
  };
  const bool n = accessor.normalised;
  switch (accessor.componentType) {
    case kByte:
      return run(int8_t(), n ? 127 : 1);
    case kUnsignedByte:
      return run(uint8_t(), n ? 255 : 1);
    case kShort:
      return run(int16_t(), n ? 32767 : 1);
    case kUnsignedShort:
      return run(uint16_t(), n ? 65535 : 1);
    case kUnsignedInt:
      return run(uint32_t(), n ? 4294967295.0 : 1);
    default:
      return run(float(), 1);
  }
}

template <class Out>
void GltfDocument::applySparse(const Accessor& accessor, const JsonPlace& at,
                               std::vector<Out>& values) const {
  const Json* const found = at.value->find("sparse");
  if (!found) return;
  const JsonPlace sparse{found, at.pointer + "/sparse"};
  if (!found->isObject() || !found->contains("indices") || !found->contains("values") ||
      !(*found)["indices"].isObject() || !(*found)["values"].isObject())
    throw error(sparse.pointer, "a sparse accessor needs indices and values");
  const JsonPlace where{&(*found)["indices"], sparse.pointer + "/indices"};
  const JsonPlace what{&(*found)["values"], sparse.pointer + "/values"};
  Accessor positions;
  positions.count = unsignedMember(sparse, "count");
  positions.components = 1;
  positions.componentType = unsignedMember(where, "componentType");
  if (positions.componentType != kUnsignedByte && positions.componentType != kUnsignedShort &&
      positions.componentType != kUnsignedInt)
    throw error(where.pointer, "indices must be unsigned integers");
  const View indexView = viewOf(unsignedMember(where, "bufferView"), unsignedMember(where, "byteOffset", 0),
                                componentBytes(positions.componentType), positions.count, where.pointer);
  std::vector<uint32_t> slots(static_cast<size_t>(positions.count));
  convert(indexView, positions, slots.data());

  Accessor replaced = accessor;
  replaced.count = positions.count;
  const View valueView = viewOf(unsignedMember(what, "bufferView"), unsignedMember(what, "byteOffset", 0),
                                componentBytes(accessor.componentType) * uint64_t(accessor.components),
                                replaced.count, what.pointer);
  std::vector<Out> fresh(slots.size() * size_t(accessor.components));
  convert(valueView, replaced, fresh.data());
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i] >= accessor.count)
      throw error(where.pointer, "index " + std::to_string(slots[i]) + " is out of range");
    for (size_t k = 0; k < size_t(accessor.components); ++k)
      values[slots[i] * size_t(accessor.components) + k] = fresh[i * size_t(accessor.components) + k];
  }
}

std::vector<double> GltfDocument::readNumbers(uint64_t index, int components, const std::string& from) const {
  JsonPlace at;
  const Accessor accessor = accessorOf(index, from, at);
  const bool opaque = components == 4 && accessor.components == 3;
  if (accessor.components != components && !opaque)
    throw error(at.pointer + "/type", "expected " + std::to_string(components) + " components, found " +
                                          std::to_string(accessor.components));
  const size_t count = static_cast<size_t>(accessor.count);
  std::vector<double> values(count * size_t(accessor.components));
  if (accessor.view && count > 0) convert(*accessor.view, accessor, values.data());
  applySparse(accessor, at, values);
  if (!opaque) return values;
  std::vector<double> wide(4 * count, 1.0);
  for (size_t i = 0; i < count; ++i) std::copy_n(values.data() + 3 * i, 3, wide.data() + 4 * i);
  return wide;
}

std::vector<uint32_t> GltfDocument::readIndices(uint64_t index, const std::string& from) const {
  JsonPlace at;
  const Accessor accessor = accessorOf(index, from, at);
  if (accessor.components != 1) throw error(at.pointer + "/type", "indices must be SCALAR");
  if (accessor.componentType != kUnsignedByte && accessor.componentType != kUnsignedShort &&
      accessor.componentType != kUnsignedInt)
    throw error(at.pointer + "/componentType", "indices must be unsigned integers");
  std::vector<uint32_t> values(static_cast<size_t>(accessor.count));
  if (accessor.view && accessor.count > 0) convert(*accessor.view, accessor, values.data());
  applySparse(accessor, at, values);
  return values;
}

}  // namespace sunder::meshio
