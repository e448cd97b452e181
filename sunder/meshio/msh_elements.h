// Gmsh's element types: how many nodes each has, which of them we keep. Corners come before all other nodes
// in every type (Gmsh reference manual, "Node ordering"). Private to the room.
#pragma once

#include <cstdint>
#include <string_view>

namespace sunder::meshio {

struct MshElementType {
  int type;
  int nodes;
  int dimension;
  int corners;  // of the cell we keep; 0 for types that are left out
  const char* name;
};

inline constexpr int kMshTriangle = 2, kMshQuad = 3, kMshTet = 4;

// Physical volumes called "region N" stand for region N: Gmsh's tags are positive, our regions need not be.
inline constexpr std::string_view kMshRegionName = "region ";

const MshElementType* mshElementType(int32_t type);  // nullptr for a type that is not in the manual

}  // namespace sunder::meshio
