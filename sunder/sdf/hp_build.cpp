#include "sunder/sdf/hp_build.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/random.h"

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
};

struct Trial {
  HpFit raised;
  std::array<HpFit, 8> children;
};

struct Waiting {
  double error;
  uint32_t cell, version;
  bool operator<(const Waiting& other) const {
    return error != other.error ? error < other.error : cell > other.cell;
  }
};

// The numbers of the samples of one source, kept to measure against again and again.
struct Probe {
  std::vector<Vec3> points;
  std::vector<double> exact;

  // Points uniformly in boxes that do not overlap.
  Probe(const Field& source, std::span<const Box3> boxes, size_t count, uint64_t seed)
      : points(count), exact(count) {
    std::vector<double> upTo;  // volume
    for (const Box3& box : boxes) upTo.push_back((upTo.empty() ? 0 : upTo.back()) + box.extent().prod());
    RandomStream random(seed);
    for (Vec3& p : points) {
      const double pick = boxes.size() == 1 ? 0 : random.uniform(0, upTo.back());
      const auto at = std::upper_bound(upTo.begin(), upTo.end() - 1, pick) - upTo.begin();
      p = random.pointIn(boxes[static_cast<size_t>(at)]);
    }
    valuesOf(source, points, exact);
  }
};

HpError errorAt(const HpForest& forest, const Probe& probe, double near) {
  struct Sum {
    double squares = 0, largest = 0, largestNear = 0;
  };
  const Sum sum = parallelReduce(
      probe.points.size(), Sum{},
      [&](size_t begin, size_t end) {
        Sum s;
        for (size_t i = begin; i < end; ++i) {
          const double error = std::abs(evaluate(forest, probe.points[i]) - probe.exact[i]);
          s.squares += error * error;
          s.largest = std::max(s.largest, error);
          if (std::abs(probe.exact[i]) <= near) s.largestNear = std::max(s.largestNear, error);
        }
        return s;
      },
      [](const Sum& a, const Sum& b) {
        return Sum{a.squares + b.squares, std::max(a.largest, b.largest),
                   std::max(a.largestNear, b.largestNear)};
      },
      1024);
  return {std::sqrt(sum.squares / double(probe.points.size())), sum.largest, sum.largestNear};
}

class Builder {
 public:
  Builder(const Field& source, const HpSettings& settings, const Box3& domain, std::array<uint32_t, 3> base,
          HpReport& report)
      : source_(source), settings_(settings), report_(report) {
    forest_.domain = domain;
    forest_.base = base;
    diagonal_ = domain.diagonal();
    refined_ = {domain};
    setTarget(domain.extent().prod());
  }

  void startFresh() {
    const size_t count = size_t(forest_.base[0]) * forest_.base[1] * forest_.base[2];
    cells_.resize(count);
    forest_.child.assign(count, 0);
    for (size_t i = 0; i < count; ++i) {
      const auto n = static_cast<uint32_t>(i);
      cells_[i].place = {
          {n % forest_.base[0], n / forest_.base[0] % forest_.base[1], n / forest_.base[0] / forest_.base[1]},
          0,
          static_cast<int32_t>(i)};
      cells_[i].degree = settings_.firstDegree;
    }
    fitAll(cells_);
    for (size_t i = 0; i < count; ++i) push(static_cast<uint32_t>(i));
  }

  void startFrom(const HpForest& old, const Box3& changed) {
    forest_.child = old.child;
    const std::vector<HpCell> places = leafCells(old);
    cells_.resize(places.size());
    std::vector<size_t> touched;
    for (size_t leaf = 0; leaf < places.size(); ++leaf) {
      Cell& cell = cells_[leaf];
      cell.place = places[leaf];
      cell.degree = old.degree[leaf];
      if (overlap(cellBox(forest_, cell.place), changed)) {
        touched.push_back(leaf);
      } else {
        const std::span<const double> c = old.of(leaf);
        cell.coefficients.assign(c.begin(), c.end());
        coefficients_ += c.size();
      }
    }
    parallelFor(
        touched.size(), [&](size_t i) { fitOne(cells_[touched[i]]); }, 1);
    // The target is that of the touched part alone: what the rest lacks cannot be made good there.
    refined_.clear();
    double volume = 0;
    for (const size_t leaf : touched) {
      report_.samples += cellSamples(cells_[leaf].degree);
      refined_.push_back(cellBox(forest_, cells_[leaf].place));
      volume += refined_.back().extent().prod();
      push(static_cast<uint32_t>(leaf));
    }
    setTarget(volume);
  }

