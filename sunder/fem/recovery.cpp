#include "sunder/fem/recovery.h"

#include "sunder/base/parallel.h"

#include <algorithm>
#include <cassert>

namespace sunder::fem {

namespace {
constexpr size_t kTetGrain = 2048, kVertexGrain = 1024;
}

void elementStresses(const ElasticBody& body, std::span<const Vec3> u, std::span<Stress> stresses) {
  assert(u.size() == body.vertices() && stresses.size() == body.tets());
  const double mu = body.material().mu(), lambda = body.material().lambda();
  const std::span<const Element> elements = body.elements();
  parallelFor(
      body.tets(),
      [&](size_t t) {
        const geometry::Tetrahedron& tet = body.mesh().tets[t];
        const Element& e = elements[t];
        double s[6] = {};
        for (size_t a = 0; a < 4; ++a) {
          const Vec3 &w = u[tet[a]], &g = e.gradient[a];
          s[0] += w.x() * g.x();
          s[1] += w.y() * g.y();
          s[2] += w.z() * g.z();
          s[3] += w.x() * g.y() + w.y() * g.x();
          s[4] += w.y() * g.z() + w.z() * g.y();
          s[5] += w.z() * g.x() + w.x() * g.z();
        }
        const double pressure = lambda * (s[0] + s[1] + s[2]);
        Stress& out = stresses[t];
        for (int k = 0; k < 3; ++k) out[k] = 2 * mu * s[k] + pressure;
        for (int k = 3; k < 6; ++k) out[k] = mu * s[k];
      },
      kTetGrain);
}

void lumpedStresses(const ElasticBody& body, std::span<const Stress> elements, std::span<Stress> vertices) {
  assert(elements.size() == body.tets() && vertices.size() == body.vertices());
  parallelFor(
      body.vertices(),
      [&](size_t i) {
        Stress sum = Stress::Zero();
        double volume = 0;
        for (const uint32_t entry : body.pattern().star(i)) {
          const double v = body.elements()[entry / 4].volume;
          sum += v * elements[entry / 4];
          volume += v;
        }
        vertices[i] = volume > 0 ? Stress(sum / volume) : Stress::Zero();
      },
      kVertexGrain);
}

void PatchRecovery::apply(std::span<const Stress> elements, std::span<Stress> vertices) const {
  assert(vertices.size() + 1 == offsets_.size());
  parallelFor(
      vertices.size(),
      [&](size_t i) {
        Stress sum = Stress::Zero();
        for (uint32_t k = offsets_[i]; k < offsets_[i + 1]; ++k)
          sum += entries_[k].weight * elements[entries_[k].tet];
        vertices[i] = sum;
      },
      kVertexGrain);
}

void StressRecovery::setBody(const ElasticBody& body, Recovery recovery) {
  body_ = &body;
  recovery_ = recovery;
  if (recovery == Recovery::Patch) patches_.build(body);
  elements_.assign(body.tets(), Stress::Zero());
  elementRates_.assign(body.tets(), Stress::Zero());
  vertices_.assign(body.vertices(), Stress::Zero());
  vertexRates_.assign(body.vertices(), Stress::Zero());
  principals_.assign(body.vertices(), Principal{});
}

void StressRecovery::atVertices(std::span<const Stress> elements, std::span<Stress> vertices) const {
  if (recovery_ == Recovery::Patch)
    patches_.apply(elements, vertices);
  else
    lumpedStresses(*body_, elements, vertices);
}

void StressRecovery::update(std::span<const Vec3> displacements, std::span<const Vec3> velocities) {
  elementStresses(*body_, displacements, elements_);
  atVertices(elements_, vertices_);
  if (velocities.empty()) {
    principalStresses(vertices_, {}, principals_);
    return;
  }
  elementStresses(*body_, velocities, elementRates_);
  atVertices(elementRates_, vertexRates_);
  principalStresses(vertices_, vertexRates_, principals_);
}

uint32_t StressRecovery::strongest() const {
  const auto most =
      std::max_element(principals_.begin(), principals_.end(),
                       [](const Principal& a, const Principal& b) { return a.value < b.value; });
  return static_cast<uint32_t>(most - principals_.begin());
}

double elasticEnergy(const ElasticBody& body, std::span<const Stress> elements) {
  const double young = body.material().young, poisson = body.material().poisson;
  return parallelReduce(
             body.tets(), 0.0,
             [&](size_t begin, size_t end) {
               double sum = 0;
               for (size_t t = begin; t < end; ++t) {
                 const Stress& s = elements[t];
                 const double trace = s[0] + s[1] + s[2];
                 const double square = s.head<3>().squaredNorm() + 2 * s.tail<3>().squaredNorm();
                 sum += body.elements()[t].volume * ((1 + poisson) * square - poisson * trace * trace);
               }
               return sum;
             },
             [](double x, double y) { return x + y; }, kTetGrain) /
         (2 * young);
}

}  // namespace sunder::fem
