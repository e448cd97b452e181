#include "sunder/sdf/hp_build.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/sdf/hp_probe.h"
#include "sunder/sdf/near_field.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <queue>
#include <string>

namespace sunder::sdf {

namespace {

constexpr size_t kBatch = 32;          // cells tried at once: part of the result, so not a number of threads
constexpr size_t kStopSamples = 8192;  // to decide when to stop
constexpr size_t kFinalSamples = 20000;
constexpr uint64_t kStopSeed = 1, kFinalSeed = 2;
constexpr uint64_t kRecountEvery = 1000;
// Landmarks: along the longest side of the domain, and the share of the error that they may take.
constexpr double kFewestLandmarks = 24, kMostLandmarks = 130;
constexpr size_t kAgreePoints = 8;  // by which a refit decides to keep a leaf
constexpr size_t kLandmarkProbes = 1024;
constexpr double kLandmarkShare = 0.5;

int pointsPerAxis(int degree, Quadrature quadrature) {
  switch (quadrature) {
    case Quadrature::Lean:
      return degree + 1;
    case Quadrature::Source:
      return std::max(4 * degree, degree + 1);
    case Quadrature::Standard:
      break;
  }
  return 2 * degree + 1;
}

struct Cell {
  HpCell place;
  int degree = 0;
  uint32_t version = 0;
  bool leaf = true;
  double error = 0;  // weighted
  std::vector<double> coefficients;
  HpProbe::Range probes;
  double measured = 0;  // sum of the squared errors at its points of the probe
  bool kept = false;    // by a refit, though touched
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

// From the squares of the last two shells.
double errorEstimate(std::span<const double> c, int degree, double guard) {
  double before = 0, last = 0;
  for (size_t i = degree < 2 ? 0 : coefficientCount(degree - 2); i < coefficientCount(degree - 1); ++i)
    before += c[i] * c[i];
  for (size_t i = coefficientCount(degree - 1); i < coefficientCount(degree); ++i) last += c[i] * c[i];
  return std::max(last, guard * before);
}

struct Waiting {
  double error;
  uint32_t cell, version;
  bool operator<(const Waiting& other) const {
    return error != other.error ? error < other.error : cell > other.cell;
  }
};

class Builder {
 public:
  Builder(const Field& source, const HpSettings& settings, const Box3& domain, std::array<uint32_t, 3> base,
          HpReport& report)
      : exact_(source), source_(&source), settings_(settings), report_(report) {
    forest_.domain = domain;
    forest_.base = base;
    diagonal_ = domain.diagonal();
    refined_ = {domain};
    setTarget(domain.extent().prod());
  }

  void startFresh() {
    for (const HpCell& place : baseCells()) {
      cells_.emplace_back().place = place;
      cells_.back().degree = settings_.firstDegree;
    }
    const size_t count = cells_.size();
    forest_.child.assign(count, 0);
    prepareProbe(kStopSamples);
    if (probe_) {
      std::vector<uint32_t> cellOf(kStopSamples);
      const Vec3 size = forest_.baseSize();
      for (size_t i = 0; i < kStopSamples; ++i) {
        std::array<uint32_t, 3> at;
        for (int d = 0; d < 3; ++d) {
          const double u = (probe_->points()[i][d] - forest_.domain.lower[d]) / size[d];
          at[size_t(d)] =
              static_cast<uint32_t>(std::clamp(std::floor(u), 0.0, forest_.base[size_t(d)] - 1.0));
        }
        cellOf[i] = at[0] + forest_.base[0] * (at[1] + forest_.base[1] * at[2]);
      }
      gatherProbe(cellOf);
    }
    std::vector<uint32_t> all(count);
    for (size_t i = 0; i < count; ++i) all[i] = static_cast<uint32_t>(i);
    fitAll(all);
  }

