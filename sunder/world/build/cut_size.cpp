#include "sunder/world/build/cut_size.h"

#include "sunder/base/disjoint_sets.h"
#include "sunder/geometry/mass_properties.h"
#include "sunder/geometry/vector_area.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <unordered_map>

namespace sunder::world {

namespace {

constexpr int kPieceCells = 32;            // along the longest side
constexpr double kMostPieceSamples = 4e6;  // of the surface; beyond it one for each triangle
constexpr double kMostLineTests = 2e7;     // of triangles with lines of the lattice
constexpr double kCrossedTriangles =
    2;  // more triangles of a piece for each that a plane crosses: parts, lid
// Faces of cells along a plane have 1 to 1.7 times its area.
constexpr double kStairs = 1.4;
// Lines through the lattice pass beside its middles, where symmetric meshes have their edges.
constexpr double kAsideY = 0.0137, kAsideZ = 0.0071;

// What is in a cell on the same sides of all planes.
struct CellPart {
  uint32_t cell, sides;
  double cells = 0, area = 0, triangles = 0;  // cells: 1 where the middle is inside
  Box3 bounds;
};

class PieceLattice {
 public:
  PieceLattice(const geometry::TriMesh& mesh, std::span<const CutPlane> planes)
      : mesh_(mesh), planes_(planes), box_(geometry::bounds(mesh.positions)) {
    step_ = box_.extent().maxCoeff() / kPieceCells;
    for (int k = 0; k < 3; ++k)
      count_[k] = std::clamp(int(std::ceil(box_.extent()[k] / step_)), 1, kPieceCells);
  }

  CutSize size() {
    CutSize out;
    out.triangles = double(mesh_.triangles.size());
    out.area = geometry::surfaceArea(mesh_);
    if (!(step_ > 0) || !std::isfinite(step_)) return out;  // building it will say what is wrong
    addSurface();
    addInside();
    addLids();
    DisjointSets sets = joined();
    std::unordered_map<uint32_t, size_t> pieceOf;
    for (uint32_t i = 0; i < parts_.size(); ++i) {
      const auto [found, added] = pieceOf.try_emplace(sets.find(i), out.pieces.size());
      if (added) out.pieces.emplace_back();
      PieceSize& piece = out.pieces[found->second];
      piece.volume += parts_[i].cells;
      piece.area += parts_[i].area;
      piece.triangles += parts_[i].triangles;
      piece.bounds.grow(parts_[i].bounds);
    }
    // Walls that pass between the middles of cells have the volume that their surface has a share of.
    const double volume = std::abs(geometry::massProperties(mesh_).volume), cell = std::pow(step_, 3);
    double inside = 0;
    for (const PieceSize& piece : out.pieces) inside += piece.volume;
    const bool thin = inside * cell < 0.5 * volume;
    double all = 0;
    for (PieceSize& piece : out.pieces) {
      if (thin) piece.volume = piece.area;
      all += piece.volume;
    }
    for (PieceSize& piece : out.pieces) piece.volume *= all > 0 ? volume / all : 0;
    std::stable_sort(out.pieces.begin(), out.pieces.end(),
                     [](const PieceSize& a, const PieceSize& b) { return a.volume > b.volume; });
    return out;
  }

 private:
  // Points on the same sides of all planes have the same number.
  uint32_t sidesOf(const Vec3& p) {
    uint64_t hash = 0;
    for (const CutPlane& plane : planes_)
      hash = (hash ^ (plane.normal.dot(p - plane.point) > 0 ? 1 : 2)) * 0x9e3779b97f4a7c15ull;
    return sides_.try_emplace(hash, uint32_t(sides_.size())).first->second;
  }

  uint32_t cellOf(const Vec3& p) const {
    std::array<int, 3> at{};
    for (int k = 0; k < 3; ++k) at[k] = std::clamp(int((p[k] - box_.lower[k]) / step_), 0, count_[k] - 1);
    return index(at[0], at[1], at[2]);
  }
  uint32_t index(int x, int y, int z) const { return uint32_t((z * count_[1] + y) * count_[0] + x); }
  Vec3 middle(int x, int y, int z) const {
    return box_.lower + step_ * (Vec3(x, y, z) + Vec3::Constant(0.5));
  }

