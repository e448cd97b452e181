#include "sunder/cut/arrangement/parts.h"

#include "sunder/base/disjoint_sets.h"
#include "sunder/base/parallel.h"
#include "sunder/geometry/predicates.h"
#include "sunder/spatial/query/mesh_queries.h"

#include <memory>

namespace sunder::cut {

namespace {

// Components of the untouched faces, numbered by their first face. In one pass over the faces in order each
// takes the label of a neighbour before it, and labels that meet become one (Rosenfeld and Pfaltz 1966, for
// pictures): no jumps through memory.
void labelComponents(const KernelMesh& mesh, const Regions& regions, Parts& parts,
                     std::vector<uint8_t>& open) {
  const uint32_t faces = u32(mesh.triangles.size());
  std::vector<uint32_t>& label = parts.component;
  label.assign(faces, 0);
  for (size_t t = 0; t < regions.faces.size(); ++t) label[regions.faces[t]] = Parts::kTouched | u32(t);
  DisjointSets labels;
  std::vector<uint32_t> first;
  std::vector<uint8_t> border;
  for (uint32_t f = 0; f < faces; ++f) {
    if ((label[f] & Parts::kTouched) != 0) continue;
    uint32_t own = kNoIndex;
    bool atBorder = false;
    for (uint32_t k = 0; k < 3; ++k) {
      const uint32_t twin = mesh.twin[3 * f + k];
      if (twin >= 3 * f) {
        atBorder = atBorder || twin == kNoIndex;
        continue;
      }
      const uint32_t other = label[twin / 3];
      if ((other & Parts::kTouched) != 0 || other == own) continue;
      if (own == kNoIndex) {
        own = other;
      } else {
        labels.unite(own, other);
      }
    }
    if (own == kNoIndex) {
      own = labels.add();
      first.push_back(f);
      border.push_back(0);
    }
    label[f] = own;
    border[own] |= atBorder;
  }
  // Roots are the lowest of their set, so the first faces ascend with the new numbers.
  std::vector<uint32_t> number(labels.size());
  for (uint32_t l = 0; l < labels.size(); ++l) {
    const uint32_t root = labels.find(l);
    if (root == l) {
      number[l] = parts.components++;
      parts.firstFace.push_back(first[l]);
      open.push_back(0);
    }
    number[l] = number[root];
    open[number[l]] |= border[l];
  }
  if (parts.components == labels.size()) return;
  parallelFor(
      faces,
      [&](size_t f) {
        if ((label[f] & Parts::kTouched) == 0) label[f] = number[label[f]];
      },
      16384);
}

}  // namespace

Parts findParts(const KernelMesh& mesh, MeshId id, const Seam& seam, const Regions& regions) {
  Parts parts;
  std::vector<uint8_t> open;
  labelComponents(mesh, regions, parts, open);
  const uint32_t components = parts.components, regionCount = u32(regions.size());
  open.resize(components + regionCount, 0);
  DisjointSets sets(components + regionCount);
  for (size_t t = 0; t < regions.faces.size(); ++t)
    for (uint32_t k = 0; k < 3; ++k) {
      const uint32_t h = 3 * regions.faces[t] + k, twin = mesh.twin[h];
      const uint32_t points = seam.run(id, edgeOf(mesh, h)).count;
      const uint32_t* piece = regions.pieceRegion.data() + regions.cornerPiece[3 * t + k];
      if (twin == kNoIndex) {
        for (uint32_t i = 0; i <= points; ++i) open[components + piece[i]] = 1;
        continue;
      }
      const uint32_t across = parts.component[twin / 3];
      if ((across & Parts::kTouched) == 0) {
        sets.unite(across, components + piece[0]);
      } else if (h < twin) {
        const size_t corner = 3 * size_t(across & ~Parts::kTouched) + twin % 3;
        const uint32_t* other = regions.pieceRegion.data() + regions.cornerPiece[corner];
        for (uint32_t i = 0; i <= points; ++i)
          sets.unite(components + piece[i], components + other[points - i]);
      }
    }

  std::vector<uint32_t> number(sets.size(), kNoIndex);
  const auto partOf = [&](uint32_t node) {
    const uint32_t root = sets.find(node);
    if (number[root] == kNoIndex) number[root] = parts.count++;
    return number[root];
  };
  for (uint32_t c = 0; c < components; ++c) parts.ofComponent.push_back(partOf(c));
  for (uint32_t r = 0; r < regionCount; ++r) parts.ofRegion.push_back(partOf(components + r));
  parts.sides.assign(parts.count, 0);
  parts.border.assign(parts.count, 0);
  parts.vertex.assign(parts.count, kNoIndex);
  for (uint32_t c = 0; c < components; ++c) {
    parts.border[parts.ofComponent[c]] |= open[c];
    parts.vertex[parts.ofComponent[c]] = mesh.triangles[parts.firstFace[c]][0];
  }
  for (uint32_t r = 0; r < regionCount; ++r) {
    parts.border[parts.ofRegion[r]] |= open[components + r];
    parts.sides[parts.ofRegion[r]] |= regions.sides[r];
  }
  parts.met = parts.sides;
  return parts;
}

void placeUnmetParts(Parts& parts, MeshId id, const KernelMesh& mesh, const KernelMesh& other) {
  // Below the cutter is plus for the mesh; outside the mesh is plus for the cutter.
  const uint8_t inside = id == kMesh ? kPlus : kMinus, outside = id == kMesh ? kMinus : kPlus;
  std::unique_ptr<spatial::MeshQuery> query;
  for (uint32_t p = 0; p < parts.count; ++p) {
    if (parts.met[p]) continue;
    const Vec3& vertex = mesh.positions[parts.vertex[p]];
    if (other.closed()) {
      parts.sides[p] = windingAround(vertex, id, other) > 0 ? inside : outside;
      continue;
    }
    if (!query) query = std::make_unique<spatial::MeshQuery>(other.positions, other.triangles);
    const Corners3 face = cornersOf(other, query->closest(vertex).triangle);
    const int side = id == kMesh ? sideOfMeshVertex(vertex, face) : sideOfCutterVertex(vertex, face);
    parts.sides[p] = side < 0 ? inside : outside;
  }
}

std::vector<double> volumes6(const KernelMesh& mesh, const Seam& seam, const Regions& regions,
                             const Parts& parts, const Vec3& centre) {
  constexpr size_t kGrain = 16384;
  const size_t faces = mesh.triangles.size(), blocks = (faces + kGrain - 1) / kGrain;
  // The integral of z over the area that faces up: of closed surfaces that is the volume, for less than the
  // tetrahedra to a point cost.
  const auto volume = [&](const Vec3& a, const Vec3& b, const Vec3& c) {
    const double up = (b.x() - a.x()) * (c.y() - a.y()) - (b.y() - a.y()) * (c.x() - a.x());
    return up * ((a.z() + b.z() + c.z()) - 3 * centre.z());
  };
  std::vector<double> sum(parts.count, 0.0);
  // Many parts are small ones: then one sum after another is cheaper than a row of sums a block.
  if (blocks > 1 && parts.count * blocks < faces) {
    std::vector<std::vector<double>> partial(blocks);
    parallelBlocks(faces, kGrain, [&](size_t begin, size_t end) {
      std::vector<double>& row = partial[begin / kGrain];
      row.assign(parts.count, 0.0);
      for (size_t f = begin; f < end; ++f)
        if (!parts.touched(u32(f)))
          row[parts.ofComponent[parts.component[f]]] +=
              volume(mesh.at(u32(f), 0), mesh.at(u32(f), 1), mesh.at(u32(f), 2));
    });
    for (const auto& row : partial)
      for (size_t p = 0; p < parts.count; ++p) sum[p] += row[p];
  } else {
    for (uint32_t f = 0; f < faces; ++f)
      if (!parts.touched(f))
        sum[parts.ofComponent[parts.component[f]]] += volume(mesh.at(f, 0), mesh.at(f, 1), mesh.at(f, 2));
  }
  const auto at = [&](const RingCorner& c) -> const Vec3& {
    return c.point ? seam.points[c.id].position : mesh.positions[c.id];
  };
  for (size_t r = 0; r < regions.size(); ++r) {
    const auto ring = regions.ring(r);
    for (size_t i = 1; i + 1 < ring.size(); ++i)
      sum[parts.ofRegion[r]] += volume(at(ring[0]), at(ring[i]), at(ring[i + 1]));
  }
  return sum;
}

}  // namespace sunder::cut
