#include "sunder/tet/refinement.h"

#include "sunder/base/error.h"
#include "sunder/base/random.h"
#include "sunder/geometry/predicates.h"
#include "sunder/geometry/tet_mesh.h"
#include "sunder/tet/dihedral.h"
#include "sunder/tet/refinement_history.h"

#include "tet/refinement_validity.h"
#include "tet/tet_cases.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

namespace sunder::tet {
namespace {

using geometry::TetMesh;

struct Angles {
  double worst = 180, mean = 0, best = 0;  // of the smallest angle of each tetrahedron
};

Angles anglesOf(const TetMesh& mesh) {
  Angles a;
  for (const auto& t : mesh.tets) {
    const double angle = degreesOf(
        cosineRange(mesh.positions[t[0]], mesh.positions[t[1]], mesh.positions[t[2]], mesh.positions[t[3]])
            .second);
    a.worst = std::min(a.worst, angle);
    a.best = std::max(a.best, angle);
    a.mean += angle / double(mesh.tets.size());
  }
  return a;
}

// Tetrahedra as sorted coordinates: equal for equal meshes, whatever their numbering.
using Corner = std::array<double, 3>;
std::vector<std::array<Corner, 4>> canonical(const TetMesh& mesh) {
  std::vector<std::array<Corner, 4>> all;
  for (const auto& t : mesh.tets) {
    std::array<Corner, 4> corners;
    for (size_t i = 0; i < 4; ++i) {
      const Vec3& p = mesh.positions[t[i]];
      corners[i] = {p.x(), p.y(), p.z()};
    }
    std::sort(corners.begin(), corners.end());
    all.push_back(corners);
  }
  std::sort(all.begin(), all.end());
  return all;
}

size_t edgesOf(const TetMesh& mesh) {
  std::set<std::pair<uint32_t, uint32_t>> edges;
  for (const auto& t : mesh.tets)
    for (const auto& e : kTetEdges) edges.insert(std::minmax(t[e[0]], t[e[1]]));
  return edges.size();
}

void expectSound(const Refinement& refinement, double volume) {
  EXPECT_EQ(refinement.validate(), "");
  const TetMesh mesh = refinement.mesh();
  EXPECT_EQ(mesh.tets.size(), refinement.tetCount());
  const geometry::TetReport report = geometry::tetReport(mesh);
  EXPECT_TRUE(report.sound());
  EXPECT_GT(report.minVolume, 0);
  EXPECT_NEAR(report.volume, volume, 1e-12 * std::abs(volume));
}

double areaOf(const TetMesh& mesh) {
  const auto boundary = geometry::boundarySurface(mesh).surface;
  double area = 0;
  for (const auto& t : boundary.triangles)
    area += 0.5 * (boundary.positions[t[1]] - boundary.positions[t[0]])
                      .cross(boundary.positions[t[2]] - boundary.positions[t[0]])
                      .norm();
  return area;
}

TEST(Refinement, CountsOfOneCycle) {
  const auto stages = [](const TetMesh& mesh, uint32_t first) {
    Refinement r(mesh);
    r.refineAll(first);
    std::vector<size_t> counts;
    for (uint32_t g = 1; g <= 5; ++g) {
      EXPECT_EQ(r.refineAll(first + g), 0u);
      counts.push_back(r.tetCount());
    }
    counts.push_back(r.vertexCount());
    return counts;
  };
  EXPECT_EQ(stages(regularTet(), 0), (std::vector<size_t>{4, 12, 36, 36, 32, 21}));
  EXPECT_EQ(stages(cubes(1, false), 0), (std::vector<size_t>{20, 48, 144, 156, 136, 61}));
  const std::vector<size_t> second = stages(cubes(1, false), 5);
  EXPECT_EQ(second[4], 3044u);
  EXPECT_EQ(second[5], 805u);
}

TEST(Refinement, CountsFollowTheFormula) {
  for (const TetMesh& mesh : {cubes(2, false, 0.1, 1), cubes(2, true), cubes(3, true, 0.1, 2), bccCells(2)}) {
    const geometry::TetReport before = geometry::tetReport(mesh);
    const size_t n = before.tets, boundary = before.boundaryFaces, faces = (4 * n + boundary) / 2;
    Refinement r(mesh);
    const size_t stages[5] = {4 * n, 3 * faces, 9 * faces, 9 * faces + 3 * (faces - boundary),
                              20 * n + 3 * boundary};
    for (uint32_t g = 1; g <= 5; ++g) {
      EXPECT_EQ(r.refineAll(g), 0u);
      EXPECT_EQ(r.tetCount(), stages[g - 1]);
    }
    const size_t used = before.vertices;
    EXPECT_EQ(r.vertexCount(), used + n + boundary + 2 * edgesOf(mesh));
    expectSound(r, before.volume);
    EXPECT_NEAR(areaOf(r.mesh()), areaOf(mesh), 1e-11);
    EXPECT_EQ(r.opCount(RefineKind::Split), n);
    EXPECT_EQ(r.opCount(RefineKind::FaceSplit), boundary);
    EXPECT_EQ(r.opCount(RefineKind::CornerMerge), 4 * n);
  }
}

TEST(Refinement, AnglesOfTheTable) {
  struct Row {
    TetMesh mesh;
    double stage[4];                 // worst after A, B, C, D
    double worst, mean, best;        // after E
    double worstSecond, meanSecond;  // 0: not given
  };
  const Row rows[] = {
      {regularTet(), {35.26, 35.26, 30.00, 33.56}, 35.26, 43.65, 70.53, 19.47, 42.62},
      {cubes(1, false), {19.47, 33.56, 16.78, 19.19}, 30.96, 47.25, 70.53, 18.43, 44.64},
      {cubes(2, false), {19.47, 33.56, 12.53, 19.19}, 30.96, 48.92, 70.53, 18.26, 46.67},
      {cubes(2, true), {18.43, 26.57, 15.43, 16.92}, 26.57, 44.83, 60.41, 16.38, 44.33},
      {bccCells(3), {30.00, 30.00, 24.09, 26.98}, 30.00, 53.31, 60.98, 0, 0},
  };
  for (const Row& row : rows) {
    Refinement r(row.mesh);
    for (uint32_t g = 1; g <= 4; ++g) {
      r.refineAll(g);
      EXPECT_NEAR(anglesOf(r.mesh()).worst, row.stage[g - 1], 0.01);
    }
    r.refineAll(5);
    const Angles first = anglesOf(r.mesh());
    EXPECT_NEAR(first.worst, row.worst, 0.01);
    EXPECT_NEAR(first.mean, row.mean, 0.01);
    EXPECT_NEAR(first.best, row.best, 0.01);
    if (row.worstSecond == 0) continue;
    EXPECT_EQ(r.refineAll(10), 0u);
    const Angles second = anglesOf(r.mesh());
    EXPECT_NEAR(second.worst, row.worstSecond, 0.01);
    EXPECT_NEAR(second.mean, row.meanSecond, 0.01);
  }
}

TEST(Refinement, OneInnerTetrahedronOfAKuhnMesh) {
  const TetMesh mesh = cubes(4, true);
  ASSERT_EQ(mesh.tets.size(), 384u);
  // One in an inner cube, of which no edge is on the boundary.
  const uint32_t inner = 6 * (1 + 4 * (1 + 4 * 1));
  Refinement r(mesh);
  EXPECT_EQ(r.refineFull(inner), RefineStatus::Done);
  EXPECT_EQ(r.tetCount(), 537u);
  EXPECT_EQ(r.opCount(RefineKind::Split), 19u);
  EXPECT_EQ(r.opCount(RefineKind::FaceFlip), 24u);
  EXPECT_EQ(r.opCount(RefineKind::FaceSplit), 0u);
  EXPECT_EQ(r.opCount(RefineKind::EdgeCut), 6u);
  EXPECT_EQ(r.opCount(RefineKind::CornerFlip), 12u);
  EXPECT_EQ(r.opCount(RefineKind::CornerMerge), 4u);
  expectSound(r, 64);
  EXPECT_EQ(r.coarsenAll(), 19u + 24 + 6 + 12 + 4);
  EXPECT_EQ(r.mesh().tets, mesh.tets);
  EXPECT_EQ(r.mesh().positions, mesh.positions);
}

// Random steps and undoings; the mesh is sound after every single operation.
TEST(Refinement, SoundAfterEveryOperation) {
  for (const TetMesh& mesh : {cubes(1, false), cubes(2, true, 0.2, 3), cubes(2, false, 0.2, 4)}) {
    Refinement r(mesh);
    RandomStream random(17, mesh.tets.size());
    const double volume = geometry::totalVolume(mesh), area = areaOf(mesh);
    for (int i = 0; i < 250; ++i) {
      if (random.below(4) == 0 && !r.ops().empty()) {
        r.undo(random.below(uint32_t(r.ops().size())));
      } else {
        const uint32_t t = random.below(uint32_t(r.tets().size()));
        if (r.tets()[t].alive && r.tets()[t].generation < 10) r.step(t);
      }
      expectSound(r, volume);
      EXPECT_NEAR(areaOf(r.mesh()), area, 1e-11 * area);
      for (uint32_t v = 0; v < mesh.positions.size(); ++v) EXPECT_EQ(r.position(v), mesh.positions[v]);
      if (::testing::Test::HasFailure()) return;
    }
    // In any order back to the input, with its own numbers.
    while (r.tetCount() != mesh.tets.size() || r.vertexCount() != mesh.positions.size()) {
      const uint32_t op = random.below(uint32_t(r.ops().size()));
      if (r.undo(op) && random.below(10) == 0) expectSound(r, volume);
    }
    const TetMesh after = r.mesh();
    EXPECT_EQ(after.tets, mesh.tets);
    EXPECT_EQ(after.positions, mesh.positions);
  }
}

TEST(Refinement, NoNeighbourIsEverAhead) {
  // 1500 steps; the assertion inside would fail in a debug build, the counts here in every build.
  const TetMesh mesh = cubes(2, false, 0.2, 8);
  Refinement r(mesh);
  RandomStream random(5);
  for (int i = 0; i < 1500; ++i) {
    const uint32_t t = random.below(uint32_t(r.tets().size()));
    if (r.tets()[t].alive && r.tets()[t].generation < 10) r.step(t);
  }
  expectSound(r, 8);
}

TEST(Refinement, OrderDoesNotMatter) {
  const TetMesh mesh = cubes(2, true, 0.15, 5);
  std::vector<uint32_t> chosen{3, 17, 18, 40};
  std::vector<std::array<Corner, 4>> first;
  for (int order = 0; order < 6; ++order) {
    Refinement r(mesh);
    for (const uint32_t t : chosen) EXPECT_EQ(r.refineFull(t), RefineStatus::Done);
    for (const uint32_t t : chosen) EXPECT_FALSE(r.tets()[t].alive);
    if (order == 0) first = canonical(r.mesh());
    EXPECT_EQ(canonical(r.mesh()), first);
    std::next_permutation(chosen.begin(), chosen.end());
    EXPECT_GT(r.coarsenAll(), 0u);
    EXPECT_EQ(r.mesh().tets, mesh.tets);
  }
}

TEST(Refinement, LockedTetrahedraStay) {
  const TetMesh mesh = cubes(2, true);
  Refinement r(mesh);
  EXPECT_EQ(r.refineFull(20), RefineStatus::Done);
  uint32_t kept = 0;
  while (!r.tets()[kept].alive || r.tets()[kept].generation < 5) ++kept;
  const RefinedTet before = r.tets()[kept];
  r.setLocked(kept, true);
  EXPECT_EQ(r.step(kept), RefineStatus::Locked);
  r.coarsenAll();
  EXPECT_TRUE(r.tets()[kept].alive);
  EXPECT_EQ(r.tets()[kept].v, before.v);
  EXPECT_GT(r.tetCount(), mesh.tets.size());
  for (uint32_t op = 0; op < r.ops().size(); ++op) EXPECT_FALSE(r.undoable(op));
  expectSound(r, 8);
  r.setLocked(kept, false);
  r.coarsenAll();
  EXPECT_EQ(r.mesh().tets, mesh.tets);
}

// Random pairs of tetrahedra at a face: the criterion and the signs of the volumes that the flips give.
TEST(Refinement, FlipCriterion) {
  RandomStream random(99);
  const Box3 box{Vec3::Constant(-1), Vec3::Constant(1)};
  size_t pairs = 0, faceRefused = 0, cornerRefused = 0;
  while (pairs < 100'000) {
    const Vec3 f[3] = {random.pointIn(box), random.pointIn(box), random.pointIn(box)};
    const Vec3 o1 = random.pointIn(box), o2 = random.pointIn(box);
    const double s1 = geometry::orient3d(f[0], f[1], f[2], o1), s2 = geometry::orient3d(f[0], f[1], f[2], o2);
    if (!(s1 * s2 < 0) || std::min(std::abs(s1), std::abs(s2)) < 1e-6) continue;
    ++pairs;
    const Vec3 sum = f[0] + f[1] + f[2];
    const Vec3 m1 = (sum + o1) / 4, m2 = (sum + o2) / 4;
    const double way = s1 > 0 ? -1 : 1;
    bool face = true;
    for (size_t i = 0; i < 3; ++i) face = face && way * geometry::orient3d(m1, m2, f[i], f[(i + 1) % 3]) > 0;
    const Vec3 q = lineInFace(f[0], f[1], f[2], o1, o2);
    EXPECT_EQ(face, faceFlipValid(q));
    faceRefused += !face;
    for (int i = 0; i < 3; ++i) {
      // Corner b of the face, cut points on its two sides; the flip turns (b, m1, m2) into the edge p q.
      const Vec3 &b = f[i], &c = f[(i + 1) % 3], &d = f[(i + 2) % 3];
      const Vec3 p = (2 * b + c) / 3, r = (2 * b + d) / 3;
      const double whole = way * geometry::orient3d(b, p, m1, m2);
      bool corner = face && whole > 0;
      corner = corner && way * geometry::orient3d(r, p, m1, m2) > 0;  // (p, q, m1, m2)
      EXPECT_EQ(corner, cornerFlipValid(q, i));
      cornerRefused += !corner;
    }
  }
  EXPECT_GT(faceRefused, 1000u);
  EXPECT_GT(cornerRefused, 3 * faceRefused);
}

TEST(Refinement, FlipsThatInvertAreBlocked) {
  // Two flat tetrahedra whose apices lie far beside their common face.
  TetMesh mesh;
  mesh.positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {6, 6, 1}, {6, 6, -1}};
  mesh.tets = {{0, 1, 2, 3}, {0, 2, 1, 4}};
  Refinement r(mesh);
  EXPECT_FALSE(faceFlipValid(lineInFace(mesh.positions[0], mesh.positions[1], mesh.positions[2],
                                        mesh.positions[3], mesh.positions[4])));
  EXPECT_EQ(r.refineFull(0), RefineStatus::Blocked);
  EXPECT_EQ(r.opCount(RefineKind::FaceFlip), 0u);
  size_t blocked = 0;
  for (const RefinedTet& t : r.tets()) blocked += t.alive && t.blocked;
  EXPECT_EQ(blocked, 2u);
  expectSound(r, geometry::totalVolume(mesh));
  r.coarsenAll();
  EXPECT_EQ(r.mesh().tets, mesh.tets);
}

TEST(Refinement, HistoryInWordsAndLogs) {
  const TetMesh mesh = cubes(2, false, 0.1, 6);
  Refinement r(mesh);
  RandomStream random(3);
  for (int i = 0; i < 400; ++i) {
    if (random.below(5) == 0 && !r.ops().empty()) r.undo(random.below(uint32_t(r.ops().size())));
    const uint32_t t = random.below(uint32_t(r.tets().size()));
    if (r.tets()[t].alive && r.tets()[t].generation < 10) r.step(t);
  }
  const auto log = r.log();
  size_t alive = 0;
  for (const RefineOp& op : r.ops()) alive += op.alive;
  EXPECT_EQ(log.size(), alive);
  const Refinement again = Refinement::replay(mesh, log);
  EXPECT_EQ(canonical(again.mesh()), canonical(r.mesh()));
  EXPECT_EQ(again.log().size(), log.size());
  EXPECT_THROW(Refinement::replay(cubes(1, false), log), Error);

  size_t shortOnes = 0;
  for (uint32_t t = 0; t < r.tets().size(); ++t) {
    const RefinedTet& tet = r.tets()[t];
    if (!tet.alive) continue;
    const uint64_t word = r.historyWord(t);
    EXPECT_EQ(historyGeneration(word), tet.generation);
    if (const auto small = shortHistory(word)) {
      ++shortOnes;
      EXPECT_EQ(longHistory(*small), word);
    }
    if (tet.madeBy == kNoIndex) {
      EXPECT_EQ(word, 0u);
      continue;
    }
    // A finished cycle says which operation finished it.
    if (tet.state() != 0) continue;
    const CycleTags tags = historyTags(word, tet.cycle() - 1);
    const RefineKind kind = r.ops()[tet.madeBy].kind;
    EXPECT_EQ(tags.middle, kind == RefineKind::EdgeCut);
    EXPECT_EQ(tags.inner, kind == RefineKind::CornerFlip || kind == RefineKind::BoundaryCornerFlip);
    EXPECT_TRUE(tags.edge == 0 || tags.edge == 1 || tags.edge == 3);
  }
  EXPECT_GT(shortOnes, 0u);
}

TEST(Refinement, RefusesUnsoundMeshes) {
  TetMesh mesh = cubes(1, false);
  std::swap(mesh.tets[2][0], mesh.tets[2][1]);
  EXPECT_THROW(Refinement{mesh}, Error);
}

}  // namespace
}  // namespace sunder::tet
