#include "sunder/material/material.h"

#include <cmath>
#include <limits>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace sunder::material {
namespace {

TEST(MaterialPresets, NamesAreUniqueAndTheFirstIsTheDefault) {
  ASSERT_FALSE(presets().empty());
  EXPECT_EQ(presets()[0].name, "default");
  std::set<std::string> names;
  for (const Material& m : presets()) EXPECT_TRUE(names.insert(m.name).second) << m.name;
  EXPECT_EQ(preset("cheese"), nullptr);
  EXPECT_EQ(preset("steel")->young, 2e11);
}

TEST(MaterialPresets, EveryValueIsInItsRange) {
  for (const Material& m : presets()) {
    for (const Property& p : properties()) EXPECT_TRUE(p.allows(m.*p.value)) << m.name << " " << p.name;
    EXPECT_GE(m.colour.minCoeff(), 0) << m.name;
    EXPECT_LE(m.colour.maxCoeff(), 1) << m.name;
    EXPECT_EQ(&insideOf(presets(), m), &m) << m.name;
  }
}

TEST(MaterialPresets, BrittleOnesHaveAllThatFractureNeeds) {
  size_t brittle = 0;
  for (const Material& m : presets()) {
    EXPECT_EQ(m.strength > 0, m.surfaceEnergy > 0) << m.name;
    EXPECT_EQ(m.strength > 0, m.toughness > 0) << m.name;
    if (!(m.strength > 0)) continue;
    ++brittle;
    EXPECT_GT(m.young, 0) << m.name;
    const double released = m.toughness * m.toughness * (1 - m.poisson * m.poisson) / m.young;
    EXPECT_NEAR(released, m.surfaceEnergy, 1e-12 * m.surfaceEnergy) << m.name;
  }
  EXPECT_EQ(brittle, 8u);
  // Soda-lime glass is measured at 0.7 to 0.8 MPa m^(1/2).
  EXPECT_GT(preset("glass")->toughness, 0.7e6);
  EXPECT_LT(preset("glass")->toughness, 0.8e6);
}

TEST(MaterialProperties, AreAllNumbersOfTheStruct) {
  // A struct in which every property has another number differs from the default in all numbers: equality
  // sees those that the table misses.
  Material changed;
  std::set<std::string_view> names;
  for (const Property& p : properties()) {
    EXPECT_TRUE(names.insert(p.name).second) << p.name;
    EXPECT_FALSE(p.meaning.empty()) << p.name;
    const double before = changed.*p.value;
    changed.*p.value = before + 0.01;
    EXPECT_NE(changed.*p.value, before) << p.name;
  }
  constexpr size_t kNumbers = (sizeof(Material) - 2 * sizeof(std::string) - sizeof(Vec3)) / sizeof(double);
  EXPECT_EQ(properties().size(), kNumbers) << "a number of the struct is not in the table";
}

TEST(MaterialProperties, RangesRefuseWhatIsNoNumber) {
  for (const Property& p : properties()) {
    EXPECT_FALSE(p.allows(std::nan(""))) << p.name;
    EXPECT_FALSE(p.allows(std::numeric_limits<double>::infinity())) << p.name;
    EXPECT_FALSE(p.allows(-2)) << p.name;
    EXPECT_EQ(p.allows(0), p.optional || (p.least <= 0 && !(p.withoutEnds && p.least == 0))) << p.name;
  }
}

TEST(MaterialToughness, AndSurfaceEnergyAreInverse) {
  for (const double k : {1e5, 7e5, 2e6})
    EXPECT_NEAR(toughnessOf(surfaceEnergyOf(k, 7e10, 0.22), 7e10, 0.22), k, 1e-9 * k);
  EXPECT_NEAR(surfaceEnergyOf(1e6, 1e11, 0), 10, 1e-12);
}

TEST(MaterialInside, IsTheRowThatIsNamed) {
  std::vector<Material> table(3);
  table[0].name = "shell";
  table[0].inside = "core";
  table[1].name = "core";
  table[2].name = "odd";
  table[2].inside = "nothing";
  EXPECT_EQ(&insideOf(table, table[0]), &table[1]);
  EXPECT_EQ(&insideOf(table, table[1]), &table[1]);
  EXPECT_EQ(&insideOf(table, table[2]), &table[2]);
}

}  // namespace
}  // namespace sunder::material
