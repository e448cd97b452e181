#include "sunder/cut/kernel_mesh.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/cut/flip_diagonals.h"
#include "sunder/geometry/triangulate.h"

#include <atomic>
#include <bit>
#include <cmath>
#include <memory>

#include <fmt/format.h>

namespace sunder::cut {

namespace {

constexpr double kFarthest = 1e37;
constexpr size_t kGrain = 16384;

// One half-edge in the row of the lower of its two vertices.
struct Entry {
  uint32_t higher;
  uint32_t halfedge;
};

Error bad(const std::string& name, const std::string& what) {
  return Error(ErrorKind::Geometry, fmt::format("the {}: {}", name, what));
}

Box3 finiteBounds(std::span<const Vec3> positions, const std::string& name) {
  struct Part {
    Box3 box;
    size_t bad = ~size_t(0);
  };
  const Part all = parallelReduce(
      positions.size(), Part{},
      [&](size_t begin, size_t end) {
        Part part;
        for (size_t i = begin; i < end; ++i) {
          const Vec3& p = positions[i];
          // Written so that what is not a number fails too.
          if (!(p.cwiseAbs().maxCoeff() <= kFarthest) || !p.allFinite()) part.bad = std::min(part.bad, i);
          part.box.grow(p);
        }
        return part;
      },
      [](Part a, const Part& b) {
        a.box.grow(b.box);
        a.bad = std::min(a.bad, b.bad);
        return a;
      },
      kGrain);
  if (all.bad != ~size_t(0))
    throw bad(name, fmt::format("vertex {} is not finite or beyond {:g}", all.bad, kFarthest))
        .hint("sunder clean removes such vertices with their faces");
  return all.box;
}

// Within the rounding of positions in single precision.
bool isFlat(std::span<const Vec3> ring, const Vec3& area) {
  const Vec3 normal = area.normalized();
  double off = 0, size = 0;
  for (const Vec3& p : ring) {
    off = std::max(off, std::abs(normal.dot(p - ring[0])));
    size = std::max(size, (p - ring[0]).norm());
  }
  return off <= 1e-7 * size;
}

void triangulateInto(KernelMesh& out, const MeshView& mesh, const std::string& name) {
  bool polygons = false;
  for (size_t f = 0; f < mesh.faceCount(); ++f) {
    const size_t size = mesh.face(f).size();
    if (size < 3) throw bad(name, fmt::format("face {} has fewer than three corners", f));
    polygons = polygons || size > 3;
  }
  if (!polygons) {
    out.ownTriangles.resize(mesh.faceCount());
    for (size_t f = 0; f < mesh.faceCount(); ++f) {
      const auto face = mesh.face(f);
      out.ownTriangles[f] = {face[0], face[1], face[2]};
    }
    return;
  }
  std::vector<Vec3> ring;
  for (size_t f = 0; f < mesh.faceCount(); ++f) {
    const auto face = mesh.face(f);
    const uint32_t n = u32(face.size());
    if (n > 3 && geometry::repeatsVertex(mesh, f))
      throw bad(name, fmt::format("face {} has a vertex more than once", f))
          .hint("sunder clean mends such faces");
    uint8_t inside = 0;
    const auto add = [&](const Triangle& corners) {
      Triangle t;
      for (size_t k = 0; k < 3; ++k) {
        t[k] = face[corners[k]];
        const uint32_t next = corners[(k + 1) % 3];
        out.diagonal.push_back(next != (corners[k] + 1) % n ? inside : uint8_t(0));
      }
      out.ownTriangles.push_back(t);
      out.source.push_back(u32(f));
    };
    if (n == 3) {
      add({0, 1, 2});
      continue;
    }
    ring.clear();
    for (const uint32_t v : face) ring.push_back(mesh.positions[v]);
    inside = isFlat(ring, geometry::vectorArea(mesh, f)) ? 1 : 2;
    auto made = geometry::triangulate(std::span<const Vec3>(ring));
    flipDiagonals(flattened(ring), made.triangles);
    for (const Triangle& t : made.triangles) add(t);
  }
}

void checkTriangles(const KernelMesh& mesh, const std::string& name) {
  const size_t worst = parallelReduce(
      mesh.triangles.size(), ~size_t(0),
      [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) {
          const Triangle& t = mesh.triangles[i];
          if (std::max(std::max(t[0], t[1]), t[2]) >= mesh.positions.size() || t[0] == t[1] || t[1] == t[2] ||
              t[2] == t[0])
            return i;
        }
        return ~size_t(0);
      },
      [](size_t a, size_t b) { return std::min(a, b); }, kGrain);
  if (worst == ~size_t(0)) return;
  const Triangle& t = mesh.triangles[worst];
  const uint32_t face = mesh.sourceOf(u32(worst));
  if (std::max(std::max(t[0], t[1]), t[2]) >= mesh.positions.size())
    throw bad(name, fmt::format("face {} refers to a vertex that is not there", face));
  throw bad(name, fmt::format("face {} has a vertex more than once", face))
      .hint("sunder clean removes such faces");
}

// Names what is wrong with the edge of a row's entries.
[[noreturn]] void refuseEdge(const KernelMesh& mesh, std::span<const Entry> row, size_t lower,
                             uint32_t higher, const std::string& name) {
  std::string faces;
  size_t count = 0;
  for (const Entry& e : row)
    if (e.higher == higher) {
      if (count++ < 8) faces += fmt::format("{}{}", faces.empty() ? "" : ", ", mesh.sourceOf(e.halfedge / 3));
    }
  const std::string edge = fmt::format("the edge {}-{}", lower, higher);
  if (count > 2)
    throw bad(name, fmt::format("{} has {} faces ({})", edge, count, faces))
        .hint("cutting needs two faces at an edge at most; sunder clean takes such meshes apart");
  throw bad(name, fmt::format("two faces run along {} in the same direction ({})", edge, faces))
      .hint("sunder clean turns faces so that neighbours agree");
}

void pairHalfedges(KernelMesh& mesh, const std::string& name) {
  const size_t vertices = mesh.positions.size(), halfedges = 3 * mesh.triangles.size();
  const uint32_t* corners = mesh.triangles.empty() ? nullptr : mesh.triangles[0].data();
  std::vector<uint32_t> start(vertices + 1, 0);
  const auto next = [&](size_t h) { return corners[h % 3 == 2 ? h - 2 : h + 1]; };
  for (size_t h = 0; h < halfedges; h += 3) {
    const uint32_t a = corners[h], b = corners[h + 1], c = corners[h + 2];
    ++start[std::min(a, b)];
    ++start[std::min(b, c)];
    ++start[std::min(c, a)];
  }
  uint32_t sum = 0;
  for (uint32_t& s : start) {
    sum += s;
    s = sum;  // the end of its row; filling moves it to the beginning
  }
  const std::unique_ptr<Entry[]> entries(new Entry[halfedges]);
  for (size_t h = halfedges; h-- > 0;) {
    const uint32_t a = corners[h], b = next(h);
    entries[--start[std::min(a, b)]] = {std::max(a, b), u32(h)};
  }
  mesh.twin.resize(halfedges);
  std::atomic<size_t> refused{~size_t(0)};
  std::vector<uint32_t> firstBorder((vertices + kGrain - 1) / kGrain, kNoIndex);
  parallelBlocks(vertices, kGrain, [&](size_t begin, size_t end) {
    uint32_t border = kNoIndex;
    for (size_t v = begin; v < end; ++v) {
      const Entry* row = entries.get() + start[v];
      const size_t size = start[v + 1] - start[v];
      for (size_t i = 0; i < size; ++i) {
        uint32_t partner = kNoIndex, found = 0;
        for (size_t j = 0; j < size; ++j)
          if (j != i && row[j].higher == row[i].higher) {
            partner = row[j].halfedge;
            ++found;
          }
        mesh.twin[row[i].halfedge] = partner;
        if (found == 0) border = std::min(border, row[i].halfedge);
        if (found > 1 || (found == 1 && corners[partner] == corners[row[i].halfedge])) {
          size_t known = refused.load();
          while (v < known && !refused.compare_exchange_weak(known, v)) {
          }
        }
      }
    }
    firstBorder[begin / kGrain] = border;
  });
  for (const uint32_t b : firstBorder) mesh.borderEdge = std::min(mesh.borderEdge, b);
  if (refused.load() == ~size_t(0)) return;
  const size_t v = refused.load();
  const std::span<const Entry> row(entries.get() + start[v], start[v + 1] - start[v]);
  for (const Entry& e : row) {
    size_t same = 0, along = 0;
    for (const Entry& other : row)
      if (other.higher == e.higher) {
        ++same;
        along += corners[other.halfedge] == corners[e.halfedge];
      }
    if (same > 2 || along > 1) refuseEdge(mesh, row, v, e.higher, name);
  }
}

// Half-edges that leave the vertex of `h` in its fan; `visit` sees each of them.
template <class Visit>
void walkFan(const KernelMesh& mesh, uint32_t h, Visit&& visit) {
  uint32_t at = h;
  do {
    visit(at);
    at = mesh.twin[previousOf(at)];
  } while (at != kNoIndex && at != h);
  if (at == h) return;
  for (at = mesh.twin[h]; at != kNoIndex; at = mesh.twin[at]) {
    at = nextOf(at);
    visit(at);
  }
}

void splitFans(KernelMesh& mesh) {
  const size_t vertices = mesh.positions.size(), halfedges = mesh.twin.size();
  std::vector<uint32_t> degree(vertices, 0), first(vertices, kNoIndex);
  for (size_t h = 0; h < halfedges; ++h) {
    const uint32_t v = mesh.origin(u32(h));
    ++degree[v];
    first[v] = u32(h);
  }
  const geometry::Tally several = geometry::tally(vertices, [&](size_t v) {
    if (degree[v] == 0) return false;
    uint32_t size = 0;
    walkFan(mesh, first[v], [&](uint32_t) { ++size; });
    return size != degree[v];
  });
  if (several.count == 0) return;
  if (mesh.ownTriangles.empty()) mesh.ownTriangles.assign(mesh.triangles.begin(), mesh.triangles.end());
  mesh.ownPositions.assign(mesh.positions.begin(), mesh.positions.end());
  std::vector<uint8_t> seen(halfedges, 0), taken(vertices, 0);
  for (uint32_t h = 0; h < halfedges; ++h) {
    if (seen[h]) continue;
    const uint32_t v = mesh.origin(h);
    const bool again = taken[v] != 0;
    taken[v] = 1;
    const uint32_t copy = u32(mesh.ownPositions.size());
    walkFan(mesh, h, [&](uint32_t other) {
      seen[other] = 1;
      if (again) mesh.ownTriangles[other / 3][other % 3] = copy;
    });
    if (again) {
      mesh.ownPositions.push_back(Vec3(mesh.positions[v]));
      mesh.splitOf.push_back(v);
    }
  }
  mesh.positions = mesh.ownPositions;
  mesh.triangles = mesh.ownTriangles;
}

}  // namespace

