#include "sunder/fluid/boundary/density_map_build.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/fluid/boundary/density_map_kernel.h"
#include "sunder/fluid/boundary/map_nodes.h"
#include "sunder/fluid/boundary/serendipity.h"
#include "sunder/sdf/analytic_field.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace sunder::fluid {

namespace {

class MapBuild {
 public:
  MapBuild(const sdf::Field& field, const Box3& domain, const DensityMapSettings& settings)
      : field_(field), settings_(settings), side_(settings.outside ? -1 : 1) {
    chooseGrid(domain);
  }
  MapParts make();

 private:
  void chooseGrid(const Box3& domain);
  void chooseLattice();
  void classify(const DistanceBricks& distances);
  void fillCells(const DistanceBricks& distances, const std::vector<float>& densities);
  void fillDeep();
  void findThin(const DistanceBricks& distances, const std::vector<ThinPoint>& points);

  double support() const { return settings_.support; }
  Index3 cellAt(size_t cell) const {
    const auto nx = size_t(cells_[0]), ny = size_t(cells_[1]);
    return {int(cell % nx), int(cell / nx % ny), int(cell / nx / ny)};
  }
  Index3 firstPoint(const Index3& cell) const {
    return {pad_ + 3 * cell[0], pad_ + 3 * cell[1], pad_ + 3 * cell[2]};
  }

