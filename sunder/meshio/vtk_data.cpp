#include "sunder/meshio/vtk_data.h"

#include "sunder/base/bytes.h"
#include "sunder/base/parallel.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>

namespace sunder::meshio {

namespace {

constexpr std::string_view kGroupName = "group";
constexpr std::array<std::string_view, 9> kRegionNames = {"region",           "gmsh:physical", "medit:ref",
                                                          "gmsh:geometrical", "CellEntityIds", "MaterialId",
                                                          "MaterialIds",      "material_id",   "attribute"};

template <class Function>
void withType(VtkScalar type, Function&& function) {
  switch (type) {
    case VtkScalar::Int8:
      return function(int8_t{});
    case VtkScalar::UInt8:
      return function(uint8_t{});
    case VtkScalar::Int16:
      return function(int16_t{});
    case VtkScalar::UInt16:
      return function(uint16_t{});
    case VtkScalar::Int32:
      return function(int32_t{});
    case VtkScalar::UInt32:
      return function(uint32_t{});
    case VtkScalar::Int64:
      return function(int64_t{});
    case VtkScalar::UInt64:
      return function(uint64_t{});
    case VtkScalar::Float32:
      return function(float{});
    case VtkScalar::Float64:
      return function(double{});
  }
}

// out[i] = convert(value i)
template <class Out, class Convert>
void convertAll(const VtkArray& array, Out* out, Convert&& convert) {
  withType(array.type, [&](auto zero) {
    using T = decltype(zero);
    const std::byte* const data = array.bytes.data();
    parallelFor(
        array.count(), [&](size_t i) { out[i] = convert(loadValue<T>(data + i * sizeof(T), array.swap)); },
        size_t(1) << 15);
  });
}

bool sameWord(std::string_view a, std::string_view b) {
  auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

bool isOneOf(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view n) { return sameWord(name, n); });
}
bool namesNormals(std::string_view name) { return isOneOf(name, {"normals", "normal"}); }
bool namesUvs(std::string_view name) {
  return isOneOf(name, {"uv", "tcoords", "texturecoordinates", "texture coordinates"});
}
bool namesColours(std::string_view name) {
  return isOneOf(name, {"colour", "colours", "color", "colors", "rgb", "rgba"});
}

const VtkArray* findArray(const std::vector<VtkArray>& arrays, std::string_view name) {
  for (const VtkArray& a : arrays)
    if (a.name == name && a.components == 1) return &a;
  return nullptr;
}

std::string_view typeName(uint8_t type) {
  switch (type) {
    case 0:
      return "empty";
    case 1:
      return "vertex";
    case kVtkPolyVertex:
      return "poly-vertex";
    case 3:
      return "line";
    case kVtkPolyLine:
      return "poly-line";
    case 11:
      return "voxel";
    case 12:
      return "hexahedron";
    case 13:
      return "wedge";
    case 14:
      return "pyramid";
    case 21:
      return "quadratic edge";
    case 25:
      return "quadratic hexahedron";
    case 26:
      return "quadratic wedge";
    case 27:
      return "quadratic pyramid";
    case 42:
      return "polyhedron";
    default:
      return {};
  }
}

// How many points a cell of the type has at least; for the first three kinds also at most.
size_t fewestPoints(uint8_t type) {
  switch (type) {
    case kVtkTriangle:
      return 3;
    case 8:
      return 4;  // pixel
    case kVtkQuad:
      return 4;
    case kVtkTetra:
      return 4;
    case 22:
      return 6;  // quadratic triangle
    case 23:
      return 8;  // quadratic quad
    case 24:
      return 10;  // quadratic tetrahedron
    default:
      return 0;
  }
}

Error formatError(std::string message, const std::string& fileName, uint64_t place) {
  return Error(ErrorKind::Format, std::move(message)).inFile(fileName).atByte(place);
}

void checkCells(const VtkCells& cells, size_t pointCount, const std::string& fileName) {
  const int64_t total = static_cast<int64_t>(cells.connectivity.size());
  if (cells.types.size() != cells.count())
    throw formatError("there are " + std::to_string(cells.count()) + " cells, but " +
                          std::to_string(cells.types.size()) + " cell types",
                      fileName, cells.place);
  const size_t badOffset = firstBad(cells.count(), [&](size_t c) {
    return cells.offsets[c] < 0 || cells.offsets[c + 1] < cells.offsets[c] || cells.offsets[c + 1] > total;
  });
  if (badOffset < cells.count())
    throw formatError("the offsets of cell " + std::to_string(badOffset) +
                          " are out of order or beyond the " + std::to_string(total) +
                          " entries of the connectivity",
                      fileName, cells.place);
  const size_t badPoint = firstBad(cells.connectivity.size(), [&](size_t i) {
    return cells.connectivity[i] < 0 || static_cast<uint64_t>(cells.connectivity[i]) >= pointCount;
  });
  if (badPoint < cells.connectivity.size()) {
    const auto after =
        std::upper_bound(cells.offsets.begin(), cells.offsets.end(), static_cast<int64_t>(badPoint));
    throw formatError("cell " + std::to_string(after - cells.offsets.begin() - 1) + " refers to point " +
                          std::to_string(cells.connectivity[badPoint]) + ", but there are only " +
                          std::to_string(pointCount),
                      fileName, cells.place)
        .hint("points count from 0");
  }
  const size_t badCell = firstBad(cells.count(), [&](size_t c) {
    return static_cast<uint64_t>(cells.offsets[c + 1] - cells.offsets[c]) < fewestPoints(cells.types[c]);
  });
  if (badCell < cells.count())
    throw formatError("cell " + std::to_string(badCell) + " of type " + std::to_string(cells.types[badCell]) +
                          " needs " + std::to_string(fewestPoints(cells.types[badCell])) +
                          " points and has " +
                          std::to_string(cells.offsets[badCell + 1] - cells.offsets[badCell]),
                      fileName, cells.place);
}

// Tags only count when every cell of the kind has one: pieces without them end them for the whole file.
void addTags(std::vector<int32_t>& tags, std::vector<int32_t>&& more, size_t before, bool have) {
  if (tags.size() != before || !have) {
    tags.clear();
    return;
  }
  tags.insert(tags.end(), more.begin(), more.end());
}

std::optional<std::vector<int32_t>> tagsNamed(const VtkPiece& piece, std::string_view name, CellSoup& soup) {
  const VtkArray* array = findArray(piece.cellData, name);
  if (!array || array->count() != piece.cells.count()) return {};
  auto tags = toTags(*array);
  if (!tags)
    soup.notes.push_back("cell data '" + array->name + "' holds other things than 32-bit integers: left out");
  return tags;
}

void addCells(CellSoup& soup, const VtkPiece& piece, uint32_t base, const std::string& fileName) {
  const VtkCells& cells = piece.cells;
  std::optional<std::vector<int32_t>> regions;
  for (const std::string_view name : kRegionNames)
    if (!regions) regions = tagsNamed(piece, name, soup);
  std::optional<std::vector<int32_t>> groups = tagsNamed(piece, kGroupName, soup);
  if (!groups) groups = regions;

  const size_t tetsBefore = soup.tets.size(), facesBefore = soup.faceCount();
  std::vector<int32_t> tetTags, faceTags;
  const size_t tetCount = static_cast<size_t>(std::count(cells.types.begin(), cells.types.end(), kVtkTetra));
  soup.tets.reserve(tetsBefore + tetCount);
  if (regions) tetTags.reserve(tetCount);
  // A strip of n points becomes n - 2 triangles, the largest growth there is.
  checkElementLimit(soup.corners.size() + 3 * cells.connectivity.size(), "corners", fileName);

  std::map<uint8_t, uint64_t> skipped;
  std::vector<uint32_t> corners;
  auto addFace = [&](std::initializer_list<size_t> which, const int64_t* points, size_t cell) {
    corners.clear();
    for (const size_t w : which) corners.push_back(base + static_cast<uint32_t>(points[w]));
    soup.addFace(corners);
    if (groups) faceTags.push_back((*groups)[cell]);
  };
  uint64_t strips = 0, thin = 0;
  for (size_t c = 0; c < cells.count(); ++c) {
    const int64_t* const points = cells.connectivity.data() + cells.offsets[c];
    const size_t n = static_cast<size_t>(cells.offsets[c + 1] - cells.offsets[c]);
    const uint8_t type = cells.types[c];
    if (type >= 22 && type <= 24) ++soup.higherOrder;
    switch (type) {
      case kVtkTetra:
      case 24: {
        auto at = [&](size_t i) { return base + static_cast<uint32_t>(points[i]); };
        soup.tets.push_back({at(0), at(1), at(2), at(3)});
        if (regions) tetTags.push_back((*regions)[c]);
        break;
      }
      case kVtkTriangle:
      case 22:
        addFace({0, 1, 2}, points, c);
        break;
      case kVtkQuad:
      case 23:
        addFace({0, 1, 2, 3}, points, c);
        break;
      case 8:
        addFace({0, 1, 3, 2}, points, c);
        break;
      case kVtkStrip:
        ++strips;
        for (size_t i = 0; i + 2 < n; ++i)
          if (i % 2 == 0)
            addFace({i, i + 1, i + 2}, points, c);
          else
            addFace({i + 1, i, i + 2}, points, c);
        break;
      case kVtkPolygon:
        if (n < 3) {
          ++thin;
          break;
        }
        corners.clear();
        for (size_t i = 0; i < n; ++i) corners.push_back(base + static_cast<uint32_t>(points[i]));
        soup.addFace(corners);
        if (groups) faceTags.push_back((*groups)[c]);
        break;
      default:
        ++skipped[type];
        break;
    }
  }
  for (const auto& [type, count] : skipped) {
    const std::string_view known = typeName(type);
    soup.skipped[known.empty() ? std::to_string(int(type)) : std::string(known)] += count;
  }
  if (strips > 0) soup.notes.push_back("triangle strips split into triangles: " + std::to_string(strips));
  if (thin > 0) soup.notes.push_back("polygons of fewer than 3 corners left out: " + std::to_string(thin));
  if (soup.tets.size() > tetsBefore)
    addTags(soup.tetTags, std::move(tetTags), tetsBefore, regions.has_value());
  if (soup.faceCount() > facesBefore)
    addTags(soup.faceTags, std::move(faceTags), facesBefore, groups.has_value());
}

template <class Vector>
void addPointData(std::vector<Vector>& all, std::vector<Vector>&& more, size_t before, size_t after) {
  if (all.size() != before || before + more.size() != after)
    all.clear();
  else if (all.empty())
    all = std::move(more);
  else
    all.insert(all.end(), more.begin(), more.end());
}

void addAttributes(CellSoup& soup, const VtkPiece& piece, size_t before) {
  std::vector<Vec3> normals;
  std::vector<Vec2> uvs;
  std::vector<Vec4f> colours;
  const size_t n = piece.points.size();
  auto finite = [](const std::vector<double>& v) {
    return firstBad(v.size(), [&](size_t i) { return !std::isfinite(v[i]); }) == v.size();
  };
  for (const VtkArray& a : piece.pointData) {
    if (a.tuples() != n || a.count() != n * a.components) continue;
    const bool isNormals = namesNormals(a.name) && a.components == 3 && normals.empty();
    const bool isUvs = namesUvs(a.name) && (a.components == 2 || a.components == 3) && uvs.empty();
    const bool isColours =
        namesColours(a.name) && (a.components == 3 || a.components == 4) && colours.empty();
    if (!isNormals && !isUvs && !isColours) continue;
    const std::vector<double> v = toDoubles(a);
    if (!finite(v)) {
      soup.notes.push_back("point data '" + a.name + "' is not finite everywhere: left out");
      continue;
    }
    const size_t k = a.components;
    if (isNormals) {
      normals.resize(n);
      for (size_t i = 0; i < n; ++i) normals[i] = Vec3(v[3 * i], v[3 * i + 1], v[3 * i + 2]);
    } else if (isUvs) {
      uvs.resize(n);
      for (size_t i = 0; i < n; ++i) uvs[i] = Vec2(v[k * i], v[k * i + 1]);
    } else {
      const double largest = a.type == VtkScalar::UInt8 ? 255.0 : a.type == VtkScalar::UInt16 ? 65535.0 : 1.0;
      colours.assign(n, Vec4f::Ones());
      for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < k; ++j)
          colours[i][Eigen::Index(j)] = static_cast<float>(std::clamp(v[k * i + j] / largest, 0.0, 1.0));
    }
  }
  addPointData(soup.pointNormals, std::move(normals), before, before + n);
  addPointData(soup.pointUvs, std::move(uvs), before, before + n);
  addPointData(soup.pointColours, std::move(colours), before, before + n);
}

}  // namespace

