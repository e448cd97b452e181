#include "sunder/fem/elements.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sunder::fem {

namespace {

constexpr double kFlat = 1e-12;

// False for tetrahedra that are no basis for gradients.
bool makeElement(const geometry::TetMesh& mesh, const geometry::Tetrahedron& tet, double fraction,
                 Element& out) {
  const Vec3& o = mesh.positions[tet[0]];
  const Vec3 a = mesh.positions[tet[1]] - o, b = mesh.positions[tet[2]] - o, c = mesh.positions[tet[3]] - o;
  const Vec3 bc = b.cross(c), ca = c.cross(a), ab = a.cross(b);
  const double six = a.dot(bc);
  const double edge = (a.norm() + b.norm() + c.norm() + (b - a).norm() + (c - a).norm() + (c - b).norm()) / 6;
  if (!(six > 6 * kFlat * edge * edge * edge)) return false;
  const double inverse = 1 / six;
  out.gradient[1] = inverse * bc;
  out.gradient[2] = inverse * ca;
  out.gradient[3] = inverse * ab;
  out.gradient[0] = -(out.gradient[1] + out.gradient[2] + out.gradient[3]);
  out.volume = fraction * six / 6;
  return std::isfinite(inverse);
}

[[noreturn]] void refuse(const geometry::TetMesh& mesh, size_t t) {
  const geometry::Tetrahedron& tet = mesh.tets[t];
  for (const uint32_t v : tet)
    if (v >= mesh.positions.size())
      throw Error(ErrorKind::Geometry, fmt::format("tetrahedron {} refers to vertex {}, but there are {}", t,
                                                   v, mesh.positions.size()));
  const Vec3& o = mesh.positions[tet[0]];
  const double six =
      (mesh.positions[tet[1]] - o).dot((mesh.positions[tet[2]] - o).cross(Vec3(mesh.positions[tet[3]] - o)));
  if (six < 0)
    throw Error(ErrorKind::Geometry, fmt::format("tetrahedron {} is inverted", t))
        .hint("`sunder tet` turns those of a file; geometry::flipInverted does");
  throw Error(ErrorKind::Geometry, fmt::format("tetrahedron {} is flat: its volume is {:.3g}", t, six / 6))
      .hint("merge its vertices or fill the surface again");
}

}  // namespace

void makeElements(const geometry::TetMesh& mesh, std::span<const double> fractions,
                  std::vector<Element>& elements) {
  const size_t count = mesh.tets.size();
  if (!fractions.empty() && fractions.size() != count)
    throw Error(ErrorKind::Usage,
                fmt::format("{} volume fractions for {} tetrahedra", fractions.size(), count));
  for (size_t t = 0; t < fractions.size(); ++t)
    if (!(fractions[t] > 0 && fractions[t] <= 1))
      throw Error(ErrorKind::Usage, fmt::format("volume fraction of tetrahedron {} is {}", t, fractions[t]))
          .hint("fractions are above 0 and at most 1; leave tetrahedra without volume out of the mesh");
  elements.resize(count);
  const size_t vertices = mesh.positions.size();
  constexpr size_t kGrain = 2048;
  const auto block = [&](size_t begin, size_t end) {
    for (size_t t = begin; t < end; ++t) {
      const geometry::Tetrahedron& tet = mesh.tets[t];
      const bool there = std::max({tet[0], tet[1], tet[2], tet[3]}) < vertices;
      if (!there || !makeElement(mesh, tet, fractions.empty() ? 1 : fractions[t], elements[t])) return t;
    }
    return count;
  };
  // The first of all, whichever block finds one first.
  const size_t bad = parallelReduce(
      count, count, block, [](size_t x, size_t y) { return std::min(x, y); }, kGrain);
  if (bad < count) refuse(mesh, bad);
}

Mat3 stiffnessBlock(const Element& e, const ElasticMaterial& material, int a, int b) {
  const Vec3 &p = e.gradient[a], &q = e.gradient[b];
  const double lambda = material.lambda(), mu = material.mu();
  return e.volume * (lambda * p * q.transpose() + mu * q * p.transpose() + mu * p.dot(q) * Mat3::Identity());
}

void lumpedMasses(const geometry::TetMesh& mesh, std::span<const Element> elements, double density,
                  std::span<const MassShares> shares, std::vector<double>& masses) {
  masses.assign(mesh.positions.size(), 0);
  for (size_t t = 0; t < elements.size(); ++t)
    for (size_t k = 0; k < 4; ++k)
      masses[mesh.tets[t][k]] +=
          shares.empty() ? density * elements[t].volume / 4 : density * elements[t].volume * shares[t][k];
}

void requireValid(std::span<const MassShares> shares, size_t tets) {
  if (!shares.empty() && shares.size() != tets)
    throw Error(ErrorKind::Usage, fmt::format("{} shares of mass for {} tetrahedra", shares.size(), tets));
  for (size_t t = 0; t < shares.size(); ++t) {
    const MassShares& s = shares[t];
    const double sum = s[0] + s[1] + s[2] + s[3];
    if (!(std::min({s[0], s[1], s[2], s[3]}) >= 0) || !(std::abs(sum - 1) <= 1e-9))
      throw Error(ErrorKind::Usage,
                  fmt::format("the vertices of tetrahedron {} have shares of its mass of {}, {}, {} and {}",
                              t, s[0], s[1], s[2], s[3]))
          .hint("shares are not negative and add up to 1");
  }
}

}  // namespace sunder::fem
