#include "sunder/world/scene/scene_sample.h"

#include <array>

namespace sunder::world {

namespace {

constexpr const char* kTitle = R"(  // One line for people.
  "title": "Every block of a scene")";

constexpr const char* kInclude =
    R"(  // Scene files to take in first, relative to this one. Keys here replace theirs; lists are appended to theirs.
  "include": [])";

constexpr const char* kWorld =
    R"(  // What holds for everything. Plain numbers are SI; a string may have a unit: "20 cm", "45 deg", "7.8 g/cm3".
  "world": {
    "gravity": [0, -9.81, 0],     // m/s^2; y is up
    "frameRate": 60,              // frames recorded a second
    "timeStep": "1/120 s",        // a whole fraction of the time between frames; default: that time
    "substeps": 4,                // solver substeps of a time step: more for high stacks of small things
    "duration": "2 s",            // or "frames": 120; default: 5 s
    "seed": 1,                    // of everything random
    "sleep": true,                // bodies at rest stop being computed
    "sleepSpeed": "2 cm/s",       // slower than this ...
    "sleepTime": "0.5 s",         // ... for so long
    "bounds": {"lower": [-50, -10, -50], "upper": [50, 50, 50]},  // bodies that leave it are removed
    "solver": {
      "contactRate": 0.2,         // of the contact springs, as a part of the rate of substeps
      "contactDamping": 2,        // their damping ratio
      "pushSpeed": "3 m/s",       // the fastest push
      "slop": 0.0005,             // part of the smaller body's radius that may overlap at rest
      "bounceSpeed": "5 cm/s",    // slower approaches do not bounce
      "continuous": true,         // stop fast bodies at what they would pass through
      "contacts": 8,              // of a pair and direction, before depth decides about more
      "contactGrowth": 1,         // how many more a step where points stay too deep
      "depthTolerance": 0.002,    // part of the smaller body's radius that counts as too deep
      "allContacts": false        // true: no selection, every touching point is a contact
    }
  })";

constexpr const char* kMaterials =
    R"(  // Materials by name, beside the built-in ones: glass, concrete, porcelain, plaster, limestone, granite, brick,
  // oak, pine, cork, steel, aluminium, lead, rubber, plastic, ice, water.
  "materials": {
    "bottle-glass": {
      "like": "glass",            // values that are not given are those of this one, all of them
      "density": "2.6 g/cm3",
      "friction": 0.4,            // of two that touch the geometric mean counts
      "restitution": 0.6,         // of two that touch the larger counts
      "rollingFriction": "0 mm",  // lever arm that resists rolling
      "young": "70 GPa",          // of all that follow up to surfaceTension 0 means: not known
      "poisson": 0.22,
      "strength": "40 MPa",       // largest principal stress before a crack starts
      "toughness": "0.77 MPa m^0.5",  // of this and the next one is enough: G = K^2 (1 - poisson^2) / young
      "surfaceEnergy": "8 J/m2",  // of a new crack, both sides together
      "viscosity": "0 m2/s",      // kinematic; of liquids
      "surfaceTension": "0 N/m",
      "colour": [0.2, 0.5, 0.3],  // red, green, blue from 0 to 1
      "roughness": 0.05,          // 0 a mirror, 1 chalk
      "metallic": 0,
      "transparency": 0.9,
      "refraction": 1.52,
      "inside": "glass"           // what faces that breaking or cutting makes look like; default: the material itself
    }
  })";

constexpr const char* kShapes =
    R"(  // Shapes by name, each of one kind. Bodies may also describe a shape in place.
  "shapes": {
    "ball": {"sphere": {"radius": "5 cm"}},
    "brick": {"box": {"size": ["20 cm", "6 cm", "10 cm"]}},
    "pill": {"capsule": {"length": 0.1, "radius": 0.03}},   // along y; the length is that of the straight part
    "floor": {"plane": {}},                                 // everything below y = 0; not for dynamic bodies
    "gem": {"hull": {"points": [[0, 0.05, 0], [0.05, 0, 0], [-0.05, 0, 0.04], [-0.05, 0, -0.04], [0, -0.05, 0]]}},
    "tetra": {"make": "icosphere", "with": {"radius": "4 cm", "frequency": 2}, "scale": 1, "as": "hull"},
    // "as" is "solid", the mesh as it is, or "hull". A mesh file: {"file": "rock.obj", "scale": 0.01}
    // "hash": recordings add it, so that a changed file is noticed.
    "ring": {
      "make": "torus",            // 'sunder describe shapes' lists the procedural shapes
      "with": {"radius": 0.1, "tube": 0.03},
      "solid": {"error": 0.005, "points": 400, "insidePoints": 20}  // how exactly it is represented
    },
    "dented": {
      // A solid by formulas. Leaves: sphere, box, cylinder, capsule, torus, ellipsoid, plane. Combinations: union,
      // intersection, difference (lists), smoothUnion, offset, shell, transform, noise.
      "field": {"difference": [
        {"box": {"centre": [0, 0, 0], "size": [0.2, 0.2, 0.2], "round": 0.02}},
        {"transform": {"of": {"sphere": {"radius": 0.08}}, "position": [0, 0.12, 0], "rotation": {"degrees": [0, 0, 0]}, "scale": 1}}
      ]},
      "solid": {"error": 0.01, "points": 300, "cells": 64}
    },
    "trough": {
      "field": {"difference": [
        {"box": {"size": [0.5, 0.3, 0.7]}},
        {"box": {"centre": [0, 0.1, 0], "size": [0.3, 0.3, 0.5]}}
      ]}
    }
  })";

