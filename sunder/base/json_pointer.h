// JSON pointers, "/bodies/0/mass": a place in a JSON value (RFC 6901).
#pragma once

#include "sunder/base/json.h"

#include <string>
#include <string_view>
#include <vector>

namespace sunder {

// A key as a step of a pointer, with its slash: "a/b" is "/a~1b".
std::string jsonPointerStep(std::string_view key);

// The keys and indices of a pointer, from the root; of "" none.
std::vector<std::string> splitJsonPointer(std::string_view pointer);

// The value that a pointer leads to from `root`; nullptr where there is none.
const Json* findAt(const Json& root, std::string_view pointer);

}  // namespace sunder
