#include "sunder/soft/cage/cage.h"

#include "sunder/base/error.h"
#include "sunder/geometry/tet_mesh.h"

#include <fmt/format.h>

namespace sunder::soft {

Cage makeCage(geometry::TetMesh rest) {
  if (rest.tets.empty()) throw Error(ErrorKind::Geometry, "the cage has no tetrahedra");
  geometry::requireValid(rest);
  for (size_t t = 0; t < rest.tets.size(); ++t) {
    const geometry::Tetrahedron& tet = rest.tets[t];
    double longest = 0;
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < a; ++b)
        longest = std::max(longest, (rest.positions[tet[a]] - rest.positions[tet[b]]).norm());
    const double volume = geometry::signedVolume(rest.positions[tet[0]], rest.positions[tet[1]],
                                                 rest.positions[tet[2]], rest.positions[tet[3]]);
    if (volume >= 1e-12 * longest * longest * longest && longest > 0) continue;
    throw Error(ErrorKind::Geometry,
                fmt::format("tetrahedron {} of the cage is {}: volume {:.3g}, longest edge {:.3g}", t,
                            volume < 0 ? "inverted" : "flat", volume, longest));
  }
  Cage cage{std::move(rest)};
  cage.neighbours = geometry::tetNeighbours(cage.rest);
  return cage;
}

}  // namespace sunder::soft
