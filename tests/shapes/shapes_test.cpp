// The promises that every shape of the catalogue makes, and the catalogue itself.
#include "sunder/base/error.h"
#include "sunder/shapes/catalogue.h"

#include "shapes/shape_checks.h"

#include <random>
#include <set>

#include <gtest/gtest.h>

namespace sunder::shapes {
using namespace geometry;
namespace {

using shapetest::broken;
using shapetest::Facts;
using shapetest::inspect;

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

std::string shapeErrorOf(std::string_view name, const ShapeValues& values) {
  try {
    makeShape(name, values);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Usage) << error.what();
    return error.what();
  }
  return "no error";
}

// What each shape is topologically, with its default parameters: pieces and Euler characteristic.
struct Topology {
  size_t components;
  int64_t euler;
};
Topology expectedTopology(std::string_view name) {
  if (name == "torus" || name == "torus-knot" || name == "trefoil" || name == "figure-eight-knot")
    return {1, 0};
  if (name == "extrusion") return {1, 0};            // a gear with a hole
  if (name == "letters") return {6, 6 * 2 - 2 * 2};  // D and R have a hole each
  if (name == "brick-wall") return {5 * 8 + 5 * 9, 2 * (5 * 8 + 5 * 9)};
  if (name == "rope") return {3, 6};
  if (name == "cloth" || name == "scroll") return {1, 1};
  return {1, 2};
}

// Defaults of large shapes brought down for the quick tests.
ShapeValues quick(std::string_view name) {
  if (name == "scroll") return {{"n", "60"}, {"turns", "2"}, {"gap", "0.1"}};
  if (name == "rippled-sphere") return {{"n", "24"}};
  return {};
}

// Shapes of revolution say what they are turned from, and are exactly that.
TEST(ShapeLofts, AreTheSurface) {
  size_t turned = 0;
  for (const ShapeInfo& info : shapeCatalogue()) {
    const std::optional<Loft> made = shapeLoft(info.name, quick(info.name));
    if (!made) continue;
    ++turned;
    const TriMesh surface = makeShape(info.name, quick(info.name)),
                  again = loft(made->profile, made->outline);
    EXPECT_EQ(again.triangles, surface.triangles) << info.name;
    EXPECT_EQ(again.positions, surface.positions) << info.name;
  }
  EXPECT_EQ(turned, 10u);
  EXPECT_FALSE(shapeLoft("letters"));
  EXPECT_THROW(shapeLoft("bowel"), Error);
  EXPECT_THROW(shapeLoft("bowl", {{"wal", "1"}}), Error);
}

TEST(ShapeChecks, SeeWhatIsBroken) {
  const TriMesh box = makeBox();
  EXPECT_EQ(broken(inspect(box)), "");
  TriMesh open = box;
  open.triangles.pop_back();
  EXPECT_EQ(broken(inspect(open)), "not watertight; ");
  EXPECT_EQ(inspect(open).boundaryEdges, 3u);
  TriMesh flipped = box;
  std::swap(flipped.triangles[0][0], flipped.triangles[0][1]);
  EXPECT_NE(broken(inspect(flipped)).find("two triangles on one side"), std::string::npos);
  TriMesh inverted = box;
  for (Triangle& t : inverted.triangles) std::swap(t[0], t[1]);
  EXPECT_EQ(broken(inspect(inverted)), "the volume is not positive; ");
  TriMesh pinched = box;  // a second box that shares one vertex
  for (const Vec3& p : box.positions) pinched.positions.push_back(p + Vec3::Ones());
  for (const Triangle& t : box.triangles) pinched.triangles.push_back({t[0] + 8, t[1] + 8, t[2] + 8});
  for (Triangle& t : pinched.triangles)
    for (uint32_t& v : t)
      for (uint32_t w = 0; w < v; ++w)
        if (pinched.positions[w] == pinched.positions[v]) v = w;
  EXPECT_EQ(broken(inspect(pinched)), "a vertex has several fans; a vertex has no triangle; ");
  TriMesh flat = box;
  flat.positions[0] = flat.positions[1];
  EXPECT_NE(broken(inspect(flat)).find("no area"), std::string::npos);
  TriMesh crossing = box;
  for (const Vec3& p : box.positions) crossing.positions.push_back(p + Vec3(0.3, 0.4, 0.5));
  for (const Triangle& t : box.triangles) crossing.triangles.push_back({t[0] + 8, t[1] + 8, t[2] + 8});
  EXPECT_EQ(broken(inspect(crossing)), "");
  EXPECT_GT(shapetest::selfIntersections(crossing), 0u);
  EXPECT_EQ(shapetest::selfIntersections(box), 0u);
}

TEST(Shapes, DefaultsKeepTheirPromises) {
  for (const ShapeInfo& info : shapeCatalogue()) {
    const Facts facts = inspect(makeShape(info.name, quick(info.name)));
    EXPECT_EQ(broken(facts, info.closed), "") << info.name;
    EXPECT_EQ(facts.components, expectedTopology(info.name).components) << info.name;
    EXPECT_EQ(facts.euler, expectedTopology(info.name).euler) << info.name;
  }
}

TEST(Shapes, DefaultsDoNotCutThemselves) {
  for (const ShapeInfo& info : shapeCatalogue())
    EXPECT_EQ(shapetest::selfIntersections(makeShape(info.name, quick(info.name))), 0u) << info.name;
}

TEST(Shapes, TheCoarsestKeepTheirPromises) {
  for (const ShapeInfo& info : shapeCatalogue()) {
    ShapeValues values;
    for (const ShapeParameter& p : info.parameters)
      if (p.kind == ParameterKind::Integer) values[p.name] = number(p.lower);
    const Facts facts = inspect(makeShape(info.name, values));
    EXPECT_EQ(broken(facts, info.closed), "") << info.name;
    const bool alone = std::string_view(info.name) == "rope" || std::string_view(info.name) == "brick-wall";
    EXPECT_EQ(facts.euler, alone ? 2 : expectedTopology(info.name).euler) << info.name;
  }
}

// Lengths drawn around the defaults at sizes from millimetres to kilometres, whole numbers from small to
// `most` times the default. Combinations that do not fit together must be refused, never built badly.
void randomSets(unsigned seed, int rounds, double most) {
  std::mt19937 random(seed);
  auto uniform = [&](double a, double b) {
    return a + (b - a) * (static_cast<double>(random()) / 4294967296.0);
  };
  for (const ShapeInfo& info : shapeCatalogue()) {
    int built = 0;
    for (int round = 0; round < rounds; ++round) {
      const double scale = std::pow(10.0, uniform(-2, 3));
      const ShapeValues base = quick(info.name);
      ShapeValues values;
      for (const ShapeParameter& p : info.parameters) {
        const auto fixed = base.find(std::string_view(p.name));
        const double standard = fixed == base.end() ? p.value : std::stod(fixed->second);
        if (p.kind == ParameterKind::Integer && std::string_view(p.name) != "strands")
          values[p.name] =
              number(std::floor(uniform(p.lower, std::min(p.upper, most * standard + 2) + 1 - 1e-9)));
        if (p.kind == ParameterKind::Number && std::string_view(info.name) != "rippled-sphere") {
          double value = standard * uniform(0.9, 1.12);
          if (std::string_view(p.unit) == "m") value *= scale;
          if (std::string_view(p.unit) == "1/m") value /= scale;
          values[p.name] = number(std::clamp(value, p.lower, p.upper));
        }
      }
      std::string given = info.name;
      for (const auto& [k, v] : values) given += " " + k + "=" + v;
      TriMesh mesh;
      try {
        mesh = makeShape(info.name, values);
      } catch (const Error& error) {
        EXPECT_TRUE(error.kind() == ErrorKind::Usage || error.kind() == ErrorKind::Geometry) << given;
        continue;
      }
      ++built;
      EXPECT_EQ(broken(inspect(mesh), info.closed), "") << given;
    }
    EXPECT_GE(4 * built, rounds) << info.name << ": most random parameters were refused";
  }
}

TEST(Shapes, RandomParametersKeepTheirPromises) { randomSets(1, 6, 1.2); }
TEST(ShapesFull, ManyRandomParametersKeepTheirPromises) { randomSets(2, 60, 3); }

TEST(ShapesFull, FineOnesKeepTheirPromisesAndDoNotCutThemselves) {
  for (const ShapeInfo& info : shapeCatalogue()) {
    ShapeValues values = quick(info.name);
    for (const ShapeParameter& p : info.parameters) {
      const std::string_view name = p.name;
      const bool counts = p.kind == ParameterKind::Integer && name != "p" && name != "q" &&
                          name != "strands" && name != "seed" && name != "octaves" && name != "points";
      if (counts)
        values[p.name] =
            number(std::min(p.upper, 3 * (values.contains(name) ? std::stod(values[p.name]) : p.value)));
    }
    const TriMesh mesh = makeShape(info.name, values);
    EXPECT_EQ(broken(inspect(mesh), info.closed), "") << info.name;
    EXPECT_EQ(shapetest::selfIntersections(mesh), 0u) << info.name;
  }
}

TEST(ShapesFull, CoarseVesselsAndKnotsDoNotCutThemselves) {
  for (const char* name : {"bowl", "wine-glass", "vase", "bottle"})
    for (int segments : {3, 5, 12})
      for (int resolution : {8, 11, 17, 90})
        EXPECT_EQ(shapetest::selfIntersections(makeShape(name, {{"segments", std::to_string(segments)},
                                                                {"resolution", std::to_string(resolution)}})),
                  0u)
            << name << " " << segments << " " << resolution;
  for (const char* name : {"torus-knot", "trefoil", "figure-eight-knot", "rope"})
    for (int sides : {3, 4, 7}) {
      const auto& parameters = shapeInfo(name).parameters;
      const auto steps =
          std::ranges::find_if(parameters, [](const auto& p) { return std::string_view(p.name) == "steps"; });
      EXPECT_EQ(shapetest::selfIntersections(
                    makeShape(name, {{"steps", number(steps->lower)}, {"sides", std::to_string(sides)}})),
                0u)
          << name << " " << sides;
    }
}

TEST(ShapeCatalogue, NamesAreUniqueAndDefaultsInRange) {
  std::set<std::string> names;
  for (const ShapeInfo& info : shapeCatalogue()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_NE(std::string(info.summary), "");
    std::set<std::string> parameters;
    for (const ShapeParameter& p : info.parameters) {
      EXPECT_TRUE(parameters.insert(p.name).second) << info.name << " " << p.name;
      EXPECT_NE(std::string(p.text), "") << info.name << " " << p.name;
      if (p.kind == ParameterKind::Number || p.kind == ParameterKind::Integer) {
        EXPECT_LE(p.lower, p.value) << info.name << " " << p.name;
        EXPECT_LE(p.value, p.upper) << info.name << " " << p.name;
      }
    }
  }
  EXPECT_EQ(names.size(), 25u);
}

TEST(ShapeCatalogue, DefaultsWrittenOutMakeTheSameMesh) {
  for (const ShapeInfo& info : shapeCatalogue()) {
    ShapeValues values;
    for (const ShapeParameter& p : info.parameters) values[p.name] = p.defaultText();
    for (const auto& [k, v] : quick(info.name)) values[k] = v;
    const TriMesh written = makeShape(info.name, values), implied = makeShape(info.name, quick(info.name));
    EXPECT_EQ(written.positions, implied.positions) << info.name;
    EXPECT_EQ(written.triangles, implied.triangles) << info.name;
  }
}

TEST(ShapeCatalogue, ValuesArriveWhereTheyBelong) {
  const TriMesh mesh = makeShape("box", {{"width", "2"}, {"height", "3e0"}, {"depth", "0.5"}, {"ny", "4"}});
  const Box3 box = bounds(mesh.positions);
  EXPECT_EQ(box.lower, Vec3(-1, -1.5, -0.25));
  EXPECT_EQ(box.upper, Vec3(1, 1.5, 0.25));
  EXPECT_EQ(mesh.triangles.size(), 4u * (4 + 4 + 1));
  EXPECT_EQ(makeShape("noisy-sheet", {{"closed", "no"}, {"nx", "3"}, {"nz", "5"}}).triangles.size(), 30u);
  EXPECT_EQ(makeShape("letters", {{"text", "I"}}).triangles.size(), 12u);
}

TEST(ShapeCatalogue, MistakesAreNamed) {
  EXPECT_NE(shapeErrorOf("tours", {}).find("did you mean \"torus\"?"), std::string::npos);
  EXPECT_NE(shapeErrorOf("hovercraft", {}).find("shapes: box, "), std::string::npos);
  EXPECT_NE(shapeErrorOf("box", {{"widht", "1"}}).find("did you mean \"width\"?"), std::string::npos);
  EXPECT_NE(shapeErrorOf("box", {{"width", "wide"}}).find("\"wide\", which is not a number"),
            std::string::npos);
  EXPECT_NE(shapeErrorOf("box", {{"width", "1 "}}).find("not a number"), std::string::npos);
  EXPECT_NE(shapeErrorOf("box", {{"width", ""}}).find("not a number"), std::string::npos);
  EXPECT_NE(shapeErrorOf("box", {{"nx", "2.5"}}).find("not a whole number"), std::string::npos);
  EXPECT_NE(shapeErrorOf("box", {{"nx", "0"}}).find("nx is 0, but must lie in 1 to 4096"), std::string::npos);
  EXPECT_NE(shapeErrorOf("box", {{"nx", "99999999999999"}}).find("must lie in 1 to 4096"), std::string::npos);
  EXPECT_NE(shapeErrorOf("box", {{"width", "-1"}}).find("must lie in 1e-06 to 1"), std::string::npos);
  for (const char* bad : {"nan", "inf", "-inf", "1e999"})
    EXPECT_NE(shapeErrorOf("box", {{"width", bad}}).find("must lie in"), std::string::npos) << bad;
  EXPECT_NE(shapeErrorOf("extrusion", {{"outline", "gaer"}}).find("did you mean \"gear\"?"),
            std::string::npos);
  EXPECT_NE(shapeErrorOf("noisy-sheet", {{"closed", "maybe"}}).find("yes or no"), std::string::npos);
  EXPECT_NE(shapeErrorOf("letters", {{"text", "a~b"}}).find("no glyph for \"~\""), std::string::npos);
  EXPECT_NE(shapeErrorOf("letters", {{"text", "  "}}).find("nothing but spaces"), std::string::npos);
  EXPECT_NE(shapeErrorOf("torus", {{"tube", "0.6"}}).find("less than radius"), std::string::npos);
  EXPECT_NE(shapeErrorOf("torus-knot", {{"p", "2"}, {"q", "4"}}).find("common divisor 2"), std::string::npos);
  EXPECT_NE(shapeErrorOf("torus-knot", {{"tube", "0.3"}}).find("meet itself"), std::string::npos);
  EXPECT_NE(shapeErrorOf("rope", {{"strand", "0.06"}}).find("meet itself"), std::string::npos);
  EXPECT_NE(shapeErrorOf("brick-wall", {{"bevel", "0.05"}}).find("half the shortest side"),
            std::string::npos);
  EXPECT_NE(shapeErrorOf("extrusion", {{"hole", "0.9"}}).find("to fit this gear"), std::string::npos);
  EXPECT_NE(shapeErrorOf("brick-wall", {{"bevel", "1e-300"}}).find("0 or at least"), std::string::npos);
  EXPECT_NE(shapeErrorOf("cone", {{"topRadius", "1e-20"}}).find("0 or at least"), std::string::npos);
  EXPECT_NE(shapeErrorOf("plate", {{"corner", "0.6"}}).find("half of width"), std::string::npos);
}

TEST(ShapeCatalogue, ProgramsMeetTheSameLimits) {
  EXPECT_THROW(makeBox({.size = Vec3(1, 0, 1)}), Error);
  EXPECT_THROW(makeBox({.nx = 0}), Error);
  EXPECT_THROW(makeIcosphere({.radius = std::nan("")}), Error);
  EXPECT_THROW(makeIcosphere({.frequency = -3}), Error);
  EXPECT_THROW(makeExtrusion({.outline = "blob"}), Error);
}

TEST(ShapeCatalogue, RangesReadWell) {
  const auto& parameters = shapeInfo("extrusion").parameters;
  EXPECT_EQ(parameters[0].rangeText(), "one of polygon, star, gear, l, arrow");
  EXPECT_EQ(parameters[1].rangeText(), "3 to 1000");
  EXPECT_EQ(parameters[2].rangeText(), "1e-06 to 1000000 m");
  EXPECT_EQ(parameters[0].defaultText(), "gear");
}

}  // namespace
}  // namespace sunder::shapes
