// A run as the exporters see it: bodies and meshes, how materials look, and frames one by one. Made from a
// recording, or by hand.
//
// A body's surface is its mesh at its pose, unless a frame brings vertices of its own for it (deformable
// bodies, particles); these too are in the body's frame, so that a world position is always pose times
// vertex.
#pragma once

#include "sunder/record/body_meshes.h"
#include "sunder/record/run_reader.h"
#include "sunder/show/liquid.h"
#include "sunder/show/look.h"

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sunder::show {

// Vertices that a body has in one frame alone.
struct FrameMesh {
  uint32_t body = 0;
  std::vector<Vec3f> positions;
  std::vector<geometry::Triangle> triangles;  // empty for particles
  std::vector<geometry::Tetrahedron> tets;
  std::vector<Vec3f> velocities;  // by vertex, m/s; empty: that of the body
  // What the triangles look like, and where the vertices are at rest; null: not known.
  std::shared_ptr<const record::MeshEntry> mesh = {};
  std::vector<record::PointField> fields = {};  // by vertex
  float radius = 0;                             // of particles that have no field "radius"
  std::vector<Vec3f> normals = {};              // by corner, three a triangle; empty: they follow from it
  // The cage that the triangles are embedded in, where its vertices are, and what is known of them; null:
  // none.
  std::shared_ptr<const record::MeshEntry> cage = {};
  std::vector<Vec3f> cagePositions = {};
  std::vector<record::PointField> cageFields = {};
};

struct ExportFrame {
  record::Frame state;
  std::vector<FrameMesh> meshes;                                    // by ascending body
  std::map<uint32_t, std::vector<record::PointField>> fields = {};  // of vertices that rest, by body
};

struct ExportScene {
  std::string name;
  double frameRate = 60;
  std::vector<record::BodyEntry> bodies;
  std::vector<record::MeshEntry> meshes;
  std::map<std::string, Look> looks;        // by material
  std::map<std::string, Look> insideLooks;  // of inner faces, by material that names one for them
  std::vector<size_t> frames;               // those to export, ascending
  bool deforming = false;                   // frames bring meshes of their own
  bool particles = false;                   // or points
  bool opens = false;                       // meshes of frames have faces inside

  std::function<void(size_t frame, ExportFrame&)> readFrame;
  std::function<std::vector<record::Statistic>(size_t frame)> statistics;
  std::function<std::vector<record::Event>(size_t frame)> events;
  std::function<std::vector<record::Input>(size_t frame)> inputs = {};       // empty: the run has none
  std::function<std::vector<record::CrackFront>(size_t frame)> fronts = {};  // empty: the run has none
};

// How the liquids of a run are exported: as points, or as meshes of their surfaces.
struct ExportLiquids {
  bool surfaces = false;
  fluid::SurfaceSettings settings = {};  // the radius is that of the particles
};

// The run must outlive it. The square that stands for a ground without end is trimmed to some size about the
// action. A body whose numbers are not finite is taken for absent. Throws what the reader
// throws, Error (Format) for a mesh that is not finite.
ExportScene exportSceneOf(const record::RunReader& run, std::vector<size_t> frames,
                          const ExportLiquids& liquids = {});

// What a body shows in a frame, in its own frame of reference; empty for one without a mesh.
struct BodySurface {
  uint32_t body = 0;
  const record::BodyState* state = nullptr;
  std::span<const Vec3f> positions;
  std::span<const geometry::Triangle> triangles;
  std::span<const geometry::Tetrahedron> tets;
  std::span<const uint8_t> interior;     // by triangle; empty: none is inside
  std::span<const Vec2f> uvs = {};       // three a triangle; empty: none
  std::span<const uint16_t> slots = {};  // by triangle: the material, see MeshEntry::slots; empty: 0
  std::span<const std::string> slotMaterials = {};
  std::span<const Vec3f> rest = {};     // of vertices that moved; empty: where they are
  std::span<const Vec3f> normals = {};  // by corner, three a triangle; empty: they follow from the triangles
  std::span<const record::PointField> fields = {};  // by vertex
  const FrameMesh* own = nullptr;                   // where the frame brought it

  // The name of a triangle's material.
  const std::string& material(const record::BodyEntry& of, size_t triangle) const {
    const size_t slot = slots.empty() ? 0 : slots[triangle];
    return slot > 0 && slot <= slotMaterials.size() ? slotMaterials[slot - 1] : of.material;
  }
  bool inside(size_t triangle) const { return !interior.empty() && interior[triangle] != 0; }

  // In the world, rounded once.
  Vec3f place(const Vec3f& vertex) const {
    return (state->position.cast<double>() + state->rotation.cast<double>() * vertex.cast<double>())
        .cast<float>();
  }
};

// The cage that a surface is embedded in, with its tetrahedra alone; without any where it is in none.
BodySurface cageOf(const BodySurface& surface);

// Normals by corner, three a triangle. The faces inside of a body do not smooth those outside.
std::vector<Vec3f> normalsOf(const BodySurface& surface);

// Of a mesh by itself, without a body.
BodySurface surfaceOfMesh(const record::MeshEntry& mesh);

// Of the bodies that are there in this frame, by ascending index.
std::vector<BodySurface> surfacesOf(const ExportScene& scene, const ExportFrame& frame);

// The look of a body's material; a grey one for a material that the scene does not have.
Look lookOfBody(const ExportScene& scene, const record::BodyEntry& body);

// The colour a look has where light cannot pass through: that of glass is the tint of two centimetres of it.
Vec3f solidColour(const Look& look);

// What stands behind the name of a material for the faces inside of broken bodies, and how these look: like
// the material's `inside`, or like the outside, darker and rougher.
inline constexpr const char* kInside = " inside";
Look lookOfMaterial(const ExportScene& scene, const std::string& material, bool inside);
// Whether some mesh has faces inside.
bool anyInside(const ExportScene& scene);

// Materials by number: the names that bodies and slots of meshes use, sorted, and the number of each body's.
struct MaterialNumbers {
  std::vector<std::string> names;
  std::vector<int32_t> ofBody;
  int32_t of(const std::string& name) const;  // one of the names
};
MaterialNumbers numberMaterials(const ExportScene& scene);

// The vertices of a surface with texture coordinates, each as often as it has different ones: what formats
// need that have these by vertex.
struct SplitSurface {
  std::vector<uint32_t> vertices;             // of the surface
  std::vector<Vec2f> uvs;                     // of these; empty: the surface has none, and nothing is split
  std::vector<geometry::Triangle> triangles;  // in the new numbers
};
SplitSurface splitByUvs(const BodySurface& surface);

inline int32_t parentNumber(const record::BodyEntry& body) {
  return body.parent == kNoIndex ? -1 : static_cast<int32_t>(body.parent);
}

}  // namespace sunder::show
