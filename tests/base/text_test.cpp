#include "sunder/base/text.h"

#include <array>

#include <gtest/gtest.h>

namespace sunder {
namespace {

TEST(EditDistance, CountsTheFourKindsOfSlips) {
  EXPECT_EQ(editDistance("", ""), 0u);
  EXPECT_EQ(editDistance("", "abc"), 3u);
  EXPECT_EQ(editDistance("abc", ""), 3u);
  EXPECT_EQ(editDistance("box", "box"), 0u);
  EXPECT_EQ(editDistance("box", "BOX"), 0u);
  EXPECT_EQ(editDistance("box", "fox"), 1u);
  EXPECT_EQ(editDistance("widht", "width"), 1u);
  EXPECT_EQ(editDistance("kitten", "sitting"), 3u);
  EXPECT_EQ(editDistance("ca", "abc"), 3u);  // where the unrestricted distance would be 2
}

TEST(EditDistance, IsSymmetricAndBoundedByTheLongerWord) {
  const std::array<std::string_view, 6> words{"torus", "tours", "cone", "cylinder", "x", "uv-sphere"};
  for (auto a : words)
    for (auto b : words) {
      EXPECT_EQ(editDistance(a, b), editDistance(b, a));
      EXPECT_LE(editDistance(a, b), std::max(a.size(), b.size()));
    }
}

TEST(NearestName, FindsSlipsAndBeginningsButNothingFarFetched) {
  const std::array<std::string_view, 5> known{"box", "cylinder", "cone", "torus", "torus-knot"};
  EXPECT_EQ(nearestName("cilinder", known), "cylinder");
  EXPECT_EQ(nearestName("cyl", known), "cylinder");
  EXPECT_EQ(nearestName("tours", known), "torus");
  EXPECT_EQ(nearestName("torusknot", known), "torus-knot");
  EXPECT_EQ(nearestName("bx", known), "box");
  EXPECT_EQ(nearestName("zebra", known), "");
  EXPECT_EQ(nearestName("", known), "");
  EXPECT_EQ(nearestName("box", {}), "");
}

TEST(JoinNames, PutsSeparatorsBetween) {
  const std::array<std::string_view, 3> names{"a", "b", "c"};
  EXPECT_EQ(joinNames(names), "a, b, c");
  EXPECT_EQ(joinNames(names, "|"), "a|b|c");
  EXPECT_EQ(joinNames({}), "");
}

TEST(TwoDigits, AreRoundedToTheSideAskedFor) {
  EXPECT_EQ(twoDigitsUp(0.01234), "0.013");
  EXPECT_EQ(twoDigitsDown(0.01234), "0.012");
  EXPECT_EQ(twoDigitsUp(0.012), "0.012");
  EXPECT_EQ(twoDigitsDown(-1.234), "-1.3");
  EXPECT_EQ(twoDigitsUp(-1.234), "-1.2");
}

}  // namespace
}  // namespace sunder
