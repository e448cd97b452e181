// Boundary density of a solid for fluid (boundary_quadrature.h has the model), precomputed: value and
// gradient at any point for some ten nanoseconds, without boundary particles. Follows Koschier and Bender
// 2017: cubic Serendipity cells on a regular grid, kept only where the surface is near; beyond the source,
// faces of cells have a function more (serendipity.h). Each kept cell has its 40 values in one piece, three
// cache lines a question.
//
// Beyond (2 - offset) supports from the surface the map is zero. Deeper inside than the support and than
// three cells it continues with the straight profile 1 - offset - Phi/r, its gradient always of length 1/r
// towards the inside, so that a particle that has tunnelled is still pushed out. The map is continuous but
// for the border of that deep part (where it meets kinks of Phi) and the border of the domain; its gradient
// jumps over faces of cells by about its error. Near the end of its reach it may fall below zero by its
// error.
//
// Immutable after construction: share one map by shared_ptr among all bodies of a shape and ask in the frame
// of each body. Values are the same for any number of threads and on every vector target.
//
// Walls thinner than two supports: the map pushes to the nearer side, as it does everywhere, but its top is
// lower than that of a thick wall, and where it is below 1 fluid passes without any pressure. Thin places are
// counted (DensityMapReport), thinWallOffset() says with which offset such a wall holds.
//
// Cost: see docs/fluids.md. Memory: 160 bytes a kept cell, 16 a deep one, 4 for every cell of the grid.
#pragma once

#include "sunder/base/box.h"
#include "sunder/base/math.h"
#include "sunder/fluid/boundary/boundary.h"
#include "sunder/sdf/field.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace sunder::fluid {

struct DensityMapSettings {
  double support = 0;   // kernel support radius r of the fluid
  double cell = 0;      // edge, at most the support; 0: half of the support
  double offset = 0.5;  // in supports, 0 to 1. 0.5 puts the effective wall on the geometry, 0 is the source's
  bool outside = false;  // the solid is what lies outside of the field's surface (tanks)
};

struct DensityMapReport {
  std::array<uint32_t, 3> cells{};  // of the grid
  size_t keptCells = 0, deepCells = 0;
  size_t fieldQueries = 0;  // distances asked of the field
  size_t planeNodes = 0;    // by the closed form: the field is linear in the ball around
  size_t nodes = 0;         // by quadrature
  // Where the solid is thinner than two supports: points of a lattice of a third of a cell next to the middle
  // of such walls, the least thickness (exact for plates along an axis) and where that is. Wedges sharper
  // than about 75 degrees count as thin.
  size_t thinPlaces = 0;
  double thinnest = 0;
  Vec3 thinnestAt = Vec3::Zero();
};

// The largest offset, at most 1/2, with which the middle of a plate of that thickness has a boundary density
// of 1.1, above that of fluid at rest: the plate then stops even a lone particle. Fluid keeps the more
// distance from the plate the smaller the offset is.
double thinWallOffset(double thickness, double support);

namespace kernels {
struct MapView;
}

struct alignas(32) MapCell {
  float values[40];  // in the order of serendipity.h
};

class DensityMap : public BoundaryMap {
 public:
  // `domain`: where particles may ask; the map is cut to the part of it that the solid reaches. For a tank
  // make it larger than the tank by what particles may tunnel. All threads. Throws Error (Usage) for
  // settings or a domain that make no sense, (Limit) for more than kMostCells.
  DensityMap(const sdf::Field& field, const Box3& domain, const DensityMapSettings& settings);

  static constexpr uint64_t kMostCells = uint64_t(1) << 26;

  // Value: boundary density / rest density; gradient of it with respect to the point, 1/m. Points and
  // results in the frame of the body: (x, y, z, anything) -> (gx, gy, gz, value). In the calling thread.
  // Points outside of bounds() and points that are not finite have zero. Throws Error (Usage) where the
  // spans differ in size.
  void samples(std::span<const Vec4f> points, std::span<Vec4f> out) const override;
  // The value alone, as a density solver asks in every iteration; the same bits.
  void values(std::span<const Vec4f> points, std::span<float> out) const override;

  Box3 bounds() const override {
    return bounds_;
  }  // outside of it the map is zero; empty for a map without cells
  size_t bytes() const;
  const DensityMapReport& report() const { return report_; }
  const DensityMapSettings& settings() const { return settings_; }  // with the cell that was taken

 private:
  kernels::MapView view() const;

  DensityMapSettings settings_;
  DensityMapReport report_;
  Box3 bounds_;
  std::vector<int32_t> codes_;  // by cell, along x first; see density_map_kernel.h
  std::vector<MapCell> nodes_;  // of kept cells
  std::vector<Vec4f> deep_;     // gradient and value at the centre of deep cells
};

// A half-space normal . p <= offset, by the closed form: no grid, no bounds, exact. For floors.
class PlaneMap : public BoundaryMap {
 public:
  // The normal need not be of unit length (the plane's offset is then scaled alike). `settings.outside`
  // turns the plane around, the cell is not used. Throws Error (Usage) as DensityMap does.
  PlaneMap(const Vec3& normal, double planeOffset, const DensityMapSettings& settings);

  void samples(std::span<const Vec4f> points, std::span<Vec4f> out) const override;
  void values(std::span<const Vec4f> points, std::span<float> out) const override;

  Box3 bounds() const override { return {Vec3::Constant(-Box3::kInfinity), Vec3::Constant(Box3::kInfinity)}; }

 private:
  Vec3 slope_;  // of t = Phi/r + offset
  double constant_;
};

}  // namespace sunder::fluid
