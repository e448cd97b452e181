// The scenes have the sizes of the source's tables, and what is to happen in them happens.
#include "bench/published/benchmark_scenes.h"

#include "sunder/base/error.h"
#include "sunder/base/parallel.h"
#include "sunder/spatial/pairs/overlap_pairs.h"

#include <gtest/gtest.h>

namespace sunder::published {
using namespace spatial;
namespace {

TEST(BenchmarkScenes, SizesOfTheSource) {
  const struct {
    SceneKind kind;
    size_t triangles, bodies;
    uint32_t frames;
    double source;  // thousands of triangles in the tables
  } table[] = {
      {SceneKind::ClothBall, 92'092, 2, 94, 92},   {SceneKind::Funnel, 18'500, 4, 500, 18.5},
      {SceneKind::NBody, 146'400, 305, 75, 146},   {SceneKind::Flamenco, 49'000, 10, 705, 49},
      {SceneKind::Andy, 127'264, 4, 80, 127},      {SceneKind::Bridson, 18'152, 2, 867, 18},
      {SceneKind::Bridson3, 198'006, 4, 842, 198},
  };
  for (const auto& row : table) {
    SCOPED_TRACE(name(row.kind));
    const BenchmarkScene scene = makeBenchmarkScene(row.kind);
    EXPECT_EQ(scene.triangleCount(), row.triangles);
    EXPECT_NEAR(double(scene.triangleCount()) / 1000, row.source, 0.01 * row.source);
    EXPECT_EQ(scene.bodies.size(), row.bodies);
    EXPECT_EQ(scene.frames, row.frames);
    for (const SceneBody& body : scene.bodies) {
      std::vector<bool> used(body.rest.size(), false);
      for (const geometry::Triangle& t : body.triangles)
        for (uint32_t v : t) {
          ASSERT_LT(v, body.rest.size());
          used[v] = true;
        }
      EXPECT_EQ(std::count(used.begin(), used.end(), false), 0);
    }
  }
}

TEST(BenchmarkScenes, FramesAreFiniteMoveAndRepeat) {
  for (const SceneKind kind : kAllScenes) {
    SCOPED_TRACE(name(kind));
    const BenchmarkScene scene = makeBenchmarkScene(kind);
    double moved = 0;
    std::vector<Vec3> first, last, again;
    for (size_t b = 0; b < scene.bodies.size(); b += std::max<size_t>(1, scene.bodies.size() / 4)) {
      scene.positions(b, 0, first);
      scene.positions(b, scene.frames - 1, last);
      {
        const ThreadLimit one(1);
        scene.positions(b, scene.frames - 1, again);
      }
      ASSERT_TRUE(last == again);
      for (size_t i = 0; i < first.size(); ++i) {
        ASSERT_TRUE(first[i].allFinite() && last[i].allFinite());
        ASSERT_LT(last[i].norm(), 20);
        moved = std::max(moved, (last[i] - first[i]).norm());
      }
    }
    EXPECT_GT(moved, 0.05);
  }
  const BenchmarkScene scene = makeBenchmarkScene(SceneKind::Bridson);
  std::vector<Vec3> out;
  EXPECT_THROW(scene.positions(2, 0, out), Error);
  EXPECT_THROW(scene.positions(0, scene.frames, out), Error);
}

size_t pairsAt(const BenchmarkScene& scene, uint32_t frame) {
  std::vector<OiTree> trees(scene.bodies.size());
  std::vector<Vec3> positions;
  OiTreeBuilder builder;
  for (size_t b = 0; b < trees.size(); ++b) {
    scene.positions(b, frame, positions);
    builder.build(trees[b], {positions, scene.bodies[b].triangles});
  }
  std::vector<TreePair> jobs;
  for (size_t i = 0; i < trees.size(); ++i)
    for (size_t j = i; j < trees.size(); ++j)
      if (i != j || scene.bodies[i].self) jobs.push_back({&trees[i], &trees[j]});
  PairList pairs;
  overlapPairs(jobs, pairs);
  return pairs.size();
}

TEST(BenchmarkScenes, ContactIsAsHeavyAsInTheSource) {
  const BenchmarkScene cloth = makeBenchmarkScene(SceneKind::ClothBall);
  const size_t start = pairsAt(cloth, 0), end = pairsAt(cloth, 93);
  std::printf("  cloth-ball %zu to %zu pairs\n", start, end);
  EXPECT_NEAR(double(end), 3.1e6, 0.05e6);  // as in the source's worst frame
  EXPECT_LT(start, end / 2);
  const BenchmarkScene crowd = makeBenchmarkScene(SceneKind::NBody);
  EXPECT_EQ(pairsAt(crowd, 0), 0u);
  const size_t crowded = pairsAt(crowd, 74);
  EXPECT_NEAR(double(crowded), 1.176e5, 0.2e5);
  const size_t pressed = pairsAt(makeBenchmarkScene(SceneKind::Funnel), 499);
  EXPECT_NEAR(double(pressed), 3.14e5, 0.2e5);
  std::printf("  funnel %zu pairs, n-body %zu pairs\n", pressed, crowded);
}

}  // namespace
}  // namespace sunder::published