constexpr const char* kBodies = R"(  // The bodies, one by one.
  "bodies": [
    {"id": "ground", "shape": "floor", "kind": "static", "material": "concrete"},
    {
      "id": "first",              // a name that no other body has
      "shape": "ball",
      "material": "steel",        // default: "default", 1000 kg/m^3
      "kind": "dynamic",          // or "static", "kinematic", "deformable"
      "position": [0, "50 cm", 0],
      "rotation": {"axis": [0, 1, 0], "angle": "45 deg"},  // or {"degrees": [x, y, z]}, {"quaternion": [w, x, y, z]}
      "velocity": [1, 0, 0],      // m/s, of the centre of mass
      "angularVelocity": [0, 0, "-60 rpm"],
      "mass": "500 g",            // instead of the material's density
      "gravityScale": 1,
      "linearDamping": 0,         // 1/s
      "angularDamping": 0,
      "group": 0,                 // bodies of one group, other than 0, do not touch each other
            "sleep": true
    },
    {
      "id": "cup",
      "shape": "ring",
      "material": "porcelain",
      "position": [0.9, 0.6, 0],
      "fracture": {               // it may break; {} takes all from the material
        "edge": "1.4 cm",          // of its tetrahedra
        "strength": "30 MPa",     // instead of the material's; also "young", "poisson", "surfaceEnergy"
        "cycles": 1,              // of refinement while an impact is analysed
        "noise": "1 mm",          // how far cracks leave their planes
        "arrest": false,          // true: cracks stop when the energy is spent
        "fine": true,             // false: pieces are shown as coarse as the tetrahedra
        "leastPart": 0.001        // smaller pieces stay with a neighbour
      }
    },
    {"id": "ring", "shape": "ring", "material": "bottle-glass", "position": [0.6, 0.2, 0]},
        {"id": "plain", "shape": "brick", "position": [0, 0.8, -0.6],
      "fracture": {"model": "voronoi", "pieces": 8, "impulse": "0.2 N s", "focus": 1}},  // without stress, as games do
    {"id": "halves", "shape": {"make": "torus", "scale": 0.1}, "position": [1.2, 0.3, 0],
      "cut": [{"point": [0, 0, 0], "normal": [1, 0.2, 0]}]},  // bodies "halves.0" and "halves.1" instead
    {"id": "dented", "shape": "dented", "position": [-0.6, 0.3, 0]},
    {"id": "trough", "shape": "trough", "kind": "static", "position": [3.8, 0.15, 0]},
    {
      "id": "jelly",
      "shape": {"box": {"size": ["10 cm", "10 cm", "10 cm"]}},
      "kind": "deformable",       // its surface lives in a coarse cage of tetrahedra
      "position": [-1.5, 0.2, 1],
      "soft": {
        "model": "corotated",     // or "neo-hookean" for large stretches; "stvk", "linear" for comparison
        "young": "20 kPa",        // instead of the material's; so are the next two
        "poisson": 0.45,          // below 0.5
        "density": "1050 kg/m3",
        "massDamping": 0.1,       // 1/s
        "stiffnessDamping": "2 ms",
        "tets": 60,               // that the cage should have; or "cage": a file of them ("cageHash": recordings add it)
        "spheres": "2 cm",        // from one collision sphere to the next; default: 0.4 of the cage's edges
        "selfContact": true,      // its parts touch each other
        "fibre": {"direction": [0, 1, 0], "young": "5 kPa"},  // stiffer along it
        "tear": {
          "strength": "30 kPa",   // instead of the material's; so is the next one
          "surfaceEnergy": "5 J/m2",
          "mostSplits": 16        // vertices that part in one step
        },
        "pins": [                 // vertices of the cage in a box of the shape's coordinates
          {
            "lower": [-0.1, 0.03, -0.1],
            "upper": [0.1, 0.1, 0.1],
            "keyFrames": [        // a grip; "body": a rigid body holds them; neither: they stay where they are
              {"time": 0},
              {"time": "1 s", "position": [-1.5, 0.23, 1]}
            ],
            "repeat": false,
            "until": "1.5 s"      // then it lets go
          }
        ],
        "attach": [{"lower": [-0.1, -0.1, -0.1], "upper": [0.1, -0.03, 0.1], "body": "base", "strength": "5 N", "collide": true}]
      }
    },
    {"id": "base", "shape": "brick", "kind": "static", "position": [-1.5, 0.12, 1]},
    {
      "id": "paddle",
      "shape": "brick",
      "kind": "kinematic",        // moves by its key frames, whatever it meets
      "keyFrames": [
        {"time": 0, "position": [0, 0.2, 1]},
        {"time": "1 s", "position": [0.3, 0.2, 1], "rotation": {"degrees": [0, 90, 0]}},
        {"time": "2 s", "position": [0, 0.2, 1], "rotation": {"degrees": [0, 0, 0]}}
      ],
      "repeat": true
    }
  ])";

