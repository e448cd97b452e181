// Shared by the tests of mesh files: meshes to write, comparisons to the last bit.
#pragma once

#include "sunder/base/error.h"
#include "sunder/base/file.h"
#include "sunder/meshio/mesh_formats.h"

#include "temporary_folder.h"

#include <bit>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace sunder::meshio::files {
using namespace geometry;

inline Bytes bytesOf(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }

// The error a call ends with, if it does.
template <class F>
std::optional<Error> errorOf(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e;
  }
  return {};
}

inline bool contains(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

inline bool hasNote(const std::vector<std::string>& notes, std::string_view part) {
  for (const std::string& note : notes)
    if (contains(note, part)) return true;
  return false;
}

// A unit cube of six quadrilaterals.
inline PolygonSoup cube() {
  PolygonSoup soup;
  for (int i = 0; i < 8; ++i) soup.positions.emplace_back(i & 1, (i >> 1) & 1, (i >> 2) & 1);
  const uint32_t faces[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
  for (const auto& f : faces) soup.addFace(f);
  return soup;
}

inline PolygonSoup triangulatedCube() {
  PolygonSoup quads = cube(), soup;
  soup.positions = quads.positions;
  for (size_t f = 0; f < quads.faceCount(); ++f) {
    const auto c = quads.face(f);
    soup.addFace(std::array{c[0], c[1], c[2]});
    soup.addFace(std::array{c[0], c[2], c[3]});
  }
  return soup;
}

inline double randomDouble(std::mt19937_64& random) {
  for (;;) {
    const double value = std::bit_cast<double>(random());
    if (std::isfinite(value)) return value;
  }
}

// A finite float of any exponent.
inline double randomFloat(std::mt19937_64& random) {
  for (;;) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (std::isfinite(value)) return double(value);
  }
}

inline bool sameBits(const Vec3& a, const Vec3& b) {
  return std::memcmp(a.data(), b.data(), sizeof(Vec3)) == 0;
}

inline ::testing::AssertionResult sameShape(const PolygonSoup& a, const PolygonSoup& b) {
  if (a.positions.size() != b.positions.size())
    return ::testing::AssertionFailure()
           << a.positions.size() << " and " << b.positions.size() << " positions";
  for (size_t i = 0; i < a.positions.size(); ++i)
    if (!sameBits(a.positions[i], b.positions[i]))
      return ::testing::AssertionFailure() << "position " << i << ": " << a.positions[i].transpose()
                                           << " and " << b.positions[i].transpose();
  if (a.faceOffsets != b.faceOffsets) return ::testing::AssertionFailure() << "different face sizes";
  if (a.corners != b.corners) return ::testing::AssertionFailure() << "different corners";
  return ::testing::AssertionSuccess();
}

// Every directed edge has its opposite exactly once.
inline bool isClosed(const PolygonSoup& soup) {
  std::vector<std::pair<uint32_t, uint32_t>> forward, backward;
  for (size_t f = 0; f < soup.faceCount(); ++f) {
    const auto c = soup.face(f);
    for (size_t i = 0; i < c.size(); ++i) {
      forward.emplace_back(c[i], c[(i + 1) % c.size()]);
      backward.emplace_back(c[(i + 1) % c.size()], c[i]);
    }
  }
  std::sort(forward.begin(), forward.end());
  std::sort(backward.begin(), backward.end());
  return forward == backward && std::adjacent_find(forward.begin(), forward.end()) == forward.end();
}

// Volume by the divergence theorem, polygons as fans.
inline double volumeOf(const PolygonSoup& soup) {
  double volume = 0;
  for (size_t f = 0; f < soup.faceCount(); ++f) {
    const auto c = soup.face(f);
    for (size_t i = 1; i + 1 < c.size(); ++i)
      volume += soup.positions[c[0]].dot(soup.positions[c[i]].cross(soup.positions[c[i + 1]])) / 6;
  }
  return volume;
}

inline std::string written(const std::filesystem::path& path, const MeshFile& mesh,
                           WriteOptions options = {}) {
  writeMesh(path, mesh, options);
  return readTextFile(path);
}

}  // namespace sunder::meshio::files
