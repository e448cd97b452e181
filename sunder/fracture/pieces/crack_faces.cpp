#include "sunder/fracture/pieces/crack_faces.h"

namespace sunder::fracture {

FaceGrid::FaceGrid(const CrackFaces& faces, size_t count, const Box3& box, double cell, double reach) {
  constexpr uint32_t kMostCells = 128;
  if (count == 0) return;
  origin_ = box.lower - Vec3::Constant(reach);
  const Vec3 extent = box.extent() + Vec3::Constant(2 * reach);
  const double side = std::max(cell, extent.maxCoeff() / kMostCells);
  perCell_ = 1 / side;
  for (size_t d = 0; d < 3; ++d) size_[d] = uint32_t(extent[int(d)] * perCell_) + 1;
  std::vector<std::pair<uint32_t, uint32_t>> pairs;  // cell and face
  pairs.reserve(12 * count);
  start_.assign(size_t(size_[0]) * size_[1] * size_[2] + 1, 0);
  const double pad = reach * (1 + 1e-9);
  for (uint32_t f = 0; f < count; ++f) {
    const CrackFace& face = faces[f];
    Box3 around;
    for (const Vec3& p : faces.corners(face)) around.grow(p);
    std::array<uint32_t, 3> low, high;
    for (size_t d = 0; d < 3; ++d) {
      const auto at = [&](double x) {
        return uint32_t(std::clamp((x - origin_[int(d)]) * perCell_, 0.0, double(size_[d] - 1)));
      };
      low[d] = at(around.lower[int(d)] - pad);
      high[d] = at(around.upper[int(d)] + pad);
    }
    // Cells that the plane of the face is too far from have no point near it.
    const double thick = pad + 0.5 * side * face.normal.cwiseAbs().sum();
    const Vec3 first = origin_ + side * Vec3(low[0] + 0.5, low[1] + 0.5, low[2] + 0.5);
    const Vec3 step = side * face.normal;
    double slab = face.normal.dot(first) - face.offset;
    for (uint32_t z = low[2]; z <= high[2]; ++z, slab += step.z()) {
      double row = slab;
      for (uint32_t y = low[1]; y <= high[1]; ++y, row += step.y()) {
        double height = row;
        for (uint32_t x = low[0]; x <= high[0]; ++x, height += step.x()) {
          if (std::abs(height) > thick) continue;
          const uint32_t at = x + size_[0] * (y + size_[1] * z);
          pairs.emplace_back(at, f);
          ++start_[at + 1];
        }
      }
    }
  }
  for (size_t i = 1; i < start_.size(); ++i) start_[i] += start_[i - 1];
  list_.resize(pairs.size());
  // From the last to the first, so that the starts come out right.
  for (size_t i = pairs.size(); i-- > 0;) list_[--start_[pairs[i].first + 1]] = pairs[i].second;
  start_.erase(start_.begin());
  start_.push_back(uint32_t(list_.size()));
}

}  // namespace sunder::fracture