  // The old tree is the guide: no trials. A cell all of whose leaves are touched takes their place where it
  // is good enough; a touched leaf that still agrees with the source stays as it is.
  void startFrom(const HpForest& old, const Box3& changed) {
    const std::vector<HpCell> places = leafCells(old);
    std::vector<uint8_t> touched(places.size());
    refined_.clear();
    double volume = 0;
    for (size_t leaf = 0; leaf < places.size(); ++leaf) {
      const Box3 box = cellBox(forest_, places[leaf]);
      touched[leaf] = overlap(box, changed);
      if (!touched[leaf]) continue;
      refined_.push_back(box);
      volume += box.extent().prod();
    }
    // The target is that of the touched part alone: what the rest lacks cannot be made good there.
    const double share = volume / volume_;
    setTarget(volume);
    if (!refined_.empty())
      prepareProbe(std::max(kStopSamples / 4, static_cast<size_t>(share * double(kStopSamples))));
    const std::vector<uint32_t> fitAnew = takeCells(old, touched);
    if (probe_) {
      std::vector<uint32_t> cellOf(probe_->points().size());
      parallelFor(
          cellOf.size(), [&](size_t i) { cellOf[i] = locate(forest_, probe_->points()[i]).leaf; }, 1024);
      gatherProbe(cellOf);
    }
    parallelFor(
        fitAnew.size(), [&](size_t i) { fitUnlessItAgrees(cells_[fitAnew[i]]); }, 1);
    for (const uint32_t index : fitAnew) {
      values_ += kAgreePoints;
      if (!cells_[index].kept) values_ += cellSamples(cells_[index].degree);
      push(index);
    }
  }

  HpForest run() {
    uint64_t pops = 0;
    std::vector<uint32_t> batch;
    std::vector<Trial> trials;
    report_.end = HpEnd::Target;
    while (!met()) {
      batch.clear();
      while (batch.size() < kBatch && !queue_.empty()) {
        const Waiting top = queue_.top();
        queue_.pop();
        const Cell& cell = cells_[top.cell];
        if (!cell.leaf || cell.version != top.version) continue;
        if (cell.degree >= settings_.maxDegree && cell.place.level >= uint32_t(settings_.maxLevel)) {
          ++report_.exhausted;
          continue;
        }
        batch.push_back(top.cell);
      }
      if (batch.empty()) {
        report_.end = HpEnd::Exhausted;
        break;
      }
      trials.assign(batch.size(), {});
      parallelFor(
          batch.size(), [&](size_t i) { trials[i] = attempt(cells_[batch[i]]); }, 1);
      bool full = false;
      for (size_t i = 0; i < batch.size(); ++i) {
        if (met()) break;
        if (coefficients_ >= settings_.mostCoefficients) {
          full = true;
          break;
        }
        commit(batch[i], trials[i]);
        if (++pops % kRecountEvery == 0) recount();
      }
      if (full) {
        report_.end = HpEnd::Memory;
        break;
      }
      if (settings_.progress) settings_.progress(std::sqrt(std::max(total_, 0.0) / volume_));
    }
    if (report_.end != HpEnd::Memory) resolveThinPlaces();
    recount();
    report_.estimate = volume_ > 0 ? std::sqrt(std::max(total_, 0.0) / volume_) : 0;
    finish();
    const HpError error =
        errorAt(forest_, HpProbe(exact_, {&forest_.domain, 1}, kFinalSamples, kFinalSeed), diagonal_ / 40);
    report_.samples += kFinalSamples;
    if (near_) {
      report_.nearSamples = values_;
      report_.samples += near_->searches();
    } else {
      report_.samples += values_;
    }
    report_.measured = error.rms;
    report_.measuredMax = error.largest;
    report_.measuredNear = error.largestNear;
    return std::move(forest_);
  }

 private:
  std::vector<HpCell> baseCells() const {
    std::vector<HpCell> cells;
    for (uint32_t k = 0; k < forest_.base[2]; ++k)
      for (uint32_t j = 0; j < forest_.base[1]; ++j)
        for (uint32_t i = 0; i < forest_.base[0]; ++i)
          cells.push_back({{i, j, k}, 0, static_cast<int32_t>(cells.size())});
    return cells;
  }

  void setTarget(double volume) {
    volume_ = volume;
    target_ = settings_.error * settings_.error * volume;
  }

  uint64_t cellSamples(int degree) const {
    const auto n = static_cast<uint64_t>(pointsPerAxis(degree, settings_.quadrature));
    return n * n * n;
  }

