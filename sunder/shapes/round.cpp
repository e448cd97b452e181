#include "sunder/shapes/round.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/shapes/fields.h"

#include <array>
#include <cmath>
#include <map>
#include <utility>

namespace sunder::shapes {

namespace {

using Weights = std::array<int, 3>;  // of a face's three corners; they sum to n

// Splits every face into n^2. `point(face, weights)` gives a position for any face that has the vertex.
template <class Point>
geometry::TriMesh split(const geometry::TriMesh& mesh, int n, Point&& point) {
  if (n < 1) throw Error(ErrorKind::Usage, "triangles are split into at least one part");
  const uint64_t steps = static_cast<uint64_t>(n);
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> edgeNumber;
  std::vector<std::pair<uint32_t, uint32_t>> edges;  // (face, corner) of the first face that has the edge
  for (uint32_t f = 0; f < mesh.triangles.size(); ++f)
    for (uint32_t c = 0; c < 3; ++c) {
      const auto [low, high] = std::minmax(mesh.triangles[f][c], mesh.triangles[f][(c + 1) % 3]);
      if (edgeNumber.try_emplace({low, high}, static_cast<uint32_t>(edges.size())).second)
        edges.emplace_back(f, c);
    }
  const uint64_t perEdge = steps - 1, perFace = (steps - 1) * (steps - 2) / 2;
  const uint64_t corners = mesh.positions.size(), faces = mesh.triangles.size();
  const uint64_t firstInside = corners + edges.size() * perEdge;
  const uint64_t vertexCount = firstInside + faces * perFace;
  if (vertexCount >= kNoIndex || faces * steps * steps >= kNoIndex)
    throw Error(ErrorKind::Limit, "split into so many triangles that 32-bit indices cannot count them");

  geometry::TriMesh out;
  out.positions.resize(vertexCount);
  out.triangles.resize(faces * steps * steps);
  std::copy(mesh.positions.begin(), mesh.positions.end(), out.positions.begin());
  // A vertex on an edge is counted from the end with the smaller index.
  auto vertex = [&](uint32_t f, Weights w) -> uint32_t {
    const geometry::Triangle& t = mesh.triangles[f];
    for (uint32_t c = 0; c < 3; ++c)
      if (w[c] == n) return t[c];
    for (uint32_t c = 0; c < 3; ++c)
      if (w[(c + 2) % 3] == 0) {
        const uint32_t from = t[c], to = t[(c + 1) % 3];
        const uint64_t along = static_cast<uint64_t>(from < to ? w[(c + 1) % 3] : w[c]);
        const uint32_t edge = edgeNumber.find(std::minmax(from, to))->second;
        return static_cast<uint32_t>(corners + edge * perEdge + along - 1);
      }
    const uint64_t a = static_cast<uint64_t>(w[0]), b = static_cast<uint64_t>(w[1]);
    return static_cast<uint32_t>(firstInside + f * perFace + (a - 1) * (steps - 1) - (a - 1) * a / 2 + b - 1);
  };
  for (const auto& [f, c] : edges)
    for (int along = 1; along < n; ++along) {
      Weights w{};
      w[c] = n - along;
      w[(c + 1) % 3] = along;
      out.positions[vertex(f, w)] = point(f, w);
    }
  parallelFor(
      faces,
      [&](size_t face) {
        const uint32_t f = static_cast<uint32_t>(face);
        for (int a = 1; a < n - 1; ++a)
          for (int b = 1; b < n - a; ++b)
            out.positions[vertex(f, {a, b, n - a - b})] = point(f, {a, b, n - a - b});
        size_t next = face * steps * steps;
        for (int b = 0; b < n; ++b)
          for (int c = 0; b + c < n; ++c) {
            const int a = n - b - c;
            const uint32_t right = vertex(f, {a - 1, b + 1, c}), up = vertex(f, {a - 1, b, c + 1});
            out.triangles[next++] = {vertex(f, {a, b, c}), right, up};
            if (a >= 2) out.triangles[next++] = {right, vertex(f, {a - 2, b + 1, c + 1}), up};
          }
      },
      1);
  return out;
}

geometry::TriMesh icosahedron() {
  geometry::TriMesh mesh;
  const double height = 1 / std::sqrt(5.0), ring = 2 / std::sqrt(5.0);
  mesh.positions.emplace_back(0, 1, 0);
  for (int k = 0; k < 10; ++k) {
    const double angle = k * kPi / 5;
    mesh.positions.emplace_back(ring * std::cos(angle), k % 2 == 0 ? height : -height,
                                -ring * std::sin(angle));
  }
  mesh.positions.emplace_back(0, -1, 0);
  for (uint32_t k = 0; k < 5; ++k) {
    const uint32_t upper = 1 + 2 * k, nextUpper = 1 + (2 * k + 2) % 10;
    mesh.triangles.push_back({0, upper, nextUpper});
    mesh.triangles.push_back({upper, upper + 1, nextUpper});
    mesh.triangles.push_back({upper + 1, nextUpper + 1, nextUpper});
    mesh.triangles.push_back({11, nextUpper + 1, upper + 1});
  }
  return mesh;
}

// Vertices of the octahedron |i| + |j| + |k| = n, layer by layer from k = -n.
struct OctahedronGrid {
  int64_t n;

