// Writing VTK's XML files: elements of arrays whose numbers go into one appended raw block at the end of the
// file, packed with zlib or not, or stand as text where they belong. Used by the mesh writers and by
// exporters of runs; include it in .cpp files only.
//
//   VtkXmlOutput xml(file, "PolyData", VtkEncoding::Raw);
//   xml.text() << "<Piece NumberOfPoints=\"3\" NumberOfPolys=\"1\">\n";
//   xml.element("Points", {vtkArray<float>("Points", 3, numbers)});
//   xml.text() << "</Piece>\n";
//   xml.finish();
//
// What an array refers to must live until finish(). Nothing is copied but what is generated, in pieces;
// packed arrays are kept until finish(), because the places of all are named before the first. Blocks are
// packed in parallel, about 100 MB a second and core, and are the same bytes for any number of threads.
#pragma once

#include "sunder/base/file.h"
#include "sunder/meshio/text_writer.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace sunder::meshio {

enum class VtkEncoding { Ascii, Raw, Compressed };

// Packs bytes as vtkZLibDataCompressor does: blocks of kBlock bytes, before them their number, their size,
// that of the last where it is smaller, and what each has become.
class VtkCompressor {
 public:
  void add(std::span<const std::byte> bytes);
  std::string take();  // head and blocks

 private:
  static constexpr size_t kBlock = size_t(1) << 15;        // what VTK itself takes
  static constexpr size_t kGather = size_t(128) * kBlock;  // packed at once, by all threads
  void pack();

  std::vector<std::byte> waiting_;
  std::vector<uint64_t> sizes_;
  std::string packed_;
  uint64_t bytes_ = 0;
};

// Where an array's values go, binary or text.
class VtkValueSink {
 public:
  explicit VtkValueSink(OutputFile& out) : out_(&out) {}
  explicit VtkValueSink(TextWriter& text) : text_(&text) {}
  explicit VtkValueSink(VtkCompressor& compressor) : compressor_(&compressor) {}

  template <class T>
  void put(std::span<const T> values) {
    if (out_) return out_->write(std::as_bytes(values));
    if (compressor_) return compressor_->add(std::as_bytes(values));
    for (const T value : values) *text_ << value << (++column_ % 12 == 0 ? '\n' : ' ');
  }
  // value(i) for i in [0, count), as T
  template <class T, class Value>
  void generate(size_t count, Value&& value) {
    std::vector<T> chunk;
    for (size_t begin = 0; begin < count; begin += kChunk) {
      chunk.resize(std::min(kChunk, count - begin));
      for (size_t i = 0; i < chunk.size(); ++i) chunk[i] = value(begin + i);
      put(std::span<const T>(chunk));
    }
  }

 private:
  static constexpr size_t kChunk = size_t(1) << 16;  // values per piece of a generated array

  OutputFile* out_ = nullptr;
  TextWriter* text_ = nullptr;
  VtkCompressor* compressor_ = nullptr;
  uint64_t column_ = 0;
};

struct VtkOutputArray {
  std::string name, type;
  size_t components = 1;
  uint64_t bytes = 0;
  std::function<void(VtkValueSink&)> write;
};

template <class T>
const char* vtkTypeName() {
  if constexpr (std::is_same_v<T, double>) return "Float64";
  if constexpr (std::is_same_v<T, float>) return "Float32";
  if constexpr (std::is_same_v<T, int32_t>) return "Int32";
  if constexpr (std::is_same_v<T, int64_t>) return "Int64";
  if constexpr (std::is_same_v<T, uint8_t>) return "UInt8";
}

// Numbers that lie in memory as they go to the file.
template <class T>
VtkOutputArray vtkArray(std::string name, size_t components, std::span<const T> values) {
  return {std::move(name), vtkTypeName<T>(), components, values.size_bytes(),
          [values](VtkValueSink& sink) { sink.put(values); }};
}

// value(i) for each of `values` numbers.
template <class T, class Value>
VtkOutputArray vtkGenerated(std::string name, size_t components, uint64_t values, Value value) {
  return {std::move(name), vtkTypeName<T>(), components, values * sizeof(T),
          [values, value](VtkValueSink& sink) { sink.generate<T>(values, value); }};
}

class VtkXmlOutput {
 public:
  // Begins the file: `type` is PolyData or UnstructuredGrid.
  VtkXmlOutput(OutputFile& out, const char* type, VtkEncoding encoding);

  TextWriter& text() { return text_; }
  void element(const char* name, std::vector<VtkOutputArray> arrays);
  void finish();  // the appended block and the end of the file

 private:
  OutputFile& out_;
  TextWriter text_;
  std::string type_;
  VtkEncoding encoding_;
  uint64_t offset_ = 0;
  std::vector<VtkOutputArray> appended_;
  std::vector<std::string> packed_;
};

}  // namespace sunder::meshio
