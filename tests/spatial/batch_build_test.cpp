#include "sunder/spatial/tree/batch_build.h"

#include "sunder/base/error.h"
#include "sunder/base/hash.h"
#include "sunder/base/parallel.h"

#include "published/variant_scenes.h"

#include <cstring>
#include <ctime>
#include <limits>

#include <gtest/gtest.h>

namespace sunder::spatial {
using namespace published;
namespace {

std::vector<geometry::TriMesh> randomMeshes(size_t count, uint32_t largest) {
  RandomStream random(11);
  std::vector<geometry::TriMesh> meshes(count);
  for (size_t m = 0; m < count; ++m) {
    const uint32_t triangles = m == 3 ? 0 : 1 + random.below(largest);
    for (uint32_t i = 0; i < 3 * triangles; ++i)
      meshes[m].positions.emplace_back(random.uniform(), random.uniform(), random.uniform());
    for (uint32_t i = 0; i < triangles; ++i) meshes[m].triangles.push_back({3 * i, 3 * i + 1, 3 * i + 2});
  }
  return meshes;
}

void expectEqual(const OiTree& a, const OiTree& b) {
  ASSERT_EQ(a.leafCount(), b.leafCount());
  for (uint32_t leaf = 0; leaf < a.leafCount(); ++leaf) ASSERT_EQ(a.primitive(leaf), b.primitive(leaf));
  for (uint32_t l = 0; l < a.layout().levels(); ++l)
    for (uint32_t p = 0; p < a.layout().levelSize(l); ++p) ASSERT_EQ(a.box(l, p), b.box(l, p));
}

TEST(BatchBuild, SameTreesAsOneByOne) {
  auto meshes = randomMeshes(70, 900);
  meshes.push_back(randomMeshes(1, 2)[0]);
  meshes.push_back(gridMesh(100, [](double x, double y) { return x * y; }));  // large: 20 000 triangles
  for (unsigned threads : {1u, 2u, 4u})
    for (const LeafOrder order : {LeafOrder::Morton, LeafOrder::Selection}) {
      const ThreadLimit limit(threads);
      const TreeSettings settings{.order = order, .margin = 0.01};
      BatchBuilder batch;
      std::vector<OiTree> trees(meshes.size());
      std::vector<BatchItem> items;
      for (size_t m = 0; m < meshes.size(); ++m)
        items.push_back({&trees[m], {meshes[m].positions, meshes[m].triangles}});
      batch.build(items, settings);
      OiTree tree;
      for (size_t m = 0; m < meshes.size(); ++m) {
        OiTreeBuilder().build(tree, items[m].leaves, settings);
        expectEqual(trees[m], tree);
      }
      std::vector<geometry::TriMesh> moved = meshes;
      for (size_t m = 0; m < meshes.size(); ++m) {
        for (Vec3& p : moved[m].positions) p = Vec3(p.y(), 2 * p.z(), -p.x());
        items[m].leaves.positions = moved[m].positions;
      }
      batch.refit(items, 0.02);
      for (size_t m = 0; m < meshes.size(); ++m) {
        OiTreeBuilder().build(tree, {meshes[m].positions, meshes[m].triangles}, settings);
        OiTreeBuilder().refit(tree, items[m].leaves, 0.02);
        expectEqual(trees[m], tree);
      }
    }
}

TEST(BatchBuild, NamesTheFirstTreeAtFault) {
  auto meshes = randomMeshes(50, 40);
  meshes[17].positions[0].x() = std::numeric_limits<double>::quiet_NaN();
  meshes[40].positions[0].x() = std::numeric_limits<double>::infinity();
  std::vector<OiTree> trees(meshes.size());
  std::vector<BatchItem> items;
  for (size_t m = 0; m < meshes.size(); ++m)
    items.push_back({&trees[m], {meshes[m].positions, meshes[m].triangles}});
  BatchBuilder batch;
  try {
    batch.build(items);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Geometry);
    EXPECT_NE(error.message().find("tree 17: vertex 0"), std::string::npos) << error.message();
  }
}

}  // namespace
}  // namespace sunder::spatial
