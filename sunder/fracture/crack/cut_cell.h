// What is left of a tetrahedron that cracks went through: a convex polyhedron, cut out by one linear function
// per crack. Exact where cracks cross, so that no material is lost (specification 07, M12).
//
// Corners are known by the planes they lie on, three each. A corner's place and the side of a further crack
// it is on follow from the vertices and cracks that make it, in an order that is the same in every
// tetrahedron: neighbours agree on them bit for bit, so pieces fit without gaps.
//
// Cost: below a microsecond a cut; one piece of memory a cell. Up to kMostCuts cuts.
#pragma once

#include "sunder/base/array/small_array.h"
#include "sunder/base/math.h"
#include "sunder/geometry/mesh.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace sunder::fracture {

// A crack through a tetrahedron: values of its function at the four vertices, none of them zero, and the side
// that this copy is on. Zero counts as positive.
struct Cut {
  uint32_t surface = 0;  // which crack; ascending within a tetrahedron
  int8_t side = 1;       // +1 or -1
  std::array<double, 4> phi{};
  bool operator==(const Cut&) const = default;
};

inline constexpr size_t kMostCuts = 60;
// Throws Error (Limit) for more than that.
void requireFewCuts(size_t cuts);

// What makes a corner: n + 1 vertices of the mesh and n cracks, both ascending, the rest kNoIndex.
struct CornerKey {
  std::array<uint32_t, 4> vertices;
  std::array<uint32_t, 3> surfaces;
  auto operator<=>(const CornerKey&) const = default;
};

struct CutCell {
  struct Corner {
    std::array<uint8_t, 3> planes;  // ascending: 0-3 faces of the tetrahedron, 4 + i its cut i
    CornerKey key;
    std::array<double, 4> weights;  // barycentric, in the order of the tetrahedron's vertices
    Vec3 position;
  };
  struct Face {
    uint8_t plane, count;  // how many corners
    uint16_t first;        // of them
  };
  std::array<uint8_t, 4> order{0, 1, 2, 3};  // the tetrahedron's vertices by ascending number
  std::vector<Corner> corners;
  SmallArray<Face, 10> faces;     // ascending planes
  SmallArray<uint8_t, 44> loops;  // corners of all faces, counter-clockwise seen from outside
  bool degenerate = false;        // rounding broke it somewhere; it was left larger there

  bool empty() const { return faces.empty(); }
  std::span<const uint8_t> cornersOf(const Face& face) const {
    return {loops.data() + face.first, face.count};
  }
  // The face on a plane, or nullptr.
  const Face* face(uint8_t plane) const;
  double volume() const;
  double area(const Face& face) const;
  // Of a function that is linear in the tetrahedron.
  double value(const Corner& corner, const std::array<double, 4>& phi) const;
};

// `vertices` are numbers, `positions` places of the vertices of a positive tetrahedron.
CutCell makeCell(const std::array<uint32_t, 4>& vertices, const std::array<Vec3, 4>& positions,
                 std::span<const Cut> cuts);
// The part of a cell on one side of a further crack, whose number is above those before. `cuts` are all, with
// the new one at the end. Both throw Error (Limit) for more than kMostCuts.
CutCell clipCell(const CutCell& cell, const std::array<uint32_t, 4>& vertices,
                 const std::array<Vec3, 4>& positions, std::span<const Cut> cuts);

// Local vertices by ascending number: sums over them are then the same in every tetrahedron.
std::array<uint8_t, 4> ascending(const std::array<uint32_t, 4>& vertices);
// The same cell where the tetrahedron's vertices have other numbers, in the same order.
void renumber(CutCell& cell, const std::array<uint32_t, 4>& before, const std::array<uint32_t, 4>& after);

// Whether a crack has corners of the cell on both of its sides.
bool crosses(const CutCell& cell, const std::array<double, 4>& phi);
// The same of one face of it.
bool crosses(const CutCell& cell, const CutCell::Face& face, const std::array<double, 4>& phi);

}  // namespace sunder::fracture
