#include "sunder/world/scene/scene_text.h"

#include "sunder/base/error.h"
#include "sunder/world/build/ready_scene.h"
#include "sunder/world/scene/scene_fluid.h"
#include "sunder/world/scene/scene_sample.h"
#include "sunder/world/world.h"

#include "folders.h"
#include "world/parts_of.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>

namespace sunder::world {
namespace {

Scene sceneOfWords(const std::string& text) {
  return readScene(SceneDocument::parse(text, "scene.json", sourceFolder() / "scenes"));
}

bool same(const Vec3& a, const Vec3& b) { return a == b; }
bool same(const Quat& a, const Quat& b) { return a.coeffs() == b.coeffs(); }
bool same(const rigid::Pose& a, const rigid::Pose& b) {
  return same(a.position, b.position) && same(a.rotation, b.rotation);
}
bool same(const Box3& a, const Box3& b) {
  return (a.empty() && b.empty()) || (a.lower == b.lower && a.upper == b.upper);
}
bool same(double a, double b) { return a == b; }
bool same(const FieldValue& a, const FieldValue& b);
template <class T>
bool same(const std::optional<T>& a, const std::optional<T>& b) {
  return a.has_value() == b.has_value() && (!a || same(*a, *b));
}

#define EXPECT_SAME(member) EXPECT_TRUE(same(a.member, b.member)) << #member
#define EXPECT_EQUAL(member) EXPECT_EQ(a.member, b.member)

bool same(const FieldValue& a, const FieldValue& b) {
  if (a.kind != b.kind || a.parts.size() != b.parts.size()) return false;
  for (size_t i = 0; i < a.parts.size(); ++i)
    if (!same(a.parts[i], b.parts[i])) return false;
  return same(a.centre, b.centre) && same(a.size, b.size) && same(a.from, b.from) && same(a.to, b.to) &&
         same(a.axis, b.axis) && a.radius == b.radius && a.tube == b.tube && a.round == b.round &&
         a.distance == b.distance && same(a.position, b.position) && same(a.rotation, b.rotation) &&
         a.scale == b.scale && a.noise.amplitude == b.noise.amplitude &&
         a.noise.wavelength == b.noise.wavelength && a.noise.octaves == b.noise.octaves &&
         a.noise.seed == b.noise.seed;
}

bool same(const rigid::SolidSettings& a, const rigid::SolidSettings& b) {
  return a.fieldError == b.fieldError && a.surfacePoints == b.surfacePoints &&
         a.insidePoints == b.insidePoints && a.cells == b.cells;
}

bool same(const std::vector<CutPlane>& a, const std::vector<CutPlane>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const CutPlane& p, const CutPlane& q) {
    return p.point == q.point && p.normal == q.normal;
  });
}

struct SameShape {
  bool operator()(const SphereShape& a, const SphereShape& b) const { return a.radius == b.radius; }
  bool operator()(const BoxShape& a, const BoxShape& b) const { return a.size == b.size; }
  bool operator()(const CapsuleShape& a, const CapsuleShape& b) const {
    return a.length == b.length && a.radius == b.radius;
  }
  bool operator()(const PlaneShape&, const PlaneShape&) const { return true; }
  bool operator()(const HullShape& a, const HullShape& b) const { return a.points == b.points; }
  bool operator()(const FieldShape& a, const FieldShape& b) const {
    return same(a.formula, b.formula) && same(a.solid, b.solid) && a.leaves == b.leaves;
  }
  bool operator()(const MeshShape& a, const MeshShape& b) const {
    return a.file == b.file && a.make == b.make && a.with == b.with && a.scale == b.scale &&
           a.hull == b.hull && same(a.solid, b.solid) && same(a.cut, b.cut) && a.piece == b.piece;
  }
  template <class A, class B>
  bool operator()(const A&, const B&) const {
    return false;
  }
};

void expectSame(const Material& a, const Material& b) {
  EXPECT_EQUAL(name);
  EXPECT_EQUAL(inside);
  EXPECT_EQUAL(colour);
  for (const material::Property& p : material::properties()) EXPECT_EQ(a.*p.value, b.*p.value) << p.name;
}