  CellPart& partAt(uint32_t cell, uint32_t sides) {
    const auto [found, added] = known_.try_emplace(uint64_t(cell) << 32 | sides, uint32_t(parts_.size()));
    if (added) parts_.push_back({cell, sides, 0, 0, 0, {}});
    return parts_[found->second];
  }

  void addSurface() {
    double samples = 0;
    const auto divisions = [&](const geometry::Triangle& t) {
      double longest = 0;
      for (size_t i = 0; i < 3; ++i)
        longest = std::max(longest, (mesh_.positions[t[i]] - mesh_.positions[t[(i + 1) % 3]]).norm());
      return std::max(1.0, std::ceil(longest / step_));
    };
    for (const geometry::Triangle& t : mesh_.triangles) samples += std::pow(divisions(t), 2);
    const bool few = samples > kMostPieceSamples + double(mesh_.triangles.size());
    for (const geometry::Triangle& t : mesh_.triangles) {
      const Vec3 &a = mesh_.positions[t[0]], &b = mesh_.positions[t[1]], &c = mesh_.positions[t[2]];
      const double area = geometry::triangleArea(a, b, c);
      const int n = few ? 1 : int(divisions(t));
      // The middles of n^2 equal triangles.
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < 2 * (n - i) - 1; ++j) {
          const double shift = j % 2 ? 2.0 / 3 : 1.0 / 3;
          const double v = (i + shift) / n, w = (j / 2 + shift) / n;
          const Vec3 p = a + v * (b - a) + w * (c - a);
          CellPart& part = partAt(cellOf(p), sidesOf(p));
          part.area += area / (n * n);
          part.triangles += 1.0 / (n * n);
          part.bounds.grow(p);
        }
      std::array<uint32_t, 3> sides{};
      for (size_t i = 0; i < 3; ++i) sides[i] = sidesOf(mesh_.positions[t[i]]);
      if (sides[0] == sides[1] && sides[1] == sides[2]) continue;
      for (size_t i = 0; i < 3; ++i) {
        const bool again = (i > 0 && sides[i] == sides[0]) || (i > 1 && sides[i] == sides[1]);
        CellPart& part = partAt(cellOf(mesh_.positions[t[i]]), sides[i]);
        part.bounds.grow(mesh_.positions[t[i]]);
        if (!again) part.triangles += kCrossedTriangles;
      }
    }
  }

  struct LineCrossing {
    uint32_t line;
    double x;
    int turn;  // the winding number grows by this
  };

  // Where lines along x, through the middles of cells, pass through the surface.
  std::vector<LineCrossing> crossings() const {
    std::vector<LineCrossing> out;
    double tests = 0;
    for (const geometry::Triangle& t : mesh_.triangles) {
      std::array<Vec3, 3> p;
      for (size_t i = 0; i < 3; ++i) p[i] = (mesh_.positions[t[i]] - box_.lower) / step_;
      const auto first = [&](int k, double aside) {
        return std::max(0, int(std::ceil(std::min({p[0][k], p[1][k], p[2][k]}) - 0.5 - aside)));
      };
      const auto last = [&](int k, double aside) {
        return std::min(count_[k] - 1, int(std::floor(std::max({p[0][k], p[1][k], p[2][k]}) - 0.5 - aside)));
      };
      const int y1 = last(1, kAsideY), z1 = last(2, kAsideZ);
      for (int z = first(2, kAsideZ); z <= z1; ++z)
        for (int y = first(1, kAsideY); y <= y1; ++y) {
          if (++tests > kMostLineTests) return {};
          const double cy = y + 0.5 + kAsideY, cz = z + 0.5 + kAsideZ;
          const auto side = [&](const Vec3& a, const Vec3& b) {
            return (b.y() - a.y()) * (cz - a.z()) - (b.z() - a.z()) * (cy - a.y());
          };
          const double u = side(p[1], p[2]), v = side(p[2], p[0]), w = side(p[0], p[1]);
          if ((u > 0) != (v > 0) || (v > 0) != (w > 0) || u + v + w == 0) continue;
          out.push_back({uint32_t(z * count_[1] + y),
                         (u * p[0].x() + v * p[1].x() + w * p[2].x()) / (u + v + w), u > 0 ? -1 : 1});
        }
    }
    return out;
  }

