// Runs a scene that may have a block "swarm": `swarm SCENE RECORDING [--resume]`. Recordings of it are opened
// by `sunder` like all others.
#include "sunder/base/error.h"
#include "sunder/world/run/runner.h"

#include "examples/swarm_part.h"

#include <cstdio>
#include <string>

int main(int count, char** words) {
  if (count < 3) {
    std::fprintf(stderr, "usage: swarm SCENE RECORDING [--resume]\n");
    return 2;
  }
  try {
    sunder::examples::registerSwarm();
    sunder::world::RunOptions options;
    options.file = words[2];
    options.program = "swarm";
    options.resume = count > 3 && std::string(words[3]) == "--resume";
    const sunder::world::RunResult result =
        sunder::world::runScene(sunder::world::readScene(words[1]), options);
    std::printf("%llu frames\n", static_cast<unsigned long long>(result.frames));
  } catch (const sunder::Error& error) {
    std::fprintf(stderr, "swarm: error: %s\n", error.what());
    return 2;
  }
  return 0;
}
