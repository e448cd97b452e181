// The data arrays of VTK's XML files: text, base64 inside the XML, or a block at the end of the file, each
// plain or compressed with zlib in blocks. Private to the room.
//
// Guarantee: nothing is allocated before the claimed size is compared with the bytes that are there. Deflate
// cannot shrink data to less than 1/1032, so a block that claims more is refused, and an array must have
// exactly the length that the piece's counts give it.
#pragma once

#include "sunder/meshio/vtk_data.h"

#include <optional>
#include <string>
#include <string_view>

namespace sunder::meshio {

// The file without its appended block, which may hold bytes that no XML parser takes.
struct VtkXmlParts {
  std::string xml;          // well-formed when the file is
  Bytes appended;           // after the underscore
  uint64_t appendedAt = 0;  // byte in the file
};
VtkXmlParts splitVtkXml(Bytes bytes, const std::string& name);

// How a file encodes its arrays: the attributes of its root and of AppendedData.
struct VtkXmlEncoding {
  std::string fileName;
  bool swap = false;        // numbers are not in this machine's byte order
  bool wideHeader = false;  // block headers are 64-bit
  bool compressed = false;
  bool appendedBase64 = false;
  Bytes appended;
  uint64_t appendedAt = 0;
};

// One DataArray element.
struct VtkXmlArray {
  std::string name, type, format;
  size_t components = 1;
  uint64_t offset = 0;    // into the appended block
  std::string_view text;  // content of the element
  uint64_t place = 0;     // of the element, byte in the file
};

// `count` is the number of values it must have; without it any number is taken. Throws Error (Format,
// Unsupported).
VtkArray decodeArray(const VtkXmlArray& source, const VtkXmlEncoding& encoding,
                     std::optional<uint64_t> count);

// Up to `most` bytes of base64 text: blanks are skipped, and padding may end one run of bytes and start the
// next. Stops at the end of the text or at the first character that does not belong there.
std::vector<std::byte> decodeBase64(std::string_view text, size_t most);

}  // namespace sunder::meshio
