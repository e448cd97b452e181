// A mesh reader on random bytes: it may return a mesh or throw sunder::Error, nothing else. What it returns
// must be whole: indices in range, finite coordinates, optional arrays empty or complete. kFuzzFormat picks
// the reader.
#include "sunder/base/error.h"
#include "sunder/meshio/mesh_formats.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

using namespace sunder::meshio;
using namespace sunder::geometry;

namespace {

MeshFile read_obj(Bytes bytes) { return readObj(bytes, "fuzz.obj"); }
MeshFile read_ply(Bytes bytes) { return readPly(bytes, "fuzz.ply"); }
MeshFile read_stl(Bytes bytes) { return readStl(bytes, "fuzz.stl"); }
MeshFile read_off(Bytes bytes) { return readOff(bytes, "fuzz.off"); }
MeshFile read_gltf(Bytes bytes) { return readGltf(bytes, "fuzz.gltf", {}); }
MeshFile read_msh(Bytes bytes) { return readMsh(bytes, "fuzz.msh"); }
MeshFile read_medit(Bytes bytes) { return readMedit(bytes, "fuzz.mesh"); }
MeshFile read_vtk(Bytes bytes) { return readVtkLegacy(bytes, "fuzz.vtk"); }
MeshFile read_vtkxml(Bytes bytes) { return readVtkXml(bytes, "fuzz.vtu"); }
// The two files of a pair are joined by a byte that no text has.
MeshFile read_tetgen(Bytes bytes) {
  const size_t cut =
      static_cast<size_t>(std::find(bytes.begin(), bytes.end(), std::byte{0xff}) - bytes.begin());
  return readTetGen(bytes.first(cut), "fuzz.node", bytes.subspan(std::min(cut + 1, bytes.size())),
                    "fuzz.ele");
}

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "the reader returned a mesh with %s\n", what);
  std::abort();
}

template <class T>
bool emptyOr(const std::vector<T>& values, size_t count) {
  return values.empty() || values.size() == count;
}

void checkMesh(const MeshFile& file) {
  const PolygonSoup& s = file.surface;
  const size_t corners = s.corners.size();
  require(!s.faceOffsets.empty() && s.faceOffsets.front() == 0 && s.faceOffsets.back() == corners,
          "wrong offsets");
  for (size_t f = 0; f < s.faceCount(); ++f)
    require(s.faceOffsets[f + 1] >= s.faceOffsets[f] + 3, "a face of 2 corners");
  for (const uint32_t v : s.corners) require(v < s.positions.size(), "a corner out of range");
  for (const auto& p : s.positions) require(p.allFinite(), "a coordinate that is not finite");
  require(emptyOr(s.faceGroup, s.faceCount()), "incomplete groups");
  for (const uint32_t g : s.faceGroup) require(g < s.groupNames.size(), "a group out of range");
  require(emptyOr(s.cornerNormals, corners) && emptyOr(s.cornerUvs, corners), "incomplete corner attributes");
  require(emptyOr(s.vertexColours, s.positions.size()), "incomplete colours");
  for (const auto& t : file.volume.tets)
    for (const uint32_t v : t) require(v < file.volume.positions.size(), "a tetrahedron out of range");
  for (const auto& p : file.volume.positions) require(p.allFinite(), "a coordinate that is not finite");
  require(emptyOr(file.volume.region, file.volume.tets.size()), "incomplete regions");
}

using Reader = MeshFile (*)(Bytes);
Reader readerOf(std::string_view format) {
  constexpr std::pair<std::string_view, Reader> kReaders[] = {
      {"obj", read_obj},   {"ply", read_ply},      {"stl", read_stl},       {"off", read_off},
      {"gltf", read_gltf}, {"msh", read_msh},      {"tetgen", read_tetgen}, {"medit", read_medit},
      {"vtk", read_vtk},   {"vtkxml", read_vtkxml}};
  for (const auto& [name, reader] : kReaders)
    if (name == format) return reader;
  std::abort();
}

}  // namespace

// One program per format is linked from this object and a file that names the format.
extern const char* const kFuzzFormat;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Reader reader = readerOf(kFuzzFormat);
  try {
    checkMesh(reader({reinterpret_cast<const std::byte*>(data), size}));
  } catch (const sunder::Error&) {
  }
  return 0;
}
