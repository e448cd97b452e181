// The reader and the writer of scenes on random text: a scene or sunder::Error, nothing else. Shapes are not
// built.
#include "sunder/base/error.h"
#include "sunder/world/scene/scene.h"
#include "sunder/world/scene/scene_text.h"

#include <cstdint>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const std::string text(reinterpret_cast<const char*>(data), size);
    sunder::world::Scene scene =
        sunder::world::readScene(sunder::world::SceneDocument::parse(text, "fuzz.json", "/nonexistent"));
    if (scene.bodies.size() >= 1000) return 0;
    scene.resolvedText();
    sunder::world::sceneText(scene);
  } catch (const sunder::Error&) {
  }
  return 0;
}
