#include "sunder/fracture/cut_cell.h"

#include "sunder/base/index.h"
#include "sunder/geometry/tet_mesh.h"

#include <algorithm>
#include <cmath>

namespace sunder::fracture {

namespace {

// Local vertices by ascending number: sums over them are then the same in every tetrahedron.
std::array<uint8_t, 4> ascending(const std::array<uint32_t, 4>& vertices) {
  std::array<uint8_t, 4> order{0, 1, 2, 3};
  std::sort(order.begin(), order.end(), [&](uint8_t a, uint8_t b) { return vertices[a] < vertices[b]; });
  return order;
}

// Weights w of n + 1 vertices with sum_i w_i phi_k(i) = 0 for the n cracks: cofactors, made to sum to one.
template <size_t kCount>
void solveWeights(const std::array<std::array<double, 4>, 3>& rows, std::array<double, 4>& w) {
  if constexpr (kCount == 2) {
    w[0] = rows[0][1];
    w[1] = -rows[0][0];
  } else if constexpr (kCount == 3) {
    const auto &a = rows[0], &b = rows[1];
    w[0] = a[1] * b[2] - a[2] * b[1];
    w[1] = a[2] * b[0] - a[0] * b[2];
    w[2] = a[0] * b[1] - a[1] * b[0];
  } else {
    const auto &a = rows[0], &b = rows[1], &c = rows[2];
    const auto minor = [&](int i, int j, int k) {
      return a[size_t(i)] * (b[size_t(j)] * c[size_t(k)] - b[size_t(k)] * c[size_t(j)]) -
             a[size_t(j)] * (b[size_t(i)] * c[size_t(k)] - b[size_t(k)] * c[size_t(i)]) +
             a[size_t(k)] * (b[size_t(i)] * c[size_t(j)] - b[size_t(j)] * c[size_t(i)]);
    };
    w[0] = minor(1, 2, 3);
    w[1] = -minor(0, 2, 3);
    w[2] = minor(0, 1, 3);
    w[3] = -minor(0, 1, 2);
  }
}

struct Tet {
  const std::array<uint32_t, 4>& vertices;
  const std::array<Vec3, 4>& positions;
  std::span<const Cut> cuts;
  std::array<uint8_t, 4> order = ascending(vertices);