  const sdf::Field& field_;
  DensityMapSettings settings_;
  double side_;
  Index3 cells_{};
  int pad_ = 0;          // lattice points around the map
  double deepFrom_ = 0;  // supports: whole cells that are deeper are not kept
  DistanceLattice lattice_;
  MapParts parts_;
};

void MapBuild::chooseGrid(const Box3& domain) {
  Box3 box = domain;
  if (!settings_.outside) {
    const Box3 reach = sdf::boundsAt(field_, (2 - settings_.offset) * support());
    box.lower = box.lower.cwiseMax(reach.lower);
    box.upper = box.upper.cwiseMin(reach.upper);
    if (box.empty()) return;
  }
  const Vec3 counts =
      (box.extent() / settings_.cell).unaryExpr([](double x) { return std::max(1.0, std::ceil(x - 1e-6)); });
  if (!(counts.prod() <= double(DensityMap::kMostCells)))
    throw Error(ErrorKind::Limit, fmt::format("a boundary map of {:.0f} x {:.0f} x {:.0f} cells", counts.x(),
                                              counts.y(), counts.z()))
        .hint(fmt::format("at most {} cells; take a smaller domain, larger particles or larger cells",
                          DensityMap::kMostCells));
  const Vec3 half = 0.5 * settings_.cell * counts;
  parts_.bounds = {box.center() - half, box.center() + half};
  for (size_t d = 0; d < 3; ++d) {
    cells_[d] = int(counts[int(d)]);
    parts_.report.cells[d] = uint32_t(cells_[d]);
  }
}

void MapBuild::chooseLattice() {
  const double step = settings_.cell / 3, diagonal = std::sqrt(3.0) * settings_.cell;
  pad_ = int(std::ceil(support() / step - 1e-9)) + 1;
  const double deep = std::max(support(), 3 * settings_.cell);
  deepFrom_ = deep / support();
  lattice_.origin = parts_.bounds.lower - Vec3::Constant(pad_ * step);
  lattice_.step = step;
  for (size_t d = 0; d < 3; ++d) lattice_.size[d] = 3 * cells_[d] + 1 + 2 * pad_;
  lattice_.scale = side_ / support();
  // All that the quadrature of a node in a kept cell can see, and the second differences there.
  lattice_.high = float(2 - settings_.offset + 4 * step / support());
  lattice_.low = float(-(deep + diagonal + support() + 4 * step) / support());
}

// Codes of all cells, kept and deep ones numbered in order.
void MapBuild::classify(const DistanceBricks& distances) {
  const size_t count = size_t(cells_[0]) * size_t(cells_[1]) * size_t(cells_[2]);
  parts_.codes.resize(count);
  const auto far = float(2 - settings_.offset), deep = float(-deepFrom_);
  parallelFor(count, [&](size_t cell) {
    const Index3 first = firstPoint(cellAt(cell));
    // A cell spans two bricks along an axis at most.
    const int32_t brick = distances.brickOf(first[0], first[1], first[2]);
    bool same = brick < 0;
    for (int corner = 1; same && corner < 8; ++corner)
      same = brick == distances.brickOf(first[0] + 3 * (corner & 1), first[1] + 3 * (corner >> 1 & 1),
                                        first[2] + 3 * (corner >> 2));
    if (same) {
      parts_.codes[cell] = brick == DistanceBricks::kAllHigh ? kernels::kNothing : kernels::kDeep;
      return;
    }
    float least = lattice_.high, most = lattice_.low;
    for (int k = 0; k < 4; ++k)
      for (int j = 0; j < 4; ++j)
        for (int i = 0; i < 4; ++i) {
          const float phi = distances.at(first[0] + i, first[1] + j, first[2] + k);
          least = std::min(least, phi);
          most = std::max(most, phi);
        }
    parts_.codes[cell] = least >= far ? kernels::kNothing : most <= deep ? kernels::kDeep : 0;
  });
  DensityMapReport& report = parts_.report;
  for (int32_t& code : parts_.codes) {
    if (code == 0)
      code = int32_t(report.keptCells++);
    else if (code == kernels::kDeep)
      code = kernels::kDeep - int32_t(report.deepCells++);
  }
}

void MapBuild::fillCells(const DistanceBricks& distances, const std::vector<float>& densities) {
  parts_.nodes.resize(parts_.report.keptCells);
  parallelFor(parts_.codes.size(), [&](size_t cell) {
    const int32_t code = parts_.codes[cell];
    if (code < 0) return;
    const Index3 first = firstPoint(cellAt(cell));
    const auto value = [&](int x, int y, int z) {
      const int i = first[0] + x, j = first[1] + y, k = first[2] + z;
      const int32_t brick = distances.brickOf(i, j, k);  // not all low: a kept cell is not that deep
      return brick < 0 ? 0.0f
                       : densities[size_t(brick) * DistanceBricks::kPoints + DistanceBricks::slot(i, j, k)];
    };
    float* out = parts_.nodes[size_t(code)].values;
    for (size_t node = 0; node < kCellNodes; ++node) {
      const Index3 at = serendipityNode(node);
      out[node] = value(at[0], at[1], at[2]);
    }
    float faces[8];
    faceFactors(value, faces);
    std::copy_n(faces, 8, out + kCellNodes);
  });
}

void MapBuild::fillDeep() {
  std::vector<Vec3> centres;
  for (size_t cell = 0; cell < parts_.codes.size(); ++cell) {
    if (parts_.codes[cell] > kernels::kDeep) continue;
    const Index3 at = cellAt(cell);
    centres.push_back(parts_.bounds.lower +
                      settings_.cell * (Vec3(at[0], at[1], at[2]) + Vec3::Constant(0.5)));
  }
  std::vector<sdf::FieldSample> samples(centres.size());
  sdf::samplesOf(field_, centres, samples);
  parts_.report.fieldQueries += centres.size();
  for (const sdf::FieldSample& sample : samples) {
    // Every cell pushes, also one whose centre is as far from two sides: away from any of them, or up.
    const double length = sample.gradient.norm();
    const Vec3 inwards = length > 0 ? Vec3(-side_ / length * sample.gradient) : Vec3(-Vec3::UnitY());
    Vec4f record;
    record.head<3>() = (inwards / support()).cast<float>();
    record[3] = float(1 - settings_.offset - side_ * sample.value / support());
    parts_.deep.push_back(record);
  }
}

// A wall is thin where the way from its nearest side straight through it leaves it within two supports: what
// is thin across, but stands on something thick, is a crest.
void MapBuild::findThin(const DistanceBricks& distances, const std::vector<ThinPoint>& points) {
  DensityMapReport& report = parts_.report;
  std::vector<Vec3> places;
  for (const ThinPoint& p : points) places.push_back(lattice_.position(p.at[0], p.at[1], p.at[2]));
  std::vector<sdf::FieldSample> samples(places.size());
  sdf::samplesOf(field_, places, samples);
  report.fieldQueries += places.size();
  const int most = int(std::ceil(2 * support() / lattice_.step));
  for (size_t n = 0; n < points.size(); ++n) {
    // On a sheet the way out is the way through, to either side.
    const Vec3 inwards = (-side_ * samples[n].gradient).normalized();
    bool through = false;
    for (int s = 1; s <= most && !through; ++s) {
      Index3 at = points[n].at;
      for (int d = 0; d < 3; ++d)
        at[size_t(d)] =
            std::clamp(at[size_t(d)] + int(std::lround(s * inwards[d])), 0, lattice_.size[size_t(d)] - 1);
      through = distances.at(at[0], at[1], at[2]) >= 0;
    }
    if (!through) continue;
    const double thickness = 2 * double(points[n].depth) * support();
    if (report.thinPlaces++ == 0 || thickness < report.thinnest) {
      report.thinnest = thickness;
      report.thinnestAt = places[n];
    }
  }
}

MapParts MapBuild::make() {
  if (parts_.bounds.empty()) return std::move(parts_);
  chooseLattice();
  const DistanceBricks distances(field_, lattice_);
  parts_.report.fieldQueries = distances.queries();

  const double diagonal = std::sqrt(3.0) * settings_.cell / support();
  const MapNodes nodes(
      distances,
      {.pad = pad_, .cells = cells_, .offset = settings_.offset, .deepest = float(-deepFrom_ - diagonal)},
      support() / lattice_.step);
  std::vector<float> densities(distances.brickCount() * DistanceBricks::kPoints);
  const NodeCounts counts = parallelReduce(
      distances.brickCount(), NodeCounts{},
      [&](size_t brick, size_t) {
        return nodes.compute(brick, densities.data() + brick * DistanceBricks::kPoints);
      },
      [](NodeCounts a, const NodeCounts& b) {
        return NodeCounts{a.plane + b.plane, a.quadrature + b.quadrature};
      },
      1);
  parts_.report.planeNodes = counts.plane;
  parts_.report.nodes = counts.quadrature;
  classify(distances);
  fillCells(distances, densities);
  fillDeep();
  findThin(distances, nodes.thin());
  return std::move(parts_);
}

}  // namespace

MapParts buildDensityMap(const sdf::Field& field, const Box3& domain, const DensityMapSettings& settings) {
  return MapBuild(field, domain, settings).make();
}

}  // namespace sunder::fluid
