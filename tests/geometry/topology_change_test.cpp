#include "sunder/geometry/topology_change.h"

#include "sunder/base/error.h"

#include <set>

#include <gtest/gtest.h>

namespace sunder::geometry {

namespace {

// Body 1 of 4 vertices and 2 faces falls into bodies of vertices {0,1,new} and {2,3}, its face 1 is cut in
// two.
TopologyChange cut() {
  TopologyChange c;
  c.kind = ChangeKind::Cut;
  c.disappeared = {{1, 4, 2, 0}};
  c.appeared = {{{childId(1, 0), 3, 2, 0}, {0}, 0}, {{childId(1, 1), 2, 1, 0}, {0}, 1}};
  c.vertexSource = {0, 1, kNoIndex, 2, 3};
  c.faceSource = {0, 1, 1};
  return c;
}

// The first of those and body 9 become one; the second stays.
TopologyChange merge() {
  TopologyChange c;
  c.kind = ChangeKind::Merge;
  c.disappeared = {{9, 2, 1, 0}, {childId(1, 0), 3, 2, 0}};
  c.appeared = {{{77, 5, 2, 0}, {0, 1}, 0}};
  c.vertexSource = {4, 3, 2, 1, 0};
  c.faceSource = {2, kNoIndex};
  return c;
}

}  // namespace

TEST(TopologyChange, ChildIdsAreFixedAndDifferent) {
  std::set<uint64_t> ids;
  for (uint64_t parent = 0; parent < 100; ++parent) {
    for (uint32_t i = 0; i < 100; ++i) ids.insert(childId(parent, i));
  }
  EXPECT_EQ(ids.size(), 10'000u);
  EXPECT_EQ(childId(5, 3), childId(5, 3));
}

TEST(TopologyChange, DescendantsAreTheOtherSideOfTheMap) {
  const Rows faces = descendants(cut().faceSource, 2);
  EXPECT_EQ(faces.row(0).size(), 1u);
  EXPECT_EQ(std::vector<uint32_t>(faces.row(1).begin(), faces.row(1).end()), (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(descendants(cut().vertexSource, 4).items.size(), 4u);
}

TEST(TopologyChange, SourcesOfEachBody) {
  const TopologyChange change = cut();
  const auto sources = sourcesByBody(change);
  ASSERT_EQ(sources.size(), 2u);
  const auto list = [](std::span<const uint32_t> s) { return std::vector<uint32_t>(s.begin(), s.end()); };
  EXPECT_EQ(list(sources[0].vertices), (std::vector<uint32_t>{0, 1, kNoIndex}));
  EXPECT_EQ(list(sources[1].vertices), (std::vector<uint32_t>{2, 3}));
  EXPECT_EQ(list(sources[0].faces), (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(list(sources[1].faces), (std::vector<uint32_t>{1}));
  EXPECT_TRUE(sources[0].tets.empty());
  EXPECT_TRUE(sourcesByBody({}).empty());
}

TEST(TopologyChange, ValidateNamesWhatIsWrong) {
  EXPECT_EQ(validate(cut()), "");
  EXPECT_EQ(validate(merge()), "");
  EXPECT_EQ(validate(TopologyChange{}), "");
  TopologyChange c = cut();
  c.faceSource.pop_back();
  EXPECT_EQ(validate(c), "the face map has 2 entries for 3 new elements");
  c = cut();
  c.vertexSource[3] = 4;
  EXPECT_NE(validate(c).find("vertex 0 of body"), std::string::npos);
  c = cut();
  c.appeared[1].parents = {1};
  EXPECT_NE(validate(c).find("no such parent"), std::string::npos);
  c = cut();
  c.appeared[1].body.id = c.appeared[0].body.id;
  EXPECT_NE(validate(c).find("appears twice"), std::string::npos);
  c = merge();
  c.appeared[0].parents = {1};
  EXPECT_NE(validate(c).find("none of its parents"), std::string::npos);
}

TEST(TopologyChange, ComposeLinksGrandchildrenToTheirAncestors) {
  const TopologyChange c = compose(cut(), merge());
  EXPECT_EQ(validate(c), "");
  EXPECT_EQ(c.kind, ChangeKind::Several);
  EXPECT_EQ(c.disappeared, (std::vector<BodyRecord>{{1, 4, 2, 0}, {9, 2, 1, 0}}));
  ASSERT_EQ(c.appeared.size(), 2u);
  EXPECT_EQ(c.appeared[0].body.id, childId(1, 1));
  EXPECT_EQ(c.appeared[1].body.id, 77u);
  EXPECT_EQ(c.appeared[1].parents, (std::vector<uint32_t>{0, 1}));
  // Kept body: vertices 2, 3 of body 1. Merged: new one of the cut, 1, 0 of body 1, then 1, 0 of body 9
  // (after 4).
  EXPECT_EQ(c.vertexSource, (std::vector<uint32_t>{2, 3, kNoIndex, 1, 0, 5, 4}));
  EXPECT_EQ(c.faceSource, (std::vector<uint32_t>{1, 1, kNoIndex}));
}

TEST(TopologyChange, ComposeIsAssociativeAndNothingIsNeutral) {
  TopologyChange split;
  split.kind = ChangeKind::Split;
  split.disappeared = {{77, 5, 2, 0}};
  split.appeared = {{{100, 2, 1, 0}, {0}, 0}, {{101, 3, 1, 0}, {0}, 1}};
  split.vertexSource = {0, 1, 2, 3, 4};
  split.faceSource = {1, 0};
  EXPECT_EQ(compose(compose(cut(), merge()), split), compose(cut(), compose(merge(), split)));
  TopologyChange nothing;
  nothing.kind = ChangeKind::Cut;
  EXPECT_EQ(compose(nothing, cut()), cut());
  EXPECT_EQ(compose(cut(), nothing), cut());
}

TEST(TopologyChange, ComposeRefusesWhatDoesNotFit) {
  EXPECT_THROW(compose(cut(), cut()), Error);
  TopologyChange other = merge();
  other.disappeared[1].vertices = 2;
  other.vertexSource = {3, 3, 2, 1, 0};
  ASSERT_EQ(validate(other), "");
  EXPECT_THROW(compose(cut(), other), Error);
  TopologyChange broken = cut();
  broken.vertexSource.clear();
  EXPECT_THROW(compose(broken, merge()), Error);
}

}  // namespace sunder::geometry
