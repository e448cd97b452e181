// Text STL keeps doubles and groups (as solids); binary STL has 32-bit floats and neither groups nor names.
#include "sunder/base/error.h"
#include "sunder/meshio/mesh_formats.h"
#include "sunder/meshio/soup_builder.h"
#include "sunder/meshio/text_writer.h"

#include <cstring>

namespace sunder::meshio {

namespace {

Vec3 unitNormal(const geometry::TriMesh& mesh, const geometry::Triangle& t) {
  const Vec3 &a = mesh.positions[t[0]], &b = mesh.positions[t[1]], &c = mesh.positions[t[2]];
  Vec3 ab = b - a, ac = c - a;
  // Scaled first, so that the product of tiny or huge edges neither vanishes nor overflows.
  const double size = std::max(ab.cwiseAbs().maxCoeff(), ac.cwiseAbs().maxCoeff());
  if (!(size > 0) || !std::isfinite(size)) return Vec3::Zero();
  const Vec3 n = (ab / size).cross(ac / size);
  const double length = n.norm();
  return length > 0 ? Vec3(n / length) : Vec3(Vec3::Zero());
}

void writeText(OutputFile& file, const geometry::TriMesh& mesh, const geometry::PolygonSoup& soup,
               const std::vector<uint32_t>& source) {
  TextWriter out(file);
  auto groupOf = [&](size_t t) { return soup.faceGroup.empty() ? kNoIndex : soup.faceGroup[source[t]]; };
  auto groupName = [&](uint32_t group) {
    std::string shown = group < soup.groupNames.size() ? soup.groupNames[group] : "mesh";
    for (char& c : shown)
      if (static_cast<unsigned char>(c) < 32) c = '_';
    return shown;
  };
  uint32_t group = mesh.triangles.empty() ? kNoIndex : groupOf(0);
  out << "solid " << groupName(group) << '\n';
  for (size_t t = 0; t < mesh.triangles.size(); ++t) {
    if (groupOf(t) != group) {
      out << "endsolid " << groupName(group) << '\n';
      group = groupOf(t);
      out << "solid " << groupName(group) << '\n';
    }
    const Vec3f n = unitNormal(mesh, mesh.triangles[t]).cast<float>();
    out << "facet normal " << n.x() << ' ' << n.y() << ' ' << n.z() << "\n outer loop\n";
    for (const uint32_t v : mesh.triangles[t]) {
      const Vec3& p = mesh.positions[v];
      out << "  vertex " << p.x() << ' ' << p.y() << ' ' << p.z() << '\n';
    }
    out << " endloop\nendfacet\n";
  }
  out << "endsolid " << groupName(group) << '\n';
  out.flush();
}

void writeBinary(OutputFile& file, const geometry::TriMesh& mesh, const std::vector<Vec3f>& positions) {
  char header[80] = "binary STL";
  file.write(std::string_view(header, sizeof header));
  const uint32_t count = static_cast<uint32_t>(mesh.triangles.size());
  file.write(std::as_bytes(std::span(&count, 1)));
  std::vector<char> buffer;
  constexpr size_t kBlock = 4096;
  for (size_t begin = 0; begin < count; begin += kBlock) {
    const size_t end = std::min<size_t>(count, begin + kBlock);
    buffer.assign(50 * (end - begin), 0);
    for (size_t t = begin; t < end; ++t) {
      const Vec3f n = unitNormal(mesh, mesh.triangles[t]).cast<float>();
      char* at = buffer.data() + 50 * (t - begin);
      std::memcpy(at, n.data(), 12);
      for (int k = 0; k < 3; ++k)
        std::memcpy(at + 12 + 12 * k, positions[mesh.triangles[t][size_t(k)]].data(), 12);
    }
    file.write(std::string_view(buffer.data(), buffer.size()));
  }
}

}  // namespace

std::vector<std::string> writeStl(OutputFile& file, const MeshFile& mesh, bool ascii) {
  const geometry::PolygonSoup& soup = mesh.surface;
  std::vector<std::string> notes;
  std::vector<uint32_t> source;
  const geometry::TriMesh triangles = geometry::toTriMesh(soup, &source);
  if (triangles.triangles.size() != soup.faceCount())
    notes.emplace_back("STL keeps only triangles: polygons were divided");
  if (!soup.cornerUvs.empty() || !soup.vertexColours.empty() || !soup.cornerNormals.empty())
    notes.emplace_back("STL keeps no normals, texture coordinates or colours");
  if (ascii) {
    writeText(file, triangles, soup, source);
    return notes;
  }
  if (!soup.faceGroup.empty()) notes.emplace_back("STL keeps no groups");
  writeBinary(file, triangles, floatPositions(triangles.positions, "STL", notes));
  return notes;
}

}  // namespace sunder::meshio