void expectSame(const FractureSpec& a, const FractureSpec& b) {
  EXPECT_EQUAL(edge);
  EXPECT_SAME(young);
  EXPECT_SAME(poisson);
  EXPECT_SAME(strength);
  EXPECT_SAME(surfaceEnergy);
  EXPECT_EQUAL(cycles);
  EXPECT_EQUAL(arrest);
  EXPECT_EQUAL(noise);
  EXPECT_EQUAL(leastPart);
  EXPECT_EQUAL(mostCracks);
  EXPECT_EQUAL(fine);
  EXPECT_EQUAL(sites);
  EXPECT_EQUAL(impulse);
  EXPECT_EQUAL(focus);
}

void expectSame(const std::vector<KeyFrame>& a, const std::vector<KeyFrame>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].time, b[i].time);
    EXPECT_TRUE(same(a[i].pose, b[i].pose));
  }
}

void expectSame(const BodySpec& a, const BodySpec& b) {
  EXPECT_EQUAL(id);
  EXPECT_EQUAL(kind);
  EXPECT_SAME(pose);
  EXPECT_SAME(velocity);
  EXPECT_SAME(angularVelocity);
  EXPECT_SAME(mass);
  EXPECT_EQUAL(gravityScale);
  EXPECT_EQUAL(linearDamping);
  EXPECT_EQUAL(angularDamping);
  EXPECT_EQUAL(group);
  EXPECT_EQUAL(canSleep);
  EXPECT_EQUAL(repeat);
  EXPECT_SAME(cut);
  expectSame(a.keyFrames, b.keyFrames);
  ASSERT_EQ(a.fracture.has_value(), b.fracture.has_value());
  if (a.fracture) expectSame(*a.fracture, *b.fracture);
}

void expectSame(const SoftSpec& a, const SoftSpec& b) {
  EXPECT_EQUAL(model);
  EXPECT_SAME(young);
  EXPECT_SAME(poisson);
  EXPECT_SAME(density);
  EXPECT_EQUAL(massDamping);
  EXPECT_EQUAL(stiffnessDamping);
  if (a.cage.empty()) {
    EXPECT_EQUAL(tets);
  }
  EXPECT_EQUAL(cage);
  EXPECT_EQUAL(cageHash);
  EXPECT_EQUAL(spheres);
  EXPECT_EQUAL(selfContact);
  EXPECT_SAME(fibre);
  EXPECT_EQUAL(fibreYoung);
  ASSERT_EQ(a.tear.has_value(), b.tear.has_value());
  if (a.tear) {
    EXPECT_SAME(tear->strength);
    EXPECT_SAME(tear->surfaceEnergy);
    EXPECT_EQUAL(tear->mostSplits);
  }
  ASSERT_EQ(a.pins.size(), b.pins.size());
  for (size_t i = 0; i < a.pins.size(); ++i) {
    EXPECT_SAME(pins[i].box);
    EXPECT_EQUAL(pins[i].body);
    EXPECT_EQUAL(pins[i].piece);
    expectSame(a.pins[i].keyFrames, b.pins[i].keyFrames);
    EXPECT_EQUAL(pins[i].repeat);
    EXPECT_EQUAL(pins[i].until);
  }
  ASSERT_EQ(a.attach.size(), b.attach.size());
  for (size_t i = 0; i < a.attach.size(); ++i) {
    EXPECT_SAME(attach[i].box);
    EXPECT_EQUAL(attach[i].body);
    EXPECT_EQUAL(attach[i].softBody);
    EXPECT_EQUAL(attach[i].piece);
    EXPECT_EQUAL(attach[i].strength);
    EXPECT_EQUAL(attach[i].collide);
  }
}

void expectSame(const SoftBodySpec& a, const SoftBodySpec& b) {
  EXPECT_EQUAL(id);
  EXPECT_SAME(pose);
  EXPECT_SAME(velocity);
  EXPECT_SAME(angularVelocity);
  EXPECT_EQUAL(gravityScale);
  expectSame(a.soft, b.soft);
}

