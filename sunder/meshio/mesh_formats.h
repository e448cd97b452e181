// The readers and writers behind mesh_io.h, one pair per format. Readers work on bytes in memory, so tests
// and fuzzers call them without files; `name` is what errors call the input. Private to the room.
#pragma once

#include "sunder/meshio/mesh_file.h"

#include <cstddef>
#include <span>
#include <string>

namespace sunder {
class OutputFile;
}

namespace sunder::meshio {

using Bytes = std::span<const std::byte>;

MeshFile readObj(Bytes bytes, const std::string& name);
MeshFile readPly(Bytes bytes, const std::string& name);
MeshFile readStl(Bytes bytes, const std::string& name);
MeshFile readOff(Bytes bytes, const std::string& name);
// `folder` is where external buffers of a .gltf are looked for; empty forbids them.
MeshFile readGltf(Bytes bytes, const std::string& name,
                  const std::filesystem::path& folder);  // .gltf and .glb
MeshFile readMsh(Bytes bytes, const std::string& name);
MeshFile readTetGen(Bytes node, const std::string& nodeName, Bytes ele, const std::string& eleName);
MeshFile readMedit(Bytes bytes, const std::string& name);
MeshFile readVtkLegacy(Bytes bytes, const std::string& name);
MeshFile readVtkXml(Bytes bytes, const std::string& name);  // .vtu and .vtp

// Writers return notes on what the format could not hold.
std::vector<std::string> writeObj(OutputFile& out, const MeshFile& mesh);
std::vector<std::string> writePly(OutputFile& out, const MeshFile& mesh, bool ascii);
std::vector<std::string> writeStl(OutputFile& out, const MeshFile& mesh, bool ascii);
std::vector<std::string> writeOff(OutputFile& out, const MeshFile& mesh);
std::vector<std::string> writeGlb(OutputFile& out, const MeshFile& mesh);
std::vector<std::string> writeMsh(OutputFile& out, const MeshFile& mesh, bool ascii);
std::vector<std::string> writeVtu(OutputFile& out, const MeshFile& mesh, bool ascii);
std::vector<std::string> writeVtp(OutputFile& out, const MeshFile& mesh, bool ascii);

}  // namespace sunder::meshio
