// What a scene says, as plain structs in SI units: read from a SceneDocument, with names resolved, arrays
// unrolled to bodies and defaults filled in; or put together by a program (examples/cpp_scene.cpp). Nothing
// is built, cut or read from mesh files here: build/ready_scene.h makes of it what a world takes, and checks
// what a program put together as a document is checked. scene_text.h writes it as a document.
//
// Kinds of matter that a program registers have blocks of their own (part_block.h).
#pragma once

#include "sunder/fluid/solver/fluid.h"
#include "sunder/material/material.h"
#include "sunder/rigid/solver/simulation.h"
#include "sunder/world/scene/part_block.h"
#include "sunder/world/scene/scene_document.h"
#include "sunder/world/scene/shape_values.h"
#include "sunder/world/scene/soft_values.h"

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sunder::world {

using material::Material;

struct CutSize;

struct ShapeSpec {
  std::string name;  // for messages and as the name of the mesh
  ShapeValue value;  // what it is
  // What shapes are compared by, from their values: a state can only be loaded where they are the same.
  // Filled in where the scene is made ready for a world.
  std::string identity = {};
  // The description that it was read from, in one spelling; empty for shapes of programs. Shapes of a
  // document with equal ones are one shape, and recordings find by it where the hash of a mesh file belongs.
  std::string written = {};
  std::string pointer = {};   // where it stands in the document
  std::string fileHash = {};  // that its file must have; empty: any
  // Of shapes that planes cut from a mesh: the pieces by estimate, and which of them it is. Empty: not known.
  std::shared_ptr<const CutSize> cut = nullptr;
  size_t cutPiece = 0;
};

struct Scene;
struct BodySpec;
// As the simulation takes them, but for the shape.
rigid::BodySettings bodySettings(const Scene& scene, const BodySpec& body);
// The material of a body with what its "fracture" block says instead.
Material fractureMaterial(const Scene& scene, const BodySpec& body);

// How a body breaks.
struct FractureSpec {
  std::string pointer;
  double edge = 0;  // of its tetrahedra, m; 0: as size and walls ask
  std::optional<double> young, poisson, strength, surfaceEnergy;  // instead of the material's
  uint32_t cycles = 1;                                            // of refinement while it is analysed
  bool arrest = false;                                            // cracks stop when the energy is spent
  double noise = 0;                                               // m: how far cracks leave their planes
  double leastPart = 1e-3;   // of the body's volume: smaller pieces stay with a neighbour
  uint32_t mostCracks = 16;  // in one impact
  bool fine = true;          // pieces are shown with the surface of the shape, not of its tetrahedra
  // The model "voronoi": once, into the cells of random points, when an impact is at least this strong.
  uint32_t sites = 0;  // 0: by stress
  double impulse = 0;  // N s
  double focus = 1;    // how much the points crowd around the impact
};

struct BodySpec {
  std::string id, pointer;
  uint32_t shape = 0;     // of Scene::shapes
  uint32_t material = 0;  // of Scene::materials
  rigid::BodyKind kind = rigid::BodyKind::Dynamic;
  rigid::Pose pose;
  Vec3 velocity = Vec3::Zero(), angularVelocity = Vec3::Zero();
  std::optional<double> mass;
  double gravityScale = 1, linearDamping = 0, angularDamping = 0;
  uint32_t group = 0;
  bool canSleep = true;
  std::vector<KeyFrame> keyFrames;  // ascending times
  bool repeat = false;
  std::optional<FractureSpec> fracture;
  // Planes, in the shape's own frame, that cut its mesh before the run: bodies "id.0", "id.1", ... take its
  // place when the scene is made ready. How many those are is not known before.
  std::vector<CutPlane> cut;
  double standsFor = 1;  // bodies of its array; more than 1 in a sample of a scene
};

// A joint as it is said: for one body, or for each that fits a pattern.
struct JointWords {
  std::string a, b;  // ids; a may be empty: the world; b may be a pattern
  std::optional<Vec3> anchor, anchorB;
  bool relative = false;  // anchors count from the position of b
};

struct JointSpec {
  std::string id, pointer;
  rigid::JointSettings settings;  // body indices are those of Scene::bodies
  // Where it holds pieces of a body with a cut: bodies and anchors of the settings, and how many joints it
  // is, follow when the scene is made ready.
  std::optional<JointWords> words;
};

enum class ForceKind { Gravity, Wind, Drag, Explosion, Attractor };

struct ForceSpec {
  std::string id, pointer;
  ForceKind kind = ForceKind::Gravity;
  std::vector<uint32_t> bodies;      // dynamic ones it acts on, ascending
  std::vector<uint32_t> softBodies;  // of Scene::softBodies, ascending
  std::vector<std::string> pieces;   // patterns: of bodies with a cut, the pieces that it acts on too
  double from = 0, until = std::numeric_limits<double>::infinity();  // s
  Vec3 vector = Vec3::Zero();  // acceleration; velocity of the air; position
  double density = 1.2, dragCoefficient = 0.5;
  double linear = 0, angular = 0;  // 1/s
  double time = 0;                 // of an explosion
  double strength = 0;             // impulse, N s; acceleration, m/s^2
  double radius = 1;
};

struct BlockSpec {
  Box3 box;
  std::optional<FieldValue> formula;  // only what is inside of it; none: the whole box
  sdf::FieldPtr field;                // of the formula; a program may leave it out
  // Poured into a body, up to the top of the box, which is then that of the body.
  std::optional<uint32_t> container;
  std::string pour;          // the id of the body, where it is a piece of one with a cut
  std::optional<Vec3> from;  // a point inside of it; else below the middle of its top
  std::optional<double> level;
  std::string pointer;
  Vec3 velocity = Vec3::Zero();
};

// A jet from a nozzle that is round, or a rectangle where its radius is 0.
struct EmitterSpec {
  Vec3 position = Vec3::Zero(), direction = Vec3::UnitY();
  double radius = 0, speed = 1;  // m, m/s
  double width = 0, height = 0;  // m
  std::optional<Vec3> upright;   // the way its height points, about; none: y
  // Of its width and height, square to the direction. They follow from the two; a program may leave them out.
  Vec3 across = Vec3::UnitX(), up = Vec3::UnitY();
  double from = 0, until = std::numeric_limits<double>::infinity();  // s

  double area() const { return radius > 0 ? kPi * radius * radius : width * height; }
};

struct LiquidSpec {
  std::string id, pointer;
  uint32_t material = 0;
  fluid::FluidPhase phase;
  std::vector<BlockSpec> blocks;
  std::vector<EmitterSpec> emitters;
};

struct FluidSpec {
  fluid::FluidSettings settings;
  double longestStep = 5e-3;  // s
  double offset = 0.5, friction = 0;
  bool noSlip = false;
  bool boundaryParticles = false;  // on surfaces, in place of maps
  std::optional<Box3> tank;
  std::vector<LiquidSpec> liquids;
  std::vector<Box3> sinks;
};

// What a block of a registered kind says (scene/part_block.h).
struct PartBlock {
  std::string key, pointer;
  std::string text;  // as JSON
  std::shared_ptr<const PartValues> values;
  double bytes = 0;  // of memory, by estimate
};

struct RecordingSettings {
  uint32_t keyEvery = 30;
  uint64_t checkpointFrames = 300;  // some kilobytes a body each: the larger part of a short recording
  double checkpointSeconds = 30;
  bool impulseField = false, asleepField = false;
  bool stressField = false;  // of soft bodies, at the vertices of their cages
};

struct WorldSettings {
  rigid::SimulationSettings simulation;
  double frameRate = 60;
  uint32_t stepsPerFrame = 1;  // simulation.timeStep follows from it where the scene is made ready
  uint64_t frames = 300;
  uint64_t seed = 1;
  std::optional<Box3> bounds;  // bodies that leave it are removed
  double frameTime(uint64_t frame) const { return static_cast<double>(frame) / frameRate; }
};

struct Scene {
  // Where each part stands in files, for messages, and what recordings hold; copies share it. Empty for
  // scenes of programs, whose values are written out instead: a program that changes values of a scene it has
  // read empties it.
  SceneDocument document;
  std::string title;
  WorldSettings world;
  std::vector<Material> materials{material::presets().begin(), material::presets().end()};
  std::vector<ShapeSpec> shapes;         // each that is used, once
  std::vector<BodySpec> bodies;          // rigid ones
  std::vector<SoftBodySpec> softBodies;  // ids differ from those of all other bodies
  std::vector<JointSpec> joints;
  std::vector<ForceSpec> forces;
  std::optional<FluidSpec> fluid;
  std::vector<PartBlock> parts;
  RecordingSettings recording;
  // For estimates, not for a world: arrays have fewer bodies than they ask for; bodies that planes cut have
  // as many pieces as is estimated.
  bool sampled = false, uncut = false;

  // For programs. A shape that is there already gets no second index.
  uint32_t addShape(ShapeValue value, std::string name = "");
  // The index of the body.
  uint32_t addBody(BodySpec body);
  uint32_t addSoftBody(SoftBodySpec body);
  // Throw Error (Usage) with the nearest name.
  uint32_t materialNamed(std::string_view name) const;
  uint32_t bodyNamed(std::string_view id) const;
  uint32_t softBodyNamed(std::string_view id) const;

  bool anyCuts() const;  // whether a body is still to be cut

  // The materials that bodies and liquids are made of, and those that their inner faces look like; by
  // ascending index.
  std::vector<uint32_t> usedMaterials() const;

  // The document with the values of used materials written out: the same run from one text, also where the
  // presets have changed. Without a document what sceneText() says.
  std::string resolvedText() const;
};

Scene readScene(const std::filesystem::path& path, const std::vector<std::string>& sets = {});
Scene readScene(SceneDocument document);

// Of arrays of more bodies than `most`, all arrays together, about `most` bodies are read; each stands for
// several (BodySpec::standsFor). An estimate of their cost then takes as little for millions as for `most`.
// Scenes that name a body which would be left out are read as a whole.
Scene sampleScene(SceneDocument document, uint64_t most);

// "pile[*]" fits "pile[12]": * stands for any text.
bool fitsPattern(std::string_view pattern, std::string_view text);
// Whether a piece of a body, "id.3", can fit. Sure of a no, not of a yes.
bool mayFitPiece(std::string_view pattern, std::string_view id);

}  // namespace sunder::world
