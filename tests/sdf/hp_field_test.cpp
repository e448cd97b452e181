#include "sunder/sdf/hp/hp_field.h"

#include "sunder/base/error.h"
#include "sunder/base/file.h"
#include "sunder/base/random.h"
#include "sunder/sdf/hp/hp_build.h"

#include "sdf/sdf_cases.h"
#include "temporary_folder.h"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

namespace sunder::sdf {
namespace {

HpForest torusFieldForest(double tau) {
  HpReport report;
  return buildHp(torusField(), tableSettings(tau), report);
}

std::vector<Vec3> randomPoints(size_t count, const Box3& box, uint64_t seed) {
  RandomStream random(seed);
  std::vector<Vec3> points(count);
  for (Vec3& p : points) p = random.pointIn(box);
  return points;
}

TEST(HpField, IsThePolynomialOfTheCell) {
  const HpForest forest = torusFieldForest(1e-6);
  const HpField field(forest);
  for (const Vec3& p : randomPoints(5000, testDomain(), 1))
    EXPECT_NEAR(field.value(p), evaluate(forest, p), 1e-13);
}

TEST(HpField, BatchesGiveTheBitsOfSingleCalls) {
  const HpField field(torusFieldForest(1e-5));
  const std::vector<Vec3> points = randomPoints(20'000, {Vec3::Constant(-1.5), Vec3::Constant(1.5)}, 2);
  std::vector<double> values(points.size());
  std::vector<FieldSample> samples(points.size());
  valuesOf(field, points, values);
  samplesOf(field, points, samples);
  for (size_t i = 0; i < points.size(); ++i) {
    ASSERT_EQ(values[i], samples[i].value);
    if (i % 10) continue;
    ASSERT_EQ(values[i], field.value(points[i]));
    ASSERT_EQ(samples[i].gradient, field.sample(points[i]).gradient);
  }
}

TEST(HpField, GradientsAreDifferences) {
  const HpForest forest = torusFieldForest(1e-7);
  const HpField field(forest);
  size_t tested = 0;
  for (const Vec3& p : randomPoints(2000, testDomain(), 3)) {
    const HpPlace place = locate(forest, p);
    const double step = 1e-5 * place.size.minCoeff();
    if (place.local.cwiseAbs().maxCoeff() > 0.999) continue;  // the differences would look into the next cell
    const Vec3 gradient = field.sample(p).gradient;
    for (int d = 0; d < 3; ++d) {
      Vec3 move = Vec3::Zero();
      move[d] = step;
      const double difference = (field.value(p + move) - field.value(p - move)) / (2 * step);
      EXPECT_NEAR(gradient[d], difference, 1e-6);
    }
    ++tested;
  }
  EXPECT_GT(tested, 1500u);
}

TEST(HpField, GradientsHaveUnitLengthNearTheSurface) {
  const HpField field(torusFieldForest(1e-7));
  size_t near = 0, good = 0;
  for (const Vec3& p : randomPoints(100'000, testDomain(), 4)) {
    const FieldSample s = field.sample(p);
    if (std::abs(s.value) > 0.05) continue;
    ++near;
    good += std::abs(s.gradient.norm() - 1) < 2e-2;
  }
  EXPECT_GT(near, 1000u);
  EXPECT_GE(double(good), 0.99 * double(near));
}

TEST(HpField, OutsideTheDomainDistancesGrow) {
  const HpField field(torusFieldForest(1e-5));
  const Vec3 edge(1.1, 0.3, 0.2), beyond(3.1, 0.3, 0.2);
  EXPECT_NEAR(field.value(beyond), field.value(edge) + 2, 1e-12);
  EXPECT_EQ(field.sample(beyond).gradient, Vec3(1, 0, 0));
}

TEST(HpField, GivesTheForestBack) {
  const HpForest forest = torusFieldForest(1e-5);
  const HpForest back = HpField(forest).forest();
  ASSERT_EQ(back.coefficients.size(), forest.coefficients.size());
  for (size_t i = 0; i < forest.coefficients.size(); ++i)
    EXPECT_NEAR(back.coefficients[i], forest.coefficients[i], 1e-15);
}

class HpFile : public testing::Test {
 protected:
  TemporaryFolder folder;
  std::filesystem::path path = folder / "field.sdf";
};

TEST_F(HpFile, ComesBackBitByBit) {
  HpField field(torusFieldForest(1e-5), torusField().bounds());
  field.targetError = 1e-3;
  field.measuredError = 9e-4;
  field.measuredMax = 0.02;
  field.write(path);
  const HpField back = HpField::read(path);
  EXPECT_EQ(back.cells().coefficients, field.cells().coefficients);
  EXPECT_EQ(back.cells().child, field.cells().child);
  EXPECT_EQ(back.cells().degree, field.cells().degree);
  EXPECT_EQ(back.bounds(), field.bounds());
  EXPECT_EQ(back.measuredMax, 0.02);
  for (const Vec3& p : randomPoints(100, testDomain(), 5)) EXPECT_EQ(back.value(p), field.value(p));
  EXPECT_EQ(std::filesystem::file_size(path), field.bytes() + 24 + 12 * 8 + 3 * 8 + 4 * 4 + 3 * 8);
}

TEST_F(HpFile, DamageIsNoticed) {
  HpField(torusFieldForest(1e-4)).write(path);
  const std::string good = readTextFile(path);
  for (const size_t at : {size_t(3), size_t(9), size_t(18), size_t(40), good.size() / 2, good.size() - 1}) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x55);
    writeFile(path, bad);
    EXPECT_THROW(HpField::read(path), Error) << at;
  }
  for (const size_t size : {size_t(0), size_t(7), size_t(30), good.size() / 2, good.size() - 1}) {
    writeFile(path, good.substr(0, size));
    EXPECT_THROW(HpField::read(path), Error) << size;
  }
  writeFile(path, good + "x");
  EXPECT_THROW(HpField::read(path), Error);
}

}  // namespace
}  // namespace sunder::sdf
