#include "sunder/sdf/hp/hp_builder.h"

#include "sunder/base/parallel.h"
#include "sunder/base/stop.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

namespace sunder::sdf {

namespace {

constexpr size_t kBatch = 32;  // cells tried at once: part of the result, so not a number of threads
constexpr size_t kFinalSamples = 20000, kRefitSamples = 2048;  // to state the error
constexpr uint64_t kStopSeed = 1, kFinalSeed = 2;
constexpr uint64_t kNearValues =
    10;  // values found from cached distance samples that take as long as an exact one
constexpr double kTighter = 0.95;  // of the target at the points to stop by: other points see a little more
constexpr uint64_t kRecountEvery = 1000;
// DistanceSamples: along the longest side of the domain, and the share of the error that they may take.
constexpr double kFewestDistanceSamples = 24, kMostDistanceSamples = 130;
constexpr double kHopelessDecay = 0.2;
constexpr size_t kDistanceSampleProbes = 1024;
constexpr double kDistanceSampleShare = 0.5;

}  // namespace

HpBuilder::HpBuilder(const Field& source, const HpSettings& settings, const Box3& domain,
                     std::array<uint32_t, 3> base, HpReport& report)
    : exact_(source), source_(&source), settings_(settings), report_(report) {
  forest_.domain = domain;
  forest_.base = base;
  diagonal_ = domain.diagonal();
  refined_ = {domain};
  stopError_ = kTighter * settings.error;
  setTarget(domain.extent().prod());
}

void HpBuilder::startFresh() {
  for (const HpCell& place : baseCells()) {
    cells_.emplace_back().place = place;
    cells_.back().degree = settings_.firstDegree;
  }
  const size_t count = cells_.size();
  forest_.child.assign(count, 0);
  prepareProbe(kHpStopSamples);
  prepareDistanceSamples();
  if (probe_) {
    std::vector<uint32_t> cellOf(kHpStopSamples);
    const Vec3 size = forest_.baseSize();
    for (size_t i = 0; i < kHpStopSamples; ++i) {
      std::array<uint32_t, 3> at;
      for (int d = 0; d < 3; ++d) {
        const double u = (probe_->points()[i][d] - forest_.domain.lower[d]) / size[d];
        at[size_t(d)] = static_cast<uint32_t>(std::clamp(std::floor(u), 0.0, forest_.base[size_t(d)] - 1.0));
      }
      cellOf[i] = at[0] + forest_.base[0] * (at[1] + forest_.base[1] * at[2]);
    }
    gatherProbe(cellOf);
  }
  std::vector<uint32_t> all(count);
  for (size_t i = 0; i < count; ++i) all[i] = static_cast<uint32_t>(i);
  fitAll(all);
}

HpForest HpBuilder::run() {
  Work work("fitting", 0, "cells");
  if (cut_ && !met()) prepareDistanceSamples();  // needed only now
  uint64_t least = 0;
  for (uint64_t round = 0;; ++round) {
    try {
      report_.end = refine(work, least);
      if (report_.end == HpEnd::Target || report_.end == HpEnd::Exhausted) resolveThinPlaces(work);
    } catch (const Interrupted&) {
      if (!settings_.keepOnStop) throw;
      report_.end = HpEnd::Stopped;
    }
    // Bounded: what is there is put in order and measured, also after a request to stop.
    std::optional<StopDeferral> whole;
    if (report_.end == HpEnd::Stopped) whole.emplace();
    recount();
    report_.estimate = volume_ > 0 ? std::sqrt(std::max(total_, 0.0) / volume_) : 0;
    finish();
    measure(kFinalSeed + round);
    if (report_.end != HpEnd::Target || !probe_ || report_.measured <= settings_.error) break;
    stopError_ *= kTighter * settings_.error / report_.measured;
    least = kBatch << std::min<uint64_t>(round, 20);  // also where the points to stop by see no error
  }
  if (near_) {
    report_.nearSamples = values_;
    report_.samples += near_->searches();
  } else {
    report_.samples += values_;
  }
  return std::move(forest_);
}

// Refines the worst cells, `least` of them at least, until the target or a limit is met.
HpEnd HpBuilder::refine(Work& work, uint64_t least) {
  std::vector<uint32_t> batch;
  std::vector<Trial> trials;
  const uint64_t until = commits_ + least;
  const auto enough = [&] { return commits_ >= until && met(); };
  while (!enough()) {
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
    if (batch.empty()) return HpEnd::Exhausted;
    trials.assign(batch.size(), {});
    tell(work);
    parallelFor(
        batch.size(), [&](size_t i) { trials[i] = attempt(cells_[batch[i]]); }, 1);
    for (size_t i = 0; i < batch.size(); ++i) {
      if (enough()) break;
      if (const HpEnd limit = limitMet(); limit != HpEnd::Target) return limit;
      commit(batch[i], trials[i]);
      if (++commits_ % kRecountEvery == 0) recount();
    }
  }
  return HpEnd::Target;
}

// Target: none of the limits is.
HpEnd HpBuilder::limitMet() const {
  if (coefficients_ >= settings_.mostCoefficients) return HpEnd::Memory;
  const uint64_t work = near_ ? values_ / kNearValues : values_;
  return work >= settings_.mostValues ? HpEnd::Budget : HpEnd::Target;
}

void HpBuilder::tell(Work& work) const {
  const double error = probe_ ? std::sqrt(std::max(measured_, 0.0) / double(probe_->points().size()))
                              : std::sqrt(std::max(total_, 0.0) / volume_);
  work.note(fmt::format("error {:.3g}, target {:.3g}", error, settings_.error));
  work.set(cells_.size());
}

void HpBuilder::measure(uint64_t seed) {
  if (refined_.empty()) return;
  const double share = volume_ / forest_.domain.extent().prod();
  const size_t count = share < 1 ? kRefitSamples : kFinalSamples;
  const HpError error = errorAt(forest_, HpProbe(exact_, refined_, count, seed), diagonal_ / 40);
  report_.samples += count;
  report_.measuredShare = share;
  report_.measured = error.rms;
  report_.measuredMax = error.largest;
  report_.measuredNear = error.largestNear;
}

std::vector<HpCell> HpBuilder::baseCells() const {
  std::vector<HpCell> cells;
  for (uint32_t k = 0; k < forest_.base[2]; ++k)
    for (uint32_t j = 0; j < forest_.base[1]; ++j)
      for (uint32_t i = 0; i < forest_.base[0]; ++i)
        cells.push_back({{i, j, k}, 0, static_cast<int32_t>(cells.size())});
  return cells;
}

void HpBuilder::setTarget(double volume) {
  volume_ = volume;
  target_ = settings_.error * settings_.error * volume;
}

uint64_t HpBuilder::cellSamples(int degree) const {
  const auto n = static_cast<uint64_t>(pointsPerAxis(degree, settings_.quadrature));
  return n * n * n;
}

// How much the error of a cell counts, from the mean of its polynomial.
double HpBuilder::weight(double mean) const {
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

double HpBuilder::weight(double first, uint32_t level) const {
  return weight(first / std::sqrt(std::ldexp(forest_.baseSize().prod(), -3 * static_cast<int>(level))));
}

HpBuilder::Fitted HpBuilder::fit(const Field& source, const HpCell& place, int degree,
                                 const HpProbe::Range& probes) const {
  const Box3 box = cellBox(forest_, place);
  Fitted result{fitCell(source, box, degree, settings_.quadrature, settings_.guard)};
  result.fit.error *= weight(result.fit.coefficients[0], place.level);
  if (probe_) result.measured = probe_->squaredError(probes, box, degree, result.fit.coefficients);
  return result;
}

void HpBuilder::take(Cell& cell, Fitted& fitted) {
  cell.coefficients = std::move(fitted.fit.coefficients);
  cell.error = fitted.fit.error;
  cell.measured = fitted.measured;
}

void HpBuilder::fitAll(std::span<const uint32_t> which) {
  parallelFor(
      which.size(),
      [&](size_t i) {
        Cell& cell = cells_[which[i]];
        Fitted fitted = fit(*source_, cell.place, cell.degree, cell.probes);
        take(cell, fitted);
      },
      1);
  for (const uint32_t index : which) {
    values_ += cellSamples(cells_[index].degree);
    push(index);
  }
}

// Points to stop by.
void HpBuilder::prepareProbe(size_t count) {
  if (settings_.stop != HpStop::Measured) return;
  probe_ = std::make_unique<HpProbe>(cut_ ? *cut_ : exact_, refined_, count, kStopSeed);
  report_.samples += count;
}

void HpBuilder::gatherProbe(std::span<const uint32_t> cellOf) {
  const std::vector<HpProbe::Range> ranges = probe_->gather(cellOf, cells_.size());
  for (size_t i = 0; i < cells_.size(); ++i) cells_[i].probes = ranges[i];
}

// The widest spacing that leaves the target room, by the first points of the probe.
void HpBuilder::prepareDistanceSamples() {
  if (!probe_ || settings_.sampling != HpSampling::DistanceSamples) return;
  Box3 domain;
  for (const Box3& box : refined_) domain.grow(box);
  const double longest = forest_.domain.extent().maxCoeff();
  const double allowed = kDistanceSampleShare * settings_.error;
  const size_t count = std::min(kDistanceSampleProbes, probe_->points().size());
  std::vector<double> found(count);
  for (double n = kFewestDistanceSamples; n < kMostDistanceSamples; n *= 1.5) {
    std::unique_ptr<NearField> near = exact_.near(domain, longest / n);
    if (!near) return;
    if (cut_)
      valuesOf(HpCut(*near, cut_->old, cut_->cutter, cut_->slack), probe_->points().first(count), found);
    else
      valuesOf(*near, probe_->points().first(count), found);
    double squares = 0;
    for (size_t i = 0; i < count; ++i) {
      const double error = found[i] - probe_->exact()[i];
      squares += error * error;
    }
    const double error = std::sqrt(squares / double(count));
    if (error <= allowed) {
      report_.distanceSampleSpacing = longest / n;
      report_.distanceSampleError = error;
      near_ = std::move(near);
      source_ = near_.get();
      return;
    }
    report_.samples += near->searches();
    // At best the error falls with the cube of the spacing.
    const double most = kMostDistanceSamples / n;
    if (error > allowed * most * most * most) return;
  }
}

void HpBuilder::push(uint32_t index) {
  const Cell& cell = cells_[index];
  total_ += cell.error;
  measured_ += cell.measured;
  coefficients_ += cell.coefficients.size();
  if (cell.error > 0) queue_.push({cell.error, index, cell.version});
}

// A raise pays only where the shells decay. Where the last one is about as large as the one before it, there
// is a kink and nothing to try; as published, everything is tried.
bool HpBuilder::mayPay(const Cell& cell) const {
  if (settings_.stop == HpStop::Estimate || cell.place.level >= uint32_t(settings_.maxLevel)) return true;
  const double last = shellError(cell.coefficients, cell.degree, 0);
  const double before = shellError(cell.coefficients, cell.degree - 1, 0);
  return last < kHopelessDecay * before;
}

HpBuilder::Trial HpBuilder::attempt(const Cell& cell, bool mayRaise) const {
  Trial trial;
  if (mayRaise && cell.degree < settings_.maxDegree && mayPay(cell))
    trial.raised = fit(*source_, cell.place, cell.degree + 1, cell.probes);
  if (cell.place.level < uint32_t(settings_.maxLevel)) {
    if (probe_) trial.probes = probe_->split(cell.probes, cellBox(forest_, cell.place).center());
    for (uint32_t c = 0; c < 8; ++c)
      trial.children[c] = fit(*source_, childOf(cell.place, c, 0), cell.degree, trial.probes[c]);
  }
  return trial;
}

void HpBuilder::commit(uint32_t index, Trial& trial) {
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
    child.place = childOf(parent, c, firstNode + static_cast<int32_t>(c));
    child.degree = degree;
    child.probes = trial.probes[c];
    take(child, trial.children[c]);
    cells_.push_back(std::move(child));
    push(static_cast<uint32_t>(cells_.size() - 1));
  }
}

void HpBuilder::recount() {
  total_ = measured_ = 0;
  for (const Cell& cell : cells_) {
    if (!cell.leaf) continue;
    total_ += cell.error;  // cells that a refit leaves alone have none
    measured_ += cell.measured;
  }
}

// Splits the cells that get the middle of a thin wall or gap wrong by more than half its depth.
void HpBuilder::resolveThinPlaces(Work& work) {
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
      if (const HpEnd limit = limitMet(); limit != HpEnd::Target) {
        report_.end = limit;
        return;
      }
      tell(work);
      const size_t count = std::min(kBatch, cells.size() - first);
      std::vector<Trial> trials(count);
      parallelFor(
          count, [&](size_t i) { trials[i] = attempt(cells_[cells[first + i]], false); }, 1);
      for (size_t i = 0; i < count; ++i) commit(cells[first + i], trials[i]);
    }
  }
}

bool HpBuilder::met() const {
  if (refined_.empty()) return true;
  if (!probe_) return total_ <= target_;
  return measured_ <= stopError_ * stopError_ * double(probe_->points().size());
}

// Numbers the leaves in the order of their nodes and gathers their coefficients.
void HpBuilder::finish() {
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

}  // namespace sunder::sdf
