#include "sunder/cut/arrangement/seam.h"

#include "sunder/base/parallel.h"
#include "sunder/base/radix_sort.h"
#include "sunder/cut/kernel/pair_search.h"

#include <algorithm>
#include <cmath>

namespace sunder::cut {

namespace {

using spatial::PrimitivePair;

// Up to this many faces, signs of all vertices are cheaper than trees; large faces also make bad boxes.
constexpr size_t kFewFaces = 8;
constexpr size_t kPairGrain = 1024;

// One half of a point's name: (mesh of the edge, edge, face).
using PointKey = uint64_t;
PointKey keyOf(MeshId mesh, uint32_t edge, uint32_t face) {
  return (uint64_t(edge | (mesh == kCutter ? 0x80000000u : 0u)) << 32) | face;
}

struct Found {
  uint32_t face[2];
  PointKey start, end;
};

int8_t sign8(int s) { return static_cast<int8_t>(s); }

class PairTest {
 public:
  PairTest(const KernelMesh& mesh, const KernelMesh& cutter) : mesh_(mesh), cutter_(cutter) {}

  // True when the faces cross; the ends of the common segment are then in `out`.
  bool operator()(uint32_t a, uint32_t b, Found& out) const {
    const Corners3 fa = cornersOf(mesh_, a), fb = cornersOf(cutter_, b);
    const Vec3* const pa[] = {fa.a, fa.b, fa.c};
    const Vec3* const pb[] = {fb.a, fb.b, fb.c};
    int8_t sideA[3], sideB[3];
    for (size_t k = 0; k < 3; ++k) sideA[k] = sign8(sideOfMeshVertex(*pa[k], fb));
    if (sideA[0] != 0 && sideA[0] == sideA[1] && sideA[1] == sideA[2]) return false;
    for (size_t k = 0; k < 3; ++k) sideB[k] = sign8(sideOfCutterVertex(*pb[k], fa));
    if (sideB[0] != 0 && sideB[0] == sideB[1] && sideB[1] == sideB[2]) return false;

    int8_t known[3][3];
    for (auto& row : known)
      for (auto& entry : row) entry = 2;
    const auto pass = [&](size_t i, size_t j) {
      int8_t& s = known[i][j];
      if (s == 2) s = sign8(passing(*pa[i], *pa[(i + 1) % 3], *pb[j], *pb[(j + 1) % 3]));
      return s;
    };
    size_t starts = 0, ends = 0;
    const auto add = [&](bool isStart, PointKey key) {
      (isStart ? out.start : out.end) = key;
      ++(isStart ? starts : ends);
    };
    for (size_t i = 0; i < 3; ++i) {
      if (sideA[i] == sideA[(i + 1) % 3]) continue;
      const int s = pass(i, 0);
      if (s == 0 || s != pass(i, 1) || s != pass(i, 2)) continue;
      add(sideA[i] < 0, keyOf(kMesh, edgeOf(mesh_, u32(3 * a + i)), b));
    }
    for (size_t j = 0; j < 3; ++j) {
      if (sideB[j] == sideB[(j + 1) % 3]) continue;
      const int s = pass(0, j);
      if (s == 0 || s != pass(1, j) || s != pass(2, j)) continue;
      add(sideB[j] > 0, keyOf(kCutter, edgeOf(cutter_, u32(3 * b + j)), a));
    }
    if (starts != 1 || ends != 1) return false;
    out.face[kMesh] = a;
    out.face[kCutter] = b;
    return true;
  }

