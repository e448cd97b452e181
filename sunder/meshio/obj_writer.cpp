#include "sunder/meshio/mesh_formats.h"
#include "sunder/meshio/soup_builder.h"
#include "sunder/meshio/text_writer.h"

namespace sunder::meshio {

namespace {

// A name that stays on its line.
std::string oneLine(std::string name) {
  for (char& c : name)
    if (static_cast<unsigned char>(c) < 32) c = '_';
  // A backslash at the end would join the next line.
  if (!name.empty() && name.back() == '\\') name.back() = '_';
  return name.empty() ? "default" : name;
}

}  // namespace

std::vector<std::string> writeObj(OutputFile& file, const MeshFile& mesh) {
  const geometry::PolygonSoup& soup = mesh.surface;
  std::vector<std::string> notes;
  TextWriter out(file);

  const bool colours = !soup.vertexColours.empty();
  bool opaque = true;
  for (size_t i = 0; i < soup.positions.size(); ++i) {
    const Vec3& p = soup.positions[i];
    out << "v " << p.x() << ' ' << p.y() << ' ' << p.z();
    if (colours) {
      const Vec4f& c = soup.vertexColours[i];
      out << ' ' << c[0] << ' ' << c[1] << ' ' << c[2];
      opaque = opaque && c[3] == 1;
    }
    out << '\n';
  }
  if (!opaque) notes.emplace_back("OBJ keeps no transparency of colours");

  // Equal uvs and normals are written once; the welder finds them as it finds equal positions.
  std::vector<Vec3> uvs, normals;
  std::vector<uint32_t> cornerUv, cornerNormal;
  if (!soup.cornerUvs.empty()) {
    ExactWelder welder(uvs);
    cornerUv.reserve(soup.corners.size());
    for (const Vec2& t : soup.cornerUvs) cornerUv.push_back(welder.add({t.x(), t.y(), 0}) + 1);
    for (const Vec3& t : uvs) out << "vt " << t.x() << ' ' << t.y() << '\n';
  }
  if (!soup.cornerNormals.empty()) {
    ExactWelder welder(normals);
    cornerNormal.reserve(soup.corners.size());
    for (const Vec3& n : soup.cornerNormals) cornerNormal.push_back(welder.add(n) + 1);
    for (const Vec3& n : normals) out << "vn " << n.x() << ' ' << n.y() << ' ' << n.z() << '\n';
  }

  uint32_t group = kNoIndex;
  for (size_t f = 0; f < soup.faceCount(); ++f) {
    if (!soup.faceGroup.empty() && soup.faceGroup[f] != group) {
      group = soup.faceGroup[f];
      out << "g " << (group < soup.groupNames.size() ? oneLine(soup.groupNames[group]) : "default") << '\n';
    }
    out << 'f';
    for (uint32_t c = soup.faceOffsets[f]; c < soup.faceOffsets[f + 1]; ++c) {
      out << ' ' << soup.corners[c] + 1;
      if (!cornerUv.empty()) out << '/' << cornerUv[c];
      if (!cornerNormal.empty()) out << (cornerUv.empty() ? "//" : "/") << cornerNormal[c];
    }
    out << '\n';
  }
  out.flush();
  return notes;
}

}  // namespace sunder::meshio
