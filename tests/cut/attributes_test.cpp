#include "sunder/cut/finish/attributes.h"

#include "cut/cut_shapes.h"

namespace sunder::cut {

namespace {

using namespace testing;

TEST(CutAttributes, WeightsGiveThePointBack) {
  const std::vector<Vec2> concave = {{0, 0}, {4, 0}, {4, 3}, {2, 1}, {0, 3}};
  RandomStream random(1);
  for (int i = 0; i < 1000; ++i) {
    const Vec2 p(random.uniform(0, 4), random.uniform(0, 1));
    const auto w = meanValueWeights(concave, p);
    Vec2 back = Vec2::Zero();
    double sum = 0;
    for (size_t k = 0; k < w.size(); ++k) {
      back += w[k] * concave[k];
      sum += w[k];
    }
    EXPECT_NEAR(sum, 1, 1e-12);
    EXPECT_LT((back - p).norm(), 1e-12);
  }
  // On an edge and at a corner.
  EXPECT_NEAR(meanValueWeights(concave, {1, 0})[1], 0.25, 1e-15);
  EXPECT_EQ(meanValueWeights(concave, {4, 3})[2], 1);
}

// Texture coordinates and colours that are linear in space stay so at every corner of the mesh.
TEST(CutAttributes, LinearOnesStayLinear) {
  PolygonSoup comb = prism(combOutline(), 2);
  const auto uv = [](const Vec3& p) { return Vec2(p.x() + 2 * p.y() - p.z(), 3 * p.z() - p.x()); };
  const auto colour = [](const Vec3& p) { return Vec4(p.x() / 10, p.y() / 10, p.z() / 10, 1); };
  for (const uint32_t v : comb.corners) comb.cornerUvs.push_back(uv(comb.positions[v]));
  for (size_t f = 0; f < comb.faceCount(); ++f)
    for (size_t k = 0; k < comb.face(f).size(); ++k)
      comb.cornerNormals.push_back(geometry::vectorArea(comb, f).normalized());
  for (const Vec3& p : comb.positions) comb.vertexColours.push_back(colour(p).cast<float>());
  comb.faceGroup.assign(comb.faceCount(), 0);
  comb.groupNames = {"wood"};
  const PolygonSoup tool =
      moved(box({0, 0, 0}, {7, 2, 1}), {-0.5, 2, 0.5}, Quat(1, 0.05, 0.1, 0.02).normalized());
  for (const bool triangles : {false, true}) {
    CutResult r = cut(comb, tool, {.op = Op::Difference, .triangles = triangles});
    transferAttributes(comb, tool, r);
    const PolygonSoup& m = r.mesh;
    ASSERT_EQ(m.cornerUvs.size(), m.corners.size());
    ASSERT_EQ(m.cornerNormals.size(), m.corners.size());
    ASSERT_EQ(m.vertexColours.size(), m.positions.size());
    EXPECT_EQ(m.groupNames, (std::vector<std::string>{"wood", "cut"}));
    size_t lids = 0;
    for (size_t f = 0; f < m.faceCount(); ++f) {
      EXPECT_EQ(m.faceGroup[f], r.fromCutter[f]);
      lids += r.fromCutter[f];
      const Vec3 area = geometry::vectorArea(m, f);
      for (uint32_t c = m.faceOffsets[f]; c < m.faceOffsets[f + 1]; ++c) {
        EXPECT_NEAR(m.cornerNormals[c].norm(), 1, 1e-9);
        if (area.norm() > 1e-6) {
          EXPECT_LT((m.cornerNormals[c] - area.normalized()).norm(), 1e-6);
        }
        if (r.fromCutter[f]) continue;
        const Vec3& p = m.positions[m.corners[c]];
        EXPECT_LT((m.cornerUvs[c] - uv(p)).norm(), 1e-9);
        EXPECT_LT((m.vertexColours[m.corners[c]].cast<double>() - colour(p)).norm(), 1e-6);
      }
    }
    EXPECT_GT(lids, 0u);
  }
}

}  // namespace

}  // namespace sunder::cut
