// A run of everything whose shape changes, made by formulas: a cloth that tears and is remeshed, a rigid box
// with values at its vertices that shows another mesh, a fine cube in a cage that comes apart, grains of
// several sizes, a crack front, inputs, and events of a cut and a fracture. For tests of the record room and
// of all that shows recordings.
#pragma once

#include "sunder/record/run_writer.h"

#include <cmath>
#include <filesystem>

namespace sunder::record {

enum ChangingBody : uint32_t { kGroundBody, kCloth, kBox, kJelly, kGrains, kChangingBodies };
enum ChangingMesh : uint32_t {
  kGroundMesh,
  kClothMesh,
  kFineCloth,
  kBoxMesh,
  kOpenBox,
  kJellySurface,
  kCage
};

inline constexpr uint64_t kTornAt = 4, kCageTornAt = 5, kBoxChangesAt = 6, kRemeshedAt = 8,
                          kChangingFrames = 12;
inline constexpr uint32_t kClothSide = 7;  // vertices along a side, before it is remeshed
inline constexpr uint32_t kFineSide = 13;
inline constexpr uint32_t kGrainCount = 60;

// A square of side 2 with two materials in stripes and texture coordinates.
inline MeshEntry clothMesh(const char* name, uint32_t side) {
  MeshEntry mesh{name, {}, {}, {}, {}, {}, {}, {"red", "white"}};
  const auto uv = [&](uint32_t v) -> Vec2f {
    return Vec2f(float(v % side), float(v / side)) / float(side - 1);
  };
  for (uint32_t v = 0; v < side * side; ++v)
    mesh.positions.emplace_back(2 * uv(v).x() - 1, 1.3f, 2 * uv(v).y() - 1);
  for (uint32_t j = 0; j + 1 < side; ++j)
    for (uint32_t i = 0; i + 1 < side; ++i) {
      const uint32_t a = j * side + i, b = a + 1, c = a + side, d = c + 1;
      for (const geometry::Triangle& t : {geometry::Triangle{a, c, b}, geometry::Triangle{b, c, d}}) {
        mesh.triangles.push_back(t);
        mesh.slots.push_back(uint16_t(1 + 6 * i / (side - 1) % 2));
        for (const uint32_t v : t) mesh.uvs.push_back(uv(v));
      }
    }
  return mesh;
}

// The cloth tears along its middle row: every vertex there but the last two gets a copy, which the triangles
// behind it take.
inline MeshChange clothTear() {
  MeshChange change{.body = kCloth, .frame = kTornAt};
  const MeshEntry mesh = clothMesh("", kClothSide);
  const uint32_t middle = kClothSide / 2, first = middle * kClothSide, copies = kClothSide - 2;
  for (uint32_t i = 0; i < copies; ++i) change.positions.push_back(mesh.positions[first + i]);
  for (uint32_t t = 2 * middle * (kClothSide - 1); t < mesh.triangles.size(); ++t)
    for (uint32_t k = 0; k < 3; ++k) {
      const uint32_t v = mesh.triangles[t][k];
      if (v >= first && v < first + copies)
        change.corners.push_back({3 * t + k, kClothSide * kClothSide + v - first});
    }
  return change;
}

inline Vec3f clothPlace(const Vec3f& rest, uint64_t frame, bool behind) {
  const double t = double(frame), x = double(rest.x()), z = double(rest.z());
  const double open = frame >= kTornAt ? 0.06 * (t - double(kTornAt) + 1) * std::max(0.0, 1 - x) / 2 : 0;
  return Vec3f(float(x), float(1.3 + 0.15 * std::sin(3 * x + 0.3 * t)), float(z + (behind ? open : -open)));
}

inline BodyPoints clothPoints(uint64_t frame) {
  BodyPoints points{kCloth, 1e-4f, 0, {}, {{"tension", 1, {}}}};
  const uint32_t side = frame >= kRemeshedAt ? kFineSide : kClothSide;
  const MeshEntry mesh = clothMesh("", side);
  for (const Vec3f& p : mesh.positions) points.positions.push_back(clothPlace(p, frame, p.z() > 0));
  if (frame >= kTornAt && frame < kRemeshedAt)
    for (const Vec3f& p : clothTear().positions) points.positions.push_back(clothPlace(p, frame, true));
  for (const Vec3f& p : points.positions) points.fields[0].values.push_back(std::round(64 * (p.x() + 1)));
  return points;
}

inline MeshEntry boxMesh(const char* name, bool open) {
  MeshEntry mesh{name, {}, {}, {}, {}};
  for (int v = 0; v < 8; ++v)
    mesh.positions.emplace_back(v & 1 ? 0.3f : -0.3f, v & 2 ? 0.3f : -0.3f, v & 4 ? 0.3f : -0.3f);
  mesh.triangles = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                    {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  if (!open) return mesh;
  // A notch in the upper face.
  mesh.positions.emplace_back(0, 0, 0);
  mesh.triangles[6] = {2, 6, 8};
  mesh.triangles[7] = {6, 7, 8};
  mesh.triangles.push_back({7, 3, 8});
  mesh.triangles.push_back({3, 2, 8});
  mesh.interior.assign(mesh.triangles.size(), 0);
  for (const size_t t : {6, 7, 12, 13}) mesh.interior[t] = 1;
  return mesh;
}

// Six tetrahedra of a cube of side 1, the first three with x >= y.
inline MeshEntry cageMesh() {
  MeshEntry mesh{"cage", {}, {}, {}, {}};
  for (int v = 0; v < 8; ++v) mesh.positions.emplace_back(float(v & 1), float(v >> 1 & 1), float(v >> 2 & 1));
  mesh.tets = {{0, 1, 3, 7}, {0, 1, 7, 5}, {0, 4, 5, 7}, {0, 2, 7, 3}, {0, 2, 6, 7}, {0, 4, 7, 6}};
  return mesh;
}
inline constexpr uint32_t kJellyCells = 4;  // along the sides of the faces of tetrahedra

// The cube, clipped by its cage: the faces of every tetrahedron with vertices of their own. Those between two
// tetrahedra are walls, inside faces that are seen once the cage has come apart.
inline std::pair<MeshEntry, Embedding> jelly() {
  const MeshEntry cage = cageMesh();
  MeshEntry surface{"jelly", {}, {}, {}, {}};
  Embedding embedding;
  embedding.surface = kJellySurface;
  embedding.cage = kCage;
  static constexpr uint32_t kFaces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
  const auto outside = [&](const geometry::Tetrahedron& tet, const uint32_t(&face)[3]) {
    for (int axis = 0; axis < 3; ++axis) {
      const Vec3f &a = cage.positions[tet[face[0]]], &b = cage.positions[tet[face[1]]],
                  &c = cage.positions[tet[face[2]]];
      if (a[axis] == b[axis] && b[axis] == c[axis]) return true;
    }
    return false;
  };
  constexpr uint32_t n = kJellyCells;
  for (uint32_t t = 0; t < cage.tets.size(); ++t)
    for (uint32_t k = 0; k < 4; ++k) {
      const auto base = uint32_t(surface.positions.size());
      const auto at = [&](uint32_t i, uint32_t j) { return base + i * (n + 1) - i * (i - 1) / 2 + j; };
      const bool wall = !outside(cage.tets[t], kFaces[k]);
      for (uint32_t i = 0; i <= n; ++i)
        for (uint32_t j = 0; i + j <= n; ++j) {
          Vec4f w = Vec4f::Zero();
          w[int(kFaces[k][0])] = float(n - i - j) / n;
          w[int(kFaces[k][1])] = float(i) / n;
          w[int(kFaces[k][2])] = float(j) / n;
          Vec3f p = Vec3f::Zero();
          for (int c = 0; c < 4; ++c) p += w[c] * cage.positions[cage.tets[t][size_t(c)]];
          surface.positions.push_back(p);
          embedding.tets.push_back(t);
          embedding.weights.push_back(w);
        }
      const auto add = [&](uint32_t a, uint32_t b, uint32_t c) {
        surface.triangles.push_back({a, b, c});
        surface.interior.push_back(wall);
        embedding.walls.push_back(wall ? 4 * t + k : kNoIndex);
      };
      for (uint32_t i = 0; i < n; ++i)
        for (uint32_t j = 0; i + j < n; ++j) {
          add(at(i, j), at(i + 1, j), at(i, j + 1));
          if (i + j + 1 < n) add(at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
        }
    }
  return {surface, embedding};
}

// The three tetrahedra with y >= x take copies of the vertices in the plane between.
inline MeshChange cageTear() {
  MeshChange change{.body = kJelly, .frame = kCageTornAt};
  const MeshEntry cage = cageMesh();
  const uint32_t plane[4] = {0, 3, 4, 7};
  for (const uint32_t v : plane) change.positions.push_back(cage.positions[v]);
  for (uint32_t t = 3; t < 6; ++t)
    for (uint32_t k = 0; k < 4; ++k)
      for (uint32_t copy = 0; copy < 4; ++copy)
        if (cage.tets[t][k] == plane[copy]) change.tetCorners.push_back({4 * t + k, 8 + copy});
  return change;
}

inline BodyPoints cagePoints(uint64_t frame) {
  BodyPoints points{kJelly, 1e-4f, 0, {}, {{"strain", 1, {}}}};
  std::vector<Vec3f> rest = cageMesh().positions;
  const double squeeze = 1 - 0.02 * double(frame);
  if (frame >= kCageTornAt)
    for (const Vec3f& p : cageTear().positions) rest.push_back(p);
  for (size_t v = 0; v < rest.size(); ++v) {
    Vec3f p = rest[v];
    p.y() *= float(squeeze);
    const bool upper = v >= 8 || v == 2 || v == 6;
    if (frame >= kCageTornAt && upper) p += 0.08f * float(frame - kCageTornAt + 1) * Vec3f(-1, 1, 0);
    points.positions.push_back(p);
    points.fields[0].values.push_back(float(v % 4));
  }
  return points;
}

inline BodyPoints boxValues(uint64_t frame) {
  BodyPoints points{kBox, 1e-4f, 0, {}, {{"stress", 1, {}}}};
  const size_t count = frame >= kBoxChangesAt ? 9 : 8;
  for (size_t v = 0; v < count; ++v) points.fields[0].values.push_back(float(16 * v + frame));
  return points;
}

inline BodyPoints grains(uint64_t frame) {
  BodyPoints points{kGrains, 1e-4f, 0.02f, {}, {{"radius", 1, {}}}};
  for (uint32_t i = 0; i < kGrainCount; ++i) {
    const double turn = 2.4 * i, reach = 0.1 * std::sqrt(double(i));
    points.positions.emplace_back(float(-1.6 + reach * std::cos(turn)), float(0.1 + 0.01 * double(frame)),
                                  float(1.6 + reach * std::sin(turn)));
    points.fields[0].values.push_back(i % 3 == 0 ? 0.0625f : 0.03125f);
  }
  return points;
}

inline std::vector<CrackFront> boxFronts(uint64_t frame) {
  if (frame < 2 || frame >= kBoxChangesAt) return {};
  CrackFront front{kBox, 0, false, {}};
  for (int i = 0; i < 5; ++i) {
    FrontPoint point;
    point.position = Vec3f(-0.3f + 0.15f * float(i), 0.3f - 0.05f * float(frame), 0);
    point.forward = -Vec3f::UnitY();
    point.normal = Vec3f::UnitZ();
    point.intensity = Vec3f(1e6f * float(frame), 2e5f, 0);
    point.release = 12.5f * float(frame);
    point.state = i == 0                       ? FrontState::Left
                  : frame == kBoxChangesAt - 1 ? FrontState::Arrested
                                               : FrontState::Growing;
    front.points.push_back(point);
  }
  return {front};
}

inline std::vector<Input> changingInputs(uint64_t frame) {
  if (frame != 3 && frame != 7) return {};
  return {{10 * frame, 2 * frame, "grip", "{\"body\": 1}"}, {10 * frame + 4, 2 * frame + 1, "release", ""}};
}

inline std::vector<Event> changingEvents(uint64_t frame) {
  if (frame == kTornAt)
    return {{EventKind::Cut, kCloth, kNoIndex, Vec3f(-1, 1.3f, 0), Vec3f(0, 0, 1), 0, 0, "knife", 0.75f}};
  if (frame == kBoxChangesAt)
    return {{EventKind::Fracture, kBox, kCloth, Vec3f(0, 0.3f, 0), Vec3f(0, 1, 0), 2.5f, 3, "", 12.5f}};
  return {};
}

inline std::vector<BodyState> changingStates(uint64_t frame) {
  std::vector<BodyState> states(kChangingBodies);
  for (BodyState& s : states) s.present = true;
  states[kBox].position = Vec3f(1.3f, 0.5f, -0.6f);
  states[kBox].rotation = Quatf(Eigen::AngleAxisf(0.05f * float(frame), Vec3f::UnitY()));
  states[kJelly].position = Vec3f(-0.3f, 0, 0.9f);
  return states;
}

inline void startChanging(RunWriter& writer) {
  for (const auto& [name, colour] : {std::pair{"red", Vec3(0.7, 0.08, 0.05)},
                                     {"white", Vec3(0.85, 0.85, 0.8)},
                                     {"gel", Vec3(0.15, 0.5, 0.2)},
                                     {"custard", Vec3(0.85, 0.6, 0.15)},
                                     {"stone", Vec3(0.4, 0.42, 0.45)}}) {
    material::Material material;
    material.name = name;
    material.colour = colour;
    if (material.name == "gel" || material.name == "stone") material.inside = "custard";
    writer.addMaterial(material);
  }
  writer.addMesh(
      {"ground", {{-50, 0, -50}, {-50, 0, 50}, {50, 0, 50}, {50, 0, -50}}, {{0, 1, 2}, {0, 2, 3}}, {}, {}});
  writer.addMesh(clothMesh("cloth", kClothSide));
  writer.addMesh(clothMesh("fine cloth", kFineSide));
  writer.addMesh(boxMesh("box", false));
  writer.addMesh(boxMesh("open box", true));
  const auto [surface, embedding] = jelly();
  writer.addMesh(surface);
  writer.addMesh(cageMesh());
  writer.addEmbedding(embedding);
  writer.addBody({"ground", kNoIndex, "stone", kGroundMesh, 0, BodyKind::Static, 0});
  writer.addBody({"cloth", kNoIndex, "red", kClothMesh, 1, BodyKind::Deformable, 0});
  writer.addBody({"box", kNoIndex, "stone", kBoxMesh, 2, BodyKind::Dynamic, 0});
  writer.addBody({"jelly", kNoIndex, "gel", kJellySurface, 1, BodyKind::Deformable, 0});
  writer.addBody({"grains", kNoIndex, "stone", kNoIndex, 1, BodyKind::Particles, 0});
}

// A checkpoint every four frames.
inline void writeChangingFrames(RunWriter& writer, uint64_t from, uint64_t to) {
  writer.setKeyInterval(5);
  for (uint64_t f = from; f < to; ++f) {
    if (f == kTornAt) writer.changeMesh(clothTear());
    if (f == kCageTornAt) writer.changeMesh(cageTear());
    if (f == kBoxChangesAt) writer.changeMesh({.body = kBox, .frame = f, .mesh = kOpenBox});
    if (f == kRemeshedAt) writer.changeMesh({.body = kCloth, .frame = f, .mesh = kFineCloth});
    writer.addInputs(changingInputs(f));
    writer.addFronts(boxFronts(f));
    const BodyPoints points[] = {clothPoints(f), boxValues(f), cagePoints(f), grains(f)};
    writer.frame(f, double(f) / 60, changingStates(f), {}, {}, changingEvents(f), points);
    if (f % 4 == 0) writer.checkpoint({f, 1000 + f, "state of frame " + std::to_string(f)}, double(f) / 60);
  }
}

inline void writeChanging(const std::filesystem::path& path, uint64_t frames = kChangingFrames) {
  RunWriter writer(path, {"sunder test", "changing", "{}", 60});
  startChanging(writer);
  writeChangingFrames(writer, 0, frames);
  writer.finish({EndKind::Finished, "", 77, "{}"});
}

}  // namespace sunder::record
