// Broken cubes for tests of fragments.
#pragma once

#include "sunder/base/random.h"
#include "sunder/fracture/crack/crack.h"
#include "sunder/fracture/pieces/fragment_shape.h"
#include "sunder/sdf/analytic_field.h"
#include "sunder/sdf/mesh_field.h"

#include "tet/tet_cases.h"

#include <algorithm>

namespace sunder::fracture {

using FlatCracks = FlatPieces;

// A cube of side 1 at the origin, n^3 cells of six tetrahedra, inner points moved by up to a fifth of a cell.
inline RestMeshPtr cubeMesh(uint32_t n, uint64_t seed = 5, FlatCracks flat = FlatCracks::Polygons) {
  geometry::TetMesh mesh = tet::cubes(n, true, 0.2, seed);
  for (Vec3& p : mesh.positions) p /= n;
  return std::make_shared<RestMesh>(std::move(mesh), sdf::makeBoxField({Vec3::Zero(), Vec3::Ones()}),
                                    FieldErrors{}, flat);
}

struct Piece {
  Fragment fragment;
  CrackedMesh mesh;
};

struct Broken {
  RestMeshPtr rest;
  std::vector<Piece> pieces;
  uint32_t ids = 0, cracks = 0;

  explicit Broken(RestMeshPtr r) : rest(std::move(r)) {
    pieces.push_back({makeWhole(rest, ids++), CrackedMesh(rest->mesh())});
  }

  // The dissection of a piece wherever the crack passes first; false where it misses the piece.
  bool dissected(size_t piece, const CrackFunction& function, Dissection& out,
                 double mostArea = Box3::kInfinity) {
    const CrackedMesh& mesh = pieces[piece].mesh;
    const auto cells = cellsOf(mesh);
    const auto links = linksOf(mesh, cells);
    const auto values = crackValues(mesh.mesh, function);
    std::vector<Mark> marks;
    for (uint32_t t = 0; t < mesh.size() && marks.empty(); ++t) {
      const auto [low, high] =
          std::minmax_element(mesh.mesh.tets[t].begin(), mesh.mesh.tets[t].end(),
                              [&](uint32_t a, uint32_t b) { return values[a] < values[b]; });
      if (values[*low] < 0 && values[*high] > 0)
        marks = markCrack(mesh, cells, links, values, mesh.mesh.tets[t][0], mostArea);
    }
    if (marks.empty()) return false;
    out = dissect(mesh, cells, links, ++cracks, marks);
    return true;
  }
  // The pieces of it take the place of the piece: the first its own, others follow at the end.
  bool crack(size_t piece, const CrackFunction& function, double mostArea = Box3::kInfinity) {
    Dissection d;
    if (!dissected(piece, function, d, mostArea)) return false;
    std::vector<CrackedMesh> meshes;
    std::vector<Fragment> parts = breakFragment(pieces[piece].fragment, d, ids, &meshes);
    ids += uint32_t(parts.size());
    for (size_t i = 0; i < parts.size(); ++i) {
      Piece next{std::move(parts[i]), std::move(meshes[i])};
      if (i == 0)
        pieces[piece] = std::move(next);
      else
        pieces.push_back(std::move(next));
    }
    return true;
  }
  size_t largest() const {
    size_t best = 0;
    const auto volume = [&](size_t i) { return pieces[i].fragment.shape->mass().volume; };
    for (size_t i = 1; i < pieces.size(); ++i)
      if (volume(i) > volume(best)) best = i;
    return best;
  }
  // Planes through the middle of the largest piece, wavy ones where there is an amplitude.
  void shatter(size_t count, uint64_t seed, double amplitude = 0) {
    RandomStream random(seed, 3);
    while (pieces.size() < count) {
      const size_t i = largest();
      const Vec3 normal = random.unitVector();
      const Vec3 at = pieces[i].fragment.shape->mass().centre + 0.03 * random.unitVector();
      crack(i, amplitude > 0 ? noisyCrack(at, normal, {amplitude, 0.4, random.nextU32()})
                             : planeCrack(at, normal));
    }
  }
};

// The exact distance to the surface of a piece.
inline sdf::MeshField exactField(const Piece& piece) {
  return sdf::MeshField(piece.fragment.shape->surface());
}

}  // namespace sunder::fracture