void expectSame(const JointSpec& a, const JointSpec& b) {
  EXPECT_EQUAL(id);
  EXPECT_EQUAL(settings.kind);
  EXPECT_EQUAL(settings.a.value);
  EXPECT_EQUAL(settings.b.value);
  EXPECT_SAME(settings.anchorA);
  EXPECT_SAME(settings.anchorB);
  EXPECT_SAME(settings.axis);
  EXPECT_EQUAL(settings.slack);
  EXPECT_EQUAL(settings.lowerAngle);
  EXPECT_EQUAL(settings.upperAngle);
  EXPECT_EQUAL(settings.motorSpeed);
  EXPECT_EQUAL(settings.motorTorque);
  EXPECT_EQUAL(settings.breakForce);
  EXPECT_EQUAL(settings.breakTorque);
  EXPECT_EQUAL(settings.collide);
  ASSERT_EQ(a.words.has_value(), b.words.has_value());
  if (!a.words) return;
  EXPECT_EQUAL(words->a);
  EXPECT_EQUAL(words->b);
  EXPECT_EQUAL(words->relative);
  EXPECT_SAME(words->anchor);
  EXPECT_SAME(words->anchorB);
}

void expectSame(const ForceSpec& a, const ForceSpec& b) {
  EXPECT_EQUAL(id);
  EXPECT_EQUAL(kind);
  EXPECT_EQUAL(bodies);
  EXPECT_EQUAL(pieces);
  EXPECT_EQUAL(from);
  EXPECT_EQUAL(until);
  EXPECT_SAME(vector);
  EXPECT_EQUAL(density);
  EXPECT_EQUAL(dragCoefficient);
  EXPECT_EQUAL(linear);
  EXPECT_EQUAL(angular);
  EXPECT_EQUAL(time);
  EXPECT_EQUAL(strength);
  EXPECT_EQUAL(radius);
}

void expectSame(const LiquidSpec& a, const LiquidSpec& b) {
  EXPECT_EQUAL(id);
  EXPECT_EQUAL(phase.density);
  EXPECT_EQUAL(phase.viscosity);
  EXPECT_EQUAL(phase.smoothing);
  EXPECT_EQUAL(phase.tension);
  EXPECT_EQUAL(phase.vorticity);
  EXPECT_EQUAL(phase.drag);
  ASSERT_EQ(a.blocks.size(), b.blocks.size());
  for (size_t i = 0; i < a.blocks.size(); ++i) {
    EXPECT_SAME(blocks[i].box);
    EXPECT_SAME(blocks[i].formula);
    EXPECT_EQUAL(blocks[i].container);
    EXPECT_EQUAL(blocks[i].pour);
    EXPECT_SAME(blocks[i].from);
    EXPECT_SAME(blocks[i].level);
    EXPECT_SAME(blocks[i].velocity);
  }
  ASSERT_EQ(a.emitters.size(), b.emitters.size());
  for (size_t i = 0; i < a.emitters.size(); ++i) {
    EXPECT_SAME(emitters[i].position);
    EXPECT_SAME(emitters[i].direction);
    EXPECT_EQUAL(emitters[i].radius);
    EXPECT_EQUAL(emitters[i].speed);
    EXPECT_EQUAL(emitters[i].width);
    EXPECT_EQUAL(emitters[i].height);
    EXPECT_SAME(emitters[i].upright);
    EXPECT_SAME(emitters[i].across);
    EXPECT_SAME(emitters[i].up);
    EXPECT_EQUAL(emitters[i].from);
    EXPECT_EQUAL(emitters[i].until);
  }
}