 private:
  const KernelMesh& mesh_;
  const KernelMesh& cutter_;
};

void append(std::vector<Found>& all, std::vector<std::vector<Found>>& blocks) {
  size_t total = all.size();
  for (const auto& b : blocks) total += b.size();
  all.reserve(total);
  for (const auto& b : blocks) all.insert(all.end(), b.begin(), b.end());
}

void crossFewFaces(const KernelMesh& mesh, const KernelMesh& cutter, std::vector<Found>& found,
                   size_t& candidates) {
  const PairTest test(mesh, cutter);
  const size_t faces = mesh.triangles.size(), grain = 8192;
  std::vector<int8_t> side(mesh.positions.size());
  std::vector<std::vector<Found>> blocks((faces + grain - 1) / grain);
  std::vector<size_t> counts(blocks.size());
  for (uint32_t b = 0; b < cutter.triangles.size(); ++b) {
    const Corners3 face = cornersOf(cutter, b);
    parallelFor(side.size(), [&](size_t v) { side[v] = sign8(sideOfMeshVertex(mesh.positions[v], face)); });
    parallelBlocks(faces, grain, [&](size_t begin, size_t end) {
      Found f;
      for (size_t a = begin; a < end; ++a) {
        const Triangle& t = mesh.triangles[a];
        const int8_t s = side[t[0]];
        if (s != 0 && s == side[t[1]] && s == side[t[2]]) continue;
        ++counts[begin / grain];
        if (test(u32(a), b, f)) blocks[begin / grain].push_back(f);
      }
    });
  }
  append(found, blocks);
  for (const size_t c : counts) candidates += c;
}

// Triangles whose boxes reach into `box`.
struct Near {
  std::vector<Triangle> triangles;
  std::vector<uint32_t> face;
};

Near nearFaces(const KernelMesh& mesh, const Box3& box) {
  constexpr size_t kGrain = 16384;
  const size_t faces = mesh.triangles.size();
  std::vector<uint8_t> outside(mesh.positions.size());  // a bit for each plane of the box
  parallelFor(
      outside.size(),
      [&](size_t v) {
        const Vec3& p = mesh.positions[v];
        unsigned bits = 0;
        for (int axis = 0; axis < 3; ++axis) {
          bits |= unsigned(p[axis] < box.lower[axis]) << axis;
          bits |= unsigned(p[axis] > box.upper[axis]) << (axis + 3);
        }
        outside[v] = static_cast<uint8_t>(bits);
      },
      kGrain);
  std::vector<uint32_t> count((faces + kGrain - 1) / kGrain + 1, 0);
  const auto isNear = [&](const Triangle& t) { return (outside[t[0]] & outside[t[1]] & outside[t[2]]) == 0; };
  parallelBlocks(faces, kGrain, [&](size_t begin, size_t end) {
    uint32_t n = 0;
    for (size_t f = begin; f < end; ++f) n += isNear(mesh.triangles[f]);
    count[begin / kGrain] = n;
  });
  Near near;
  const uint32_t total = geometry::countsToOffsets(count);
  near.triangles.resize(total);
  near.face.resize(total);
  parallelBlocks(faces, kGrain, [&](size_t begin, size_t end) {
    uint32_t at = count[begin / kGrain];
    for (size_t f = begin; f < end; ++f) {
      if (!isNear(mesh.triangles[f])) continue;
      near.triangles[at] = mesh.triangles[f];
      near.face[at++] = u32(f);
    }
  });
  return near;
}

void crossByTrees(const KernelMesh& mesh, const KernelMesh& cutter, uint64_t most, std::vector<Found>& found,
                  size_t& candidates) {
  const KernelMesh* const meshes[] = {&mesh, &cutter};
  Near near[2];
  spatial::OiTree trees[2];
  parallelFor(
      2,
      [&](size_t m) {
        near[m] = nearFaces(*meshes[m], meshes[1 - m]->bounds);
        spatial::OiTreeBuilder builder;
        if (!near[m].face.empty())
          builder.build(trees[m], spatial::TriangleLeaves{.positions = meshes[m]->positions,
                                                          .triangles = near[m].triangles});
      },
      1);
  if (near[0].face.empty() || near[1].face.empty()) return;
  spatial::PairList list;
  searchPairs(trees[0], trees[1], most, "of the mesh and the cutter", list);
  const auto pairs = list.pairs();
  candidates += pairs.size();
  const PairTest test(mesh, cutter);
  std::vector<std::vector<Found>> blocks((pairs.size() + kPairGrain - 1) / kPairGrain);
  parallelBlocks(pairs.size(), kPairGrain, [&](size_t begin, size_t end) {
    Found f;
    for (size_t i = begin; i < end; ++i)
      if (test(near[0].face[pairs[i].a], near[1].face[pairs[i].b], f))
        blocks[begin / kPairGrain].push_back(f);
  });
  append(found, blocks);
}

SeamPoint pointOf(PointKey key, const KernelMesh* const (&meshes)[2]) {
  SeamPoint p;
  const uint32_t high = static_cast<uint32_t>(key >> 32);
  p.edgeOf = (high >> 31) != 0 ? kCutter : kMesh;
  p.halfedge = high & 0x7fffffffu;
  p.face = static_cast<uint32_t>(key);
  const KernelMesh& own = *meshes[p.edgeOf];
  p.border = own.twin[p.halfedge] == kNoIndex;
  return p;
}

// Puts the points of an edge in order; where rounded places are too close the exact comparison decides.
void sortRun(std::span<SeamPoint> run, std::span<const double> errors, std::span<uint32_t> order,
             const KernelMesh* const (&meshes)[2]) {
  const KernelMesh& own = *meshes[run[0].edgeOf];
  const KernelMesh& other = *meshes[1 - run[0].edgeOf];
  const Vec3 &p = own.positions[own.origin(run[0].halfedge)], &q = own.positions[own.target(run[0].halfedge)];
  const auto placeOf = [&](uint32_t i) { return Place{run[i].t, errors[i], cornersOf(other, run[i].face)}; };
  std::stable_sort(order.begin(), order.end(), [&](uint32_t i, uint32_t j) {
    return comesBefore(p, q, placeOf(i), placeOf(j), run[i].edgeOf == kCutter);
  });
}

}  // namespace

EdgeRun Seam::run(MeshId mesh, uint32_t lowerHalfedge) const {
  const auto at = std::lower_bound(runs[mesh].begin(), runs[mesh].end(), lowerHalfedge,
                                   [](const EdgeRun& r, uint32_t h) { return r.halfedge < h; });
  if (at == runs[mesh].end() || at->halfedge != lowerHalfedge) return {lowerHalfedge, 0, 0};
  return *at;
}

Seam findSeam(const KernelMesh& mesh, const KernelMesh& cutter, uint64_t most) {
  Seam seam;
  std::vector<Found> found;
  if (cutter.triangles.size() <= kFewFaces)
    crossFewFaces(mesh, cutter, found, seam.candidates);
  else
    crossByTrees(mesh, cutter, most, found, seam.candidates);
  std::sort(found.begin(), found.end(), [](const Found& x, const Found& y) {
    return std::make_pair(x.face[0], x.face[1]) < std::make_pair(y.face[0], y.face[1]);
  });

  // Equal names are one point.
  std::vector<PointKey> keys(2 * found.size());
  std::vector<uint32_t> user(keys.size()), pointOfUser(keys.size());
  for (size_t i = 0; i < found.size(); ++i) {
    keys[2 * i] = found[i].start;
    keys[2 * i + 1] = found[i].end;
  }
  for (size_t i = 0; i < user.size(); ++i) user[i] = u32(i);
  RadixScratch scratch;
  radixSortPairs(std::span<uint64_t>(keys), std::span<uint32_t>(user), scratch);
  const KernelMesh* const meshes[] = {&mesh, &cutter};
  for (size_t i = 0; i < keys.size(); ++i) {
    if (i == 0 || keys[i] != keys[i - 1]) seam.points.push_back(pointOf(keys[i], meshes));
    pointOfUser[user[i]] = u32(seam.points.size() - 1);
  }

  std::vector<double> errors(seam.points.size());
  parallelFor(
      seam.points.size(),
      [&](size_t i) {
        SeamPoint& x = seam.points[i];
        const KernelMesh& own = *meshes[x.edgeOf];
        const Vec3 &p = own.positions[own.origin(x.halfedge)], &q = own.positions[own.target(x.halfedge)];
        const Crossing c = crossing(p, q, cornersOf(*meshes[1 - x.edgeOf], x.face));
        x.t = c.t;
        errors[i] = c.error;
        x.position = c.position;
      },
      512);

  std::vector<uint32_t> newPlace(seam.points.size()), order;
  std::vector<SeamPoint> sorted;
  for (size_t first = 0; first < seam.points.size();) {
    const SeamPoint& head = seam.points[first];
    size_t last = first + 1;
    while (last < seam.points.size() && seam.points[last].edgeOf == head.edgeOf &&
           seam.points[last].halfedge == head.halfedge)
      ++last;
    const size_t count = last - first;
    seam.runs[head.edgeOf].push_back({head.halfedge, u32(first), u32(count)});
    order.resize(count);
    for (size_t i = 0; i < count; ++i) order[i] = u32(i);
    if (count > 1) {
      const std::span<SeamPoint> run(seam.points.data() + first, count);
      sortRun(run, {errors.data() + first, count}, order, meshes);
      sorted.assign(run.begin(), run.end());
      for (size_t i = 0; i < count; ++i) run[i] = sorted[order[i]];
    }
    for (size_t i = 0; i < count; ++i) newPlace[first + order[i]] = u32(first + i);
    first = last;
  }
  seam.segments.resize(found.size());
  for (size_t i = 0; i < found.size(); ++i)
    seam.segments[i] = {
        {found[i].face[0], found[i].face[1]}, newPlace[pointOfUser[2 * i]], newPlace[pointOfUser[2 * i + 1]]};
  return seam;
}

bool comesBefore(const Vec3& p, const Vec3& q, const Place& first, const Place& second, bool cutterEdge) {
  const double difference = first.t - second.t;
  if (std::abs(difference) > first.error + second.error) return difference < 0;
  const int which = compareCrossings(p, q, first.face, second.face, cutterEdge);
  if (which != 0) return which < 0;
  // Two solids of one mesh that touch in a face: out of the one before into the other.
  const auto leaves = [&](const Corners3& f) {
    return (cutterEdge ? sideOfCutterVertex(p, f) : sideOfMeshVertex(p, f)) < 0;
  };
  return leaves(first.face) && !leaves(second.face);
}

int crossingOf(const Vec3& vertex, const Vec3& far, MeshId vertexOf, const Corners3& t) {
  const auto out = [&](int axis) {
    const double lower = std::min({(*t.a)[axis], (*t.b)[axis], (*t.c)[axis]});
    const double upper = std::max({(*t.a)[axis], (*t.b)[axis], (*t.c)[axis]});
    return std::max(vertex[axis], far[axis]) < lower || std::min(vertex[axis], far[axis]) > upper;
  };
  if (out(1) || out(2) || out(0)) return 0;
  const bool ofMesh = vertexOf == kMesh;
  const int from = ofMesh ? sideOfMeshVertex(vertex, t) : sideOfCutterVertex(vertex, t);
  const int to = ofMesh ? sideOfMeshVertex(far, t) : sideOfCutterVertex(far, t);
  if (from == to) return 0;
  const auto pass = [&](const Vec3& a, const Vec3& b) {
    return ofMesh ? passing(vertex, far, a, b) : passing(a, b, vertex, far);
  };
  const int s = pass(*t.a, *t.b);
  if (s == 0 || s != pass(*t.b, *t.c) || s != pass(*t.c, *t.a)) return 0;
  return to > 0 ? 1 : -1;
}

int windingAround(const Vec3& vertex, MeshId vertexOf, const KernelMesh& closed) {
  if (!closed.bounds.contains(vertex)) return 0;
  // Further out than everything, on the same line along x.
  const double reach = std::max(closed.bounds.extent().x(), std::abs(closed.bounds.upper.x()));
  const Vec3 far(closed.bounds.upper.x() + std::max(1e-30, reach), vertex.y(), vertex.z());
  return parallelReduce(
      closed.triangles.size(), 0,
      [&](size_t begin, size_t end) {
        int winding = 0;
        for (size_t f = begin; f < end; ++f)
          winding += crossingOf(vertex, far, vertexOf, cornersOf(closed, u32(f)));
        return winding;
      },
      [](int a, int b) { return a + b; }, 16384);
}

}  // namespace sunder::cut