  HpForest run() {
    const bool measure = settings_.stop == HpStop::Measured;
    double checkAt = measure ? 64 * target_ : target_;
    uint64_t pops = 0;
    std::vector<uint32_t> batch;
    std::vector<Trial> trials;
    report_.end = HpEnd::Target;
    while (true) {
      if (total_ <= checkAt) {
        if (!measure || met()) break;
        checkAt = std::min(checkAt, total_) * 0.8;
      }
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
        report_.end = total_ <= checkAt && !measure ? HpEnd::Target : HpEnd::Exhausted;
        if (measure && met()) report_.end = HpEnd::Target;
        break;
      }
      trials.assign(batch.size(), {});
      parallelFor(
          batch.size(), [&](size_t i) { trials[i] = attempt(cells_[batch[i]]); }, 1);
      bool full = false;
      for (size_t i = 0; i < batch.size(); ++i) {
        if (!measure && total_ <= target_) break;
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
        errorAt(forest_, Probe(source_, {&forest_.domain, 1}, kFinalSamples, kFinalSeed), diagonal_ / 40);
    report_.samples += kFinalSamples;
    report_.measured = error.rms;
    report_.measuredMax = error.largest;
    report_.measuredNear = error.largestNear;
    return std::move(forest_);
  }

 private:
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

  HpFit fit(const HpCell& place, int degree) const {
    HpFit result = fitCell(source_, cellBox(forest_, place), degree, settings_.quadrature, settings_.guard);
    result.error *= weight(result.coefficients[0], place.level);
    return result;
  }
  void fitOne(Cell& cell) const {
    HpFit result = fit(cell.place, cell.degree);
    cell.coefficients = std::move(result.coefficients);
    cell.error = result.error;
  }
  void fitAll(std::vector<Cell>& cells) {
    parallelFor(
        cells.size(), [&](size_t i) { fitOne(cells[i]); }, 1);
    for (const Cell& cell : cells) report_.samples += cellSamples(cell.degree);
  }

  void push(uint32_t index) {
    const Cell& cell = cells_[index];
    total_ += cell.error;
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
    if (mayRaise && cell.degree < settings_.maxDegree) trial.raised = fit(cell.place, cell.degree + 1);
    if (cell.place.level < uint32_t(settings_.maxLevel))
      for (uint32_t c = 0; c < 8; ++c) trial.children[c] = fit(childOf(cell.place, c), cell.degree);
    return trial;
  }

  void commit(uint32_t index, Trial& trial) {
    const bool canRaise = !trial.raised.coefficients.empty(),
               canSplit = !trial.children[0].coefficients.empty();
    const int degree = cells_[index].degree;
    bool raise = canRaise;
    if (canRaise && canSplit) {
      double worst = 0;
      for (const HpFit& child : trial.children) worst = std::max(worst, child.error);
      const double now = cells_[index].error;
      const double added = double(coefficientCount(degree + 1) - coefficientCount(degree));
      const double byDegree = (now - settings_.alpha * trial.raised.error) / added;
      const double bySplit = (now - 8 * worst) / (7 * double(coefficientCount(degree)));
      raise = byDegree > bySplit;
    }
    if (canRaise) report_.samples += cellSamples(degree + 1);
    if (canSplit) report_.samples += 8 * cellSamples(degree);
    total_ -= cells_[index].error;
    coefficients_ -= cells_[index].coefficients.size();
    if (raise) {
      Cell& cell = cells_[index];
      ++report_.refinedP;
      ++cell.version;
      ++cell.degree;
      cell.coefficients = std::move(trial.raised.coefficients);
      cell.error = trial.raised.error;
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
      child.coefficients = std::move(trial.children[c].coefficients);
      child.error = trial.children[c].error;
      cells_.push_back(std::move(child));
      push(static_cast<uint32_t>(cells_.size() - 1));
    }
  }

  void recount() {
    total_ = 0;
    for (const Cell& cell : cells_)
      if (cell.leaf) total_ += cell.error;  // cells that a refit leaves alone have none
  }

  // Splits the cells that get the middle of a thin wall or gap wrong by more than half its depth.
  void resolveThinPlaces() {
    if (!(settings_.thinReach > 0)) return;
    std::vector<Vec3> places = source_.thinPlaces(settings_.thinReach * settings_.error);
    std::erase_if(places, [&](const Vec3& p) {
      return std::none_of(refined_.begin(), refined_.end(), [&](const Box3& box) { return box.contains(p); });
    });
    report_.thinPlaces = places.size();
    if (places.empty()) return;
    std::vector<double> exact(places.size());
    valuesOf(source_, places, exact);
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

  bool met() {
    if (refined_.empty()) return true;
    finish();
    if (!probe_) {
      probe_ = std::make_unique<Probe>(source_, refined_, kStopSamples, kStopSeed);
      report_.samples += kStopSamples;
    }
    return errorAt(forest_, *probe_, 0).rms <= 0.95 * settings_.error;
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

  const Field& source_;
  const HpSettings& settings_;
  HpReport& report_;
  HpForest forest_;
  double volume_ = 0, diagonal_ = 0, target_ = 0, total_ = 0;
  uint64_t coefficients_ = 0;
  std::vector<Cell> cells_;
  std::priority_queue<Waiting> queue_;
  std::unique_ptr<Probe> probe_;
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
  std::array<double, 2> shells{0, 0};  // squares of the last but one, of the last
  for (size_t q = 0; q < fit.coefficients.size(); ++q) {
    const auto [a, b, c] = indices[q];
    double sum = 0;
    for (size_t i = 0; i < n; ++i) sum += rule.table[a * n + i] * alongY[(i * terms + b) * terms + c];
    const double value = fit.coefficients[q] = scale * sum;
    const int shell = a + b + c;
    if (shell >= degree - 1) shells[size_t(shell - degree + 1)] += value * value;
  }
  fit.error = std::max(shells[1], guard * shells[0]);
  return fit;
}

HpError measureHp(const HpForest& forest, const Field& source, size_t count, uint64_t seed, double near) {
  return errorAt(forest, Probe(source, {&forest.domain, 1}, count, seed), near);
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
