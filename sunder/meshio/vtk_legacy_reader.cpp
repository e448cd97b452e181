// VTK legacy files, as described in "VTK File Formats" (Kitware): a five-part text header, then sections that
// are text or big-endian binary. From version 5 on cells come as OFFSETS and CONNECTIVITY, before as counts
// and points mixed.
#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/meshio/mesh_formats.h"
#include "sunder/meshio/text_scanner.h"
#include "sunder/meshio/vtk_data.h"

#include <algorithm>
#include <optional>

namespace sunder::meshio {

namespace {

enum class Kind { Number, Bit, String };

struct ValueType {
  Kind kind = Kind::Number;
  VtkScalar scalar = VtkScalar::Float64;
};

class LegacyReader {
 public:
  LegacyReader(std::string_view text, const std::string& name) : scanner_(text, name, '\0'), text_(text) {}
  MeshFile read();

 private:
  void readHeader();
  void readGeometry(std::string_view keyword);
  void readAttribute(std::string_view keyword);
  void readField(bool keep);
  void skipMetadata();
  void skipStrings(uint64_t count);
  VtkCells readCells(std::string_view what, uint8_t type);
  void readCellTypes();
  void keepArray(VtkArray&& array, uint64_t tuples);

  ValueType readType();
  uint64_t product(uint64_t a, uint64_t b) const;
  // `limit`, when given, bounds integers: 0 <= value < limit, checked where the line is known.
  VtkArray readArray(ValueType type, uint64_t count, std::optional<uint64_t> limit = {});
  VtkArray readInts(uint64_t count) { return readArray({Kind::Number, VtkScalar::Int32}, count); }
  uint64_t readCount(std::string_view what) { return scanner_.readUint(what); }

