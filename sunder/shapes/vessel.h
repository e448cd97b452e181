// Things to break: bowl, wine glass, vase and bottle. Hollow, open at the top, standing on y = 0 around the y
// axis, of one piece with a wall of given thickness, a rounded rim and (bowl and glass) a solid foot. Their
// outlines are cubic Bezier curves, sampled so that nodes gather where the curve bends; the inner wall is the
// same nodes moved along the normal, so that inside and outside stay apart at any resolution. All are
// topological spheres.
//
// A wall too thick for the shape throws Error (Geometry), from lathe().
#pragma once

#include "sunder/geometry/mesh.h"
#include "sunder/shapes/lathe.h"

namespace sunder::shapes {

struct BowlShape {
  double radius = 0.12;  // of the rim, outside
  double height = 0.09;
  double foot = 0.05;  // radius of the foot
  double wall = 0.005;
  int segments = 64;    // around
  int resolution = 20;  // along the wall
};
geometry::TriMesh makeBowl(const BowlShape& = {});
Loft loftOf(const BowlShape&);

struct WineGlassShape {
  double height = 0.22;
  double bowlHeight = 0.105;  // of it, the part that holds the wine
  double radius = 0.042;      // where the bowl is widest
  double rim = 0.032;         // at the rim
  double stem = 0.004;
  double foot = 0.037;
  double wall = 0.0014;
  int segments = 64;
  int resolution = 24;
};
geometry::TriMesh makeWineGlass(const WineGlassShape& = {});
Loft loftOf(const WineGlassShape&);

struct VaseShape {
  double height = 0.3;
  double belly = 0.1;  // radius where it is widest
  double base = 0.055;
  double neck = 0.035;
  double lip = 0.055;
  double wall = 0.006;
  int segments = 64;
  int resolution = 36;
};
geometry::TriMesh makeVase(const VaseShape& = {});
Loft loftOf(const VaseShape&);

struct BottleShape {
  double height = 0.3;
  double radius = 0.037;
  double neck = 0.0145;   // radius of the neck, outside
  double shoulder = 0.6;  // where the shoulder begins, as a fraction of the height
  double wall = 0.003;
  int segments = 64;
  int resolution = 40;
};
geometry::TriMesh makeBottle(const BottleShape& = {});
Loft loftOf(const BottleShape&);

}  // namespace sunder::shapes