void expectSame(const FluidSpec& a, const FluidSpec& b) {
  EXPECT_EQUAL(settings.radius);
  EXPECT_SAME(settings.gravity);
  EXPECT_EQUAL(settings.referenceDensity);
  EXPECT_EQUAL(settings.airDensity);
  EXPECT_SAME(settings.wind);
  EXPECT_EQUAL(settings.courant);
  EXPECT_EQUAL(settings.solver);
  EXPECT_EQUAL(settings.density.tolerance);
  EXPECT_EQUAL(settings.density.most);
  EXPECT_EQUAL(settings.divergence.tolerance);
  EXPECT_EQUAL(settings.divergence.most);
  EXPECT_EQUAL(settings.warmStart);
  EXPECT_SAME(settings.periodic.lengths);
  EXPECT_SAME(settings.periodic.from);
  EXPECT_EQUAL(settings.viscousForces);
  EXPECT_EQUAL(longestStep);
  EXPECT_EQUAL(offset);
  EXPECT_EQUAL(friction);
  EXPECT_EQUAL(noSlip);
  EXPECT_EQUAL(boundaryParticles);
  EXPECT_SAME(tank);
  ASSERT_EQ(a.sinks.size(), b.sinks.size());
  for (size_t i = 0; i < a.sinks.size(); ++i) EXPECT_SAME(sinks[i]);
  ASSERT_EQ(a.liquids.size(), b.liquids.size());
  for (size_t i = 0; i < a.liquids.size(); ++i) expectSame(a.liquids[i], b.liquids[i]);
}

void expectSame(const WorldSettings& a, const WorldSettings& b) {
  EXPECT_SAME(simulation.gravity);
  EXPECT_EQUAL(simulation.timeStep);
  EXPECT_EQUAL(simulation.substeps);
  EXPECT_EQUAL(simulation.sleep);
  EXPECT_EQUAL(simulation.sleepSpeed);
  EXPECT_EQUAL(simulation.sleepTime);
  EXPECT_EQUAL(simulation.contactRate);
  EXPECT_EQUAL(simulation.contactDamping);
  EXPECT_EQUAL(simulation.pushSpeed);
  EXPECT_EQUAL(simulation.slop);
  EXPECT_EQUAL(simulation.bounceSpeed);
  EXPECT_EQUAL(simulation.continuous);
  EXPECT_EQUAL(simulation.eventImpulse);
  EXPECT_EQUAL(simulation.selection.firstLimit);
  EXPECT_EQUAL(simulation.selection.growth);
  EXPECT_EQUAL(simulation.selection.depthTolerance);
  EXPECT_EQUAL(simulation.selection.full);
  EXPECT_EQUAL(frameRate);
  EXPECT_EQUAL(stepsPerFrame);
  EXPECT_EQUAL(frames);
  EXPECT_EQUAL(seed);
  EXPECT_SAME(bounds);
}

// Shapes and materials by what they are, not by their number.
void expectSame(const Scene& a, const Scene& b) {
  EXPECT_EQUAL(title);
  expectSame(a.world, b.world);
  EXPECT_EQUAL(recording.keyEvery);
  EXPECT_EQUAL(recording.checkpointFrames);
  EXPECT_EQUAL(recording.checkpointSeconds);
  EXPECT_EQUAL(recording.impulseField);
  EXPECT_EQUAL(recording.asleepField);
  EXPECT_EQUAL(recording.stressField);
  ASSERT_EQ(a.bodies.size(), b.bodies.size());
  for (size_t i = 0; i < a.bodies.size(); ++i) {
    expectSame(a.bodies[i], b.bodies[i]);
    expectSame(a.materials[a.bodies[i].material], b.materials[b.bodies[i].material]);
    const ShapeSpec &one = a.shapes[a.bodies[i].shape], &other = b.shapes[b.bodies[i].shape];
    EXPECT_TRUE(std::visit(SameShape{}, one.value, other.value)) << a.bodies[i].id;
    EXPECT_EQ(one.name, other.name);
    EXPECT_EQ(one.fileHash, other.fileHash);
  }
  ASSERT_EQ(a.softBodies.size(), b.softBodies.size());
  for (size_t i = 0; i < a.softBodies.size(); ++i) {
    const SoftBodySpec &one = a.softBodies[i], &other = b.softBodies[i];
    expectSame(one, other);
    expectSame(a.materials[one.material], b.materials[other.material]);
    EXPECT_TRUE(std::visit(SameShape{}, a.shapes[one.shape].value, b.shapes[other.shape].value)) << one.id;
  }
  ASSERT_EQ(a.joints.size(), b.joints.size());
  for (size_t i = 0; i < a.joints.size(); ++i) expectSame(a.joints[i], b.joints[i]);
  ASSERT_EQ(a.forces.size(), b.forces.size());
  for (size_t i = 0; i < a.forces.size(); ++i) expectSame(a.forces[i], b.forces[i]);
  ASSERT_EQ(a.fluid.has_value(), b.fluid.has_value());
  if (!a.fluid) return;
  expectSame(*a.fluid, *b.fluid);
  for (size_t i = 0; i < a.fluid->liquids.size(); ++i)
    expectSame(a.materials[a.fluid->liquids[i].material], b.materials[b.fluid->liquids[i].material]);
}

