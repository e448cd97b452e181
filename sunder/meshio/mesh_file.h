// Mesh files by name: the ending picks the format, the content must agree with it.
//
//   MeshFile file = readMesh("bunny.ply");
//   writeMesh("bunny.glb", file);
//
// Reading throws Error (Missing, Format, Limit, Unsupported) naming the file and the line or byte; it never
// allocates more than a small multiple of the file's size, whatever its header claims. Coordinates must be
// finite, indices in range. Writing goes through a temporary file and keeps every bit of the coordinates
// where the format can (text formats use the shortest decimal that reads back equal; STL, GLB hold floats and
// say so in the notes).
#pragma once

#include "sunder/geometry/mesh.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sunder {
class OutputFile;
}

namespace sunder::meshio {

enum class MeshFormat { Obj, Ply, Stl, Off, Gltf, Glb, Msh, TetGen, Medit, VtkLegacy, Vtu, Vtp };

struct MeshFormatInfo {
  MeshFormat format;
  const char* name;        // "PLY"
  const char* extensions;  // space-separated, with dots: ".node .ele"
  bool reads, writes;
  bool surfaces, tets;  // what it can hold
  const char* remark;
};

std::span<const MeshFormatInfo> meshFormats();
const MeshFormatInfo& info(MeshFormat format);

// By ending, case-insensitive; throws Error (Unsupported) that lists the known ones.
MeshFormat formatOf(const std::filesystem::path& path);

// What a file held: polygons, tetrahedra, or both (a volume mesh may bring its boundary along).
struct MeshFile {
  MeshFormat format = MeshFormat::Obj;
  geometry::PolygonSoup surface;
  geometry::TetMesh volume;
  std::vector<uint32_t> turnedTets;  // inverted in the file, ascending; `volume` has them turned
  std::vector<std::string>
      notes;  // what was changed or left out on the way: "welded 36 corners to 8 vertices"
};

struct WriteOptions {
  bool ascii = false;  // PLY, STL, MSH, VTU, VTP: text instead of binary
};

MeshFile readMesh(const std::filesystem::path& path);

// Writes what the format can hold and returns notes on what it could not ("STL keeps no groups"). A volume
// written to a surface format becomes its boundary.
std::vector<std::string> writeMesh(const std::filesystem::path& path, const MeshFile& mesh,
                                   const WriteOptions& = {});
// The same into a file that is open.
std::vector<std::string> writeMesh(OutputFile& out, MeshFormat format, const MeshFile& mesh,
                                   const WriteOptions& = {});

}  // namespace sunder::meshio
