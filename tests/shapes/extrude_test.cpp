// Extrusions and block letters against areas and genera.
#include "sunder/base/error.h"
#include "sunder/shapes/catalogue.h"

#include "shapes/shape_checks.h"

#include <string_view>

#include <gtest/gtest.h>

namespace sunder::shapes {
using namespace geometry;
namespace {

using shapetest::inspect;

double area(const std::vector<Vec2>& polygon) {
  double sum = 0;
  for (size_t i = 0; i < polygon.size(); ++i) {
    const Vec2 a = polygon[i], b = polygon[(i + 1) % polygon.size()];
    sum += 0.5 * (a.x() * b.y() - a.y() * b.x());
  }
  return std::abs(sum);
}

double area(const Outline& outline) {
  double sum = area(outline.outer);
  for (const auto& hole : outline.holes) sum -= area(hole);
  return sum;
}

TEST(Extrude, VolumeIsAreaTimesDepthAndHolesAreHandles) {
  for (const char* name : {"polygon", "star", "gear", "l", "arrow"})
    for (int points : {3, 4, 11, 40})
      for (double inner : {0.4, 0.8})
        for (double hole : {0.0, 0.15})
          for (int layers : {1, 3}) {
            const ExtrusionShape shape{.outline = name,
                                       .points = points,
                                       .inner = inner,
                                       .hole = hole,
                                       .depth = 0.3,
                                       .layers = layers};
            const Outline outline = namedOutline(shape);
            const auto facts = inspect(makeExtrusion(shape));
            EXPECT_EQ(shapetest::broken(facts), "") << name << points;
            EXPECT_NEAR(facts.volume / (area(outline) * 0.3), 1, 1e-12) << name << points;
            EXPECT_EQ(facts.euler, outline.holes.empty() ? 2 : 0) << name << points;
          }
}

TEST(Extrude, NamedOutlinesHaveTheirAreas) {
  EXPECT_NEAR(area(namedOutline({.outline = "polygon", .points = 6, .radius = 2, .hole = 0})),
              6 * std::sqrt(3.0), 1e-12);
  EXPECT_NEAR(area(namedOutline({.outline = "star", .points = 5, .radius = 2, .inner = 0.5, .hole = 0})),
              10 * std::sin(kPi / 5), 1e-12);
  EXPECT_NEAR(area(namedOutline({.outline = "l", .radius = 1, .inner = 0.75})), 2 * 2 - 1.5 * 1.5, 1e-12);
  EXPECT_NEAR(area(namedOutline({.outline = "arrow", .radius = 1, .inner = 0.75})),
              2 * 0.1375 * 1.1 + 0.6 * 0.9, 1e-12);
}

TEST(Extrude, TakesContoursInEitherSenseAndSeveralHoles) {
  const std::vector<Vec2> square{{0, 0}, {10, 0}, {10, 10}, {0, 10}};
  Outline outline{square, {}};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      std::vector<Vec2> hole;
      for (const Vec2& p : square) hole.push_back(Vec2(0.2 * p.x() + 1 + 3 * i, 0.2 * p.y() + 1 + 3 * j));
      if ((i + j) % 2 == 0) std::reverse(hole.begin(), hole.end());
      outline.holes.push_back(hole);
    }
  for (int turn = 0; turn < 2; ++turn) {
    const auto facts = inspect(extrude(outline, 2));
    EXPECT_EQ(shapetest::broken(facts), "");
    EXPECT_EQ(facts.euler, 2 - 2 * 9);
    EXPECT_NEAR(facts.volume, 2 * (100 - 9 * 4), 1e-9);
    EXPECT_EQ(shapetest::selfIntersections(extrude(outline, 2)), 0u);
    std::reverse(outline.outer.begin(), outline.outer.end());
  }
}

TEST(Extrude, RefusesWhatIsNoOutline) {
  EXPECT_THROW(extrude({{{0, 0}, {1, 0}}, {}}, 1), Error);
  EXPECT_THROW(extrude({{{0, 0}, {1, 1}, {1, 0}, {0, 1}}, {}}, 1), Error);
  EXPECT_THROW(extrude({{{0, 0}, {1, 0}, {1, 1}}, {}}, 0), Error);
  EXPECT_THROW(extrude({{{0, 0}, {1, 0}, {1, 1}}, {}}, 1, 0), Error);
  EXPECT_THROW(extrude({{{0, 0}, {1, 0}, {std::nan(""), 1}}, {}}, 1), Error);
}

TEST(Letters, EveryGlyphIsASolidOfTheRightGenus) {
  for (const char* c = glyphCharacters(); *c; ++c) {
    const Glyph g = glyph(*c);
    const TriMesh mesh = makeLetters({.text = std::string(1, *c), .height = 15, .depth = 2});
    const auto facts = inspect(mesh);
    EXPECT_EQ(shapetest::broken(facts), "") << *c;
    EXPECT_EQ(shapetest::selfIntersections(mesh), 0u) << *c;
    EXPECT_EQ(facts.components, g.parts.size()) << *c;
    double expected = 0;
    for (const Outline& part : g.parts) expected += area(part);
    EXPECT_NEAR(facts.volume / (2 * expected), 1, 1e-12) << *c;
    const int64_t holes = std::string_view("B8").find(*c) != std::string_view::npos            ? 2
                          : std::string_view("ADOPQR0469#").find(*c) != std::string_view::npos ? 1
                                                                                               : 0;
    EXPECT_EQ(facts.euler, 2 * static_cast<int64_t>(g.parts.size()) - 2 * holes) << *c;
  }
}

TEST(Letters, HaveAllOfTheAlphabetAndTheDigits) {
  const std::string_view all = glyphCharacters();
  for (char c : std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,:;!?-+=/()'"))
    EXPECT_NE(all.find(c), all.npos) << c;
  EXPECT_EQ(makeLetters({.text = "abc"}).positions, makeLetters({.text = "ABC"}).positions);
}

TEST(Letters, LineIsCentredStandsOnTheGroundAndLettersStayApart) {
  const TriMesh mesh = makeLetters({.text = "I O!", .height = 3, .depth = 1, .spacing = 0.2});
  const Box3 box = bounds(mesh.positions);
  EXPECT_NEAR(box.center().x(), 0, 1e-12);
  EXPECT_EQ(box.lower.y(), 0);
  EXPECT_NEAR(box.upper.y(), 3, 1e-12);
  EXPECT_EQ(box.upper.z(), 0.5);
  EXPECT_NEAR(box.extent().x(), 0.2 * (3 + 6 + 10 + 3) + 3 * 0.6, 1e-12);
  EXPECT_EQ(inspect(mesh).components, 4u);
  EXPECT_EQ(shapetest::selfIntersections(mesh), 0u);
}

}  // namespace
}  // namespace sunder::shapes
