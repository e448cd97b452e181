#include "sunder/fracture/pieces/rest_mesh.h"

#include "sunder/base/error.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/geometry/vector_area.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace sunder::fracture {

namespace {

constexpr double kCellsPerTet = 2;
constexpr uint32_t kMostRestCells = 256;  // along a side
constexpr size_t kMostSides = 32;         // planes looked at: round bodies have no flat sides

FieldErrors errorsOf(const rigid::Shape& shape) {
  return {shape.fieldError(), shape.fieldErrorFar(), shape.fieldErrorAt(2 * shape.fieldBand()),
          shape.fieldBand(), shape.fieldDomain()};
}

void requireOnePart(const geometry::TetMesh& mesh, std::span<const std::array<uint32_t, 4>> neighbours) {
  std::vector<double> volumes;  // of the parts
  std::vector<uint8_t> seen(mesh.tets.size(), 0);
  std::vector<uint32_t> open;
  for (uint32_t first = 0; first < mesh.tets.size(); ++first) {
    if (seen[first]) continue;
    volumes.push_back(0);
    open.assign(1, first);
    seen[first] = 1;
    while (!open.empty()) {
      const uint32_t t = open.back();
      open.pop_back();
      const geometry::Tetrahedron& v = mesh.tets[t];
      volumes.back() += geometry::signedVolume(mesh.positions[v[0]], mesh.positions[v[1]],
                                               mesh.positions[v[2]], mesh.positions[v[3]]);
      for (const uint32_t n : neighbours[t])
        if (n != kNoIndex && !seen[n]) {
          seen[n] = 1;
          open.push_back(n);
        }
    }
  }
  if (volumes.size() < 2) return;
  double all = 0;
  for (const double v : volumes) all += v;
  throw Error(
      ErrorKind::Geometry,
      fmt::format("the body falls into {} parts that do not hang together; the smallest is {:.2g} % of it",
                  volumes.size(), 100 * *std::min_element(volumes.begin(), volumes.end()) / all))
      .hint(
          "make a body of each part; where a wall or neck came apart that is thinner than a tetrahedron, "
          "take a smaller edge");
}

}  // namespace

void requireOnePart(const geometry::TetMesh& mesh) { requireOnePart(mesh, geometry::tetNeighbours(mesh)); }

RestMesh::RestMesh(geometry::TetMesh mesh, const rigid::ShapePtr& solid)
    : RestMesh(std::move(mesh), sdf::FieldPtr(solid, &solid->field()), errorsOf(*solid)) {}

RestMesh::RestMesh(geometry::TetMesh mesh, sdf::FieldPtr field, const FieldErrors& errors, FlatPieces pieces)
    : mesh_(std::move(mesh)), field_(std::move(field)), errors_(errors), pieces_(pieces) {
  if (!field_) throw Error(ErrorKind::Usage, "fragments need the distance field of the body they come from");
  if (mesh_.tets.empty()) throw Error(ErrorKind::Geometry, "a body without tetrahedra has no fragments");
  geometry::requireValid(mesh_);
  frames_.reserve(mesh_.tets.size());
  double length = 0;
  for (const geometry::Tetrahedron& t : mesh_.tets) {
    Mat3 sides;
    for (int i = 0; i < 3; ++i) sides.col(i) = mesh_.positions[t[size_t(i) + 1]] - mesh_.positions[t[0]];
    if (!(sides.determinant() > 0))
      throw Error(ErrorKind::Geometry,
                  fmt::format("tetrahedron {} is flat or inverted: such a body cannot break", frames_.size()))
          .hint("fill the surface again, or turn it by geometry::flipInverted");
    frames_.push_back({sides.inverse(), mesh_.positions[t[0]]});
    for (size_t i = 0; i < 4; ++i) {
      bounds_.grow(mesh_.positions[t[i]]);
      for (size_t j = 0; j < i; ++j) length += (mesh_.positions[t[i]] - mesh_.positions[t[j]]).norm();
    }
  }
  edge_ = length / (6 * double(mesh_.tets.size()));
  neighbours_ = geometry::tetNeighbours(mesh_);
  requireOnePart(mesh_, neighbours_);
  findSurface();
  findFlatSides();
  makeGrid();
}

void RestMesh::findSurface() {
  const size_t count = mesh_.positions.size();
  std::vector<double> values(count);
  sdf::valuesOf(*field_, mesh_.positions, values);
  depth_.resize(count);
  for (size_t v = 0; v < count; ++v) depth_[v] = std::max(0.0, -values[v]);
  onSurface_.assign(count, 0);
  normals_.assign(count, Vec3::Zero());
  for (uint32_t t = 0; t < mesh_.tets.size(); ++t)
    for (size_t side = 0; side < 4; ++side) {
      if (neighbours_[t][side] != kNoIndex) continue;
      const geometry::Triangle f = geometry::tetFace(mesh_.tets[t], side);
      for (size_t i = 0; i < 3; ++i) {
        const Vec3 &a = mesh_.positions[f[i]], &b = mesh_.positions[f[(i + 1) % 3]],
                   &c = mesh_.positions[f[(i + 2) % 3]];
        const Vec3 cross = geometry::twiceVectorArea(a, b, c);
        normals_[f[i]] += std::atan2(cross.norm(), (b - a).dot(c - a)) * cross.normalized();
        onSurface_[f[i]] = 1;
        depth_[f[i]] = 0;
      }
    }
  for (Vec3& n : normals_) n.normalize();
}

