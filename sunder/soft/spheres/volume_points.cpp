#include "sunder/soft/spheres/volume_points.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/soft/spheres/solid_points.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sunder::soft {

namespace {

struct TetPoints {
  std::vector<Vec4> weights;
  std::vector<double> volumes;
};

TetPoints pointsOf(const SolidPoints& points, const sdf::MeshField& solid, uint32_t tet, double spacing) {
  TetPoints result;
  std::vector<GridPoint> grid;
  if (!points.grid(tet, points.pieceBox(tet), spacing, size_t(64 * kMostVolumePoints), grid))
    throw Error(ErrorKind::Limit, fmt::format("points {:.3g} m apart are too many", spacing))
        .hint("larger particles of the liquid");
  const TetFrame frame(points.cage(), tet);
  for (const GridPoint& p : grid) {
    Vec3 at = p.point;
    double cells = 1;
    if (p.depth < spacing) {
      cells = 0.5 + p.depth / spacing;
      const Vec3 out = solid.sample(p.point).gradient;
      const double length = out.norm();
      if (length > 0) at += (p.depth - 0.5 * spacing) / (2 * length) * out;
    }
    result.weights.push_back(frame.weights(at));
    result.volumes.push_back(cells * spacing * spacing * spacing);
  }
  return result;
}

}  // namespace

// Between two faces there is twice the volume over the area.
double volumeSpacing(double volume, double area, double asked) {
  if (!(area > 0) || !(volume > 0)) return asked;
  return std::max(std::min(asked, 2 * volume / area), std::cbrt(volume / kMostVolumePoints));
}

VolumePoints makeVolumePoints(const geometry::TriMesh& surface, const Cage& cage, const SurfaceCopies& copies,
                              const Walls& walls, const sdf::MeshField& solid, double spacing) {
  double volume = 0;
  for (const PieceMoments& piece : pieceMoments(cage, copies, walls)) volume += std::max(0.0, piece.volume);
  if (!(spacing > 0) || !(volume <= 1.01 * kMostVolumePoints * spacing * spacing * spacing))
    throw Error(ErrorKind::Limit, fmt::format("a soft body would be more than {:.0f} points for the liquid, "
                                              "{:.3g} m apart",
                                              kMostVolumePoints, spacing))
        .hint("larger particles of the liquid, or a thicker body");
  const SolidPoints points(surface, cage, copies, walls, solid);
  std::vector<TetPoints> made(cage.rest.tets.size());
  parallelFor(
      made.size(), [&](size_t t) { made[t] = pointsOf(points, solid, static_cast<uint32_t>(t), spacing); },
      2);
  VolumePoints result;
  result.spacing = spacing;
  double sum = 0;
  for (uint32_t t = 0; t < made.size(); ++t) {
    result.tets.insert(result.tets.end(), made[t].weights.size(), t);
    result.weights.insert(result.weights.end(), made[t].weights.begin(), made[t].weights.end());
    result.volumes.insert(result.volumes.end(), made[t].volumes.begin(), made[t].volumes.end());
    for (const double v : made[t].volumes) sum += v;
  }
  if (sum > 0)
    for (double& v : result.volumes) v *= volume / sum;
  return result;
}

}  // namespace sunder::soft
