// VTK's XML files of unstructured grids (.vtu) and polygons (.vtp), as described in "VTK XML Formats"
// (Kitware).
#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/meshio/mesh_formats.h"
#include "sunder/meshio/text_scanner.h"
#include "sunder/meshio/vtk_data.h"
#include "sunder/meshio/vtk_xml_arrays.h"

#include <algorithm>

#include <pugixml.hpp>

namespace sunder::meshio {

namespace {

class XmlReader {
 public:
  XmlReader(Bytes bytes, const std::string& name) : parts_(splitVtkXml(bytes, name)) {
    encoding_.fileName = name;
  }
  MeshFile read();

 private:
  pugi::xml_node readRoot();
  VtkPiece readGridPiece(const pugi::xml_node& node);
  VtkPiece readPolyPiece(const pugi::xml_node& node);
  void readPoints(const pugi::xml_node& node, VtkPiece& piece);
  void addCells(VtkCells& cells, const pugi::xml_node& node, uint64_t count);
  void readData(const pugi::xml_node& node, VtkPiece& piece, uint64_t points, uint64_t cells);
  void readGroupNames(const pugi::xml_node& grid, CellSoup& soup);

  VtkXmlArray describe(const pugi::xml_node& node) const;
  VtkArray decode(const pugi::xml_node& node, std::optional<uint64_t> count) {
    return decodeArray(describe(node), encoding_, count);
  }
  pugi::xml_node child(const pugi::xml_node& node, const char* name) const;
  pugi::xml_node arrayNamed(const pugi::xml_node& node, std::string_view name) const;
  uint64_t number(const pugi::xml_node& node, const char* attribute, std::optional<uint64_t> fallback) const;
  Error error(ErrorKind kind, std::string message, const pugi::xml_node& node) const {
    return Error(kind, std::move(message))
        .inFile(encoding_.fileName)
        .atByte(static_cast<uint64_t>(std::max<std::ptrdiff_t>(node.offset_debug(), 0)));
  }

