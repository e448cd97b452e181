// The grid of k_nearest.h, and the list of the best that both of its methods keep. Private to the room.
#pragma once

#include "sunder/base/index.h"
#include "sunder/base/math.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace sunder::spatial::detail {

inline double squaredDistance(const Vec3& p, const Vec3& q) {
  const double dx = p.x() - q.x(), dy = p.y() - q.y(), dz = p.z() - q.z();
  return (dx * dx + dy * dy) + dz * dz;
}

// The `count` smallest (squared distance, point) of those offered.
class NearestHeap {
 public:
  explicit NearestHeap(uint32_t count) : count_(count) { heap_.reserve(count); }
  void clear() {
    heap_.clear();
    worst_ = std::numeric_limits<double>::infinity();
  }
  bool full() const { return heap_.size() == count_; }
  double worst() const { return worst_; }  // infinite until full
  void offer(double squared, uint32_t point) {
    const std::pair<double, uint32_t> item{squared, point};
    if (full()) {
      if (!(item < heap_.front())) return;
      std::pop_heap(heap_.begin(), heap_.end());
      heap_.back() = item;
    } else {
      heap_.push_back(item);
    }
    std::push_heap(heap_.begin(), heap_.end());
    if (full()) worst_ = heap_.front().first;
  }
  void take(uint32_t* points, double* squared) {  // ascending
    std::sort_heap(heap_.begin(), heap_.end());
    for (size_t i = 0; i < heap_.size(); ++i) {
      points[i] = heap_[i].second;
      squared[i] = heap_[i].first;
    }
  }

 private:
  uint32_t count_;
  double worst_ = std::numeric_limits<double>::infinity();
  std::vector<std::pair<double, uint32_t>> heap_;
};

// Points by cell, about two a cell where they lie evenly.
class ShellGrid {
 public:
  void build(std::span<const Vec3> points);
  double crowding() const { return crowding_; }  // how many points share the cell of a point, on average
  void search(const Vec3& query, uint32_t skip, NearestHeap& best) const;

 private:
  int64_t cellAlong(double coordinate, int axis) const;

  std::vector<uint32_t> ids_, starts_;
  std::vector<Vec3> points_;  // by cell
  Vec3 lower_ = Vec3::Zero(), perEdge_ = Vec3::Zero(), edge_ = Vec3::Zero();
  int64_t dims_[3] = {1, 1, 1};
  double slack_ = 0, crowding_ = 0;
};

}  // namespace sunder::spatial::detail
