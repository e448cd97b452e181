// States of a world with any of their numbers changed: as in a recording whose checkpoint was damaged and
// given the right hashes again. Each is refused with an Error, or is a state from which a frame can be made,
// or ends in a step that is not finite. Memory stays within what the scene needs, and the bytes of the state.
#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/base/hash.h"
#include "sunder/world/world.h"

#include "world/hostile_numbers.h"

#include <limits>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace sunder::world {
namespace {

// Stress, Voronoi cells, joints, a body that follows key frames, and one that sleeps.
const char* kBrittle = R"({
  "world": {"frames": 60, "timeStep": "1/120 s", "seed": 3},
  "shapes": {"bar": {"box": {"size": ["40 cm", "4 cm", "6 cm"]}}},
  "bodies": [
    {"id": "ground", "shape": {"plane": {}}, "kind": "static", "material": "concrete"},
    {"id": "block", "shape": {"box": {"size": [0.1, 0.2, 0.3]}}, "kind": "static", "material": "steel", "position": [0, 0.1, 0]},
    {"id": "low", "shape": "bar", "material": "porcelain", "position": [0.02, 0.24, 0], "velocity": [0, -6, 0], "fracture": {"edge": "4 cm"}},
    {"id": "plain", "shape": "bar", "material": "oak", "position": [0.5, 0.03, 0], "velocity": [0, -3, 0],
     "fracture": {"model": "voronoi", "pieces": 4, "impulse": "0.1 N s", "edge": "4 cm"}},
    {"id": "ball", "shape": {"sphere": {"radius": 0.05}}, "position": [1, 0.05, 0]},
    {"id": "arm", "shape": {"box": {"size": [0.3, 0.02, 0.02]}}, "position": [2.15, 0.5, 0]},
    {"id": "weight", "shape": "bar", "position": [0.02, 0.4, 0]}
  ],
  "joints": [{"id": "pin", "kind": "hinge", "b": "arm", "anchor": [2, 0.5, 0], "axis": [0, 0, 1]},
             {"id": "string", "kind": "distance", "a": "low", "b": "weight", "anchor": [0.02, 0.24, 0], "anchorB": [0.02, 0.4, 0]}]
})";

const char* kWet = R"({
  "world": {"frames": 30, "frameRate": 60, "timeStep": "1/120 s", "seed": 3},
  "bodies": [
    {"id": "light", "shape": {"sphere": {"radius": "8 cm"}}, "material": "oak", "position": [0.2, 0.2, 0.15]},
    {"id": "floor", "shape": {"plane": {}}, "kind": "static"}
  ],
  "fluid": {
    "radius": "3 cm",
    "tank": {"lower": [0, 0, 0], "upper": [0.4, 1, 0.3]},
    "liquids": [{"id": "water", "blocks": [{"lower": [0, 0, 0], "upper": [0.4, 0.2, 0.3]}],
                 "emitters": [{"position": [0.2, 0.6, 0.15], "direction": [0, -1, 0], "radius": "5 cm", "speed": 2, "until": 0.2}]}]
  }
})";

// A soft body in water.
const char* kSoftInWater = R"({
  "world": {"frames": 30, "frameRate": 60, "timeStep": "1/120 s", "seed": 3},
  "materials": {"jelly": {"density": 700, "young": "20 kPa", "poisson": 0.45}},
  "bodies": [
    {"id": "floor", "shape": {"plane": {}}, "kind": "static"},
    {"id": "jelly", "kind": "deformable", "shape": {"box": {"size": [0.15, 0.12, 0.15]}}, "material": "jelly",
     "position": [0.2, 0.22, 0.15], "soft": {"tets": 20}}
  ],
  "fluid": {
    "radius": "3 cm",
    "tank": {"lower": [0, 0, 0], "upper": [0.4, 1, 0.3]},
    "liquids": [{"id": "water", "blocks": [{"lower": [0, 0, 0], "upper": [0.4, 0.2, 0.3]}]}]
  }
})";

uint64_t peakKilobytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return uint64_t(usage.ru_maxrss);
}

struct Tally {
  size_t tried = 0, refused = 0, diverged = 0, stepped = 0;
};

// Changes one number of the state in every way, at every `stride`-th byte from `first` on.
Tally tryStates(const char* text, int frames, size_t first, size_t stride) {
  World world(readScene(SceneDocument::parse(text, "scene.json", ".", {})));
  for (int i = 0; i < frames; ++i) world.advance();
  const std::string state = world.save();
  const uint64_t hash = world.hash();
  const uint64_t before = peakKilobytes();
  Tally tally;
  const auto attempt = [&](const std::string& hostile) {
    ++tally.tried;
    try {
      world.load(hostile, "state");
    } catch (const Error& error) {
      EXPECT_TRUE(error.kind() == ErrorKind::Format || error.kind() == ErrorKind::Unsupported)
          << error.what();
      ++tally.refused;
      return;
    }
    try {
      (void)world.hash();
      world.advance();
      (void)world.states();
      (void)world.points();
      ++tally.stepped;
    } catch (const Error&) {
      ++tally.diverged;
    }
  };
  for (size_t at = first; at < state.size(); at += stride) {
    SCOPED_TRACE(at);
    for (size_t kind = 0; kind < kHostileChanges; ++kind) attempt(hostileChange(state, at, kind));
  }
  attempt(state + "x");
  world.load(state, "state");
  EXPECT_EQ(world.hash(), hash);
  EXPECT_LT(peakKilobytes(), before + (uint64_t(1) << 20));
  EXPECT_GT(tally.refused, tally.tried / 10);
  return tally;
}

TEST(HostileState, OfBrittleBodies) { tryStates(kBrittle, 4, 0, 701); }
TEST(HostileState, OfLiquids) { tryStates(kWet, 6, 0, 211); }
TEST(HostileState, OfSoftBodiesInLiquids) { tryStates(kSoftInWater, 4, 0, 1901); }

TEST(HostileStateFull, OfBrittleBodies) { tryStates(kBrittle, 4, 0, 4); }
TEST(HostileStateFull, OfBrittleBodiesBetweenNumbers) { tryStates(kBrittle, 30, 1, 17); }
TEST(HostileStateFull, OfLiquids) { tryStates(kWet, 6, 0, 3); }
TEST(HostileStateFull, OfSoftBodiesInLiquids) { tryStates(kSoftInWater, 4, 0, 44); }

TEST(HostileState, NumbersThatAreNotFiniteAreRefused) {
  World world(readScene(SceneDocument::parse(kWet, "scene.json", ".", {})));
  for (int i = 0; i < 3; ++i) world.advance();
  const std::string state = world.save();
  // The last number is an impulse of the fluid.
  for (const double value :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    EXPECT_THROW(world.load(withNumber(state, state.size() - 8, value), "state"), Error);
  EXPECT_NO_THROW(world.load(state, "state"));
}

}  // namespace
}  // namespace sunder::world
