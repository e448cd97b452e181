// Soft bodies of a scene, as values: the block "soft" of a body whose kind is "deformable". Nothing is built
// here; how such a body is made of it is the business of world/build/soft_library.h.
#pragma once

#include "sunder/base/box.h"
#include "sunder/base/math.h"
#include "sunder/fem/solid/solid.h"
#include "sunder/material/material.h"
#include "sunder/world/scene/key_frames.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace sunder::world {

struct Scene;

// More tetrahedra of one cage are refused.
inline constexpr uint32_t kMostTets = 100'000;

// Vertices of the cage that move as they are told, or with a rigid body. `box` is in the frame of the soft
// body's shape, at rest; the vertices of the cage in it are held, its faces included. One of three:
// - `body`: they stay where they are in its frame, and what they pull goes into it.
// - `keyFrames`: poses of the shape's frame. The vertices are where that pose puts them, as if the body were
//   rigid. The first key has the time 0 and the pose of the body.
// - neither: they stay where they are at the start.
struct PinSpec {
  std::string pointer = {};
  Box3 box = {};
  std::optional<uint32_t> body = {};  // of Scene::bodies
  // The id of `body`, where that is a piece of a body with a cut: the index follows when the scene is made
  // ready.
  std::string piece = {};
  std::vector<KeyFrame> keyFrames = {};
  bool repeat = false;
  double until = std::numeric_limits<double>::infinity();  // s; then it lets go
};

// Glue: the vertices of the cage in the box (as that of a pin) stick to the other body where they are at the
// start, until they are pulled off.
struct AttachSpec {
  std::string pointer = {};
  Box3 box = {};
  // One of the two, of Scene::bodies or of Scene::softBodies.
  std::optional<uint32_t> body = {}, softBody = {};
  std::string piece;                                          // as in PinSpec
  double strength = std::numeric_limits<double>::infinity();  // N: all of it lets go beyond this force
  bool collide = true;  // whether the two touch each other; false for what lies inside
};

// How it tears.
struct TearSpec {
  std::optional<double> strength;       // Pa; none: the material's
  std::optional<double> surfaceEnergy;  // J/m2 of a new crack, both sides together; none: the material's
  uint32_t mostSplits = 16;             // vertices in a step
};

struct SoftSpec {
  std::string pointer;
  fem::ElasticModel model = fem::ElasticModel::Corotated;
  std::optional<double> young, poisson, density;  // instead of the material's
  double massDamping = 0;                         // 1/s
  double stiffnessDamping = 0;                    // s
  uint32_t tets = 200;                            // that its cage should have, about
  // A file of tetrahedra, in place of a cage that is made; a path, empty: none. The scale of a mesh shape is
  // applied to it too.
  std::string cage = {};
  std::string cageHash = {};  // that the file must have; empty: any
  bool selfContact = true;    // its parts touch each other
  double spheres =
      0;  // m: from one collision sphere to the next, twice their radius; 0: 0.4 of the cage's edges
  Vec3 fibre = Vec3::Zero();  // direction of added stiffness in the shape's frame, of unit length; zero: none
  double fibreYoung = 0;      // Pa
  std::optional<TearSpec> tear;
  std::vector<PinSpec> pins;
  std::vector<AttachSpec> attach;
};

struct SoftBodySpec {
  std::string id, pointer;
  uint32_t shape = 0;                                            // of Scene::shapes; a closed surface
  uint32_t material = 0;                                         // of Scene::materials
  rigid::Pose pose;                                              // of the shape's frame
  Vec3 velocity = Vec3::Zero(), angularVelocity = Vec3::Zero();  // of and about the centre of mass
  double gravityScale = 1;
  SoftSpec soft;
  double standsFor = 1;  // bodies of its array; more than 1 in a sample of a scene
};

// The material of a soft body with what its block says instead: density, elastic values, and with "tear" the
// strength and the surface energy.
material::Material softMaterial(const Scene& scene, const SoftBodySpec& body);

// The same for the elements.
fem::SolidMaterial solidMaterial(const Scene& scene, const SoftBodySpec& body);

}  // namespace sunder::world
