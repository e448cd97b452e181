#include "sunder/sdf/voxel/voxelize.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>

#include <fmt/format.h>

namespace sunder::sdf {

namespace {

constexpr int64_t kUnit = 256;                        // steps of a voxel
constexpr double kFarthest = double(1 << 28);         // in steps: differences stay below 2^29, products 2^58
constexpr int64_t kShortProducts = int64_t(1) << 20;  // triangles up to this size need no wide products

__extension__ using Wide = __int128;

using Snapped = std::array<int32_t, 3>;

// Of the integers, the largest that is not above a / b; b > 0.
template <class Int>
Int floorDivide(Int a, Int b) {
  const Int quotient = a / b;
  return quotient - Int(quotient * b > a);
}

// First and last voxel with its centre in [low, high].
int64_t firstCentre(int64_t low) { return (low - kUnit / 2 + kUnit - 1) >> 8; }
int64_t lastCentre(int64_t high) { return (high - kUnit / 2) >> 8; }

// Axis a is swept; b and c, in cyclic order, span the columns.
struct Sweep {
  VoxelGrid& grid;
  size_t a, b, c;
  size_t slabAxis;  // b or c, never x: two slabs share no word

  void mark(int64_t m, uint32_t column, uint32_t row) const {
    if (m < 0) return;
    std::array<uint32_t, 3> voxel;
    voxel[a] = uint32_t(std::min<int64_t>(m, int64_t(grid.dims()[a]) - 1));
    voxel[b] = column;
    voxel[c] = row;
    grid.row(voxel[1], voxel[2])[voxel[0] / 64] ^= uint64_t(1) << (voxel[0] % 64);
  }

  // Marks the covered ones of the columns range = {first, end along b, first, end along c}.
  template <class Int>
  void rasterize(const std::array<Snapped, 3>& corner, const std::array<int64_t, 3>& normal,
                 const std::array<int64_t, 4>& range) const {
    // Edge functions at column centres, in steps squared. A centre on an edge (function 0) is inside where
    // the edge is owned: its inward normal points up along b, or has no part along b and points down c.
    const int64_t sign = normal[0] > 0 ? 1 : -1;
    int64_t value[3], alongB[3], alongC[3];
    const int64_t startB = range[0] * kUnit + kUnit / 2, startC = range[2] * kUnit + kUnit / 2;
    for (size_t i = 0; i < 3; ++i) {
      const Snapped &from = corner[i], &to = corner[(i + 1) % 3];
      const int64_t inB = -sign * (int64_t(to[c]) - from[c]), inC = sign * (int64_t(to[b]) - from[b]);
      const bool owned = inB > 0 || (inB == 0 && inC < 0);
      value[i] = inB * (startB - from[b]) + inC * (startC - from[c]) - int64_t(!owned);
      alongB[i] = inB * kUnit;
      alongC[i] = inC * kUnit;
    }
    const Int na = Int(sign) * normal[0], nb = Int(sign) * normal[1], nc = Int(sign) * normal[2];
    const int64_t base = int64_t(corner[0][a]) - kUnit / 2;
    const bool level = nb == 0 && nc == 0;  // no division for faces across the axis
    for (int64_t row = range[2]; row < range[3]; ++row) {
      int64_t e0 = value[0], e1 = value[1], e2 = value[2];
      for (int64_t column = range[0]; column < range[1]; ++column) {
        if ((e0 | e1 | e2) >= 0) {
          // The plane meets the column at base + 1/2 voxel + q / na; the last centre at or below that.
          const Int q = -(nb * (column * kUnit + kUnit / 2 - corner[0][b]) +
                          nc * (row * kUnit + kUnit / 2 - corner[0][c]));
          const auto rise = level ? int64_t(0) : int64_t(floorDivide(q, na));
          mark((base + rise) >> 8, uint32_t(column), uint32_t(row));
        }
        e0 += alongB[0];
        e1 += alongB[1];
        e2 += alongB[2];
      }
      for (size_t i = 0; i < 3; ++i) value[i] += alongC[i];
    }
  }

  void triangle(const std::array<Snapped, 3>& corner, int64_t slabBegin, int64_t slabEnd) const {
    const auto [lowB, highB] = std::minmax({corner[0][b], corner[1][b], corner[2][b]});
    const auto [lowC, highC] = std::minmax({corner[0][c], corner[1][c], corner[2][c]});
    std::array<int64_t, 4> range{firstCentre(lowB), lastCentre(highB) + 1, firstCentre(lowC),
                                 lastCentre(highC) + 1};
    const int64_t beginB = slabAxis == b ? slabBegin : 0, beginC = slabAxis == c ? slabBegin : 0;
    const int64_t endB = slabAxis == b ? slabEnd : int64_t(grid.dims()[b]);
    const int64_t endC = slabAxis == c ? slabEnd : int64_t(grid.dims()[c]);
    range = {std::max(range[0], beginB), std::min(range[1], endB), std::max(range[2], beginC),
             std::min(range[3], endC)};
    if (range[0] >= range[1] || range[2] >= range[3]) return;

    int64_t u[3], v[3];
    int64_t largest = 0;
    for (size_t d = 0; d < 3; ++d) {
      u[d] = int64_t(corner[1][d]) - corner[0][d];
      v[d] = int64_t(corner[2][d]) - corner[0][d];
      largest = std::max({largest, std::abs(u[d]), std::abs(v[d])});
    }
    const std::array<int64_t, 3> normal{u[b] * v[c] - u[c] * v[b], u[c] * v[a] - u[a] * v[c],
                                        u[a] * v[b] - u[b] * v[a]};
    if (normal[0] == 0) return;
    // The dividend is at most 4 * largest^3: a covered centre is in the triangle's rectangle.
    if (largest < kShortProducts)
      rasterize<int64_t>(corner, normal, range);
    else
      rasterize<Wide>(corner, normal, range);
  }

