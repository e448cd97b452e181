#include "sunder/cut/kernel/kernel_mesh.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/cut/kernel/ring_triangles.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <memory>

#include <fmt/format.h>

namespace sunder::cut {

namespace {

constexpr double kFarthest = 1e37;
constexpr size_t kKernelGrain = 16384;
constexpr size_t kLongRow = 40;

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
      kKernelGrain);
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

// Half-edges of the same diagonal, which are known from their polygon: other edges may have the same ends.
using Pairs = std::vector<std::array<uint32_t, 2>>;

void pairDiagonals(std::span<const Triangle> triangles, uint32_t first, uint32_t n, Pairs& pairs) {
  struct Side {
    uint32_t from, to, halfedge;
    auto operator<=>(const Side&) const = default;
  };
  std::vector<Side> sides;
  for (uint32_t t = 0; t < triangles.size(); ++t)
    for (uint32_t k = 0; k < 3; ++k) {
      const uint32_t from = triangles[t][k], to = triangles[t][(k + 1) % 3];
      if (to != (from + 1) % n) sides.push_back({from, to, 3 * (first + t) + k});
    }
  std::sort(sides.begin(), sides.end());
  for (const Side& s : sides) {
    const auto other = std::lower_bound(sides.begin(), sides.end(), Side{s.to, s.from, 0});
    if (s.from < s.to && other != sides.end() && other->from == s.to && other->to == s.from)
      pairs.push_back({s.halfedge, other->halfedge});
  }
}

void triangulateInto(KernelMesh& out, const MeshView& mesh, Pairs& pairs, const std::string& name) {
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
    bool clean = true;
    // A face that an earlier cut ends in has a slit, which must not be sewn shut.
    const std::vector<Triangle> triangles = ringTriangles(ring, clean);
    pairDiagonals(triangles, u32(out.ownTriangles.size()), n, pairs);
    for (const Triangle& t : triangles) add(t);
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
      [](size_t a, size_t b) { return std::min(a, b); }, kKernelGrain);
  if (worst == ~size_t(0)) return;
  const Triangle& t = mesh.triangles[worst];
  const uint32_t face = mesh.sourceOf(u32(worst));
  if (std::max(std::max(t[0], t[1]), t[2]) >= mesh.positions.size())
    throw bad(name, fmt::format("face {} refers to a vertex that is not there", face));
  throw bad(name, fmt::format("face {} has a vertex more than once", face))
      .hint("sunder clean removes such faces");
}

// Names the first edge from `vertex` to a higher one that has more than two faces, or two the same way.
[[noreturn]] void refuseEdgeAt(const KernelMesh& mesh, uint32_t vertex, const std::string& name) {
  struct Side {
    uint32_t higher, halfedge;
    auto operator<=>(const Side&) const = default;
  };
  std::vector<Side> sides;
  for (uint32_t h = 0; h < mesh.twin.size(); ++h)
    if (std::min(mesh.origin(h), mesh.target(h)) == vertex)
      sides.push_back({std::max(mesh.origin(h), mesh.target(h)), h});
  std::sort(sides.begin(), sides.end());
  for (size_t begin = 0; begin < sides.size();) {
    size_t end = begin, along = 0;
    std::string faces;
    for (; end < sides.size() && sides[end].higher == sides[begin].higher; ++end) {
      along += mesh.origin(sides[end].halfedge) == vertex;
      if (end - begin < 8)
        faces += fmt::format("{}{}", faces.empty() ? "" : ", ", mesh.sourceOf(sides[end].halfedge / 3));
    }
    const size_t count = end - begin;
    const std::string edge = fmt::format("the edge {}-{}", vertex, sides[begin].higher);
    if (count > 2)
      throw bad(name, fmt::format("{} has {} faces ({})", edge, count, faces))
          .hint("cutting needs two faces at an edge at most; sunder clean --split takes such meshes apart");
    if (count == 2 && along != 1)
      throw bad(name, fmt::format("two faces run along {} in the same direction ({})", edge, faces))
          .hint("sunder clean turns faces so that neighbours agree");
    begin = end;
  }
  throw bad(name, fmt::format("the edges of vertex {} do not pair up", vertex));
}

