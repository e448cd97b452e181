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

}  // namespace sunder
