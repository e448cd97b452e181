// Mends surface meshes and says what it changed. The steps run in the order of the options below; each is off
// or on by itself, and a mesh without the defect passes through with its order kept. Groups, normals, texture
// coordinates and colours are carried along.
//
//   CleanResult result = cleanMesh(soup, {.weldDistance = 1e-6, .fillHolesUpTo = 8});
//
// Deterministic, O(n log n) at most. Splitting follows Guéziec et al. 2001 (cutting), orientation
// orientation.h.
#pragma once

#include "sunder/geometry/mesh.h"

#include <string>
#include <vector>

namespace sunder::geometry {

struct CleanOptions {
  bool weld = true;         // join vertices no farther apart than weldDistance (closeVertices)
  double weldDistance = 0;  // m; 0: exactly coincident ones only
  bool dropDegenerateFaces =
      true;                    // leave out repeated corners and spikes, then faces of fewer than 3 corners
  bool dropFlatFaces = false;  // drop faces of zero area too; off, because each leaves a slit behind
  bool dropDuplicateFaces = true;  // of faces with the same corners keep the first
  bool orient = true;              // make neighbours agree, closed shells face outward
  bool splitNonManifold = false;   // give each fan of faces its own vertex, cutting non-manifold edges apart
  uint32_t fillHolesUpTo = 0;      // close boundary loops of at most so many edges; 0: none
  bool dropIsolatedVertices = true;
};

struct CleanReport {
  size_t weldedVertices = 0;   // vertices that became another one
  size_t shortenedFaces = 0;   // faces that lost repeated corners or spikes and stayed
  size_t degenerateFaces = 0;  // dropped
  size_t flatFaces = 0;        // dropped
  size_t duplicateFaces = 0;   // dropped
  size_t pinchedFaces = 0;     // left: faces that meet a vertex twice, not in a row
  size_t flippedFaces = 0;     // turned around
  size_t oneSidedPatches = 0;  // left: no orientation is consistent
  size_t splitVertices = 0;    // vertices made by cutting
  size_t filledHoles = 0, addedFaces = 0, addedVertices = 0;
  size_t keptHoles = 0;         // left: loops of more edges than asked for, or that touch themselves
  size_t isolatedVertices = 0;  // dropped

  // Old to new: kNoIndex for what was dropped. A vertex that was cut maps to its first copy.
  std::vector<uint32_t> vertexMap, faceMap;
  // New to old: kNoIndex for what was added.
  std::vector<uint32_t> vertexSource, faceSource;

  bool changed() const;
  std::vector<std::string> lines() const;  // "welded 36 vertices", one sentence a change
};

struct CleanResult {
  PolygonSoup mesh;
  CleanReport report;
};

// Throws Error (Geometry) when indices are out of range or an attribute array is incomplete.
CleanResult cleanMesh(PolygonSoup mesh, const CleanOptions& options = {});

// Closes boundary loops of at most `maxEdges` edges in a consistently oriented mesh, appending faces (and
// vertices). A flat loop becomes one polygon, any other a fan around its mean. Loops that meet a vertex
// twice, and the rim of a face that stands alone, are left.
struct HoleFill {
  size_t filled = 0, kept = 0, faces = 0, vertices = 0;
};
HoleFill fillHoles(PolygonSoup& mesh, uint32_t maxEdges);

}  // namespace sunder::geometry
