// The loader of a world's state: bytes of the input are written over a state of a small world with brittle
// bodies, a joint and a liquid. The result is refused with sunder::Error, or can be hashed and shown. Steps
// are left out: a state that is allowed may take long to go on from.
#include "sunder/base/error.h"
#include "sunder/world/world.h"

#include <cstdint>
#include <cstring>
#include <string>

using namespace sunder::world;

namespace {

const char* const kScene = R"({
  "world": {"frames": 60, "timeStep": "1/120 s", "seed": 3},
  "shapes": {"bar": {"box": {"size": ["40 cm", "4 cm", "6 cm"]}}},
  "bodies": [
    {"id": "ground", "shape": {"plane": {}}, "kind": "static", "material": "concrete"},
    {"id": "bar", "shape": "bar", "material": "oak", "position": [0.5, 0.03, 0], "velocity": [0, -3, 0],
     "fracture": {"model": "voronoi", "pieces": 4, "impulse": "0.1 N s", "edge": "4 cm"}},
    {"id": "arm", "shape": {"box": {"size": [0.3, 0.02, 0.02]}}, "position": [-1.15, 0.5, 0]}
  ],
  "joints": [{"id": "pin", "kind": "hinge", "b": "arm", "anchor": [-1, 0.5, 0], "axis": [0, 0, 1]}],
  "fluid": {"radius": "5 cm", "tank": {"lower": [2, 0, 0], "upper": [2.4, 1, 0.3]},
            "liquids": [{"id": "water", "blocks": [{"lower": [2, 0, 0], "upper": [2.4, 0.2, 0.3]}]}]}
})";

struct Sample {
  World world{readScene(SceneDocument::parse(kScene, "scene.json", ".", {}))};
  std::string state;

  Sample() {
    for (int i = 0; i < 4; ++i) world.advance();
    state = world.save();
  }
};

}  // namespace

// The input: bits of the first byte say whether the state is cut or made longer; then a place (4 bytes), how
// many bytes (1 byte), and these bytes, again and again.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Sample& sample = *new Sample;
  if (size == 0) return 0;
  std::string state = sample.state;
  const uint8_t mode = data[0];
  size_t at = 1;
  while (at + 5 <= size) {
    uint32_t place = 0;
    std::memcpy(&place, data + at, 4);
    const size_t count = std::min<size_t>(data[at + 4], size - at - 5);
    at += 5;
    place %= uint32_t(state.size());
    std::memcpy(state.data() + place, data + at, std::min(count, state.size() - place));
    at += count;
    if ((mode & 1) != 0 && at + 5 > size) state.resize(place);
  }
  if ((mode & 2) != 0) state.append(reinterpret_cast<const char*>(data), size);
  try {
    sample.world.load(state, "state");
    (void)sample.world.hash();
    (void)sample.world.states();
    (void)sample.world.points();
  } catch (const sunder::Error&) {
  }
  return 0;
}
