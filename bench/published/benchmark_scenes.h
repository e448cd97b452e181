// Scenes for measuring collision detection: procedural stand-ins for the ones that the literature measures,
// with the same numbers of triangles, objects and frames (Chitalu 2020, tables 2.1, 3.2 and 3.3). The files
// of the originals are not needed; what happens in them does: cloth that folds over a ball, cloth pressed
// through a funnel, rigid bodies that crowd together, ruffled skirts in layers.
//
// Triangles stay, positions are formulas of time: any frame can be asked for on its own, and asking twice
// gives the same bits. Bodies penetrate each other a little where they touch, as in a frame before the
// response. Cost: about 100 ns a vertex.
#pragma once

#include "sunder/geometry/mesh.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace sunder::published {

enum class SceneKind : uint8_t { ClothBall, Funnel, NBody, Flamenco, Andy, Bridson, Bridson3 };

inline constexpr SceneKind kAllScenes[] = {SceneKind::ClothBall, SceneKind::Funnel, SceneKind::NBody,
                                           SceneKind::Flamenco,  SceneKind::Andy,   SceneKind::Bridson,
                                           SceneKind::Bridson3};

const char* name(SceneKind kind);  // "cloth-ball", "n-body", ...

struct SceneBody {
  std::string name;
  std::vector<geometry::Triangle> triangles;
  std::vector<Vec3> rest;  // what `place` starts from: points in space, or (u, v) of a sheet in x and y
  bool self = false;       // may touch itself
  bool rigid = false;
  std::function<Vec3(const Vec3& rest, double time)> place;  // time runs from 0 to 1
};

struct BenchmarkScene {
  SceneKind kind;
  uint32_t frames;
  std::vector<SceneBody> bodies;

  size_t triangleCount() const;
  // Throws Error (Usage) for a body or frame that is not there.
  void positions(size_t body, uint32_t frame, std::vector<Vec3>& out) const;
};

BenchmarkScene makeBenchmarkScene(SceneKind kind);

// The test sheet of the reference measurements: n by n cells, x = u/n + 0.02 sin(40 v/n), y = v/n,
// z = 0.08 sin(25 u/n) cos(19 v/n), each cell split from (u, v) to (u+1, v+1); 2 n^2 triangles.
geometry::TriMesh makeTestSheet(uint32_t n);

}  // namespace sunder::published
