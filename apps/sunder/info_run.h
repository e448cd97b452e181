// What `sunder info` says about a recording.
#pragma once

#include "command.h"

#include <string>

namespace sunder::cli {

bool isRunFile(const std::string& path);  // by its ending, or a folder with a recording
int showRun(const std::string& input, bool brief, const Settings& settings);

}  // namespace sunder::cli
