// What is written is byte for byte what nlohmann's library writes.
#include "sunder/base/error.h"
#include "sunder/base/json_parse.h"
#include "sunder/base/random.h"

#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sunder {

namespace {

constexpr auto kReplace = nlohmann::json::error_handler_t::replace;

}  // namespace

TEST(JsonText, DoublesAreThoseOfTheOtherWriterAndReadBackEqual) {
  std::vector<double> values{0,
                             -0.0,
                             1,
                             -1,
                             0.1,
                             1e15,
                             1e16,
                             1e-4,
                             1e-5,
                             1e21,
                             1e22,
                             5e-324,
                             1.7976931348623157e308,
                             2.2250738585072014e-308,
                             9007199254740993.0,
                             0.3,
                             2.0 / 3,
                             1e100,
                             123456789012345680.0};
  RandomStream random(7, 1);
  while (values.size() < 20'000) values.push_back(std::bit_cast<double>(random.nextU64()));
  for (int i = 0; i < 5'000; ++i) values.push_back(std::round(random.uniform() * 1e6) / 1e3);
  for (const double value : values) {
    const std::string text = Json(value).text();
    ASSERT_EQ(text, nlohmann::json(value).dump());
    if (std::isfinite(value)) {
      ASSERT_EQ(std::bit_cast<uint64_t>(readJson(text).number()), std::bit_cast<uint64_t>(value)) << text;
    }
  }
  EXPECT_EQ(Json(std::numeric_limits<double>::infinity()).text(), "null");
}

TEST(JsonText, WholeNumbers) {
  EXPECT_EQ((Json{INT64_MIN, INT64_MAX, UINT64_MAX, 0, -1, uint8_t(200), int8_t(-3)}).text(),
            "[-9223372036854775808,9223372036854775807,18446744073709551615,0,-1,200,-3]");
}

TEST(JsonText, TextsOfAnyBytes) {
  RandomStream random(7, 2);
  // Bytes at which the validity of UTF-8 turns are likely.
  constexpr unsigned char kBytes[] = {0x00, 0x08, 0x09, 0x0a, 0x0c, 0x0d, 0x1f, 0x20, '"',  '\\', '/',  0x7f,
                                      0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1,
                                      0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff};
  size_t invalid = 0;
  for (int i = 0; i < 30'000; ++i) {
    std::string text;
    for (uint64_t n = random.nextU64() % 8; n > 0; --n) {
      const uint64_t draw = random.nextU64();
      text += static_cast<char>(draw % 4 ? kBytes[(draw >> 8) % sizeof kBytes] : (draw >> 8) & 0xff);
    }
    ASSERT_EQ(Json(text).text(), nlohmann::json(text).dump(-1, ' ', false, kReplace));
    bool refused = false, theirs = false;
    try {
      EXPECT_EQ(Json(text).text({.strict = true}), Json(text).text());
    } catch (const Error&) {
      refused = true;
    }
    try {
      nlohmann::json(text).dump();
    } catch (const nlohmann::json::type_error&) {
      theirs = true;
    }
    ASSERT_EQ(refused, theirs);
    invalid += refused;
  }
  EXPECT_GT(invalid, 10'000u);
  EXPECT_LT(invalid, 29'000u);
}

TEST(JsonText, LayoutsOfBothOrders) {
  const std::string text =
      R"({"z": [], "a": {}, "list": [1, -2, 2.5, "x\n", null, true, [[]], {"k": {"b": 1, "a": [0]}}], "é": 1e300})";
  const Json ours = readJson(text);
  const auto sorted = nlohmann::json::parse(text);
  const auto ordered = nlohmann::ordered_json::parse(text);
  for (const int indent : {-1, 0, 1, 2, 4}) {
    EXPECT_EQ(ours.text({.indent = indent}), sorted.dump(indent));
    EXPECT_EQ(ours.text({.indent = indent, .asCame = true}), ordered.dump(indent));
  }
}

}  // namespace sunder
