// The solid that a surface encloses: inside is where the winding number is above one half. Surfaces may have
// several parts, cross themselves and have small holes; one that is inside out is turned.
#pragma once

#include "sunder/geometry/mesh.h"
#include "sunder/spatial/query/mesh_queries.h"
#include "sunder/spatial/query/winding_number.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace sunder::soft {

class Solid {
 public:
  explicit Solid(const geometry::TriMesh& surface);

  bool inside(const Vec3& point) const { return winding_->inside(point); }
  std::vector<uint8_t> inside(std::span<const Vec3> points) const;  // 0 or 1, in parallel
  const spatial::MeshQuery& query() const { return *query_; }
  double volume() const { return volume_; }  // enclosed; of an open surface only roughly
  bool turned() const { return turned_; }

 private:
  std::unique_ptr<spatial::MeshQuery> query_;
  std::unique_ptr<spatial::WindingNumber> winding_;
  double volume_ = 0;
  bool turned_ = false;
};

}  // namespace sunder::soft
