#include "sunder/geometry/mesh_view.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/geometry/vector_area.h"

#include <limits>

#include <fmt/format.h>

namespace sunder::geometry {

static_assert(sizeof(Triangle) == 3 * sizeof(uint32_t));

MeshView::MeshView(const TriMesh& mesh)
    : positions(mesh.positions),
      corners(mesh.triangles.empty() ? nullptr : mesh.triangles.front().data(), 3 * mesh.triangles.size()) {}

void requireValid(const MeshView& mesh) {
  if (mesh.positions.size() >= kNoIndex || mesh.corners.size() >= kNoIndex) {
    throw Error(ErrorKind::Limit, fmt::format("a mesh of {} vertices and {} corners is beyond 32-bit indices",
                                              mesh.positions.size(), mesh.corners.size()));
  }
  if (!mesh.offsets.empty()) {
    if (mesh.offsets.front() != 0 || mesh.offsets.back() != mesh.corners.size()) {
      throw Error(ErrorKind::Geometry, "the rows of faces do not cover the list of corners");
    }
    const Tally bad =
        tally(mesh.faceCount(), [&](size_t f) { return mesh.offsets[f] > mesh.offsets[f + 1]; });
    if (bad.count != 0) {
      throw Error(ErrorKind::Geometry, fmt::format("face {} ends before it begins", bad.first[0]));
    }
  }
  const size_t vertexCount = mesh.positions.size();
  const Tally bad = tally(mesh.corners.size(), [&](size_t c) { return mesh.corners[c] >= vertexCount; });
  if (bad.count != 0) {
    const uint32_t corner = bad.first[0];
    size_t f = corner / 3;
    if (!mesh.offsets.empty()) {
      f = static_cast<size_t>(std::upper_bound(mesh.offsets.begin(), mesh.offsets.end(), corner) -
                              mesh.offsets.begin()) -
          1;
    }
    throw Error(ErrorKind::Geometry, fmt::format("face {} refers to vertex {}, but there are only {}", f,
                                                 mesh.corners[corner], vertexCount));
  }
}

std::vector<uint32_t> cornerFaces(const MeshView& mesh) {
  std::vector<uint32_t> faces(mesh.corners.size());
  parallelFor(mesh.faceCount(), [&](size_t f) {
    for (uint32_t c = mesh.begin(f); c < mesh.end(f); ++c) faces[c] = u32(f);
  });
  return faces;
}

Vec3 vectorArea(const MeshView& mesh, size_t face) {
  const uint32_t begin = mesh.begin(face);
  return 0.5 *
         twiceVectorArea(mesh.end(face) - begin, [&](size_t i) -> const Vec3& { return mesh.at(begin + i); });
}

bool hasNoArea(const MeshView& mesh, size_t face) {
  const uint32_t begin = mesh.begin(face), end = mesh.end(face);
  if (end - begin < 3) return true;
  // Each cross product is off by a few units in the last place of |u||v|; a sum below that says nothing.
  double scale = 0;
  for (uint32_t c = begin + 1; c + 1 < end; ++c) {
    scale += (mesh.at(c) - mesh.at(begin)).norm() * (mesh.at(c + 1) - mesh.at(begin)).norm();
  }
  return !(2 * vectorArea(mesh, face).norm() > 4 * std::numeric_limits<double>::epsilon() * scale);
}

bool repeatsVertex(const MeshView& mesh, size_t face) {
  const auto v = mesh.face(face);
  if (v.size() == 3) return v[0] == v[1] || v[1] == v[2] || v[2] == v[0];
  if (v.size() <= 16) {
    for (size_t i = 1; i < v.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (v[i] == v[j]) return true;
      }
    }
    return false;
  }
  std::vector<uint32_t> sorted(v.begin(), v.end());
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

double surfaceArea(const MeshView& mesh) {
  requireValid(mesh);
  return parallelReduce(
      mesh.faceCount(), 0.0,
      [&](size_t begin, size_t end) {
        double sum = 0;
        for (size_t f = begin; f < end; ++f) sum += vectorArea(mesh, f).norm();
        return sum;
      },
      [](double a, double b) { return a + b; });
}

}  // namespace sunder::geometry
