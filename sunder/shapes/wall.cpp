#include "sunder/shapes/wall.h"

#include "sunder/base/error.h"
#include "sunder/shapes/fields.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace sunder::shapes {

namespace {

// Numbers the surface points of an (nx+1) x (ny+1) x (nz+1) grid, layer by layer in k. The end layers are
// whole grids, the others only their rims, counted around from (0, 0).
struct BoxGrid {
  uint32_t nx, ny, nz;

  uint32_t layerSize(uint32_t k) const { return k == 0 || k == nz ? (nx + 1) * (ny + 1) : 2 * (nx + ny); }
  uint32_t vertexCount() const { return 2 * (nx + 1) * (ny + 1) + (nz - 1) * 2 * (nx + ny); }
  uint32_t vertex(uint32_t i, uint32_t j, uint32_t k) const {
    const uint32_t below = k == 0 ? 0 : layerSize(0) + (k - 1) * 2 * (nx + ny);
    if (k == 0 || k == nz) return below + j * (nx + 1) + i;
    if (j == 0) return below + i;
    if (i == nx) return below + nx + j;
    if (j == ny) return below + nx + ny + (nx - i);
    return below + 2 * nx + ny + (ny - j);
  }
};

void addQuad(std::vector<geometry::Triangle>& triangles, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  triangles.push_back({a, b, c});
  triangles.push_back({a, c, d});
}

// A box from `lower` to `upper` with every edge cut at 45 degrees: three vertices at each corner, one per
// face.
void addBrick(geometry::TriMesh& mesh, const Vec3& lower, const Vec3& upper, double bevel) {
  const uint32_t base = static_cast<uint32_t>(mesh.positions.size());
  auto side = [&](uint32_t corner, int axis) { return (corner >> axis & 1u) != 0; };
  if (bevel == 0) {
    for (uint32_t c = 0; c < 8; ++c)
      mesh.positions.emplace_back(side(c, 0) ? upper.x() : lower.x(), side(c, 1) ? upper.y() : lower.y(),
                                  side(c, 2) ? upper.z() : lower.z());
    for (int axis = 0; axis < 3; ++axis) {
      const uint32_t u = 1u << ((axis + 1) % 3), v = 1u << ((axis + 2) % 3), w = 1u << axis;
      addQuad(mesh.triangles, base, base + v, base + u + v, base + u);
      addQuad(mesh.triangles, base + w, base + w + u, base + w + u + v, base + w + v);
    }
    return;
  }
  // Vertex 3 c + a: near corner c, on the face across axis a.
  for (uint32_t c = 0; c < 8; ++c)
    for (int face = 0; face < 3; ++face) {
      Vec3 p;
      for (int axis = 0; axis < 3; ++axis) {
        const double inset = axis == face ? 0.0 : bevel;
        p[axis] = side(c, axis) ? upper[axis] - inset : lower[axis] + inset;
      }
      mesh.positions.push_back(p);
    }
  auto vertex = [&](uint32_t corner, int face) { return base + 3 * corner + static_cast<uint32_t>(face); };
  for (int axis = 0; axis < 3; ++axis) {
    const int au = (axis + 1) % 3, av = (axis + 2) % 3;
    const uint32_t u = 1u << au, v = 1u << av, w = 1u << axis;
    addQuad(mesh.triangles, vertex(0, axis), vertex(v, axis), vertex(u + v, axis), vertex(u, axis));
    addQuad(mesh.triangles, vertex(w, axis), vertex(w + u, axis), vertex(w + u + v, axis),
            vertex(w + v, axis));
    // The four cut edges along this axis join a face across au with one across av.
    for (uint32_t at : {0u, u, v, u + v}) {
      const bool flip = (at == u || at == v);
      const uint32_t a = vertex(at, av), b = vertex(at, au), c = vertex(at + w, au), d = vertex(at + w, av);
      if (flip)
        addQuad(mesh.triangles, a, b, c, d);
      else
        addQuad(mesh.triangles, a, d, c, b);
    }
  }
  for (uint32_t c = 0; c < 8; ++c) {
    const bool flip = (side(c, 0) != side(c, 1)) != side(c, 2);
    if (flip)
      mesh.triangles.push_back({vertex(c, 0), vertex(c, 1), vertex(c, 2)});
    else
      mesh.triangles.push_back({vertex(c, 0), vertex(c, 2), vertex(c, 1)});
  }
}

}  // namespace

