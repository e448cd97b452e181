// Public queries with ground truth (shared data folder `ccd-queries`, README there): rational coordinates,
// eight rows a query, the answer in the last column.
#include "sunder/spatial/ccd/ccd.h"

#include "folders.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include <gmpxx.h>
#include <gtest/gtest.h>

namespace sunder::spatial {
namespace {

struct Tally {
  size_t queries = 0, hits = 0, missed = 0, falseAlarms = 0, rounded = 0;
};

// One file; queries whose rationals are no doubles are counted as rounded and still asked.
void runFile(const std::filesystem::path& path, bool edges, Tally& tally) {
  std::ifstream file(path);
  ASSERT_TRUE(file) << path;
  std::string line;
  std::array<Vec3, 8> x;
  size_t row = 0;
  bool answer = false, isRounded = false;
  while (std::getline(file, line)) {
    if (line.empty()) continue;
    std::array<std::string, 7> field;
    size_t begin = 0;
    for (std::string& f : field) {
      const size_t comma = std::min(line.find(',', begin), line.size());
      f = line.substr(begin, comma - begin);
      begin = std::min(comma + 1, line.size());
    }
    for (int k = 0; k < 3; ++k) {
      const mpz_class numerator{field[size_t(2 * k)]}, denominator{field[size_t(2 * k + 1)]};
      mpq_class value(numerator, denominator);
      value.canonicalize();
      x[row][k] = value.get_d();
      isRounded = isRounded || mpq_class(x[row][k]) != value;
    }
    answer = field[6][0] == '1';
    if (++row < 8) continue;
    const CcdHit hit = (edges ? edgeEdge : vertexFace)(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], {});
    ++tally.queries;
    tally.hits += answer;
    tally.rounded += isRounded;
    tally.missed += answer && !hit.hit && !isRounded;
    tally.falseAlarms += !answer && hit.hit;
    row = 0;
    isRounded = false;
  }
  EXPECT_EQ(row, 0u) << path;
}

TEST(CcdPublic, NoMisses) {
  const std::filesystem::path folder = sharedData() / "ccd-queries";
  if (!std::filesystem::is_directory(folder)) GTEST_SKIP() << folder << " is not there";
  Tally all[2];
  for (const auto& set : std::filesystem::directory_iterator(folder)) {
    if (!set.is_directory()) continue;
    for (const bool edges : {false, true}) {
      const auto sub = set.path() / (edges ? "edge-edge" : "vertex-face");
      if (!std::filesystem::is_directory(sub)) continue;
      Tally tally;
      for (const auto& entry : std::filesystem::directory_iterator(sub)) runFile(entry.path(), edges, tally);
      std::printf("  %-28s %-11s %4zu queries, %4zu hits, %zu missed, %zu false alarms, %zu not doubles\n",
                  set.path().filename().c_str(), sub.filename().c_str(), tally.queries, tally.hits,
                  tally.missed, tally.falseAlarms, tally.rounded);
      EXPECT_EQ(tally.missed, 0u) << sub;
      Tally& sum = all[edges];
      sum.queries += tally.queries, sum.hits += tally.hits, sum.falseAlarms += tally.falseAlarms;
    }
  }
  for (const Tally& sum : all) {
    EXPECT_GT(sum.queries, 1000u);
    EXPECT_GT(sum.hits, 50u);
    EXPECT_LE(double(sum.falseAlarms), 0.05 * double(sum.queries));
  }
}

}  // namespace
}  // namespace sunder::spatial
