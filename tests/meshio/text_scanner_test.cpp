#include "sunder/meshio/text_scanner.h"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

namespace sunder::meshio {
using namespace geometry;

TEST(TextScanner, CountsLinesAndSkipsComments) {
  TextScanner in("one # gone\n\n  # all gone\r\n\ttwo 3 -4 5.5e-1\n", "a.txt");
  EXPECT_EQ(in.word(), "one");
  EXPECT_FALSE(in.lineHasMore());
  EXPECT_EQ(in.line(), 1u);
  EXPECT_EQ(in.peekWord(), "two");
  EXPECT_EQ(in.word(), "two");
  EXPECT_EQ(in.line(), 4u);
  EXPECT_EQ(in.readUint("n"), 3u);
  EXPECT_EQ(in.readInt("n"), -4);
  EXPECT_EQ(in.readCoordinate(), 0.55);
  EXPECT_EQ(in.word(), "");
  EXPECT_EQ(in.remaining(), 0u);
}

TEST(TextScanner, RestOfLineIsTrimmed) {
  TextScanner in("solid   a name \t\r\nnext", "a.txt", '\0');
  EXPECT_EQ(in.wordOnLine(), "solid");
  EXPECT_EQ(in.restOfLine(), "a name");
  EXPECT_EQ(in.word(), "next");
  EXPECT_EQ(in.line(), 2u);
}

TEST(TextScanner, SaysWhatItExpectedAndWhere) {
  TextScanner in("1\nabc\n", "a.txt");
  in.readUint("a count");
  try {
    in.readUint("a count");
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "a.txt:2: expected a count, found 'abc'");
  }
  TextScanner end("7", "a.txt");
  end.word();
  try {
    end.readDouble("a number");
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "a.txt:1: expected a number, found the end of the file");
  }
}

TEST(TextScanner, ShortensAndEscapesWords) {
  EXPECT_EQ(meshio::quoted("ab"), "'ab'");
  EXPECT_EQ(meshio::quoted(std::string("a\x01z", 3)), "'a\\x01z'");
  EXPECT_LE(meshio::quoted(std::string(1000, 'x')).size(), 50u);
}

TEST(TextScanner, RefusesWhatIsNotANumber) {
  for (const char* text : {"1.5.2", "1e", "--1", "0x10", "1,5", "+-1", "e5"}) {
    TextScanner in(text, "a.txt");
    EXPECT_THROW(in.readDouble("a number"), Error) << text;
  }
  for (const char* text : {"nan", "inf", "-inf", "1e999", "NaN", "-Infinity"}) {
    TextScanner in(text, "a.txt");
    try {
      in.readCoordinate();
      ADD_FAILURE() << text;
    } catch (const Error& e) {
      EXPECT_NE(e.message().find("coordinate is not finite"), std::string::npos) << e.what();
    }
  }
  for (const char* text : {"-1", "18446744073709551616", "1.0", "99999999999999999999999"}) {
    TextScanner in(text, "a.txt");
    EXPECT_THROW(in.readUint("a count"), Error) << text;
  }
  TextScanner largest("18446744073709551615 +1.5", "a.txt");
  EXPECT_EQ(largest.readUint("a count"), UINT64_MAX);
  EXPECT_EQ(largest.readDouble("a number"), 1.5);
}

TEST(TextScanner, RefusesBinaryContent) {
  const std::string zeros(100, '\0');
  TextScanner in(zeros, "a.txt");
  try {
    in.word();
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.message(), "this is not a text file");
  }
}

TEST(TextScanner, BoundsTheLineLength) {
  for (const char* start : {"", "#", "x ", "x"}) {
    const std::string text = start + std::string(300, start[0] == 'x' && !start[1] ? 'y' : ' ') + "end\n";
    TextScanner in(text, "a.txt", '#', 100);
    EXPECT_THROW(
        {
          while (!in.word().empty()) {
          }
        },
        Error)
        << start;
    TextScanner skip(text, "a.txt", '#', 100);
    EXPECT_THROW(skip.nextLine(), Error);
    TextScanner roomy(text, "a.txt", '#', 400);
    EXPECT_NO_THROW(while (!roomy.word().empty()){});
  }
}

TEST(TextScanner, CheckCountNamesTheNumbers) {
  EXPECT_NO_THROW(checkCount(10, 12, 120, "vertices"));
  EXPECT_NO_THROW(checkCount(0, 12, 0, "vertices"));
  try {
    checkCount(1000000000, 12, 57, "vertices");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(
        e.message(),
        "the header claims 1000000000 vertices, which take at least 12000000000 bytes, but only 57 are left");
  }
  EXPECT_THROW(checkCount(UINT64_MAX, 12, 57, "vertices"), Error);
}

}  // namespace sunder::meshio
