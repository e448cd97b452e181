// One face divided by segments in its plane: the exact arrangement of lines that a mesh which crosses itself
// draws on its own faces. Segments may cross, touch and overlap; loops that do not reach the border are
// joined to the rest by bridges, so each piece is one ring.
//
// Cost: O(k^2) tests for k segments in a face, and for each loop that needs a bridge O(k) a try.
#pragma once

#include "sunder/cut/kernel/exact_point.h"

#include <array>
#include <functional>
#include <vector>

namespace sunder::cut {

// Points by number; equal points have one.
class ExactPoints {
 public:
  explicit ExactPoints(const ExactGrid& grid) : grid_(grid) {}
  uint32_t add(ExactPoint p);
  const ExactPoint& operator[](uint32_t i) const { return points_[i]; }
  uint32_t size() const { return static_cast<uint32_t>(points_.size()); }
  const ExactGrid& grid() const { return grid_; }

 private:
  const ExactGrid& grid_;
  std::vector<ExactPoint> points_;
  std::vector<uint32_t> order_;  // ascending
};

struct FaceSegment {
  uint32_t from, to;  // points
  ExactPlane3 plane;  // one through it that is not the face's
};

struct FaceGraph {
  std::array<uint32_t, 3> corners;
  int axis = 0;         // along which to look
  bool turned = false;  // the corners run clockwise seen so
  std::vector<FaceSegment> segments;
};

// Adds where segments cross to the points; `onSegment` gets the points on each segment, its ends among them,
// and those on the three edges as the last three rows.
void crossSegments(const FaceGraph& face, ExactPoints& points, std::vector<std::vector<uint32_t>>& onSegment);

// Rings of the pieces, in the direction of the face. Each row of points is on one line.
std::vector<std::vector<uint32_t>> ringsOf(const FaceGraph& face, const ExactPoints& points,
                                           const std::vector<std::vector<uint32_t>>& rows);

}  // namespace sunder::cut
