// A run of a fine ball in a coarse cage that twists and tears in two steps, made by formulas: for tests of
// all that shows surfaces in cages. The ball is convex, so the pieces that the cage cuts are, and walls are
// convex polygons. Points on faces of the cage have the same weights from both sides, bit for bit.
#pragma once

#include "sunder/record/run_writer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

namespace sunder::record {

enum SoftMesh : uint32_t { kBallSurface, kBallCage, kBallSource };
inline constexpr uint64_t kPartlyTornAt = 4, kTornApartAt = 8, kSoftFrames = 12;

struct SoftSettings {
  uint32_t cells = 2;     // of the cage, along a side of the cube from -1 to 1
  uint32_t halvings = 3;  // of the edges of an icosahedron
  bool plain = false;     // the ball is a rigid body without a cage, for comparing
  bool hasSource = true;  // the recording has the surface before it was clipped
  double radius = 0.9;
};

inline MeshEntry ballMesh(const SoftSettings& settings) {
  const double g = (1 + std::sqrt(5.0)) / 2;
  std::vector<Vec3> points = {{-1, g, 0},  {1, g, 0},  {-1, -g, 0}, {1, -g, 0}, {0, -1, g},  {0, 1, g},
                              {0, -1, -g}, {0, 1, -g}, {g, 0, -1},  {g, 0, 1},  {-g, 0, -1}, {-g, 0, 1}};
  std::vector<geometry::Triangle> triangles = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                                               {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                                               {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                                               {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};
  for (uint32_t step = 0; step < settings.halvings; ++step) {
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> middles;
    const auto middle = [&](uint32_t a, uint32_t b) {
      const auto [found, isNew] = middles.emplace(std::minmax(a, b), uint32_t(points.size()));
      if (isNew) points.push_back((points[a] + points[b]).normalized());
      return found->second;
    };
    for (Vec3& p : points) p.normalize();
    std::vector<geometry::Triangle> finer;
    for (const auto& [a, b, c] : triangles) {
      const uint32_t ab = middle(a, b), bc = middle(b, c), ca = middle(c, a);
      for (const geometry::Triangle& t :
           {geometry::Triangle{a, ab, ca}, {b, bc, ab}, {c, ca, bc}, {ab, bc, ca}})
        finer.push_back(t);
    }
    triangles = std::move(finer);
  }
  const Mat3 turn = (Eigen::AngleAxisd(0.7, Vec3::UnitX()) * Eigen::AngleAxisd(0.3, Vec3::UnitZ())).matrix();
  MeshEntry mesh{"ball", {}, triangles, {}, {}};
  for (const Vec3& p : points)
    mesh.positions.push_back((settings.radius * (turn * p.normalized())).cast<float>());
  return mesh;
}

// Cubes of six tetrahedra each, cut along the same diagonal.
inline MeshEntry ballCage(const SoftSettings& settings) {
  const uint32_t n = settings.cells;
  MeshEntry cage{"ball's cage", {}, {}, {}, {}};
  const auto at = [&](uint32_t x, uint32_t y, uint32_t z) { return (z * (n + 1) + y) * (n + 1) + x; };
  for (uint32_t z = 0; z <= n; ++z)
    for (uint32_t y = 0; y <= n; ++y)
      for (uint32_t x = 0; x <= n; ++x)
        cage.positions.push_back(Vec3f(float(x), float(y), float(z)) * (2.0f / float(n)) - Vec3f::Ones());
  for (uint32_t z = 0; z < n; ++z)
    for (uint32_t y = 0; y < n; ++y)
      for (uint32_t x = 0; x < n; ++x) {
        std::array<uint32_t, 3> axes{0, 1, 2};
        do {
          std::array<uint32_t, 3> place{x, y, z};
          geometry::Tetrahedron tet{at(x, y, z), 0, 0, 0};
          for (size_t k = 0; k < 3; ++k) {
            ++place[axes[k]];
            tet[k + 1] = at(place[0], place[1], place[2]);
          }
          const bool odd = (axes[0] > axes[1]) ^ (axes[0] > axes[2]) ^ (axes[1] > axes[2]);
          if (odd) std::swap(tet[2], tet[3]);
          cage.tets.push_back(tet);
        } while (std::next_permutation(axes.begin(), axes.end()));
      }
  return cage;
}

// What a point of the clipped ball is: a vertex of it, an edge of it in a face of the cage, a triangle of it
// on an edge of the cage, a vertex of the cage, or the middle of a wall. The same from all tetrahedra.
struct SoftPoint {
  std::vector<uint32_t> source, cage;  // vertices, ascending
  uint32_t wall = kNoIndex;
  auto operator<=>(const SoftPoint&) const = default;
};

class SoftClipper {
 public:
  explicit SoftClipper(const SoftSettings& settings)
      : source_(ballMesh(settings)), cage_(ballCage(settings)) {
    surface_.name = "ball, clipped";
    embedding_.surface = kBallSurface;
    embedding_.cage = kBallCage;
    for (uint32_t t = 0; t < cage_.tets.size(); ++t) clip(t);
    if (!settings.hasSource) return;
    embedding_.source = kBallSource;
    embedding_.sources = sources_;
  }
  const MeshEntry& surface() const { return surface_; }
  const MeshEntry& source() const { return source_; }
  const MeshEntry& cage() const { return cage_; }
  const Embedding& embedding() const { return embedding_; }

 private:
  struct Corner {
    Vec4 weights;   // in the tetrahedron
    SoftPoint key;  // faces of the tetrahedron as the vertices of the cage that are left
    uint8_t edges;  // of the triangle: bit k opposite to its corner k
    uint8_t faces;  // of the tetrahedron
  };

  Vec3 cagePlace(uint32_t v) const { return cage_.positions[v].cast<double>(); }
  Vec3 sourcePlace(uint32_t v) const { return source_.positions[v].cast<double>(); }

  Vec4 weightsIn(const geometry::Tetrahedron& tet, const Vec3& p) const {
    Mat3 edges;
    for (int k = 0; k < 3; ++k) edges.col(k) = cagePlace(tet[size_t(k) + 1]) - cagePlace(tet[0]);
    const Vec3 share = edges.inverse() * (p - cagePlace(tet[0]));
    return {1 - share.sum(), share[0], share[1], share[2]};
  }

  // Where an edge of the source meets the plane of a face, or an edge of the cage that of a triangle.
  static Vec3 meeting(const Vec3& a, const Vec3& b, const Vec3& p, const Vec3& q, const Vec3& r) {
    const Vec3 normal = (q - p).cross(r - p);
    const double da = normal.dot(a - p), db = normal.dot(b - p);
    return a + da / (da - db) * (b - a);
  }

  struct Placed {
    Vec3 place = Vec3::Zero();
    std::vector<double> weights;  // of key.cage; empty: not on a face
  };
  const Placed& placed(const SoftPoint& key) {
    const auto [found, isNew] = placed_.emplace(key, Placed{});
    Placed& out = found->second;
    if (!isNew) return out;
    const auto &s = key.source, &c = key.cage;
    if (c.empty()) {
      out.place = sourcePlace(s[0]);
    } else if (s.empty()) {
      out.place = cagePlace(c[0]);
      out.weights = {1};
    } else if (c.size() == 3) {
      out.place =
          meeting(sourcePlace(s[0]), sourcePlace(s[1]), cagePlace(c[0]), cagePlace(c[1]), cagePlace(c[2]));
      const Vec3 u = cagePlace(c[1]) - cagePlace(c[0]), v = cagePlace(c[2]) - cagePlace(c[0]), n = u.cross(v),
                 d = out.place - cagePlace(c[0]);
      const double b = d.cross(v).dot(n) / n.squaredNorm(), w = u.cross(d).dot(n) / n.squaredNorm();
      out.weights = {1 - b - w, b, w};
    } else {
      out.place =
          meeting(cagePlace(c[0]), cagePlace(c[1]), sourcePlace(s[0]), sourcePlace(s[1]), sourcePlace(s[2]));
      const Vec3 along = cagePlace(c[1]) - cagePlace(c[0]);
      const double share = (out.place - cagePlace(c[0])).dot(along) / along.squaredNorm();
      out.weights = {1 - share, share};
    }
    return out;
  }

  uint32_t vertex(uint32_t t, const SoftPoint& key) {
    const auto [found, isNew] = known_.emplace(std::pair(t, key), uint32_t(surface_.positions.size()));
    if (!isNew) return found->second;
    const Placed& point = placed(key);
    const geometry::Tetrahedron& tet = cage_.tets[t];
    Vec4 weights = Vec4::Zero();
    if (point.weights.empty()) weights = weightsIn(tet, point.place);
    for (size_t i = 0; i < point.weights.size(); ++i)
      weights[std::find(tet.begin(), tet.end(), key.cage[i]) - tet.begin()] = point.weights[i];
    surface_.positions.push_back(point.place.cast<float>());
    embedding_.tets.push_back(t);
    embedding_.weights.push_back(weights.cast<float>());
    return found->second;
  }

  void add(const geometry::Triangle& corners, uint32_t wall, uint32_t from) {
    surface_.triangles.push_back(corners);
    surface_.interior.push_back(wall != kNoIndex);
    embedding_.walls.push_back(wall);
    sources_.push_back(from);
  }

  SoftPoint keyOf(uint32_t t, uint32_t triangle, uint8_t edges, uint8_t faces) const {
    SoftPoint key;
    for (uint32_t k = 0; k < 4; ++k)
      if (faces != 0 && !(faces >> k & 1u)) key.cage.push_back(cage_.tets[t][k]);
    for (uint32_t k = 0; k < 3; ++k)
      if (!(edges >> k & 1u)) key.source.push_back(source_.triangles[triangle][k]);
    std::sort(key.cage.begin(), key.cage.end());
    std::sort(key.source.begin(), key.source.end());
    return key;
  }

  void clip(uint32_t t) {
    const geometry::Tetrahedron& tet = cage_.tets[t];
    std::array<std::map<SoftPoint, Vec4>, 4> onFace;
    for (uint32_t f = 0; f < source_.triangles.size(); ++f) {
      std::vector<Corner> polygon;
      static constexpr uint8_t kEdges[3] = {6, 5, 3};  // at each corner of a triangle
      for (size_t k = 0; k < 3; ++k)
        polygon.push_back({weightsIn(tet, sourcePlace(source_.triangles[f][k])), {}, kEdges[k], 0});
      for (int face = 0; face < 4 && !polygon.empty(); ++face) {
        std::vector<Corner> kept;
        for (size_t i = 0; i < polygon.size(); ++i) {
          const Corner &a = polygon[i], &b = polygon[(i + 1) % polygon.size()];
          const double wa = a.weights[face], wb = b.weights[face];
          if (wa >= 0) kept.push_back(a);
          if ((wa >= 0) == (wb >= 0)) continue;
          Corner cut{a.weights + wa / (wa - wb) * (b.weights - a.weights),
                     {},
                     uint8_t(a.edges & b.edges),
                     uint8_t((a.faces & b.faces) | 1 << face)};
          kept.push_back(cut);
        }
        polygon = std::move(kept);
      }
      if (polygon.size() < 3) continue;
      std::vector<uint32_t> corners;
      for (const Corner& c : polygon) {
        const SoftPoint key = keyOf(t, f, c.edges, c.faces);
        corners.push_back(vertex(t, key));
        for (size_t face = 0; face < 4; ++face)
          if (c.faces >> face & 1u) onFace[face].emplace(key, c.weights);
      }
      for (size_t i = 1; i + 1 < corners.size(); ++i)
        add({corners[0], corners[i], corners[i + 1]}, kNoIndex, f);
    }
    for (uint32_t face = 0; face < 4; ++face) cap(t, face, onFace[face]);
  }

  // What of a face is inside the ball: the outline's corners that are, and where the ball's surface meets it.
  void cap(uint32_t t, uint32_t face, std::map<SoftPoint, Vec4>& points) {
    const geometry::Tetrahedron& tet = cage_.tets[t];
    for (uint32_t k = 0; k < 4; ++k)
      if (k != face && inside(cagePlace(tet[k]))) points.emplace(SoftPoint{{}, {tet[k]}}, Vec4::Unit(k));
    if (points.size() < 3) return;
    Vec4 middle = Vec4::Zero();
    for (const auto& [key, weights] : points) middle += weights / double(points.size());
    middle[int(face)] = 0;
    const auto place = [&](const Vec4& w) {
      Vec3 p = Vec3::Zero();
      for (int k = 0; k < 4; ++k) p += w[k] * cagePlace(tet[size_t(k)]);
      return p;
    };
    const uint32_t a = (face + 1) % 4, b = (face + 2) % 4, c = (face + 3) % 4;
    Vec3 normal =
        (cagePlace(tet[b]) - cagePlace(tet[a])).cross(cagePlace(tet[c]) - cagePlace(tet[a])).normalized();
    if (normal.dot(cagePlace(tet[face]) - cagePlace(tet[a])) > 0) normal = -normal;
    const Vec3 right = (cagePlace(tet[b]) - cagePlace(tet[a])).normalized(), up = normal.cross(right);
    std::vector<std::pair<double, uint32_t>> around;
    for (const auto& [key, weights] : points) {
      const Vec3 d = placed(key).place - place(middle);
      around.emplace_back(std::atan2(d.dot(up), d.dot(right)), vertex(t, key));
    }
    std::sort(around.begin(), around.end());
    const auto centre = uint32_t(surface_.positions.size());
    surface_.positions.push_back(place(middle).cast<float>());
    embedding_.tets.push_back(t);
    embedding_.weights.push_back(middle.cast<float>());
    for (size_t i = 0; i < around.size(); ++i)
      add({centre, around[i].second, around[(i + 1) % around.size()].second}, 4 * t + face, kNoIndex);
  }

  bool inside(const Vec3& p) const {
    return std::all_of(source_.triangles.begin(), source_.triangles.end(), [&](const geometry::Triangle& t) {
      const Vec3 a = sourcePlace(t[0]);
      return (sourcePlace(t[1]) - a).cross(sourcePlace(t[2]) - a).dot(p - a) < 0;
    });
  }

  MeshEntry source_, cage_, surface_;
  Embedding embedding_;
  std::vector<uint32_t> sources_;
  std::map<SoftPoint, Placed> placed_;
  std::map<std::pair<uint32_t, SoftPoint>, uint32_t> known_;
};

// The tetrahedra above the plane y = 0 take copies of its vertices: first of those with x < 0, later of the
// others.
inline MeshChange softTear(const MeshEntry& cage, bool second) {
  MeshChange change{.body = 0, .frame = second ? kTornApartAt : kPartlyTornAt};
  std::map<uint32_t, uint32_t> copies;
  uint32_t first = uint32_t(cage.positions.size());
  if (second) first += uint32_t(softTear(cage, false).positions.size());
  for (uint32_t v = 0; v < cage.positions.size(); ++v) {
    const Vec3f& p = cage.positions[v];
    if (p.y() != 0 || (p.x() < 0) == second) continue;
    copies[v] = first + uint32_t(change.positions.size());
    change.positions.push_back(p);
  }
  for (uint32_t t = 0; t < cage.tets.size(); ++t) {
    float height = 0;
    for (const uint32_t v : cage.tets[t]) height += cage.positions[v].y();
    if (height < 0) continue;
    for (uint32_t k = 0; k < 4; ++k)
      if (const auto copy = copies.find(cage.tets[t][k]); copy != copies.end())
        change.tetCorners.push_back({4 * t + k, copy->second});
  }
  return change;
}

inline Vec3f softPlace(const Vec3f& rest, uint64_t frame, bool upper) {
  const double t = double(frame), turn = 0.08 * t * double(rest.y());
  const double open = !upper                  ? 0
                      : frame >= kTornApartAt ? 0.1 * (t - double(kTornApartAt) + 2)
                                              : 0.05 * (t - double(kPartlyTornAt) + 1);
  const double x = double(rest.x()) * (1 + 0.01 * t), z = double(rest.z()) * (1 - 0.01 * t);
  return {float(std::cos(turn) * x + std::sin(turn) * z), float(double(rest.y()) * (1 + 0.015 * t) + open),
          float(std::cos(turn) * z - std::sin(turn) * x)};
}

// Those above rise once the ball has come apart; before that only the edge of the crack does.
inline BodyPoints softPoints(const MeshEntry& cage, uint64_t frame) {
  BodyPoints points{0, 1.0f / 65536, 0, {}, {{"stress", 1, {}}}};
  for (const Vec3f& p : cage.positions)
    points.positions.push_back(softPlace(p, frame, frame >= kTornApartAt && p.y() > 0));
  if (frame >= kPartlyTornAt)
    for (const Vec3f& p : softTear(cage, false).positions)
      points.positions.push_back(softPlace(p, frame, true));
  if (frame >= kTornApartAt)
    for (const Vec3f& p : softTear(cage, true).positions)
      points.positions.push_back(softPlace(p, frame, true));
  for (size_t v = 0; v < points.positions.size(); ++v) points.fields[0].values.push_back(float(64 * (v % 5)));
  return points;
}

inline void writeSoft(const std::filesystem::path& path, const SoftSettings& settings = {}) {
  RunWriter writer(path, {"sunder test", "soft", "{}", 60});
  for (const auto& [name, colour] :
       {std::pair{"gel", Vec3(0.15, 0.5, 0.2)}, {"flesh", Vec3(0.7, 0.25, 0.12)}}) {
    material::Material material;
    material.name = name;
    material.colour = colour;
    if (material.name == "gel") material.inside = "flesh";
    writer.addMaterial(material);
  }
  const SoftClipper clipper(settings);
  if (settings.plain) {
    writer.addMesh(clipper.source());
  } else {
    writer.addMesh(clipper.surface());
    writer.addMesh(clipper.cage());
    writer.addMesh(clipper.source());
    writer.addEmbedding(clipper.embedding());
  }
  writer.addBody(
      {"ball", kNoIndex, "gel", 0, 1, settings.plain ? BodyKind::Dynamic : BodyKind::Deformable, 0});
  std::vector<BodyState> states(1);
  states[0].present = true;
  states[0].position = Vec3f(0, 1.25f, 0);
  writer.setKeyInterval(5);
  for (uint64_t f = 0; f < kSoftFrames; ++f) {
    if (!settings.plain && (f == kPartlyTornAt || f == kTornApartAt))
      writer.changeMesh(softTear(clipper.cage(), f == kTornApartAt));
    const BodyPoints points = softPoints(clipper.cage(), f);
    writer.frame(f, double(f) / 60, states, {}, {}, {},
                 settings.plain ? std::span<const BodyPoints>() : std::span(&points, 1));
  }
  writer.finish({EndKind::Finished, "", 5, "{}"});
}

}  // namespace sunder::record