size_t sizeOf(VtkScalar type) {
  size_t size = 0;
  withType(type, [&](auto zero) { size = sizeof(zero); });
  return size;
}

std::vector<double> toDoubles(const VtkArray& array) {
  std::vector<double> values(array.count());
  convertAll(array, values.data(), [](auto v) { return static_cast<double>(v); });
  return values;
}

std::vector<int64_t> toIntegers(const VtkArray& array, const std::string& fileName) {
  if (isReal(array.type))
    throw formatError("array '" + array.name + "' must hold integers", fileName, array.place);
  std::vector<int64_t> values(array.count());
  convertAll(array, values.data(), [](auto v) {
    if constexpr (std::is_integral_v<decltype(v)>)
      return static_cast<int64_t>(v);
    else
      return int64_t(0);
  });
  return values;
}

std::optional<std::vector<int32_t>> toTags(const VtkArray& array) {
  const std::vector<double> values = toDoubles(array);
  constexpr double kLow = std::numeric_limits<int32_t>::min(), kHigh = std::numeric_limits<int32_t>::max();
  const size_t bad = firstBad(values.size(), [&](size_t i) {
    return !(values[i] >= kLow && values[i] <= kHigh) || values[i] != std::floor(values[i]);
  });
  if (bad < values.size()) return {};
  std::vector<int32_t> tags(values.size());
  parallelFor(values.size(), [&](size_t i) { tags[i] = static_cast<int32_t>(values[i]); });
  return tags;
}

