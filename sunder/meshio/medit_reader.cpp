// Medit's text files (.mesh), as described by P. Frey, "Medit: an interactive mesh visualization software"
// (INRIA RT-0253, 2001): keywords in any order, each followed by a count and that many rows.
#include "sunder/base/error.h"
#include "sunder/meshio/cell_soup.h"
#include "sunder/meshio/mesh_formats.h"
#include "sunder/meshio/text_scanner.h"

#include <limits>

namespace sunder::meshio {

namespace {

class MeditReader {
 public:
  MeditReader(std::string_view text, const std::string& name) : scanner_(text, name) {}
  MeshFile read();

 private:
  void readVertices();
  void readCells(std::string_view what, size_t corners);
  void skipSection(const std::string& keyword);
  int32_t readReference();
  void readDimension();

  TextScanner scanner_;
  CellSoup soup_;
  bool hasDimension_ = false, hasVertices_ = false;
  uint64_t sectionsSkipped_ = 0;
  std::string skippedNames_;
};

int32_t MeditReader::readReference() {
  const int64_t value = scanner_.readInt("a reference");
  if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max())
    throw scanner_.error("reference " + std::to_string(value) + " does not fit into 32 bits");
  return static_cast<int32_t>(value);
}

void MeditReader::readDimension() {
  const uint64_t dimension = scanner_.readUint("the dimension");
  if (dimension != 3)
    throw Error(ErrorKind::Unsupported, "the dimension is " + std::to_string(dimension) + ", only 3 is read")
        .inFile(scanner_.name())
        .atLine(scanner_.line());
  hasDimension_ = true;
}

void MeditReader::readVertices() {
  if (hasVertices_) throw scanner_.error("Vertices are given twice");
  if (!hasDimension_) throw scanner_.error("Vertices must come after Dimension");
  hasVertices_ = true;
  const uint64_t count = scanner_.readUint("the number of vertices");
  scanner_.checkCount(count, 8, "vertices");
  checkElementLimit(count, "vertices", scanner_.name());
  soup_.positions.resize(count);
  for (Vec3& p : soup_.positions) {
    for (int k = 0; k < 3; ++k) p[k] = scanner_.readCoordinate();
    scanner_.readInt("a reference");
  }
}

void MeditReader::readCells(std::string_view what, size_t corners) {
  if (!hasVertices_) throw scanner_.error(std::string(what) + " must come after Vertices");
  const uint64_t count = scanner_.readUint("the number of " + std::string(what));
  const bool tets = what == "Tetrahedra";
  scanner_.checkCount(count, 2 * (corners + 1), what);
  checkElementLimit(soup_.corners.size() + corners * count, "corners", scanner_.name());
  std::array<uint32_t, 4> cell{};
  for (uint64_t i = 0; i < count; ++i) {
    for (size_t c = 0; c < corners; ++c) {
      const int64_t vertex = scanner_.readInt("a vertex's number");
      if (vertex < 1 || static_cast<uint64_t>(vertex) > soup_.positions.size())
        throw scanner_
            .error(std::string(what) + " refer to vertex " + std::to_string(vertex) +
                   ", but there are only " + std::to_string(soup_.positions.size()))
            .hint("vertices count from 1");
      cell[c] = static_cast<uint32_t>(vertex - 1);
    }
    const int32_t reference = readReference();
    if (tets) {
      soup_.tets.push_back(cell);
      soup_.tetTags.push_back(reference);
    } else {
      soup_.addFace(std::span(cell).first(corners));
      soup_.faceTags.push_back(reference);
    }
  }
}

// Whatever follows up to the next word that starts like a keyword.
void MeditReader::skipSection(const std::string& keyword) {
  auto isLetter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (!isLetter(keyword.front())) throw scanner_.expected("a keyword", keyword);
  if (++sectionsSkipped_ <= 8) {
    if (!skippedNames_.empty()) skippedNames_ += ", ";
    skippedNames_ += keyword.substr(0, 40);
  }
  for (std::string_view next = scanner_.peekWord(); !next.empty() && !isLetter(next.front());
       next = scanner_.peekWord())
    scanner_.word();
}

MeshFile MeditReader::read() {
  scanner_.expectWord("MeshVersionFormatted");
  const uint64_t version = scanner_.readUint("the version");
  if (version < 1 || version > 4)
    throw scanner_.error("version " + std::to_string(version) + " of the format is unknown");
  bool ended = false;
  while (!ended) {
    const std::string keyword(scanner_.word());
    if (keyword.empty() || keyword == "End")
      ended = true;
    else if (keyword == "Dimension")
      readDimension();
    else if (keyword == "Vertices")
      readVertices();
    else if (keyword == "Triangles")
      readCells(keyword, 3);
    else if (keyword == "Quadrilaterals")
      readCells(keyword, 4);
    else if (keyword == "Tetrahedra")
      readCells(keyword, 4);
    else
      skipSection(keyword);
  }
  if (!hasVertices_) throw scanner_.error("there are no Vertices in it");
  if (sectionsSkipped_ > 0)
    soup_.notes.push_back("sections left out: " + skippedNames_ + (sectionsSkipped_ > 8 ? ", ..." : ""));
  return toMeshFile(std::move(soup_), MeshFormat::Medit);
}

}  // namespace

MeshFile readMedit(Bytes bytes, const std::string& name) {
  return MeditReader({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, name).read();
}

}  // namespace sunder::meshio
