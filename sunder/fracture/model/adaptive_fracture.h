// Brittle fracture by stress analysis on meshes that refine and coarsen themselves (specification 07): an
// impact becomes a force, a short elastic analysis of the free body follows it in time, cracks start where
// the largest principal stress passes the strength, run through the body, and what they separate becomes
// pieces.
//
// The mesh is refined near peaks of the stress and along cracks, each time with the analysis done again from
// the start (cracks that were there at their times), and coarsened afterwards except where cracks cut it.
// Nothing is interpolated between meshes.
//
// Guarantees: pieces fill the body exactly; an impact that breaks nothing leaves the mesh as it was; the same
// pieces for any number of threads. Cost: an assembly, a factorisation and `steps` substitutions for every
// mesh on the way, most often one to four, and never more than `mostWork`.
#pragma once

#include "sunder/fem/dynamics.h"
#include "sunder/fem/material.h"
#include "sunder/fem/recovery.h"
#include "sunder/fracture/crack/crack.h"
#include "sunder/fracture/crack/cracked_mesh.h"
#include "sunder/fracture/model/contact_pulse.h"
#include "sunder/fracture/model/seeds.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sunder::fracture {

struct BrittleMaterial {
  fem::ElasticMaterial elastic;
  double strength = 3e7;      // Pa: largest principal stress
  double surfaceEnergy = 10;  // J/m^2, for cracks that stop
};
// Throws Error (Usage) for a strength or energy that is not positive; infinite strength is allowed.
void requireValid(const BrittleMaterial& material);
// The values of a material that an analysis takes. A surface energy that is not known stays at the default
// above; Young's modulus and strength must be known for the result to be valid.
BrittleMaterial brittleMaterial(const material::Material& material);

struct FractureSettings {
  ContactModel contact;
  uint32_t steps = 20;  // of the analysis over the longest contact
  fem::TimeScheme scheme = fem::TimeScheme::BackwardEuler;
  fem::Recovery recovery = fem::Recovery::Lumped;
  double alpha = 0;     // 1/s
  double beta = 0.032;  // of the longest contact's duration: damping 0.1 at that period
  double gamma = 0.8;
  double fading = 0.1;       // of strength / duration
  uint32_t cycles = 1;       // of refinement; edges become a third in each
  bool refineCracks = true;  // also along cracks
  bool coarsen = true;
  bool finePieces =
      true;             // pieces keep refined tetrahedra along their cracks; else those of the body are cut
  bool arrest = false;  // cracks stop when the elastic energy does not pay for more surface
  double trigger =
      0.05;  // of strength * smallest cross-section * duration: smaller impulses are passed over; 0: none
  bool everyStress = true;   // else steps in which nothing can reach the strength are not recovered
  CrackNoise noise;          // amplitude 0: planes
  uint32_t mostCracks = 64;  // in one impact
  double leastPart = 1e-4;   // of the body's volume: smaller pieces heal, joined with a neighbour
  // Work after which the analysis ends with the cracks so far, in tetrahedra times steps of time; making the
  // equations of a mesh ready counts as kPrepareSteps steps.
  double mostWork = 1e8;
};
inline constexpr double kPrepareSteps = 20;

// An impact on the body, in rest coordinates.
struct Impact {
  Vec3 point = Vec3::Zero();
  Vec3 impulse = Vec3::Zero();  // on the body, N s
  double speed = 1;             // relative normal speed before, m/s
  ContactSide other;
};

struct FractureStages {
  double assemble = 0, factor = 0, substitute = 0, recover = 0, refine = 0, coarsen = 0, dissect = 0,
         partition = 0;
  double total() const {
    return assemble + factor + substitute + recover + refine + coarsen + dissect + partition;
  }
  void add(const FractureStages& other);
};

struct CrackRecord {
  uint32_t id = 0;
  Vec3 seed = Vec3::Zero(), normal = Vec3::UnitX();
  double time = 0;    // since the impact, s
  double stress = 0;  // at the seed
  double area = 0;
};

// A body with cracks, and which piece each of its tetrahedra is of.
struct BrokenBody {
  Dissection cracked;  // sources are numbers of the body
  std::vector<uint32_t> piece;
  uint32_t pieces = 1;
  uint32_t tinyParts = 0;  // that stayed with a neighbour
};
// Cuts a body by cracks whose slots are numbers of its tetrahedra.
BrokenBody applyCracks(const CrackedMesh& body, std::span<const PlannedCrack> cracks);

struct FractureOutcome {
  bool analysed = false;  // false: passed over as too weak
  std::vector<CrackRecord> cracks;
  std::vector<PlannedCrack> plan;    // without finePieces: what applyCracks makes the pieces from
  std::optional<BrokenBody> broken;  // what cracks made of it; sources are numbers before them
  std::vector<CrackedMesh> pieces;   // with finePieces: one or more; the body itself where nothing cracked
  double largestStress = 0;          // seen at a vertex, in the steps that were recovered
  double duration = 0;               // of the analysis, s
  size_t tets = 0, refinedTets = 0;  // before; the most on the way
  uint32_t analyses = 0;             // meshes that were analysed from the start
  uint32_t steps = 0;                // of time that were analysed: less than asked for where the work ran out
  double work = 0;                   // as FractureSettings::mostWork counts it
  uint32_t fadingSeeds = 0;          // that the rate excluded
  uint32_t tinyParts = 0;            // that healed
  uint32_t splinters = 0;            // pieces that are too small but could not
  FractureStages seconds;
};

class AdaptiveFracture {
 public:
  // `edge`: mean length of the edges of the body before it ever broke: refinement stops at edge / 3^cycles.
  // `nextCrack`: above all cracks of the body; is raised. Throws Error (Usage, Geometry, Numerical) for
  // materials and meshes that cannot be analysed.
  FractureOutcome strike(const CrackedMesh& body, const BrittleMaterial& material,
                         std::span<const Impact> impacts, const FractureSettings& settings, double edge,
                         uint32_t& nextCrack);

  // Whether an impact is too weak to be analysed.
  static bool hopeless(const Box3& bounds, double mass, const BrittleMaterial& material, const Impact& impact,
                       const Vec3& centre, const FractureSettings& settings);

 private:
  friend class FractureRun;
  fem::ElasticDynamics dynamics_;
  fem::StressRecovery recovery_;
};

double meanEdge(const geometry::TetMesh& mesh);

}  // namespace sunder::fracture