  // How much the error of a cell counts, from the mean of its polynomial.
  double weight(double mean) const {
    switch (settings_.nearness) {
      case Nearness::Polynomial:
        return std::pow(std::clamp(1 - std::abs(mean) / diagonal_, 0.0, 1.0), settings_.theta);
      case Nearness::Exponential:
        return std::exp(-settings_.theta * std::abs(mean) / diagonal_);
      case Nearness::None:
        break;
    }
    return 1;
  }
  double weight(double first, uint32_t level) const {
    return weight(first / std::sqrt(std::ldexp(forest_.baseSize().prod(), -3 * static_cast<int>(level))));
  }

  Fitted fit(const HpCell& place, int degree, const HpProbe::Range& probes) const {
    const Box3 box = cellBox(forest_, place);
    Fitted result{fitCell(*source_, box, degree, settings_.quadrature, settings_.guard)};
    result.fit.error *= weight(result.fit.coefficients[0], place.level);
    if (probe_) result.measured = probe_->squaredError(probes, box, degree, result.fit.coefficients);
    return result;
  }
  static void take(Cell& cell, Fitted& fitted) {
    cell.coefficients = std::move(fitted.fit.coefficients);
    cell.error = fitted.fit.error;
    cell.measured = fitted.measured;
  }
  void fitAll(std::span<const uint32_t> which) {
    parallelFor(
        which.size(),
        [&](size_t i) {
          Cell& cell = cells_[which[i]];
          Fitted fitted = fit(cell.place, cell.degree, cell.probes);
          take(cell, fitted);
        },
        1);
    for (const uint32_t index : which) {
      values_ += cellSamples(cells_[index].degree);
      push(index);
    }
  }

  // Makes the cells of a refit; returns those that are touched. Each leaf's node names its cell, as in a
  // forest that is finished.
  std::vector<uint32_t> takeCells(const HpForest& old, std::span<const uint8_t> touched) {
    std::vector<uint8_t> whole(old.child.size());  // all leaves touched; children come after their parents
    for (size_t node = old.child.size(); node-- > 0;) {
      const int32_t first = old.child[node];
      if (first < 0) {
        whole[node] = touched[static_cast<size_t>(-1 - first)];
        continue;
      }
      whole[node] = 1;
      for (size_t c = 0; c < 8; ++c) whole[node] &= whole[static_cast<size_t>(first) + c];
    }
    const double most = target_ / double(std::max<size_t>(refined_.size(), 1));
    // One more than the first: at the first the guard takes the slope of a plane for an error.
    const int degree = std::min(settings_.firstDegree + 1, settings_.maxDegree);
    struct Visit {
      HpCell place;
      size_t oldNode;
    };
    std::vector<Visit> level, next;
    for (const HpCell& place : baseCells()) level.push_back({place, static_cast<size_t>(place.node)});
    forest_.child.assign(level.size(), 0);
    std::vector<uint32_t> result;
    while (!level.empty()) {
      std::vector<Fitted> tried(level.size());
      parallelFor(
          level.size(),
          [&](size_t i) {
            if (whole[level[i].oldNode] && old.child[level[i].oldNode] >= 0)
              tried[i] = fit(level[i].place, degree, {});
          },
          1);
      next.clear();
      for (size_t i = 0; i < level.size(); ++i) {
        const auto& [place, oldNode] = level[i];
        const int32_t first = old.child[oldNode];
        const bool wasTried = !tried[i].fit.coefficients.empty();
        if (wasTried) values_ += cellSamples(degree);
        if (first >= 0 && !(wasTried && tried[i].fit.error <= most)) {
          const auto firstNode = static_cast<int32_t>(forest_.child.size());
          forest_.child[static_cast<size_t>(place.node)] = firstNode;
          forest_.child.resize(forest_.child.size() + 8, 0);
          for (uint32_t c = 0; c < 8; ++c) {
            next.push_back({childOf(place, c), static_cast<size_t>(first) + c});
            next.back().place.node = firstNode + static_cast<int32_t>(c);
          }
          continue;
        }
        const auto index = static_cast<uint32_t>(cells_.size());
        Cell& cell = cells_.emplace_back();
        forest_.child[static_cast<size_t>(place.node)] = -1 - static_cast<int32_t>(index);
        cell.place = place;
        if (first >= 0) {
          cell.degree = degree;
          take(cell, tried[i]);
          result.push_back(index);
          continue;
        }
        const auto leaf = static_cast<size_t>(-1 - first);
        const std::span<const double> c = old.of(leaf);
        cell.degree = old.degree[leaf];
        cell.coefficients.assign(c.begin(), c.end());
        if (touched[leaf])
          result.push_back(index);
        else
          coefficients_ += c.size();
      }
      level.swap(next);
    }
    return result;
  }