void expectRoundTrip(const Scene& scene) {
  const std::string text = sceneText(scene);
  const Scene again = readScene(SceneDocument::ofProgram(text));
  expectSame(scene, again);
  EXPECT_EQ(sceneText(again), text);
}

TEST(SceneText, EveryPublishedSceneIsReadAsTheSameValues) {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(sourceFolder() / "scenes")) {
    if (entry.path().extension() != ".json") continue;
    SCOPED_TRACE(entry.path().filename().string());
    expectRoundTrip(readScene(entry.path()));
    ++count;
  }
  EXPECT_GT(count, 20u);
}

// It has every block and key.
TEST(SceneText, TheSampleIsReadAsTheSameValues) { expectRoundTrip(sceneOfWords(sampleScene())); }

TEST(SceneText, EveryShapeIsReadAsTheSameValues) {
  expectRoundTrip(sceneOfWords(R"({
    "shapes": {"rock": {"file": "rock.obj", "hash": "00000000000000aa", "scale": 0.1, "solid": {"error": 0.01}},
               "o": {"make": "letters", "with": {"text": "12", "height": "10 cm"}, "as": "hull"}},
    "bodies": [
      {"id": "a", "shape": {"sphere": {"radius": "3 cm"}}, "rotation": {"degrees": [10, 20, 30]}},
      {"id": "b", "shape": {"box": {"size": [0.1, 0.2, 0.7]}}, "rotation": {"axis": [1, 2, 3], "angle": 0.3}},
      {"id": "c", "shape": {"capsule": {"length": 0.3, "radius": 0.1}}},
      {"id": "d", "shape": {"plane": {}}, "kind": "static"},
      {"id": "e", "shape": {"hull": {"points": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, "1 cm"]]}}},
      {"id": "f", "shape": "rock"},
      {"id": "g", "shape": "o", "fracture": {"young": "70 GPa", "poisson": 0.2, "strength": 1e6, "surfaceEnergy": 3}},
      {"id": "h", "shape": {"make": "extrusion", "with": {"outline": "gear", "points": 7}}},
      {"id": "i", "shape": {"field": {"union": [
        {"sphere": {"centre": [0, 1, 0], "radius": 0.1}}, {"box": {"size": [1, 2, 3], "round": 0.1}},
        {"intersection": [{"cylinder": {"from": [0, 0, 0], "to": [0, 1, 0], "radius": 0.2}},
                          {"capsule": {"from": [0, 0, 0], "to": [1, 1, 0], "radius": 0.3}}]},
        {"difference": [{"torus": {"axis": [1, 1, 0], "ring": 1, "tube": 0.2}}, {"ellipsoid": {"radii": [1, 2, 3]}},
                        {"plane": {"normal": [1, 2, 3], "offset": 0.1}}]},
        {"smoothUnion": {"parts": [{"sphere": {"radius": 0.1}}, {"sphere": {"radius": 0.2}}], "width": 0.05}},
        {"offset": {"of": {"sphere": {"radius": 0.1}}, "distance": -0.01}},
        {"shell": {"of": {"sphere": {"radius": 0.1}}, "thickness": 0.01}},
        {"transform": {"of": {"sphere": {"radius": 0.1}}, "position": [1, 0, 0], "rotation": {"degrees": [1, 2, 3]}, "scale": 2}},
        {"noise": {"of": {"sphere": {"radius": 0.1}}, "amplitude": 0.02, "wavelength": 0.1, "octaves": 2, "seed": 9}}
      ]}, "solid": {"cells": 32, "points": 100, "insidePoints": 3}}},
      {"id": "j", "shape": {"make": "torus"}, "cut": [{"normal": [1, 0.3, 0]}]}
    ],
    "joints": [{"id": "each", "kind": "hinge", "b": "j.*", "axis": [1, 2, 3], "limits": ["-10 deg", "20 deg"]}],
    "forces": [{"wind": {"velocity": [1, 2, 3]}, "bodies": ["j.0", "a"]}, {"drag": {"linear": 1}, "bodies": []}],
    "fluid": {"solver": "implicit", "liquids": [{"id": "w", "material": "water", "emitters": [
      {"position": [0, 5, 0], "direction": [1, 2, 3], "size": [0.1, 0.2], "up": [3, 1, 1], "speed": 1}]}]}
  })"));
}

