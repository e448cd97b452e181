// What the forms of `sunder collide` share, and the one for three and more meshes: each against each.
#pragma once

#include "sunder/base/error.h"
#include "sunder/base/profiler.h"
#include "sunder/geometry/mesh.h"

#include "command.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sunder::cli {

inline constexpr double kBytesAPair =
    40;  // of boxes, twice while they are joined, and of triangles that meet
inline constexpr uint64_t kPairsCounted = 4'000'000'000;

struct CollideOptions {
  std::vector<std::string> meshes;  // one or more
  std::string output, neighbours;
  std::vector<std::string> ends;
  bool self = false;
  double tolerance = 0;
  double budget = 0;      // as given; 0: by default
  uint64_t maxPairs = 0;  // from it

  const std::string& a() const { return meshes.front(); }
  const std::string& b() const { return meshes.at(1); }
};

geometry::TriMesh readTriangles(const std::string& path, const Settings& settings);

// Throws an error of a search again; one of too many pairs in the words of the command. `count`: how many
// there are; 0 where nobody knows.
[[noreturn]] void refusePairs(const Error& error, const std::string& file, uint64_t most, uint64_t count);

int collideMany(const CollideOptions& options, const Settings& settings, Profiler& profiler);

}  // namespace sunder::cli
