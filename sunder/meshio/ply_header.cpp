#include "sunder/meshio/ply_header.h"

#include "sunder/base/error.h"
#include "sunder/meshio/text_scanner.h"

#include <algorithm>
#include <optional>

namespace sunder::meshio {

namespace {

constexpr size_t kHeaderLineLimit = 1u << 16;

struct TypeName {
  std::string_view name;
  PlyType type;
};
constexpr TypeName kTypeNames[] = {
    {"char", PlyType::Int8},     {"int8", PlyType::Int8},     {"uchar", PlyType::Uint8},
    {"uint8", PlyType::Uint8},   {"short", PlyType::Int16},   {"int16", PlyType::Int16},
    {"ushort", PlyType::Uint16}, {"uint16", PlyType::Uint16}, {"int", PlyType::Int32},
    {"int32", PlyType::Int32},   {"uint", PlyType::Uint32},   {"uint32", PlyType::Uint32},
    {"float", PlyType::Float},   {"float32", PlyType::Float}, {"double", PlyType::Double},
    {"float64", PlyType::Double}};

struct RoleName {
  std::string_view name;
  PlyRole role;
};
constexpr RoleName kVertexRoles[] = {{"x", PlyRole::X},
                                     {"y", PlyRole::Y},
                                     {"z", PlyRole::Z},
                                     {"nx", PlyRole::Nx},
                                     {"ny", PlyRole::Ny},
                                     {"nz", PlyRole::Nz},
                                     {"u", PlyRole::U},
                                     {"v", PlyRole::V},
                                     {"s", PlyRole::U},
                                     {"t", PlyRole::V},
                                     {"texture_u", PlyRole::U},
                                     {"texture_v", PlyRole::V},
                                     {"red", PlyRole::Red},
                                     {"green", PlyRole::Green},
                                     {"blue", PlyRole::Blue},
                                     {"alpha", PlyRole::Alpha},
                                     {"diffuse_red", PlyRole::Red},
                                     {"diffuse_green", PlyRole::Green},
                                     {"diffuse_blue", PlyRole::Blue}};

PlyType readType(TextScanner& in) {
  const std::string_view word = in.wordOnLine();
  for (const TypeName& t : kTypeNames)
    if (t.name == word) return t.type;
  throw in.expected("a PLY type such as float or uchar", word);
}

PlyRole roleOf(const PlyElement& element, const PlyProperty& property) {
  if (property.isList) {
    if (element.name != "face") return PlyRole::None;
    if (property.name == "vertex_indices" || property.name == "vertex_index") return PlyRole::Indices;
    if (property.name == "texcoord") return PlyRole::WedgeUvs;
    return PlyRole::None;
  }
  if (element.name != "vertex") return PlyRole::None;
  for (const RoleName& r : kVertexRoles)
    if (r.name == property.name) return r.role;
  return PlyRole::None;
}

PlyProperty readProperty(TextScanner& in, const PlyElement& element) {
  PlyProperty property;
  const std::string_view rest = in.rest();
  if (rest.substr(std::min(rest.find_first_not_of(" \t"), rest.size())).starts_with("list ")) {
    in.wordOnLine();
    property.isList = true;
    property.countType = readType(in);
    if (isFloating(property.countType)) throw in.error("the length of a list must be an integer type");
  }
  property.type = readType(in);
  const std::string_view name = in.wordOnLine();
  if (name.empty()) throw in.error("a property without a name");
  property.name = std::string(name.substr(0, 200));
  property.role = roleOf(element, property);
  if (property.role == PlyRole::Indices && isFloating(property.type))
    throw in.error("vertex indices must be an integer type");
  for (const PlyProperty& other : element.properties)
    if (other.role == property.role && other.role != PlyRole::None)
      property.role = PlyRole::None;  // s and u both: the first one counts
  return property;
}

}  // namespace

size_t sizeOf(PlyType type) {
  switch (type) {
    case PlyType::Int8:
    case PlyType::Uint8:
      return 1;
    case PlyType::Int16:
    case PlyType::Uint16:
      return 2;
    case PlyType::Int32:
    case PlyType::Uint32:
    case PlyType::Float:
      return 4;
    case PlyType::Double:
      return 8;
  }
  return 0;
}

bool isFloating(PlyType type) { return type == PlyType::Float || type == PlyType::Double; }

double colourScale(PlyType type) {
  switch (type) {
    case PlyType::Int8:
      return 127;
    case PlyType::Uint8:
      return 255;
    case PlyType::Int16:
      return 32767;
    case PlyType::Uint16:
      return 65535;
    case PlyType::Int32:
      return 2147483647;
    case PlyType::Uint32:
      return 4294967295;
    default:
      return 1;
  }
}

bool PlyElement::hasLists() const {
  return std::any_of(properties.begin(), properties.end(), [](const PlyProperty& p) { return p.isList; });
}

bool PlyElement::has(PlyRole role) const {
  return std::any_of(properties.begin(), properties.end(),
                     [role](const PlyProperty& p) { return p.role == role; });
}

size_t PlyElement::offsetOf(size_t property) const {
  size_t bytes = 0;
  for (size_t i = 0; i < property; ++i)
    bytes += sizeOf(properties[i].isList ? properties[i].countType : properties[i].type);
  return bytes;
}

size_t PlyElement::rowBytes() const { return offsetOf(properties.size()); }

PlyHeader readPlyHeader(std::string_view text, const std::string& name) {
  TextScanner in(text, name, '\0', kHeaderLineLimit);
  PlyHeader header;
  if (in.wordOnLine() != "ply")
    throw in.error("the file does not start with 'ply'").hint("is it a PLY file?");
  in.endLine();
  std::optional<PlyEncoding> encoding;
  for (;;) {
    if (in.remaining() == 0) throw in.error("the header has no end_header line");
    const std::string_view word = in.wordOnLine();
    if (word == "comment" || word == "obj_info" || word.empty()) {
      in.nextLine();
    } else if (word == "format") {
      const std::string_view kind = in.wordOnLine();
      if (kind == "ascii") {
        encoding = PlyEncoding::Ascii;
      } else if (kind == "binary_little_endian") {
        encoding = PlyEncoding::LittleEndian;
      } else if (kind == "binary_big_endian") {
        encoding = PlyEncoding::BigEndian;
      } else {
        throw in.expected("ascii, binary_little_endian or binary_big_endian", kind);
      }
      const std::string_view version = in.wordOnLine();
      if (version != "1.0") throw in.expected("version 1.0", version);
      in.endLine();
    } else if (word == "element") {
      const std::string_view elementName = in.wordOnLine();
      if (elementName.empty() || !in.lineHasMore()) throw in.error("an element needs a name and a count");
      PlyElement element;
      element.name = std::string(elementName.substr(0, 200));
      element.count = in.readUint("the number of elements");
      for (const PlyElement& other : header.elements)
        if (other.name == element.name)
          throw in.error("element " + meshio::quoted(elementName) + " is there twice");
      header.elements.push_back(std::move(element));
      in.endLine();
    } else if (word == "property") {
      if (header.elements.empty()) throw in.error("a property before the first element");
      PlyElement& element = header.elements.back();
      element.properties.push_back(readProperty(in, element));
      in.endLine();
    } else if (word == "end_header") {
      // Binary data start right after the line end; blanks before it are tolerated, a comment is not.
      if (in.lineHasMore()) throw in.expected("the end of the line", in.peekWord());
      in.nextLine();
      break;
    } else {
      throw in.expected("a PLY header line", word);
    }
  }
  if (!encoding) throw in.error("the header has no format line");
  header.encoding = *encoding;
  header.bytes = in.offset();
  header.lines = in.line();
  for (const PlyElement& element : header.elements) {
    if (element.name == "tristrips")
      throw Error(ErrorKind::Unsupported, "triangle strips in PLY files are not read")
          .inFile(name)
          .hint("convert it to a PLY file with faces");
    if (element.name != "vertex" && element.name != "face")
      header.ignored.push_back("element " + element.name);
    if (element.name == "vertex")
      for (const PlyProperty& p : element.properties)
        if (p.role == PlyRole::None) header.ignored.push_back("vertex property " + p.name);
    if (element.name == "face")
      for (const PlyProperty& p : element.properties)
        if (p.role == PlyRole::None) header.ignored.push_back("face property " + p.name);
  }
  return header;
}

}  // namespace sunder::meshio
