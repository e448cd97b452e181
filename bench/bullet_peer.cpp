#include "sunder/spatial/pairs/overlap_pairs.h"

#include "bench/pair_peers.h"

#include <vector>

#ifdef SUNDER_HAS_BULLET
#include <BulletCollision/BroadphaseCollision/btDbvt.h>
#include <BulletCollision/CollisionShapes/btOptimizedBvh.h>
#include <BulletCollision/CollisionShapes/btTriangleIndexVertexArray.h>
#include <BulletCollision/Gimpact/btGImpactBvh.h>
#endif

namespace sunder::bench {

const char* name(BulletTree tree) {
  switch (tree) {
    case BulletTree::Optimized:
      return "Bullet btOptimizedBvh";
    case BulletTree::Dynamic:
      return "Bullet btDbvt";
    case BulletTree::GImpact:
      return "Bullet btGImpactBvh";
  }
  return "";
}

#ifdef SUNDER_HAS_BULLET

namespace {

using geometry::TriMesh;

struct Bounds {
  btVector3 lower, upper;
};

Bounds boundsOf(const TriMesh& mesh, size_t triangle) {
  Bounds box;
  for (size_t corner = 0; corner < 3; ++corner) {
    const Vec3f p = mesh.positions[mesh.triangles[triangle][corner]].cast<float>();
    const btVector3 point(p.x(), p.y(), p.z());
    if (corner == 0) box.lower = box.upper = point;
    box.lower.setMin(point);
    box.upper.setMax(point);
  }
  return box;
}

// A tree with one leaf a triangle. Insertion alone leaves a poor one; optimizeTopDown makes the search four
// to fifteen times faster, optimizeIncremental less so.
void fillTree(btDbvt& tree, const TriMesh& mesh) {
  for (size_t i = 0; i < mesh.triangles.size(); ++i) {
    const Bounds box = boundsOf(mesh, i);
    tree.insert(btDbvtVolume::FromMM(box.lower, box.upper), nullptr)->dataAsInt = static_cast<int>(i);
  }
  tree.optimizeTopDown();
}

// Triangles as GImpact asks for them. It never looks at more than their boxes here.
struct BoxSource : btPrimitiveManagerBase {
  explicit BoxSource(const TriMesh& triangles) : mesh(triangles) {}
  bool is_trimesh() const override { return true; }
  int get_primitive_count() const override { return static_cast<int>(mesh.triangles.size()); }
  void get_primitive_box(int index, btAABB& out) const override {
    const Bounds box = boundsOf(mesh, static_cast<size_t>(index));
    out.m_min = box.lower;
    out.m_max = box.upper;
  }
  void get_primitive_triangle(int, btPrimitiveTriangle&) const override {}
  const TriMesh& mesh;
};

struct Collected : btDbvt::ICollide {
  std::vector<spatial::PrimitivePair> pairs;
  using ICollide::Process;
  void Process(const btDbvtNode* a, const btDbvtNode* b) override {
    pairs.push_back({static_cast<uint32_t>(a->dataAsInt), static_cast<uint32_t>(b->dataAsInt)});
  }
};

}  // namespace

std::optional<double> bulletBuild(const Options& options, const TriMesh& mesh, BulletTree kind) {
  if (kind == BulletTree::GImpact) {
    BoxSource source(mesh);
    return bestSeconds(options, [&] {
      btGImpactBvh tree(&source);
      tree.buildSet();
    });
  }
  std::vector<float> points;
  for (const Vec3& p : mesh.positions)
    for (int k = 0; k < 3; ++k) points.push_back(static_cast<float>(p[k]));
  std::vector<int> corners;
  for (const auto& t : mesh.triangles)
    for (uint32_t v : t) corners.push_back(static_cast<int>(v));
  btIndexedMesh part;
  part.m_numTriangles = static_cast<int>(mesh.triangles.size());
  part.m_triangleIndexBase = reinterpret_cast<const unsigned char*>(corners.data());
  part.m_triangleIndexStride = 3 * sizeof(int);
  part.m_numVertices = static_cast<int>(mesh.positions.size());
  part.m_vertexBase = reinterpret_cast<const unsigned char*>(points.data());
  part.m_vertexStride = 3 * sizeof(float);
  part.m_vertexType = PHY_FLOAT;
  btTriangleIndexVertexArray array;
  array.addIndexedMesh(part, PHY_INTEGER);
  btVector3 lower(points[0], points[1], points[2]), upper = lower;
  for (size_t i = 0; i < points.size(); i += 3) {
    lower.setMin(btVector3(points[i], points[i + 1], points[i + 2]));
    upper.setMax(btVector3(points[i], points[i + 1], points[i + 2]));
  }
  return bestSeconds(options, [&] {
    btOptimizedBvh tree;
    tree.build(&array, false, lower, upper);
  });
}

std::optional<PeerSearch> bulletPairs(const Options& options, const TriMesh& a, const TriMesh* b,
                                      BulletTree kind) {
  if (kind == BulletTree::GImpact) {
    if (!b) return std::nullopt;
    BoxSource sourceA(a), sourceB(*b);
    btGImpactBvh treeA(&sourceA), treeB(&sourceB);
    treeA.buildSet();
    treeB.buildSet();
    btPairSet pairs;
    const btTransform still = btTransform::getIdentity();
    const double seconds = bestSeconds(
        options, [&] { btGImpactBvh::find_collision(&treeA, still, &treeB, still, pairs); },
        [&] { pairs.resizeNoInitialize(0); });
    return PeerSearch{seconds, static_cast<size_t>(pairs.size())};
  }
  btDbvt treeA, treeB;
  fillTree(treeA, a);
  if (b) fillTree(treeB, *b);
  Collected found;
  const double seconds = bestSeconds(
      options,
      [&] {
        if (b)
          treeA.collideTT(treeA.m_root, treeB.m_root, found);
        else
          treeA.selfCollideTT(treeA.m_root, found);
      },
      [&] { found.pairs.clear(); });
  return PeerSearch{seconds, found.pairs.size()};
}

#else

std::optional<double> bulletBuild(const Options&, const geometry::TriMesh&, BulletTree) {
  return std::nullopt;
}
std::optional<PeerSearch> bulletPairs(const Options&, const geometry::TriMesh&, const geometry::TriMesh*,
                                      BulletTree) {
  return std::nullopt;
}

#endif

}  // namespace sunder::bench
