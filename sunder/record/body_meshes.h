// The mesh that a body shows in a frame, and where its vertices are: the table of meshes, the changes of
// meshes and embeddings put together (mesh_change.h). What shows recordings asks here.
//
//   BodyMeshes meshes(run);
//   run.readFrame(i, frame);
//   const BodyShape shape = meshes.shape(frame, i, body);
//
// Meshes are kept, up to `mostBytes`; frames that follow each other apply only what changed between them.
// Cost: of a frame behind the last one of a body its changes since; of an earlier one all since its mesh. The
// run must outlive it. Not for several threads at once.
#pragma once

#include "sunder/record/mesh_change.h"
#include "sunder/record/run_reader.h"

#include <map>
#include <memory>
#include <span>
#include <vector>

namespace sunder::record {

// A surface in a cage, as a frame has it. All are null where the body's mesh is in no cage.
struct CagedSurface {
  std::shared_ptr<const MeshEntry> surface;  // with all walls
  std::shared_ptr<const MeshEntry> cage;     // at rest, with the vertices and corners of the frame
  std::shared_ptr<const Embedding> embedding;
  std::shared_ptr<const MeshEntry> source;             // that was clipped, at rest; null: not known, or lost
  std::shared_ptr<const std::vector<uint32_t>> shown;  // triangles of `surface`, ascending; null: all
  explicit operator bool() const { return cage != nullptr; }
};

struct BodyShape {
  // With the triangles of the frame; never null. Without any for a body that shows no mesh.
  std::shared_ptr<const MeshEntry> mesh;
  // Vertices in the frame of the body; empty where they rest at mesh->positions.
  std::vector<Vec3f> positions;
  // By vertex of the mesh. Those of an embedded surface are means over the corners of its tetrahedra.
  std::vector<PointField> fields;
  // Of an embedded surface: its parts, and what the frame brings for the vertices of the cage.
  CagedSurface caged = {};
  std::vector<Vec3f> cagePositions = {};  // empty where they rest
  std::vector<PointField> cageFields = {};
  std::span<const Vec3f> vertices() const {
    return positions.empty() ? std::span<const Vec3f>(mesh->positions) : std::span<const Vec3f>(positions);
  }
};

// Bit k of each tetrahedron: no other one has the face opposite to its corner k, so that a wall there is
// seen. O(n log n).
std::vector<uint8_t> exposedFaces(std::span<const geometry::Tetrahedron> tets);

// Whether each vertex of the surface has a tetrahedron of the cage, and each triangle that is a wall a face.
bool fits(const Embedding& embedding, const MeshEntry& surface, const MeshEntry& cage);

class BodyMeshes {
 public:
  explicit BodyMeshes(const RunReader& run, uint64_t mostBytes = uint64_t(1) << 28);

  // Vertices at their rest positions. Throws Error (Format) where the mesh, a change or an embedding is lost
  // or does not fit.
  std::shared_ptr<const MeshEntry> mesh(uint32_t body, size_t frame);

  // The parts of a mesh that is embedded in a cage, before any change; none for one that is not. Throws as
  // mesh().
  CagedSurface caged(uint32_t mesh) { return unchanged(mesh).caged; }

  // `state` is what readFrame(frame) gave. Points that are not as many as the vertices are not taken.
  BodyShape shape(const Frame& state, size_t frame, uint32_t body);

  // After a refresh() that took something away.
  void clear();

 private:
  struct Shown {
    std::shared_ptr<const MeshEntry> mesh;
    CagedSurface caged;
  };
  const Shown& shown(uint32_t body, size_t frame);
  const Shown& unchanged(uint32_t mesh);
  std::shared_ptr<const MeshEntry> sourceOf(const Embedding& embedding) const;
  static void hideWalls(Shown& of);
  static uint64_t costOf(const Shown& what);  // bytes
  void keep(const Shown& what);

  const RunReader& run_;
  uint64_t mostBytes_, bytes_ = 0;
  std::map<uint32_t, Shown> unchanged_;  // by mesh
  struct Changed {
    MeshVersion version;
    Shown shown;
  };
  std::map<uint32_t, Changed> changed_;  // by body
};

// Of a body, or null; `points` by ascending body.
const BodyPoints* pointsOf(std::span<const BodyPoints> points, uint32_t body);

}  // namespace sunder::record
