#include "sunder/meshio/mesh_file.h"

#include "sunder/base/error.h"
#include "sunder/base/file.h"
#include "sunder/base/work.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/meshio/mesh_formats.h"
#include "sunder/meshio/soup_builder.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <optional>

namespace sunder::meshio {

namespace {

// name, endings, reads, writes, surfaces, tets, remark; in the order of the enumeration.
constexpr MeshFormatInfo kFormats[] = {
    {MeshFormat::Obj, "OBJ", ".obj", true, true, true, false,
     "polygons, groups, normals, texture coordinates"},
    {MeshFormat::Ply, "PLY", ".ply", true, true, true, false, "text and binary; written with doubles"},
    {MeshFormat::Stl, "STL", ".stl", true, true, true, false,
     "triangles; corners are welded; binary files hold 32-bit floats"},
    {MeshFormat::Off, "OFF", ".off", true, true, true, false,
     "text; with colours, normals, texture coordinates"},
    {MeshFormat::Gltf, "glTF", ".gltf", true, false, true, false, "buffers embedded or in the same folder"},
    {MeshFormat::Glb, "GLB", ".glb", true, true, true, false, "glTF in one file; 32-bit floats"},
    {MeshFormat::Msh, "Gmsh MSH", ".msh", true, true, true, true, "triangles and tetrahedra with regions"},
    {MeshFormat::TetGen, "TetGen", ".node .ele", true, false, false, true,
     "a pair of files, named by either"},
    {MeshFormat::Medit, "MEDIT", ".mesh", true, false, true, true, "text"},
    {MeshFormat::VtkLegacy, "VTK legacy", ".vtk", true, false, true, true, "text and binary"},
    {MeshFormat::Vtu, "VTK unstructured grid", ".vtu", true, true, true, true, "XML"},
    {MeshFormat::Vtp, "VTK polygons", ".vtp", true, true, true, false, "XML"},
};

constexpr bool inOrder() {
  for (size_t i = 0; i < std::size(kFormats); ++i)
    if (static_cast<size_t>(kFormats[i].format) != i) return false;
  return true;
}
static_assert(inOrder());

std::string lowerCase(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool hasExtension(const MeshFormatInfo& format, const std::string& extension) {
  std::string_view list = format.extensions;
  while (!list.empty()) {
    const size_t blank = std::min(list.find(' '), list.size());
    if (list.substr(0, blank) == extension) return true;
    list.remove_prefix(std::min(list.size(), blank + 1));
  }
  return false;
}

std::string knownExtensions(bool writing) {
  std::string list;
  for (const MeshFormatInfo& format : kFormats)
    if (!writing || format.writes) list += (list.empty() ? "" : " ") + std::string(format.extensions);
  return list;
}

// What the first bytes say, where they say it plainly.
struct Look {
  std::string_view start;
  MeshFormat format;
  const char* ending;
};
constexpr Look kLooks[] = {
    {"ply\n", MeshFormat::Ply, ".ply"},
    {"ply\r", MeshFormat::Ply, ".ply"},
    {"glTF", MeshFormat::Glb, ".glb"},
    {"solid ", MeshFormat::Stl, ".stl"},
    {"OFF\n", MeshFormat::Off, ".off"},
    {"OFF ", MeshFormat::Off, ".off"},
    {"OFF\r", MeshFormat::Off, ".off"},
    {"COFF", MeshFormat::Off, ".off"},
    {"<?xml", MeshFormat::Vtu, ".vtu or .vtp"},
    {"<VTKFile", MeshFormat::Vtu, ".vtu or .vtp"},
    {"# vtk DataFile", MeshFormat::VtkLegacy, ".vtk"},
    {"$MeshFormat", MeshFormat::Msh, ".msh"},
    {"MeshVersionFormatted", MeshFormat::Medit, ".mesh"},
};

// glTF and GLB share a reader that looks for itself, as do the two of VTK's XML.
MeshFormat family(MeshFormat format) {
  if (format == MeshFormat::Glb) return MeshFormat::Gltf;
  if (format == MeshFormat::Vtp) return MeshFormat::Vtu;
  return format;
}

void checkContent(std::string_view text, MeshFormat format, const std::string& name) {
  if (format == MeshFormat::Stl && text.size() >= 84) {
    // The head of a binary STL file is free text.
    uint32_t count = 0;
    std::memcpy(&count, text.data() + 80, sizeof count);
    if (text.size() == 84 + 50 * size_t(count)) return;
  }
  std::string_view start = text.substr(0, 256);
  start.remove_prefix(std::min(start.find_first_not_of(" \t\r\n"), start.size()));
  for (const Look& look : kLooks) {
    if (!start.starts_with(look.start) || family(look.format) == family(format)) continue;
    const std::string shown = look.format == MeshFormat::Vtu ? "XML" : info(look.format).name;
    throw Error(ErrorKind::Format, std::string("this is not ") + info(format).name)
        .inFile(name)
        .hint("the content looks like " + shown + "; rename it to " + look.ending);
  }
  if (start.starts_with('{') && family(format) != MeshFormat::Gltf)
    throw Error(ErrorKind::Format, std::string("this is not ") + info(format).name)
        .inFile(name)
        .hint("the content looks like JSON; if it is glTF, rename it to .gltf");
}

MeshFile readTetGenPair(const std::filesystem::path& path) {
  // The ending keeps its case: BOX.NODE goes with BOX.ELE.
  const std::string extension = path.extension().string();
  const bool upper = extension.size() > 1 && std::isupper(static_cast<unsigned char>(extension[1]));
  const bool isNode = lowerCase(extension) == ".node";
  std::filesystem::path node = path, ele = path;
  if (isNode) ele.replace_extension(upper ? ".ELE" : ".ele");
  if (!isNode) node.replace_extension(upper ? ".NODE" : ".node");
  const InputFile nodeFile(node), eleFile(ele);
  checkContent(nodeFile.text(), MeshFormat::TetGen, node.string());
  checkContent(eleFile.text(), MeshFormat::TetGen, ele.string());
  return readTetGen(nodeFile.bytes(), node.string(), eleFile.bytes(), ele.string());
}

MeshFile readBytes(Bytes bytes, MeshFormat format, const std::string& name,
                   const std::filesystem::path& folder) {
  switch (format) {
    case MeshFormat::Obj:
      return readObj(bytes, name);
    case MeshFormat::Ply:
      return readPly(bytes, name);
    case MeshFormat::Stl:
      return readStl(bytes, name);
    case MeshFormat::Off:
      return readOff(bytes, name);
    case MeshFormat::Gltf:
    case MeshFormat::Glb:
      return readGltf(bytes, name, folder);
    case MeshFormat::Msh:
      return readMsh(bytes, name);
    case MeshFormat::Medit:
      return readMedit(bytes, name);
    case MeshFormat::VtkLegacy:
      return readVtkLegacy(bytes, name);
    case MeshFormat::Vtu:
    case MeshFormat::Vtp:
      return readVtkXml(bytes, name);
    case MeshFormat::TetGen:
      break;
  }
  throw Error(ErrorKind::Unsupported, "this format comes in pairs of files").inFile(name);
}

std::vector<std::string> writeTo(OutputFile& out, MeshFormat format, const MeshFile& mesh,
                                 const WriteOptions& options) {
  switch (format) {
    case MeshFormat::Obj:
      return writeObj(out, mesh);
    case MeshFormat::Ply:
      return writePly(out, mesh, options.ascii);
    case MeshFormat::Stl:
      return writeStl(out, mesh, options.ascii);
    case MeshFormat::Off:
      return writeOff(out, mesh);
    case MeshFormat::Glb:
      return writeGlb(out, mesh);
    case MeshFormat::Msh:
      return writeMsh(out, mesh, options.ascii);
    case MeshFormat::Vtu:
      return writeVtu(out, mesh, options.ascii);
    case MeshFormat::Vtp:
      return writeVtp(out, mesh, options.ascii);
    default:
      break;
  }
  throw Error(ErrorKind::Unsupported, std::string(info(format).name) + " files are only read, not written")
      .hint(format == MeshFormat::Gltf ? "write .glb instead" : "known endings: " + knownExtensions(true));
}

}  // namespace

std::span<const MeshFormatInfo> meshFormats() { return kFormats; }

const MeshFormatInfo& info(MeshFormat format) { return kFormats[static_cast<size_t>(format)]; }

MeshFormat formatOf(const std::filesystem::path& path) {
  const std::string extension = lowerCase(path.extension().string());
  for (const MeshFormatInfo& format : kFormats)
    if (hasExtension(format, extension)) return format.format;
  throw Error(ErrorKind::Unsupported, extension.empty()
                                          ? "the file's name has no ending that tells its format"
                                          : "no mesh format has the ending '" + extension + "'")
      .inFile(path.string())
      .hint("known endings: " + knownExtensions(false));
}

MeshFile readMesh(const std::filesystem::path& path) {
  const MeshFormat format = formatOf(path);
  const Work work("reading " + path.filename().string());
  try {
    if (format == MeshFormat::TetGen) return readTetGenPair(path);
    const InputFile file(path);
    if (file.bytes().empty()) throw Error(ErrorKind::Format, "the file is empty").inFile(path.string());
    checkContent(file.text(), format, path.string());
    const std::filesystem::path folder = path.parent_path();
    return readBytes(file.bytes(), format, path.string(),
                     folder.empty() ? std::filesystem::path(".") : folder);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::Limit, "there is not enough memory to read it").inFile(path.string());
  }
}

std::vector<std::string> writeMesh(const std::filesystem::path& path, const MeshFile& mesh,
                                   const WriteOptions& options) {
  const MeshFormat format = formatOf(path);
  const Work work("writing " + path.filename().string());
  try {
    OutputFile out(path);
    const std::vector<std::string> notes = writeMesh(out, format, mesh, options);
    out.commit();
    return notes;
  } catch (Error& e) {
    throw std::move(e.inFile(path.string()));
  }
}

std::vector<std::string> writeMesh(OutputFile& out, MeshFormat format, const MeshFile& mesh,
                                   const WriteOptions& options) {
  const MeshFormatInfo& target = info(format);
  std::vector<std::string> notes;
  MeshFile boundary;
  const MeshFile* source = &mesh;
  if (!target.tets && !mesh.volume.tets.empty()) {
    if (mesh.surface.faceCount() == 0) {
      boundary.surface = geometry::toSoup(geometry::boundarySurface(mesh.volume).surface);
      source = &boundary;
      notes.push_back("wrote the boundary of " +
                      counted(mesh.volume.tets.size(), "tetrahedron", "tetrahedra"));
    } else {
      notes.push_back("left out " + counted(mesh.volume.tets.size(), "tetrahedron", "tetrahedra"));
    }
  }
  const std::vector<std::string> more = writeTo(out, format, *source, options);
  notes.insert(notes.end(), more.begin(), more.end());
  return notes;
}

}  // namespace sunder::meshio
