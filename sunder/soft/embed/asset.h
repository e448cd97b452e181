// The file of an embedded surface, made once and loaded by scenes: the surface with what it looks like, the
// cage, and the surface in the cage. Others add parts of their own (walls, spheres) under a tag; readers keep
// parts that they do not know. docs/file-formats.md has the bytes.
//
// Written under a temporary name and renamed at the end. A reader checks version, checksum, lengths, indices
// and numbers, and throws Error (Format) with the file and the place; it takes no more memory than the file
// has bytes for.
#pragma once

#include "sunder/soft/cage/cage.h"
#include "sunder/soft/embed/embedded_surface.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sunder::soft {

// Bytes of a part that another writes; the tag has four characters.
struct AssetPart {
  std::string tag, bytes;
};

struct Asset {
  geometry::TriMesh surface;  // as it was given
  SurfaceAttributes attributes = {};
  std::vector<std::string> slotMaterials{};  // names, as in record::MeshEntry
  Cage cage{};
  EmbeddedSurface embedded{};
  std::vector<AssetPart> parts{};

  const AssetPart* part(std::string_view tag) const;  // null: not there
};

// Throws Error (Usage) for an asset whose lists do not fit each other, (Write) where the file cannot be
// written.
void writeAsset(const std::filesystem::path& path, const Asset& asset);
Asset readAsset(const std::filesystem::path& path);

// Whether a file begins as assets do.
bool isAsset(const std::filesystem::path& path);

}  // namespace sunder::soft
