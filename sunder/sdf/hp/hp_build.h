// Construction of hp-adaptive signed distance fields (Koschier, Deul, Brand and Bender 2017): a grid of
// octrees whose cells are split (h) or raised in degree (p), always the cell with the largest error first and
// always the way that removes more error per coefficient, until the target is met.
//
// A raise is not tried where the last shell of coefficients is nearly as large as the one before it, unless
// the estimate decides when to stop, as published.
//
// Error of a cell: the squares of the coefficients of the last shell, which is what the polynomial of one
// degree less would miss; at least `guard` times the shell before it, since odd shells vanish where the field
// is symmetric about the cell's centre and the loop would stop with a wrong field. The estimate is of the
// squared error integrated over the domain; it is conservative where the field is smooth.
//
// Guarantee: the result depends on source and settings alone, not on threads. What was reached is measured at
// random points that construction did not use and stated in the report; where those show that the target is
// missed after all, refinement goes on and fresh points measure again. Construction always ends: at the
// target, or at a limit of coefficients, values, level and degree.
// Cost: values of the source. Cells of degree p take (2p + 1)^3 with the standard rule, (p + 1)^3 with the
// lean one. Where the source can answer from cached distance samples, almost all of them cost a tenth of an
// exact one.
#pragma once

#include "sunder/sdf/field.h"
#include "sunder/sdf/hp/hp_fit.h"
#include "sunder/sdf/hp/hp_forest.h"

#include <string>

namespace sunder::sdf {

// Errors far from the surface may count less: by (1 - |mean distance| / diagonal)^theta, or by
// exp(-theta |mean distance| / diagonal).
enum class Nearness { None, Polynomial, Exponential };

enum class HpStop {
  Measured,  // when the error at random samples meets the target
  Estimate,  // when the estimate does, as published
};

// Where the values come from that polynomials are fitted to.
enum class HpSampling {
  Exact,  // the source itself
  // Where the source offers it (Field::near) and the stop is measured: cached distance samples, as far apart
  // as leaves the target error room; the source itself where no spacing does.
  DistanceSamples,
};

struct HpSettings {
  double error = 1e-3;  // root of the mean squared error over the domain, length
  HpStop stop = HpStop::Measured;
  Box3 domain = {};  // empty: the source's bounds, a tenth larger
  std::array<uint32_t, 3> base{0, 0,
                               0};  // 0: four cells along the longest side, about as long along the others
  int firstDegree = 2;
  int maxDegree = kLargestDegree;  // equal to firstDegree: octree refinement alone
  int maxLevel = 10;
  Quadrature quadrature = Quadrature::Standard;
  HpSampling sampling = HpSampling::DistanceSamples;
  double guard = 0.05;
  double alpha = 8;  // how much the estimate of a raised degree is distrusted
  Nearness nearness = Nearness::None;
  double theta = 4;
  // Walls and gaps thinner than this many target errors are refined until the sign in their middle is right,
  // as far as the level allows; 0 leaves them to the error alone, which does not see them.
  double thinReach = 16;
  uint64_t mostCoefficients = 50'000'000;  // 400 MB
  // Values that cells may be fitted to, all trials together; those found from cached distance samples count a
  // tenth. Where the target is out of reach (a field that jumps, as that of an open mesh does), construction
  // ends here with the best field so far.
  uint64_t mostValues = 50'000'000;
  // Whether a request to stop (base/stop.h) while cells are refined gives the field so far; else it throws
  // Interrupted, as it does before there is a field.
  bool keepOnStop = false;
};

enum class HpEnd {
  Target,     // the target is met, by `measured` too where that decides (HpStop::Measured)
  Memory,     // the limit of coefficients was met first
  Budget,     // the limit of values was met first
  Exhausted,  // no cell may be refined further
  Stopped,    // a stop was requested first
};

struct HpReport {
  HpEnd end = HpEnd::Target;
  double estimate = 0;       // root of the mean squared error, as estimated (weighted by nearness)
  double measured = 0;       // the same, measured at random points
  double measuredShare = 1;  // of the domain, where those points are: less than all after a refit
  double measuredMax = 0;    // largest error among them
  double measuredNear = 0;   // largest error among those nearer to the surface than 1/40 of the diagonal
  uint64_t samples = 0;      // exact answers of the source, those for measuring included
  uint64_t nearSamples = 0;  // values found from cached distance samples
  double distanceSampleSpacing = 0;  // 0: there are none
  double distanceSampleError = 0;    // root of the mean squared error of such values, measured
  uint64_t refinedH = 0, refinedP = 0;
  uint64_t exhausted = 0;  // cells at both limits
  uint64_t thinPlaces = 0,
           lostPlaces = 0;  // points in thin walls and gaps; those where the field has the wrong sign
};

// Throws Error (Usage) for settings that make no sense, Error (Geometry) for a source without finite bounds
// where no domain is given, Error (Numerical) where the source answers with something that is not finite.
HpForest buildHp(const Field& source, const HpSettings& settings, HpReport& report);

// Fits again where the field changed: the leaves that overlap `changed` are fitted to `source` at their
// degree and refined until the target is met in them; all others keep their coefficients bit for bit. So do
// those leaves that still agree with the source at eight points as well as they agreed before, and cells all
// of whose leaves may have changed take the leaves' place where a cubic is good enough now. The errors in the
// report are those of the leaves that may have changed.
HpForest refitHp(const HpForest& forest, const Field& source, const Box3& changed, const HpSettings& settings,
                 HpReport& report);

// The same for a body of which only what lies inside of `cutter` is left: `source` is the larger of the field
// that `forest` was fitted to with the same target, and the cutter's. Where the cutter is larger for sure it
// is asked alone, and where it is smaller for sure nothing is done. Neither field may grow faster than a
// distance.
HpForest refitAfterCut(const HpForest& forest, const Field& source, const Field& cutter,
                       const HpSettings& settings, HpReport& report);

// Errors of the forest against the source at `count` random points of the domain, and at those of them that
// are near the surface: root mean square and largest. Where walls are thin the ridge of the distance is near
// the surface too, and with it the largest errors.
struct HpError {
  double rms = 0, largest = 0, largestNear = 0, rmsNear = 0;
};
HpError measureHp(const HpForest& forest, const Field& source, size_t count, uint64_t seed, double near);

}  // namespace sunder::sdf
