// Continuous collision tests against the exact oracle: never a miss, never a late time, few false alarms.
#include "sunder/base/parallel.h"
#include "sunder/base/stopwatch.h"
#include "sunder/spatial/ccd/ccd.h"

#include "spatial/ccd_cases.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <gtest/gtest.h>

namespace sunder::spatial {
namespace {

// Sanitizers look for other faults than rare misses, and slow the oracle's arithmetic down twentyfold.
#ifdef SUNDER_SANITIZED
constexpr size_t kThinning = 10;
#else
constexpr size_t kThinning = 1;
#endif

using exact::Family;
using exact::Query;
using exact::Stream;

CcdHit askExactly(bool edges, const std::array<Vec3, 8>& x, const CcdSettings& settings = {}) {
  return (edges ? edgeEdge : vertexFace)(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], settings);
}

// The query's scale as ccd.h defines it: the largest coordinate difference between the two features.
double scaleOf(bool edges, const std::array<Vec3, 8>& x) {
  double scale = 0;
  const size_t first = edges ? 2 : 1;
  for (size_t i = 0; i < first; ++i)
    for (size_t j = first; j < 4; ++j)
      for (const size_t s : {0, 4}) scale = std::max(scale, (x[i + s] - x[j + s]).cwiseAbs().maxCoeff());
  return scale;
}

struct Count {
  size_t cases = 0, hits = 0, missed = 0, late = 0, falseAlarms = 0, farAway = 0, zeroTime = 0,
         batchMissed = 0;
  double lag = 0;     // largest exact time minus reported time
  uint64_t seed = 0;  // of a failure

