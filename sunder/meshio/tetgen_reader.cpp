// TetGen's .node and .ele files (TetGen manual, "File formats"): points with numbers of their own, then
// tetrahedra that refer to those numbers.
#include "sunder/base/error.h"
#include "sunder/meshio/cell_soup.h"
#include "sunder/meshio/mesh_formats.h"
#include "sunder/meshio/text_scanner.h"

#include <cmath>
#include <limits>

namespace sunder::meshio {

namespace {

std::string_view textOf(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

void readNodes(TextScanner& scanner, CellSoup& soup, std::vector<uint64_t>& numbers) {
  const uint64_t count = scanner.readUint("the number of points");
  const uint64_t dimension = scanner.readUint("the dimension");
  if (dimension != 3) throw scanner.error("the dimension is " + std::to_string(dimension) + ", must be 3");
  const uint64_t attributes =
      scanner.lineHasMore() ? scanner.readUint("the number of attributes", 1u << 20) : 0;
  const uint64_t markers =
      scanner.lineHasMore() ? scanner.readUint("whether there are boundary markers", 1) : 0;
  if (count == 0)
    throw scanner.error("there are no points in it")
        .hint("points that only a .poly or .smesh file has are not read");
  scanner.checkCount(count, 2 * (4 + attributes + markers), "points");
  checkElementLimit(count, "points", scanner.name());
  soup.positions.resize(count);
  numbers.resize(count);
  for (uint64_t i = 0; i < count; ++i) {
    numbers[i] = scanner.readUint("a point's number");
    for (int k = 0; k < 3; ++k) soup.positions[i][k] = scanner.readCoordinate();
    for (uint64_t a = 0; a < attributes; ++a) scanner.readDouble("an attribute");
    if (markers) scanner.readInt("a boundary marker");
  }
  if (scanner.skipToWord()) throw scanner.expected("the end of the file", scanner.peekWord());
}

void readTets(TextScanner& scanner, CellSoup& soup, const TagMap& points) {
  const uint64_t count = scanner.readUint("the number of tetrahedra");
  const uint64_t corners = scanner.readUint("the number of nodes of a tetrahedron");
  if (corners != 4 && corners != 10)
    throw scanner.error("a tetrahedron has 4 or 10 nodes, not " + std::to_string(corners));
  const uint64_t attributes =
      scanner.lineHasMore() ? scanner.readUint("the number of attributes", 1u << 20) : 0;
  scanner.checkCount(count, 2 * (1 + corners + attributes), "tetrahedra");
  checkElementLimit(count, "tetrahedra", scanner.name());
  soup.tets.resize(count);
  if (attributes > 0) soup.tetTags.resize(count);
  bool whole = true;
  for (uint64_t i = 0; i < count; ++i) {
    scanner.readInt("a tetrahedron's number");
    for (uint64_t c = 0; c < corners; ++c) {
      const uint64_t number = scanner.readUint("a point's number");
      const uint32_t point = points.find(number);
      if (point == kNoIndex)
        throw scanner
            .error("a tetrahedron refers to point " + std::to_string(number) + ", which is not there")
            .hint("the .node file's own numbers count");
      if (c < 4) soup.tets[i][c] = point;
    }
    for (uint64_t a = 0; a < attributes; ++a) {
      const double value = scanner.readDouble("an attribute");
      if (a > 0) continue;
      constexpr double kLow = std::numeric_limits<int32_t>::min(),
                       kHigh = std::numeric_limits<int32_t>::max();
      const bool fits = value >= kLow && value <= kHigh && value == std::floor(value);
      whole = whole && fits;
      if (fits) soup.tetTags[i] = static_cast<int32_t>(value);
    }
  }
  if (scanner.skipToWord()) throw scanner.expected("the end of the file", scanner.peekWord());
  if (corners == 10) soup.higherOrder = count;
  if (!whole) {
    soup.tetTags.clear();
    soup.notes.emplace_back("regions are left out: not all of them are 32-bit integers");
  }
}

}  // namespace

MeshFile readTetGen(Bytes node, const std::string& nodeName, Bytes ele, const std::string& eleName) {
  CellSoup soup;
  std::vector<uint64_t> numbers;
  TextScanner nodes(textOf(node), nodeName);
  readNodes(nodes, soup, numbers);
  const TagMap points(numbers);
  if (points.hasDuplicate())
    throw Error(ErrorKind::Format, "two points have the number " + std::to_string(points.duplicateTag()))
        .inFile(nodeName);
  TextScanner elements(textOf(ele), eleName);
  readTets(elements, soup, points);
  return toMeshFile(std::move(soup), MeshFormat::TetGen);
}

}  // namespace sunder::meshio