  void addInside() {
    inside_.assign(size_t(count_[0]) * size_t(count_[1]) * size_t(count_[2]), kOutside);
    std::vector<LineCrossing> found = crossings();
    std::sort(found.begin(), found.end(), [](const LineCrossing& a, const LineCrossing& b) {
      return a.line != b.line ? a.line < b.line : a.x < b.x;
    });
    int turns = 0;
    for (size_t i = 0; i + 1 < found.size(); ++i) {
      turns = i > 0 && found[i - 1].line == found[i].line ? turns + found[i].turn : found[i].turn;
      if (turns == 0 || found[i + 1].line != found[i].line) continue;
      const int y = int(found[i].line) % count_[1], z = int(found[i].line) / count_[1];
      const int from = std::max(0, int(std::ceil(found[i].x - 0.5)));
      const int to = std::min(count_[0] - 1, int(std::ceil(found[i + 1].x - 0.5)) - 1);
      for (int x = from; x <= to; ++x) {
        const Vec3 p = middle(x, y, z);
        const uint32_t sides = sidesOf(p);
        CellPart& part = partAt(index(x, y, z), sides);
        part.cells = 1;
        part.bounds.grow(p);
        inside_[index(x, y, z)] = sides;
      }
    }
  }

  template <typename Visit>
  void forNeighbours(std::span<const std::array<int, 3>> steps, const Visit& visit) {
    for (uint32_t i = 0; i < parts_.size(); ++i) {
      const int cell = int(parts_[i].cell), x = cell % count_[0], y = cell / count_[0] % count_[1],
                z = cell / (count_[0] * count_[1]);
      for (const auto& [dx, dy, dz] : steps) {
        const int u = x + dx, v = y + dy, w = z + dz;
        if (u < 0 || v < 0 || w < 0 || u >= count_[0] || v >= count_[1] || w >= count_[2]) continue;
        visit(i, index(u, v, w));
      }
    }
  }

  void addLids() {
    static constexpr std::array<std::array<int, 3>, 3> kAhead{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    const double lid = step_ * step_ / kStairs;
    forNeighbours(kAhead, [&](uint32_t i, uint32_t cell) {
      if (!(parts_[i].cells > 0) || inside_[cell] == kOutside || inside_[cell] == parts_[i].sides) return;
      parts_[i].area += lid;
      partAt(cell, inside_[cell]).area += lid;
    });
  }

  DisjointSets joined() {
    DisjointSets sets(parts_.size());
    std::vector<std::array<int, 3>> steps;
    for (int z = -1; z < 2; ++z)
      for (int y = -1; y < 2; ++y)
        for (int x = -1; x < 2; ++x)
          if (9 * z + 3 * y + x > 0) steps.push_back({x, y, z});
    forNeighbours(steps, [&](uint32_t i, uint32_t cell) {
      const auto found = known_.find(uint64_t(cell) << 32 | parts_[i].sides);
      if (found != known_.end()) sets.unite(i, found->second);
    });
    return sets;
  }

  static constexpr uint32_t kOutside = UINT32_MAX;
  const geometry::TriMesh& mesh_;
  std::span<const CutPlane> planes_;
  Box3 box_;
  double step_ = 0;
  std::array<int, 3> count_{};
  // For finding only: numbers are given in the order of the mesh.
  std::unordered_map<uint64_t, uint32_t> sides_, known_;
  std::vector<CellPart> parts_;
  std::vector<uint32_t> inside_;  // sides of the middle of each cell
};

}  // namespace

CutSize sizeOfPieces(const geometry::TriMesh& mesh, std::span<const CutPlane> planes) {
  return PieceLattice(mesh, planes).size();
}

}  // namespace sunder::world