  VtkXmlParts parts_;
  VtkXmlEncoding encoding_;
  pugi::xml_document document_;
};

pugi::xml_node XmlReader::child(const pugi::xml_node& node, const char* name) const {
  const pugi::xml_node found = node.child(name);
  if (!found)
    throw error(ErrorKind::Format, std::string("<") + node.name() + "> has no <" + name + ">", node);
  return found;
}

pugi::xml_node XmlReader::arrayNamed(const pugi::xml_node& node, std::string_view name) const {
  for (const pugi::xml_node& a : node.children("DataArray"))
    if (name == a.attribute("Name").value()) return a;
  throw error(ErrorKind::Format,
              std::string("<") + node.name() + "> has no array '" + std::string(name) + "'", node);
}

uint64_t XmlReader::number(const pugi::xml_node& node, const char* attribute,
                           std::optional<uint64_t> fallback) const {
  const pugi::xml_attribute found = node.attribute(attribute);
  if (!found && fallback) return *fallback;
  const std::string_view text = found.value();
  uint64_t value = 0;
  if (!found || text.empty() ||
      parseUint(text.data(), text.data() + text.size(), value) != text.data() + text.size())
    throw error(
        ErrorKind::Format,
        std::string("<") + node.name() + "> needs a number as " + attribute + ", found " + quoted(text),
        node);
  return value;
}

VtkXmlArray XmlReader::describe(const pugi::xml_node& node) const {
  VtkXmlArray array;
  array.name = node.attribute("Name").value();
  array.type = node.attribute("type").value();
  array.format = node.attribute("format").as_string("ascii");
  array.components = static_cast<size_t>(std::max<uint64_t>(number(node, "NumberOfComponents", 1), 1));
  if (array.format == "appended") array.offset = number(node, "offset", {});
  array.text = node.child_value();
  array.place = static_cast<uint64_t>(std::max<std::ptrdiff_t>(node.offset_debug(), 0));
  return array;
}

pugi::xml_node XmlReader::readRoot() {
  const pugi::xml_parse_result result = document_.load_buffer(parts_.xml.data(), parts_.xml.size());
  if (!result)
    throw Error(ErrorKind::Format, std::string("this is not XML: ") + result.description())
        .inFile(encoding_.fileName)
        .atByte(static_cast<uint64_t>(std::max<std::ptrdiff_t>(result.offset, 0)));
  const pugi::xml_node root = document_.child("VTKFile");
  if (!root)
    throw Error(ErrorKind::Format, "there is no <VTKFile> in it").inFile(encoding_.fileName).atByte(0);
  const std::string_view order = root.attribute("byte_order").as_string("LittleEndian");
  if (order != "LittleEndian" && order != "BigEndian")
    throw error(ErrorKind::Format, "byte order " + quoted(order) + " is unknown", root);
  encoding_.swap = (order == "BigEndian") != (kNativeOrder == ByteOrder::Big);
  const std::string_view header = root.attribute("header_type").as_string("UInt32");
  if (header != "UInt32" && header != "UInt64")
    throw error(ErrorKind::Format, "header type " + quoted(header) + " is unknown", root);
  encoding_.wideHeader = header == "UInt64";
  const std::string_view compressor = root.attribute("compressor").value();
  encoding_.compressed = !compressor.empty();
  if (encoding_.compressed && compressor != "vtkZLibDataCompressor") {
    const std::string known = compressor == "vtkLZ4DataCompressor"    ? "LZ4"
                              : compressor == "vtkLZMADataCompressor" ? "LZMA"
                                                                      : std::string();
    throw error(
        ErrorKind::Unsupported,
        (known.empty() ? "compressor " + quoted(compressor) : known + " compression") + " is not read", root)
        .hint("write the file with zlib or without compression");
  }
  encoding_.appended = parts_.appended;
  encoding_.appendedAt = parts_.appendedAt;
  const std::string_view encoding = root.child("AppendedData").attribute("encoding").as_string("base64");
  if (encoding != "raw" && encoding != "base64")
    throw error(ErrorKind::Format, "encoding " + quoted(encoding) + " of the appended data is unknown", root);
  encoding_.appendedBase64 = encoding == "base64";
  return root;
}

void XmlReader::readPoints(const pugi::xml_node& node, VtkPiece& piece) {
  const uint64_t count = number(node, "NumberOfPoints", {});
  checkElementLimit(count, "points", encoding_.fileName);
  const pugi::xml_node array = node.child("Points").child("DataArray");
  if (!array) {
    if (count > 0) throw error(ErrorKind::Format, "<Piece> has no <Points>", node);
    return;
  }
  const VtkXmlArray source = describe(array);
  if (count > 0 && source.components != 3)
    throw error(ErrorKind::Format, "points must have 3 components", array);
  piece.points = toPositions(decodeArray(source, encoding_, 3 * count), encoding_.fileName);
}

void XmlReader::addCells(VtkCells& cells, const pugi::xml_node& node, uint64_t count) {
  checkElementLimit(count, "cells", encoding_.fileName);
  const VtkArray ends = decode(arrayNamed(node, "offsets"), count);
  const std::vector<int64_t> offsets = toIntegers(ends, encoding_.fileName);
  const auto base = static_cast<int64_t>(cells.connectivity.size());
  // The last offset is how long the connectivity must be.
  const int64_t total = offsets.empty() ? 0 : offsets.back();
  const size_t bad = firstBad(offsets.size(), [&](size_t i) {
    return offsets[i] < (i == 0 ? 0 : offsets[i - 1]) || offsets[i] > total;
  });
  if (bad < offsets.size())
    throw Error(ErrorKind::Format, "the offset of cell " + std::to_string(bad) +
                                       " is out of order: " + std::to_string(offsets[bad]))
        .inFile(encoding_.fileName)
        .atByte(ends.place);
  checkElementLimit(static_cast<uint64_t>(total), "corners", encoding_.fileName);
  VtkArray array = decode(arrayNamed(node, "connectivity"), static_cast<uint64_t>(total));
  cells.place = array.place;
  std::vector<int64_t> connectivity = toIntegers(array, encoding_.fileName);
  cells.offsets.reserve(cells.offsets.size() + offsets.size());
  for (const int64_t o : offsets) cells.offsets.push_back(o + base);
  if (base == 0)
    cells.connectivity = std::move(connectivity);
  else
    cells.connectivity.insert(cells.connectivity.end(), connectivity.begin(), connectivity.end());
}

void XmlReader::readData(const pugi::xml_node& node, VtkPiece& piece, uint64_t points, uint64_t cells) {
  auto readAll = [&](const pugi::xml_node& data, uint64_t tuples, bool ofCells, std::vector<VtkArray>& out) {
    const std::string_view normals = data.attribute("Normals").value(),
                           uvs = data.attribute("TCoords").value();
    for (const pugi::xml_node& array : data.children("DataArray")) {
      VtkXmlArray source = describe(array);
      if (!ofCells && !source.name.empty() && source.name == normals) source.name = "Normals";
      if (!ofCells && !source.name.empty() && source.name == uvs) source.name = "TCoords";
      if (!(ofCells ? usefulCellData(source.name) : usefulPointData(source.name))) continue;
      if (source.components > 16) continue;
      out.push_back(decodeArray(source, encoding_, tuples * source.components));
    }
  };
  readAll(node.child("CellData"), cells, true, piece.cellData);
  readAll(node.child("PointData"), points, false, piece.pointData);
}

VtkPiece XmlReader::readGridPiece(const pugi::xml_node& node) {
  VtkPiece piece;
  readPoints(node, piece);
  const uint64_t count = number(node, "NumberOfCells", {});
  if (count > 0) {
    const pugi::xml_node cells = child(node, "Cells");
    addCells(piece.cells, cells, count);
    const VtkArray array = decode(arrayNamed(cells, "types"), count);
    const std::vector<int64_t> types = toIntegers(array, encoding_.fileName);
    piece.cells.types.reserve(types.size());
    for (const int64_t type : types) {
      if (type < 0 || type > 255)
        throw Error(ErrorKind::Format, "there is no cell type " + std::to_string(type))
            .inFile(encoding_.fileName)
            .atByte(array.place);
      piece.cells.types.push_back(static_cast<uint8_t>(type));
    }
  }
  readData(node, piece, piece.points.size(), count);
  return piece;
}

VtkPiece XmlReader::readPolyPiece(const pugi::xml_node& node) {
  VtkPiece piece;
  readPoints(node, piece);
  struct Section {
    const char *element, *attribute;
    uint8_t type;
  };
  // In the order in which the cell data counts them.
  constexpr Section kSections[] = {{"Verts", "NumberOfVerts", kVtkPolyVertex},
                                   {"Lines", "NumberOfLines", kVtkPolyLine},
                                   {"Polys", "NumberOfPolys", kVtkPolygon},
                                   {"Strips", "NumberOfStrips", kVtkStrip}};
  for (const Section& section : kSections) {
    const uint64_t count = number(node, section.attribute, 0);
    if (count == 0) continue;
    addCells(piece.cells, child(node, section.element), count);
    piece.cells.types.insert(piece.cells.types.end(), count, section.type);
  }
  readData(node, piece, piece.points.size(), piece.cells.count());
  return piece;
}

void XmlReader::readGroupNames(const pugi::xml_node& grid, CellSoup& soup) {
  for (const pugi::xml_node& node : grid.child("FieldData").children()) {
    const VtkXmlArray source = describe(node);
    if (source.name != "groupNames" || source.type.starts_with("Float")) continue;
    const std::vector<int64_t> characters =
        toIntegers(decodeArray(source, encoding_, {}), encoding_.fileName);
    std::string name;
    int32_t group = 0;
    for (const int64_t c : characters) {
      if (c != 0) {
        name += static_cast<char>(static_cast<unsigned char>(c & 255));
        continue;
      }
      soup.faceTagNames[group++] = std::move(name);
      name.clear();
    }
  }
}

MeshFile XmlReader::read() {
  const pugi::xml_node root = readRoot();
  const std::string_view kind = root.attribute("type").value();
  const bool polygons = kind == "PolyData";
  if (!polygons && kind != "UnstructuredGrid")
    throw error(ErrorKind::Unsupported, "files of type " + quoted(kind) + " are not read", root)
        .hint("UnstructuredGrid and PolyData are");
  const pugi::xml_node grid = child(root, polygons ? "PolyData" : "UnstructuredGrid");
  CellSoup soup;
  readGroupNames(grid, soup);
  for (const pugi::xml_node& node : grid.children("Piece"))
    addPiece(soup, polygons ? readPolyPiece(node) : readGridPiece(node), encoding_.fileName);
  return toMeshFile(std::move(soup), polygons ? MeshFormat::Vtp : MeshFormat::Vtu);
}

}  // namespace

MeshFile readVtkXml(Bytes bytes, const std::string& name) { return XmlReader(bytes, name).read(); }

}  // namespace sunder::meshio
