#include "sunder/geometry/vtk_xml_output.h"

#include "sunder/base/bytes.h"

namespace sunder::geometry {

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

}  // namespace

VtkXmlOutput::VtkXmlOutput(OutputFile& out, const char* type, bool ascii)
    : out_(out), text_(out), type_(type), ascii_(ascii) {
  text_ << "<?xml version=\"1.0\"?>\n<VTKFile type=\"" << type_ << "\" version=\"1.0\" byte_order=\""
        << (kNativeOrder == ByteOrder::Big ? "BigEndian" : "LittleEndian") << "\" header_type=\"UInt64\">\n<"
        << type_ << ">\n";
}

void VtkXmlOutput::element(const char* name, std::vector<VtkOutputArray> arrays) {
  text_ << "<" << name << ">\n";
  for (VtkOutputArray& array : arrays) {
    text_ << "<DataArray type=\"" << array.type << "\" Name=\"" << escaped(array.name)
          << "\" NumberOfComponents=\"" << array.components << "\" format=\""
          << (ascii_ ? "ascii" : "appended");
    if (ascii_) {
      text_ << "\">\n";
      VtkValueSink sink(out_, &text_);
      array.write(sink);
      text_ << "\n</DataArray>\n";
    } else {
      text_ << "\" offset=\"" << offset_ << "\"/>\n";
      offset_ += sizeof(uint64_t) + array.bytes;
      appended_.push_back(std::move(array));
    }
  }
  text_ << "</" << name << ">\n";
}

void VtkXmlOutput::finish() {
  text_ << "</" << type_ << ">\n";
  if (!ascii_) {
    text_ << "<AppendedData encoding=\"raw\">\n_";
    text_.flush();
    VtkValueSink sink(out_, nullptr);
    for (const VtkOutputArray& array : appended_) {
      sink.put(std::span<const uint64_t>(&array.bytes, 1));
      array.write(sink);
    }
    text_ << "\n</AppendedData>\n";
  }
  text_ << "</VTKFile>\n";
  text_.flush();
}

}  // namespace sunder::geometry
