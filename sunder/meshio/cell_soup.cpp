#include "sunder/meshio/cell_soup.h"

#include "sunder/base/parallel.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

namespace sunder::meshio {

namespace {

constexpr size_t kGrain = size_t(1) << 15;

struct CellOrientation {
  std::vector<uint32_t> flipped;
  uint64_t flat = 0;
};

CellOrientation orientTets(const std::vector<Vec3>& positions, std::vector<geometry::Tetrahedron>& tets) {
  return parallelReduce(
      tets.size(), CellOrientation{},
      [&](size_t begin, size_t end) {
        CellOrientation seen;
        for (size_t i = begin; i < end; ++i) {
          geometry::Tetrahedron& t = tets[i];
          const Vec3& a = positions[t[0]];
          const Vec3 ab = positions[t[1]] - a, ac = positions[t[2]] - a, ad = positions[t[3]] - a;
          const double volume = ab.cross(ac).dot(ad);
          if (volume < 0) {
            std::swap(t[2], t[3]);
            seen.flipped.push_back(static_cast<uint32_t>(i));
          } else if (volume == 0) {
            ++seen.flat;
          }
        }
        return seen;
      },
      [](CellOrientation a, const CellOrientation& b) {
        a.flipped.insert(a.flipped.end(), b.flipped.begin(), b.flipped.end());
        a.flat += b.flat;
        return a;
      },
      kGrain);
}

void makeGroups(const CellSoup& cells, geometry::PolygonSoup& surface) {
  if (cells.faceTags.empty()) return;
  std::map<int32_t, std::string> names = cells.faceTagNames;
  const bool named = !names.empty();
  int32_t last = cells.faceTags.front();
  names.try_emplace(last);
  for (const int32_t tag : cells.faceTags)
    if (tag != last) names.try_emplace(last = tag);
  if (names.size() == 1 && !named) return;

  std::vector<int32_t> tags;
  tags.reserve(names.size());
  for (auto& [tag, name] : names) {
    tags.push_back(tag);
    const bool given = cells.faceTagNames.contains(tag);
    surface.groupNames.push_back(given ? std::move(name) : std::to_string(tag));
  }
  surface.faceGroup.resize(cells.faceTags.size());
  parallelFor(cells.faceTags.size(), [&](size_t f) {
    const auto at = std::lower_bound(tags.begin(), tags.end(), cells.faceTags[f]);
    surface.faceGroup[f] = static_cast<uint32_t>(at - tags.begin());
  });
}

template <class Vector>
std::vector<Vector> pointsToCorners(const std::vector<Vector>& perPoint,
                                    const std::vector<uint32_t>& corners) {
  std::vector<Vector> perCorner(perPoint.empty() ? 0 : corners.size());
  parallelFor(perCorner.size(), [&](size_t c) { perCorner[c] = perPoint[corners[c]]; });
  return perCorner;
}

}  // namespace

MeshFile toMeshFile(CellSoup&& cells, MeshFormat format) {
  assert(cells.tetTags.empty() || cells.tetTags.size() == cells.tets.size());
  assert(cells.faceTags.empty() || cells.faceTags.size() == cells.faceCount());
  MeshFile file;
  file.format = format;
  file.notes = std::move(cells.notes);
  auto note = [&](uint64_t count, const std::string& one, const std::string& many) {
    if (count == 0) return;
    std::string text = std::to_string(count);
    text += ' ';
    text += count == 1 ? one : many;
    file.notes.push_back(std::move(text));
  };
  for (const auto& [kind, count] : cells.skipped)
    note(count, "cell of type " + kind + " was left out", "cells of type " + kind + " were left out");
  note(cells.higherOrder, "cell of higher order keeps only its corners",
       "cells of higher order keep only their corners");
  CellOrientation orientation = orientTets(cells.positions, cells.tets);
  note(orientation.flipped.size(), "inverted tetrahedron was flipped", "inverted tetrahedra were flipped");
  note(orientation.flat, "tetrahedron has no volume", "tetrahedra have no volume");
  file.turnedTets = std::move(orientation.flipped);

  const bool hasFaces = cells.faceCount() > 0, hasTets = !cells.tets.empty();
  if (!hasFaces && !hasTets) file.notes.emplace_back("there are no tetrahedra, triangles or polygons in it");
  if (hasFaces) {
    makeGroups(cells, file.surface);
    file.surface.cornerNormals = pointsToCorners(cells.pointNormals, cells.corners);
    file.surface.cornerUvs = pointsToCorners(cells.pointUvs, cells.corners);
    file.surface.vertexColours = std::move(cells.pointColours);
    file.surface.faceOffsets = std::move(cells.faceOffsets);
    file.surface.corners = std::move(cells.corners);
    if (hasTets)
      file.surface.positions = cells.positions;
    else
      file.surface.positions = std::move(cells.positions);
  }
  if (hasTets) {
    file.volume.tets = std::move(cells.tets);
    file.volume.region = std::move(cells.tetTags);
    file.volume.positions = std::move(cells.positions);
  }
  return file;
}

void checkElementLimit(uint64_t count, std::string_view what, const std::string& name) {
  if (count > kMostElements)
    throw Error(ErrorKind::Limit, std::to_string(count) + " " + std::string(what) + " are more than the " +
                                      std::to_string(kMostElements) + " that 32-bit indices allow")
        .inFile(name);
}

size_t firstNotFinite(std::span<const Vec3> positions) {
  return firstBad(positions.size(), [&](size_t i) { return !positions[i].allFinite(); });
}

TagMap::TagMap(const std::vector<uint64_t>& tags) : count_(tags.size()) {
  assert(tags.size() <= kMostElements);
  if (tags.empty()) return;
  const auto [low, high] = std::minmax_element(tags.begin(), tags.end());
  first_ = *low;
  const uint64_t range = *high - first_;
  if (first_ == tags.front() && range == tags.size() - 1)
    consecutive_ = firstBad(tags.size(), [&](size_t i) { return tags[i] != first_ + i; }) == tags.size();
  else
    consecutive_ = false;
  if (consecutive_) return;

  if (range < 4 * tags.size() + 1024) {
    table_.assign(range + 1, kNoIndex);
    for (size_t i = 0; i < tags.size(); ++i) {
      uint32_t& slot = table_[tags[i] - first_];
      if (slot != kNoIndex && !duplicate_) {
        duplicate_ = true;
        duplicateTag_ = tags[i];
      }
      slot = static_cast<uint32_t>(i);
    }
    return;
  }
  sorted_.resize(tags.size());
  for (size_t i = 0; i < tags.size(); ++i) sorted_[i] = {tags[i], static_cast<uint32_t>(i)};
  std::sort(sorted_.begin(), sorted_.end());
  for (size_t i = 1; i < sorted_.size() && !duplicate_; ++i) {
    duplicate_ = sorted_[i].first == sorted_[i - 1].first;
    if (duplicate_) duplicateTag_ = sorted_[i].first;
  }
}

uint32_t TagMap::find(uint64_t tag) const {
  if (tag < first_) return kNoIndex;
  if (consecutive_) return tag - first_ < count_ ? static_cast<uint32_t>(tag - first_) : kNoIndex;
  if (!table_.empty()) return tag - first_ < table_.size() ? table_[tag - first_] : kNoIndex;
  const auto at = std::lower_bound(sorted_.begin(), sorted_.end(), std::pair<uint64_t, uint32_t>(tag, 0));
  return at != sorted_.end() && at->first == tag ? at->second : kNoIndex;
}

JoinedPoints joinPoints(const MeshFile& mesh) {
  const std::vector<Vec3>& volume = mesh.volume.positions;
  const std::vector<Vec3>& surface = mesh.surface.positions;
  const bool hasTets = !mesh.volume.tets.empty(), hasFaces = mesh.surface.faceCount() > 0;
  JoinedPoints joined;
  if (!hasTets) {
    joined.first = hasFaces || volume.empty() ? surface : volume;
    joined.surfaceIsAll = hasFaces;
    return joined;
  }
  joined.first = volume;
  if (!hasFaces) return joined;
  const bool same = volume.size() == surface.size() &&
                    std::memcmp(volume.data(), surface.data(), volume.size() * sizeof(Vec3)) == 0;
  joined.surfaceIsAll = same;
  if (!same) {
    joined.second = surface;
    joined.surfaceBase = static_cast<uint32_t>(volume.size());
  }
  return joined;
}

}  // namespace sunder::meshio
