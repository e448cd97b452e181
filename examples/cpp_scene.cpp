// A world without a scene file: a stack of bricks that a ball hits. `cpp_scene RECORDING [FRAMES]` simulates
// 60 frames, or as many as are asked for; what `sunder` does with recordings of scene files it does with this
// one.
#include "sunder/base/error.h"
#include "sunder/world/run/runner.h"

#include <cstdio>
#include <cstdlib>
#include <string>

using namespace sunder;
using namespace sunder::world;

namespace {

Scene stackAndBall() {
  Scene scene;
  scene.title = "A ball hits a stack";
  scene.world.frames = 60;
  const uint32_t brick = scene.addShape(BoxShape{Vec3(0.2, 0.1, 0.2)}, "brick");

  BodySpec ground;
  ground.id = "ground";
  ground.shape = scene.addShape(PlaneShape{});
  ground.kind = rigid::BodyKind::Static;
  ground.material = scene.materialNamed("concrete");
  scene.addBody(ground);

  for (int i = 0; i < 6; ++i) {
    BodySpec body;
    body.id = "brick " + std::to_string(i);
    body.shape = brick;
    body.material = scene.materialNamed("brick");
    body.pose.position = Vec3(0, 0.05 + 0.1 * i, 0);
    scene.addBody(body);
  }

  BodySpec ball;
  ball.id = "ball";
  ball.shape = scene.addShape(SphereShape{0.1});
  ball.material = scene.materialNamed("steel");
  ball.pose.position = Vec3(-1, 0.4, 0);
  ball.velocity = Vec3(6, 0, 0);
  scene.addBody(ball);
  return scene;
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) {
    std::fprintf(stderr, "usage: cpp_scene RECORDING [FRAMES]\n");
    return 2;
  }
  try {
    Scene scene = stackAndBall();
    if (count > 2) scene.world.frames = std::strtoull(words[2], nullptr, 10);
    RunOptions options;
    options.file = words[1];
    options.program = "cpp_scene";
    options.replace = true;
    const RunResult result = runScene(std::move(scene), options);
    std::printf("%llu frames, hash %016llx\n", static_cast<unsigned long long>(result.frames),
                static_cast<unsigned long long>(result.hash.value_or(0)));
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return exitCode(error.kind());
  }
}
