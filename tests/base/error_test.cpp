#include "sunder/base/error.h"

#include <gtest/gtest.h>

namespace sunder {

TEST(Error, PrintsFilePlaceMessageAndHint) {
  const Error error = Error(ErrorKind::Format, "face refers to vertex 9, but there are only 8")
                          .inFile("box.obj")
                          .atLine(12)
                          .hint("indices in OBJ files start at 1");
  EXPECT_STREQ(error.what(),
               "box.obj:12: face refers to vertex 9, but there are only 8 (indices in OBJ files start at 1)");
}

TEST(Error, KeepsTheInnermostContext) {
  Error error(ErrorKind::Format, "bad");
  error.inFile("inner.obj").atLine(3).hint("first");
  error.inFile("outer.json").atPointer("/shapes/0").hint("second");
  EXPECT_EQ(error.file(), "inner.obj");
  EXPECT_EQ(error.place(), "3");
  EXPECT_EQ(error.hint(), "first");
}

TEST(Error, ExitCodesTellBadInputFromFailedJobs) {
  EXPECT_EQ(exitCode(ErrorKind::Usage), 2);
  EXPECT_EQ(exitCode(ErrorKind::Format), 2);
  EXPECT_EQ(exitCode(ErrorKind::Missing), 2);
  EXPECT_EQ(exitCode(ErrorKind::Write), 1);
  EXPECT_EQ(exitCode(ErrorKind::Numerical), 1);
}

TEST(ErrorList, TellsAllErrorsEachOnce) {
  ErrorList list;
  EXPECT_NO_THROW(list.throwIfAny());
  list.add(Error(ErrorKind::Format, "a is bad").inFile("scene.json").atLine(3));
  list.add(Error(ErrorKind::Usage, "b is bad").inFile("scene.json").atLine(9));
  list.add(Error(ErrorKind::Format, "a is bad").inFile("scene.json").atLine(3));
  try {
    list.throwIfAny();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), std::string("scene.json:3: a is bad"));
    ASSERT_EQ(error.others().size(), 1u);
    EXPECT_EQ(error.others()[0].what(), std::string("scene.json:9: b is bad"));
  }
}

TEST(ErrorList, CountsTheRestOfVeryMany) {
  ErrorList list;
  for (int i = 0; i < 100; ++i) list.add(Error(ErrorKind::Format, "bad").inFile("x").atLine(uint64_t(i)));
  try {
    list.throwIfAny();
    FAIL();
  } catch (const Error& error) {
    ASSERT_EQ(error.others().size(), ErrorList::kMost);
    EXPECT_EQ(error.others().back().what(), std::string("x: and 80 more errors"));
  }
}

// Each takes a look for its line in the file: thousands would take minutes in a large one.
TEST(ErrorList, GivesUpWhereErrorsAreBeyondCounting) {
  ErrorList list;
  const auto bad = [](int i) { return Error(ErrorKind::Format, "bad").inFile("x").atLine(uint64_t(i)); };
  for (int i = 0; i < 100; ++i) list.add(bad(i));
  try {
    list.add(bad(100));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.others().back().what(), std::string("x: and more than 80 more errors"));
  }
}

}  // namespace sunder