void RestMesh::findFlatSides() {
  const double same = 1e-9 * bounds_.diagonal();
  std::vector<Side> seen;
  for (uint32_t t = 0; t < mesh_.tets.size(); ++t)
    for (size_t side = 0; side < 4; ++side) {
      if (neighbours_[t][side] != kNoIndex) continue;
      const geometry::Triangle f = geometry::tetFace(mesh_.tets[t], side);
      const Vec3& a = mesh_.positions[f[0]];
      const Vec3 normal = geometry::twiceVectorArea(mesh_.positions, f).normalized();
      const Side plane{normal, normal.dot(a)};
      const bool known = std::any_of(seen.begin(), seen.end(), [&](const Side& s) {
        return s.normal.dot(normal) > 1 - 1e-12 && std::abs(s.normal.dot(a) - s.offset) <= same;
      });
      if (known) continue;
      if (seen.size() == kMostSides) return flatSides_.clear();
      seen.push_back(plane);
      if (std::all_of(mesh_.positions.begin(), mesh_.positions.end(),
                      [&](const Vec3& p) { return normal.dot(p) <= plane.offset + same; }))
        flatSides_.push_back(plane);
    }
  convex_ = flatSides_.size() == seen.size();
}

void RestMesh::makeGrid() {
  const Vec3 extent = bounds_.extent();
  cell_ = std::max(std::cbrt(extent.prod() / (kCellsPerTet * double(mesh_.tets.size()))),
                   extent.maxCoeff() / kMostRestCells);
  for (size_t d = 0; d < 3; ++d)
    cells_[d] = std::clamp(uint32_t(std::ceil(extent[int(d)] / cell_)), 1u, kMostRestCells);
  // Twice the same walk: to count, then to fill.
  const auto eachCell = [&](const auto& visit) {
    for (uint32_t t = 0; t < mesh_.tets.size(); ++t) {
      Box3 box;
      for (const uint32_t v : mesh_.tets[t]) box.grow(mesh_.positions[v]);
      std::array<uint32_t, 3> low, high;
      for (size_t d = 0; d < 3; ++d) {
        const int i = int(d);
        const auto at = [&](double x) {
          return uint32_t(std::clamp((x - bounds_.lower[i]) / cell_, 0.0, double(cells_[d] - 1)));
        };
        low[d] = at(box.lower[i] - kOnFace * edge_);
        high[d] = at(box.upper[i] + kOnFace * edge_);
      }
      const Mat3& rows = frames_[t].rows;
      const Vec3 sum = rows.colwise().sum().transpose();
      std::array<double, 4> reach;
      reach[0] = 0.5 * cell_ * sum.cwiseAbs().sum();
      for (int k = 0; k < 3; ++k) reach[size_t(k) + 1] = 0.5 * cell_ * rows.row(k).cwiseAbs().sum();
      for (uint32_t z = low[2]; z <= high[2]; ++z)
        for (uint32_t y = low[1]; y <= high[1]; ++y)
          for (uint32_t x = low[0]; x <= high[0]; ++x) {
            const Vec3 middle = bounds_.lower + cell_ * Vec3(x + 0.5, y + 0.5, z + 0.5);
            const std::array<double, 4> w = weights(t, middle);
            bool apart = false;
            for (size_t k = 0; k < 4; ++k) apart |= w[k] + reach[k] < -2 * kOnFace;
            if (!apart) visit(t, x + cells_[0] * (y + size_t(cells_[1]) * z));
          }
    }
  };
  start_.assign(size_t(cells_[0]) * cells_[1] * cells_[2] + 1, 0);
  eachCell([&](uint32_t, size_t cell) { ++start_[cell + 1]; });
  for (size_t i = 1; i < start_.size(); ++i) start_[i] += start_[i - 1];
  list_.resize(start_.back());
  std::vector<uint32_t> next(start_.begin(), start_.end() - 1);
  eachCell([&](uint32_t t, size_t cell) { list_[next[cell]++] = t; });
}

RestMesh::Place RestMesh::locate(const Vec3& point) const {
  size_t cell = 0, stride = 1;
  for (size_t d = 0; d < 3; ++d) {
    const double x = (point[int(d)] - bounds_.lower[int(d)]) / cell_;
    if (!(x >= -1 && x <= double(cells_[d]) + 1)) return {};
    cell += stride * size_t(std::clamp(x, 0.0, double(cells_[d] - 1)));
    stride *= cells_[d];
  }
  for (uint32_t i = start_[cell]; i < start_[cell + 1]; ++i) {
    const std::array<double, 4> w = weights(list_[i], point);
    if (std::min(std::min(w[0], w[1]), std::min(w[2], w[3])) >= -kOnFace) return {list_[i], w};
  }
  return {};
}

}  // namespace sunder::fracture
