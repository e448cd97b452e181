// Small meshes for tests, most of them chosen by their defect.
#pragma once

#include "sunder/base/parallel.h"
#include "sunder/geometry/mesh.h"
#include "sunder/geometry/rows.h"

#include "folders.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <sstream>
#include <string>

namespace sunder::geometry::test {

// What `work` returns when loops may use `threads` threads.
template <class Work>
auto withThreads(unsigned threads, Work&& work) {
  const ThreadLimit limit(threads);
  return work();
}

inline PolygonSoup soupOf(std::vector<Vec3> positions, std::initializer_list<std::vector<uint32_t>> faces) {
  PolygonSoup soup;
  soup.positions = std::move(positions);
  for (const auto& f : faces) soup.addFace(f);
  return soup;
}

// Axis-aligned box of six quads, outward.
inline PolygonSoup box(const Vec3& lower = Vec3(0, 0, 0), const Vec3& upper = Vec3(1, 1, 1)) {
  std::vector<Vec3> p;
  for (int i = 0; i < 8; ++i) {
    p.emplace_back(i & 1 ? upper.x() : lower.x(), i & 2 ? upper.y() : lower.y(),
                   i & 4 ? upper.z() : lower.z());
  }
  return soupOf(p, {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}});
}

inline TriMesh tetrahedron() {
  return {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}}};
}

// Both meshes in one soup, vertices apart.
inline PolygonSoup both(PolygonSoup a, const PolygonSoup& b) {
  const uint32_t shift = u32(a.positions.size());
  a.positions.insert(a.positions.end(), b.positions.begin(), b.positions.end());
  for (size_t f = 0; f < b.faceCount(); ++f) {
    std::vector<uint32_t> v(b.face(f).begin(), b.face(f).end());
    for (uint32_t& i : v) i += shift;
    a.addFace(v);
  }
  return a;
}

inline void reverseFace(PolygonSoup& soup, size_t f) {
  std::reverse(soup.corners.begin() + soup.faceOffsets[f], soup.corners.begin() + soup.faceOffsets[f + 1]);
}

// A torus of n x m quads, or of twice as many triangles.
inline PolygonSoup torus(uint32_t n, uint32_t m, bool triangles = false, double major = 2, double minor = 1) {
  PolygonSoup soup;
  for (uint32_t i = 0; i < n; ++i) {
    for (uint32_t j = 0; j < m; ++j) {
      const double u = 2 * kPi * i / n, v = 2 * kPi * j / m, r = major + minor * std::cos(v);
      soup.positions.emplace_back(r * std::cos(u), minor * std::sin(v), -r * std::sin(u));
    }
  }
  for (uint32_t i = 0; i < n; ++i) {
    for (uint32_t j = 0; j < m; ++j) {
      const uint32_t a = i * m + j, b = (i + 1) % n * m + j, c = (i + 1) % n * m + (j + 1) % m,
                     d = i * m + (j + 1) % m;
      if (triangles) {
        soup.addFace(std::array{a, b, c});
        soup.addFace(std::array{a, c, d});
      } else {
        soup.addFace(std::array{a, b, c, d});
      }
    }
  }
  return soup;
}

// Sphere of latitude and longitude quads with triangles at the poles, outward.
inline PolygonSoup sphere(uint32_t n, double radius = 1) {
  PolygonSoup soup;
  const uint32_t around = 2 * n;
  soup.positions.emplace_back(0, radius, 0);
  for (uint32_t i = 1; i < n; ++i) {
    for (uint32_t j = 0; j < around; ++j) {
      const double t = kPi * i / n, p = 2 * kPi * j / around;
      soup.positions.emplace_back(radius * std::sin(t) * std::cos(p), radius * std::cos(t),
                                  -radius * std::sin(t) * std::sin(p));
    }
  }
  const uint32_t south = u32(soup.positions.size());
  soup.positions.emplace_back(0, -radius, 0);
  auto at = [&](uint32_t i, uint32_t j) { return 1 + (i - 1) * around + j % around; };
  for (uint32_t j = 0; j < around; ++j) {
    soup.addFace(std::array{0u, at(1, j), at(1, j + 1)});
    for (uint32_t i = 1; i + 1 < n; ++i)
      soup.addFace(std::array{at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)});
    soup.addFace(std::array{at(n - 1, j), south, at(n - 1, j + 1)});
  }
  return soup;
}