  uint32_t vertex(int64_t i, int64_t j, int64_t k) const {
    const int64_t m =
        n - std::abs(k);  // the layer is the square |i| + |j| = m with 4m vertices, one where m = 0
    const int64_t below =
        k <= 0 ? (m == 0 ? 0 : 1 + 2 * m * (m - 1)) : 4 * n * n + 2 - (m == 0 ? 1 : 1 + 2 * m * (m + 1));
    int64_t around = 0;
    if (m > 0) {
      if (i > 0 && j >= 0)
        around = j;
      else if (i <= 0 && j > 0)
        around = m - i;
      else if (i < 0)
        around = 2 * m - j;
      else
        around = 3 * m + i;
    }
    return static_cast<uint32_t>(below + around);
  }
};

}  // namespace

geometry::TriMesh splitTriangles(const geometry::TriMesh& mesh, int n) {
  return split(mesh, n, [&](uint32_t f, const Weights& w) -> Vec3 {
    const geometry::Triangle& t = mesh.triangles[f];
    return (mesh.positions[t[0]] * w[0] + mesh.positions[t[1]] * w[1] + mesh.positions[t[2]] * w[2]) / n;
  });
}

geometry::TriMesh makeTetrahedron(const TetrahedronShape& shape) {
  checkFields("tetrahedron", shape);
  const double s = shape.radius / std::sqrt(3.0);
  geometry::TriMesh mesh;
  mesh.positions = {{s, s, s}, {-s, s, -s}, {s, -s, -s}, {-s, -s, s}};
  mesh.triangles = {{0, 1, 3}, {0, 2, 1}, {0, 3, 2}, {1, 2, 3}};
  return splitTriangles(mesh, shape.frequency);
}

geometry::TriMesh makeOctahedron(const OctahedronShape& shape) {
  checkFields("octahedron", shape);
  const double r = shape.radius;
  geometry::TriMesh mesh;
  mesh.positions = {{r, 0, 0}, {0, 0, -r}, {-r, 0, 0}, {0, 0, r}, {0, r, 0}, {0, -r, 0}};
  for (uint32_t k = 0; k < 4; ++k) mesh.triangles.push_back({k, (k + 1) % 4, 4});
  for (uint32_t k = 0; k < 4; ++k) mesh.triangles.push_back({(k + 1) % 4, k, 5});
  return splitTriangles(mesh, shape.frequency);
}

geometry::TriMesh makeIcosphere(const IcosphereShape& shape) {
  checkFields("icosphere", shape);
  const geometry::TriMesh base = icosahedron();
  const double arc = std::atan(2.0);  // between neighbouring corners
  const int n = shape.frequency;
  std::vector<double> weight(static_cast<size_t>(n) + 1);
  for (size_t k = 0; k < weight.size(); ++k) weight[k] = std::sin(arc * static_cast<double>(k) / n);
  geometry::TriMesh mesh = split(base, n, [&](uint32_t f, const Weights& w) -> Vec3 {
    const geometry::Triangle& t = base.triangles[f];
    Vec3 sum = Vec3::Zero();
    for (size_t c = 0; c < 3; ++c) sum += weight[static_cast<size_t>(w[c])] * base.positions[t[c]];
    return sum.normalized();
  });
  for (Vec3& p : mesh.positions) p *= shape.radius;
  return mesh;
}

geometry::TriMesh makeRippledSphere(const RippledSphereShape& shape) {
  checkFields("rippled-sphere", shape);
  const int64_t n = shape.n;
  const OctahedronGrid grid{n};
  geometry::TriMesh mesh;
  mesh.positions.resize(static_cast<size_t>(4 * n * n + 2));
  mesh.triangles.resize(static_cast<size_t>(8 * n * n));

  auto place = [&](int64_t i, int64_t j, int64_t k) {
    const double step = 2.0 * static_cast<double>(n);
    const Vec3 u =
        Vec3(std::sin(static_cast<double>(i) * kPi / step), std::sin(static_cast<double>(j) * kPi / step),
             std::sin(static_cast<double>(k) * kPi / step))
            .normalized();
    const double radius =
        1 + shape.b * (std::sin(11 * u.x() + 1) * std::sin(13 * u.y() + 2) * std::sin(9 * u.z() + 3) +
                       0.3 * std::sin(41 * u.x()) * std::sin(37 * u.y() + 1) * std::sin(43 * u.z() + 2));
    mesh.positions[grid.vertex(i, j, k)] = shape.centre + radius * u;
  };
  parallelFor(
      static_cast<size_t>(2 * n + 1),
      [&](size_t layer) {
        const int64_t k = static_cast<int64_t>(layer) - n, m = n - std::abs(k);
        for (int64_t i = -m; i <= m; ++i) {
          const int64_t j = m - std::abs(i);
          place(i, j, k);
          if (j != 0) place(i, -j, k);
        }
      },
      8);
  parallelFor(
      8,
      [&](size_t octant) {
        const int64_t sx = octant & 1 ? -1 : 1, sy = octant & 2 ? -1 : 1, sz = octant & 4 ? -1 : 1;
        const bool mirrored = sx * sy * sz < 0;
        size_t next = octant * static_cast<size_t>(n * n);
        auto add = [&](uint32_t p, uint32_t q, uint32_t r) {
          mesh.triangles[next++] = mirrored ? geometry::Triangle{p, r, q} : geometry::Triangle{p, q, r};
        };
        for (int64_t a = 0; a < n; ++a)
          for (int64_t b = 0; a + b < n; ++b) {
            const int64_t c = n - a - b;
            const uint32_t right = grid.vertex(sx * (a + 1), sy * b, sz * (c - 1));
            const uint32_t up = grid.vertex(sx * a, sy * (b + 1), sz * (c - 1));
            add(grid.vertex(sx * a, sy * b, sz * c), right, up);
            if (c >= 2) add(right, grid.vertex(sx * (a + 1), sy * (b + 1), sz * (c - 2)), up);
          }
      },
      1);
  return mesh;
}

void describe(ShapeFields& fields, TetrahedronShape& s) {
  fields.length("radius", s.radius, "radius of the sphere through the corners");
  fields.integer("frequency", s.frequency, 1, 1000, "parts of each edge");
}

void describe(ShapeFields& fields, OctahedronShape& s) {
  fields.length("radius", s.radius, "radius of the sphere through the corners");
  fields.integer("frequency", s.frequency, 1, 1000, "parts of each edge");
}

void describe(ShapeFields& fields, IcosphereShape& s) {
  fields.length("radius", s.radius, "radius");
  fields.integer("frequency", s.frequency, 1, 1000,
                 "parts of each edge of the icosahedron: 20 n^2 triangles");
}

void describe(ShapeFields& fields, RippledSphereShape& s) {
  fields.integer("n", s.n, 1, 2000, "parts of each edge of the octahedron: 8 n^2 triangles");
  fields.number("b", s.b, 0, 0.7, "m", "height of the ripples");
  fields.number("x", s.centre.x(), -kLongest, kLongest, "m", "centre");
  fields.number("y", s.centre.y(), -kLongest, kLongest, "m", "centre");
  fields.number("z", s.centre.z(), -kLongest, kLongest, "m", "centre");
}

}  // namespace sunder::shapes