  // The corner on three planes. False where the planes do not determine it.
  bool place(CutCell::Corner& corner) const {
    std::array<uint8_t, 4> local{};
    size_t count = 0, surfaces = 0;
    std::array<uint8_t, 3> cut{};
    corner.key.vertices.fill(kNoIndex);
    corner.key.surfaces.fill(kNoIndex);
    for (const uint8_t i : order)
      if (std::find(corner.planes.begin(), corner.planes.end(), i) == corner.planes.end()) {
        corner.key.vertices[count] = vertices[i];
        local[count++] = i;
      }
    // Planes ascend and cuts ascend by crack, so these do too.
    for (const uint8_t plane : corner.planes)
      if (plane >= 4) {
        corner.key.surfaces[surfaces] = cuts[plane - 4u].surface;
        cut[surfaces++] = uint8_t(plane - 4);
      }
    corner.weights.fill(0);
    std::array<double, 4> w{};
    std::array<std::array<double, 4>, 3> rows{};
    for (size_t k = 0; k < surfaces; ++k)
      for (size_t i = 0; i < count; ++i) rows[k][i] = cuts[cut[k]].phi[local[i]];
    if (count == 1)
      w[0] = 1;
    else if (count == 2)
      solveWeights<2>(rows, w);
    else if (count == 3)
      solveWeights<3>(rows, w);
    else
      solveWeights<4>(rows, w);
    double sum = 0, most = 0;
    for (size_t i = 0; i < count; ++i) {
      sum += w[i];
      most = std::max(most, std::abs(w[i]));
    }
    if (!(std::abs(sum) > 1e-14 * most)) return false;
    corner.position.setZero();
    for (size_t i = 0; i < count; ++i) {
      w[i] /= sum;
      if (!(w[i] > -1e-6 && w[i] < 1 + 1e-6)) return false;
      corner.weights[local[i]] = w[i];
      corner.position += w[i] * positions[local[i]];
    }
    return true;
  }
};

// The plane besides `face` that two neighbouring corners of it share.
int otherPlane(const CutCell::Corner& a, const CutCell::Corner& b, uint8_t face) {
  for (const uint8_t p : a.planes)
    if (p != face && std::find(b.planes.begin(), b.planes.end(), p) != b.planes.end()) return p;
  return -1;
}

}  // namespace

double CutCell::value(const Corner& corner, const std::array<double, 4>& phi) const {
  double sum = 0;
  for (const uint8_t i : order) sum += corner.weights[i] * phi[i];
  return sum;
}

const CutCell::Face* CutCell::face(uint8_t plane) const {
  for (const Face& f : faces)
    if (f.plane == plane) return &f;
  return nullptr;
}

double CutCell::volume() const {
  if (faces.empty()) return 0;
  const Vec3 origin = corners[0].position;
  double sum = 0;
  for (const Face& f : faces)
    for (size_t i = 1; i + 1 < f.corners.size(); ++i) {
      const Vec3 a = corners[f.corners[0]].position - origin, b = corners[f.corners[i]].position - origin,
                 c = corners[f.corners[i + 1]].position - origin;
      sum += a.dot(b.cross(c));
    }
  return sum / 6;
}

double CutCell::area(const Face& f) const {
  Vec3 sum = Vec3::Zero();
  const Vec3 a = corners[f.corners[0]].position;
  for (size_t i = 1; i + 1 < f.corners.size(); ++i)
    sum += (corners[f.corners[i]].position - a).cross(corners[f.corners[i + 1]].position - a);
  return 0.5 * sum.norm();
}

bool crosses(const CutCell& cell, const std::array<double, 4>& phi) {
  bool above = false, below = false;
  for (const CutCell::Corner& c : cell.corners) (cell.value(c, phi) >= 0 ? above : below) = true;
  return above && below;
}

bool crosses(const CutCell& cell, const CutCell::Face& face, const std::array<double, 4>& phi) {
  bool above = false, below = false;
  for (const uint8_t i : face.corners) (cell.value(cell.corners[i], phi) >= 0 ? above : below) = true;
  return above && below;
}

CutCell clipCell(const CutCell& cell, const std::array<uint32_t, 4>& vertices,
                 const std::array<Vec3, 4>& positions, std::span<const Cut> cuts) {
  const Tet tet{vertices, positions, cuts};
  const Cut& cut = cuts.back();
  const auto plane = uint8_t(3 + cuts.size());
  std::vector<char> inside(cell.corners.size());
  bool some = false, all = true;
  for (size_t i = 0; i < cell.corners.size(); ++i) {
    inside[i] = (cell.value(cell.corners[i], cut.phi) >= 0) == (cut.side > 0);
    some |= bool(inside[i]);
    all &= bool(inside[i]);
  }
  if (all) return cell;
  CutCell out;
  out.order = cell.order;
  out.degenerate = cell.degenerate;
  if (!some) return out;

  std::vector<uint8_t> number(cell.corners.size(), 255);
  const auto keep = [&](uint8_t i) {
    if (number[i] == 255) {
      number[i] = uint8_t(out.corners.size());
      out.corners.push_back(cell.corners[i]);
    }
    return number[i];
  };
  const auto cross = [&](uint8_t a, uint8_t b, uint8_t face) -> int {
    const int other = otherPlane(cell.corners[a], cell.corners[b], face);
    if (other < 0) return -1;
    CutCell::Corner corner;
    corner.planes = {std::min(face, uint8_t(other)), std::max(face, uint8_t(other)), plane};
    for (size_t i = 0; i < out.corners.size(); ++i)
      if (out.corners[i].planes == corner.planes) return int(i);
    if (!tet.place(corner)) {
      // Planes that hardly cross: anywhere between the two corners.
      const CutCell::Corner &p = cell.corners[a], &q = cell.corners[b];
      for (size_t i = 0; i < 4; ++i) corner.weights[i] = 0.5 * (p.weights[i] + q.weights[i]);
      corner.position = 0.5 * (p.position + q.position);
      out.degenerate = true;
    }
    out.corners.push_back(corner);
    return int(out.corners.size()) - 1;
  };
  // Along the new face, from where a face is left to where it is entered again, turned round.
  std::vector<std::pair<uint8_t, uint8_t>> links;
  for (const CutCell::Face& face : cell.faces) {
    CutCell::Face kept{face.plane, {}};
    int entered = -1, left = -1, changes = 0;
    const size_t n = face.corners.size();
    for (size_t i = 0; i < n; ++i) {
      const uint8_t a = face.corners[i], b = face.corners[(i + 1) % n];
      if (inside[a]) kept.corners.push_back(keep(a));
      if (inside[a] == inside[b]) continue;
      const int corner = cross(a, b, face.plane);
      if (corner < 0) {
        out.degenerate = true;
        continue;
      }
      kept.corners.push_back(uint8_t(corner));
      (inside[a] ? left : entered) = corner;
      ++changes;
    }
    if (changes > 2) out.degenerate = true;
    if (kept.corners.size() >= 3) out.faces.push_back(std::move(kept));
    if (entered >= 0 && left >= 0) links.emplace_back(uint8_t(entered), uint8_t(left));
  }
  CutCell::Face lid{plane, {}};
  if (!links.empty()) {
    uint8_t at = links[0].first;
    for (size_t i = 0; i < links.size(); ++i) {
      lid.corners.push_back(at);
      const auto next =
          std::find_if(links.begin(), links.end(), [&](const auto& link) { return link.first == at; });
      if (next == links.end()) break;
      at = next->second;
      if (at == lid.corners.front()) break;
    }
    if (lid.corners.size() != links.size()) out.degenerate = true;
  }
  if (lid.corners.size() >= 3) out.faces.push_back(std::move(lid));
  return out;
}

CutCell makeCell(const std::array<uint32_t, 4>& vertices, const std::array<Vec3, 4>& positions,
                 std::span<const Cut> cuts) {
  const Tet tet{vertices, positions, {}};
  CutCell cell;
  cell.order = tet.order;
  for (uint8_t i = 0; i < 4; ++i) {
    CutCell::Corner corner;
    size_t n = 0;
    for (uint8_t p = 0; p < 4; ++p)
      if (p != i) corner.planes[n++] = p;
    tet.place(corner);
    cell.corners.push_back(corner);
  }
  for (uint8_t i = 0; i < 4; ++i) {
    const auto& f = geometry::kTetFaces[i];
    cell.faces.push_back({i, {f[0], f[1], f[2]}});
  }
  for (size_t k = 0; k < cuts.size() && !cell.empty(); ++k)
    cell = clipCell(cell, vertices, positions, cuts.first(k + 1));
  return cell;
}

}  // namespace sunder::fracture
