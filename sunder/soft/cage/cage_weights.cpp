#include "sunder/base/parallel.h"
#include "sunder/geometry/mass_properties.h"
#include "sunder/geometry/normals.h"
#include "sunder/geometry/predicates.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/soft/cage/clip_triangle.h"
#include "sunder/soft/cage/plane_weights.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace sunder::soft {

namespace {

using geometry::orient3d;

constexpr double kOnFace = 1e-12;  // heights over a face, as a share of its longest edge

}  // namespace

ClipSurface::ClipSurface(const geometry::TriMesh& surface) : mesh(surface) {
  const double inwards = geometry::massProperties(surface).volume < 0 ? 1 : -1;
  aside = geometry::vertexNormals(surface);
  parallelFor(aside.size(), [&](size_t v) {
    // A direction of its own for each vertex, so that no second contact happens in the same place.
    Vec3 own;
    for (int k = 0; k < 3; ++k) {
      uint64_t x = (3 * v + uint64_t(k) + 1) * 0x9e3779b97f4a7c15u;  // the finaliser of SplitMix64
      x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
      x = (x ^ x >> 27) * 0x94d049bb133111ebu;
      own[k] = double((x ^ x >> 31) >> 11) * 0x1p-53 - 0.5;
    }
    aside[v] = inwards * aside[v] + 0.125 * own;
  });
}

Vec4 cageWeights(const geometry::TetMesh& cage, uint32_t t, const Vec3& point) {
  const geometry::Tetrahedron& tet = cage.tets[t];
  const std::vector<Vec3>& x = cage.positions;
  unsigned on = 0;
  Vec4 volumes;
  for (size_t f = 0; f < 4; ++f) {
    std::array<uint32_t, 3> face = geometry::tetFace(tet, f);
    const int parity = sortCorners(face);
    const Vec3 &a = x[face[0]], &b = x[face[1]], &c = x[face[2]];
    const double volume = orient3d(a, b, c, point);
    volumes[int(f)] = -parity * volume;
    const double longest =
        std::sqrt(std::max({(b - a).squaredNorm(), (c - b).squaredNorm(), (a - c).squaredNorm()}));
    if (std::abs(volume) <= kOnFace * longest * (b - a).cross(c - a).norm()) on |= 1u << f;
  }
  Vec4 weights = Vec4::Zero();
  std::array<int, 4> left{};  // by ascending vertex
  size_t corners = 0;
  for (int k = 0; k < 4; ++k) {
    if (on >> k & 1) continue;
    size_t at = corners++;
    for (; at > 0 && tet[size_t(left[at - 1])] > tet[size_t(k)]; --at) left[at] = left[at - 1];
    left[at] = k;
  }
  const auto corner = [&](size_t i) -> const Vec3& { return x[tet[size_t(left[i])]]; };
  if (corners == 4) {
    weights = volumes / orient3d(x[tet[0]], x[tet[1]], x[tet[2]], x[tet[3]]);
    weights[0] = 1 - weights[1] - weights[2] - weights[3];
  } else if (corners == 3) {
    const Vec3 w = weightsInPlane(corner(0), corner(1), corner(2), point);
    for (int i = 0; i < 3; ++i) weights[left[size_t(i)]] = w[i];
  } else if (corners == 2) {
    const Vec3 along = corner(1) - corner(0);
    const double s = (point - corner(0)).dot(along) / along.squaredNorm();
    weights[left[0]] = 1 - s;
    weights[left[1]] = s;
  } else {
    weights[left[0]] = 1;
  }
  return weights;
}

}  // namespace sunder::soft
