// An OBJ or a PLY a frame, with the bodies where they are.
#include "sunder/base/error.h"
#include "sunder/meshio/text_writer.h"
#include "sunder/show/export/export.h"
#include "sunder/show/export/export_files.h"
#include "sunder/show/export/export_tables.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace sunder::show {

namespace {

using meshio::TextWriter;

static_assert(std::endian::native == std::endian::little, "PLY is written in the machine's order");

// Words cannot hold blanks: what stands behind usemtl is one.
std::string materialWord(const std::string& name) {
  std::string word = oneLine(name);
  std::replace(word.begin(), word.end(), ' ', '_');
  return word;
}

// Triangles by name of the material and whether they are inside: the body's own outside first, then its
// inside, then those of slots.
using Painted = std::pair<std::pair<std::string, bool>, std::vector<size_t>>;
std::vector<Painted> trianglesByMaterial(const BodySurface& surface, const record::BodyEntry& body) {
  std::vector<Painted> parts(2 * (surface.slotMaterials.size() + 1));
  for (size_t slot = 0; slot <= surface.slotMaterials.size(); ++slot)
    for (const bool inside : {false, true})
      parts[2 * slot + inside].first = {slot == 0 ? body.material : surface.slotMaterials[slot - 1], inside};
  for (size_t t = 0; t < surface.triangles.size(); ++t) {
    const size_t slot = surface.slots.empty() ? 0 : surface.slots[t];
    parts[2 * slot + surface.inside(t)].second.push_back(t);
  }
  std::erase_if(parts, [](const Painted& part) { return part.second.empty(); });
  return parts;
}

void writeObjFrame(OutputFile& file, const ExportScene& scene, const ExportFrame& frame) {
  TextWriter out(file);
  out << "# frame " << frame.state.number << ", " << frame.state.time << " s\nmtllib materials.mtl\n";
  uint64_t base = 1, uvBase = 1;
  for (const BodySurface& surface : surfacesOf(scene, frame)) {
    if (surface.triangles.empty()) continue;
    const record::BodyEntry& body = scene.bodies[surface.body];
    out << "o " << oneLine(body.name) << '\n';
    for (const Vec3f& vertex : surface.positions) {
      const Vec3f p = surface.place(vertex);
      out << "v " << p.x() << ' ' << p.y() << ' ' << p.z() << '\n';
    }
    for (const Vec2f& uv : surface.uvs) out << "vt " << uv.x() << ' ' << uv.y() << '\n';
    const auto corner = [&](size_t triangle, size_t k) {
      out << ' ' << base + surface.triangles[triangle][k];
      if (!surface.uvs.empty()) out << '/' << uvBase + 3 * triangle + k;
    };
    for (const auto& [material, triangles] : trianglesByMaterial(surface, body)) {
      out << "usemtl " << materialWord(material.first + (material.second ? kInside : "")) << '\n';
      for (const size_t t : triangles) {
        out << 'f';
        for (size_t k = 0; k < 3; ++k) corner(t, k);
        out << '\n';
      }
    }
    uvBase += surface.uvs.size();
    base += surface.positions.size();
  }
  out.flush();
}

// Pr and Pm are roughness and metallic of the physically based extension that Blender and others read; Ns is
// the exponent with about the same highlight for those that do not.
void writeMaterials(OutputFile& file, const ExportScene& scene) {
  TextWriter out(file);
  const bool broken = anyInside(scene);
  std::vector<std::pair<std::string, Look>> looks;
  for (const std::string& name : numberMaterials(scene).names) {
    looks.emplace_back(name, lookOfMaterial(scene, name, false));
    if (broken) looks.emplace_back(name + kInside, lookOfMaterial(scene, name, true));
  }
  for (const auto& [name, look] : looks) {
    const Vec3f colour = solidColour(look);
    const float exponent = std::clamp(2 / std::max(1e-4f, std::pow(look.roughness, 4.0f)) - 2, 0.0f, 1000.0f);
    out << "newmtl " << materialWord(name) << "\nKd " << colour.x() << ' ' << colour.y() << ' ' << colour.z()
        << "\nNs " << exponent << "\nNi " << look.refraction << "\nd " << 1 - 0.8f * look.transmission
        << "\nPr " << look.roughness << "\nPm " << look.metallic << "\n\n";
  }
  out.flush();
}

template <class T>
void putBytes(TextWriter& out, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out << std::string_view(bytes, sizeof value);
}

std::array<uint8_t, 3> shadeOf(const ExportScene& scene, const std::string& material) {
  const Vec3f colour = solidColour(lookOfMaterial(scene, material, false));
  std::array<uint8_t, 3> shade{};
  for (size_t k = 0; k < 3; ++k)
    shade[k] = static_cast<uint8_t>(
        std::lround(255 * srgbFromLinear(std::clamp(colour[static_cast<int>(k)], 0.0f, 1.0f))));
  return shade;
}

// Texture coordinates and materials of slots only where the scene has some. Vertices have the colour of the
// first triangle that uses them.
void writePlyFrame(OutputFile& file, const ExportScene& scene, const ExportFrame& frame) {
  const std::vector<BodySurface> surfaces = surfacesOf(scene, frame);
  const MaterialNumbers materials = numberMaterials(scene);
  const bool slots = std::any_of(scene.meshes.begin(), scene.meshes.end(),
                                 [](const record::MeshEntry& mesh) { return !mesh.slots.empty(); });
  const bool uvs = std::any_of(scene.meshes.begin(), scene.meshes.end(),
                               [](const record::MeshEntry& mesh) { return !mesh.uvs.empty(); });
  std::vector<SplitSurface> parts;
  uint64_t vertices = 0, faces = 0;
  for (const BodySurface& surface : surfaces) {
    parts.push_back(splitByUvs(surface));
    vertices += parts.back().vertices.size();
    faces += surface.triangles.size();
  }
  if (vertices > UINT32_MAX || faces > UINT32_MAX)
    throw Error(ErrorKind::Limit, "a frame has more vertices than 32-bit indices allow");
  TextWriter out(file);
  out << "ply\nformat binary_little_endian 1.0\ncomment frame " << frame.state.number << ", "
      << frame.state.time << " s\nelement vertex " << vertices
      << "\nproperty float x\nproperty float y\nproperty float z\nproperty uchar red\nproperty uchar green\n"
         "property uchar blue\nproperty int body\n";
  if (uvs) out << "property float s\nproperty float t\n";
  out << "element face " << faces
      << "\nproperty list uchar uint vertex_indices\nproperty int body\nproperty uchar interior\n";
  if (slots) out << "property int material\n";
  out << "end_header\n";
  for (size_t s = 0; s < surfaces.size(); ++s) {
    const BodySurface& surface = surfaces[s];
    const record::BodyEntry& body = scene.bodies[surface.body];
    std::vector<std::array<uint8_t, 3>> shades(parts[s].vertices.size(), shadeOf(scene, body.material));
    if (!surface.slots.empty())
      for (size_t t = surface.triangles.size(); t-- > 0;)
        for (const uint32_t v : parts[s].triangles[t]) shades[v] = shadeOf(scene, surface.material(body, t));
    for (size_t i = 0; i < parts[s].vertices.size(); ++i) {
      const Vec3f p = surface.place(surface.positions[parts[s].vertices[i]]);
      for (int k = 0; k < 3; ++k) putBytes(out, p[k]);
      for (const uint8_t shade : shades[i]) putBytes(out, shade);
      putBytes(out, static_cast<int32_t>(surface.body));
      for (int k = 0; uvs && k < 2; ++k) putBytes(out, parts[s].uvs.empty() ? 0.0f : parts[s].uvs[i][k]);
    }
  }
  uint32_t base = 0;
  for (size_t s = 0; s < surfaces.size(); ++s) {
    const BodySurface& surface = surfaces[s];
    for (size_t t = 0; t < surface.triangles.size(); ++t) {
      putBytes(out, uint8_t(3));
      for (const uint32_t v : parts[s].triangles[t]) putBytes(out, base + v);
      putBytes(out, static_cast<int32_t>(surface.body));
      putBytes(out, uint8_t(surface.interior.empty() ? 0 : surface.interior[t]));
      if (slots) putBytes(out, materials.of(surface.material(scene.bodies[surface.body], t)));
    }
    base += static_cast<uint32_t>(parts[s].vertices.size());
  }
  out.flush();
}

template <class Write>
std::string everyFrame(const ExportScene& scene, ExportFiles& files, const ExportProgress& progress,
                       const char* ending, Write&& write) {
  ExportFrame frame;
  for (size_t f = 0; f < scene.frames.size(); ++f) {
    scene.readFrame(scene.frames[f], frame);
    files.write(frameFileName(scene.frames[f], ending), [&](OutputFile& out) { write(out, scene, frame); });
    progress(f + 1, scene.frames.size());
  }
  return frameFileName(scene.frames.front(), ending);
}

}  // namespace

std::string exportObj(const ExportScene& scene, ExportFiles& files, const ExportProgress& progress) {
  const std::string first = everyFrame(scene, files, progress, ".obj", writeObjFrame);
  files.write("materials.mtl", [&](OutputFile& out) { writeMaterials(out, scene); });
  return first;
}

std::string exportPly(const ExportScene& scene, ExportFiles& files, const ExportProgress& progress) {
  return everyFrame(scene, files, progress, ".ply", writePlyFrame);
}

}  // namespace sunder::show
