#include "sunder/geometry/ear_clipping.h"

#include "sunder/geometry/predicates.h"

namespace sunder::geometry {

namespace {

class EarClipper {
 public:
  EarClipper(std::span<const Vec2> points, std::span<const uint32_t> ring, Triangulation& result)
      : ring_(ring), result_(result), remaining_(static_cast<uint32_t>(ring.size())) {
    const uint32_t n = remaining_;
    position_.reserve(n);
    for (const uint32_t i : ring) position_.push_back(points[i]);
    previous_.resize(n);
    next_.resize(n);
    stamp_.assign(n, 0);
    turn_.assign(n, 0);
    removed_.assign(n, 0);
    for (uint32_t i = 0; i < n; ++i) {
      previous_[i] = i == 0 ? n - 1 : i - 1;
      next_[i] = i + 1 == n ? 0 : i + 1;
    }
  }

  void run() {
    const uint32_t n = remaining_;
    for (uint32_t i = 0; i < n; ++i) turn_[i] = turnAt(i);
    dropSpikes();
    if (!windsOnce()) result_.clean = false;
    fillGrid();
    for (uint32_t i = 0; i < n; ++i) enqueue(i);
    bool rescanned = false, hopeless = false;
    while (remaining_ > 3) {
      if (head_ < queue_.size()) {
        const auto [i, stamp] = queue_[head_++];
        // A corner whose neighbour went has a newer entry further back: that spreads the cuts around the
        // ring.
        if (removed_[i] || stamp != stamp_[i]) continue;
        if (isSpike(i) || isEar(i)) {
          cut(i);
          rescanned = false;
        }
      } else if (!rescanned && !hopeless) {
        // For simple polygons never needed; in others an ear can become free without a change of its
        // neighbours.
        rescanned = true;
        for (uint32_t i = 0; i < n; ++i) {
          if (!removed_[i]) enqueue(i);
        }
      } else {
        hopeless = true;
        const uint32_t i = leastBad();
        result_.forced += turn_[i] != 0;
        cut(i);
      }
    }
    uint32_t last = 0;
    while (removed_[last]) ++last;
    if (turn_[last] < 0) ++result_.forced;
    emit(last);
  }

 private:
  int turnAt(uint32_t i) const {
    return sign(orient2d(position_[previous_[i]], position_[i], position_[next_[i]]));
  }

  // A corner on its neighbour, or one where the ring turns back on itself.
  bool isSpike(uint32_t i) const {
    return turn_[i] == 0 && !strictlyBetween(position_[previous_[i]], position_[i], position_[next_[i]]);
  }

  void enqueue(uint32_t i) { queue_.push_back({i, ++stamp_[i]}); }

  void emit(uint32_t i) {
    result_.triangles.push_back({ring_[previous_[i]], ring_[i], ring_[next_[i]]});
    result_.zeroArea += turn_[i] == 0;
  }

  void cut(uint32_t i) {
    emit(i);
    const uint32_t p = previous_[i], q = next_[i];
    next_[p] = q;
    previous_[q] = p;
    removed_[i] = 1;
    --remaining_;
    cursor_ = q;
    turn_[p] = turnAt(p);
    turn_[q] = turnAt(q);
    enqueue(p);
    enqueue(q);
  }

  void dropSpikes() {
    uint32_t i = 0;
    for (uint32_t clear = 0; clear < remaining_ && remaining_ > 3;) {
      if (isSpike(i)) {
        cut(i);
        i = previous_[i];  // may have become one itself
        clear = 0;
      } else {
        i = next_[i];
        ++clear;
      }
    }
    queue_.clear();
  }

  // How often the direction of the edges goes around, by counting where it passes the x axis; exact.
  bool windsOnce() const {
    uint32_t start = 0;
    while (removed_[start]) ++start;
    auto upward = [&](uint32_t from, uint32_t to) {
      const Vec2 &a = position_[from], &b = position_[to];
      return a.y() < b.y() || (a.y() == b.y() && a.x() < b.x());
    };
    int winds = 0;
    uint32_t i = start;
    do {
      const bool in = upward(previous_[i], i), out = upward(i, next_[i]);
      winds += (turn_[i] > 0 && !in && out) - (turn_[i] < 0 && in && !out);
      i = next_[i];
    } while (i != start);
    return winds == 1;
  }

  // Only corners that are not convex can be the first thing in the way of an ear, and convex ones stay
  // convex.
  void fillGrid() {
    Vec2 upper = lower_ = position_[0];
    std::vector<uint32_t> blockers;
    for (uint32_t i = 0; i < position_.size(); ++i) {
      lower_ = lower_.cwiseMin(position_[i]);
      upper = upper.cwiseMax(position_[i]);
      if (!removed_[i] && turn_[i] <= 0) blockers.push_back(i);
    }
    side_ = blockers.size() < 16 ? 1 : static_cast<int>(std::sqrt(static_cast<double>(blockers.size())));
    const Vec2 extent = 0.5 * upper - 0.5 * lower_;  // halves: it may be as wide as the range of doubles
    for (int k = 0; k < 2; ++k) scale_[k] = extent[k] > 1e-300 ? side_ / extent[k] : 0;
    cellStart_.assign(static_cast<size_t>(side_) * static_cast<size_t>(side_) + 1, 0);
    auto cellOf = [&](uint32_t i) { return cellIndex(column(position_[i], 0), column(position_[i], 1)); };
    for (const uint32_t i : blockers) ++cellStart_[cellOf(i) + 1];
    for (size_t c = 1; c < cellStart_.size(); ++c) cellStart_[c] += cellStart_[c - 1];
    std::vector<uint32_t> fill(cellStart_.begin(), cellStart_.end() - 1);
    cellItems_.resize(blockers.size());
    for (const uint32_t i : blockers) cellItems_[fill[cellOf(i)]++] = i;
  }

