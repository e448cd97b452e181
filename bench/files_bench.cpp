// How fast mesh files are read and written, in megabytes of file per second, next to tinyobjloader and
// Assimp. The mesh is a wavy torus with coordinates of full length, as scans and simulations have them.
#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/meshio/mesh_file.h"

#include "bench/bench.h"
#include "bench/scratch_folder.h"

#include <cmath>
#include <cstdio>
#include <filesystem>

#ifdef SUNDER_HAS_TINYOBJ
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#include <tiny_obj_loader.h>
#pragma GCC diagnostic pop
#endif
#ifdef SUNDER_HAS_ASSIMP
#include <assimp/Importer.hpp>
#include <assimp/scene.h>
#endif

namespace sunder::bench {

namespace {

using namespace sunder::meshio;
using namespace sunder::geometry;

MeshFile torus(size_t triangles) {
  const uint32_t rows = std::max<uint32_t>(3, static_cast<uint32_t>(std::sqrt(double(triangles) / 4)));
  const uint32_t columns = std::max<uint32_t>(3, static_cast<uint32_t>(triangles / (2 * size_t(rows))));
  MeshFile file;
  PolygonSoup& soup = file.surface;
  for (uint32_t i = 0; i < rows; ++i) {
    for (uint32_t j = 0; j < columns; ++j) {
      const double a = 2 * kPi * i / rows, b = 2 * kPi * j / columns,
                   r = 0.3 + 0.02 * std::sin(7 * a + 3 * b);
      // Floats, so that every format holds the same mesh.
      const Vec3 p((1 + r * std::cos(a)) * std::cos(b), r * std::sin(a), (1 + r * std::cos(a)) * std::sin(b));
      soup.positions.push_back(p.cast<float>().cast<double>());
    }
  }
  auto at = [&](uint32_t i, uint32_t j) { return (i % rows) * columns + j % columns; };
  for (uint32_t i = 0; i < rows; ++i) {
    for (uint32_t j = 0; j < columns; ++j) {
      soup.addFace(std::array{at(i, j), at(i + 1, j), at(i + 1, j + 1)});
      soup.addFace(std::array{at(i, j), at(i + 1, j + 1), at(i, j + 1)});
    }
  }
  return file;
}

// OBJ as most programs write it: six decimals.
void writeShortObj(const std::filesystem::path& path, const PolygonSoup& soup) {
  std::FILE* out = std::fopen(path.c_str(), "w");
  if (!out) throw Error(ErrorKind::Write, "cannot write").inFile(path.string());
  for (const Vec3& p : soup.positions) std::fprintf(out, "v %.6f %.6f %.6f\n", p.x(), p.y(), p.z());
  for (size_t f = 0; f < soup.faceCount(); ++f)
    std::fprintf(out, "f %u %u %u\n", soup.face(f)[0] + 1, soup.face(f)[1] + 1, soup.face(f)[2] + 1);
  std::fclose(out);
}

#ifdef SUNDER_HAS_TINYOBJ
double tinyobjSeconds(const Options& options, const std::filesystem::path& path) {
  return bestSeconds(options, [&] {
    tinyobj::attrib_t attributes;
    std::vector<tinyobj::shape_t> shapes;
    std::vector<tinyobj::material_t> materials;
    std::string warning, error;
    tinyobj::LoadObj(&attributes, &shapes, &materials, &warning, &error, path.c_str(), nullptr, false);
    keep(shapes.size());
  });
}
#endif

#ifdef SUNDER_HAS_ASSIMP
double assimpSeconds(const Options& options, const std::filesystem::path& path) {
  return bestSeconds(options, [&] {
    Assimp::Importer importer;
    keep(importer.ReadFile(path.string(), 0));
  });
}
#endif

}  // namespace

SUNDER_BENCH("geometry", meshFiles) {
  const struct {
    const char *name, *file;
    bool ascii;
  } kinds[] = {{"obj", "a.obj", false}, {"ply", "a.ply", false}, {"ply-text", "t.ply", true},
               {"stl", "a.stl", false}, {"off", "a.off", false}, {"glb", "a.glb", false}};
  const ScratchFolder folder;
  const ThreadLimit single(1);
  for (const size_t size : options.sizes(10'000, 10'000'000)) {
    const MeshFile mesh = torus(size);
    auto megabytes = [](const std::filesystem::path& path) {
      return double(std::filesystem::file_size(path)) / 1e6;
    };
    auto addRead = [&](const std::string& name, const std::filesystem::path& path, bool isObj) {
      const double seconds = bestSeconds(options, [&] { keep(readMesh(path).surface.corners.size()); });
      const double rate = megabytes(path) / seconds;
      Row row{.name = "read/" + name, .size = size, .value = rate, .unit = "MB/s"};
      bool compared = false;
#ifdef SUNDER_HAS_TINYOBJ
      if (isObj) {
        row.peer = "tinyobjloader";
        row.peerValue = megabytes(path) / tinyobjSeconds(options, path);
        report.add(row);
        compared = true;
      }
#else
      (void)isObj;
#endif
#ifdef SUNDER_HAS_ASSIMP
      row.peer = "Assimp";
      row.peerValue = megabytes(path) / assimpSeconds(options, path);
      report.add(row);
      compared = true;
#endif
      if (!compared) report.add(row);
    };
    writeShortObj(folder / "short.obj", mesh.surface);
    addRead("obj-six-digits", folder / "short.obj", true);
    for (const auto& kind : kinds) {
      const std::filesystem::path path = folder / kind.file;
      const double seconds = bestSeconds(options, [&] { writeMesh(path, mesh, {.ascii = kind.ascii}); });
      report.add({.name = "write/" + std::string(kind.name),
                  .size = size,
                  .value = megabytes(path) / seconds,
                  .unit = "MB/s"});
      addRead(kind.name, path, std::string(kind.name) == "obj");
      std::filesystem::remove(path);
    }
  }
#ifndef SUNDER_HAS_TINYOBJ
  report.missingPeer("tinyobjloader");
#endif
#ifndef SUNDER_HAS_ASSIMP
  report.missingPeer("Assimp");
#endif
}

}  // namespace sunder::bench
