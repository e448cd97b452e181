// An OBJ or a PLY a frame, with the bodies where they are.
#include "sunder/base/error.h"
#include "sunder/meshio/text_writer.h"
#include "sunder/show/export/export.h"
#include "sunder/show/export/export_files.h"
#include "sunder/show/export/export_tables.h"

#include <algorithm>
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

void writeObjFrame(OutputFile& file, const ExportScene& scene, const ExportFrame& frame) {
  TextWriter out(file);
  out << "# frame " << frame.state.number << ", " << frame.state.time << " s\nmtllib materials.mtl\n";
  uint64_t base = 1;
  for (const BodySurface& surface : surfacesOf(scene, frame)) {
    if (surface.triangles.empty()) continue;
    const record::BodyEntry& body = scene.bodies[surface.body];
    out << "o " << oneLine(body.name) << '\n';
    for (const Vec3f& vertex : surface.positions) {
      const Vec3f p = surface.place(vertex);
      out << "v " << p.x() << ' ' << p.y() << ' ' << p.z() << '\n';
    }
    for (const bool inside : {false, true}) {
      bool any = false;
      for (size_t k = 0; k < surface.triangles.size(); ++k) {
        const bool isInside = !surface.interior.empty() && surface.interior[k] != 0;
        if (isInside != inside) continue;
        if (!any) out << "usemtl " << materialWord(body.material + (inside ? kInside : "")) << '\n';
        any = true;
        const geometry::Triangle& t = surface.triangles[k];
        out << "f " << base + t[0] << ' ' << base + t[1] << ' ' << base + t[2] << '\n';
      }
    }
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

void writePlyFrame(OutputFile& file, const ExportScene& scene, const ExportFrame& frame) {
  const std::vector<BodySurface> surfaces = surfacesOf(scene, frame);
  uint64_t vertices = 0, faces = 0;
  for (const BodySurface& surface : surfaces) {
    vertices += surface.positions.size();
    faces += surface.triangles.size();
  }
  if (vertices > UINT32_MAX || faces > UINT32_MAX)
    throw Error(ErrorKind::Limit, "a frame has more vertices than 32-bit indices allow");
  TextWriter out(file);
  out << "ply\nformat binary_little_endian 1.0\ncomment frame " << frame.state.number << ", "
      << frame.state.time << " s\nelement vertex " << vertices
      << "\nproperty float x\nproperty float y\nproperty float z\nproperty uchar red\nproperty uchar green\n"
         "property uchar blue\nproperty int body\nelement face "
      << faces
      << "\nproperty list uchar uint vertex_indices\nproperty int body\nproperty uchar "
         "interior\nend_header\n";
  for (const BodySurface& surface : surfaces) {
    const Vec3f colour = solidColour(lookOfBody(scene, scene.bodies[surface.body]));
    uint8_t shade[3];
    for (int k = 0; k < 3; ++k)
      shade[k] = static_cast<uint8_t>(std::lround(255 * srgbFromLinear(std::clamp(colour[k], 0.0f, 1.0f))));
    for (const Vec3f& vertex : surface.positions) {
      const Vec3f p = surface.place(vertex);
      for (int k = 0; k < 3; ++k) putBytes(out, p[k]);
      for (const uint8_t s : shade) putBytes(out, s);
      putBytes(out, static_cast<int32_t>(surface.body));
    }
  }
  uint32_t base = 0;
  for (const BodySurface& surface : surfaces) {
    for (size_t k = 0; k < surface.triangles.size(); ++k) {
      putBytes(out, uint8_t(3));
      for (const uint32_t v : surface.triangles[k]) putBytes(out, base + v);
      putBytes(out, static_cast<int32_t>(surface.body));
      putBytes(out, surface.interior.empty() ? uint8_t(0) : surface.interior[k]);
    }
    base += static_cast<uint32_t>(surface.positions.size());
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