// A strip of n quads with half a twist.
inline PolygonSoup moebius(uint32_t n) {
  PolygonSoup soup;
  for (uint32_t i = 0; i < n; ++i) {
    const double u = 2 * kPi * i / n;
    for (double w : {-0.3, 0.3}) {
      const double r = 1 + w * std::cos(u / 2);
      soup.positions.emplace_back(r * std::cos(u), w * std::sin(u / 2), r * std::sin(u));
    }
  }
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t a = 2 * i, b = 2 * i + 1;
    uint32_t c = 2 * (i + 1), d = c + 1;
    if (i + 1 == n) c = 1, d = 0;
    soup.addFace(std::array{a, c, d, b});
  }
  return soup;
}

// n x n unit quads in the plane z = 0, facing +z; `skip` leaves one out.
inline PolygonSoup grid(uint32_t n, uint32_t skip = kNoIndex) {
  PolygonSoup soup;
  for (uint32_t y = 0; y <= n; ++y) {
    for (uint32_t x = 0; x <= n; ++x) soup.positions.emplace_back(x, y, 0);
  }
  for (uint32_t y = 0; y < n; ++y) {
    for (uint32_t x = 0; x < n; ++x) {
      const uint32_t a = y * (n + 1) + x;
      if (y * n + x != skip) soup.addFace(std::array{a, a + 1, a + n + 2, a + n + 1});
    }
  }
  return soup;
}

// Two unit cubes that share the vertices of an edge, or of one corner.
inline PolygonSoup cubesSharing(size_t vertices) {
  PolygonSoup a = box();
  const PolygonSoup b = box(Vec3(1, 1, vertices == 2 ? 0 : 1), Vec3(2, 2, vertices == 2 ? 1 : 2));
  std::vector<uint32_t> map(8);
  for (uint32_t i = 0; i < 8; ++i) {
    map[i] = kNoIndex;
    for (uint32_t j = 0; j < 8; ++j) {
      if (a.positions[j] == b.positions[i]) map[i] = j;
    }
    if (map[i] == kNoIndex) {
      map[i] = u32(a.positions.size());
      a.positions.push_back(b.positions[i]);
    }
  }
  for (size_t f = 0; f < b.faceCount(); ++f) {
    std::vector<uint32_t> v(b.face(f).begin(), b.face(f).end());
    for (uint32_t& i : v) i = map[i];
    a.addFace(v);
  }
  return a;
}

// n^3 cells of five tetrahedra each (mirrored in every other cell), filling the unit cube.
inline TetMesh tetBlock(uint32_t n) {
  TetMesh mesh;
  auto at = [&](uint32_t x, uint32_t y, uint32_t z) { return (z * (n + 1) + y) * (n + 1) + x; };
  for (uint32_t z = 0; z <= n; ++z) {
    for (uint32_t y = 0; y <= n; ++y) {
      for (uint32_t x = 0; x <= n; ++x) mesh.positions.push_back(Vec3(x, y, z) / n);
    }
  }
  for (uint32_t z = 0; z < n; ++z) {
    for (uint32_t y = 0; y < n; ++y) {
      for (uint32_t x = 0; x < n; ++x) {
        std::array<uint32_t, 8> v;
        const uint32_t odd = (x + y + z) % 2;
        for (uint32_t i = 0; i < 8; ++i) v[i ^ odd] = at(x + (i & 1), y + (i >> 1 & 1), z + (i >> 2));
        for (Tetrahedron t : {Tetrahedron{v[0], v[1], v[2], v[4]},
                              {v[3], v[2], v[1], v[7]},
                              {v[5], v[1], v[4], v[7]},
                              {v[6], v[4], v[2], v[7]},
                              {v[1], v[2], v[4], v[7]}}) {
          const Vec3 &a = mesh.positions[t[0]], &b = mesh.positions[t[1]], &c = mesh.positions[t[2]];
          if ((b - a).cross(c - a).dot(mesh.positions[t[3]] - a) < 0) std::swap(t[2], t[3]);
          mesh.tets.push_back(t);
        }
      }
    }
  }
  return mesh;
}

// Positions and faces of an OBJ file, nothing else. Empty when the file is not there.
inline PolygonSoup readSimpleObj(const std::filesystem::path& path) {
  PolygonSoup soup;
  std::ifstream in(path);
  std::string line;
  while (std::getline(in, line)) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "v") {
      Vec3 p;
      words >> p.x() >> p.y() >> p.z();
      soup.positions.push_back(p);
    } else if (kind == "f") {
      std::vector<uint32_t> face;
      for (std::string word; words >> word;) {
        long index = std::stol(word);
        if (index < 0) index += static_cast<long>(soup.positions.size()) + 1;
        face.push_back(static_cast<uint32_t>(index - 1));
      }
      soup.addFace(face);
    }
  }
  return soup;
}

inline std::filesystem::path sharedMesh(const std::string& name) { return sharedData() / "meshes" / name; }

}  // namespace sunder::geometry::test
