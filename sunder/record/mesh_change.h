// How the mesh that a body shows changes while the body lives, and fine surfaces that are carried by coarse
// cages. docs/file-formats.md has the bytes; body_meshes.h puts them together.
//
// A tear gives corners of triangles and tetrahedra to other vertices, most of them new ones that begin where
// the old ones are, and makes new faces. Only what changes is recorded, so a body that tears in every frame
// costs what tears, not its mesh. What changes more than that (remeshing, fewer faces) is another mesh.
#pragma once

#include "sunder/record/recording.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sunder::record {

// Corner 3 t + k is corner k of triangle t; of a tetrahedron it is 4 t + k.
struct CornerChange {
  uint32_t corner = 0, vertex = 0;
  bool operator==(const CornerChange&) const = default;
};

struct MeshChange {
  uint32_t body = 0;
  uint64_t frame = 0;        // number of the first frame that shows it
  uint32_t mesh = kNoIndex;  // the body shows this one from now on; kNoIndex: the one it shows already
  // And then, in this order, of that mesh (of its cage, where it is embedded):
  std::vector<Vec3f> positions = {};          // new vertices, behind those that are there; of a cage at rest
  std::vector<CornerChange> corners = {};     // of triangles
  std::vector<CornerChange> tetCorners = {};  // of tetrahedra
  std::vector<geometry::Triangle> triangles = {};  // new ones, behind those that are there
  std::vector<uint8_t> interior = {};              // of the new triangles: as MeshEntry::interior
  std::vector<Vec2f> uvs = {};                     // of the new triangles: as MeshEntry::uvs
  std::vector<uint16_t> slots = {};                // of the new triangles: as MeshEntry::slots
};

// Which mesh a body shows, and which of its changes apply to that mesh. Equal versions of a body, and equal
// meshes without changes of any bodies, are the same mesh.
struct MeshVersion {
  uint32_t mesh = kNoIndex;
  uint32_t first = 0;    // among the changes of the body, the first that applies; 0 where none does
  uint32_t changes = 0;  // how many apply
  bool operator==(const MeshVersion&) const = default;
};

// A surface whose vertices are fixed in the tetrahedra of a cage: vertex v is at the mean of the corners of
// tetrahedron tets[v], weighed with weights[v]. Frames of bodies that show `surface` bring positions of the
// cage's vertices, and changes of their mesh are changes of the cage.
//
// Triangles with a wall lie in a face of the cage inside the solid. They are shown where no other tetrahedron
// has that face: once the cage has come apart there.
struct Embedding {
  uint32_t surface = 0, cage = 0;  // meshes
  std::vector<uint32_t> tets;      // by vertex of the surface
  std::vector<Vec4f> weights;      // by vertex of the surface; they add up to 1
  std::vector<uint32_t> walls;     // by triangle of the surface: 4 t + the corner opposite to the face of
                                   // tetrahedron t; kNoIndex: always shown. Empty: all are
  // The closed surface that the cage has clipped, at rest, and by triangle of `surface` the triangle of it
  // that it is a part of, kNoIndex for none (walls). Who shows the body takes normals from there, and can
  // show whole triangles. kNoIndex and empty: not known, as in recordings of programs before these.
  uint32_t source = kNoIndex;
  std::vector<uint32_t> sources = {};
};

// The largest number of a mesh that it names.
uint32_t lastMesh(const Embedding& embedding);

// To bytes and back. `index` is the number of the entry in its table. `ordinal`: how many changes the body
// had before, so that a reader notices where one is lost. Encoders throw Error (Usage) for lists whose
// lengths do not fit each other; decoders throw Error (Format) for bytes that do not fit, and take no more
// memory than the bytes warrant. Whether vertices and corners are there is only known with the mesh.
std::string encode(const MeshChange& change, uint32_t index, uint32_t ordinal);
struct NumberedChange {
  MeshChange change;
  uint32_t ordinal = 0;
};
NumberedChange decodeMeshChange(std::string_view payload, const std::string& file);
std::string encode(const Embedding& embedding, uint32_t index);
Embedding decodeEmbedding(std::string_view payload, const std::string& file);

// Applies a change to the mesh it is of. Throws Error (Format) for a vertex or a corner that is not there.
void apply(const MeshChange& change, MeshEntry& mesh, const std::string& file);

}  // namespace sunder::record
