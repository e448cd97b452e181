// GLB: one mesh in one node, one primitive per group (named in its extras, where our reader finds it).
// Corners that differ in normal or texture coordinate become separate vertices, as the format demands.
#include "sunder/base/error.h"
#include "sunder/base/file.h"
#include "sunder/meshio/glb_output.h"
#include "sunder/meshio/mesh_formats.h"
#include "sunder/meshio/soup_builder.h"

#include <algorithm>

namespace sunder::meshio {

namespace {

class GlbBuilder {
 public:
  GlbBuilder(const geometry::PolygonSoup& soup, const geometry::TriMesh& mesh,
             const std::vector<uint32_t>& source, std::vector<Vec3f> positions)
      : soup_(soup), mesh_(mesh), source_(source), positions_(std::move(positions)) {}

  void addPrimitive(const std::vector<uint32_t>& triangles, const std::string* groupName);
  void write(OutputFile& out);

 private:
  VertexKey keyOf(uint32_t triangle, int corner) const;

  const geometry::PolygonSoup& soup_;
  const geometry::TriMesh& mesh_;
  const std::vector<uint32_t>& source_;
  std::vector<Vec3f> positions_;
  Json primitives_ = Json::array();
  GlbOutput glb_;
};

VertexKey GlbBuilder::keyOf(uint32_t triangle, int corner) const {
  VertexKey key;
  key.position = mesh_.triangles[triangle][size_t(corner)];
  if (soup_.cornerNormals.empty() && soup_.cornerUvs.empty()) return key;
  const uint32_t face = source_[triangle];
  uint32_t c = soup_.faceOffsets[face];
  while (c + 1 < soup_.faceOffsets[face + 1] && soup_.corners[c] != key.position) ++c;
  if (!soup_.cornerNormals.empty()) {
    // The format wants unit length.
    const Vec3 n = soup_.cornerNormals[c];
    const double length = n.norm();
    const bool isUnit = std::abs(length - 1) < 1e-6;
    for (int k = 0; k < 3; ++k)
      key.values[k] = static_cast<float>(isUnit ? n[k] : length > 0 ? n[k] / length : (k == 1 ? 1.0 : 0.0));
  }
  if (!soup_.cornerUvs.empty()) {
    const Vec2 uv = soup_.cornerUvs[c].cwiseMax(-1e30).cwiseMin(1e30);
    key.values[3] = static_cast<float>(uv.x());
    key.values[4] = static_cast<float>(1 - uv.y());  // glTF counts v downwards
  }
  return key;
}

void GlbBuilder::addPrimitive(const std::vector<uint32_t>& triangles, const std::string* groupName) {
  VertexTable table;
  std::vector<uint32_t> indices;
  indices.reserve(3 * triangles.size());
  for (const uint32_t t : triangles)
    for (int k = 0; k < 3; ++k) indices.push_back(table.add(keyOf(t, k)));

  std::vector<float> positions, normals, uvs, colours;
  positions.reserve(3 * table.keys.size());
  for (const VertexKey& key : table.keys) {
    const Vec3f& p = positions_[key.position];
    positions.insert(positions.end(), p.data(), p.data() + 3);
    if (!soup_.cornerNormals.empty()) normals.insert(normals.end(), key.values, key.values + 3);
    if (!soup_.cornerUvs.empty()) uvs.insert(uvs.end(), key.values + 3, key.values + 5);
    if (!soup_.vertexColours.empty()) {
      const Vec4f& c = soup_.vertexColours[key.position];
      colours.insert(colours.end(), c.data(), c.data() + 4);
    }
  }
  Json attributes = Json::object();
  attributes["POSITION"] = glb_.addWithBounds(positions, 3, GlbTarget::Vertices);
  if (!normals.empty()) attributes["NORMAL"] = glb_.add<float>(normals, 3, GlbTarget::Vertices);
  if (!uvs.empty()) attributes["TEXCOORD_0"] = glb_.add<float>(uvs, 2, GlbTarget::Vertices);
  if (!colours.empty()) attributes["COLOR_0"] = glb_.add<float>(colours, 4, GlbTarget::Vertices);
  const int indexAccessor = glb_.addIndices(indices, table.keys.size());
  Json primitive = {{"attributes", attributes}, {"indices", indexAccessor}, {"material", 0}};
  if (groupName) primitive["extras"] = {{"group", *groupName}};
  primitives_.push_back(std::move(primitive));
}

void GlbBuilder::write(OutputFile& out) {
  Json root = {{"scene", 0}};
  if (primitives_.empty()) {
    root["scenes"] = Json::array({Json::object()});
  } else {
    root["scenes"] = Json::array({Json{{"nodes", Json::array({0})}}});
    root["nodes"] = Json::array({Json{{"mesh", 0}, {"name", "mesh"}}});
    root["meshes"] = Json::array({Json{{"primitives", std::move(primitives_)}}});
    const Json look = {
        {"baseColorFactor", {0.8, 0.8, 0.8, 1.0}}, {"metallicFactor", 0.0}, {"roughnessFactor", 0.6}};
    root["materials"] = Json::array({Json{{"name", "neutral"}, {"pbrMetallicRoughness", look}}});
  }
  try {
    glb_.write(out, std::move(root));
  } catch (Error& e) {
    throw std::move(e.hint("write .ply instead"));
  }
}

}  // namespace

std::vector<std::string> writeGlb(OutputFile& out, const MeshFile& file) {
  const geometry::PolygonSoup& soup = file.surface;
  std::vector<std::string> notes;
  std::vector<uint32_t> source;
  const geometry::TriMesh mesh = geometry::toTriMesh(soup, &source);
  if (mesh.triangles.size() != soup.faceCount())
    notes.emplace_back("GLB keeps only triangles: polygons were divided");
  GlbBuilder builder(soup, mesh, source, floatPositions(mesh.positions, "GLB", notes));

  const size_t groups = soup.faceGroup.empty() ? 1 : std::max<size_t>(1, soup.groupNames.size());
  std::vector<std::vector<uint32_t>> triangles(groups);
  for (uint32_t t = 0; t < mesh.triangles.size(); ++t) {
    const uint32_t group = soup.faceGroup.empty() ? 0 : soup.faceGroup[source[t]];
    triangles[std::min<size_t>(group, groups - 1)].push_back(t);
  }
  for (size_t g = 0; g < groups; ++g)
    if (!triangles[g].empty())
      builder.addPrimitive(triangles[g],
                           soup.faceGroup.empty() || soup.groupNames.empty() ? nullptr : &soup.groupNames[g]);
  builder.write(out);
  return notes;
}

}  // namespace sunder::meshio
