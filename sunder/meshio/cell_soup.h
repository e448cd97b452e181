// What the readers of volume files gather before it becomes a MeshFile: points, tetrahedra, polygons, and the
// tags that files give them. Also the small tools those readers and writers share. Private to the room.
//
// toMeshFile() settles what every format leaves open in the same way: inverted tetrahedra are flipped, tags
// become regions and groups, cells that have no place in a MeshFile are counted in the notes.
#pragma once

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/meshio/mesh_formats.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sunder::meshio {

struct CellSoup {
  std::vector<Vec3> positions;
  std::vector<geometry::Tetrahedron> tets;
  std::vector<int32_t> tetTags;  // empty or one per tetrahedron: its region
  std::vector<uint32_t> faceOffsets{0};
  std::vector<uint32_t> corners;
  std::vector<int32_t> faceTags;                // empty or one per face
  std::map<int32_t, std::string> faceTagNames;  // also of tags that no face has
  std::vector<Vec3> pointNormals;               // these three: empty or one per position
  std::vector<Vec2> pointUvs;
  std::vector<Vec4f> pointColours;
  std::map<std::string, uint64_t> skipped;  // cells that were left out, by the format's name for them
  uint64_t higherOrder = 0;                 // cells of which only the corners were kept
  std::vector<std::string> notes;

  size_t faceCount() const { return faceOffsets.size() - 1; }
  void addFace(std::span<const uint32_t> vertices) {
    corners.insert(corners.end(), vertices.begin(), vertices.end());
    faceOffsets.push_back(static_cast<uint32_t>(corners.size()));
  }
};

// Groups are made in ascending order of the tags, named by faceTagNames or else by the number; faces that all
// carry the same nameless tag have no groups.
MeshFile toMeshFile(CellSoup&& cells, MeshFormat format);

// The largest number of points, cells or corners a mesh may have; indices are 32-bit and kNoIndex is taken.
inline constexpr uint64_t kMostElements = 0xfffffffeu;
// Throws Error (Limit) when `count` exceeds it.
void checkElementLimit(uint64_t count, std::string_view what, const std::string& name);

// Where the first index of [0, count) with isBad(i) is; `count` when there is none. Runs in parallel.
template <class IsBad>
size_t firstBad(size_t count, IsBad&& isBad);

// The index of the first position that is not finite; size() when all are.
size_t firstNotFinite(std::span<const Vec3> positions);

// Finds points by the numbers a file gives them, which may start anywhere and have gaps. Consecutive numbers
// cost nothing, dense ones a table, others a binary search.
class TagMap {
 public:
  // `tags` holds every point's number, in the order of the points.
  explicit TagMap(const std::vector<uint64_t>& tags);

  uint32_t find(uint64_t tag) const;                // kNoIndex when there is no such point
  bool hasDuplicate() const { return duplicate_; }  // two points share the number duplicateTag()
  uint64_t duplicateTag() const { return duplicateTag_; }

 private:
  uint64_t first_ = 0;
  uint64_t count_ = 0;
  bool consecutive_ = true;
  bool duplicate_ = false;
  uint64_t duplicateTag_ = 0;
  std::vector<uint32_t> table_;                        // by tag - first_
  std::vector<std::pair<uint64_t, uint32_t>> sorted_;  // (tag, point)
};

// The points of a MeshFile as one list for formats that have only one: volume's and surface's are the same
// list when they are equal bit by bit, and follow each other otherwise.
struct JoinedPoints {
  std::span<const Vec3> first, second;
  uint32_t surfaceBase = 0;   // add it to the surface's indices
  bool surfaceIsAll = false;  // the list is surface.positions, so per-position attributes fit it

  size_t size() const { return first.size() + second.size(); }
};
JoinedPoints joinPoints(const MeshFile& mesh);

// One value per position from one per corner; false when corners of the same position disagree in a bit.
// Positions without corners get zeros.
template <class Vector>
bool cornersToPoints(const geometry::PolygonSoup& soup, const std::vector<Vector>& perCorner,
                     std::vector<Vector>& perPoint);

template <class IsBad>
size_t firstBad(size_t count, IsBad&& isBad) {
  return parallelReduce(
      count, count,
      [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i)
          if (isBad(i)) return i;
        return count;
      },
      [](size_t a, size_t b) { return std::min(a, b); }, size_t(1) << 16);
}

template <class Vector>
bool cornersToPoints(const geometry::PolygonSoup& soup, const std::vector<Vector>& perCorner,
                     std::vector<Vector>& perPoint) {
  perPoint.assign(soup.positions.size(), Vector::Zero());
  std::vector<bool> known(soup.positions.size(), false);
  for (size_t c = 0; c < soup.corners.size(); ++c) {
    const uint32_t v = soup.corners[c];
    if (!known[v]) {
      perPoint[v] = perCorner[c];
      known[v] = true;
    } else if (std::memcmp(perPoint[v].data(), perCorner[c].data(), sizeof(Vector)) != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace sunder::meshio