geometry::TriMesh makeBox(const BoxShape& shape) {
  checkFields("box", shape);
  const BoxGrid grid{static_cast<uint32_t>(shape.nx), static_cast<uint32_t>(shape.ny),
                     static_cast<uint32_t>(shape.nz)};
  const std::array<uint32_t, 3> cells{grid.nx, grid.ny, grid.nz};
  geometry::TriMesh mesh;
  mesh.positions.resize(grid.vertexCount());
  mesh.triangles.reserve(4 *
                         (size_t(grid.nx) * grid.ny + size_t(grid.ny) * grid.nz + size_t(grid.nz) * grid.nx));
  auto place = [&](const std::array<uint32_t, 3>& at) {
    const uint32_t v = grid.vertex(at[0], at[1], at[2]);
    // Counted from the middle, so that the two halves mirror each other to the last bit.
    for (int axis = 0; axis < 3; ++axis) {
      const size_t a = static_cast<size_t>(axis);
      const double twice = 2.0 * at[a] - cells[a];
      mesh.positions[v][axis] = 0.5 * shape.size[axis] * (twice / cells[a]);
    }
    return v;
  };
  for (size_t axis = 0; axis < 3; ++axis)
    for (const bool far : {false, true}) {
      const size_t au = (axis + 1) % 3, av = (axis + 2) % 3;
      auto vertex = [&](uint32_t u, uint32_t v) {
        std::array<uint32_t, 3> at{};
        at[axis] = far ? cells[axis] : 0;
        at[au] = u;
        at[av] = v;
        return place(at);
      };
      for (uint32_t v = 0; v < cells[av]; ++v)
        for (uint32_t u = 0; u < cells[au]; ++u) {
          const uint32_t a = vertex(u, v), b = vertex(u + 1, v), c = vertex(u + 1, v + 1),
                         d = vertex(u, v + 1);
          if (far)
            addQuad(mesh.triangles, a, b, c, d);
          else
            addQuad(mesh.triangles, a, d, c, b);
        }
    }
  return mesh;
}

geometry::TriMesh makeBrickWall(const BrickWallShape& s) {
  checkFields("brick-wall", s);
  if (!(s.gap < s.length))
    throw Error(ErrorKind::Usage,
                fmt::format("brick-wall: gap is {}, but must be less than length, {}", s.gap, s.length));
  const double half =
      0.5 * (s.length - s.gap);  // so that a joint of the next row meets the middle of a brick
  const double limit = 0.5 * std::min({half, s.height, s.depth});
  if (!(s.bevel < limit))
    throw Error(
        ErrorKind::Usage,
        fmt::format(
            "brick-wall: bevel is {}, but must be less than half the shortest side of a half brick, {}",
            s.bevel, limit));
  const double width = s.columns * s.length + (s.columns - 1) * s.gap;
  geometry::TriMesh mesh;
  for (int row = 0; row < s.rows; ++row) {
    const double bottom = row * (s.height + s.gap);
    auto brick = [&](double left, double length) {
      addBrick(mesh, {left - 0.5 * width, bottom, -0.5 * s.depth},
               {left - 0.5 * width + length, bottom + s.height, 0.5 * s.depth}, s.bevel);
    };
    if (row % 2 == 0) {
      for (int c = 0; c < s.columns; ++c) brick(c * (s.length + s.gap), s.length);
    } else {
      brick(0, half);
      for (int c = 0; c + 1 < s.columns; ++c) brick(half + s.gap + c * (s.length + s.gap), s.length);
      brick(width - half, half);
    }
  }
  return mesh;
}

void describe(ShapeFields& fields, BoxShape& s) {
  fields.length("width", s.size.x(), "size along x");
  fields.length("height", s.size.y(), "size along y");
  fields.length("depth", s.size.z(), "size along z");
  fields.integer("nx", s.nx, 1, kMostSegments, "cells along x");
  fields.integer("ny", s.ny, 1, kMostSegments, "cells along y");
  fields.integer("nz", s.nz, 1, kMostSegments, "cells along z");
}

void describe(ShapeFields& fields, BrickWallShape& s) {
  fields.integer("columns", s.columns, 1, 1000, "whole bricks in an unshifted row");
  fields.integer("rows", s.rows, 1, 1000, "rows of bricks");
  fields.length("length", s.length, "of a brick, along x");
  fields.length("height", s.height, "of a brick, along y");
  fields.length("depth", s.depth, "of a brick, along z");
  fields.number("gap", s.gap, 0, kLongest, "m", "between bricks and rows; 0 lets bricks touch");
  fields.number("bevel", s.bevel, 0, kLongest, "m", "cut off the edges; 0 for sharp ones");
}

}  // namespace sunder::shapes
