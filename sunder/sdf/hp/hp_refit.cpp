#include "sunder/base/parallel.h"
#include "sunder/sdf/hp/hp_builder.h"

#include <algorithm>
#include <cmath>

namespace sunder::sdf {

namespace {

constexpr size_t kAgreePoints = 8;  // by which a leaf is kept

// A leaf of the old field where the cutter may win: the larger of its polynomial and the cutter.
class CutLeaf final : public Field {
 public:
  CutLeaf(const Box3& box, int degree, std::span<const double> coefficients, const Field& cutter)
      : box_(box), degree_(degree), coefficients_(coefficients), cutter_(cutter) {}

  void values(std::span<const Vec3> points, std::span<double> out) const override {
    cutter_.values(points, out);
    for (size_t i = 0; i < points.size(); ++i) {
      const double before = evaluate(box_, degree_, coefficients_, points[i]);
      changes = changes || out[i] > before;
      out[i] = std::max(out[i], before);
    }
  }
  void samples(std::span<const Vec3> points, std::span<FieldSample> out) const override {
    cutter_.samples(points, out);
  }
  Box3 bounds() const override { return box_; }

  mutable bool changes = false;  // whether the cutter won at a point asked for

 private:
  const Box3& box_;
  int degree_;
  std::span<const double> coefficients_;
  const Field& cutter_;
};

}  // namespace

HpTouch HpCut::touch(const Box3& box) const {
  const Vec3 middle = box.center();
  const double lead = cutter.value(middle) - evaluate(old, middle), way = box.diagonal() + slack;
  return lead > way ? HpTouch::Whole : lead > -way ? HpTouch::Mixed : HpTouch::None;
}

void HpCut::values(std::span<const Vec3> points, std::span<double> out) const {
  requireSameSize(points.size(), out.size());
  cutter.values(points, out);
  std::vector<Vec3> open;
  std::vector<size_t> at;
  for (size_t i = 0; i < points.size(); ++i) {
    if (out[i] > evaluate(old, points[i]) + slack) continue;
    open.push_back(points[i]);
    at.push_back(i);
  }
  std::vector<double> found(open.size());
  whole.values(open, found);
  for (size_t k = 0; k < at.size(); ++k) out[at[k]] = found[k];
}

void HpCut::samples(std::span<const Vec3> points, std::span<FieldSample> out) const {
  whole.samples(points, out);
}

void HpBuilder::startFromBox(const HpForest& old, const Box3& changed) {
  const std::vector<uint32_t> touched = startFrom(
      old, [&](const Box3& cell) { return overlap(cell, changed) ? HpTouch::Whole : HpTouch::None; });
  parallelFor(
      touched.size(), [&](size_t i) { fitUnlessItAgrees(cells_[touched[i]]); }, 1);
  for (const uint32_t index : touched) {
    values_ += kAgreePoints;
    if (!cells_[index].kept) values_ += cellSamples(cells_[index].degree);
    push(index);
  }
}

void HpBuilder::startFromCut(const HpForest& old, const Field& cutter) {
  cut_ = std::make_unique<HpCut>(exact_, old, cutter, 2 * settings_.error);
  const std::vector<uint32_t> touched = startFrom(old, [&](const Box3& cell) { return cut_->touch(cell); });
  parallelFor(
      touched.size(), [&](size_t i) { fitToCut(cells_[touched[i]]); }, 1);
  for (const uint32_t index : touched) push(index);
}

// Makes the cells along the old tree, without trials: where all leaves below a node are wholly touched, one
// cell takes their place if it is good enough. Returns the cells that are still to be fitted; they have the
// old coefficients.
std::vector<uint32_t> HpBuilder::startFrom(const HpForest& old,
                                           const std::function<HpTouch(const Box3&)>& touchOf) {
  const std::vector<HpCell> places = leafCells(old);
  std::vector<HpTouch> touch(places.size());
  parallelFor(
      places.size(), [&](size_t leaf) { touch[leaf] = touchOf(cellBox(forest_, places[leaf])); }, 256);
  refined_.clear();
  double volume = 0;
  for (size_t leaf = 0; leaf < places.size(); ++leaf) {
    if (touch[leaf] == HpTouch::None) continue;
    refined_.push_back(cellBox(forest_, places[leaf]));
    volume += refined_.back().extent().prod();
  }
  // The target is that of the touched part alone: what the rest lacks cannot be made good there.
  const double share = volume / volume_;
  setTarget(volume);
  if (!refined_.empty())
    prepareProbe(std::max(kHpStopSamples / 4, static_cast<size_t>(share * double(kHpStopSamples))));
  if (!cut_) prepareDistanceSamples();
  const std::vector<uint32_t> cells = takeCells(old, touch);
  if (probe_) {
    std::vector<uint32_t> cellOf(probe_->points().size());
    parallelFor(
        cellOf.size(), [&](size_t i) { cellOf[i] = locate(forest_, probe_->points()[i]).leaf; }, 1024);
    gatherProbe(cellOf);
  }
  return cells;
}

// Each leaf's node names its cell, as in a forest that is finished.
std::vector<uint32_t> HpBuilder::takeCells(const HpForest& old, std::span<const HpTouch> touch) {
  std::vector<uint8_t> whole(old.child.size());  // children come after their parents
  for (size_t node = old.child.size(); node-- > 0;) {
    const int32_t first = old.child[node];
    if (first < 0) {
      whole[node] = touch[static_cast<size_t>(-1 - first)] == HpTouch::Whole;
      continue;
    }
    whole[node] = 1;
    for (size_t c = 0; c < 8; ++c) whole[node] &= whole[static_cast<size_t>(first) + c];
  }
  const Field& source = cut_ ? cut_->cutter : *source_;
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
            tried[i] = fit(source, level[i].place, degree, {});
        },
        1);
    next.clear();
    for (size_t i = 0; i < level.size(); ++i) {
      const auto& [place, oldNode] = level[i];
      const int32_t first = old.child[oldNode];
      const bool wasTried = !tried[i].fit.coefficients.empty();
      if (wasTried && !cut_) values_ += cellSamples(degree);
      if (first >= 0 && !(wasTried && tried[i].fit.error <= most)) {
        const auto firstNode = static_cast<int32_t>(forest_.child.size());
        forest_.child[static_cast<size_t>(place.node)] = firstNode;
        forest_.child.resize(forest_.child.size() + 8, 0);
        for (uint32_t c = 0; c < 8; ++c)
          next.push_back(
              {childOf(place, c, firstNode + static_cast<int32_t>(c)), static_cast<size_t>(first) + c});
        continue;
      }
      const auto index = static_cast<uint32_t>(cells_.size());
      Cell& cell = cells_.emplace_back();
      forest_.child[static_cast<size_t>(place.node)] = -1 - static_cast<int32_t>(index);
      cell.place = place;
      if (first >= 0) {
        cell.degree = degree;
        cell.touch = HpTouch::Whole;
        take(cell, tried[i]);
        result.push_back(index);
        continue;
      }
      const auto leaf = static_cast<size_t>(-1 - first);
      const std::span<const double> c = old.of(leaf);
      cell.degree = old.degree[leaf];
      cell.touch = touch[leaf];
      cell.coefficients.assign(c.begin(), c.end());
      if (touch[leaf] != HpTouch::None)
        result.push_back(index);
      else
        coefficients_ += c.size();
    }
    level.swap(next);
  }
  return result;
}

