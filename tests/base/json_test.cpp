#include "sunder/base/json.h"

#include "sunder/base/error.h"

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

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

TEST(Json, ReadsValuesAndComments) {
  const nlohmann::json json = parseJson(R"(// a scene
    { "a": [1, 2.5, -3e2], /* in
      between */ "b": {"c": null, "d\"\u00e9": "// not a comment"}, "e": true } // end)",
                                        "x");
  EXPECT_EQ(json["a"][2], -300);
  EXPECT_EQ(json["b"]["d\"\xc3\xa9"], "// not a comment");
  EXPECT_EQ(json["e"], true);
  EXPECT_EQ(parseJson("\xef\xbb\xbf[1]", "x")[0], 1);
  EXPECT_EQ(parseJson("7", "x"), 7);
}

TEST(Json, ErrorsNameLineAndColumn) {
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

TEST(Json, CommonSlipsComeWithAdvice) {
  for (const char* text : {"[NaN]", "[nan]", "[-Infinity]", "{\"a\": inf}"})
    EXPECT_TRUE(errorOf(text).ends_with("(JSON has no such number; write a finite one)")) << errorOf(text);
  EXPECT_TRUE(errorOf("[1e999]").ends_with("(numbers reach to 1.7e308)")) << errorOf("[1e999]");
  EXPECT_TRUE(errorOf("[1, 2,\n]").ends_with("(remove the comma before it)")) << errorOf("[1, 2,\n]");
  EXPECT_TRUE(errorOf("{'a': 1}").ends_with("(texts and keys stand in double quotes)"))
      << errorOf("{'a': 1}");
  EXPECT_FALSE(errorOf("[north]").ends_with(")")) << errorOf("[north]");
}

TEST(Json, DuplicateKeysAreRefused) {
  EXPECT_EQ(errorOf("{\"mass\": 1,\n  \"b\": {\"mass\": 2},\n  \"mass\": 3}"),
            "scene.json:3: column 3: the key \"mass\" comes twice in one object (remove one of them)");
  EXPECT_NE(errorOf(R"({"a": 1, "\u0061": 2})"), "no error");
  EXPECT_EQ(errorOf(R"([{"a": "a"}, {"a": ["a", "a"]}, {"b": {"a": 1}, "a": "b"}])"), "no error");
}

TEST(Json, DepthIsLimited) {
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

TEST(Json, LineOfAPointer) {
  const std::string text = R"({
  // "bodies": 0
  "bodies": [
    { "name": "a", "mass": 1 },
    {
      "name": "b{",
      "shape":
        { "size": [1,
                   2,
                   3] }
    }
  ],
  "a/b": { "m~n": 1,
           "": 2 }
})";
  const nlohmann::json json = parseJson(text, "x");
  EXPECT_EQ(lineOfPointer(text, ""), 1u);
  EXPECT_EQ(lineOfPointer(text, "/bodies"), 3u);
  EXPECT_EQ(lineOfPointer(text, "/bodies/0/mass"), 4u);
  EXPECT_EQ(lineOfPointer(text, "/bodies/1"), 5u);
  EXPECT_EQ(lineOfPointer(text, "/bodies/1/name"), 6u);
  EXPECT_EQ(lineOfPointer(text, "/bodies/1/shape"), 8u);
  EXPECT_EQ(lineOfPointer(text, "/bodies/1/shape/size/2"), 10u);
  EXPECT_EQ(lineOfPointer(text, "/a~1b"), 13u);
  EXPECT_EQ(lineOfPointer(text, "/a~1b/m~0n"), 13u);
  EXPECT_EQ(lineOfPointer(text, "/a~1b/"), 14u);
  // Not there: the innermost part that is.
  EXPECT_EQ(lineOfPointer(text, "/bodies/1/shape/size/9"), 8u);
  EXPECT_EQ(lineOfPointer(text, "/bodies/1/colour"), 5u);
  EXPECT_EQ(lineOfPointer(text, "/gravity/x"), 1u);
  EXPECT_EQ(lineOfPointer("", "/a"), 1u);
}

}  // namespace sunder
