#include "sunder/base/hash.h"

#include "sunder/base/math.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace sunder {

TEST(Hash, KnownAnswersOfXxh3) {
  // XXH3_64bits of nothing, from the xxHash specification; the text's value from the xxhsum program.
  EXPECT_EQ(hash64(std::string_view()), 0x2d06800538d394c2ull);
  EXPECT_EQ(hash64(std::string_view("abc")), 0x78af5f94892f3950ull);
}

TEST(Hash, StreamEqualsOneCall) {
  std::vector<double> values(10'000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = 1.0 / (1.0 + static_cast<double>(i));
  for (size_t piece : {1u, 3u, 7u, 100u, 9'999u}) {
    Hasher hasher;
    for (size_t i = 0; i < values.size(); i += piece) {
      hasher.update(std::span<const double>(values).subspan(i, std::min(piece, values.size() - i)));
    }
    EXPECT_EQ(hasher.digest(), hash64(values));
  }
}

TEST(Hash, ScalarsEnterLittleEndian) {
  Hasher numbers, bytes;
  numbers.update(uint32_t(0x04030201));
  numbers.update(uint16_t(0x0605));
  numbers.update(1.0);
  bytes.update(std::string_view("\x01\x02\x03\x04\x05\x06\0\0\0\0\0\0\xf0\x3f", 14));
  EXPECT_EQ(numbers.digest(), bytes.digest());
}

TEST(Hash, VectorsAndArraysAreTheirNumbers) {
  const std::vector<Vec3> points{{1, 2, 3}, {4, 5, 6}};
  const std::vector<double> numbers{1, 2, 3, 4, 5, 6};
  EXPECT_EQ(hash64(points), hash64(numbers));
  const std::vector<std::array<uint32_t, 3>> triangles{{1, 2, 3}, {4, 5, 6}};
  const std::vector<uint32_t> indices{1, 2, 3, 4, 5, 6};
  EXPECT_EQ(hash64(triangles), hash64(indices));
  static_assert(!Hashable<long double> && !Hashable<std::string> && !Hashable<Eigen::VectorXd>);
}

TEST(Hash, SizedUpdatesKeepNeighboursApart) {
  auto hashOf = [](std::string_view a, std::string_view b) {
    Hasher hasher;
    hasher.updateSized(a);
    hasher.updateSized(b);
    return hasher.digest();
  };
  EXPECT_NE(hashOf("ab", "c"), hashOf("a", "bc"));
}

TEST(Hash, EveryBitAndTheSeedCount) {
  std::vector<uint8_t> data(67, 0);
  std::set<uint64_t> seen{hash64(data), hash64(data, 1)};
  for (size_t bit = 0; bit < data.size() * 8; ++bit) {
    data[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
    seen.insert(hash64(data));
    data[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
  }
  EXPECT_EQ(seen.size(), data.size() * 8 + 2);
}

TEST(Hash, DigestDoesNotEndTheStream) {
  Hasher a, b;
  a.update(1u);
  EXPECT_NE(a.digest(), 0u);
  a.update(2u);
  b.update(1u);
  b.update(2u);
  EXPECT_EQ(a.digest(), b.digest());
  const Hasher moved = std::move(a);
  EXPECT_EQ(moved.digest(), b.digest());
}

}  // namespace sunder
