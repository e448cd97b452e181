// Linear tetrahedra: gradients of the four shape functions, volumes, masses, closed-form stiffness
// (specification 07, M2).
//
//   K_ab = V [ lambda g_a g_b^T + mu g_b g_a^T + mu (g_a . g_b) 1 ]
//
// A tetrahedron may count for a fraction of its volume, as one that a crack cuts does: mass and stiffness
// are scaled. Memory is kept from one mesh to the next.
#pragma once

#include "sunder/fem/material.h"
#include "sunder/geometry/mesh.h"

#include <array>
#include <span>
#include <vector>

namespace sunder::fem {

struct Element {
  Vec3 gradient[4];  // of the shape function of each vertex
  double volume;     // times the fraction
};

// Throws Error (Geometry) with the number of the first tetrahedron that refers to a vertex that is not there,
// is inverted, or whose volume is below 1e-12 of the cube of its mean edge, and Error (Usage) where fractions
// are not one per tetrahedron, above 0 and at most 1. No fractions: all are 1.
void makeElements(const geometry::TetMesh& mesh, std::span<const double> fractions,
                  std::vector<Element>& elements);

// The 3x3 block of vertices a and b (0 to 3) of one tetrahedron.
Mat3 stiffnessBlock(const Element& element, const ElasticMaterial& material, int a, int b);

// How the mass of a tetrahedron is divided among its vertices, as of one that is there in part (fem/parts).
using MassShares = std::array<double, 4>;

// Throws Error (Usage) where shares are not one set per tetrahedron, not negative, that add up to 1 (1e-9).
void requireValid(std::span<const MassShares> shares, size_t tets);

// Of every vertex: its share of the mass of each of its tetrahedra, summed in their order. No shares: all are
// a quarter.
void lumpedMasses(const geometry::TetMesh& mesh, std::span<const Element> elements, double density,
                  std::span<const MassShares> shares, std::vector<double>& masses);

}  // namespace sunder::fem
