// The header of a PLY file (Turk, "The PLY Polygon File Format", 1994): which elements follow, with which
// properties, and how their numbers are stored. Private to the room.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sunder::meshio {

enum class PlyType : uint8_t { Int8, Uint8, Int16, Uint16, Int32, Uint32, Float, Double };
enum class PlyEncoding { Ascii, LittleEndian, BigEndian };

size_t sizeOf(PlyType type);
bool isFloating(PlyType type);
// What an integer colour is divided by to come out in 0..1; 1 for floating types.
double colourScale(PlyType type);

// What a property means to us.
enum class PlyRole : uint8_t { None, X, Y, Z, Nx, Ny, Nz, U, V, Red, Green, Blue, Alpha, Indices, WedgeUvs };

struct PlyProperty {
  std::string name;
  PlyType type = PlyType::Float;
  bool isList = false;
  PlyType countType = PlyType::Uint8;
  PlyRole role = PlyRole::None;
};

struct PlyElement {
  std::string name;
  uint64_t count = 0;
  std::vector<PlyProperty> properties;

  bool hasLists() const;
  bool has(PlyRole role) const;
  size_t rowBytes() const;  // the least a row takes in binary: a list counts as its length alone
  size_t offsetOf(size_t property) const;  // bytes before it in a row, likewise
};

struct PlyHeader {
  PlyEncoding encoding = PlyEncoding::Ascii;
  std::vector<PlyElement> elements;
  size_t bytes = 0;                  // where the data start
  uint64_t lines = 0;                // lines of the header
  std::vector<std::string> ignored;  // "element edge", "property vertex.quality"
};

PlyHeader readPlyHeader(std::string_view text, const std::string& name);

}  // namespace sunder::meshio
