#include "sunder/cut/change.h"

#include "cut/cut_shapes.h"

namespace sunder::cut {

namespace {

using namespace testing;

TEST(CutChange, RecordsWhereEverythingCameFrom) {
  const PolygonSoup comb = prism(combOutline(), 2);
  const CutResult r = cut(comb, quad({-1, 3, 3}, {7, 3, 3}, {7, 3, -1}, {-1, 3, -1}));
  const geometry::BodyRecord body{77, static_cast<uint32_t>(comb.positions.size()),
                                  static_cast<uint32_t>(comb.faceCount()), 0};
  const geometry::TopologyChange change = changeOf(r, body);
  EXPECT_EQ(geometry::validate(change), "");
  ASSERT_EQ(change.appeared.size(), 4u);
  // Every vertex of the comb is in one fragment, every face in one or more.
  const auto vertices = geometry::descendants(change.vertexSource, body.vertices);
  for (size_t v = 0; v < body.vertices; ++v) EXPECT_EQ(vertices.row(v).size(), 1u);
  const auto faces = geometry::descendants(change.faceSource, body.faces);
  size_t pieces = 0;
  for (size_t f = 0; f < body.faces; ++f) {
    EXPECT_GE(faces.row(f).size(), 1u);
    pieces += faces.row(f).size();
  }
  // The rest are lids, two for each of three teeth.
  EXPECT_EQ(pieces + 6, change.faceSource.size());
  // Positions agree.
  const auto fragments = separate(r);
  size_t at = 0;
  for (const PolygonSoup& f : fragments)
    for (const Vec3& p : f.positions) {
      const uint32_t source = change.vertexSource[at++];
      if (source != kNoIndex) {
        EXPECT_EQ(p, comb.positions[source]);
      }
    }
  EXPECT_EQ(at, change.vertexSource.size());
}

}  // namespace

}  // namespace sunder::cut
