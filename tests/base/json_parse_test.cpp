#include "sunder/base/json_parse.h"

#include "sunder/base/error.h"

#include <string>

#include <gtest/gtest.h>

namespace sunder {

namespace {

std::string errorOf(const std::string& text) {
  try {
    parseJson(text, "scene.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST(JsonParse, ReadsValuesAndComments) {
  const Json json = parseJson(R"(// a scene
    { "a": [1, 2.5, -3e2], /* in
      between */ "b": {"c": null, "d\"\u00e9": "// not a comment"}, "e": true } // end)",
                              "x");
  EXPECT_EQ(json["a"][2], -300);
  EXPECT_EQ(json["b"]["d\"\xc3\xa9"], "// not a comment");
  EXPECT_EQ(json["e"], true);
  EXPECT_EQ(parseJson("\xef\xbb\xbf[1]", "x")[0], 1);
  EXPECT_EQ(parseJson("7", "x"), 7);
}

TEST(JsonParse, ErrorsNameLineAndColumn) {
  EXPECT_TRUE(errorOf("{\n  \"a\": 1,\n  \"b\" 2\n}").starts_with("scene.json:3: column 7: "))
      << errorOf("{\n  \"a\": 1,\n  \"b\" 2\n}");
  EXPECT_TRUE(errorOf("").starts_with("scene.json:1: column 1: ")) << errorOf("");
  EXPECT_TRUE(errorOf("[1,\n2").starts_with("scene.json:2: column 2: ")) << errorOf("[1,\n2");
  EXPECT_TRUE(errorOf("[1] x").starts_with("scene.json:1: column 5: ")) << errorOf("[1] x");
  EXPECT_TRUE(errorOf("[1,\n 1e999]").starts_with("scene.json:2: column 2: ")) << errorOf("[1,\n 1e999]");
  EXPECT_TRUE(errorOf("[\"\xff\"]").starts_with("scene.json:1: column ")) << errorOf("[\"\xff\"]");
  EXPECT_EQ(errorOf("{\"a\": 1,}").find("json.exception"), std::string::npos);
  for (const char* broken :
       {"\"", "{\"", "{\"a\\", "[\"\\u12", "{\"a\":}", "/*", "/", "//", "]", "}", "nul", "{,}"}) {
    EXPECT_NE(errorOf(broken), "no error") << broken;
  }
}

TEST(JsonParse, CommonSlipsComeWithAdvice) {
  for (const char* text : {"[NaN]", "[nan]", "[-Infinity]", "{\"a\": inf}"})
    EXPECT_TRUE(errorOf(text).ends_with("(JSON has no such number; write a finite one)")) << errorOf(text);
  EXPECT_TRUE(errorOf("[1e999]").ends_with("(numbers reach to 1.7e308)")) << errorOf("[1e999]");
  EXPECT_TRUE(errorOf("[1, 2,\n]").ends_with("(remove the comma before it)")) << errorOf("[1, 2,\n]");
  EXPECT_TRUE(errorOf("{'a': 1}").ends_with("(texts and keys stand in double quotes)"))
      << errorOf("{'a': 1}");
  EXPECT_FALSE(errorOf("[north]").ends_with(")")) << errorOf("[north]");
}

TEST(JsonParse, DuplicateKeysAreRefused) {
  EXPECT_EQ(errorOf("{\"mass\": 1,\n  \"b\": {\"mass\": 2},\n  \"mass\": 3}"),
            "scene.json:3: column 3: the key \"mass\" comes twice in one object (remove one of them)");
  EXPECT_NE(errorOf(R"({"a": 1, "\u0061": 2})"), "no error");
  EXPECT_EQ(errorOf(R"([{"a": "a"}, {"a": ["a", "a"]}, {"b": {"a": 1}, "a": "b"}])"), "no error");
}

TEST(JsonParse, DepthIsLimited) {
  auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(errorOf(nested(kJsonDepthLimit)), "no error");
  EXPECT_EQ(errorOf(nested(kJsonDepthLimit + 1)),
            "scene.json:1: column 257: more than 256 brackets inside each other");
  EXPECT_NE(errorOf(std::string(1'000'000, '[')), "no error");
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  EXPECT_NE(errorOf(objects), "no error");
  EXPECT_EQ(errorOf("[\"" + std::string(1000, '[') + "\", // " + std::string(1000, '{') + "\n 1]"),
            "no error");
}

TEST(JsonParse, NumbersKeepTheirKind) {
  const Json json =
      readJson("[0, -1, 18446744073709551615, -9223372036854775808, 1.0, 1e2, 18446744073709551616]");
  EXPECT_TRUE(json[0].isWhole() && !json[0].isDouble());
  EXPECT_TRUE(json[1].isInteger() && !json[1].isWhole());
  EXPECT_EQ(json[2].whole(), UINT64_MAX);
  EXPECT_EQ(json[3].integer(), INT64_MIN);
  for (const int i : {4, 5, 6}) EXPECT_TRUE(json[i].isDouble()) << i;
  EXPECT_EQ(json[6].number(), 0x1p64);
}

TEST(JsonParse, TextsOfProgramsHaveNoCommentsAndTheLastOfEqualKeysCounts) {
  EXPECT_EQ(readJson(R"({"a": 1, "b": 2, "a": 3})").text({.asCame = true}), R"({"a":3,"b":2})");
  EXPECT_FALSE(tryReadJson("[1] // one"));
  EXPECT_FALSE(tryReadJson("word"));
  EXPECT_TRUE(tryReadJson("null"));
  JsonFault fault;
  EXPECT_FALSE(tryReadJson("[1, oops]", &fault));
  EXPECT_TRUE(fault.broken);
  EXPECT_EQ(fault.byte, 4u);
  EXPECT_FALSE(tryReadJson("[1, 1e999]", &fault));
  EXPECT_FALSE(fault.broken);
  EXPECT_EQ(fault.byte, 4u);
  EXPECT_FALSE(tryReadJson("[" + std::string(100'000, '['), &fault));
  EXPECT_FALSE(fault.broken);
  EXPECT_EQ(fault.byte, kJsonDepthLimit);
  try {
    readJson("{\"a\": tru}");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.place(), "byte 9") << error.what();
  }
}

}  // namespace sunder