  void fitUnlessItAgrees(Cell& cell) const {
    const Box3 box = cellBox(forest_, cell.place);
    const double volume = box.extent().prod();
    const Vec3 reach = box.extent() / std::sqrt(12.0);  // Gauss points
    std::array<Vec3, kAgreePoints> points;
    std::array<double, kAgreePoints> values;
    for (uint32_t c = 0; c < kAgreePoints; ++c)
      points[c] = box.center() + Vec3(c & 1 ? 1 : -1, c & 2 ? 1 : -1, c & 4 ? 1 : -1).cwiseProduct(reach);
    source_->values(points, values);
    double squares = 0;
    for (size_t i = 0; i < kAgreePoints; ++i) {
      const double error = evaluate(box, cell.degree, cell.coefficients, points[i]) - values[i];
      squares += error * error;
    }
    cell.error = errorEstimate(cell.coefficients, cell.degree, settings_.guard);
    if (probe_) cell.measured = probe_->squaredError(cell.probes, box, cell.degree, cell.coefficients);
    const double small = 0.25 * settings_.error;
    const double likely = 2 * cell.error / volume + small * small;
    const auto probes = double(cell.probes.end - cell.probes.begin);
    cell.kept = squares <= likely * double(kAgreePoints) && cell.measured <= 4 * likely * probes;
    if (cell.kept) {
      cell.error *= weight(cell.coefficients[0], cell.place.level);
    } else {
      Fitted fitted = fit(cell.place, cell.degree, cell.probes);
      take(cell, fitted);
    }
  }

  // Points to stop by, and landmarks where they serve.
  void prepareProbe(size_t count) {
    if (settings_.stop != HpStop::Measured) return;
    probe_ = std::make_unique<HpProbe>(exact_, refined_, count, kStopSeed);
    report_.samples += count;
    if (settings_.sampling == HpSampling::Landmarks) prepareLandmarks();
  }
  void gatherProbe(std::span<const uint32_t> cellOf) {
    const std::vector<HpProbe::Range> ranges = probe_->gather(cellOf, cells_.size());
    for (size_t i = 0; i < cells_.size(); ++i) cells_[i].probes = ranges[i];
  }
  // The widest spacing that leaves the target room, by the first points of the probe.
  void prepareLandmarks() {
    Box3 domain;
    for (const Box3& box : refined_) domain.grow(box);
    const double longest = forest_.domain.extent().maxCoeff();
    const double allowed = kLandmarkShare * settings_.error;
    const size_t count = std::min(kLandmarkProbes, probe_->points().size());
    std::vector<double> found(count);
    for (double n = kFewestLandmarks; n < kMostLandmarks; n *= 1.5) {
      std::unique_ptr<NearField> near = exact_.near(domain, longest / n);
      if (!near) return;
      valuesOf(*near, probe_->points().first(count), found);
      double squares = 0;
      for (size_t i = 0; i < count; ++i) {
        const double error = found[i] - probe_->exact()[i];
        squares += error * error;
      }
      const double error = std::sqrt(squares / double(count));
      if (error <= allowed) {
        report_.landmarkSpacing = longest / n;
        report_.landmarkError = error;
        near_ = std::move(near);
        source_ = near_.get();
        return;
      }
      report_.samples += near->searches();
      // At best the error falls with the cube of the spacing.
      const double most = kMostLandmarks / n;
      if (error > allowed * most * most * most) return;
    }
  }

  void push(uint32_t index) {
    const Cell& cell = cells_[index];
    total_ += cell.error;
    measured_ += cell.measured;
    coefficients_ += cell.coefficients.size();
    if (cell.error > 0) queue_.push({cell.error, index, cell.version});
  }

  static HpCell childOf(const HpCell& parent, uint32_t which) {
    return {{2 * parent.at[0] + (which & 1), 2 * parent.at[1] + (which >> 1 & 1),
             2 * parent.at[2] + (which >> 2)},
            parent.level + 1,
            0};
  }

