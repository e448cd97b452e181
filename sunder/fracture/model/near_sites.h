// Which Voronoi cells a tetrahedron has parts in, and the planes between them. Not for use outside this room.
#pragma once

#include "sunder/fracture/crack/cracked_mesh.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace sunder::fracture {

// Which sites have a part of a tetrahedron.
class NearSites {
 public:
  NearSites(const CrackedMesh& body, std::span<const Vec3> sites)
      : body_(body), sites_(sites), nearest_(body.mesh.positions.size(), kNoIndex) {
    const double far = geometry::bounds(sites).diagonal();
    for (size_t v = 0; v < nearest_.size(); ++v) {
      const Vec3& x = body.mesh.positions[v];
      uint32_t best = 0;
      double least = Box3::kInfinity, second = Box3::kInfinity;
      for (uint32_t i = 0; i < sites.size(); ++i) {
        const double d = (sites[i] - x).squaredNorm();
        if (d < least) best = i;
        second = std::min(second, std::max(d, least));
        least = std::min(least, d);
      }
      // Most are far from all planes.
      bool clear = second - least > kFarFromTie * (far * far + second);
      if (!clear) {
        clear = true;
        for (uint32_t i = 0; i < sites.size() && clear; ++i) {
          const Plane plane = planeOf(std::min(i, best), std::max(i, best));
          clear = i == best || std::abs(plane.value(x)) > kTie * plane.length;
        }
      }
      if (clear) nearest_[v] = best;
    }
  }

  // The plane between two sites; its function is positive at the first and never zero.
  struct Plane {
    Vec3 way, middle;
    double length;
    double value(const Vec3& x) const {
      const double height = way.dot(x - middle) / length, least = kTie * length;
      return std::abs(height) < least ? least : height;
    }
  };
  Plane planeOf(uint32_t i, uint32_t j) const {
    const Vec3 way = sites_[i] - sites_[j];
    return {way, 0.5 * (sites_[i] + sites_[j]), way.norm()};
  }

  // Those that may be nearest somewhere in the tetrahedron: not farther from all of it than another.
  void of(uint32_t t, const std::array<Vec3, 4>& p, std::vector<uint32_t>& near) {
    near.clear();
    const geometry::Tetrahedron& v = body_.mesh.tets[t];
    const uint32_t first = nearest_[v[0]];
    // Cells are convex: one that has all four vertices has the tetrahedron.
    if (first != kNoIndex && nearest_[v[1]] == first && nearest_[v[2]] == first && nearest_[v[3]] == first) {
      near.push_back(first);
      return;
    }
    const Vec3 middle = 0.25 * (p[0] + p[1] + p[2] + p[3]);
    double reach = 0, nearest = Box3::kInfinity;
    for (const Vec3& corner : p) reach = std::max(reach, (corner - middle).norm());
    distance_.resize(sites_.size());
    for (size_t i = 0; i < sites_.size(); ++i) {
      distance_[i] = (sites_[i] - middle).norm();
      nearest = std::min(nearest, distance_[i]);
    }
    for (uint32_t i = 0; i < sites_.size(); ++i)
      if (distance_[i] <= nearest + 2 * reach) near.push_back(i);
  }

 private:
  static constexpr double kTie = 1e-9;         // of the distance of two sites
  static constexpr double kFarFromTie = 1e-6;  // of squared distances

  const CrackedMesh& body_;
  std::span<const Vec3> sites_;
  std::vector<uint32_t> nearest_;  // by vertex; kNoIndex: hard to say
  std::vector<double> distance_;
};

}  // namespace sunder::fracture
