// Whether the lists of an asset fit each other: lengths, indices, ranges, finite numbers.
#pragma once

#include "sunder/soft/embed/asset.h"

#include <string>

namespace sunder::soft {

// What is wrong, in one sentence; empty: nothing.
std::string assetProblem(const Asset& asset);

}  // namespace sunder::soft
