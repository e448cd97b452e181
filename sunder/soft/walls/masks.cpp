#include "sunder/soft/walls/masks.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/soft/walls/distance_mask.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sunder::soft {

namespace {

// Texels that the half is moved by, so that no texel of one is read for the other: one where single texels
// are read, and a margin on all sides where four are.
struct Placing {
  uint32_t columns, rows;
};
Placing placing(MaskKind kind, uint32_t half) {
  const Placing first = kind == MaskKind::Coverage ? Placing{0, 1} : Placing{1, 3};
  return half == 0 ? first : Placing{first.rows, first.columns};
}
uint32_t margin(MaskKind kind) { return kind == MaskKind::Coverage ? 1 : 4; }

bool onEdge(const Vec3& a, const Vec3& b) {
  for (int i = 0; i < 3; ++i)
    if (a[i] == 0 && b[i] == 0) return true;
  return false;
}

bool isCorner(const Vec3& w, int corner) { return w[(corner + 1) % 3] == 0 && w[(corner + 2) % 3] == 0; }

// v of a point in the first half.
double rowOf(const Vec3& weights) { return 1 - weights[0]; }

struct RowCrossing {
  uint32_t row;
  double u;
  bool operator<(const RowCrossing& o) const { return row != o.row ? row < o.row : u < o.u; }
};

// First row whose middle is at or above v.
uint32_t rowFrom(double v, uint32_t n) {
  const double row = std::ceil(v * n - 0.5);
  return row <= 0 ? 0 : std::min(n, static_cast<uint32_t>(row));
}

// Where the rows' middles cross the contour; each segment has its lower end and not its upper one.
std::vector<RowCrossing> rowCrossings(std::span<const ContourSegment> contour, uint32_t n) {
  std::vector<RowCrossing> crossings;
  for (const ContourSegment& s : contour) {
    const bool up = rowOf(s.a) <= rowOf(s.b);
    const Vec3 &low = up ? s.a : s.b, &high = up ? s.b : s.a;
    const double v0 = rowOf(low), v1 = rowOf(high);
    const uint32_t end = rowFrom(v1, n);
    for (uint32_t row = rowFrom(v0, n); row < end; ++row) {
      const double share = ((row + 0.5) / n - v0) / (v1 - v0);
      crossings.push_back({row, low[1] + std::clamp(share, 0.0, 1.0) * (high[1] - low[1])});
    }
  }
  std::sort(crossings.begin(), crossings.end());
  return crossings;
}

}  // namespace

std::vector<ContourSegment> contourOf(const Walls& walls, const WallFace& face) {
  std::vector<ContourSegment> contour;
  for (uint32_t l = face.firstLoop; l < face.firstLoop + face.loops; ++l) {
    const std::span<const Vec3> loop = walls.loop(l);
    for (size_t i = 0; i < loop.size(); ++i) {
      const Vec3 &a = loop[i], &b = loop[(i + 1) % loop.size()];
      if (!onEdge(a, b)) contour.push_back({a, b});
    }
  }
  return contour;
}

std::array<bool, 3> cornersInside(const Walls& walls, const WallFace& face) {
  std::array<bool, 3> inside{};
  for (uint32_t l = face.firstLoop; l < face.firstLoop + face.loops; ++l) {
    const std::span<const Vec3> loop = walls.loop(l);
    for (size_t i = 0; i < loop.size(); ++i) {
      const Vec3 &a = loop[i], &b = loop[(i + 1) % loop.size()];
      // Corner 0 is where the outline from corner 2 comes to, the others are where it goes on.
      if (isCorner(b, 0) && a[1] == 0) inside[0] = true;
      if (isCorner(a, 1) && b[0] == 0) inside[1] = true;
      if (isCorner(a, 2) && b[1] == 0) inside[2] = true;
    }
  }
  return inside;
}