constexpr const char* kArrays = R"(  // Many bodies at once: id[0], id[1], ... Exactly one pattern each.
  "arrays": [
    {
      "id": "wall",
      "body": {"shape": "brick", "material": "brick"},
      "grid": {"count": [3, 2, 1], "spacing": [0.21, 0.061, 0.11]},  // centred in x and z, upwards in y
      "position": [0, 0.031, -1],
      "rotation": {"degrees": [0, 0, 0]},
      "jitter": {"position": [0.001, 0, 0.001], "angle": "0 deg"}    // random, from the seed
    },
    {"id": "circle", "body": {"shape": "pill"}, "ring": {"count": 5, "radius": 1.5}, "position": [0, 0.1, 0]},
    {
      "id": "dominoes",           // on a spiral x points outwards, z along it
      "body": {"shape": {"box": {"size": ["5 cm", "10 cm", "1 cm"]}}, "material": "oak"},
      "spiral": {"count": 6, "radius": 2, "growth": 0.3, "rise": 0, "spacing": "6 cm"},
      "position": [0, 0.05, 0]
    },
    {"id": "tower", "body": {"shape": "brick"}, "stack": {"count": 3, "height": 0.061, "turn": "90 deg"}, "position": [2, 0.031, 2]},
    {
      "id": "pile",
      "body": {},
      "shapes": ["ball", "gem", "tetra"],      // taken in turn
      "materials": ["porcelain", "rubber"],
      "fill": {"count": 10, "box": {"lower": [-0.3, 1, -0.3], "upper": [0.3, 3, 0.3]}, "spacing": 0.15},
      "turned": true              // each in a random direction
    },
    {"id": "name", "body": {"material": "plastic"}, "letters": {"text": "OK", "height": 0.2, "depth": 0.05, "gap": 0.03}, "position": [-2, 0.001, 0]}
  ])";

constexpr const char* kJoints =
    R"(  // What holds bodies together, or to the world where "a" is not given. Anchors and axes are in the world's frame.
  "joints": [
    {
      "id": "rope",
      "kind": "distance",         // or "fixed", "ball", "hinge"
      "b": "first",               // with *, as in "pile[*]", a joint for each that fits
      "anchor": [0, 0.5, 0],      // on a
      "anchorB": [0, 0, 0],       // on b; default: its position
      "relative": true,           // anchors count from the position of b
      "slack": true,              // may become shorter
      "breakForce": "1 kN",
      "collide": false            // whether a and b touch each other
    },
    {
      "id": "door",
      "kind": "hinge",
      "a": "wall[0]",
      "b": "wall[1]",
      "anchor": [0, 0, 0],
      "relative": true,
      "axis": [0, 1, 0],
      "limits": ["-90 deg", "90 deg"],
      "motor": {"speed": "30 rpm", "torque": "0.1 N m"},
      "breakTorque": "20 N m"
    }
  ])";

constexpr const char* kForces = R"(  // What acts besides contacts and the world's gravity; one kind each.
  "forces": [
    {"id": "breeze", "wind": {"velocity": [3, 0, 0], "density": 1.2, "dragCoefficient": 0.5}, "bodies": ["pile[*]"], "from": 0.5, "until": "1 s"},
    {"gravity": {"acceleration": [0, -1.62, 0]}, "bodies": ["ring"]},                    // in place of the world's
    {"drag": {"linear": 0.1, "angular": 0.1}, "bodies": ["first"]},                      // 1/s
    {"explosion": {"position": [0, 0, -1], "time": "1 s", "impulse": "0.5 N s", "radius": 0.5}},
    {"attractor": {"position": [0, 1, 0], "acceleration": 1, "radius": 1}, "bodies": ["pile[*]"]}
  ])";

