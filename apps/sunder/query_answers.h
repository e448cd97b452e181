// The answers of `sunder query` to one batch of points or rays, as rows.
#pragma once

#include "sunder/geometry/mesh.h"
#include "sunder/spatial/query/mesh_queries.h"
#include "sunder/spatial/query/ray_queries.h"
#include "sunder/spatial/query/winding_number.h"

#include "answer_rows.h"
#include "query.h"

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sunder::cli {

struct QuerySettings {
  std::string question;
  std::string of = "triangles", hits = "first";
  double distance = 0, maxDistance = std::numeric_limits<double>::infinity();
  uint32_t count = 1;
  bool isUnsigned = false, exact = false;

  bool vertices() const { return question == "nearest" && of == "vertices"; }
  bool needsWinding() const { return question == "inside" || (question == "closest" && !isUnsigned); }
};

// The columns of the answers, which depend on the settings.
std::string answerColumns(const QuerySettings& settings);

// What is asked about: made once, then used by every batch.
struct QueryTarget {
  geometry::TriMesh mesh;
  std::vector<uint32_t> face;                     // of the file, by triangle
  spatial::MeshQuery query;                       // not for the nearest vertices
  std::optional<spatial::WindingNumber> winding;  // when the settings need it
};

// Answers a batch whose first point or ray has the number `first`. The time of the search counts as stage
// "query" of the active profiler, that of the rows as "write". Returns for how many there was something to
// find: inside, hit, near.
uint64_t answerPoints(const QuerySettings& settings, const QueryTarget& target, std::span<const Vec3> points,
                      uint64_t first, AnswerRows& rows);
uint64_t answerRays(const QuerySettings& settings, const QueryTarget& target,
                    std::span<const spatial::Ray> rays, uint64_t first, AnswerRows& rows);

}  // namespace sunder::cli
