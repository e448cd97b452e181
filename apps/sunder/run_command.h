// Simulating a scene, for the verbs that do.
#pragma once

#include "command.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sunder::cli {

struct RunCommand {
  std::string input, output, memory, inputs;
  std::vector<std::string> set;
  uint64_t frames = 0, from = 0;
  bool framesGiven = false, fromGiven = false, inputsGiven = false, resume = false, force = false,
       hash = false, strict = false;
  bool view = false;  // show it while it runs
  int port = 8321;
};

int runScene(const RunCommand& command, const Settings& settings);

}  // namespace sunder::cli
