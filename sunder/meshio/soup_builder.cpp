#include "sunder/meshio/soup_builder.h"

#include <limits>

namespace sunder::meshio {

void checkIndexable(uint64_t count, std::string_view what, const std::string& file) {
  if (count < kNoIndex) return;
  throw Error(ErrorKind::Limit,
              std::to_string(count) + " " + std::string(what) + " are more than 32-bit indices can count")
      .inFile(file);
}

std::string counted(uint64_t count, std::string_view one, std::string_view many) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : many);
}

void noteDroppedFaces(std::vector<std::string>& notes, uint64_t count) {
  if (count > 0)
    notes.push_back("left out " + counted(count, "face", "faces") + " with fewer than 3 corners");
}

void noteWelded(std::vector<std::string>& notes, uint64_t corners, uint64_t vertices) {
  notes.push_back("welded " + counted(corners, "corner", "corners") + " to " +
                  counted(vertices, "vertex", "vertices"));
}

void dropBrokenAttributes(geometry::PolygonSoup& soup, std::vector<std::string>& notes) {
  const size_t corners = soup.corners.size();
  if (!soup.cornerNormals.empty()) {
    bool whole = soup.cornerNormals.size() == corners;
    for (const Vec3& n : soup.cornerNormals) whole = whole && isFinite(n);
    if (!whole) {
      soup.cornerNormals.clear();
      notes.emplace_back("left out the normals: some are missing or not finite");
    }
  }
  if (!soup.cornerUvs.empty()) {
    bool whole = soup.cornerUvs.size() == corners;
    for (const Vec2& t : soup.cornerUvs) whole = whole && std::isfinite(t.x()) && std::isfinite(t.y());
    if (!whole) {
      soup.cornerUvs.clear();
      notes.emplace_back("left out the texture coordinates: some are missing or not finite");
    }
  }
  if (!soup.vertexColours.empty()) {
    bool whole = soup.vertexColours.size() == soup.positions.size();
    for (const Vec4f& c : soup.vertexColours) whole = whole && c.allFinite();
    if (!whole) {
      soup.vertexColours.clear();
      notes.emplace_back("left out the colours: some are missing or not finite");
    }
  }
}

std::vector<Vec3f> floatPositions(const std::vector<Vec3>& positions, const char* format,
                                  std::vector<std::string>& notes) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  std::vector<Vec3f> result(positions.size());
  bool exact = true;
  for (size_t i = 0; i < positions.size(); ++i) {
    if (positions[i].cwiseAbs().maxCoeff() > kLargest)
      throw Error(ErrorKind::Limit,
                  "vertex " + std::to_string(i) + " is too far away for the 32-bit floats of " + format)
          .hint("PLY and OBJ keep doubles");
    result[i] = positions[i].cast<float>();
    exact = exact && result[i].cast<double>() == positions[i];
  }
  if (!exact) notes.push_back(std::string(format) + " holds 32-bit floats: coordinates were rounded");
  return result;
}

void ExactWelder::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  const size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.index == kNoIndex) continue;
    size_t at = hashPosition(positions_[slot.index]) & mask;
    while (slots_[at].index != kNoIndex) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

}  // namespace sunder::meshio