void HpBuilder::fitUnlessItAgrees(Cell& cell) const {
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
  keep(cell);
  const double small = 0.25 * settings_.error;
  const double likely =
      2 * shellError(cell.coefficients, cell.degree, settings_.guard) / volume + small * small;
  const auto probes = double(cell.probes.end - cell.probes.begin);
  cell.kept = squares <= likely * double(kAgreePoints) && cell.measured <= 4 * likely * probes;
  if (cell.kept) return;
  Fitted fitted = fit(*source_, cell.place, cell.degree, cell.probes);
  take(cell, fitted);
}

void HpBuilder::fitToCut(Cell& cell) const {
  if (cell.touch == HpTouch::Whole) {
    Fitted fitted = fit(cut_->cutter, cell.place, cell.degree, cell.probes);
    take(cell, fitted);
    return;
  }
  const Box3 box = cellBox(forest_, cell.place);
  const CutLeaf source(box, cell.degree, cell.coefficients, cut_->cutter);
  Fitted fitted = fit(source, cell.place, cell.degree, cell.probes);
  if (source.changes)
    take(cell, fitted);
  else
    keep(cell);
}

void HpBuilder::keep(Cell& cell) const {
  cell.error = shellError(cell.coefficients, cell.degree, settings_.guard) *
               weight(cell.coefficients[0], cell.place.level);
  if (probe_)
    cell.measured =
        probe_->squaredError(cell.probes, cellBox(forest_, cell.place), cell.degree, cell.coefficients);
}

}  // namespace sunder::sdf
