#include "sunder/soft/cage/solid.h"

#include "sunder/geometry/mass_properties.h"

#include <utility>

namespace sunder::soft {

Solid::Solid(const geometry::TriMesh& surface) {
  volume_ = geometry::massProperties(surface).volume;
  if (volume_ < 0) {
    geometry::TriMesh other = surface;
    for (geometry::Triangle& t : other.triangles) std::swap(t[1], t[2]);
    query_ = std::make_unique<spatial::MeshQuery>(other);
    volume_ = -volume_;
    turned_ = true;
  } else {
    query_ = std::make_unique<spatial::MeshQuery>(surface);
  }
  winding_ = std::make_unique<spatial::WindingNumber>(*query_);
}

std::vector<uint8_t> Solid::inside(std::span<const Vec3> points) const {
  std::vector<uint8_t> result(points.size());
  winding_->inside(points, result);
  return result;
}

}  // namespace sunder::soft