void pairHalfedges(KernelMesh& mesh, const Pairs& diagonals, const std::string& name) {
  const size_t vertices = mesh.positions.size(), halfedges = 3 * mesh.triangles.size();
  const uint32_t* corners = mesh.triangles.empty() ? nullptr : mesh.triangles[0].data();
  std::vector<uint32_t> start(vertices + 1, 0);
  std::vector<uint8_t> paired(diagonals.empty() ? 0 : halfedges, 0);
  for (const auto& [h, g] : diagonals) paired[h] = paired[g] = 1;
  const auto open = [&](size_t h) { return paired.empty() || !paired[h]; };
  for (size_t h = 0; h < halfedges; h += 3) {
    const uint32_t a = corners[h], b = corners[h + 1], c = corners[h + 2];
    start[std::min(a, b)] += open(h);
    start[std::min(b, c)] += open(h + 1);
    start[std::min(c, a)] += open(h + 2);
  }
  uint32_t sum = 0;
  for (uint32_t& s : start) {
    sum += s;
    s = sum;  // the end of its row; filling moves it to the beginning
  }
  const std::unique_ptr<Entry[]> entries(new Entry[halfedges]);
  const auto put = [&](uint32_t a, uint32_t b, size_t h) {
    if (open(h)) entries[--start[std::min(a, b)]] = {std::max(a, b), u32(h)};
  };
  for (size_t h = halfedges; h > 0;) {
    h -= 3;
    const uint32_t a = corners[h], b = corners[h + 1], c = corners[h + 2];
    put(c, a, h + 2);
    put(b, c, h + 1);
    put(a, b, h);
  }
  mesh.twin.resize(halfedges);
  std::atomic<size_t> refused{~size_t(0)};
  std::vector<uint32_t> firstBorder((vertices + kKernelGrain - 1) / kKernelGrain, kNoIndex);
  parallelBlocks(vertices, kKernelGrain, [&](size_t begin, size_t end) {
    uint32_t border = kNoIndex;
    for (size_t v = begin; v < end; ++v) {
      Entry* row = entries.get() + start[v];
      const size_t size = start[v + 1] - start[v];
      // Sorted rows keep vertices with very many neighbours linear.
      if (size > kLongRow)
        std::sort(row, row + size, [](const Entry& x, const Entry& y) {
          return x.higher < y.higher || (x.higher == y.higher && x.halfedge < y.halfedge);
        });
      bool proper = true;
      for (size_t i = 0; i < size; ++i) {
        const uint32_t higher = row[i].higher, h = row[i].halfedge;
        if (higher == kNoIndex) continue;  // paired already
        uint32_t partner = kNoIndex;
        for (size_t j = i + 1; j < size; ++j) {
          if (row[j].higher != higher) {
            if (size > kLongRow) break;
            continue;
          }
          proper = proper && partner == kNoIndex && corners[row[j].halfedge] != corners[h];
          partner = row[j].halfedge;
          row[j].higher = kNoIndex;
        }
        mesh.twin[h] = partner;
        if (partner == kNoIndex)
          border = std::min(border, h);
        else
          mesh.twin[partner] = h;
      }
      size_t known = refused.load(std::memory_order_relaxed);
      while (!proper && v < known && !refused.compare_exchange_weak(known, v)) {
      }
    }
    firstBorder[begin / kKernelGrain] = border;
  });
  std::vector<uint64_t> keys;
  for (const auto& [h, g] : diagonals) {
    mesh.twin[h] = g;
    mesh.twin[g] = h;
    const uint32_t low = std::min(mesh.origin(h), mesh.target(h)),
                   high = std::max(mesh.origin(h), mesh.target(h));
    keys.push_back((uint64_t(low) << 32) | high);
    for (uint32_t e = start[low]; e < start[low + 1] && !mesh.doubled; ++e)
      mesh.doubled = entries[e].higher == high;
  }
  std::sort(keys.begin(), keys.end());
  mesh.doubled = mesh.doubled || std::adjacent_find(keys.begin(), keys.end()) != keys.end();
  for (const uint32_t b : firstBorder) mesh.borderEdge = std::min(mesh.borderEdge, b);
  if (refused.load() == ~size_t(0)) return;
  refuseEdgeAt(mesh, u32(refused.load()), name);
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
  std::vector<uint32_t> first(vertices, kNoIndex);
  for (size_t f = 0; f < mesh.triangles.size(); ++f)
    for (size_t k = 0; k < 3; ++k) first[mesh.triangles[f][k]] = u32(3 * f + k);
  // One fan a vertex holds all corners, or some vertex has more.
  const size_t inFirstFans = parallelReduce(
      vertices, size_t(0),
      [&](size_t begin, size_t end) {
        size_t sum = 0;
        for (size_t v = begin; v < end; ++v)
          if (first[v] != kNoIndex) walkFan(mesh, first[v], [&](uint32_t) { ++sum; });
        return sum;
      },
      [](size_t x, size_t y) { return x + y; }, kKernelGrain);
  if (inFirstFans == halfedges) return;
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
  Pairs diagonals;
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
    triangulateInto(mesh, input, diagonals, name);
    mesh.triangles = mesh.ownTriangles;
  }
  if (mesh.triangles.empty()) throw bad(name, "it has no faces");
  checkTriangles(mesh, name);
  pairHalfedges(mesh, diagonals, name);
  splitFans(mesh);
  return mesh;
}

}  // namespace sunder::cut
