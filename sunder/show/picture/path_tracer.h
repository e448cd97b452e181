// Ray-traced pictures of what is simulated: triangle meshes placed anywhere, particles as spheres, a ground
// without end, a sun with soft shadows and a sky. Path tracing on Embree (Kajiya 1986) with diffuse surfaces
// under a clear coat, metals (GGX, Walter et al. 2007) and clear glass; scrambled Sobol samples (Burley
// 2020).
//
// Guarantee: the same picture, to the bit, for any number of threads: each pixel has its own random numbers.
// Shadows through glass are brighter than light would be without caustics: shadow rays pass straight through
// it and are dimmed, so glass does not throw black shadows. Cost: about a microsecond a ray; 1280 x 720 with
// 32 samples some 20 s on two cores. A mesh is prepared once and used by any number of frames.
#pragma once

#include "sunder/base/image.h"
#include "sunder/geometry/mesh.h"
#include "sunder/show/corner_normals.h"
#include "sunder/show/look.h"
#include "sunder/show/picture/camera.h"
#include "sunder/show/solid_texture.h"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace sunder::show {

struct PlacedMesh {
  uint32_t mesh = 0;  // as PathTracer::addMesh returned
  Vec3 position = Vec3::Zero();
  Quat rotation = Quat::Identity();
  Look look = {};
  std::optional<Look> inside = {};  // of interior triangles; none: `look`, rough and mottled
  // Of triangles with the slots 1, 2, ...; those of slot 0, and of slots beyond the list, have the two above.
  struct Slot {
    Look look;
    std::optional<Look> inside = {};
  };
  std::vector<Slot> slots = {};
  // Colours all that is not clear, where the mesh was added with its places at rest; null: none.
  std::shared_ptr<const SolidTexture> solid = {};
};

struct PlacedSphere {
  Vec3f centre{0, 0, 0};
  float radius = 1;
  uint32_t look = 0;  // into Shot::sphereLooks
};

struct Shot {
  Camera camera;
  std::vector<PlacedMesh> meshes;
  std::vector<PlacedSphere> spheres;
  std::vector<Look> sphereLooks;
  bool ground = true;
  double groundHeight = 0;
  Look groundLook{.colour = {0.46f, 0.47f, 0.49f}, .roughness = 0.6f};
  Vec3 sunDirection{0.45, 0.8, 0.35};  // towards the sun
  double sunSize = 5;                  // degrees across; larger is softer
  Vec3f sunLight{3.1f, 2.9f, 2.6f};    // light on a surface that faces it
  float lamp = 1.2f;                   // light of a large soft lamp opposite the sun, for a second highlight
  Vec3f skyZenith{0.34f, 0.43f, 0.58f}, skyHorizon{0.6f, 0.63f, 0.68f};
};

struct PictureSettings {
  size_t width = 1280, height = 720;
  uint32_t samples = 32;  // a pixel
  uint32_t bounces = 12;
  double exposure = 1;
  uint64_t seed = 1;
  std::function<void(double done)> progress =
      {};  // 0 to 1, from the calling thread or a worker, one at a time
};

class PathTracer {
 public:
  PathTracer();
  ~PathTracer();
  PathTracer(const PathTracer&) = delete;
  PathTracer& operator=(const PathTracer&) = delete;

  // Edges whose faces meet at less than `creaseAngle` degrees are shaded smooth; 0 shades all faces flat.
  // `interior`: by triangle, 1 where the body broke; these have the look `inside` of what is placed. Where it
  // has none they are rough, and mottled by noise in the mesh's own space at rest, so that pieces of a body
  // fit each other. `slots`: by triangle, which of the looks of what is placed it has; empty: 0 everywhere.
  // `rest`: as for cornerNormals(). Throws Error (Geometry) for a coordinate that is not finite or beyond
  // 1e15.
  uint32_t addMesh(const geometry::TriMesh& mesh, double creaseAngle = kCreaseAngle,
                   std::vector<uint8_t> interior = {}, std::vector<uint16_t> slots = {},
                   std::span<const Vec3f> rest = {});

  // The same with a normal for each vertex, for surfaces that know theirs better than their triangles do.
  uint32_t addMesh(const geometry::TriMesh& mesh, std::span<const Vec3f> vertexNormals);
  // And with a normal for each corner, three a triangle.
  uint32_t addMesh(const geometry::TriMesh& mesh, std::vector<Vec3f> cornerNormals,
                   std::vector<uint8_t> interior, std::vector<uint16_t> slots, std::span<const Vec3f> rest);

  void dropMesh(uint32_t mesh);  // its number may be given to another one

  // Throws Error (Usage) for an empty picture or a mesh that was not added, and Error (Geometry) for a place
  // beyond 1e15.
  Image render(const Shot& shot, const PictureSettings& settings);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sunder::show
