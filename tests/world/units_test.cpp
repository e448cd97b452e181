#include "sunder/world/scene/units.h"

#include "sunder/base/error.h"
#include "sunder/base/math.h"

#include <cmath>

#include <gtest/gtest.h>

namespace sunder::world {
namespace {

TEST(Units, ReadsWhatPeopleWrite) {
  EXPECT_DOUBLE_EQ(parseQuantity("20 cm", kLength), 0.2);
  EXPECT_DOUBLE_EQ(parseQuantity("20cm", kLength), 0.2);
  EXPECT_DOUBLE_EQ(parseQuantity("-1.5e2 mm", kLength), -0.15);
  EXPECT_DOUBLE_EQ(parseQuantity("3", kLength), 3);
  EXPECT_DOUBLE_EQ(parseQuantity("45 deg", kAngle), kPi / 4);
  EXPECT_DOUBLE_EQ(parseQuantity("7.8 g/cm3", kDensity), 7800);
  EXPECT_DOUBLE_EQ(parseQuantity("7.8 g/cm^3", kDensity), 7800);
  EXPECT_DOUBLE_EQ(parseQuantity("7800 kg m^-3", kDensity), 7800);
  EXPECT_DOUBLE_EQ(parseQuantity("18 km/h", kSpeed), 5);
  EXPECT_DOUBLE_EQ(parseQuantity("60 rpm", kAngularSpeed), 2 * kPi);
  EXPECT_DOUBLE_EQ(parseQuantity("1/240 s", kTime), 1.0 / 240);
  EXPECT_DOUBLE_EQ(parseQuantity("1 / 240 s", kTime), 1.0 / 240);
  EXPECT_DOUBLE_EQ(parseQuantity("5 N m", kTorque), 5);
  EXPECT_DOUBLE_EQ(parseQuantity("2 kg m2/s2", kTorque), 2);
  EXPECT_DOUBLE_EQ(parseQuantity("2 kN s", kImpulse), 2000);
  EXPECT_DOUBLE_EQ(parseQuantity("-1 gee", kAcceleration), -9.80665);
  EXPECT_DOUBLE_EQ(parseQuantity("50 %", kPlain), 0.5);
  EXPECT_DOUBLE_EQ(parseQuantity("0.7 MPa m^0.5", kToughness), 7e5);
  EXPECT_DOUBLE_EQ(parseQuantity("22 N/mm^1.5", kToughness), 22e4 * std::sqrt(10.0));
  EXPECT_DOUBLE_EQ(parseQuantity("73 mN/m", kSurfaceTension), 0.073);
}

TEST(Units, RefusesTheRest) {
  for (const char* text :
       {"", "cm", "20 kg", "20 cm cm", "20 parsec", "nan", "inf m", "1e999 m", "20 cm/", "20 //cm",
        "20 cm^99", "20 m^0", "20 m^0.5", "20 m^0.3", "20 m^nan", "20 m^1e0", "0x10 m", "20 m!", "1/0 m"})
    EXPECT_THROW(parseQuantity(text, kLength), Error) << text;
  EXPECT_THROW(parseQuantity("0.7 MPa m", kToughness), Error);
  try {
    parseQuantity("20 cmm", kLength);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'cm'"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace sunder::world
