// The blocks "world" and "recording" of a scene document.
#include "sunder/world/scene/scene_reader.h"

#include <cmath>

#include <fmt/core.h>

namespace sunder::world {

namespace {

void readSolver(const SceneNode& node, rigid::SimulationSettings& sim) {
  sim.contactRate = node.positive("contactRate", kPlain, sim.contactRate);
  sim.contactDamping = node.notNegative("contactDamping", kPlain, sim.contactDamping);
  sim.pushSpeed = node.positive("pushSpeed", kSpeed, sim.pushSpeed);
  sim.slop = node.notNegative("slop", kPlain, sim.slop);
  sim.bounceSpeed = node.notNegative("bounceSpeed", kSpeed, sim.bounceSpeed);
  sim.continuous = node.flag("continuous", sim.continuous);
  sim.selection.firstLimit = static_cast<uint32_t>(node.whole("contacts", sim.selection.firstLimit));
  sim.selection.growth = static_cast<uint32_t>(node.whole("contactGrowth", sim.selection.growth));
  sim.selection.depthTolerance = node.notNegative("depthTolerance", kPlain, sim.selection.depthTolerance);
  sim.selection.full = node.flag("allContacts", sim.selection.full);
}

}  // namespace

void SceneReader::readWorld(const SceneNode& node) {
  WorldSettings& world = scene_.world;
  rigid::SimulationSettings& sim = world.simulation;
  sim.gravity = node.vector("gravity", kAcceleration, sim.gravity);
  world.frameRate = node.positive("frameRate", kRate, 60);
  const double interval = 1 / world.frameRate;
  const double step = node.positive("timeStep", kTime, interval);
  const double steps = std::round(interval / step);
  if (!(steps >= 1) || !(steps <= 1e6) || std::abs(interval / step - steps) > 1e-3 * steps)
    node["timeStep"].fail(
        fmt::format("{:g} s does not divide the {:g} s from frame to frame", step, interval),
        fmt::format("write \"1/{:g} s\", or a whole fraction of it", world.frameRate));
  world.stepsPerFrame = static_cast<uint32_t>(steps);
  sim.timeStep = interval / steps;
  sim.substeps = static_cast<uint32_t>(node.whole("substeps", sim.substeps));
  if (node.has("frames") && node.has("duration"))
    node["frames"].fail("has both \"frames\" and \"duration\"", "give one of them");
  const double frames = node.notNegative("duration", kTime, 5) * world.frameRate;
  if (!(frames <= 1e9)) node["duration"].fail("is more than a billion frames");
  world.frames = node.whole("frames", static_cast<uint64_t>(std::llround(frames)));
  world.seed = node.whole("seed", 1);
  sim.sleep = node.flag("sleep", sim.sleep);
  sim.sleepSpeed = node.positive("sleepSpeed", kSpeed, sim.sleepSpeed);
  sim.sleepTime = node.positive("sleepTime", kTime, sim.sleepTime);
  if (node.has("bounds")) {
    const Box3 box{node["bounds"]["lower"].vector(kLength), node["bounds"]["upper"].vector(kLength)};
    if (box.empty()) node["bounds"].fail("the upper corner must be above the lower one");
    world.bounds = box;
  }
  if (node.has("solver")) readSolver(node["solver"], sim);
}

void SceneReader::readRecording(const SceneNode& node) {
  RecordingSettings& recording = scene_.recording;
  recording.keyEvery = static_cast<uint32_t>(node.whole("keyEvery", recording.keyEvery));
  recording.checkpointFrames = node.whole("checkpointFrames", recording.checkpointFrames);
  recording.checkpointSeconds = node.positive("checkpointSeconds", kTime, recording.checkpointSeconds);
  scene_.world.simulation.eventImpulse = node.notNegative("eventImpulse", kImpulse, 0);
  if (node.has("fields"))
    for (size_t i = 0; i < node["fields"].size(); ++i) {
      const std::string field = node["fields"][i].text();
      (field == "impulse"  ? recording.impulseField
       : field == "asleep" ? recording.asleepField
                           : recording.stressField) = true;
    }
}

}  // namespace sunder::world