  void operator+=(const Count& o) {
    cases += o.cases, hits += o.hits, missed += o.missed, late += o.late, falseAlarms += o.falseAlarms;
    farAway += o.farAway, zeroTime += o.zeroTime, batchMissed += o.batchMissed;
    lag = std::max(lag, o.lag);
    if (o.seed) seed = o.seed;
  }
  bool sound() const { return missed + late + farAway + zeroTime + batchMissed == 0; }
};

// One case, with the coordinates scaled by a power of two and moved away from the origin: both exact.
void check(const Query& query, double scale, double offset, uint64_t seed, Count& count) {
  const exact::Answer truth = exact::answerExactly(query);
  const auto x = query.points(scale, Vec3(offset, -offset, 2 * offset));
  const CcdHit found = askExactly(query.edges, x);
  ++count.cases;
  count.hits += truth.hit;
  const bool soundBefore = count.sound();
  count.missed += truth.hit && !found.hit;
  count.falseAlarms += !truth.hit && found.hit;
  if (truth.hit && found.hit) {
    count.late += found.time > truth.to;
    count.lag = std::max(count.lag, truth.from - found.time);
  }
  if (found.hit) {
    const double size = scaleOf(query.edges, x), distance = exact::distanceAt(query.edges, x, found.time);
    count.farAway += distance > found.tolerance + 1e-8 * size || found.tolerance > 1e-6 * size;
    count.zeroTime += found.time == 0 && exact::distanceAt(query.edges, x, 0) > 1e-12 * size;
  }
  const CcdPair pair{0, 1, 2, 3};
  CcdHit batched;
  (query.edges ? edgeEdgeBatch : vertexFaceBatch)(std::span(x).first(4), std::span(x).last(4), {&pair, 1},
                                                  {&batched, 1}, {});
  count.batchMissed += truth.hit && !batched.hit;
  if (soundBefore && !count.sound()) count.seed = seed;
}

Count checkMany(Family family, uint64_t firstSeed, size_t cases) {
  return parallelReduce(
      cases, Count{},
      [&](size_t begin, size_t end) {
        Count count;
        for (size_t i = begin; i < end; ++i) {
          const uint64_t seed = (firstSeed + i) * 0x100 + uint64_t(family);
          Stream random{seed};
          const Query query = exact::makeCase(family, random);
          static constexpr int kPowers[] = {0, -20, -26, 40, -200};
          const int64_t pick = random.below(8);
          const double scale = pick < 5 ? std::ldexp(1.0, kPowers[pick]) : 1.0;
          // Offsets leave every coordinate a multiple of its unit below 2^53 units.
          const double offset = pick < 3 && random.below(2) ? double(1 << 20) : 0;
          check(query, scale, offset, seed, count);
        }
        return count;
      },
      [](Count a, const Count& b) {
        a += b;
        return a;
      },
      256);
}

void expectSound(Family family, const Count& c) {
  std::printf("  %-13s %8zu cases, %8zu hits, %zu missed, %zu late, %zu false alarms, largest lag %.2g\n",
              exact::nameOf(family), c.cases, c.hits, c.missed, c.late, c.falseAlarms, c.lag);
  EXPECT_EQ(c.missed, 0u) << "seed " << c.seed;
  EXPECT_EQ(c.late, 0u) << "seed " << c.seed;
  EXPECT_EQ(c.farAway, 0u) << "seed " << c.seed;
  EXPECT_EQ(c.zeroTime, 0u) << "seed " << c.seed;
  EXPECT_EQ(c.batchMissed, 0u) << "seed " << c.seed;
}

class CcdExactFamily : public testing::TestWithParam<int> {};

TEST_P(CcdExactFamily, AgreesWithTheOracle) {
  static constexpr size_t kCases[exact::kFamilies] = {200000, 260000, 40000, 40000, 130000,
                                                      66000,  100000, 66000, 100000};  // a million
  const Family family = Family(GetParam());
  const Count c = checkMany(family, 1, kCases[GetParam()] / kThinning);
  expectSound(family, c);
  EXPECT_GT(c.hits, c.cases / 200);
  EXPECT_LE(double(c.falseAlarms), 0.001 * double(c.cases));
}

INSTANTIATE_TEST_SUITE_P(All, CcdExactFamily, testing::Range(0, exact::kFamilies), [](const auto& instance) {
  std::string name = exact::nameOf(Family(instance.param));
  std::erase(name, ' ');
  return name;
});

// Contact at a known dyadic time: no oracle needed, so a million of them.
Count checkBuilt(uint64_t firstSeed, size_t cases) {
  return parallelReduce(
      cases, Count{},
      [&](size_t begin, size_t end) {
        Count count;
        for (size_t i = begin; i < end; ++i) {
          Stream random{(firstSeed + i) * 0x100 + 0xff};
          static constexpr int64_t kSizes[] = {1, 4, 100, 1 << 10, 1 << 24};
          const exact::Built built = exact::buildContact(random, i % 2 != 0, kSizes[random.below(5)]);
          const CcdHit found = askExactly(built.query.edges, built.query.points());
          ++count.cases;
          count.hits += found.hit;
          count.missed += !found.hit;
          count.late += found.hit && found.time > built.time;
          if (!found.hit || found.time > built.time) count.seed = firstSeed + i;
        }
        return count;
      },
      [](Count a, const Count& b) {
        a += b;
        return a;
      },
      4096);
}

TEST(CcdExact, FindsEveryBuiltContact) {
  const Count c = checkBuilt(1, 1'000'000 / kThinning);
  EXPECT_EQ(c.missed, 0u) << "seed " << c.seed;
  EXPECT_EQ(c.late, 0u) << "seed " << c.seed;
}

// A few of every kind, which sanitizers can watch.
TEST(CcdExact, AFewOfEveryFamilyAgreeWithTheOracle) {
  for (int family = 0; family < exact::kFamilies; ++family)
    expectSound(Family(family), checkMany(Family(family), 1, 40));
  const Count c = checkBuilt(1, 300);
  EXPECT_EQ(c.missed, 0u) << "seed " << c.seed;
  EXPECT_EQ(c.late, 0u) << "seed " << c.seed;
}

// SUNDER_CCD_CASES (default 1e8) cases, at most SUNDER_CCD_SECONDS (default 1200).
TEST(CcdExactFull, ManyCases) {
  const char* text = std::getenv("SUNDER_CCD_CASES");
  const size_t wanted = text ? size_t(std::strtod(text, nullptr)) : 100'000'000;
  text = std::getenv("SUNDER_CCD_SECONDS");
  const double seconds = text ? std::strtod(text, nullptr) : 1200;
  const Stopwatch watch;
  Count built, byFamily[exact::kFamilies];
  size_t done = 0;
  for (uint64_t round = 1; done < wanted; ++round) {
    if (watch.seconds() > seconds) break;
    built += checkBuilt(round << 32, 1'000'000);
    done += 1'000'000;
    for (int f = 0; f < exact::kFamilies; ++f) byFamily[f] += checkMany(Family(f), round << 32, 4'000);
    done += 4'000 * exact::kFamilies;
  }
  std::printf("  %zu cases in all, %zu built contacts with %zu missed\n", done, built.cases, built.missed);
  EXPECT_EQ(built.missed + built.late, 0u) << "seed " << built.seed;
  for (int f = 0; f < exact::kFamilies; ++f) expectSound(Family(f), byFamily[f]);
}

}  // namespace
}  // namespace sunder::spatial
