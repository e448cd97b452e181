// OFF with its prefixes C (colours), N (normals) and ST (texture coordinates), as Geomview defines them.
#include "sunder/meshio/mesh_formats.h"
#include "sunder/meshio/soup_builder.h"
#include "sunder/meshio/text_scanner.h"

namespace sunder::meshio {

namespace {

struct OffKind {
  bool uvs = false, colours = false, normals = false;
};

OffKind readKind(TextScanner& in) {
  std::string_view word = in.word();
  const std::string_view whole = word;
  OffKind kind;
  auto take = [&](std::string_view prefix) {
    if (!word.starts_with(prefix)) return false;
    word.remove_prefix(prefix.size());
    return true;
  };
  kind.uvs = take("ST");
  kind.colours = take("C");
  kind.normals = take("N");
  const bool homogeneous = take("4"), anyDimension = take("n");
  if (word != "OFF") throw in.expected("'OFF'", whole).hint("is it an OFF file?");
  if (homogeneous || anyDimension)
    throw Error(ErrorKind::Unsupported, "OFF files of other than 3 dimensions are not read")
        .inFile(in.name());
  if (in.lineHasMore() && in.peekWord() == "BINARY")
    throw Error(ErrorKind::Unsupported, "binary OFF files are not read")
        .inFile(in.name())
        .hint("save it as text");
  return kind;
}

// Numbers of a colour are 0..255 as integers or 0..1 with a point; the file as a whole decides.
struct ColourReader {
  std::vector<Vec4f> colours;
  bool fractions = false;

  void read(TextScanner& in, bool uvsFollow) {
    float values[7] = {0, 0, 0, 1, 0, 0, 0};
    int count = 0;
    const int most =
        uvsFollow ? 3 : 4;  // a transparency could not be told from a texture coordinate otherwise
    while (count < most && in.lineHasMore()) {
      const std::string_view word = in.peekWord();
      const double value = in.readDouble("a colour");
      fractions = fractions || word.find_first_of(".eE") != word.npos;
      values[count++] = static_cast<float>(value > 1e30 ? 1e30 : value < -1e30 ? -1e30 : value);
    }
    if (count < 3) throw in.error("a vertex of a COFF file needs 3 or 4 numbers for its colour");
    if (count == 3) values[3] = -1;  // opaque, on whichever scale
    colours.emplace_back(values[0], values[1], values[2], values[3]);
  }
  std::vector<Vec4f> finish() {
    for (Vec4f& c : colours) {
      const bool opaque = c[3] == -1;
      if (!fractions) c /= 255.0f;
      if (opaque) c[3] = 1;
    }
    return std::move(colours);
  }
};

}  // namespace

MeshFile readOff(Bytes bytes, const std::string& name) {
  TextScanner in({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, name, '#');
  const OffKind kind = readKind(in);
  const uint64_t vertexCount = in.readUint("the number of vertices");
  const uint64_t faceCount = in.readUint("the number of faces");
  if (in.lineHasMore()) in.readUint("the number of edges");  // often wrong and not needed
  in.checkCount(vertexCount, 5, "vertices");
  if (faceCount > 0) in.checkCount(faceCount, 2, "faces");
  checkIndexable(vertexCount, "vertices", name);
  checkIndexable(faceCount, "faces", name);

  MeshFile file;
  file.format = MeshFormat::Off;
  geometry::PolygonSoup& soup = file.surface;
  soup.positions.resize(static_cast<size_t>(vertexCount));
  std::vector<Vec3> normals;
  std::vector<Vec2> uvs;
  ColourReader colours;
  bool extras = false;
  for (Vec3& p : soup.positions) {
    for (int i = 0; i < 3; ++i) p[i] = in.readCoordinate();
    if (kind.normals) {
      Vec3 n;
      for (int i = 0; i < 3; ++i) n[i] = in.readDouble("a normal's coordinate");
      normals.push_back(n);
    }
    if (kind.colours) colours.read(in, kind.uvs);
    if (kind.uvs) {
      const double u = in.readDouble("a texture coordinate");
      uvs.emplace_back(u, in.readDouble("a texture coordinate"));
    }
    if (in.lineHasMore()) {
      in.readDouble("a number");
      extras = true;
      in.nextLine();
    }
  }
  soup.vertexColours = colours.finish();

  soup.faceOffsets.reserve(static_cast<size_t>(faceCount) + 1);
  uint64_t dropped = 0;
  bool faceColours = false;
  for (uint64_t f = 0; f < faceCount; ++f) {
    const uint64_t length = in.readUint("the number of corners of a face");
    if (length > 0) in.checkCount(length - 1, 2, "corners of a face");
    const size_t first = soup.corners.size();
    for (uint64_t i = 0; i < length; ++i) {
      const uint64_t v = in.readUint("a vertex index");
      if (v >= vertexCount)
        throw in
            .error("face refers to vertex " + std::to_string(v) + ", but there are only " +
                   std::to_string(vertexCount) + " vertices")
            .hint("indices in OFF files start at 0");
      soup.corners.push_back(static_cast<uint32_t>(v));
    }
    if (in.lineHasMore()) {
      faceColours = true;
      in.nextLine();
    }
    if (length < 3) {
      soup.corners.resize(first);
      ++dropped;
      continue;
    }
    checkIndexable(soup.corners.size(), "corners", name);
    soup.faceOffsets.push_back(static_cast<uint32_t>(soup.corners.size()));
  }
  if (in.skipToWord()) file.notes.emplace_back("ignored what follows the last face");

  if (kind.normals)
    for (const uint32_t v : soup.corners) soup.cornerNormals.push_back(normals[v]);
  if (kind.uvs)
    for (const uint32_t v : soup.corners) soup.cornerUvs.push_back(uvs[v]);
  dropBrokenAttributes(soup, file.notes);
  if (extras) file.notes.emplace_back("ignored extra numbers on vertex lines");
  if (faceColours) file.notes.emplace_back("face colours ignored");
  noteDroppedFaces(file.notes, dropped);
  return file;
}

}  // namespace sunder::meshio