  Trial attempt(const Cell& cell, bool mayRaise = true) const {
    Trial trial;
    if (mayRaise && cell.degree < settings_.maxDegree)
      trial.raised = fit(cell.place, cell.degree + 1, cell.probes);
    if (cell.place.level < uint32_t(settings_.maxLevel)) {
      if (probe_) trial.probes = probe_->split(cell.probes, cellBox(forest_, cell.place).center());
      for (uint32_t c = 0; c < 8; ++c)
        trial.children[c] = fit(childOf(cell.place, c), cell.degree, trial.probes[c]);
    }
    return trial;
  }

  void commit(uint32_t index, Trial& trial) {
    const bool canRaise = !trial.raised.fit.coefficients.empty(),
               canSplit = !trial.children[0].fit.coefficients.empty();
    const int degree = cells_[index].degree;
    bool raise = canRaise;
    if (canRaise && canSplit) {
      double worst = 0;
      for (const Fitted& child : trial.children) worst = std::max(worst, child.fit.error);
      const double now = cells_[index].error;
      const double added = double(coefficientCount(degree + 1) - coefficientCount(degree));
      const double byDegree = (now - settings_.alpha * trial.raised.fit.error) / added;
      const double bySplit = (now - 8 * worst) / (7 * double(coefficientCount(degree)));
      raise = byDegree > bySplit;
    }
    if (canRaise) values_ += cellSamples(degree + 1);
    if (canSplit) values_ += 8 * cellSamples(degree);
    total_ -= cells_[index].error;
    measured_ -= cells_[index].measured;
    coefficients_ -= cells_[index].coefficients.size();
    if (raise) {
      Cell& cell = cells_[index];
      ++report_.refinedP;
      ++cell.version;
      ++cell.degree;
      take(cell, trial.raised);
      push(index);
      return;
    }
    ++report_.refinedH;
    const HpCell parent = cells_[index].place;
    cells_[index].leaf = false;
    cells_[index].coefficients = {};
    const auto firstNode = static_cast<int32_t>(forest_.child.size());
    forest_.child[static_cast<size_t>(parent.node)] = firstNode;
    forest_.child.resize(forest_.child.size() + 8, 0);
    for (uint32_t c = 0; c < 8; ++c) {
      Cell child;
      child.place = childOf(parent, c);
      child.place.node = firstNode + static_cast<int32_t>(c);
      child.degree = degree;
      child.probes = trial.probes[c];
      take(child, trial.children[c]);
      cells_.push_back(std::move(child));
      push(static_cast<uint32_t>(cells_.size() - 1));
    }
  }

  void recount() {
    total_ = measured_ = 0;
    for (const Cell& cell : cells_) {
      if (!cell.leaf) continue;
      total_ += cell.error;  // cells that a refit leaves alone have none
      measured_ += cell.measured;
    }
  }

  // Splits the cells that get the middle of a thin wall or gap wrong by more than half its depth.
  void resolveThinPlaces() {
    if (!(settings_.thinReach > 0)) return;
    std::vector<Vec3> places = exact_.thinPlaces(settings_.thinReach * settings_.error);
    std::erase_if(places, [&](const Vec3& p) {
      return std::none_of(refined_.begin(), refined_.end(), [&](const Box3& box) { return box.contains(p); });
    });
    report_.thinPlaces = places.size();
    if (places.empty()) return;
    std::vector<double> exact(places.size());
    valuesOf(exact_, places, exact);
    report_.samples += places.size();
    std::vector<uint8_t> wrong(places.size());
    std::vector<uint32_t> leaf(places.size());
    for (int round = 0; round <= settings_.maxLevel; ++round) {
      finish();
      parallelFor(
          places.size(),
          [&](size_t i) {
            leaf[i] = locate(forest_, places[i]).leaf;
            wrong[i] = std::abs(evaluate(forest_, places[i]) - exact[i]) > 0.5 * std::abs(exact[i]);
          },
          1024);
      std::vector<uint8_t> bad(forest_.leafCount(), 0);
      report_.lostPlaces = 0;
      for (size_t i = 0; i < places.size(); ++i) {
        report_.lostPlaces += wrong[i] && (evaluate(forest_, places[i]) < 0) != (exact[i] < 0);
        if (wrong[i]) bad[leaf[i]] = 1;
      }
      std::vector<uint32_t> cells;
      for (uint32_t i = 0; i < cells_.size(); ++i) {
        const Cell& cell = cells_[i];
        if (!cell.leaf || cell.place.level >= uint32_t(settings_.maxLevel)) continue;
        if (bad[static_cast<size_t>(-1 - forest_.child[static_cast<size_t>(cell.place.node)])])
          cells.push_back(i);
      }
      if (cells.empty()) return;
      for (size_t first = 0; first < cells.size(); first += kBatch) {
        if (coefficients_ >= settings_.mostCoefficients) {
          report_.end = HpEnd::Memory;
          return;
        }
        const size_t count = std::min(kBatch, cells.size() - first);
        std::vector<Trial> trials(count);
        parallelFor(
            count, [&](size_t i) { trials[i] = attempt(cells_[cells[first + i]], false); }, 1);
        for (size_t i = 0; i < count; ++i) commit(cells[first + i], trials[i]);
      }
    }
  }

