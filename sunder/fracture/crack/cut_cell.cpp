#include "sunder/fracture/crack/cut_cell.h"

#include "sunder/base/error.h"
#include "sunder/base/index.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/geometry/vector_area.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace sunder::fracture {

namespace {

// Of a convex polyhedron with a face for each cut and four more.
constexpr size_t kMostCorners = 2 * (kMostCuts + 4) - 4;

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

std::array<uint8_t, 4> ascending(const std::array<uint32_t, 4>& vertices) {
  std::array<uint8_t, 4> order{0, 1, 2, 3};
  std::sort(order.begin(), order.end(), [&](uint8_t a, uint8_t b) { return vertices[a] < vertices[b]; });
  return order;
}

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
  for (const Face& f : faces) {
    const std::span<const uint8_t> loop = cornersOf(f);
    for (size_t i = 1; i + 1 < loop.size(); ++i) {
      const Vec3 a = corners[loop[0]].position - origin, b = corners[loop[i]].position - origin,
                 c = corners[loop[i + 1]].position - origin;
      sum += a.dot(b.cross(c));
    }
  }
  return sum / 6;
}

double CutCell::area(const Face& f) const {
  const std::span<const uint8_t> loop = cornersOf(f);
  const auto at = [&](size_t i) -> const Vec3& { return corners[loop[i]].position; };
  return 0.5 * geometry::twiceVectorArea(loop.size(), at).norm();
}

bool crosses(const CutCell& cell, const std::array<double, 4>& phi) {
  bool above = false, below = false;
  for (const CutCell::Corner& c : cell.corners) (cell.value(c, phi) >= 0 ? above : below) = true;
  return above && below;
}

bool crosses(const CutCell& cell, const CutCell::Face& face, const std::array<double, 4>& phi) {
  bool above = false, below = false;
  for (const uint8_t i : cell.cornersOf(face)) (cell.value(cell.corners[i], phi) >= 0 ? above : below) = true;
  return above && below;
}

void requireFewCuts(size_t cuts) {
  if (cuts > kMostCuts)
    throw Error(ErrorKind::Limit, fmt::format("more than {} cracks through one tetrahedron", kMostCuts))
        .hint("tetrahedra with shorter edges, or fewer pieces");
}

CutCell clipCell(const CutCell& cell, const std::array<uint32_t, 4>& vertices,
                 const std::array<Vec3, 4>& positions, std::span<const Cut> cuts) {
  requireFewCuts(cuts.size());
  const Tet tet{vertices, positions, cuts};
  const Cut& cut = cuts.back();
  const auto plane = uint8_t(3 + cuts.size());
  std::array<bool, kMostCorners> inside;
  bool some = false, all = true;
  for (size_t i = 0; i < cell.corners.size(); ++i) {
    inside[i] = (cell.value(cell.corners[i], cut.phi) >= 0) == (cut.side > 0);
    some |= inside[i];
    all &= inside[i];
  }
  if (all) return cell;
  CutCell out;
  out.order = cell.order;
  out.degenerate = cell.degenerate;
  if (!some) return out;

  std::array<uint8_t, kMostCorners> number;
  std::fill_n(number.begin(), cell.corners.size(), uint8_t(255));
  out.corners.reserve(cell.corners.size() + 2);
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
    for (size_t i = 0; i < out.corners.size(); ++i) {
      const auto& planes = out.corners[i].planes;
      if (planes[2] == plane && planes[0] == corner.planes[0] && planes[1] == corner.planes[1]) return int(i);
    }
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
  // The corners added since `first` as a face, where there are enough.
  const auto close = [&](uint8_t of, size_t first) {
    if (out.loops.size() - first >= 3)
      out.faces.push_back({of, uint8_t(out.loops.size() - first), uint16_t(first)});
    else
      out.loops.shrink(first);
  };
  // Along the new face, from where a face is left to where it is entered again, turned round.
  struct Step {
    uint8_t from, to;
  };
  SmallArray<Step, 16> links;
  for (const CutCell::Face& face : cell.faces) {
    const size_t first = out.loops.size();
    int entered = -1, left = -1, changes = 0;
    const std::span<const uint8_t> loop = cell.cornersOf(face);
    for (size_t i = 0; i < loop.size(); ++i) {
      const uint8_t a = loop[i], b = loop[i + 1 < loop.size() ? i + 1 : 0];
      if (inside[a]) out.loops.push_back(keep(a));
      if (inside[a] == inside[b]) continue;
      const int corner = cross(a, b, face.plane);
      if (corner < 0) {
        out.degenerate = true;
        continue;
      }
      out.loops.push_back(uint8_t(corner));
      (inside[a] ? left : entered) = corner;
      ++changes;
    }
    if (changes > 2) out.degenerate = true;
    close(face.plane, first);
    if (entered >= 0 && left >= 0) links.push_back({uint8_t(entered), uint8_t(left)});
  }
  const size_t first = out.loops.size();
  if (!links.empty()) {
    uint8_t at = links[0].from;
    for (size_t i = 0; i < links.size(); ++i) {
      out.loops.push_back(at);
      const auto* next =
          std::find_if(links.begin(), links.end(), [&](const Step& link) { return link.from == at; });
      if (next == links.end()) break;
      at = next->to;
      if (at == links[0].from) break;
    }
    if (out.loops.size() - first != links.size()) out.degenerate = true;
  }
  close(plane, first);
  return out;
}

void renumber(CutCell& cell, const std::array<uint32_t, 4>& before, const std::array<uint32_t, 4>& after) {
  for (CutCell::Corner& corner : cell.corners)
    for (uint32_t& v : corner.key.vertices) {
      if (v == kNoIndex) break;
      for (size_t i = 0; i < 4; ++i)
        if (v == before[i]) {
          v = after[i];
          break;
        }
    }
}

CutCell makeCell(const std::array<uint32_t, 4>& vertices, const std::array<Vec3, 4>& positions,
                 std::span<const Cut> cuts) {
  const Tet tet{vertices, positions, {}};
  CutCell cell;
  cell.order = tet.order;
  cell.corners.reserve(4);
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
    cell.faces.push_back({i, 3, uint16_t(cell.loops.size())});
    for (const uint32_t corner : f) cell.loops.push_back(uint8_t(corner));
  }
  for (size_t k = 0; k < cuts.size() && !cell.empty(); ++k)
    cell = clipCell(cell, vertices, positions, cuts.first(k + 1));
  return cell;
}

}  // namespace sunder::fracture
