// A tree of spheres over points of a body, for finding those inside something else, coarsest first. Level l
// holds the first 2^l points of the farthest-point order; level l + 1 repeats them and adds as many. A
// point's occurrence on one level is the parent of its own occurrence on the next; a new point hangs below
// the nearest point of the level above. The sphere of an occurrence is centred at its point and reaches to
// the farthest point below it, so a point is tested once however often it occurs (Barbic and James 2008;
// Glondu et al. 2014 for trees that can be taken apart).
//
// Guarantees: every point below an occurrence lies within its radius (rounded up to float); each point first
// occurs once; the same tree for any number of threads. An occurrence's sphere need not contain its
// children's spheres.
//
// Layout: occurrences are numbered level by level and within a level by rank, and linked by parent, first
// child and next sibling, so an update can hang occurrences elsewhere and append new ones without moving
// any. The links start out as the order says: first child is the point's own next occurrence, new points
// follow by rank. Several roots are possible after such an update; a fresh tree has one.
//
// Cost: that of the order (farthest_point.h) and n * levels distances for the radii, levels in parallel;
// about 2.6 occurrences a point, 16 bytes each.
#pragma once

#include "sunder/base/index.h"
#include "sunder/base/math.h"

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace sunder::sdf {

struct SphereTree {
  // By rank in the order.
  std::vector<uint32_t> order;       // the point's number in what the tree was made of
  std::vector<Vec3> position;        // in the body's frame
  std::vector<uint8_t> surface;      // 1: on the surface, 0: inside
  std::vector<double> gap;           // to the nearest point of lower rank
  std::vector<uint32_t> parentRank;  // whose occurrence a point first hangs below; 0 for rank 0

  // By occurrence; kNoIndex where there is none.
  std::vector<uint32_t> rank, parent, firstChild, nextSibling;
  std::vector<float> radius;

  std::vector<uint32_t> levelStart;  // first occurrence of each level, and one past the last
  std::vector<uint32_t> roots;

  size_t pointCount() const { return order.size(); }
  size_t occurrenceCount() const { return rank.size(); }
  uint32_t levels() const { return levelStart.empty() ? 0 : uint32_t(levelStart.size() - 1); }
  uint32_t levelSize(uint32_t level) const { return levelStart[level + 1] - levelStart[level]; }
  // Where the point of that rank is on that level of a fresh tree; it is there from firstLevel(rank) on.
  uint32_t occurrence(uint32_t level, uint32_t rankOnLevel) const { return levelStart[level] + rankOnLevel; }
  static uint32_t firstLevel(uint32_t rank) { return uint32_t(std::bit_width(rank)); }
  // Every other point is within this of one of the level's.
  double coveringRadius(uint32_t level) const {
    const size_t next = size_t(1) << level;
    return next < gap.size() ? gap[next] : 0;
  }
  size_t bytes() const;
};

// `surface`: one per point, or none for points that all are. Throws Error (Usage) where the sizes differ or a
// point is not finite. No points make an empty tree.
SphereTree buildSphereTree(std::span<const Vec3> points, std::span<const uint8_t> surface = {});

}  // namespace sunder::sdf