  bool met() const {
    if (refined_.empty()) return true;
    if (!probe_) return total_ <= target_;
    const double most = 0.95 * settings_.error;
    return measured_ <= most * most * double(probe_->points().size());
  }

  // Numbers the leaves in the order of their nodes and gathers their coefficients.
  void finish() {
    std::vector<uint32_t> cellOfNode(forest_.child.size(), UINT32_MAX);
    for (uint32_t i = 0; i < cells_.size(); ++i)
      if (cells_[i].leaf) cellOfNode[static_cast<size_t>(cells_[i].place.node)] = i;
    forest_.begin.clear();
    forest_.degree.clear();
    forest_.coefficients.clear();
    forest_.coefficients.reserve(coefficients_);
    for (size_t node = 0; node < forest_.child.size(); ++node) {
      if (cellOfNode[node] == UINT32_MAX) continue;
      const Cell& cell = cells_[cellOfNode[node]];
      forest_.child[node] = -1 - static_cast<int32_t>(forest_.degree.size());
      forest_.begin.push_back(static_cast<uint32_t>(forest_.coefficients.size()));
      forest_.degree.push_back(static_cast<uint8_t>(cell.degree));
      forest_.coefficients.insert(forest_.coefficients.end(), cell.coefficients.begin(),
                                  cell.coefficients.end());
    }
    forest_.begin.push_back(static_cast<uint32_t>(forest_.coefficients.size()));
  }

  const Field& exact_;
  const Field* source_;  // of the values that are fitted to: the exact field or its landmarks
  const HpSettings& settings_;
  HpReport& report_;
  HpForest forest_;
  double volume_ = 0, diagonal_ = 0, target_ = 0, total_ = 0, measured_ = 0;
  uint64_t coefficients_ = 0, values_ = 0;
  std::vector<Cell> cells_;
  std::priority_queue<Waiting> queue_;
  std::unique_ptr<HpProbe> probe_;
  std::unique_ptr<NearField> near_;
  std::vector<Box3> refined_;  // where the target is to be met
};

void check(const HpSettings& s) {
  const auto refuse = [](const std::string& what) { throw Error(ErrorKind::Usage, what); };
  if (!(s.error > 0) || !std::isfinite(s.error))
    refuse("the target error of a field must be a positive length");
  if (s.firstDegree < 1 || s.maxDegree < s.firstDegree || s.maxDegree > kLargestDegree)
    refuse("degrees of a field go from 1 to " + std::to_string(kLargestDegree) +
           ", the first not above the largest");
  if (s.maxLevel < 0 || s.maxLevel > 20) refuse("a field has at most 20 levels");
  if (!(s.guard >= 0) || !(s.alpha >= 0) || !(s.theta >= 0))
    refuse("guard, alpha and theta are not negative");
  for (const uint32_t n : s.base)
    if (n > 512) refuse("the base grid of a field has at most 512 cells along an axis");
}

Box3 domainOf(const Field& source, const HpSettings& settings) {
  Box3 domain = settings.domain;
  if (domain.empty()) {
    domain = source.bounds();
    if (domain.empty() || !domain.lower.allFinite() || !domain.upper.allFinite())
      throw Error(ErrorKind::Geometry, "the source of the field has no finite bounds")
          .hint("give the domain as a box");
    const double least = 0.1 * domain.extent().maxCoeff();
    for (int d = 0; d < 3; ++d) {
      const double grow = std::max(0.05 * (domain.upper[d] - domain.lower[d]), 0.5 * least);
      domain.lower[d] -= grow;
      domain.upper[d] += grow;
    }
  }
  if (!domain.lower.allFinite() || !domain.upper.allFinite() || !(domain.extent().minCoeff() > 0))
    throw Error(ErrorKind::Usage, "the domain of a field must be a finite box with a volume");
  return domain;
}

std::array<uint32_t, 3> baseOf(const Box3& domain, const HpSettings& settings) {
  std::array<uint32_t, 3> base = settings.base;
  const double edge = domain.extent().maxCoeff() / 4;
  for (size_t d = 0; d < 3; ++d)
    if (base[d] == 0)
      base[d] = static_cast<uint32_t>(std::max(1.0, std::round(domain.extent()[int(d)] / edge)));
  return base;
}

}  // namespace

HpFit fitCell(const Field& source, const Box3& box, int degree, Quadrature quadrature, double guard) {
  const FitRule& rule = fitRule(pointsPerAxis(degree, quadrature));
  const auto n = static_cast<size_t>(rule.count);
  const size_t terms = static_cast<size_t>(degree) + 1;
  const Vec3 middle = box.center(), half = 0.5 * box.extent();
  std::vector<Vec3> points(n * n * n);
  std::vector<double> samples(points.size());
  size_t at = 0;
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j)
      for (size_t k = 0; k < n; ++k)
        points[at++] = {middle.x() + half.x() * rule.nodes[i], middle.y() + half.y() * rule.nodes[j],
                        middle.z() + half.z() * rule.nodes[k]};
  source.values(points, samples);
  for (size_t s = 0; s < samples.size(); ++s)
    if (!std::isfinite(samples[s]))
      throw Error(ErrorKind::Numerical,
                  "the source of a field is not finite at (" + std::to_string(points[s].x()) + ", " +
                      std::to_string(points[s].y()) + ", " + std::to_string(points[s].z()) + ")");

