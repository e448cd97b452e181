// Polygons of cracks, flat and convex, and how near a point is to one. Not for use outside this room.
#pragma once

#include "sunder/base/box.h"
#include "sunder/base/index.h"
#include "sunder/base/math.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace sunder::fracture {

struct CrackFace {
  Vec3 normal;          // out of the material
  double offset;        // normal . p on it
  Vec3 centre;          // of a ball around it
  double squared;       // its radius
  uint32_t start, end;  // of its corners, counter-clockwise seen from outside
  uint32_t tet;   // whose cell it bounds, of the fragment; kNoIndex where it is another fragment's by now
  uint8_t plane;  // of that cell
};

struct NearestOnFace {
  double squared = std::numeric_limits<double>::infinity();
  Vec3 point = Vec3::Zero();
  uint32_t face = kNoIndex;
};

class CrackFaces {
 public:
  size_t size() const { return faces_.size(); }
  const CrackFace& operator[](size_t i) const { return faces_[i]; }
  std::span<const Vec3> corners(const CrackFace& face) const {
    return {points_.data() + face.start, points_.data() + face.end};
  }
  void reserve(size_t faces) {
    faces_.reserve(faces);
    points_.reserve(4 * faces);
    edges_.reserve(4 * faces);
  }
  void addCorner(const Vec3& point) { points_.push_back(point); }
  // Of the corners added since the last one.
  uint32_t add(const Vec3& normal, uint32_t tet, uint8_t plane) {
    const uint32_t start = faces_.empty() ? 0 : faces_.back().end, end = uint32_t(points_.size());
    double offset = 0, squared = 0;
    Vec3 centre = Vec3::Zero();
    for (uint32_t i = start; i < end; ++i) {
      offset += normal.dot(points_[i]);
      centre += points_[i];
    }
    centre /= end - start;
    for (uint32_t i = end - 1, j = start; j < end; i = j++) {
      squared = std::max(squared, (points_[j] - centre).squaredNorm());
      const Vec3 inward = normal.cross(points_[j] - points_[i]);
      edges_.push_back({inward, inward.dot(points_[i])});
    }
    faces_.push_back({normal, offset / (end - start), centre, squared, start, end, tet, plane});
    return uint32_t(faces_.size()) - 1;
  }
  uint32_t copy(const CrackFaces& from, uint32_t face) {
    const CrackFace& f = from[face];
    for (const Vec3& p : from.corners(f)) points_.push_back(p);
    return add(f.normal, kNoIndex, f.plane);
  }

  // Takes the face where it is nearer than what is known.
  void nearer(uint32_t face, const Vec3& p, NearestOnFace& best) const {
    const CrackFace& f = faces_[face];
    const double height = f.normal.dot(p) - f.offset;
    // Neighbours on one plane are as high up to rounding.
    if (height * height >= (1 - 1e-10) * best.squared) return;
    // Beyond the ball by more than what is known; without a root.
    const double beyond = (p - f.centre).squaredNorm() - f.squared - best.squared;
    if (beyond > 0 && beyond * beyond > 4.0000001 * f.squared * best.squared) return;
    const Vec3* q = points_.data();
    bool beside = false;
    double edge = std::numeric_limits<double>::infinity();
    Vec3 onEdge;
    for (uint32_t i = f.end - 1, j = f.start; j < f.end; i = j++) {
      if (edges_[j].inward.dot(p) >= edges_[j].offset) continue;
      const Vec3 along = q[j] - q[i], to = p - q[i];
      beside = true;
      const double length = along.squaredNorm();
      const double t = length > 0 ? std::clamp(to.dot(along) / length, 0.0, 1.0) : 0;
      const Vec3 near = q[i] + t * along;
      if (const double d = (p - near).squaredNorm(); d < edge) {
        edge = d;
        onEdge = near;
      }
    }
    if (!beside)
      best = {height * height, p - height * f.normal, face};
    else if (edge < best.squared)
      best = {edge, onEdge, face};
  }

 private:
  // The plane across a face at the edge that ends in a corner.
  struct Edge {
    Vec3 inward;
    double offset;
  };
  std::vector<CrackFace> faces_;
  std::vector<Vec3> points_;
  std::vector<Edge> edges_;
};

// Faces by the cells of a grid: in a cell, all faces that can be within `reach` of a point of it.
class FaceGrid {
 public:
  FaceGrid() = default;
  // Of the first `count` faces; `box` holds all of them.
  FaceGrid(const CrackFaces& faces, size_t count, const Box3& box, double cell, double reach);
  std::span<const uint32_t> at(const Vec3& p) const {
    size_t cell = 0;
    for (size_t d = 3; d-- > 0;) {
      const double x = (p[int(d)] - origin_[int(d)]) * perCell_;
      if (!(x >= 0 && x < double(size_[d]))) return {};
      cell = cell * size_[d] + size_t(x);
    }
    return {list_.data() + start_[cell], list_.data() + start_[cell + 1]};
  }

 private:
  Vec3 origin_ = Vec3::Zero();
  double perCell_ = 0;
  std::array<uint32_t, 3> size_{};
  std::vector<uint32_t> start_, list_;
};

}  // namespace sunder::fracture