std::vector<Vec3> toPositions(const VtkArray& array, const std::string& fileName) {
  static_assert(sizeof(Vec3) == 3 * sizeof(double));
  if (array.count() % 3 != 0)
    throw formatError(
        "there are " + std::to_string(array.count()) + " coordinates, which is no multiple of 3", fileName,
        array.place);
  std::vector<Vec3> positions(array.count() / 3);
  if (!positions.empty())
    convertAll(array, positions.front().data(), [](auto v) { return static_cast<double>(v); });
  const size_t bad = firstNotFinite(positions);
  if (bad < positions.size())
    throw formatError("coordinate is not finite (point " + std::to_string(bad) + ")", fileName, array.place);
  return positions;
}

bool usefulCellData(std::string_view name) {
  return name == kGroupName ||
         std::find(kRegionNames.begin(), kRegionNames.end(), name) != kRegionNames.end();
}

bool usefulPointData(std::string_view name) {
  return namesNormals(name) || namesUvs(name) || namesColours(name);
}

void addPiece(CellSoup& soup, VtkPiece&& piece, const std::string& fileName) {
  const size_t before = soup.positions.size();
  checkElementLimit(uint64_t(before) + piece.points.size(), "points", fileName);
  checkCells(piece.cells, piece.points.size(), fileName);
  addCells(soup, piece, static_cast<uint32_t>(before), fileName);
  addAttributes(soup, piece, before);
  if (before == 0)
    soup.positions = std::move(piece.points);
  else
    soup.positions.insert(soup.positions.end(), piece.points.begin(), piece.points.end());
}

}  // namespace sunder::meshio
