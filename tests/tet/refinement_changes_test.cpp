#include "sunder/base/error.h"
#include "sunder/base/random.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/tet/refinement.h"

#include "tet/tet_cases.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace sunder::tet {
namespace {

using geometry::TetMesh;
using geometry::TopologyChange;

// What depends on a mesh: something of each vertex and of each tetrahedron, with a count of how often it was
// worked out.
struct Dependent {
  TetMesh mesh;
  std::vector<double> ofVertex, ofTet;
  size_t vertexWork = 0, tetWork = 0;

  double workVertex(const Vec3& p) {
    ++vertexWork;
    return p.x() + 3 * p.y() + 7 * p.z();
  }
  double workTet(const TetMesh& m, const geometry::Tetrahedron& t) {
    ++tetWork;
    return geometry::signedVolume(m.positions[t[0]], m.positions[t[1]], m.positions[t[2]], m.positions[t[3]]);
  }

  void rebuild(const TetMesh& now) {
    mesh = now;
    ofVertex.clear();
    ofTet.clear();
    for (const Vec3& p : mesh.positions) ofVertex.push_back(workVertex(p));
    for (const auto& t : mesh.tets) ofTet.push_back(workTet(mesh, t));
  }

  // Keeps what the record says is still there.
  void apply(const TopologyChange& change, const TetMesh& now) {
    ASSERT_EQ(geometry::validate(change), "");
    ASSERT_EQ(change.disappeared[0].tets, mesh.tets.size());
    ASSERT_EQ(change.disappeared[0].vertices, mesh.positions.size());
    ASSERT_EQ(change.appeared[0].body.tets, now.tets.size());
    ASSERT_EQ(change.appeared[0].body.vertices, now.positions.size());
    std::vector<double> vertices, tets;
    for (size_t v = 0; v < now.positions.size(); ++v) {
      const uint32_t from = change.vertexSource[v];
      if (from != kNoIndex) {
        EXPECT_EQ(mesh.positions[from], now.positions[v]);
      }
      vertices.push_back(from != kNoIndex ? ofVertex[from] : workVertex(now.positions[v]));
    }
    for (size_t t = 0; t < now.tets.size(); ++t) {
      const uint32_t from = change.tetSource[t];
      bool same = true;
      for (size_t i = 0; i < 4; ++i) same = same && change.vertexSource[now.tets[t][i]] == mesh.tets[from][i];
      tets.push_back(same ? ofTet[from] : workTet(now, now.tets[t]));
    }
    mesh = now;
    ofVertex = vertices;
    ofTet = tets;
  }
};

void expectRebuilt(const Dependent& kept) {
  Dependent fresh;
  fresh.rebuild(kept.mesh);
  EXPECT_EQ(kept.ofVertex, fresh.ofVertex);
  EXPECT_EQ(kept.ofTet, fresh.ofTet);
}

// Signed share of the smallest of the four sub-volumes: not negative where the point is inside.
double insideBy(const TetMesh& mesh, const geometry::Tetrahedron& t, const Vec3& p) {
  std::array<Vec3, 4> c;
  for (size_t i = 0; i < 4; ++i) c[i] = mesh.positions[t[i]];
  const double whole = geometry::signedVolume(c[0], c[1], c[2], c[3]);
  double least = 1;
  for (size_t i = 0; i < 4; ++i) {
    std::array<Vec3, 4> q = c;
    q[i] = p;
    least = std::min(least, geometry::signedVolume(q[0], q[1], q[2], q[3]) / whole);
  }
  return least;
}

TEST(RefinementChanges, ApplyingThemIsRebuilding) {
  for (const TetMesh& mesh : {cubes(2, false, 0.15, 3), cubes(2, true, 0.1, 4), bccCells(2)}) {
    Refinement r(mesh);
    r.recordChanges(42);
    Dependent data;
    data.rebuild(mesh);
    RandomStream random(23, mesh.tets.size());
    size_t operations = 0;
    for (int i = 0; i < 300; ++i) {
      const size_t before = data.tetWork + data.vertexWork;
      size_t ops[2] = {0, 0};
      const auto count = [&](size_t& sum) {
        for (size_t k = 0; k < kRefineKinds; ++k) sum += r.opCount(RefineKind(k));
      };
      count(ops[0]);
      if (random.below(3) == 0 && !r.ops().empty()) {
        r.undo(random.below(uint32_t(r.ops().size())));
      } else {
        const uint32_t t = random.below(uint32_t(r.tets().size()));
        if (r.tets()[t].alive && r.tets()[t].generation < 10) r.step(t);
      }
      count(ops[1]);
      data.apply(r.takeChange(), r.mesh());
      expectRebuilt(data);
      // Work goes with the operations, not with the mesh: the largest cuts an edge of many tetrahedra.
      const size_t done = ops[0] < ops[1] ? ops[1] - ops[0] : ops[0] - ops[1];
      EXPECT_LE(data.tetWork + data.vertexWork - before, 80 * done);
      operations += done;
      if (::testing::Test::HasFailure()) return;
    }
    EXPECT_GT(operations, 200u);
    r.coarsenAll();
    data.apply(r.takeChange(), r.mesh());
    EXPECT_EQ(data.mesh.tets, mesh.tets);
    expectRebuilt(data);
  }
}

// Many operations in one record; and one record is the composition of many.
TEST(RefinementChanges, RecordsCompose) {
  const TetMesh mesh = cubes(2, true);
  Refinement single(mesh), together(mesh);
  single.recordChanges(7);
  together.recordChanges(7);
  TopologyChange all;
  for (uint32_t t = 0; t < 6; ++t) {
    single.refineFull(t);
    together.refineFull(t);
    const TopologyChange change = single.takeChange();
    all = t == 0 ? change : geometry::compose(all, change);
  }
  const TopologyChange once = together.takeChange();
  EXPECT_EQ(all.vertexSource, once.vertexSource);
  EXPECT_EQ(all.tetSource, once.tetSource);
  EXPECT_EQ(all.kind, geometry::ChangeKind::Refine);
  EXPECT_EQ(all.disappeared, once.disappeared);
}

// Refined and undone between two records: nothing happened.
TEST(RefinementChanges, WhatIsUndoneLeavesNoTrace) {
  const TetMesh mesh = cubes(2, false, 0.1, 5);
  Refinement r(mesh);
  r.recordChanges(1);
  r.refineAll(5);
  r.coarsenAll();
  const TopologyChange nothing = r.takeChange();
  for (uint32_t t = 0; t < mesh.tets.size(); ++t) EXPECT_EQ(nothing.tetSource[t], t);
  for (uint32_t v = 0; v < mesh.positions.size(); ++v) EXPECT_EQ(nothing.vertexSource[v], v);
}

// After one operation the source holds the centroid.
TEST(RefinementChanges, SourcesOverlap) {
  const TetMesh mesh = cubes(1, false);
  Refinement r(mesh);
  r.recordChanges(1);
  TetMesh before = mesh;
  RandomStream random(3);
  for (int i = 0; i < 200; ++i) {
    const size_t ops = r.log().size();
    const uint32_t t = random.below(uint32_t(r.tets().size()));
    if (r.tets()[t].alive && r.tets()[t].generation < 8) r.step(t);
    const bool one = r.log().size() == ops + 1;
    const TopologyChange change = r.takeChange();
    const TetMesh now = r.mesh();
    for (size_t k = 0; one && k < now.tets.size(); ++k) {
      Vec3 centroid = Vec3::Zero();
      for (const uint32_t v : now.tets[k]) centroid += 0.25 * now.positions[v];
      EXPECT_GE(insideBy(before, before.tets[change.tetSource[k]], centroid), -1e-12);
    }
    before = now;
  }
  EXPECT_GT(r.log().size(), 50u);
}

TEST(RefinementChanges, MustBeAskedFor) {
  Refinement r(regularTet());
  EXPECT_THROW(r.takeChange(), Error);
}

}  // namespace
}  // namespace sunder::tet
