#include "sunder/meshio/mesh_formats.h"
#include "sunder/meshio/text_writer.h"

namespace sunder::meshio {

std::vector<std::string> writeOff(OutputFile& file, const MeshFile& mesh) {
  const geometry::PolygonSoup& soup = mesh.surface;
  std::vector<std::string> notes;
  if (!soup.faceGroup.empty()) notes.emplace_back("OFF keeps no groups");
  if (!soup.cornerUvs.empty() || !soup.cornerNormals.empty())
    notes.emplace_back("normals and texture coordinates are not written to OFF files");
  const bool colours = !soup.vertexColours.empty();

  TextWriter out(file);
  out << (colours ? "COFF\n" : "OFF\n") << soup.positions.size() << ' ' << soup.faceCount() << " 0\n";
  for (size_t i = 0; i < soup.positions.size(); ++i) {
    const Vec3& p = soup.positions[i];
    out << p.x() << ' ' << p.y() << ' ' << p.z();
    if (colours) {
      for (int k = 0; k < 4; ++k) {
        const float c = soup.vertexColours[i][k];
        out << ' ' << c;
        // Readers take a number without a point for one of 0..255.
        if (c == std::floor(c) && std::abs(c) < 1e4f) out << ".0";
      }
    }
    out << '\n';
  }
  for (size_t f = 0; f < soup.faceCount(); ++f) {
    const auto face = soup.face(f);
    out << face.size();
    for (const uint32_t v : face) out << ' ' << v;
    out << '\n';
  }
  out.flush();
  return notes;
}

}  // namespace sunder::meshio
