#include "sunder/geometry/tet_mesh.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/geometry/components.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include <fmt/format.h>

namespace sunder::geometry {

namespace {

// One side of one tetrahedron, to be matched with the others that have the same three vertices.
struct Side {
  uint32_t middle, highest;
  uint32_t tet;
  uint8_t face;
  bool even;  // is the outward order an even permutation of the ascending one?

  bool sameFace(const Side& o) const { return middle == o.middle && highest == o.highest; }
  bool operator<(const Side& o) const {
    return std::tie(middle, highest, tet, face) < std::tie(o.middle, o.highest, o.tet, o.face);
  }
};

// Row v: the sides whose lowest vertex is v; equal faces next to each other, by ascending (tet, face).
RowsOf<Side> sortedSides(const TetMesh& mesh) {
  auto lowest = [&](size_t i) {
    const Triangle t = tetFace(mesh.tets[i / 4], i % 4);
    return std::min({t[0], t[1], t[2]});
  };
  auto side = [&](size_t i) {
    Triangle t = tetFace(mesh.tets[i / 4], i % 4);
    bool even = true;
    auto order = [&](size_t a, size_t b) {
      if (t[a] > t[b]) {
        std::swap(t[a], t[b]);
        even = !even;
      }
    };
    order(0, 1);
    order(1, 2);
    order(0, 1);
    return Side{t[1], t[2], u32(i / 4), static_cast<uint8_t>(i % 4), even};
  };
  RowsOf<Side> rows = groupBy<Side>(4 * mesh.tets.size(), mesh.positions.size(), lowest, side);
  parallelFor(
      rows.size(),
      [&](size_t v) {
        std::sort(rows.items.begin() + rows.offsets[v], rows.items.begin() + rows.offsets[v + 1]);
      },
      512);
  return rows;
}

// visit(lowest vertex, sides) for every different face, in parallel over vertices.
template <class Visit>
void eachFace(const RowsOf<Side>& rows, size_t v, Visit&& visit) {
  const std::span<const Side> row = rows.row(v);
  for (size_t i = 0; i < row.size();) {
    size_t j = i + 1;
    while (j < row.size() && row[j].sameFace(row[i])) ++j;
    visit(row.subspan(i, j - i));
    i = j;
  }
}

bool repeats(const Tetrahedron& t) {
  return t[0] == t[1] || t[0] == t[2] || t[0] == t[3] || t[1] == t[2] || t[1] == t[3] || t[2] == t[3];
}

// Rounding of the determinant stays below a few units in the last place of its largest possible value.
bool isFlat(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d, double volume) {
  const Vec3 u = (b - a).cwiseAbs(), v = (c - a).cwiseAbs(), w = (d - a).cwiseAbs();
  const double permanent = u.x() * (v.y() * w.z() + v.z() * w.y()) + u.y() * (v.z() * w.x() + v.x() * w.z()) +
                           u.z() * (v.x() * w.y() + v.y() * w.x());
  return !(6 * std::abs(volume) > 8 * std::numeric_limits<double>::epsilon() * permanent);
}

Tally duplicateTets(const TetMesh& mesh) {
  auto sorted = [&](uint32_t t) {
    Tetrahedron v = mesh.tets[t];
    std::sort(v.begin(), v.end());
    return v;
  };
  Rows rows = groupBy<uint32_t>(
      mesh.tets.size(), mesh.positions.size(),
      [&](size_t t) { return *std::min_element(mesh.tets[t].begin(), mesh.tets[t].end()); },
      [](size_t t) { return u32(t); });
  std::vector<uint8_t> isDuplicate(mesh.tets.size(), 0);
  parallelFor(
      rows.size(),
      [&](size_t v) {
        const auto begin = rows.items.begin() + rows.offsets[v],
                   end = rows.items.begin() + rows.offsets[v + 1];
        std::sort(begin, end, [&](uint32_t a, uint32_t b) {
          const Tetrahedron ta = sorted(a), tb = sorted(b);
          return ta != tb ? ta < tb : a < b;
        });
        for (auto i = begin; i != end && i + 1 != end; ++i) {
          if (sorted(*i) == sorted(*(i + 1))) isDuplicate[*(i + 1)] = 1;
        }
      },
      512);
  return tally(mesh.tets.size(), [&](size_t t) { return isDuplicate[t] != 0; });
}

}  // namespace

void requireValid(const TetMesh& mesh) {
  const size_t vertexCount = mesh.positions.size();
  if (vertexCount >= kNoIndex || mesh.tets.size() >= kNoIndex / 4) {
    throw Error(ErrorKind::Limit,
                fmt::format("a mesh of {} vertices and {} tetrahedra is beyond 32-bit indices", vertexCount,
                            mesh.tets.size()));
  }
  if (!mesh.region.empty() && mesh.region.size() != mesh.tets.size()) {
    throw Error(ErrorKind::Geometry,
                fmt::format("{} region numbers for {} tetrahedra", mesh.region.size(), mesh.tets.size()));
  }
  auto highest = [&](size_t t) { return *std::max_element(mesh.tets[t].begin(), mesh.tets[t].end()); };
  const Tally bad = tally(mesh.tets.size(), [&](size_t t) { return highest(t) >= vertexCount; });
  if (bad.count != 0) {
    throw Error(ErrorKind::Geometry, fmt::format("tetrahedron {} refers to vertex {}, but there are only {}",
                                                 bad.first[0], highest(bad.first[0]), vertexCount));
  }
}

double signedVolume(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  return (b - a).cross(c - a).dot(d - a) / 6;
}

std::vector<double> signedVolumes(const TetMesh& mesh) {
  requireValid(mesh);
  std::vector<double> volumes(mesh.tets.size());
  parallelFor(mesh.tets.size(), [&](size_t i) {
    const Tetrahedron& t = mesh.tets[i];
    volumes[i] =
        signedVolume(mesh.positions[t[0]], mesh.positions[t[1]], mesh.positions[t[2]], mesh.positions[t[3]]);
  });
  return volumes;
}

double totalVolume(const TetMesh& mesh) {
  const std::vector<double> volumes = signedVolumes(mesh);
  return parallelReduce(
      volumes.size(), 0.0,
      [&](size_t begin, size_t end) {
        double sum = 0;
        for (size_t i = begin; i < end; ++i) sum += volumes[i];
        return sum;
      },
      [](double a, double b) { return a + b; });
}

std::vector<std::array<uint32_t, 4>> tetNeighbours(const TetMesh& mesh) {
  requireValid(mesh);
  const RowsOf<Side> rows = sortedSides(mesh);
  std::vector<std::array<uint32_t, 4>> neighbours(mesh.tets.size(), {kNoIndex, kNoIndex, kNoIndex, kNoIndex});
  parallelFor(
      rows.size(),
      [&](size_t v) {
        eachFace(rows, v, [&](std::span<const Side> sides) {
          if (sides.size() != 2) return;
          neighbours[sides[0].tet][sides[0].face] = sides[1].tet;
          neighbours[sides[1].tet][sides[1].face] = sides[0].tet;
        });
      },
      512);
  return neighbours;
}

TetBoundary boundarySurface(const TetMesh& mesh) {
  requireValid(mesh);
  const RowsOf<Side> rows = sortedSides(mesh);
  std::vector<uint8_t> single(4 * mesh.tets.size(), 0);
  parallelFor(
      rows.size(),
      [&](size_t v) {
        eachFace(rows, v, [&](std::span<const Side> sides) {
          if (sides.size() == 1) single[4 * size_t(sides[0].tet) + sides[0].face] = 1;
        });
      },
      512);

  TetBoundary result;
  std::vector<uint32_t> toSurface(mesh.positions.size(), kNoIndex);
  for (size_t s = 0; s < single.size(); ++s) {
    if (single[s] == 0) continue;
    result.surface.triangles.push_back(tetFace(mesh.tets[s / 4], s % 4));
    result.faceTet.push_back(u32(s / 4));
    result.faceSide.push_back(static_cast<uint8_t>(s % 4));
    for (uint32_t v : result.surface.triangles.back()) toSurface[v] = 0;
  }
  for (uint32_t v = 0; v < toSurface.size(); ++v) {
    if (toSurface[v] == kNoIndex) continue;
    toSurface[v] = u32(result.vertexSource.size());
    result.vertexSource.push_back(v);
    result.surface.positions.push_back(mesh.positions[v]);
  }
  for (Triangle& t : result.surface.triangles) {
    for (uint32_t& v : t) v = toSurface[v];
  }
  return result;
}

size_t flipInverted(TetMesh& mesh) {
  const std::vector<double> volumes = signedVolumes(mesh);
  size_t count = 0;
  for (size_t t = 0; t < volumes.size(); ++t) {
    if (!(volumes[t] < 0)) continue;
    std::swap(mesh.tets[t][2], mesh.tets[t][3]);
    ++count;
  }
  return count;
}

TetReport tetReport(const TetMesh& mesh) {
  requireValid(mesh);
  TetReport report;
  report.vertices = mesh.positions.size();
  report.tets = mesh.tets.size();
  std::vector<int32_t> regions = mesh.region;
  std::sort(regions.begin(), regions.end());
  report.regions = static_cast<size_t>(std::unique(regions.begin(), regions.end()) - regions.begin());
  if (mesh.region.empty() && !mesh.tets.empty()) report.regions = 1;

  const std::vector<double> volumes = signedVolumes(mesh);
  report.volume = totalVolume(mesh);
  if (!volumes.empty()) {
    report.minVolume = *std::min_element(volumes.begin(), volumes.end());
    report.maxVolume = *std::max_element(volumes.begin(), volumes.end());
  }
  auto flat = [&](size_t i) {
    const Tetrahedron& t = mesh.tets[i];
    return repeats(t) || isFlat(mesh.positions[t[0]], mesh.positions[t[1]], mesh.positions[t[2]],
                                mesh.positions[t[3]], volumes[i]);
  };
  Tally found = tally(mesh.tets.size(), flat);
  report.degenerate = found.count;
  report.firstDegenerate = std::move(found.first);
  found = tally(mesh.tets.size(), [&](size_t t) { return volumes[t] < 0 && !flat(t); });
  report.inverted = found.count;
  report.firstInverted = std::move(found.first);
  found = duplicateTets(mesh);
  report.duplicateTets = found.count;
  report.firstDuplicates = std::move(found.first);

  const RowsOf<Side> rows = sortedSides(mesh);
  for (size_t v = 0; v < rows.size(); ++v) {
    eachFace(rows, v, [&](std::span<const Side> sides) {
      if (sides.size() == 1) {
        ++report.boundaryFaces;
      } else if (sides.size() > 2) {
        ++report.nonManifoldFaces;
        if (report.firstNonManifoldFaces.size() < Tally::kExamples) {
          report.firstNonManifoldFaces.push_back({u32(v), sides[0].middle, sides[0].highest});
        }
      } else if (sides[0].even == sides[1].even && volumes[sides[0].tet] > 0 && volumes[sides[1].tet] > 0) {
        // Two neighbours see their common face from opposite sides, so their outward orders differ in parity.
        ++report.overlappingFaces;
      }
    });
  }

  std::vector<uint8_t> used(mesh.positions.size(), 0);
  for (const Tetrahedron& t : mesh.tets) {
    for (uint32_t v : t) used[v] = 1;
  }
  report.isolatedVertices = static_cast<size_t>(std::count(used.begin(), used.end(), 0));
  report.components = tetComponents(mesh).count;
  return report;
}

}  // namespace sunder::geometry
