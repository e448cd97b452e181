#include "sunder/show/caged_normals.h"

#include "sunder/base/parallel.h"
#include "sunder/show/corner_normals.h"
#include "sunder/spatial/query/triangle_distance.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sunder::show {

namespace {

constexpr size_t kMostKept = 8;  // surfaces

bool isWall(const record::Embedding& embedding, size_t triangle) {
  return !embedding.walls.empty() && embedding.walls[triangle] != kNoIndex;
}

// Out of the tetrahedron, so that slivers among the triangles of a wall have it too.
Vec3f faceNormal(const std::array<Vec3f, 4>& corners, size_t opposite) {
  const Vec3f &a = corners[(opposite + 1) % 4], &b = corners[(opposite + 2) % 4],
              &c = corners[(opposite + 3) % 4];
  Vec3 normal = (b - a).cast<double>().cross((c - a).cast<double>());
  if (normal.dot((corners[opposite] - a).cast<double>()) > 0) normal = -normal;
  const double length = normal.norm();
  return length > 0 ? Vec3f((normal / length).cast<float>()) : Vec3f::Zero();
}

geometry::TriMesh meshOf(const record::MeshEntry& entry) {
  geometry::TriMesh mesh;
  mesh.triangles = entry.triangles;
  for (const Vec3f& p : entry.positions) mesh.positions.push_back(p.cast<double>());
  return mesh;
}

// The smallest vertex at the same position, of each.
std::vector<uint32_t> joined(const std::vector<Vec3f>& positions) {
  const auto before = [&](uint32_t a, uint32_t b) {
    return std::lexicographical_compare(positions[a].data(), positions[a].data() + 3, positions[b].data(),
                                        positions[b].data() + 3);
  };
  std::vector<uint32_t> order(positions.size()), first(positions.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), before);
  for (size_t i = 0; i < order.size(); ++i)
    first[order[i]] =
        i > 0 && positions[order[i]] == positions[order[i - 1]] ? first[order[i - 1]] : order[i];
  return first;
}

// Those of the outside and those inside do not smooth each other.
void normalsOfJoined(const record::CagedSurface& caged, std::vector<Vec3f>& normals) {
  const record::MeshEntry& surface = *caged.surface;
  const std::vector<uint32_t> first = joined(surface.positions);
  geometry::TriMesh mesh = meshOf(surface);
  for (const bool inside : {false, true}) {
    mesh.triangles.clear();
    std::vector<size_t> part;
    for (size_t t = 0; t < surface.triangles.size(); ++t) {
      const bool own = !surface.interior.empty() && surface.interior[t] != 0;
      if (isWall(*caged.embedding, t) || own != inside) continue;
      part.push_back(t);
      const geometry::Triangle& corners = surface.triangles[t];
      mesh.triangles.push_back({first[corners[0]], first[corners[1]], first[corners[2]]});
    }
    const std::vector<Vec3f> own = cornerNormals(mesh);
    for (size_t i = 0; i < part.size(); ++i)
      std::copy_n(own.begin() + std::ptrdiff_t(3 * i), 3, normals.begin() + std::ptrdiff_t(3 * part[i]));
  }
}

// Those of the source's corners, in between as a picture of the source would have them.
void normalsOfSource(const record::CagedSurface& caged, std::vector<Vec3f>& normals) {
  const record::MeshEntry& surface = *caged.surface;
  const geometry::TriMesh source = meshOf(*caged.source);
  const std::vector<Vec3f> own = cornerNormals(source);
  parallelFor(surface.triangles.size(), [&](size_t t) {
    const uint32_t from = caged.embedding->sources[t];
    if (from == kNoIndex) return;
    const geometry::Triangle& corners = source.triangles[from];
    for (size_t k = 0; k < 3; ++k) {
      const Vec3 place = surface.positions[surface.triangles[t][k]].cast<double>();
      const Vec3 share =
          spatial::closestPointOnTriangle(place, source.positions[corners[0]], source.positions[corners[1]],
                                          source.positions[corners[2]])
              .barycentric;
      Vec3 sum = Vec3::Zero();
      for (size_t c = 0; c < 3; ++c) sum += share[int(c)] * own[3 * from + c].cast<double>();
      const double length = sum.norm();
      if (length > 0) normals[3 * t + k] = (sum / length).cast<float>();
    }
  });
}

// Of the vertices of a cage: the mean over their tetrahedra. Those that are flat at rest do not count.
std::vector<Mat3> gradientsOf(const record::MeshEntry& cage, std::span<const Vec3f> places) {
  std::vector<Mat3> own(cage.tets.size());
  std::vector<double> volumes(cage.tets.size());
  const auto edgesOf = [](const std::array<Vec3f, 4>& corners) {
    Mat3 edges;
    for (int k = 0; k < 3; ++k) edges.col(k) = (corners[size_t(k) + 1] - corners[0]).cast<double>();
    return edges;
  };
  parallelFor(cage.tets.size(), [&](size_t t) {
    const Mat3 rest = edgesOf(cornersOf(cage.tets[t], cage.positions));
    volumes[t] = std::abs(rest.determinant());
    own[t] = edgesOf(cornersOf(cage.tets[t], places)) * rest.inverse();
    if (!(volumes[t] > 0) || !own[t].allFinite()) volumes[t] = 0;
  });
  std::vector<Mat3> sums(cage.positions.size(), Mat3::Zero());
  std::vector<double> weights(sums.size(), 0);
  for (size_t t = 0; t < cage.tets.size(); ++t)
    for (const uint32_t v : cage.tets[t]) {
      if (!(volumes[t] > 0)) continue;
      sums[v] += volumes[t] * own[t];
      weights[v] += volumes[t];
    }
  for (size_t v = 0; v < sums.size(); ++v)
    if (weights[v] > 0) sums[v] /= weights[v];
  return sums;
}

}  // namespace

