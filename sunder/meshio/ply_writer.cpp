#include "sunder/meshio/mesh_formats.h"
#include "sunder/meshio/soup_builder.h"
#include "sunder/meshio/text_writer.h"

#include <bit>
#include <cstring>

namespace sunder::meshio {

namespace {

static_assert(std::endian::native == std::endian::little, "binary files are written in the machine's order");

// PLY keeps normals per vertex only: this is one per vertex, or nothing when a vertex has several.
std::vector<Vec3> normalsPerVertex(const geometry::PolygonSoup& soup) {
  std::vector<Vec3> normals(soup.positions.size(), Vec3::Zero());
  std::vector<bool> known(soup.positions.size());
  for (size_t c = 0; c < soup.corners.size(); ++c) {
    const uint32_t v = soup.corners[c];
    if (known[v] && normals[v] != soup.cornerNormals[c]) return {};
    known[v] = true;
    normals[v] = soup.cornerNormals[c];
  }
  return normals;
}

// Rows of numbers as text or as bytes.
class RowWriter {
 public:
  RowWriter(OutputFile& out, bool ascii) : text_(out), ascii_(ascii) {}

  template <class T>
  void put(T value) {
    if (ascii_) {
      if (!first_) text_ << ' ';
      if constexpr (sizeof(T) == 1)
        text_ << unsigned(value);
      else
        text_ << value;
      first_ = false;
    } else {
      char bytes[sizeof value];
      std::memcpy(bytes, &value, sizeof value);
      text_ << std::string_view(bytes, sizeof value);
    }
  }
  void endRow() {
    if (ascii_) text_ << '\n';
    first_ = true;
  }
  void flush() { text_.flush(); }

 private:
  TextWriter text_;
  bool ascii_, first_ = true;
};

}  // namespace

std::vector<std::string> writePly(OutputFile& file, const MeshFile& mesh, bool ascii) {
  const geometry::PolygonSoup& soup = mesh.surface;
  std::vector<std::string> notes;
  if (!soup.faceGroup.empty()) notes.emplace_back("PLY keeps no groups");
  std::vector<Vec3> normals;
  if (!soup.cornerNormals.empty()) {
    normals = normalsPerVertex(soup);
    if (normals.empty())
      notes.emplace_back("PLY keeps one normal per vertex; here vertices have several, so none are kept");
  }
  size_t longest = 0;
  for (size_t f = 0; f < soup.faceCount(); ++f) longest = std::max(longest, soup.face(f).size());
  const bool uvs = !soup.cornerUvs.empty(), colours = !soup.vertexColours.empty();
  const bool shortLists = 2 * longest <= 255;
  const std::string lengthType = shortLists ? "uchar" : "uint";

  std::string header = "ply\nformat ";
  header += ascii ? "ascii" : "binary_little_endian";
  header += " 1.0\nelement vertex " + std::to_string(soup.positions.size()) +
            "\nproperty double x\nproperty double y\nproperty double z\n";
  if (!normals.empty()) header += "property double nx\nproperty double ny\nproperty double nz\n";
  if (colours)
    header += "property float red\nproperty float green\nproperty float blue\nproperty float alpha\n";
  header += "element face " + std::to_string(soup.faceCount()) + "\nproperty list " + lengthType +
            " uint vertex_indices\n";
  if (uvs) header += "property list " + lengthType + " double texcoord\n";
  file.write(header + "end_header\n");

  RowWriter out(file, ascii);
  auto putLength = [&](size_t length) {
    if (shortLists)
      out.put(static_cast<uint8_t>(length));
    else
      out.put(static_cast<uint32_t>(length));
  };
  for (size_t i = 0; i < soup.positions.size(); ++i) {
    for (int k = 0; k < 3; ++k) out.put(soup.positions[i][k]);
    if (!normals.empty())
      for (int k = 0; k < 3; ++k) out.put(normals[i][k]);
    if (colours)
      for (int k = 0; k < 4; ++k) out.put(soup.vertexColours[i][k]);
    out.endRow();
  }
  for (size_t f = 0; f < soup.faceCount(); ++f) {
    const auto face = soup.face(f);
    putLength(face.size());
    for (const uint32_t v : face) out.put(v);
    if (uvs) {
      putLength(2 * face.size());
      for (size_t c = soup.faceOffsets[f]; c < soup.faceOffsets[f + 1]; ++c) {
        out.put(soup.cornerUvs[c].x());
        out.put(soup.cornerUvs[c].y());
      }
    }
    out.endRow();
  }
  out.flush();
  return notes;
}

}  // namespace sunder::meshio