  TextScanner scanner_;
  std::string_view text_;
  bool binary_ = false, polyData_ = false;
  int major_ = 0;
  bool hasPoints_ = false, hasCells_ = false, hasTypes_ = false;
  VtkPiece piece_;
  VtkCells sections_[4];  // of polygon data, in the order of its cell data: vertices, lines, polygons, strips
  enum class Target { None, Cells, Points } target_ = Target::None;
  uint64_t targetCount_ = 0;
};

std::string upper(std::string_view word) {
  std::string result(word);
  for (char& c : result)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return result;
}

void LegacyReader::readHeader() {
  const std::string_view first = scanner_.restOfLine();
  constexpr std::string_view kMagic = "# vtk DataFile Version ";
  if (!first.starts_with(kMagic))
    throw Error(ErrorKind::Format, "the first line must start with '# vtk DataFile Version'")
        .inFile(scanner_.name())
        .atLine(1);
  uint64_t major = 0;
  const char* const digits = first.data() + kMagic.size();
  if (!parseUint(digits, first.data() + first.size(), major) || major < 1 || major > 5)
    throw Error(ErrorKind::Unsupported,
                "version " + quoted(first.substr(kMagic.size())) + " of the format is unknown")
        .inFile(scanner_.name())
        .atLine(1)
        .hint("versions 1 to 5.1 are read");
  major_ = static_cast<int>(major);
  scanner_.restOfLine();  // the title
  const std::string_view mode = scanner_.word();
  binary_ = upper(mode) == "BINARY";
  if (!binary_ && upper(mode) != "ASCII") throw scanner_.expected("ASCII or BINARY", mode);
  const std::string_view keyword = scanner_.word();
  if (upper(keyword) != "DATASET") throw scanner_.expected("DATASET", keyword);
  const std::string kind = upper(scanner_.word());
  polyData_ = kind == "POLYDATA";
  if (polyData_ || kind == "UNSTRUCTURED_GRID") return;
  if (kind == "STRUCTURED_POINTS" || kind == "STRUCTURED_GRID" || kind == "RECTILINEAR_GRID" ||
      kind == "FIELD")
    throw Error(ErrorKind::Unsupported, "data sets of kind " + kind + " are not read")
        .inFile(scanner_.name())
        .atLine(scanner_.line())
        .hint("UNSTRUCTURED_GRID and POLYDATA are");
  throw scanner_.expected("UNSTRUCTURED_GRID or POLYDATA", kind);
}

ValueType LegacyReader::readType() {
  const std::string_view found = scanner_.word();
  const std::string type = upper(found);
  auto number = [](VtkScalar s) { return ValueType{Kind::Number, s}; };
  if (type == "FLOAT") return number(VtkScalar::Float32);
  if (type == "DOUBLE") return number(VtkScalar::Float64);
  if (type == "INT" || type == "VTKIDTYPE") return number(VtkScalar::Int32);
  if (type == "UNSIGNED_INT") return number(VtkScalar::UInt32);
  if (type == "LONG" || type == "VTKTYPEINT64") return number(VtkScalar::Int64);
  if (type == "UNSIGNED_LONG" || type == "VTKTYPEUINT64") return number(VtkScalar::UInt64);
  if (type == "CHAR" || type == "SIGNED_CHAR") return number(VtkScalar::Int8);
  if (type == "UNSIGNED_CHAR") return number(VtkScalar::UInt8);
  if (type == "SHORT") return number(VtkScalar::Int16);
  if (type == "UNSIGNED_SHORT") return number(VtkScalar::UInt16);
  if (type == "BIT") return {Kind::Bit, VtkScalar::UInt8};
  if (type == "STRING" || type == "UTF8_STRING") return {Kind::String, VtkScalar::UInt8};
  throw scanner_.expected("a data type", found);
}

uint64_t LegacyReader::product(uint64_t a, uint64_t b) const {
  if (b != 0 && a > UINT64_MAX / b)
    throw scanner_.error(std::to_string(a) + " times " + std::to_string(b) +
                         " values do not fit into any file");
  return a * b;
}

VtkArray LegacyReader::readArray(ValueType type, uint64_t count, std::optional<uint64_t> limit) {
  VtkArray array;
  array.type = type.scalar;
  if (type.kind == Kind::String) {
    skipStrings(count);
    return array;
  }
  if (binary_) {
    if (scanner_.lineHasMore()) throw scanner_.expected("the end of the line", scanner_.peekWord());
    if (count > 0) scanner_.nextLine();
    array.place = scanner_.offset();
    array.swap = kNativeOrder != ByteOrder::Big;
    const uint64_t size = sizeOf(type.scalar);
    const uint64_t units = type.kind == Kind::Bit ? count / 8 + (count % 8 != 0) : count;
    try {
      checkCount(units, size, scanner_.remaining(), "values");
    } catch (Error& e) {
      throw std::move(e.inFile(scanner_.name()).atByte(array.place));
    }
    array.bytes = std::as_bytes(std::span(scanner_.rest().substr(0, units * size)));
    scanner_.advance(units * size);
    if (type.kind == Kind::Bit) array.bytes = {};  // nothing we keep is made of bits
    return array;
  }
  scanner_.checkCount(count, 2, "values");  // each has a blank or a line end before it
  array.place = scanner_.offset();
  array.storage.resize(count * sizeof(double));
  const bool real = isReal(type.scalar);
  array.type = real ? VtkScalar::Float64 : VtkScalar::Int64;
  for (uint64_t i = 0; i < count; ++i) {
    std::byte* const at = array.storage.data() + i * sizeof(double);
    if (real) {
      const double value = scanner_.readDouble("a number");
      std::memcpy(at, &value, sizeof value);
      continue;
    }
    const int64_t value = scanner_.readInt("an integer");
    if (limit && (value < 0 || static_cast<uint64_t>(value) >= *limit))
      throw scanner_
          .error("a cell refers to point " + std::to_string(value) + ", but there are only " +
                 std::to_string(*limit))
          .hint("points count from 0");
    std::memcpy(at, &value, sizeof value);
  }
  array.bytes = array.storage;
  return array;
}

void LegacyReader::skipStrings(uint64_t count) {
  scanner_.nextLine();
  scanner_.checkCount(count, 1, "strings");
  if (!binary_) {
    for (uint64_t i = 0; i < count; ++i) scanner_.nextLine();
    return;
  }
  ByteReader reader(std::as_bytes(std::span(scanner_.rest())), scanner_.name(), kNativeOrder,
                    scanner_.offset());
  for (uint64_t i = 0; i < count; ++i) {
    // The two highest bits of the first byte say how many bytes the length takes.
    const unsigned lead = reader.u8("a string");
    const unsigned extra = lead >> 6 == 3 ? 0 : lead >> 6 == 2 ? 1 : lead >> 6 == 1 ? 3 : 7;
    uint64_t length = lead & 63u;
    for (unsigned b = 0; b < extra; ++b) length = length << 8 | reader.u8("a string's length");
    reader.skip(std::min<uint64_t>(length, SIZE_MAX), "a string");
  }
  scanner_.advance(reader.position());
}

void LegacyReader::skipMetadata() {
  scanner_.nextLine();
  while (scanner_.remaining() > 0 && !scanner_.restOfLine().empty()) {
  }
}

VtkCells LegacyReader::readCells(std::string_view what, uint8_t type) {
  const uint64_t cellCount = readCount("the number of cells");
  const uint64_t size = readCount("the size of the cell list");
  const uint64_t points = piece_.points.size();
  if (!hasPoints_) throw scanner_.error(std::string(what) + " must come after POINTS");
  VtkCells cells;
  if (major_ >= 5 && upper(scanner_.peekWord()) == "OFFSETS") {
    scanner_.word();
    const VtkArray offsets = readArray(readType(), cellCount);
    if (cellCount > 0) cells.offsets = toIntegers(offsets, scanner_.name());
    const std::string_view keyword = scanner_.word();
    if (upper(keyword) != "CONNECTIVITY") throw scanner_.expected("CONNECTIVITY", keyword);
    const VtkArray connectivity = readArray(readType(), size, points);
    cells.connectivity = toIntegers(connectivity, scanner_.name());
    cells.place = connectivity.place;
    const auto total = static_cast<int64_t>(cells.connectivity.size());
    const size_t bad = firstBad(cells.offsets.size(),
                                [&](size_t i) { return cells.offsets[i] < 0 || cells.offsets[i] > total; });
    if (bad < cells.offsets.size() || cells.offsets.front() != 0 || cells.offsets.back() != total)
      throw Error(ErrorKind::Format, "the cell offsets must run from 0 to " + std::to_string(total))
          .inFile(scanner_.name())
          .atByte(offsets.place);
  } else {
    if (cellCount > size)
      throw scanner_.error(std::to_string(cellCount) + " cells cannot fit into a list of " +
                           std::to_string(size));
    // In text every number is judged where it stands, so that the line can be named.
    const uint64_t start = scanner_.offset();
    if (binary_) {
      const VtkArray list = readInts(size);
      const std::vector<int64_t> values = toIntegers(list, scanner_.name());
      cells.place = list.place;
      cells.offsets.reserve(cellCount + 1);
      cells.connectivity.reserve(size - cellCount);
      size_t at = 0;
      for (uint64_t c = 0; c < cellCount; ++c) {
        if (at >= values.size() || values[at] < 0 ||
            static_cast<uint64_t>(values[at]) > values.size() - at - 1)
          throw Error(ErrorKind::Format, "cell " + std::to_string(c) + " does not fit into the list of " +
                                             std::to_string(size) + " numbers")
              .inFile(scanner_.name())
              .atByte(list.place + 4 * at);
        const auto n = static_cast<size_t>(values[at]);
        const auto from = values.begin() + static_cast<std::ptrdiff_t>(at) + 1;
        cells.connectivity.insert(cells.connectivity.end(), from, from + static_cast<std::ptrdiff_t>(n));
        cells.offsets.push_back(static_cast<int64_t>(cells.connectivity.size()));
        at += n + 1;
      }
    } else {
      scanner_.checkCount(size, 2, "numbers in the cell list");
      cells.place = start;
      cells.offsets.reserve(cellCount + 1);
      cells.connectivity.reserve(size - cellCount);
      for (uint64_t c = 0; c < cellCount; ++c) {
        const uint64_t n = scanner_.readUint("a number of points");
        const uint64_t room = size - cellCount - cells.connectivity.size();
        if (n > room)
          throw scanner_.error("cell " + std::to_string(c) + " claims " + std::to_string(n) +
                               " points, but the list has room for " + std::to_string(room));
        for (uint64_t i = 0; i < n; ++i) {
          const int64_t point = scanner_.readInt("a point's index");
          if (point < 0 || static_cast<uint64_t>(point) >= points)
            throw scanner_
                .error("cell " + std::to_string(c) + " refers to point " + std::to_string(point) +
                       ", but there are only " + std::to_string(points))
                .hint("points count from 0");
          cells.connectivity.push_back(point);
        }
        cells.offsets.push_back(static_cast<int64_t>(cells.connectivity.size()));
      }
    }
  }
  if (polyData_) cells.types.assign(cells.count(), type);
  return cells;
}

void LegacyReader::readCellTypes() {
  const uint64_t count = readCount("the number of cell types");
  const VtkArray array = readInts(count);
  const std::vector<int64_t> types = toIntegers(array, scanner_.name());
  piece_.cells.types.reserve(types.size());
  for (const int64_t type : types) {
    if (type < 0 || type > 255)
      throw Error(ErrorKind::Format, "there is no cell type " + std::to_string(type))
          .inFile(scanner_.name())
          .atByte(array.place);
    piece_.cells.types.push_back(static_cast<uint8_t>(type));
  }
  hasTypes_ = true;
}

void LegacyReader::keepArray(VtkArray&& array, uint64_t tuples) {
  if (array.count() == 0 || tuples != targetCount_) return;
  if (target_ == Target::Cells && usefulCellData(array.name)) piece_.cellData.push_back(std::move(array));
  if (target_ == Target::Points && usefulPointData(array.name)) piece_.pointData.push_back(std::move(array));
}

void LegacyReader::readField(bool keep) {
  scanner_.word();  // the field's own name
  const uint64_t arrays = readCount("the number of arrays");
  for (uint64_t a = 0; a < arrays; ++a) {
    while (upper(scanner_.peekWord()) == "METADATA") {
      scanner_.word();
      skipMetadata();
    }
    const std::string_view name = scanner_.word();
    if (name.empty()) throw scanner_.expected("an array's name", name);
    if (name == "NULL_ARRAY") continue;
    const uint64_t components = readCount("the number of components");
    const uint64_t tuples = readCount("the number of tuples");
    const ValueType type = readType();
    VtkArray array = readArray(type, product(components, tuples));
    array.name = name;
    array.components = std::max<uint64_t>(components, 1);
    if (keep) keepArray(std::move(array), tuples);
  }
}

void LegacyReader::readGeometry(std::string_view keyword) {
  if (keyword == "POINTS") {
    if (hasPoints_) throw scanner_.error("POINTS are given twice");
    const uint64_t count = readCount("the number of points");
    const ValueType type = readType();
    if (type.kind != Kind::Number) throw scanner_.error("coordinates must be numbers");
    const VtkArray array = readArray(type, product(count, 3));
    checkElementLimit(count, "points", scanner_.name());
    piece_.points = toPositions(array, scanner_.name());
    hasPoints_ = true;
  } else if (keyword == "CELLS") {
    if (polyData_) throw scanner_.error("CELLS do not belong into POLYDATA");
    if (hasCells_) throw scanner_.error("CELLS are given twice");
    std::vector<uint8_t> types = std::move(piece_.cells.types);
    piece_.cells = readCells(keyword, 0);
    piece_.cells.types = std::move(types);
    hasCells_ = true;
  } else if (keyword == "CELL_TYPES") {
    if (hasTypes_) throw scanner_.error("CELL_TYPES are given twice");
    readCellTypes();
  } else {
    if (!polyData_) throw scanner_.error(std::string(keyword) + " does not belong into UNSTRUCTURED_GRID");
    const bool vertices = keyword == "VERTICES", lines = keyword == "LINES", polygons = keyword == "POLYGONS";
    const size_t slot = vertices ? 0 : lines ? 1 : polygons ? 2 : 3;
    const uint8_t type = vertices   ? kVtkPolyVertex
                         : lines    ? kVtkPolyLine
                         : polygons ? kVtkPolygon
                                    : kVtkStrip;
    if (sections_[slot].count() > 0) throw scanner_.error(std::string(keyword) + " are given twice");
    sections_[slot] = readCells(keyword, type);
    hasCells_ = true;
  }
}

void LegacyReader::readAttribute(std::string_view keyword) {
  if (keyword == "FIELD") return readField(true);
  if (keyword == "LOOKUP_TABLE") {
    scanner_.word();
    const uint64_t size = readCount("the size of the table");
    readArray({Kind::Number, binary_ ? VtkScalar::UInt8 : VtkScalar::Float32}, product(size, 4));
    return;
  }
  const std::string name(scanner_.word());
  if (name.empty()) throw scanner_.expected("an array's name", name);
  uint64_t components = 1;
  ValueType type;
  std::string known = name;
  if (keyword == "COLOR_SCALARS") {
    components = readCount("the number of components");
    type.scalar = binary_ ? VtkScalar::UInt8 : VtkScalar::Float32;
  } else if (keyword == "SCALARS") {
    type = readType();
    if (scanner_.lineHasMore()) components = readCount("the number of components");
    if (upper(scanner_.peekWord()) == "LOOKUP_TABLE") {
      scanner_.word();
      scanner_.word();
    }
  } else if (keyword == "TEXTURE_COORDINATES") {
    components = readCount("the number of components");
    type = readType();
    known = "TCoords";
  } else {
    type = readType();
    if (keyword == "VECTORS" || keyword == "NORMALS") components = 3;
    if (keyword == "TENSORS") components = 9;
    if (keyword == "TENSORS6") components = 6;
    if (keyword == "NORMALS") known = "Normals";
  }
  VtkArray array = readArray(type, product(components, targetCount_));
  array.name = known;
  array.components = std::max<uint64_t>(components, 1);
  keepArray(std::move(array), targetCount_);
}

MeshFile LegacyReader::read() {
  readHeader();
  for (std::string_view found = scanner_.word(); !found.empty(); found = scanner_.word()) {
    const std::string keyword = upper(found);
    auto isOneOf = [&](std::initializer_list<std::string_view> names) {
      return std::find(names.begin(), names.end(), keyword) != names.end();
    };
    if (keyword == "METADATA") {
      skipMetadata();
    } else if (isOneOf(
                   {"POINTS", "CELLS", "CELL_TYPES", "VERTICES", "LINES", "POLYGONS", "TRIANGLE_STRIPS"})) {
      readGeometry(keyword);
    } else if (keyword == "CELL_DATA" || keyword == "POINT_DATA") {
      target_ = keyword == "CELL_DATA" ? Target::Cells : Target::Points;
      targetCount_ = readCount("the number of values");
    } else if (keyword == "FIELD" && target_ == Target::None) {
      readField(false);
    } else if (target_ != Target::None && isOneOf({"SCALARS", "COLOR_SCALARS", "LOOKUP_TABLE", "VECTORS",
                                                   "NORMALS", "TEXTURE_COORDINATES", "TENSORS", "TENSORS6",
                                                   "FIELD", "GLOBAL_IDS", "PEDIGREE_IDS", "EDGE_FLAGS"})) {
      readAttribute(keyword);
    } else {
      throw scanner_.expected("a section of a VTK file", found);
    }
  }
  if (!hasPoints_) throw scanner_.error("there are no POINTS");
  if (!polyData_ && hasCells_ && !hasTypes_) throw scanner_.error("there are CELLS, but no CELL_TYPES");
  if (polyData_)
    for (VtkCells& section : sections_) {
      const auto base = static_cast<int64_t>(piece_.cells.connectivity.size());
      for (size_t c = 0; c < section.count(); ++c)
        piece_.cells.offsets.push_back(section.offsets[c + 1] + base);
      auto append = [](auto& all, const auto& more) { all.insert(all.end(), more.begin(), more.end()); };
      append(piece_.cells.connectivity, section.connectivity);
      append(piece_.cells.types, section.types);
      if (section.count() > 0) piece_.cells.place = section.place;
    }
  CellSoup soup;
  addPiece(soup, std::move(piece_), scanner_.name());
  return toMeshFile(std::move(soup), MeshFormat::VtkLegacy);
}

}  // namespace

MeshFile readVtkLegacy(Bytes bytes, const std::string& name) {
  return LegacyReader({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, name).read();
}

}  // namespace sunder::meshio
