// Meshes that queries are tested on: soups chosen by their defects, closed shapes, and the shared meshes.
#pragma once

#include "sunder/base/random.h"
#include "sunder/meshio/mesh_file.h"
#include "sunder/shapes/lathe.h"
#include "sunder/shapes/round.h"
#include "sunder/shapes/tube.h"

#include "folders.h"

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

namespace sunder::spatial::test {

struct NamedMesh {
  std::string name;
  geometry::TriMesh mesh;
};

inline Vec3 randomPoint(RandomStream& random, double size) {
  return {random.uniform(-size, size), random.uniform(-size, size), random.uniform(-size, size)};
}

// Triangles of size `edge` scattered in the unit box; every `bad`-th has no area.
inline geometry::TriMesh makeTriangleSoup(size_t count, double edge, uint64_t seed, size_t bad = 0) {
  RandomStream random(seed);
  geometry::TriMesh mesh;
  for (size_t i = 0; i < count; ++i) {
    const Vec3 centre = randomPoint(random, 1);
    Vec3 c[3];
    for (Vec3& corner : c) corner = centre + randomPoint(random, edge);
    if (bad && i % bad == 0) {
      const size_t kind = i / bad % 3;
      if (kind == 0) c[1] = c[2] = c[0];          // a point
      if (kind == 1) c[2] = c[1];                 // two corners equal
      if (kind == 2) c[2] = 0.5 * (c[0] + c[1]);  // on a line, nearly or exactly
    }
    const auto first = static_cast<uint32_t>(mesh.positions.size());
    mesh.positions.insert(mesh.positions.end(), c, c + 3);
    mesh.triangles.push_back({first, first + 1, first + 2});
  }
  return mesh;
}

inline std::vector<NamedMesh> soupsByDefect() {
  std::vector<NamedMesh> cases;
  cases.push_back({"one triangle", makeTriangleSoup(1, 0.5, 1)});
  cases.push_back({"eight", makeTriangleSoup(8, 0.5, 2)});
  cases.push_back({"nine", makeTriangleSoup(9, 0.5, 3)});
  cases.push_back({"sparse", makeTriangleSoup(300, 0.05, 4)});
  cases.push_back({"crossing", makeTriangleSoup(700, 0.8, 5)});
  cases.push_back({"degenerate", makeTriangleSoup(600, 0.2, 6, 2)});
  cases.push_back({"points", makeTriangleSoup(100, 0, 7)});
  geometry::TriMesh twice = makeTriangleSoup(100, 0.3, 8);
  twice.triangles.insert(twice.triangles.end(), twice.triangles.begin(), twice.triangles.end());
  cases.push_back({"duplicates", twice});
  geometry::TriMesh equal = makeTriangleSoup(1, 0.3, 9);
  equal.triangles.assign(70, equal.triangles[0]);
  cases.push_back({"all equal", equal});
  geometry::TriMesh far = makeTriangleSoup(300, 0.2, 10);
  for (Vec3& p : far.positions) p += Vec3(1e6, -3e5, 2e6);
  cases.push_back({"far from the origin", far});
  geometry::TriMesh slivers = makeTriangleSoup(300, 0.3, 11);
  for (Vec3& p : slivers.positions) p.y() *= 1e-9;
  cases.push_back({"slivers", slivers});
  geometry::TriMesh tiny = makeTriangleSoup(200, 0.3, 12);
  for (Vec3& p : tiny.positions) p *= 1e-25;
  cases.push_back({"tiny", tiny});
  geometry::TriMesh huge = makeTriangleSoup(200, 0.3, 13);
  for (Vec3& p : huge.positions) p *= 1e30;
  cases.push_back({"huge", huge});
  cases.push_back({"sphere", shapes::makeRippledSphere({12, 0.1})});
  cases.push_back({"flat sphere", shapes::makeIcosphere({1, 9})});
  return cases;
}

// Closed, winding outwards.
inline std::vector<NamedMesh> closedMeshes() {
  return {{"rippled", shapes::makeRippledSphere({20, 0.2})},
          {"box-like", shapes::makeOctahedron({1, 6})},
          {"torus", shapes::makeTorus()},
          {"knot", shapes::makeTrefoil()},
          {"cylinder", shapes::makeCylinder()}};
}

// Those of the shared meshes that are there; the named ones only.
inline std::vector<NamedMesh> sharedMeshes(std::initializer_list<const char*> names) {
  std::vector<NamedMesh> meshes;
  for (const char* name : names) {
    const auto path = sharedData() / "meshes" / (std::string(name) + ".obj");
    if (std::filesystem::exists(path))
      meshes.push_back({name, geometry::toTriMesh(meshio::readMesh(path).surface)});
  }
  return meshes;
}

// Around the mesh, on its corners, edges and faces, and close to them.
inline std::vector<Vec3> queryPoints(const geometry::TriMesh& mesh, size_t count, uint64_t seed) {
  RandomStream random(seed);
  const Box3 box = geometry::bounds(mesh.positions);
  const Vec3 centre = box.center(), half = 0.75 * box.extent();
  const auto triangles = static_cast<uint32_t>(mesh.triangles.size());
  std::vector<Vec3> points;
  for (size_t i = 0; i < count; ++i) {
    const geometry::Triangle& t = mesh.triangles[random.below(triangles)];
    const Vec3 &a = mesh.positions[t[0]], &b = mesh.positions[t[1]], &c = mesh.positions[t[2]];
    const double s = random.uniform(), u = random.uniform() * (1 - s);
    Vec3 p = random.pointIn({centre - half, centre + half});
    if (i % 8 == 1) p = a;
    if (i % 8 == 2) p = a + 0.5 * (b - a);
    if (i % 8 == 3) p = a + s * (b - a) + u * (c - a);
    if (i % 8 == 4) p = a + s * (b - a) + u * (c - a) + 1e-6 * random.uniform() * half;
    if (i % 8 == 5) p = centre + 40 * random.uniform() * (p - centre);
    points.push_back(p);
  }
  return points;
}

}  // namespace sunder::spatial::test
