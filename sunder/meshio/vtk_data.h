// What the two VTK formats share: arrays of numbers as they lie in the file, cells by offsets and types, and
// how both become points, faces and tetrahedra. Private to the room.
//
// Cell data that gives regions and groups is found by name: "region" and "group" as our writers have them,
// then the names that Gmsh, meshio and others use (kRegionNames in vtk_data.cpp).
#pragma once

#include "sunder/meshio/cell_soup.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sunder::meshio {

enum class VtkScalar : uint8_t { Int8, UInt8, Int16, UInt16, Int32, UInt32, Int64, UInt64, Float32, Float64 };

size_t sizeOf(VtkScalar type);
inline bool isReal(VtkScalar type) { return type >= VtkScalar::Float32; }

// Numbers of one type and byte order, owned or in the mapped file. Moving keeps `bytes` valid, copying would
// not.
struct VtkArray {
  std::string name;
  VtkScalar type = VtkScalar::Float64;
  size_t components = 1;
  bool swap = false;   // not in this machine's byte order
  uint64_t place = 0;  // byte in the file, for messages
  Bytes bytes;
  std::vector<std::byte> storage;

  VtkArray() = default;
  VtkArray(VtkArray&&) = default;
  VtkArray& operator=(VtkArray&&) = default;

  size_t count() const { return bytes.size() / sizeOf(type); }
  size_t tuples() const { return count() / components; }
};

std::vector<double> toDoubles(const VtkArray& array);
// Throws Error (Format) for an array of floating-point numbers. Unsigned 64-bit numbers above the signed
// range turn negative, so that a range check refuses them.
std::vector<int64_t> toIntegers(const VtkArray& array, const std::string& fileName);
// Tags, also from floating-point numbers; nothing when one of them is no 32-bit integer.
std::optional<std::vector<int32_t>> toTags(const VtkArray& array);

// Cell c has the points connectivity[offsets[c]] .. connectivity[offsets[c+1]-1].
struct VtkCells {
  std::vector<int64_t> offsets{0};
  std::vector<int64_t> connectivity;
  std::vector<uint8_t> types;
  uint64_t place = 0;  // byte of the connectivity in the file, for messages

  size_t count() const { return offsets.size() - 1; }
};

// Cell types by VTK's numbers, those the readers name.
inline constexpr uint8_t kVtkPolyVertex = 2, kVtkPolyLine = 4, kVtkTriangle = 5, kVtkStrip = 6,
                         kVtkPolygon = 7, kVtkQuad = 9, kVtkTetra = 10;

// One data set, or one piece of one.
struct VtkPiece {
  std::vector<Vec3> points;
  VtkCells cells;
  std::vector<VtkArray> cellData;   // each with one tuple per cell
  std::vector<VtkArray> pointData;  // each with one tuple per point
};

// Positions from an array of 3 * n finite numbers; Error (Format) that names the point otherwise.
std::vector<Vec3> toPositions(const VtkArray& array, const std::string& fileName);

// Whether an array of this name can matter to us; others need not be decoded.
bool usefulCellData(std::string_view name);
bool usefulPointData(std::string_view name);

// Checks offsets and point indices and adds the piece's points and cells. Attributes of later pieces must be
// there in earlier ones too, otherwise they are dropped.
void addPiece(CellSoup& soup, VtkPiece&& piece, const std::string& fileName);

}  // namespace sunder::meshio