  // Monotone in the coordinate, which is all that a search by boxes needs.
  int column(const Vec2& p, int axis) const {
    const double x = (0.5 * p[axis] - 0.5 * lower_[axis]) * scale_[axis];
    return static_cast<int>(std::clamp(x, 0.0, static_cast<double>(side_ - 1)));
  }
  size_t cellIndex(int x, int y) const {
    return static_cast<size_t>(y) * static_cast<size_t>(side_) + static_cast<size_t>(x);
  }

  bool isEar(uint32_t i) const {
    if (turn_[i] <= 0) return false;
    const Vec2 &a = position_[previous_[i]], &b = position_[i], &c = position_[next_[i]];
    const Vec2 low = a.cwiseMin(b).cwiseMin(c), high = a.cwiseMax(b).cwiseMax(c);
    const int x0 = column(low, 0), x1 = column(high, 0), y1 = column(high, 1);
    for (int y = column(low, 1); y <= y1; ++y) {
      for (size_t k = cellStart_[cellIndex(x0, y)]; k < cellStart_[cellIndex(x1, y) + 1]; ++k) {
        const uint32_t j = cellItems_[k];
        if (removed_[j] || turn_[j] > 0) continue;
        const Vec2& z = position_[j];
        if (z.x() < low.x() || z.x() > high.x() || z.y() < low.y() || z.y() > high.y()) continue;
        if (z == a || z == b || z == c) continue;
        if (orient2d(c, a, z) >= 0 && orient2d(a, b, z) >= 0 && orient2d(b, c, z) >= 0) return false;
      }
    }
    return true;
  }

  // Nothing is right any more: the shortest cut among the next few corners, convex ones first.
  uint32_t leastBad() const {
    uint32_t best = cursor_, i = cursor_;
    double bestLength = 0;
    int bestTurn = -2;
    for (uint32_t k = 0; k < std::min(remaining_, 32u); ++k, i = next_[i]) {
      const double length = (position_[next_[i]] - position_[previous_[i]]).squaredNorm();
      if (turn_[i] > bestTurn || (turn_[i] == bestTurn && length < bestLength)) {
        best = i;
        bestLength = length;
        bestTurn = turn_[i];
      }
    }
    return best;
  }

  std::span<const uint32_t> ring_;
  Triangulation& result_;
  uint32_t remaining_, cursor_ = 0;
  std::vector<Vec2> position_;  // by place in the ring, as all below
  std::vector<uint32_t> previous_, next_, stamp_;
  std::vector<int> turn_;
  std::vector<uint8_t> removed_;
  std::vector<std::pair<uint32_t, uint32_t>> queue_;  // place, stamp
  size_t head_ = 0;
  Vec2 lower_ = Vec2::Zero(), scale_ = Vec2::Zero();
  int side_ = 1;
  std::vector<uint32_t> cellStart_, cellItems_;
};

}  // namespace

void clipEars(std::span<const Vec2> points, std::span<const uint32_t> ring, Triangulation& result) {
  if (ring.size() < 3) return;
  EarClipper(points, ring, result).run();
  if (result.zeroArea != 0 || result.forced != 0) result.clean = false;
}

int ringOrientation(std::span<const Vec2> ring) {
  const size_t n = ring.size();
  double area = 0, magnitude = 0;
  size_t smallest = 0;
  for (size_t i = 1; i + 1 < n; ++i) {
    const Vec2 u = 0.5 * ring[i] - 0.5 * ring[0], v = 0.5 * ring[i + 1] - 0.5 * ring[0];
    area += u.x() * v.y() - u.y() * v.x();
    magnitude += std::abs(u.x() * v.y()) + std::abs(u.y() * v.x());
  }
  const double bound = magnitude * 1.2e-16 * static_cast<double>(n + 8);
  if (std::isfinite(magnitude) && std::abs(area) > bound && bound > 1e-290) return area > 0 ? 1 : -1;
  for (size_t i = 1; i < n; ++i) {
    if (before(ring[i], ring[smallest])) smallest = i;
  }
  size_t p = smallest, q = smallest;  // its neighbours, past repetitions of the corner
  do p = p == 0 ? n - 1 : p - 1;
  while (p != smallest && ring[p] == ring[smallest]);
  do q = q + 1 == n ? 0 : q + 1;
  while (q != smallest && ring[q] == ring[smallest]);
  const int turn = sign(orient2d(ring[p], ring[smallest], ring[q]));
  return turn != 0 ? turn : (area < 0 ? -1 : 1);
}

}  // namespace sunder::geometry
