// Points and rays for `sunder query`, from the command line and from files. Everything that is no finite
// number within 1e37, or is not as many numbers as needed, is an Error that names the option, or file and
// line.
#pragma once

#include "sunder/base/math.h"
#include "sunder/spatial/query/ray_queries.h"

#include <span>
#include <string>
#include <vector>

namespace sunder::cli {

// `inlined`: texts as "x,y,z". `files`: mesh files, of which the vertices count; every other ending is text
// with a point a line, numbers separated by commas or blanks, '#' before comments, and a line of names
// allowed on top. "-" is the standard input.
std::vector<Vec3> readPoints(std::span<const std::string> inlined, std::span<const std::string> files);

// The same with six numbers: origin, then direction, of any length but zero.
std::vector<spatial::Ray> readRays(std::span<const std::string> inlined, std::span<const std::string> files);

}  // namespace sunder::cli
