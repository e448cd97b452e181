// Stress from displacements, and its rate from velocities (specification 07, M4). Stress is constant in a
// tetrahedron; at vertices it is recovered in one of two ways:
//
//   lumped  the mean over the vertex's tetrahedra, weighted by volume: the lumped L2 projection. Never beyond
//           what the tetrahedra have; at the boundary it lags behind by half an element.
//   SPR     superconvergent patch recovery (Zienkiewicz and Zhu 1992): the linear function nearest to the
//           stresses at the centroids around, taken at the vertex. Reproduces linear stress exactly, peaks at
//           the boundary included. The patch grows by a ring where the vertex lies on the boundary or its
//           tetrahedra do not determine the function; where two more rings do not help, or the value would be
//           an extrapolation of more than kMostWeight, the mean stands in.
//
// Same bits for any number of threads.
#pragma once

#include "sunder/fem/body.h"
#include "sunder/fem/principal.h"
#include "sunder/geometry/rows.h"

#include <span>
#include <vector>

namespace sunder::fem {

// One per tetrahedron. The same function makes rates of velocities.
void elementStresses(const ElasticBody& body, std::span<const Vec3> displacements,
                     std::span<Stress> stresses);

// Per vertex, lumped; zero at vertices without tetrahedra.
void lumpedStresses(const ElasticBody& body, std::span<const Stress> elements, std::span<Stress> vertices);

// SPR for one body: a vertex's stress is a sum of its patch's with weights that depend on the mesh alone.
class PatchRecovery {
 public:
  static constexpr double kMostWeight = 8;  // sum of the magnitudes of a vertex's weights; of a mean it is 1

  void build(const ElasticBody& body);
  void apply(std::span<const Stress> elements, std::span<Stress> vertices) const;
  size_t means() const { return means_; }  // vertices where the mean stands in

 private:
  struct Entry {
    uint32_t tet;
    double weight;
  };
  std::vector<uint32_t> offsets_{0};
  std::vector<Entry> entries_;
  size_t means_ = 0;
};

enum class Recovery { Lumped, Patch };

// Everything at once, with memory that is kept: stresses and rates of tetrahedra and vertices, principal
// values of vertices.
class StressRecovery {
 public:
  // Must follow a change of the body; makes the patches for Recovery::Patch.
  void setBody(const ElasticBody& body, Recovery recovery = Recovery::Lumped);
  // Velocities may be left out; rates are zero then.
  void update(std::span<const Vec3> displacements, std::span<const Vec3> velocities = {});

  std::span<const Stress> elements() const { return elements_; }
  std::span<const Stress> elementRates() const { return elementRates_; }
  std::span<const Stress> vertices() const { return vertices_; }
  std::span<const Stress> vertexRates() const { return vertexRates_; }
  std::span<const Principal> principals() const { return principals_; }
  const PatchRecovery& patches() const { return patches_; }
  // The vertex with the largest principal stress, the first of several.
  uint32_t strongest() const;

 private:
  void atVertices(std::span<const Stress> elements, std::span<Stress> vertices) const;

  const ElasticBody* body_ = nullptr;
  Recovery recovery_ = Recovery::Lumped;
  PatchRecovery patches_;
  std::vector<Stress> elements_, elementRates_, vertices_, vertexRates_;
  std::vector<Principal> principals_;
};

// Elastic energy, sum over tetrahedra of V/2 stress : strain.
double elasticEnergy(const ElasticBody& body, std::span<const Stress> elements);

}  // namespace sunder::fem
