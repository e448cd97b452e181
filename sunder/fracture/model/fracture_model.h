// How a body breaks when it is struck: the interface that users swap. A model decides whether impacts can
// break a body at all, cuts it where they do, and writes down what it cut, so that the same pieces can be
// made again without the analysis.
//
//   StressModel    cracks where the largest principal stress passes the strength (adaptive_fracture.h)
//   VoronoiModel   cells of random points, once, at an impulse (voronoi.h)
//
// Models keep no state of a body: strike() may be called for many bodies at the same time, and its result is
// a function of its arguments, for any number of threads.
#pragma once

#include "sunder/base/scratch_pool.h"
#include "sunder/fracture/model/adaptive_fracture.h"
#include "sunder/fracture/model/voronoi.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace sunder {
class ByteReader;
class ByteWriter;
}  // namespace sunder

namespace sunder::fracture {

// A body that was struck, in its rest coordinates.
struct StruckBody {
  const CrackedMesh& mesh;
  Box3 bounds;
  Vec3 centre = Vec3::Zero();  // of mass
  double mass = 0;             // kg
  bool whole = true;           // it has never broken
  std::span<const Impact> impacts;
  double edge = 0;        // mean length of the edges before it ever broke
  double leastPart = 0;   // of its volume: smaller pieces stay with a neighbour
  Neighbours neighbours;  // of its tetrahedra, where they are known
};

// What was cut, in numbers of the mesh before: enough to cut it again.
struct BreakPlan {
  std::vector<PlannedCrack> cracks;
  std::vector<Vec3> sites;  // of Voronoi cells, instead of cracks
};

struct BreakOutcome {
  std::optional<BrokenBody> broken;  // none: nothing broke
  BreakPlan plan;
  uint64_t analyses = 0, cracks = 0, tinyParts = 0;
  uint64_t cutShort = 0;  // 1 where the limit of work ended the analysis: cracks may be missing
  FractureStages seconds;
};

class FractureModel {
 public:
  virtual ~FractureModel() = default;
  // False where the impacts are surely too weak; cheap.
  virtual bool mayBreak(const StruckBody& body) const = 0;
  // `nextCrack`: above all cracks of the body; is raised, by mostCracks() at most. Throws Error (Limit,
  // Numerical, Geometry) for bodies that cannot be analysed.
  virtual BreakOutcome strike(const StruckBody& body, uint32_t& nextCrack) const = 0;
  virtual uint32_t mostCracks() const = 0;

  // The pieces of a plan again. Throws Error where the plan is not of this body.
  virtual BrokenBody repeat(const StruckBody& body, const BreakPlan& plan, uint32_t& nextCrack) const = 0;
  // Whether the plan is one of this model; in words what is wrong, or empty.
  virtual std::string problemOf(const BreakPlan& plan) const = 0;
};
using FractureModelPtr = std::shared_ptr<const FractureModel>;

using AnalysisPool = ScratchPool<AdaptiveFracture>;  // analyses keep their memory from one impact to the next

// `settings.leastPart` is taken from the body that is struck. Models of many bodies share a pool.
FractureModelPtr makeStressModel(const BrittleMaterial& material, const FractureSettings& settings,
                                 std::shared_ptr<AnalysisPool> pool);

struct VoronoiSettings {
  uint32_t sites = 10;
  double impulse = 0;  // N s: weaker impacts do not break it
  double focus = 1;    // how much the points crowd around the impact
  uint64_t seed = 1;
  uint32_t mostCracks = 16;  // numbers of cracks that it keeps free; more cells may meet
};
FractureModelPtr makeVoronoiModel(const VoronoiSettings& settings);

void save(ByteWriter& out, const BreakPlan& plan);
// Throws Error (Format) for cracks through tetrahedra beyond `tets`, empty cracks, or numbers that are not
// finite.
BreakPlan loadPlan(ByteReader& in, size_t tets);

}  // namespace sunder::fracture