bool fillMask(std::span<const ContourSegment> contour, std::array<bool, 3> cornerInside, uint32_t n,
              std::span<uint8_t> texels) {
  if (n == 0 || texels.size() != size_t(n) * n)
    throw Error(ErrorKind::Usage, fmt::format("{} texels do not make a square of {}", texels.size(), n));
  for (const ContourSegment& s : contour)
    if (!s.a.allFinite() || !s.b.allFinite())
      throw Error(ErrorKind::Usage, "a contour has coordinates that are not finite");

  // Crossings of the edge from corner 0 to corner 2, where rows begin, and those of the last row's edge.
  std::vector<double> starts;
  size_t onFirst = 0, onLast = 0;
  const auto endAt = [&](const Vec3& p) {
    if (p[1] == 0 && p[2] > 0 && p[0] > 0) {
      starts.push_back(rowOf(p));
      ++onFirst;
    }
    if (p[0] == 0 && p[1] > 0 && p[2] > 0) ++onLast;
  };
  for (const ContourSegment& s : contour) {
    endAt(s.a);
    endAt(s.b);
  }
  std::sort(starts.begin(), starts.end());
  const std::vector<RowCrossing> crossings = rowCrossings(contour, n);

  size_t start = 0, crossing = 0;
  bool rowState = cornerInside[0];
  for (uint32_t row = 0; row < n; ++row) {
    const double v = (row + 0.5) / n;
    for (; start < starts.size() && starts[start] <= v; ++start) rowState = !rowState;
    bool state = rowState;
    uint8_t* line = texels.data() + size_t(row) * n;
    for (uint32_t column = 0; column <= row; ++column) {
      const double u = (column + 0.5) / n;
      for (; crossing < crossings.size() && crossings[crossing].row == row && crossings[crossing].u <= u;
           ++crossing)
        state = !state;
      line[column] = state ? 255 : 0;
    }
    while (crossing < crossings.size() && crossings[crossing].row == row) ++crossing;
  }
  const bool atLast = cornerInside[0] != (onFirst % 2 == 1);
  return atLast == cornerInside[2] && (atLast != (onLast % 2 == 1)) == cornerInside[1];
}

WallMasks makeMasks(const Walls& walls, const Cage& cage, uint32_t width, MaskKind kind) {
  if (width < 16 || width > 4096)
    throw Error(ErrorKind::Usage, fmt::format("masks of {} texels; 16 to 4096 are possible", width));
  if (walls.faceOf.size() != cage.rest.tets.size())
    throw Error(ErrorKind::Usage, fmt::format("walls of {} tetrahedra do not fit a cage of {}",
                                              walls.faceOf.size(), cage.rest.tets.size()));
  WallMasks masks;
  masks.kind = kind;
  masks.width = width;
  masks.texelsOfEdge = width - margin(kind);
  masks.halfOf.assign(walls.faces.size(), kNoIndex);
  std::vector<uint32_t> faces;
  for (uint32_t f = 0; f < walls.faces.size(); ++f) {
    if (walls.faces[f].section != Section::Partial) continue;
    masks.halfOf[f] = static_cast<uint32_t>(faces.size());
    faces.push_back(f);
  }
  masks.layers = static_cast<uint32_t>((faces.size() + 1) / 2);
  const size_t bytes = size_t(masks.layers) * width * width;
  if (bytes > size_t(1) << 31)
    throw Error(ErrorKind::Limit, fmt::format("masks of {} faces take {} bytes", faces.size(), bytes))
        .hint("choose a smaller width");
  masks.texels.assign(bytes, 0);
  const uint32_t n = masks.texelsOfEdge;
  parallelFor(
      faces.size(),
      [&](size_t i) {
        const WallFace& face = walls.faces[faces[i]];
        const std::vector<ContourSegment> contour = contourOf(walls, face);
        std::vector<uint8_t> filled(size_t(n) * n);
        fillMask(contour, cornersInside(walls, face), n, filled);
        const auto half = static_cast<uint32_t>(i % 2);
        const Placing at = placing(kind, half);
        uint8_t* layer = masks.texels.data() + i / 2 * width * width;
        const auto put = [&](int64_t u, int64_t v, uint8_t value) {
          const int64_t column = (half == 0 ? u : v) + at.columns, row = (half == 0 ? v : u) + at.rows;
          layer[row * int64_t(width) + column] = value;
        };
        if (kind == MaskKind::Coverage) {
          for (uint32_t v = 0; v < n; ++v)
            for (uint32_t u = 0; u <= v; ++u) put(u, v, filled[size_t(v) * n + u]);
          return;
        }
        std::array<Vec3, 3> corners;
        for (int k = 0; k < 3; ++k)
          corners[k] = cage.rest.positions[cage.rest.tets[face.tets[0]][face.corners[0][k]]];
        const DistanceMask distances = distanceMask(contour, corners, n, filled);
        for (int64_t v = -1; v <= int64_t(n); ++v)
          for (int64_t u = -1; u <= std::min(v + 1, int64_t(n)); ++u) put(u, v, distances.byte(u, v));
      },
      4);
  return masks;
}

Vec2 maskTexel(const WallMasks& masks, uint32_t half, const Vec3& weights) {
  const Placing at = placing(masks.kind, half % 2);
  const double u = weights[1] * masks.texelsOfEdge, v = (weights[1] + weights[2]) * masks.texelsOfEdge;
  return half % 2 == 0 ? Vec2(u + at.columns, v + at.rows) : Vec2(v + at.columns, u + at.rows);
}

}  // namespace sunder::soft
