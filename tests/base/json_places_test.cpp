#include "sunder/base/json_places.h"

#include "sunder/base/json_parse.h"
#include "sunder/base/json_pointer.h"

#include <string>

#include <gtest/gtest.h>

namespace sunder {

TEST(JsonPlaces, LineOfAPointer) {
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
  EXPECT_NO_THROW(parseJson(text, "x"));
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

TEST(JsonPlaces, PointersLeadToValues) {
  const Json json = readJson(R"({"bodies": [{"id": "a"}, {"id": "b"}], "a/b": {"m~n": 1, "": 2}})");
  EXPECT_EQ(findAt(json, ""), &json);
  EXPECT_EQ(*findAt(json, "/bodies/1/id"), "b");
  EXPECT_EQ(*findAt(json, "/a~1b/m~0n"), 1);
  EXPECT_EQ(*findAt(json, "/a~1b/"), 2);
  for (const char* nowhere :
       {"/bodies/2", "/bodies/x", "/bodies/-1", "/bodies/", "/x", "/bodies/0/id/x", "/a"})
    EXPECT_EQ(findAt(json, nowhere), nullptr) << nowhere;
  EXPECT_EQ(jsonPointerStep("a/b~c"), "/a~1b~0c");
  EXPECT_EQ(splitJsonPointer(jsonPointerStep("a/b~c") + jsonPointerStep("")),
            (std::vector<std::string>{"a/b~c", ""}));
}

}  // namespace sunder
