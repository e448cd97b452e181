// The pile of mixed non-convex shapes that `rigid` is measured with: bowls, tori, letters and knots in a
// tray.
#pragma once

#include "sunder/geometry/mesh.h"
#include "sunder/rigid/solver/simulation.h"

#include <string>
#include <vector>

namespace sunder::bench {

struct MixedScene {
  struct Kind {
    std::string name;
    geometry::TriMesh mesh;    // about 0.3 m across
    geometry::TriMesh coarse;  // a tenth of the triangles: HACD takes minutes for the others
    rigid::ShapePtr solid;
  };
  struct Body {
    uint32_t kind;
    rigid::Pose pose;
  };
  std::vector<Kind> kinds;
  std::vector<Body> bodies;
  double half = 0;    // of the tray's square floor, whose top is y = 0
  double height = 0;  // of its walls
  double thickness = 0.5;
  double friction = 0.5, density = 1000;

  // The floor and four walls: half extents and centres.
  std::vector<std::pair<Vec3, Vec3>> tray() const;
};

// `count` bodies above each other in layers, turned at random.
MixedScene makeMixedScene(uint32_t count);

// Our simulation of it; the tray's bodies come first.
rigid::Simulation simulate(const MixedScene& scene, const rigid::SimulationSettings& settings);
inline constexpr uint32_t kTrayBodies = 5;

// Overlaps of all pairs of bodies at the given poses, found with every point of both shapes: how deep on
// average over overlapping pairs, and at most.
struct Penetration {
  size_t pairs = 0;
  double mean = 0, largest = 0;
};
Penetration measurePenetration(const MixedScene& scene, const std::vector<rigid::Pose>& poses);

struct PeerPile {
  double secondsPerStep = 0;
  size_t contacts = 0;
  std::vector<rigid::Pose> poses;  // at the end
};
enum class BulletMesh { Gimpact, Hulls };  // triangle meshes; compounds of convex parts found by HACD
// Starts at the poses of `scene` at rest; the first `warm` of the steps are not timed.
PeerPile runBullet(const MixedScene& scene, BulletMesh mesh, double timeStep, int warm, int steps);

}  // namespace sunder::bench