// No number has its default, so that each must be written.
TEST(SceneText, EverySettingIsReadAsTheSameValues) {
  expectRoundTrip(sceneOfWords(R"({
    "title": "all",
    "world": {"gravity": [1, 2, 3], "frameRate": 50, "timeStep": "1/150 s", "substeps": 7, "frames": 9, "seed": 5,
      "sleep": false, "sleepSpeed": 0.3, "sleepTime": 0.7, "bounds": {"lower": [-9, -8, -7], "upper": [7, 8, 9]},
      "solver": {"contactRate": 0.1, "contactDamping": 3, "pushSpeed": 4, "slop": 0.01, "bounceSpeed": 0.2,
        "continuous": false, "contacts": 5, "contactGrowth": 6, "depthTolerance": 0.03, "allContacts": true}},
    "recording": {"keyEvery": 3, "checkpointFrames": 4, "checkpointSeconds": 5, "eventImpulse": 0.6,
      "fields": ["impulse", "asleep"]},
    "materials": {"mine": {"like": "glass", "density": 1, "friction": 0.11, "restitution": 0.12, "rollingFriction": 0.13,
      "young": 1e9, "poisson": 0.31, "strength": 1e5, "toughness": 1e4, "viscosity": 0.2, "surfaceTension": 0.3,
      "colour": [0.1, 0.2, 0.3], "roughness": 0.4, "metallic": 0.5, "transparency": 0.6, "refraction": 1.7, "inside": "oak"}},
    "bodies": [
      {"id": "a", "shape": {"box": {"size": [1, 2, 3]}}, "material": "mine", "position": [1, 2, 3],
       "rotation": {"quaternion": [1, 2, 3, 4]}, "velocity": [4, 5, 6], "angularVelocity": [7, 8, 9], "mass": 11,
       "gravityScale": 0.5, "linearDamping": 0.1, "angularDamping": 0.2, "group": 3, "sleep": false,
       "fracture": {"edge": 0.1, "young": 1e9, "poisson": 0.1, "strength": 1e6, "surfaceEnergy": 5, "cycles": 2,
         "arrest": true, "fine": false, "noise": 0.01, "leastPart": 0.02, "mostCracks": 3}},
      {"id": "b", "shape": {"box": {"size": [1, 1, 1]}},
       "fracture": {"model": "voronoi", "pieces": 7, "impulse": 0.3, "focus": 2}},
      {"id": "c", "shape": {"box": {"size": [1, 1, 1]}}, "kind": "kinematic", "repeat": true, "keyFrames": [
        {"time": 1, "position": [1, 0, 0]}, {"time": 2, "rotation": {"degrees": [0, 50, 0]}}]},
      {"id": "s", "shape": {"box": {"size": [1, 1, 1]}}, "kind": "deformable", "material": "mine", "position": [5, 6, 7],
       "rotation": {"degrees": [10, 20, 30]}, "velocity": [1, 2, 3], "angularVelocity": [4, 5, 6], "gravityScale": 0.5,
       "soft": {"model": "stvk", "young": 3e4, "poisson": 0.4, "density": 900, "massDamping": 0.1, "stiffnessDamping": 0.02,
         "tets": 77, "spheres": 0.03, "selfContact": false, "fibre": {"direction": [1, 2, 3], "young": 2e4},
         "tear": {"strength": 4e4, "surfaceEnergy": 6, "mostSplits": 3},
         "pins": [{"lower": [-1, 0.3, -1], "upper": [1, 1, 1], "repeat": true, "until": 4, "keyFrames": [
                     {"time": 0.5}, {"time": 2, "position": [5, 7, 7], "rotation": {"degrees": [0, 90, 0]}}]},
                  {"lower": [-1, -1, -1], "upper": [1, 0, 1], "body": "a"}],
         "attach": [{"lower": [-1, -1, -1], "upper": [0, 1, 1], "body": "t", "strength": 8, "collide": false},
                    {"lower": [0, -1, -1], "upper": [1, 1, 1], "body": "c"}]}},
      {"id": "t", "shape": {"box": {"size": [1, 1, 1]}}, "kind": "deformable", "material": "mine",
       "soft": {"model": "neo-hookean", "cage": "/cage.vtk", "cageHash": "00000000000000aa", "tear": {}}}],
    "arrays": [{"id": "d", "body": {"shape": {"sphere": {"radius": 0.1}}}, "fill": {"count": 5, "spacing": 0.3,
      "box": {"lower": [0, 0, 0], "upper": [1, 1, 1]}}, "turned": true, "jitter": {"position": [0.1, 0.1, 0.1], "angle": 1}}],
    "joints": [
      {"id": "h", "kind": "hinge", "a": "a", "b": "b", "anchor": [1, 2, 3], "axis": [3, 1, 2], "limits": [-1, 2],
       "motor": {"speed": 3, "torque": 4}, "breakForce": 5, "breakTorque": 6, "collide": true},
      {"id": "r", "kind": "distance", "a": "c", "b": "d[*]", "anchor": [1, 2, 3], "anchorB": [3, 2, 1],
       "relative": true, "slack": true},
      {"id": "f", "kind": "fixed", "b": "a"}],
    "forces": [
      {"id": "w", "wind": {"velocity": [1, 2, 3], "density": 4, "dragCoefficient": 5}, "from": 0.1, "until": 0.2},
      {"gravity": {"acceleration": [1, 2, 3]}, "bodies": ["d[*]"]},
      {"drag": {"linear": 0.1, "angular": 0.2}},
      {"explosion": {"position": [1, 2, 3], "time": 4, "impulse": 5, "radius": 6}},
      {"attractor": {"position": [1, 2, 3], "acceleration": -4, "radius": 5}}],
    "fluid": {"radius": 0.03, "tank": {"lower": [-2, -2, -2], "upper": [2, 2, 2]}, "longestStep": 0.004, "courant": 0.3,
      "offset": 0.4, "friction": 0.2, "noSlip": true, "viscousForces": "full", "boundaries": "particles",
      "periodic": [1, 0, 0], "periodicFrom": [0.5, 0, 0], "densityTolerance": 0.002, "divergenceTolerance": 0.003,
      "solver": "position-based", "iterations": 55, "air": {"density": 2, "velocity": [1, 2, 3]}, "warmStart": "increments",
      "liquids": [{"id": "l", "material": "mine", "viscosity": 0.1, "smoothing": 0.2, "tension": 0.3, "vorticity": 0.4,
        "drag": 0.5,
        "blocks": [{"lower": [0, 0, 0], "upper": [1, 1, 1], "velocity": [1, 2, 3]},
                   {"lower": [0, 0, 0], "upper": [1, 1, 1], "field": {"sphere": {"radius": 0.5}}},
                   {"pour": "b", "level": 0.3, "from": [0, 0.1, 0]}],
        "emitters": [{"position": [1, 2, 3], "direction": [3, 2, 1], "radius": 0.1, "speed": 2, "from": 0.3, "until": 0.4}]}],
      "sinks": [{"lower": [0, 0, 0], "upper": [1, 2, 3]}]}
  })"));
}

