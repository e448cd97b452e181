// Whether a surface is closed, counted edge by edge: what tests of pieces ask of their surfaces.
#pragma once

#include "sunder/geometry/mesh.h"

#include <map>
#include <set>
#include <utility>

namespace sunder::geometry {

struct Closedness {
  size_t open = 0;  // edges that are not shared by exactly two triangles, once each way
  long euler = 0;   // vertices - edges + faces
};

inline Closedness closedness(const TriMesh& mesh) {
  std::map<std::pair<uint32_t, uint32_t>, int> edges;
  std::set<uint32_t> used;
  for (const auto& t : mesh.triangles)
    for (size_t k = 0; k < 3; ++k) {
      ++edges[{t[k], t[(k + 1) % 3]}];
      used.insert(t[k]);
    }
  Closedness c;
  for (const auto& [edge, count] : edges) {
    const auto back = edges.find({edge.second, edge.first});
    if (count != 1 || back == edges.end() || back->second != 1) ++c.open;
  }
  c.euler = long(used.size()) - long(edges.size()) / 2 + long(mesh.triangles.size());
  return c;
}

}  // namespace sunder::geometry
