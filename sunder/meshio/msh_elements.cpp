#include "sunder/meshio/msh_elements.h"

namespace sunder::meshio {

namespace {

constexpr MshElementType kElementTypes[] = {
    {1, 2, 1, 0, "line"},          {2, 3, 2, 3, "triangle"},      {3, 4, 2, 4, "quadrangle"},
    {4, 4, 3, 4, "tetrahedron"},   {5, 8, 3, 0, "hexahedron"},    {6, 6, 3, 0, "prism"},
    {7, 5, 3, 0, "pyramid"},       {8, 3, 1, 0, "line"},          {9, 6, 2, 3, "triangle"},
    {10, 9, 2, 4, "quadrangle"},   {11, 10, 3, 4, "tetrahedron"}, {12, 27, 3, 0, "hexahedron"},
    {13, 18, 3, 0, "prism"},       {14, 14, 3, 0, "pyramid"},     {15, 1, 0, 0, "point"},
    {16, 8, 2, 4, "quadrangle"},   {17, 20, 3, 0, "hexahedron"},  {18, 15, 3, 0, "prism"},
    {19, 13, 3, 0, "pyramid"},     {20, 9, 2, 3, "triangle"},     {21, 10, 2, 3, "triangle"},
    {22, 12, 2, 3, "triangle"},    {23, 15, 2, 3, "triangle"},    {24, 15, 2, 3, "triangle"},
    {25, 21, 2, 3, "triangle"},    {26, 4, 1, 0, "line"},         {27, 5, 1, 0, "line"},
    {28, 6, 1, 0, "line"},         {29, 20, 3, 4, "tetrahedron"}, {30, 35, 3, 4, "tetrahedron"},
    {31, 56, 3, 4, "tetrahedron"}, {92, 64, 3, 0, "hexahedron"},  {93, 125, 3, 0, "hexahedron"},
};

}  // namespace

const MshElementType* mshElementType(int32_t type) {
  for (const MshElementType& t : kElementTypes)
    if (t.type == type) return &t;
  return nullptr;
}

}  // namespace sunder::meshio