// The same run from the text as from the document.
TEST(SceneText, ARunFromTheTextHasTheSameHash) {
  for (const char* name : {"primitives", "cradle", "dominoes"}) {
    const std::filesystem::path file = sourceFolder() / "scenes" / (std::string(name) + ".json");
    World world(readScene(file));
    Scene values = readScene(file);
    values.document = {};
    World again(std::move(values));
    for (int i = 0; i < 5; ++i) world.advance(), again.advance();
    EXPECT_EQ(world.hash(), again.hash()) << name;
  }
}

std::string programRefusal(const Scene& scene) {
  try {
    readyScene(scene);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(SceneText, ErrorsOfProgramsNameThePart) {
  Scene scene;
  BodySpec ball;
  ball.id = "ball";
  ball.shape = scene.addShape(SphereShape{0.1});
  scene.addBody(ball);
  EXPECT_EQ(programRefusal(scene), "");
  const auto with = [&](auto&& change) {
    Scene changed = scene;
    change(changed);
    return programRefusal(changed);
  };
  EXPECT_EQ(with([](Scene& s) { s.bodies[0].shape = 7; }), "body ball: there is no shape 7");
  EXPECT_EQ(with([](Scene& s) { s.bodies[0].material = 700; }), "body ball: there is no material 700");
  EXPECT_NE(with([](Scene& s) { s.bodies[0].mass = -1; }).find("bodies.ball.mass: -1 must be more than 0"),
            std::string::npos);
  EXPECT_NE(with([](Scene& s) { s.bodies[0].pose.position.x() = NAN; }).find("bodies.ball.position"),
            std::string::npos);
  EXPECT_NE(with([](Scene& s) {
              std::get<SphereShape>(s.shapes[0].value).radius = 0;
            }).find("bodies.ball.shape.sphere.radius"),
            std::string::npos);
  EXPECT_EQ(with([](Scene& s) {
              s.joints.push_back({"rope", "", {}, {}});
              s.joints[0].settings.b = rigid::BodyIndex(4);
            }),
            "joint rope: there is no body 4");
  EXPECT_NE(with([](Scene& s) { s.bodies.push_back(s.bodies[0]); }).find("two bodies \"ball\""),
            std::string::npos);
  EXPECT_THROW(scene.materialNamed("stel"), Error);
  EXPECT_THROW(scene.bodyNamed("bal"), Error);
}

TEST(SceneText, AShapeIsComparedByItsValues) {
  Scene scene;
  EXPECT_EQ(scene.addShape(SphereShape{0.1}), 0u);
  EXPECT_EQ(scene.addShape(BoxShape{}), 1u);
  EXPECT_EQ(scene.addShape(SphereShape{0.1}), 0u);
  EXPECT_EQ(scene.addShape(SphereShape{0.2}), 2u);
  const auto identity = [](const std::string& shape) {
    return readyScene(sceneOfWords(R"({"bodies": [{"id": "a", "shape": )" + shape + "}]}"))
        .shapes[0]
        .identity;
  };
  EXPECT_EQ(identity(R"({"sphere": {"radius": "5 cm"}})"), identity(R"({"sphere": {"radius": 0.05}})"));
  EXPECT_NE(identity(R"({"sphere": {"radius": "5 cm"}})"), identity(R"({"sphere": {"radius": 0.06}})"));
}

TEST(SceneText, ALiquidOfAProgramIsPoured) {
  Scene scene;
  FluidSpec& fluid = scene.fluid.emplace();
  fluid.settings.radius = 0.05;
  fluid.tank = Box3{Vec3(-0.5, 0, -0.5), Vec3(0.5, 1, 0.5)};
  fluid.liquids.push_back(liquidOf(scene, "water", scene.materialNamed("water")));
  fluid.liquids[0].blocks.emplace_back().box = Box3{Vec3(-0.5, 0, -0.5), Vec3(0, 0.5, 0.5)};
  World world(scene);
  world.advance();
  EXPECT_GT(liquidsOf(world).fluid()->size(), 100u);
}

}  // namespace
}  // namespace sunder::world
