// STL, text and binary. The format has no vertices, only corners; corners at the same place become one
// vertex.
#include "sunder/meshio/mesh_formats.h"
#include "sunder/meshio/soup_builder.h"
#include "sunder/meshio/text_scanner.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>

namespace sunder::meshio {

namespace {

constexpr size_t kHeaderBytes = 84;
constexpr size_t kTriangleBytes = 50;

bool isWord(std::string_view word, std::string_view lowerCase) {
  return std::equal(word.begin(), word.end(), lowerCase.begin(), lowerCase.end(),
                    [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
}

uint32_t claimedTriangles(Bytes bytes) {
  uint32_t count = 0;
  std::memcpy(&count, bytes.data() + 80, sizeof count);
  return count;
}

// The size decides first: many binary files start with "solid" as well.
bool looksBinary(Bytes bytes) {
  if (bytes.size() >= kHeaderBytes &&
      bytes.size() == kHeaderBytes + kTriangleBytes * size_t(claimedTriangles(bytes)))
    return true;
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::string_view head = text.substr(0, kHeaderBytes);
  const size_t first = head.find_first_not_of(" \t\r\n");
  if (first == head.npos || !isWord(head.substr(first, 5), "solid")) return true;
  return head.find('\0') != head.npos;
}

MeshFile readBinary(Bytes bytes, const std::string& name) {
  if (bytes.size() < kHeaderBytes)
    throw Error(ErrorKind::Format,
                "neither text that starts with 'solid' nor long enough for a binary STL file")
        .inFile(name);
  const uint32_t count = claimedTriangles(bytes);
  const size_t body = bytes.size() - kHeaderBytes;
  try {
    checkCount(count, kTriangleBytes, body, "triangles");
  } catch (Error& e) {
    throw std::move(e.inFile(name).atByte(80));
  }
  const size_t extra = body - kTriangleBytes * size_t(count);
  if (count == 0 && extra > 0)
    throw Error(ErrorKind::Format, "this is neither a text nor a binary STL file").inFile(name);
  checkIndexable(3 * uint64_t(count), "corners", name);

  MeshFile file;
  file.format = MeshFormat::Stl;
  geometry::PolygonSoup& soup = file.surface;
  soup.corners.reserve(3 * size_t(count));
  soup.positions.reserve(size_t(count) / 2 + 8);
  ExactWelder welder(soup.positions);
  for (size_t t = 0; t < count; ++t) {
    const size_t offset = kHeaderBytes + t * kTriangleBytes + 12;  // behind the normal
    float corner[9];
    std::memcpy(corner, bytes.data() + offset, sizeof corner);
    for (int k = 0; k < 3; ++k) {
      const Vec3 p = Eigen::Map<const Vec3f>(corner + 3 * k).cast<double>();
      if (!isFinite(p))
        throw Error(ErrorKind::Format, "coordinate is not finite in triangle " + std::to_string(t))
            .inFile(name)
            .atByte(offset + 12 * size_t(k));
      soup.corners.push_back(welder.add(p));
    }
  }
  soup.faceOffsets.resize(size_t(count) + 1);
  for (size_t t = 0; t <= count; ++t) soup.faceOffsets[t] = static_cast<uint32_t>(3 * t);
  noteWelded(file.notes, soup.corners.size(), soup.positions.size());
  if (extra > 0)
    file.notes.push_back("ignored " + counted(extra, "byte", "bytes") + " after the last triangle");
  return file;
}

void expectKeyword(TextScanner& in, std::string_view keyword) {
  const std::string_view found = in.word();
  if (!isWord(found, keyword)) throw in.expected(quoted(keyword), found);
}

MeshFile readText(std::string_view text, const std::string& name) {
  MeshFile file;
  file.format = MeshFormat::Stl;
  geometry::PolygonSoup& soup = file.surface;
  ExactWelder welder(soup.positions);
  TextScanner in(text, name, '\0');
  std::map<std::string, uint32_t, std::less<>> groups;
  uint64_t dropped = 0;
  size_t solids = 0;
  while (in.skipToWord()) {
    expectKeyword(in, "solid");
    const std::string solid(in.lineHasMore() ? in.restOfLine().substr(0, 1000) : std::string_view());
    ++solids;
    const auto [found, added] = groups.try_emplace(solid, static_cast<uint32_t>(soup.groupNames.size()));
    if (added) soup.groupNames.push_back(solid);
    const uint32_t group = found->second;
    for (;;) {
      const std::string_view word = in.word();
      if (isWord(word, "endsolid")) {
        in.nextLine();  // the name may follow again
        break;
      }
      if (!isWord(word, "facet")) throw in.expected("'facet' or 'endsolid'", word);
      expectKeyword(in, "normal");
      for (int i = 0; i < 3; ++i) in.readDouble("a normal's coordinate");  // not used, so it may be NaN
      expectKeyword(in, "outer");
      expectKeyword(in, "loop");
      const size_t first = soup.corners.size();
      for (;;) {
        const std::string_view next = in.word();
        if (isWord(next, "endloop")) break;
        if (!isWord(next, "vertex")) throw in.expected("'vertex' or 'endloop'", next);
        Vec3 p;
        for (int i = 0; i < 3; ++i) p[i] = in.readCoordinate();
        soup.corners.push_back(welder.add(p));
      }
      expectKeyword(in, "endfacet");
      if (soup.corners.size() - first < 3) {
        soup.corners.resize(first);
        ++dropped;
        continue;
      }
      checkIndexable(soup.corners.size(), "corners", name);
      soup.faceOffsets.push_back(static_cast<uint32_t>(soup.corners.size()));
      soup.faceGroup.push_back(group);
    }
  }
  if (soup.groupNames.size() < 2) {
    soup.groupNames.clear();
    soup.faceGroup.clear();
  }
  if (solids == 0) throw in.error("the file holds no solid");
  noteWelded(file.notes, soup.corners.size(), soup.positions.size());
  noteDroppedFaces(file.notes, dropped);
  return file;
}

}  // namespace

MeshFile readStl(Bytes bytes, const std::string& name) {
  if (bytes.empty()) throw Error(ErrorKind::Format, "the file is empty").inFile(name);
  if (looksBinary(bytes)) return readBinary(bytes, name);
  return readText({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, name);
}

}  // namespace sunder::meshio
