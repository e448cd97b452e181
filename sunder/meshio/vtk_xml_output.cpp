#include "sunder/meshio/vtk_xml_output.h"

#include "sunder/base/bytes.h"
#include "sunder/base/parallel.h"

#include <algorithm>
#include <new>

#include <zlib.h>

namespace sunder::meshio {

namespace {

// For names between quotes.
std::string escaped(const std::string& name) {
  std::string out;
  for (const char c : name) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += static_cast<unsigned char>(c) < 32 ? '_' : c;
  }
  return out;
}

// Higher levels take three times as long for a tenth less.
constexpr int kLevel = 1;

}  // namespace

void VtkCompressor::add(std::span<const std::byte> bytes) {
  bytes_ += bytes.size();
  while (!bytes.empty()) {
    const size_t taken = std::min(bytes.size(), kGather - waiting_.size());
    waiting_.insert(waiting_.end(), bytes.begin(), bytes.begin() + std::ptrdiff_t(taken));
    bytes = bytes.subspan(taken);
    if (waiting_.size() == kGather) pack();
  }
}

void VtkCompressor::pack() {
  std::vector<std::string> blocks((waiting_.size() + kBlock - 1) / kBlock);
  parallelFor(
      blocks.size(),
      [&](size_t b) {
        const size_t from = b * kBlock, count = std::min(kBlock, waiting_.size() - from);
        uLongf size = ::compressBound(uLong(count));
        blocks[b].resize(size);
        if (::compress2(reinterpret_cast<Bytef*>(blocks[b].data()), &size,
                        reinterpret_cast<const Bytef*>(waiting_.data() + from), uLong(count), kLevel) != Z_OK)
          throw std::bad_alloc();  // the only way it fails with room enough
        blocks[b].resize(size);
      },
      1);
  for (const std::string& block : blocks) {
    sizes_.push_back(block.size());
    packed_ += block;
  }
  waiting_.clear();
}

std::string VtkCompressor::take() {
  pack();
  std::vector<uint64_t> head{sizes_.size(), kBlock, bytes_ % kBlock};
  head.insert(head.end(), sizes_.begin(), sizes_.end());
  std::string out(reinterpret_cast<const char*>(head.data()), head.size() * sizeof(uint64_t));
  out += packed_;
  *this = {};
  return out;
}

VtkXmlOutput::VtkXmlOutput(OutputFile& out, const char* type, VtkEncoding encoding)
    : out_(out), text_(out), type_(type), encoding_(encoding) {
  text_ << "<?xml version=\"1.0\"?>\n<VTKFile type=\"" << type_ << "\" version=\"1.0\" byte_order=\""
        << (kNativeOrder == ByteOrder::Big ? "BigEndian" : "LittleEndian") << "\" header_type=\"UInt64\""
        << (encoding == VtkEncoding::Compressed ? " compressor=\"vtkZLibDataCompressor\"" : "") << ">\n<"
        << type_ << ">\n";
}

void VtkXmlOutput::element(const char* name, std::vector<VtkOutputArray> arrays) {
  text_ << "<" << name << ">\n";
  for (VtkOutputArray& array : arrays) {
    text_ << "<DataArray type=\"" << array.type << "\" Name=\"" << escaped(array.name)
          << "\" NumberOfComponents=\"" << array.components << "\" format=\""
          << (encoding_ == VtkEncoding::Ascii ? "ascii" : "appended");
    if (encoding_ == VtkEncoding::Ascii) {
      text_ << "\">\n";
      VtkValueSink sink(text_);
      array.write(sink);
      text_ << "\n</DataArray>\n";
      continue;
    }
    text_ << "\" offset=\"" << offset_ << "\"/>\n";
    if (encoding_ == VtkEncoding::Raw) {
      offset_ += sizeof(uint64_t) + array.bytes;
      appended_.push_back(std::move(array));
    } else {
      VtkCompressor compressor;
      VtkValueSink sink(compressor);
      array.write(sink);
      packed_.push_back(compressor.take());
      offset_ += packed_.back().size();
    }
  }
  text_ << "</" << name << ">\n";
}

void VtkXmlOutput::finish() {
  text_ << "</" << type_ << ">\n";
  if (encoding_ != VtkEncoding::Ascii) {
    text_ << "<AppendedData encoding=\"raw\">\n_";
    text_.flush();
    VtkValueSink sink(out_);
    for (const std::string& packed : packed_) out_.write(packed);
    for (const VtkOutputArray& array : appended_) {
      sink.put(std::span<const uint64_t>(&array.bytes, 1));
      array.write(sink);
    }
    text_ << "\n</AppendedData>\n";
  }
  text_ << "</VTKFile>\n";
  text_.flush();
}

}  // namespace sunder::meshio
