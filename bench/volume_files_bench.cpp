// How fast volume files are read and written: a grid of tetrahedra made in memory, 10^4 to 10^7 of them.
// Reading works on bytes in memory, writing goes to a file in the temporary folder, so the disk's cache takes
// part in it.
#include "sunder/base/file.h"
#include "sunder/base/parallel.h"
#include "sunder/meshio/mesh_formats.h"

#include "bench/bench.h"

#include <cmath>
#include <filesystem>
#include <functional>
#include <string>

#include <unistd.h>

namespace {

using namespace sunder;
using namespace sunder::meshio;
using namespace sunder::geometry;

// About `count` tetrahedra: cubes cut into six along their diagonals, in two regions.
MeshFile gridOfTets(size_t count) {
  const auto n = static_cast<uint32_t>(std::max(1.0, std::round(std::cbrt(static_cast<double>(count) / 6))));
  MeshFile file;
  TetMesh& mesh = file.volume;
  const uint32_t side = n + 1;
  mesh.positions.resize(size_t(side) * side * side);
  for (size_t i = 0; i < mesh.positions.size(); ++i)
    mesh.positions[i] = 0.1 * Vec3(double(i % side), double(i / side % side), double(i / side / side));
  constexpr int kOrders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
  const uint32_t steps[3] = {1, side, side * side};
  mesh.tets.reserve(size_t(n) * n * n * 6);
  for (uint32_t z = 0; z < n; ++z)
    for (uint32_t y = 0; y < n; ++y)
      for (uint32_t x = 0; x < n; ++x)
        for (size_t k = 0; k < 6; ++k) {
          uint32_t v = (z * side + y) * side + x;
          Tetrahedron t{v, 0, 0, 0};
          for (size_t s = 0; s < 3; ++s) t[s + 1] = v += steps[kOrders[k][s]];
          if (k >= 3) std::swap(t[2], t[3]);
          mesh.tets.push_back(t);
          mesh.region.push_back(z < n / 2 ? 1 : 2);
        }
  return file;
}

void measure(bench::Report& report, const bench::Options& options, const std::string& format,
             const std::function<void(OutputFile&, const MeshFile&)>& write,
             const std::function<MeshFile(Bytes)>& read) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("sunder_bench_" + std::to_string(::getpid()) + "." + format);
  for (const size_t size : options.sizes(10'000, 10'000'000)) {
    const MeshFile mesh = gridOfTets(size);
    const size_t tets = mesh.volume.tets.size();
    const double writing = bench::bestSeconds(options, [&] {
      OutputFile out(path);
      write(out, mesh);
      out.commit();
    });
    const InputFile file(path);
    const double reading =
        bench::bestSeconds(options, [&] { bench::keep(read(file.bytes()).volume.tets.size()); });
    const double count = static_cast<double>(tets);
    report.add({.name = "write/" + format,
                .size = tets,
                .value = count / writing,
                .unit = "tets/s",
                .peer = {},
                .peerValue = {}});
    report.add({.name = "read/" + format,
                .size = tets,
                .threads = threadCount(),
                .value = count / reading,
                .unit = "tets/s",
                .peer = {},
                .peerValue = {}});
    std::filesystem::remove(path);
  }
}

SUNDER_BENCH("geometry", mshFiles) {
  measure(
      report, options, "msh", [](OutputFile& out, const MeshFile& mesh) { writeMsh(out, mesh, false); },
      [](Bytes bytes) { return readMsh(bytes, "bench.msh"); });
}

SUNDER_BENCH("geometry", vtuFiles) {
  measure(
      report, options, "vtu", [](OutputFile& out, const MeshFile& mesh) { writeVtu(out, mesh, false); },
      [](Bytes bytes) { return readVtkXml(bytes, "bench.vtu"); });
}

}  // namespace