  // bit = XOR of the marks at and above it along the axis; for the rows in a slab.
  void fill(uint32_t slabBegin, uint32_t slabEnd) const {
    const uint32_t ny = grid.dims()[1], nz = grid.dims()[2];
    if (a == 0) {
      for (uint32_t k = slabBegin; k < slabEnd; ++k)
        for (uint32_t j = 0; j < ny; ++j) fillRow(grid.row(j, k));
    } else if (a == 1) {
      for (uint32_t k = slabBegin; k < slabEnd; ++k)
        for (uint32_t j = ny - 1; j-- > 0;) join(grid.row(j, k), grid.row(j + 1, k));
    } else {
      for (uint32_t k = nz - 1; k-- > 0;)
        for (uint32_t j = slabBegin; j < slabEnd; ++j) join(grid.row(j, k), grid.row(j, k + 1));
    }
  }

  static void join(std::span<uint64_t> row, std::span<const uint64_t> above) {
    for (size_t w = 0; w < row.size(); ++w) row[w] ^= above[w];
  }

  static void fillRow(std::span<uint64_t> row) {
    uint64_t above = 0;  // all ones where an odd number of marks is in higher words
    for (size_t w = row.size(); w-- > 0;) {
      uint64_t s = row[w];
      for (unsigned shift = 1; shift < 64; shift *= 2) s ^= s >> shift;
      row[w] = s ^ above;
      above = uint64_t(0) - (row[w] & 1);
    }
  }
};

std::vector<Snapped> snap(const geometry::TriMesh& mesh, const VoxelFrame& frame) {
  std::vector<Snapped> snapped(mesh.positions.size());
  const double scale = double(kUnit) / frame.edge;
  parallelFor(snapped.size(), [&](size_t i) {
    for (int d = 0; d < 3; ++d) {
      const double steps = std::nearbyint((mesh.positions[i][d] - frame.origin[d]) * scale);
      if (!(std::abs(steps) <= kFarthest))
        throw Error(ErrorKind::Geometry,
                    fmt::format("vertex {} is not finite or too far from the voxel grid", i))
            .hint("vertices must be within 2^20 voxels of the grid's origin; take larger voxels");
      snapped[i][size_t(d)] = int32_t(steps);
    }
  });
  return snapped;
}

void checkTriangles(const geometry::TriMesh& mesh) {
  const size_t vertices = mesh.positions.size();
  for (size_t t = 0; t < mesh.triangles.size(); ++t)
    for (const uint32_t v : mesh.triangles[t])
      if (v >= vertices)
        throw Error(ErrorKind::Usage,
                    fmt::format("triangle {} refers to vertex {}, but there are only {}", t, v, vertices));
}

size_t shortestSide(const std::vector<Snapped>& points) {
  Snapped low{}, high{};
  if (!points.empty()) low = high = points[0];
  for (const Snapped& p : points) {
    for (size_t d = 0; d < 3; ++d) {
      low[d] = std::min(low[d], p[d]);
      high[d] = std::max(high[d], p[d]);
    }
  }
  size_t axis = 0;
  for (size_t d = 1; d < 3; ++d)
    if (int64_t(high[d]) - low[d] < int64_t(high[axis]) - low[axis]) axis = d;
  return axis;
}

VoxelGrid sweep(const geometry::TriMesh& mesh, const std::vector<Snapped>& points, const VoxelFrame& frame,
                size_t axis) {
  VoxelGrid grid(frame);
  if (grid.words().empty()) return grid;
  const size_t slabAxis = axis == 2 ? 1 : 2;
  const Sweep sweep{grid, axis, (axis + 1) % 3, (axis + 2) % 3, slabAxis};
  // As many slabs as threads: each goes through all triangles. XOR makes any division give the same bits.
  const uint32_t side = frame.dims[slabAxis];
  const uint32_t slabs = std::min({threadCount(), 16u, side});
  parallelFor(
      slabs,
      [&](size_t slab) {
        const auto begin = uint32_t(side * slab / slabs), end = uint32_t(side * (slab + 1) / slabs);
        for (const geometry::Triangle& t : mesh.triangles)
          sweep.triangle({points[t[0]], points[t[1]], points[t[2]]}, begin, end);
        sweep.fill(begin, end);
      },
      1);
  return grid;
}

}  // namespace

VoxelGrid voxelize(const geometry::TriMesh& mesh, const VoxelFrame& frame, SweepAxis axis) {
  checkTriangles(mesh);
  const std::vector<Snapped> points = snap(mesh, frame);
  return sweep(mesh, points, frame, axis == SweepAxis::Automatic ? shortestSide(points) : size_t(axis));
}

VotedVoxels voxelizeByVote(const geometry::TriMesh& mesh, const VoxelFrame& frame) {
  checkTriangles(mesh);
  const std::vector<Snapped> points = snap(mesh, frame);
  VotedVoxels result{sweep(mesh, points, frame, 0)};
  const VoxelGrid second = sweep(mesh, points, frame, 1), third = sweep(mesh, points, frame, 2);
  const std::span<uint64_t> x = result.grid.words();
  for (size_t w = 0; w < x.size(); ++w) {
    const uint64_t y = second.words()[w], z = third.words()[w];
    result.differing += size_t(std::popcount((x[w] ^ y) | (x[w] ^ z)));
    x[w] = (x[w] & y) | (x[w] & z) | (y & z);
  }
  return result;
}

}  // namespace sunder::sdf
