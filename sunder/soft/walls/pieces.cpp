#include "sunder/soft/walls/pieces.h"

#include "sunder/base/parallel.h"

namespace sunder::soft {

namespace {

Vec3 placed(const std::array<Vec3, 4>& corners, const Vec4& weights) {
  return weights[0] * corners[0] + weights[1] * corners[1] + weights[2] * corners[2] +
         weights[3] * corners[3];
}

std::array<Vec3, 4> cornersOf(const Cage& cage, uint32_t tet) {
  const geometry::Tetrahedron& t = cage.rest.tets[tet];
  const std::vector<Vec3>& x = cage.rest.positions;
  return {x[t[0]], x[t[1]], x[t[2]], x[t[3]]};
}

// Calls `take` with the corners of each triangle, about the first corner of the tetrahedron.
template <class Take>
void eachTriangle(const Cage& cage, const SurfaceCopies& copies, const Walls& walls, uint32_t tet,
                  Take&& take) {
  std::array<Vec3, 4> corners = cornersOf(cage, tet);
  const Vec3 origin = corners[0];
  for (Vec3& c : corners) c -= origin;
  for (uint32_t copy = copies.trianglesOf.offsets[tet]; copy < copies.trianglesOf.offsets[tet + 1]; ++copy) {
    const std::span<const ClipCorner> polygon = copies.polygon(copy);
    if (polygon.size() < 3) continue;
    const Vec3 a = placed(corners, polygon[0].weights);
    Vec3 b = placed(corners, polygon[1].weights);
    for (size_t i = 2; i < polygon.size(); ++i) {
      const Vec3 c = placed(corners, polygon[i].weights);
      take(a, b, c);
      b = c;
    }
  }
  for (int k = 0; k < 4; ++k) {
    const WallFace& face = walls.faces[walls.faceOf[tet][k]];
    const size_t side = walls.sideOf(tet, k);
    for (const geometry::Triangle& t : walls.trianglesOf(face)) {
      std::array<Vec3, 3> p;
      for (int i = 0; i < 3; ++i) p[i] = placed(corners, weightsIn(face, side, walls.points[t[i]]));
      if (side == 0)
        take(p[0], p[1], p[2]);
      else
        take(p[0], p[2], p[1]);
    }
  }
}

}  // namespace

void pieceTriangles(const Cage& cage, const SurfaceCopies& copies, const Walls& walls, uint32_t tet,
                    std::vector<std::array<Vec3, 3>>& triangles) {
  triangles.clear();
  const Vec3 origin = cornersOf(cage, tet)[0];
  eachTriangle(cage, copies, walls, tet, [&](const Vec3& a, const Vec3& b, const Vec3& c) {
    triangles.push_back({a + origin, b + origin, c + origin});
  });
}

std::vector<PieceMoments> pieceMoments(const Cage& cage, const SurfaceCopies& copies, const Walls& walls) {
  std::vector<PieceMoments> pieces(cage.rest.tets.size());
  parallelFor(
      pieces.size(),
      [&](size_t t) {
        const auto tet = static_cast<uint32_t>(t);
        double volume = 0;           // six times
        Vec3 first = Vec3::Zero();   // 24 times
        Mat3 second = Mat3::Zero();  // 120 times
        Vec3 open = Vec3::Zero();    // twice
        eachTriangle(cage, copies, walls, tet, [&](const Vec3& a, const Vec3& b, const Vec3& c) {
          const double v = a.dot(b.cross(c));
          const Vec3 sum = a + b + c;
          volume += v;
          first += v * sum;
          second += v * (a * a.transpose() + b * b.transpose() + c * c.transpose() + sum * sum.transpose());
          open += (b - a).cross(c - a);
        });
        const std::array<Vec3, 4> corners = cornersOf(cage, tet);
        const Vec3 e1 = corners[1] - corners[0], e2 = corners[2] - corners[0], e3 = corners[3] - corners[0];
        PieceMoments& piece = pieces[t];
        piece.open = 0.5 * open;
        piece.volume = volume / 6;
        // Below that share the centre is rounding.
        if (volume <= 1e-13 * e1.dot(e2.cross(e3))) {
          piece.centre = 0.25 * (corners[0] + corners[1] + corners[2] + corners[3]);
          return;
        }
        const Vec3 centre = first / (4 * volume);
        piece.centre = corners[0] + centre;
        piece.second = second / 120 - piece.volume * centre * centre.transpose();
      },
      32);
  return pieces;
}

}  // namespace sunder::soft
