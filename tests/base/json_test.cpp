#include "sunder/base/json.h"

#include "sunder/base/error.h"

#include <cstdlib>
#include <limits>
#include <new>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sunder {

namespace {

std::string messageOf(const auto& read) {
  try {
    read();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Format);
    return error.message();
  }
  return "no error";
}

Json deepValue(size_t depth) {
  Json json = 1;
  for (size_t i = 0; i < depth; ++i) {
    Json outer;
    if (i % 2 == 0) {
      outer["beside"] = "a text that is longer than what fits without the heap";
      outer["inside"] = std::move(json);
    } else {
      outer.push_back("beside");
      outer.push_back(std::move(json));
      outer.push_back(Json::array({1, Json::object()}));
    }
    json = std::move(outer);
  }
  return json;
}

}  // namespace

TEST(Json, BracesMakeListsAndObjects) {
  EXPECT_EQ((Json{1, 2}).text(), "[1,2]");
  EXPECT_EQ((Json{{"b", 1}, {"a", {1.5, nullptr, true}}}).text(), R"({"a":[1.5,null,true],"b":1})");
  EXPECT_EQ((Json{{"only", "pair"}}).text(), R"({"only":"pair"})");
  EXPECT_EQ(Json::array({{"only", "pair"}}).text(), R"([["only","pair"]])");
  EXPECT_EQ(Json::array({0}).text(), "[0]");
  EXPECT_EQ(Json({0}).text(), "[0]");
  EXPECT_EQ(Json::array({Json::object()}).text(), "[{}]");
  EXPECT_EQ((Json{{"sphere", {{"radius", 1}}}}).text(), R"({"sphere":{"radius":1}})");
  EXPECT_EQ(Json(std::vector<float>{0.1f}).text(), "[0.10000000149011612]");
  EXPECT_EQ(Json(std::set<std::string>{"y", "x"}).text(), R"(["x","y"])");
  EXPECT_EQ(Json(std::vector<bool>{true, false}).text(), "[true,false]");
  EXPECT_EQ(Json().text(), "null");
  // Of equal keys the first counts.
  EXPECT_EQ((Json{{"a", 1}, {"a", 2}}).text(), R"({"a":1})");
}

TEST(Json, NullBecomesWhatIsPutIntoIt) {
  Json json;
  json["list"].push_back(1);
  json["object"]["key"] = "x";
  EXPECT_EQ(json.text(), R"({"list":[1],"object":{"key":"x"}})");
  EXPECT_NE(messageOf([&] { json.push_back(1); }), "no error");
  EXPECT_NE(messageOf([&] { json["list"]["key"]; }), "no error");
}

TEST(Json, MembersAreWalkedByKeyAndKnowTheirOrder) {
  Json json = {{"z", 1}, {"a", 2}, {"m", 3}};
  json["a"] = 4;  // stays at its place
  json.erase("z");
  json["z"] = 5;  // comes again, as the last
  json.update({{"b", 6}, {"m", 7}});
  EXPECT_EQ(json.text(), R"({"a":4,"b":6,"m":7,"z":5})");
  EXPECT_EQ(json.text({.asCame = true}), R"({"a":4,"m":7,"z":5,"b":6})");
  const Json copy = json;
  EXPECT_EQ(copy.text({.asCame = true}), json.text({.asCame = true}));
  EXPECT_EQ(copy, (Json{{"a", 4}, {"b", 6}, {"m", 7}, {"z", 5}}));
  // References stay while members come.
  Json& a = json["a"];
  for (int i = 0; i < 1000; ++i) json[std::to_string(i)] = i;
  EXPECT_EQ(&a, json.find("a"));
}

TEST(Json, WrongTypesAreErrorsThatSayBoth) {
  const Json json = {{"text", "x"}, {"number", 1.5}, {"list", {1, 2}}, {"negative", -1}};
  EXPECT_EQ(messageOf([&] { json["text"].number(); }),
            "a value in the JSON is a text, where a number is wanted");
  EXPECT_EQ(messageOf([&] { json["number"].string(); }),
            "a value in the JSON is a number, where a text is wanted");
  EXPECT_NE(messageOf([&] { json["number"].whole(); }), "no error");
  EXPECT_NE(messageOf([&] { json["negative"].whole(); }), "no error");
  EXPECT_NE(messageOf([&] { json["list"].boolean(); }), "no error");
  EXPECT_NE(messageOf([&] { json["list"].at("key"); }), "no error");
  EXPECT_NE(messageOf([&] { json.begin(); }), "no error");
  EXPECT_NE(messageOf([&] { json["text"].members(); }), "no error");
  EXPECT_EQ(messageOf([&] { json.at("none"); }), "the key \"none\" is missing in an object of the JSON");
  EXPECT_EQ(messageOf([&] { json["list"][2]; }), "a list in the JSON has only 2 entries");
  EXPECT_NE(messageOf([] { Json::array().back(); }), "no error");
  EXPECT_EQ(json["text"].find("key"), nullptr);
  EXPECT_EQ(Json(3.0).whole(), 3u);
  EXPECT_EQ(Json(-3.0).integer(), -3);
  EXPECT_NE(messageOf([] { Json(1e300).integer(); }), "no error");
  EXPECT_NE(messageOf([] { Json(std::numeric_limits<double>::quiet_NaN()).whole(); }), "no error");
  EXPECT_NE(messageOf([] { Json(UINT64_MAX).integer(); }), "no error");
}

TEST(Json, NumbersAreEqualWhereTheirValuesAre) {
  EXPECT_EQ(Json(3), Json(3u));
  EXPECT_EQ(Json(3), Json(3.0));
  EXPECT_FALSE(Json(-1) == Json(UINT64_MAX));
  EXPECT_FALSE(Json(1) == Json(true));
  EXPECT_FALSE(Json(1) == Json("1"));
  EXPECT_EQ(Json(), Json(nullptr));
  EXPECT_EQ((Json{{"a", 1}, {"b", 2.0}}), (Json{{"b", 2}, {"a", 1}}));
  EXPECT_FALSE((Json{1, 2}) == (Json{1, 2, 3}));
}

TEST(Json, DeepValuesAreDestroyedWithoutRecursion) {
  Json deep = deepValue(200'000);
  EXPECT_EQ(deep.size(), 3u);
  deep = nullptr;
  EXPECT_TRUE(deep.isNull());
}

}  // namespace sunder