constexpr const char* kFluid =
    R"(  // Liquids, as particles of one size. All bodies are boundaries, float and are pushed.
  "fluid": {
    "radius": "2 cm",             // of particles
    "tank": {"lower": [3, 0, -0.4], "upper": [4.2, 1, 0.4]},  // a closed box, if there is to be one
    "longestStep": "5 ms",        // a shorter one follows from the speed:
    "courant": 0.4,               // diameters that the fastest particle may go in a step
    "offset": 0.5,                // how far liquids come up to walls, in supports of the kernel; thin walls need less
    "friction": 0,                // on all bodies
    "noSlip": false,              // whether viscous liquids stick to all bodies
    "viscousForces": "central",   // keep angular momentum; "full" is right in flows that go in layers too
    "boundaries": "maps",         // or "particles" on the surfaces of bodies, for comparison
    "periodic": [0, 0, 0],        // lengths after which a liquid repeats itself, from "periodicFrom" on; 0: it ends
    "periodicFrom": [0, 0, 0],    // bodies are not repeated; a tank has no walls there
    "densityTolerance": 1e-4,     // mean compression that a step leaves
    "divergenceTolerance": 1e-3,
    "solver": "divergence-free",  // for comparison: "implicit", "position-based", "predictive-corrective"
    "iterations": 100,            // of a solver in a step, at most
    "air": {"density": 1.2, "velocity": [0, 0, 0]},  // drags at what has a "drag"
    "warmStart": "half",          // or "increments" (fewer iterations), "none"
    "liquids": [
      {
        "id": "water",
        "material": "water",      // density, viscosity and look
        "viscosity": "1 mm2/s",   // kinematic, instead of the material's; thick liquids are solved implicitly
        "smoothing": 0.01,        // XSPH
        "tension": 0,
        "vorticity": 0,           // m2/s by which eddies stir: what smoothing and coarse particles take away
        "drag": 0.47,             // of the air, on drops
        "blocks": [
          {"lower": [3, 0, -0.4], "upper": [3.4, 0.4, 0.4], "velocity": [0, 0, 0]},
          {"field": {"sphere": {"centre": [3.8, 0.5, 0], "radius": 0.12}}},  // the inside of a field
          {"pour": "trough", "level": "20 cm"}  // into a body; "from": a point inside, if it is not open at the top
        ],
        "emitters": [
          {"position": [3.2, 0.8, 0], "direction": [1, 0, 0], "radius": "6 cm", "speed": "1 m/s", "from": 0.2, "until": "0.5 s"}
        ]
      }
    ],
    "sinks": [{"lower": [4.1, 0, -0.4], "upper": [4.2, 0.05, 0.4]}]  // particles in them are taken away
  })";

constexpr const char* kRecording = R"(  // What goes into run.sunder.
  "recording": {
    "keyEvery": 30,               // frames from one full frame to the next: what seeking costs
    "checkpointFrames": 300,      // a checkpoint every so many frames ...
    "checkpointSeconds": 30,      // ... and at the latest after so many seconds of waiting
    "eventImpulse": "0.1 N s",    // contacts at or above become events; 0: none
    "fields": ["impulse", "asleep"]  // numbers for every body and frame; "stress": of deformable bodies, Pa
  })";

constexpr std::array<SampleBlock, 11> kBlocks{{{"title", "one line for people", kTitle},
                                               {"include", "other scene files to take in", kInclude},
                                               {"world", "gravity, time, length of the run, solver", kWorld},
                                               {"materials", "what bodies are made of", kMaterials},
                                               {"shapes", "what bodies look like", kShapes},
                                               {"bodies", "the bodies, one by one", kBodies},
                                               {"arrays", "many bodies in a pattern", kArrays},
                                               {"joints", "what holds bodies together", kJoints},
                                               {"forces", "wind, drag, explosions, attractors", kForces},
                                               {"fluid", "liquids, where they start and come in", kFluid},
                                               {"recording", "what is recorded, and how often", kRecording}}};

}  // namespace

std::span<const SampleBlock> sampleBlocks() { return kBlocks; }

std::string sampleScene() {
  std::string text = "{\n";
  for (size_t i = 0; i < kBlocks.size(); ++i) {
    text += kBlocks[i].text;
    text += i + 1 < kBlocks.size() ? ",\n\n" : "\n";
  }
  return text + "}\n";
}

}  // namespace sunder::world
