// The loop behind buildHp and refitHp: cells wait in a queue by their error, and the worst are refined until
// the target is met. Private to the room.
//
// Cells are tried in batches of a fixed size, so that the result does not depend on the number of threads.
#pragma once

#include "sunder/base/work.h"
#include "sunder/sdf/hp/hp_build.h"
#include "sunder/sdf/hp/hp_probe.h"
#include "sunder/sdf/near_field.h"

#include <functional>
#include <memory>
#include <queue>

namespace sunder::sdf {

// What a change means for a leaf: nothing, something somewhere, everything everywhere.
enum class HpTouch : uint8_t { None, Mixed, Whole };

// A field that is cut: the larger of the field behind `old`, which is within `slack` almost everywhere, and
// `cutter`. Where it decides by the old field, what it says is wrong by no more than the old field was. As a
// field it answers like `whole`, but asks it only where the cutter does not win for sure.
struct HpCut final : public Field {
  HpCut(const Field& w, const HpForest& o, const Field& c, double s)
      : whole(w), old(o), cutter(c), slack(s) {}

  // Neither field grows faster than a distance: the middle of a cell tells about all of it.
  HpTouch touch(const Box3& cell) const;

  void values(std::span<const Vec3> points, std::span<double> out) const override;
  void samples(std::span<const Vec3> points, std::span<FieldSample> out) const override;
  Box3 bounds() const override { return whole.bounds(); }

  const Field& whole;
  const HpForest& old;
  const Field& cutter;
  const double slack;
};

constexpr size_t kHpStopSamples = 8192;  // in the whole domain, to decide when to stop

class HpBuilder {
 public:
  HpBuilder(const Field& source, const HpSettings& settings, const Box3& domain, std::array<uint32_t, 3> base,
            HpReport& report);

  // One of these, then run().
  void startFresh();
  void startFromBox(const HpForest& old, const Box3& changed);
  void startFromCut(const HpForest& old, const Field& cutter);
  HpForest run();

 private:
  struct Cell {
    HpCell place;
    int degree = 0;
    uint32_t version = 0;
    bool leaf = true;
    double error = 0;  // weighted
    std::vector<double> coefficients;
    HpProbe::Range probes;
    double measured = 0;             // sum of the squared errors at its points of the probe
    HpTouch touch = HpTouch::Whole;  // by the change of a refit
    bool kept = false;               // though touched
  };
  struct Fitted {
    HpFit fit;
    double measured = 0;
  };
  struct Trial {
    Fitted raised;
    std::array<Fitted, 8> children;
    std::array<HpProbe::Range, 8> probes;  // of the children
  };
  struct Waiting {
    double error;
    uint32_t cell, version;
    bool operator<(const Waiting& other) const {
      return error != other.error ? error < other.error : cell > other.cell;
    }
  };

  std::vector<HpCell> baseCells() const;
  void setTarget(double volume);
  uint64_t cellSamples(int degree) const;
  double weight(double mean) const;
  double weight(double first, uint32_t level) const;

  Fitted fit(const Field& source, const HpCell& place, int degree, const HpProbe::Range& probes) const;
  static void take(Cell& cell, Fitted& fitted);
  void fitAll(std::span<const uint32_t> which);
  void push(uint32_t index);
  bool mayPay(const Cell& cell) const;
  Trial attempt(const Cell& cell, bool mayRaise = true) const;
  void commit(uint32_t index, Trial& trial);
  HpEnd refine(Work& work, uint64_t least);
  HpEnd limitMet() const;
  void tell(Work& work) const;
  void recount();
  bool met() const;
  void finish();
  void resolveThinPlaces(Work& work);
  void measure(uint64_t seed);

  void prepareProbe(size_t count);
  void gatherProbe(std::span<const uint32_t> cellOf);
  void prepareDistanceSamples();

  // Of a refit.
  std::vector<uint32_t> startFrom(const HpForest& old, const std::function<HpTouch(const Box3&)>& touchOf);
  std::vector<uint32_t> takeCells(const HpForest& old, std::span<const HpTouch> touch);
  void fitUnlessItAgrees(Cell& cell) const;
  void fitToCut(Cell& cell) const;
  void keep(Cell& cell) const;

  const Field& exact_;
  const Field* source_;  // of the values that are fitted to: the exact field or its cached distance samples
  const HpSettings& settings_;
  HpReport& report_;
  HpForest forest_;
  double volume_ = 0, diagonal_ = 0, target_ = 0, total_ = 0, measured_ = 0;
  double stopError_ = 0;  // at the points to stop by
  uint64_t coefficients_ = 0, values_ = 0, commits_ = 0;
  std::vector<Cell> cells_;
  std::priority_queue<Waiting> queue_;
  std::unique_ptr<HpProbe> probe_;
  std::unique_ptr<NearField> near_;
  std::unique_ptr<HpCut> cut_;  // of a refit after a cut
  std::vector<Box3> refined_;   // where the target is to be met
};

}  // namespace sunder::sdf
