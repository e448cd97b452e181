// The room cut: booleans of rippled spheres beside CGAL's corefinement, cuts by a plane and by a noisy sheet,
// many cuts one after another, combs, and how the cost grows. All times are from plain arrays to arrays.
#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/base/random.h"
#include "sunder/cut/arrangement/seam.h"
#include "sunder/cut/cut.h"
#include "sunder/cut/tet/sheets_cutter.h"
#include "sunder/cut/tet/tet_cutter.h"
#include "sunder/geometry/mass_properties.h"
#include "sunder/shapes/catalogue.h"

#include "bench/bench.h"
#include "bench/spatial_meshes.h"

#include <cmath>
#include <cstring>
#include <fstream>

#include <fmt/format.h>
#include <malloc.h>

#ifdef SUNDER_HAS_CGAL
#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>
#include <CGAL/Polygon_mesh_processing/corefinement.h>
#include <CGAL/Surface_mesh.h>
#endif

namespace sunder::bench {

namespace {

using cut::Op;

const Vec3 kShift(0.51, 0.13, 0.07);

// About `triangles` of them.
geometry::TriMesh sphereOf(size_t triangles, const Vec3& centre = Vec3::Zero()) {
  return sphere(static_cast<int>(std::lround(std::sqrt(double(triangles) / 8))), centre);
}

geometry::TriMesh slantedPlane(double offset = 0.1) {
  geometry::TriMesh plane;
  const Vec3 u = Vec3(1, 0.2, 0.1).normalized(), n = Vec3(0.1, 0.3, 1).cross(u).normalized(), v = n.cross(u);
  for (const double s : {-4.0, 4.0})
    for (const double t : {-4.0, 4.0}) plane.positions.push_back(offset * n + s * u + t * v);
  plane.triangles = {{0, 2, 3}, {0, 3, 1}};
  return plane;
}

// A sheet of 2 n^2 triangles with waves on it.
geometry::TriMesh wavySheet(uint32_t n) {
  geometry::TriMesh mesh;
  RandomStream random(5);
  for (uint32_t i = 0; i <= n; ++i)
    for (uint32_t j = 0; j <= n; ++j) {
      const double x = 3.0 * i / n - 1.5, z = 3.0 * j / n - 1.5;
      mesh.positions.push_back(
          {x, 0.1 * std::sin(5 * x) * std::cos(4 * z) + 0.01 * random.uniform(-1, 1), z});
    }
  for (uint32_t i = 0; i < n; ++i)
    for (uint32_t j = 0; j < n; ++j) {
      const uint32_t a = i * (n + 1) + j, b = a + n + 1;
      mesh.triangles.push_back({a, a + 1, b + 1});
      mesh.triangles.push_back({a, b + 1, b});
    }
  return mesh;
}

#ifdef SUNDER_HAS_CGAL
using Kernel = CGAL::Exact_predicates_inexact_constructions_kernel;
using Surface = CGAL::Surface_mesh<Kernel::Point_3>;

Surface toPeer(const geometry::TriMesh& mesh) {
  Surface surface;
  surface.reserve(static_cast<Surface::size_type>(mesh.positions.size()),
                  static_cast<Surface::size_type>(3 * mesh.triangles.size() / 2),
                  static_cast<Surface::size_type>(mesh.triangles.size()));
  std::vector<Surface::Vertex_index> vertices;
  for (const Vec3& p : mesh.positions) vertices.push_back(surface.add_vertex({p.x(), p.y(), p.z()}));
  for (const auto& t : mesh.triangles) surface.add_face(vertices[t[0]], vertices[t[1]], vertices[t[2]]);
  return surface;
}

geometry::TriMesh fromPeer(Surface& surface) {
  surface.collect_garbage();
  geometry::TriMesh mesh;
  for (const auto v : surface.vertices()) {
    const auto& p = surface.point(v);
    mesh.positions.push_back({p.x(), p.y(), p.z()});
  }
  for (const auto f : surface.faces()) {
    geometry::Triangle t;
    size_t k = 0;
    for (const auto v : vertices_around_face(surface.halfedge(f), surface)) t[k++] = v.idx();
    mesh.triangles.push_back(t);
  }
  return mesh;
}

geometry::TriMesh peerDifference(const geometry::TriMesh& a, const geometry::TriMesh& b) {
  Surface first = toPeer(a), second = toPeer(b), out;
  CGAL::Polygon_mesh_processing::corefine_and_compute_difference(first, second, out);
  return fromPeer(out);
}
#endif

}  // namespace

SUNDER_BENCH("cut", cutDifference) {
#ifndef SUNDER_HAS_CGAL
  report.missingPeer("CGAL");
#endif
  for (const auto& [name, size] : {std::pair{"10k", 10'000}, {"100k", 100'000}, {"500k", 500'000}}) {
    const std::string row = std::string("cut/diff/") + name;
    if (!options.wants(row) || size_t(size) > options.largest) continue;
    const geometry::TriMesh a = sphereOf(size_t(size)), b = sphereOf(size_t(size), kShift);
    const cut::CutOptions difference{.op = Op::Difference, .triangles = true};
    std::optional<double> peer;
    double peerVolume = 0;
#ifdef SUNDER_HAS_CGAL
    geometry::TriMesh theirs;
    peer = bestSeconds(options, [&] { theirs = peerDifference(a, b); });
    peerVolume = geometry::massProperties(theirs).volume;
#endif
    for (const unsigned threads : options.threadCounts()) {
      const ThreadLimit limit(threads);
      cut::CutResult result;
      const double ours = bestSeconds(options, [&] { result = cut::cut(a, b, difference); });
      report.add({.name = row,
                  .size = a.triangles.size(),
                  .threads = threads,
                  .metric = "time",
                  .value = 1e3 * ours,
                  .unit = "ms",
                  .peer = peer ? "CGAL corefinement" : "",
                  .peerValue = peer ? std::optional(1e3 * *peer) : std::nullopt,
                  .bar = peer ? std::optional(1e3 * *peer / 5) : std::nullopt});
      const cut::CutStatistics& s = result.statistics;
      for (const auto& [stage, seconds] : {std::pair{"prepare", s.prepare},
                                           {"intersect", s.intersect},
                                           {"trace", s.trace},
                                           {"sort", s.sort},
                                           {"write", s.write}})
        report.add({.name = row + "/" + stage,
                    .size = a.triangles.size(),
                    .threads = threads,
                    .metric = "time",
                    .value = 1e3 * seconds,
                    .unit = "ms"});
      double volume = 0;
      for (const double v : result.volume) volume += v;
      if (peer && threads == options.threadCounts().front())
        report.add({.name = row + "/volume-difference",
                    .size = a.triangles.size(),
                    .metric = "count",
                    .value = std::abs(volume / peerVolume - 1),
                    .unit = "of the volume",
                    .bar = 1e-9});
    }
  }
}

SUNDER_BENCH("cut", cutSheets) {
  struct Case {
    const char* name;
    geometry::TriMesh cutter;
    double bar;
  };
  const Case cases[] = {{"cut/plane/100k", slantedPlane(), 10}, {"cut/sheet/100k-20k", wavySheet(100), 60}};
  for (const Case& c : cases) {
    if (!options.wants(c.name)) continue;
    const geometry::TriMesh mesh = sphereOf(100'000);
    for (const unsigned threads : options.threadCounts()) {
      const ThreadLimit limit(threads);
      const double seconds =
          bestSeconds(options, [&] { keep(cut::cut(mesh, c.cutter, {.triangles = true}).fragments); });
      report.add({.name = c.name,
                  .size = mesh.triangles.size(),
                  .threads = threads,
                  .metric = "time",
                  .value = 1e3 * seconds,
                  .unit = "ms",
                  .bar = c.bar});
    }
  }
}

SUNDER_BENCH("cut", cutRepeated) {
  if (!options.wants("cut/repeat/100")) return;
  // Each plane slices a cap off what the planes before it left.
  const geometry::TriMesh mesh = sphereOf(20'000);
  for (const unsigned threads : options.threadCounts()) {
    const ThreadLimit limit(threads);
    geometry::PolygonSoup body;
    const double seconds = bestSeconds(options, [&] {
      body = geometry::toSoup(mesh);
      RandomStream random(11);
      for (int i = 0; i < 100; ++i) {
        const Vec3 n = random.unitVector(), u = n.unitOrthogonal(), v = n.cross(u);
        const Vec3 at = random.uniform(0.85, 0.95) * n;
        geometry::TriMesh plane;
        for (const double s : {-3.0, 3.0})
          for (const double t : {-3.0, 3.0}) plane.positions.push_back(at + s * u + t * v);
        plane.triangles = {{0, 2, 3}, {0, 3, 1}};
        body = cut::cut(body, plane, {.op = Op::Below, .triangles = true}).mesh;
      }
    });
    if (threads == options.threadCounts().front())
      report.add({.name = "cut/repeat/100/triangles-left",
                  .size = mesh.triangles.size(),
                  .metric = "count",
                  .value = double(body.faceCount()),
                  .unit = "triangles"});
    report.add({.name = "cut/repeat/100",
                .size = mesh.triangles.size(),
                .threads = threads,
                .metric = "time",
                .value = seconds,
                .unit = "s",
                .bar = 1.0});
  }
}

SUNDER_BENCH("cut", cutComb) {
  if (!options.wants("cut/comb/1000")) return;
  // A thousand thin blades through a plate: all slots are holes in the same four triangles.
  const auto box = [](geometry::TriMesh& mesh, const Vec3& lower, const Vec3& upper) {
    const uint32_t first = static_cast<uint32_t>(mesh.positions.size());
    for (uint32_t i = 0; i < 8; ++i)
      mesh.positions.push_back(
          {(i & 1 ? upper : lower).x(), (i & 2 ? upper : lower).y(), (i & 4 ? upper : lower).z()});
    for (const geometry::Triangle& t : {geometry::Triangle{0, 2, 3},
                                        {0, 3, 1},
                                        {4, 5, 7},
                                        {4, 7, 6},
                                        {0, 1, 5},
                                        {0, 5, 4},
                                        {2, 6, 7},
                                        {2, 7, 3},
                                        {0, 4, 6},
                                        {0, 6, 2},
                                        {1, 3, 7},
                                        {1, 7, 5}})
      mesh.triangles.push_back({first + t[0], first + t[1], first + t[2]});
  };
  geometry::TriMesh plate, blades;
  box(plate, {0, 0, 0}, {1, 1, 0.01});
  for (int i = 0; i < 1000; ++i) box(blades, {(i + 0.3) / 1000, 0.1, -1}, {(i + 0.6) / 1000, 0.9, 1});
  for (const unsigned threads : options.threadCounts()) {
    const ThreadLimit limit(threads);
    const double seconds = bestSeconds(
        options, [&] { keep(cut::cut(plate, blades, {.op = Op::Difference, .triangles = true}).fragments); });
    report.add({.name = "cut/comb/1000",
                .size = blades.triangles.size(),
                .threads = threads,
                .metric = "time",
                .value = 1e3 * seconds,
                .unit = "ms"});
  }
}

SUNDER_BENCH("cut", cutTetrahedra) {
  if (!options.wants("cut/tet")) return;
  // Random tetrahedra, all of them cut in two by a plane of two triangles.
  const geometry::TriMesh plane = slantedPlane();
  const Vec3 n = (plane.positions[2] - plane.positions[0]).cross(plane.positions[3] - plane.positions[0]);
  std::vector<std::array<Vec3, 4>> tets;
  for (RandomStream random(23); tets.size() < 10'000;) {
    std::array<Vec3, 4> t;
    for (Vec3& p : t) p = Vec3{random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)};
    const double volume = (t[1] - t[0]).dot((t[2] - t[0]).cross(t[3] - t[0]));
    if (volume < 0) std::swap(t[0], t[1]);
    size_t above = 0;
    for (const Vec3& p : t) above += (p - plane.positions[0]).dot(n) > 0;
    if (std::abs(volume) > 0.1 && above % 4 != 0) tets.push_back(t);
  }
  cut::TetCutter cutter(plane);
  double volume = 0;
  const double seconds = bestSeconds(options, [&] {
    for (const auto& t : tets) volume += cutter.cut(t).fragments[0].volume;
  });
  keep(volume);
  report.add({.name = "cut/tet",
              .size = tets.size(),
              .metric = "time",
              .value = 1e6 * seconds / double(tets.size()),
              .unit = "us",
              .bar = 2});
  // The same by the cutter of several sheets: that plane, and three that cross in the middle.
  cut::CutSheets sheets;
  std::vector<uint32_t> faces;
  const auto add = [&](const geometry::TriMesh& sheet) {
    sheets.add(sheet);
    while (faces.size() < sheets.faces()) faces.push_back(uint32_t(faces.size()));
  };
  add(plane);
  for (const size_t count : {size_t(1), size_t(2), size_t(3)}) {
    cut::SheetsCutter several(sheets);
    size_t fragments = 0;
    const double each = bestSeconds(options, [&] {
      fragments = 0;
      for (const auto& t : tets) fragments += several.cut(t, faces).fragments.size();
    });
    keep(double(fragments));
    report.add({.name = fmt::format("cut/tet-sheets/{}", count),
                .size = tets.size(),
                .metric = "time",
                .value = 1e6 * each / double(tets.size()),
                .unit = "us"});
    geometry::TriMesh turned = plane;
    for (Vec3& p : turned.positions) p = count == 1 ? Vec3(p.y(), p.z(), p.x()) : Vec3(p.z(), p.x(), -p.y());
    add(turned);
  }
}

SUNDER_BENCH("cut", cutPierce) {
  if (!options.wants("cut/pierce")) return;
  // Random segments against random triangles around them, a third of which they pierce.
  std::vector<Vec3> points(50'000);
  RandomStream random(29);
  for (Vec3& p : points) {
    p = random.unitVector();
    p *= random.uniform(0.5, 1);
  }
  int sum = 0;
  const double seconds = bestSeconds(options, [&] {
    for (size_t i = 0; i + 4 < points.size(); ++i)
      sum += cut::crossingOf(points[i], points[i + 1], cut::kMesh,
                             {&points[i + 2], &points[i + 3], &points[i + 4]});
  });
  keep(sum);
  report.add({.name = "cut/pierce",
              .size = points.size(),
              .metric = "time",
              .value = 1e9 * seconds / double(points.size() - 4),
              .unit = "ns",
              .bar = 50});
}

SUNDER_BENCH("cut", cutSweep) {
  if (!options.wants("cut/sweep/1000")) return;
  // A thousand shifts of the pair of spheres, half of them on a grid; what fails is refused, open, or loses
  // volume.
  const geometry::TriMesh a = sphereOf(4'000);
  const double whole = geometry::massProperties(a).volume;
  RandomStream random(31);
  size_t failures = 0;
  for (int i = 0; i < 1000; ++i) {
    Vec3 shift{random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)};
    if (i % 2 == 0) shift = (shift * 20).array().round() / 20;
    if (i == 0) shift = Vec3(0.5, 0.15, 0.1);
    const geometry::TriMesh b = sphereOf(4'000, shift);
    try {
      double sum = 0;
      for (const Op op : {Op::Difference, Op::Intersection}) {
        const cut::CutResult r = cut::cut(a, b, {.op = op, .triangles = true});
        if (r.mesh.faceCount() > 0 && !cut::makeKernelMesh(r.mesh, "result").closed()) sum = Box3::kInfinity;
        for (const double v : r.volume) sum += v;
      }
      failures += !(std::abs(sum / whole - 1) < 1e-10);
    } catch (const Error&) {
      ++failures;
    }
  }
  report.add({.name = "cut/sweep/1000",
              .size = 2 * a.triangles.size(),
              .metric = "count",
              .value = double(failures),
              .unit = "failures",
              .bar = 0});
}

// What a cut has at most, beyond its input, by the kernel's count of pages.
double peakBytes(const std::function<void()>& work) {
  const auto status = [](const char* key) {
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);)
      if (line.rfind(key, 0) == 0) return 1024 * std::atof(line.c_str() + std::strlen(key));
    return 0.0;
  };
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";
  const double before = status("VmRSS:");
  work();
  return status("VmHWM:") - before;
}

SUNDER_BENCH("cut", cutMemory) {
  for (const size_t size : {100'000, 1'000'000}) {
    if (!options.wants("cut/memory") || size > options.largest) continue;
    const geometry::TriMesh a = sphereOf(size), b = sphereOf(size, kShift);
    const double bytes =
        peakBytes([&] { keep(cut::cut(a, b, {.op = Op::Difference, .triangles = true}).fragments); });
    if (!(bytes > 0)) continue;  // a system that does not tell
    report.add({.name = "cut/memory",
                .size = 2 * a.triangles.size(),
                .threads = threadCount(),
                .metric = "memory",
                .value = bytes / double(2 * a.triangles.size()),
                .unit = "B/triangle",
                .bar = 400});
  }
}

SUNDER_BENCH("cut", cutGrowth) {
  if (!options.wants("cut/growth")) return;
  for (const size_t size : {1'000, 4'000, 16'000, 64'000, 256'000, 1'000'000, 4'000'000}) {
    if (size > options.largest) continue;
    const geometry::TriMesh a = sphereOf(size), b = sphereOf(size, kShift);
    const double seconds = bestSeconds(
        options, [&] { keep(cut::cut(a, b, {.op = Op::Difference, .triangles = true}).fragments); });
    report.add({.name = "cut/growth",
                .size = 2 * a.triangles.size(),
                .threads = threadCount(),
                .metric = "time",
                .value = 1e9 * seconds / double(2 * a.triangles.size()),
                .unit = "ns/triangle"});
  }
}

}  // namespace sunder::bench
