// Normals, texture coordinates, colours and groups on the faces of a cut. Corners that the input had keep
// theirs bit for bit; new ones get the mean of the corners of the face they lie in, weighted by mean value
// coordinates (Floater 2003): barycentric coordinates for triangles, linear along edges, and defined for
// concave polygons too.
//
// What only one of the two meshes has is made for the other: normals of the face, texture coordinates in
// metres in the plane of the face, white, one group. Normals of lids that were turned over point outwards.
// O(corners of the result times corners of their faces).
#pragma once

#include "sunder/cut/kernel/types.h"

namespace sunder::cut {

// `mesh` and `cutter` are what the result was cut from.
void transferAttributes(const geometry::PolygonSoup& mesh, const geometry::PolygonSoup& cutter,
                        CutResult& result);

// Weights of the corners of a polygon that give back the point; they add up to 1.
std::vector<double> meanValueWeights(std::span<const Vec2> polygon, const Vec2& point);

}  // namespace sunder::cut
