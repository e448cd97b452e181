// What collision detection sees of a mesh, for the page: boxes of a level of its tree, spheres of a level of
// a sphere tree over its surface and inside, a slice through its exact distance field. Little-endian numbers;
// viewer/src/inspect.ts has the other side.
//
// Trees and field are made when first asked for and kept. Cost of the first question: some 10 ms for 10,000
// triangles; of a slice kSliceCells^2 exact distances.
#pragma once

#include "sunder/record/recording.h"

#include <cstdint>
#include <memory>
#include <string>

namespace sunder::show {

class Overlay {
 public:
  explicit Overlay(const record::MeshEntry& mesh);
  ~Overlay();

  // u32 levels, u32 count, then floats: lower and upper corner of each box; levels beyond the last are the
  // last.
  std::string boxes(uint32_t level);
  // u32 levels, u32 count, then floats: centre and radius of each sphere.
  std::string spheres(uint32_t level);
  // Across an axis, at a share (0 to 1) of the grown box of the mesh: u32 cells along each side, u32 axis,
  // floats: position, lower and upper corner of the square (three each), then the distances, row by row; the
  // columns go along the next axis, the rows along the one after. Throws Error (Usage) for an axis beyond 2.
  std::string slice(uint32_t axis, double share);
  static constexpr uint32_t kSliceCells = 128;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sunder::show
