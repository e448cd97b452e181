// Small volume meshes and the tools that the tests of volume files share.
#pragma once

#include "sunder/base/error.h"
#include "sunder/base/file.h"
#include "sunder/meshio/mesh_formats.h"

#include "temporary_folder.h"

#include <bit>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>

#include <gtest/gtest.h>

namespace sunder::meshio::samples {
using namespace geometry;

inline Bytes bytesOf(const std::string& text) { return std::as_bytes(std::span(text)); }

using Reader = std::function<MeshFile(const std::string&)>;

// An n*n*n grid of cubes, six positive tetrahedra each (the Kuhn subdivision), with coordinates that use all
// their bits. Volume: (n * step)^3.
inline TetMesh gridOfTets(int n, double step = 0.1) {
  TetMesh mesh;
  auto id = [n](int x, int y, int z) { return static_cast<uint32_t>((z * (n + 1) + y) * (n + 1) + x); };
  for (int z = 0; z <= n; ++z)
    for (int y = 0; y <= n; ++y)
      for (int x = 0; x <= n; ++x) mesh.positions.emplace_back(x * step, y * step, z * step);
  constexpr int kOrders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
  for (int z = 0; z < n; ++z)
    for (int y = 0; y < n; ++y)
      for (int x = 0; x < n; ++x)
        for (int k = 0; k < 6; ++k) {
          int at[3] = {x, y, z};
          Tetrahedron t{id(x, y, z), 0, 0, 0};
          for (size_t s = 0; s < 3; ++s) {
            ++at[kOrders[k][s]];
            t[s + 1] = id(at[0], at[1], at[2]);
          }
          if (k >= 3) std::swap(t[2], t[3]);  // odd orders wind the other way
          mesh.tets.push_back(t);
        }
  return mesh;
}

inline double volumeOf(const TetMesh& mesh) {
  double sum = 0;
  for (const Tetrahedron& t : mesh.tets) {
    const Vec3& a = mesh.positions[t[0]];
    sum += (mesh.positions[t[1]] - a).cross(mesh.positions[t[2]] - a).dot(mesh.positions[t[3]] - a) / 6;
  }
  return sum;
}

// A grid with regions, and two groups of faces on it: a triangle and two quads, and a pentagon when asked
// for.
inline MeshFile sampleMesh(bool withPentagon) {
  MeshFile file;
  file.volume = gridOfTets(2);
  for (size_t t = 0; t < file.volume.tets.size(); ++t) file.volume.region.push_back(t % 3 == 0 ? 4 : 2);
  file.surface.positions = file.volume.positions;
  const std::vector<std::vector<uint32_t>> faces = {{0, 3, 4}, {0, 1, 10, 9}, {1, 2, 11, 10}};
  for (const auto& face : faces) file.surface.addFace(face);
  file.surface.faceGroup = {0, 1, 1};
  file.surface.groupNames = {"floor", "front wall"};
  if (withPentagon) {
    const std::vector<uint32_t> pentagon = {18, 19, 23, 25, 21};
    file.surface.addFace(pentagon);
    file.surface.faceGroup.push_back(0);
  }
  return file;
}

inline bool sameBits(const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(Vec3)) == 0);
}

// What `write` puts into a file.
inline std::string written(const std::function<void(OutputFile&)>& write) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "volume.bin";
  OutputFile out(path);
  write(out);
  out.commit();
  return readTextFile(path);
}

// The error that reading `text` throws; fails the test when there is none.
inline Error errorOf(const Reader& read, const std::string& text) {
  try {
    read(text);
  } catch (const Error& e) {
    return e;
  }
  ADD_FAILURE() << "no error for: " << text.substr(0, 400);
  return Error(ErrorKind::Usage, "none");
}

inline void expectError(const Reader& read, const std::string& text, ErrorKind kind,
                        const std::string& part) {
  const Error e = errorOf(read, text);
  EXPECT_EQ(e.kind(), kind) << e.what();
  EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  EXPECT_FALSE(e.file().empty()) << e.what();
}

// Cut at every byte and with every byte changed: an Error or a mesh, nothing else. Returns how many were
// refused.
inline size_t expectSturdy(const Reader& read, const std::string& text, size_t step = 1) {
  size_t refused = 0;
  auto attempt = [&](const std::string& input) {
    try {
      const MeshFile file = read(input);
      for (const uint32_t c : file.surface.corners) ASSERT_LT(c, file.surface.positions.size());
      for (const Tetrahedron& t : file.volume.tets)
        for (const uint32_t v : t) ASSERT_LT(v, file.volume.positions.size());
      for (const Vec3& p : file.volume.positions) ASSERT_TRUE(p.allFinite());
    } catch (const Error&) {
      ++refused;
    }
  };
  for (size_t i = 0; i < text.size(); i += step) attempt(text.substr(0, i));
  for (size_t i = 0; i < text.size(); i += step)
    for (const unsigned flip : {0x01u, 0x80u, 0xffu}) {
      std::string changed = text;
      changed[i] = static_cast<char>(static_cast<unsigned char>(changed[i]) ^ flip);
      attempt(changed);
    }
  return refused;
}

inline std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), with);
}

template <class T>
void appendValue(std::string& to, T value, bool bigEndian = false) {
  auto raw = std::bit_cast<std::array<char, sizeof(T)>>(value);
  if (bigEndian != (std::endian::native == std::endian::big)) std::reverse(raw.begin(), raw.end());
  to.append(raw.data(), raw.size());
}

inline bool hasNote(const MeshFile& file, const std::string& part) {
  for (const std::string& note : file.notes)
    if (note.find(part) != std::string::npos) return true;
  return false;
}

}  // namespace sunder::meshio::samples
