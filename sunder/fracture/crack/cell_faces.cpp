#include "sunder/fracture/crack/cell_faces.h"

#include <cmath>

namespace sunder::fracture {

namespace {

constexpr double kLeastArea = 1e-11;  // of the face

struct FlatCorner {
  std::array<double, 3> w;  // of the face's vertices, in a fixed order
};

using FlatPolygon = SmallArray<FlatCorner, 16>;

double areaOf(const FlatPolygon& polygon) {
  double sum = 0;
  for (size_t i = 1; i + 1 < polygon.size(); ++i) {
    const auto &a = polygon[0].w, &b = polygon[i].w, &c = polygon[i + 1].w;
    sum += (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
  }
  return std::abs(sum);
}

void clip(FlatPolygon& polygon, const std::array<double, 3>& phi, double side) {
  FlatPolygon out;
  const auto value = [&](const FlatCorner& c) {
    return side * (c.w[0] * phi[0] + c.w[1] * phi[1] + c.w[2] * phi[2]);
  };
  for (size_t i = 0; i < polygon.size(); ++i) {
    const FlatCorner &a = polygon[i], &b = polygon[i + 1 < polygon.size() ? i + 1 : 0];
    const double va = value(a), vb = value(b);
    if (va >= 0) out.push_back(a);
    if ((va >= 0) == (vb >= 0)) continue;
    const double t = va / (va - vb);
    FlatCorner cut;
    for (size_t k = 0; k < 3; ++k) cut.w[k] = a.w[k] + t * (b.w[k] - a.w[k]);
    out.push_back(cut);
  }
  polygon = std::move(out);
}

}  // namespace

bool FaceOverlap::operator()(uint32_t a, uint8_t sideA, uint32_t b, uint8_t sideB) const {
  const bool cutA = !mesh_.cuts[a].empty(), cutB = !mesh_.cuts[b].empty();
  const CutCell::Face *faceA = cutA ? cells_[a].face(sideA) : nullptr,
                      *faceB = cutB ? cells_[b].face(sideB) : nullptr;
  if ((cutA && !faceA) || (cutB && !faceB)) return false;
  if (!cutA && !cutB) return true;
  // The face's vertices in the order that they have in a; where they are in b.
  std::array<uint32_t, 3> inA{}, inB{};
  size_t n = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    if (i == sideA) continue;
    inA[n] = i;
    for (uint32_t j = 0; j < 4; ++j)
      if (mesh_.mesh.tets[b][j] == mesh_.mesh.tets[a][i]) inB[n] = j;
    ++n;
  }
  FlatPolygon polygon;
  if (cutA) {
    for (const uint8_t c : cells_[a].cornersOf(*faceA)) {
      const auto& w = cells_[a].corners[c].weights;
      polygon.push_back({{w[inA[0]], w[inA[1]], w[inA[2]]}});
    }
  } else {
    for (size_t i = 0; i < 3; ++i) {
      FlatCorner corner{};
      corner.w[i] = 1;
      polygon.push_back(corner);
    }
  }
  for (const Cut& cut : mesh_.cuts[b])
    clip(polygon, {cut.phi[inB[0]], cut.phi[inB[1]], cut.phi[inB[2]]}, cut.side);
  return areaOf(polygon) > kLeastArea;
}

}  // namespace sunder::fracture