  // Sum factorisation: one axis after the other, the last first.
  std::vector<double> alongZ(n * n * terms), alongY(n * terms * terms);
  for (size_t ij = 0; ij < n * n; ++ij)
    for (size_t c = 0; c < terms; ++c) {
      double sum = 0;
      for (size_t k = 0; k < n; ++k) sum += rule.table[c * n + k] * samples[ij * n + k];
      alongZ[ij * terms + c] = sum;
    }
  for (size_t i = 0; i < n; ++i)
    for (size_t b = 0; b < terms; ++b) {
      double* out = &alongY[(i * terms + b) * terms];
      for (size_t j = 0; j < n; ++j) {
        const double w = rule.table[b * n + j];
        const double* in = &alongZ[(i * n + j) * terms];
        for (size_t c = 0; c + b < terms; ++c) out[c] += w * in[c];
      }
    }
  HpFit fit;
  fit.coefficients.resize(coefficientCount(degree));
  const double scale = std::sqrt(box.extent().prod()) / 8;
  const std::span<const MultiIndex> indices = multiIndices();
  for (size_t q = 0; q < fit.coefficients.size(); ++q) {
    const auto [a, b, c] = indices[q];
    double sum = 0;
    for (size_t i = 0; i < n; ++i) sum += rule.table[a * n + i] * alongY[(i * terms + b) * terms + c];
    fit.coefficients[q] = scale * sum;
  }
  fit.error = errorEstimate(fit.coefficients, degree, guard);
  return fit;
}

HpError measureHp(const HpForest& forest, const Field& source, size_t count, uint64_t seed, double near) {
  return errorAt(forest, HpProbe(source, {&forest.domain, 1}, count, seed), near);
}

HpForest buildHp(const Field& source, const HpSettings& settings, HpReport& report) {
  check(settings);
  report = {};
  const Box3 domain = domainOf(source, settings);
  Builder builder(source, settings, domain, baseOf(domain, settings), report);
  builder.startFresh();
  return builder.run();
}

HpForest refitHp(const HpForest& forest, const Field& source, const Box3& changed, const HpSettings& settings,
                 HpReport& report) {
  check(settings);
  report = {};
  Builder builder(source, settings, forest.domain, forest.base, report);
  builder.startFrom(forest, changed);
  return builder.run();
}

}  // namespace sunder::sdf