KernelMesh makeKernelMesh(const MeshView& input, const std::string& name) {
  KernelMesh mesh;
  mesh.positions = input.positions;
  mesh.inputVertices = u32(input.positions.size());
  if (input.corners.size() >= (size_t(1) << 31))
    throw Error(ErrorKind::Limit, fmt::format("the {} has more than 2^31 corners", name));
  mesh.bounds = finiteBounds(input.positions, name);
  if (input.offsets.empty()) {
    static_assert(sizeof(Triangle) == 3 * sizeof(uint32_t));
    mesh.triangles = {reinterpret_cast<const Triangle*>(input.corners.data()), input.corners.size() / 3};
  } else {
    geometry::requireValid(input);
    triangulateInto(mesh, input, name);
    mesh.triangles = mesh.ownTriangles;
  }
  if (mesh.triangles.empty()) throw bad(name, "it has no faces");
  checkTriangles(mesh, name);
  pairHalfedges(mesh, name);
  splitFans(mesh);
  return mesh;
}

double signedVolume6(const KernelMesh& mesh) {
  const Vec3 centre = mesh.bounds.center();
  return parallelReduce(
      mesh.triangles.size(), 0.0,
      [&](size_t begin, size_t end) {
        double sum = 0;
        for (size_t f = begin; f < end; ++f) {
          const Vec3 a = mesh.at(u32(f), 0) - centre, b = mesh.at(u32(f), 1) - centre,
                     c = mesh.at(u32(f), 2) - centre;
          sum += a.dot(b.cross(c));
        }
        return sum;
      },
      [](double a, double b) { return a + b; }, kGrain);
}

}  // namespace sunder::cut