std::vector<Vec3f> normalsAtRest(const record::CagedSurface& caged) {
  const record::MeshEntry& surface = *caged.surface;
  const record::MeshEntry& cage = *caged.cage;
  std::vector<Vec3f> normals(3 * surface.triangles.size(), Vec3f::Zero());
  if (caged.source && !caged.embedding->sources.empty())
    normalsOfSource(caged, normals);
  else
    normalsOfJoined(caged, normals);
  for (size_t t = 0; t < surface.triangles.size(); ++t) {
    Vec3f flat = Vec3f::Zero();
    if (isWall(*caged.embedding, t)) {
      const uint32_t wall = caged.embedding->walls[t];
      flat = faceNormal(cornersOf(cage.tets[wall / 4], cage.positions), wall % 4);
    } else if (!normals[3 * t].isZero() || !normals[3 * t + 1].isZero() || !normals[3 * t + 2].isZero()) {
      continue;
    } else {
      const geometry::Triangle& c = surface.triangles[t];
      const Vec3 a = surface.positions[c[0]].cast<double>();
      const Vec3 normal =
          (surface.positions[c[1]].cast<double>() - a).cross(surface.positions[c[2]].cast<double>() - a);
      if (normal.norm() > 0) flat = normal.normalized().cast<float>();
    }
    std::fill_n(normals.begin() + std::ptrdiff_t(3 * t), 3, flat);
  }
  return normals;
}

Vec3f covectorOf(const Vec3f& normal, const std::array<Vec3f, 4>& corners) {
  const Vec3 n = normal.cast<double>(), origin = corners[0].cast<double>();
  Vec3f covector;
  for (size_t i = 1; i < 4; ++i) covector[int(i) - 1] = float(n.dot(corners[i].cast<double>() - origin));
  return covector;
}

Vec3f carriedNormal(const Vec3f& covector, const std::array<Vec3f, 4>& corners) {
  const Vec3 a = covector.cast<double>(), origin = corners[0].cast<double>();
  const Vec3 e1 = corners[1].cast<double>() - origin, e2 = corners[2].cast<double>() - origin,
             e3 = corners[3].cast<double>() - origin;
  const Vec3 c1 = e2.cross(e3), c2 = e3.cross(e1), c3 = e1.cross(e2);
  Vec3 normal = a[0] * c1 + a[1] * c2 + a[2] * c3;
  if (e1.dot(c1) < 0) normal = -normal;
  const double length = normal.norm();
  return length > 0 && std::isfinite(length) ? Vec3f((normal / length).cast<float>()) : Vec3f::Zero();
}

std::vector<Vec3f> CagedNormals::of(const record::BodyShape& shape) {
  if (!shape.caged) return {};
  const record::CagedSurface& caged = shape.caged;
  const record::Embedding& embedding = *caged.embedding;
  const record::MeshEntry& surface = *caged.surface;
  if (!kept_.contains(&embedding)) {
    if (kept_.size() == kMostKept) kept_.clear();
    Kept made{caged.embedding, normalsAtRest(caged)};
    parallelFor(surface.triangles.size(), [&](size_t t) {
      for (size_t k = 0; k < 3; ++k) {
        const uint32_t tet = embedding.tets[surface.triangles[t][k]];
        made.covectors[3 * t + k] =
            covectorOf(made.covectors[3 * t + k], cornersOf(caged.cage->tets[tet], caged.cage->positions));
      }
    });
    kept_.emplace(&embedding, std::move(made));
  }
  const std::vector<Vec3f>& covectors = kept_.at(&embedding).covectors;
  const std::span<const Vec3f> places =
      shape.cagePositions.empty() ? std::span<const Vec3f>(caged.cage->positions) : shape.cagePositions;
  const std::vector<Mat3> gradients = gradientsOf(*caged.cage, places);
  const auto smooth = [&](uint32_t vertex, const Vec3f& covector) {
    const geometry::Tetrahedron& tet = caged.cage->tets[embedding.tets[vertex]];
    Mat3 gradient = Mat3::Zero();
    for (size_t k = 0; k < 4; ++k) gradient += double(embedding.weights[vertex][int(k)]) * gradients[tet[k]];
    std::array<Vec3f, 4> corners = cornersOf(tet, caged.cage->positions);
    const Vec3f origin = corners[0];
    for (Vec3f& corner : corners) corner = (gradient * (corner - origin).cast<double>()).cast<float>();
    return carriedNormal(covector, corners);
  };
  std::vector<Vec3f> normals(3 * shape.mesh->triangles.size(), Vec3f::Zero());
  parallelFor(shape.mesh->triangles.size(), [&](size_t i) {
    const size_t t = caged.shown ? (*caged.shown)[i] : i;
    for (size_t k = 0; k < 3; ++k) {
      const uint32_t vertex = surface.triangles[t][k];
      Vec3f& normal = normals[3 * i + k];
      if (!isWall(embedding, t)) normal = smooth(vertex, covectors[3 * t + k]);
      if (normal.isZero())
        normal =
            carriedNormal(covectors[3 * t + k], cornersOf(caged.cage->tets[embedding.tets[vertex]], places));
    }
  });
  return normals;
}

}  // namespace sunder::show
