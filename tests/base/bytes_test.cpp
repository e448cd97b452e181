#include "sunder/base/bytes.h"

#include "sunder/base/error.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace sunder {

namespace {

std::span<const std::byte> asBytes(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

template <class Function>
std::string formatErrorOf(Function function) {
  try {
    function();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Format);
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST(Bytes, BothOrdersByHand) {
  const std::string data("\x01\x02\x03\x04\x3f\x80\x00\x00", 8);
  ByteReader little(asBytes(data), "x"), big(asBytes(data), "x", ByteOrder::Big);
  EXPECT_EQ(little.u32("a"), 0x04030201u);
  EXPECT_EQ(big.u32("a"), 0x01020304u);
  EXPECT_EQ(big.f32("b"), 1.0f);
  EXPECT_EQ(little.u16("b"), 0x803fu);
  EXPECT_EQ(little.i16("c"), 0);
}

TEST(Bytes, RoundTripOfEveryTypeInBothOrders) {
  for (ByteOrder order : {ByteOrder::Little, ByteOrder::Big}) {
    std::string out;
    ByteWriter w(out, order);
    w.u8(200), w.i8(-100), w.u16(60'000), w.i16(-30'000), w.u32(4'000'000'000u), w.i32(-2'000'000'000);
    w.u64(0x0123456789abcdefull), w.i64(std::numeric_limits<int64_t>::min());
    w.f32(-0.1f), w.f64(1e-300), w.string("magic"), w.zeros(3);
    const std::vector<uint32_t> array{1, 2, 0xffffffff};
    w.writeArray(std::span(array));
    const std::vector<double> none;
    w.writeArray(std::span(none));
    EXPECT_EQ(w.size(), 1u + 1 + 2 + 2 + 4 + 4 + 8 + 8 + 4 + 8 + 5 + 3 + 12);

    ByteReader r(asBytes(out), "x", order);
    EXPECT_EQ(r.u8("v"), 200);
    EXPECT_EQ(r.i8("v"), -100);
    EXPECT_EQ(r.u16("v"), 60'000);
    EXPECT_EQ(r.i16("v"), -30'000);
    EXPECT_EQ(r.u32("v"), 4'000'000'000u);
    EXPECT_EQ(r.i32("v"), -2'000'000'000);
    EXPECT_EQ(r.u64("v"), 0x0123456789abcdefull);
    EXPECT_EQ(r.i64("v"), std::numeric_limits<int64_t>::min());
    EXPECT_EQ(r.f32("v"), -0.1f);
    EXPECT_EQ(r.f64("v"), 1e-300);
    EXPECT_EQ(r.string(5, "v"), "magic");
    r.skip(3, "padding");
    std::vector<uint32_t> back(3);
    r.readArray(std::span(back), "v");
    EXPECT_EQ(back, array);
    EXPECT_TRUE(r.atEnd());
  }
}

TEST(Bytes, ReadPastTheEndSaysWhereAndWhat) {
  const std::string data = "abcdef";
  EXPECT_EQ(formatErrorOf([&] {
              ByteReader r(asBytes(data), "part.stl", ByteOrder::Little, 80);
              r.u32("header");
              r.u32("triangle count");
            }),
            "part.stl:byte 84: the file ends inside triangle count (needs 4 bytes, 2 left)");
  EXPECT_EQ(formatErrorOf([&] { ByteReader(asBytes(data), "a").skip(7, "padding"); }),
            "a:byte 0: the file ends inside padding (needs 7 bytes, 6 left)");
  EXPECT_EQ(formatErrorOf([&] { ByteReader(asBytes(data), "a").seek(9, "the index"); }),
            "a:byte 0: the index would be at byte 9, but the file has only 6 bytes");
}

TEST(Bytes, ANumberFromAnyPlaceInEitherOrder) {
  const std::string data = std::string("x\x01\x02\x03\x04", 5);
  const std::byte* at = asBytes(data).data() + 1;
  const bool little = kNativeOrder == ByteOrder::Little;
  EXPECT_EQ(loadValue<uint32_t>(at, !little), 0x04030201u);
  EXPECT_EQ(loadValue<uint32_t>(at, little), 0x01020304u);
  ByteReader r(asBytes(data), "a", ByteOrder::Big, 100);
  r.skip(2, "x");
  EXPECT_EQ(r.fileOffset(), 102u);
  EXPECT_STREQ(r.error("odd").hint("look").what(), "a:byte 102: odd (look)");
}

TEST(Bytes, CountsThatOverflowAreRefused) {
  const std::string data = "abcdefgh";
  ByteReader r(asBytes(data), "a");
  EXPECT_NO_THROW(r.need(2, 4, "x"));
  EXPECT_NO_THROW(r.need(0, 4, "x"));
  EXPECT_THROW(r.need(3, 4, "x"), Error);
  EXPECT_THROW(r.need(std::numeric_limits<uint64_t>::max() / 4 + 1, 4, "x"),
               Error);  // times 4 is 0 modulo 2^64
  EXPECT_THROW(r.skip(std::numeric_limits<size_t>::max(), "x"), Error);
  EXPECT_EQ(r.position(), 0u);
  r.seek(8, "end");
  EXPECT_TRUE(r.atEnd());
  EXPECT_EQ(r.string(0, "nothing"), "");
}

TEST(Bytes, EveryTruncationThrowsAndNothingIsReadBeyond) {
  std::string out;
  ByteWriter w(out, ByteOrder::Big);
  w.u16(7), w.f64(2.5), w.u32(3), w.string("xyz");
  for (size_t length = 0; length <= out.size(); ++length) {
    const std::vector<std::byte> copy(asBytes(out).begin(),
                                      asBytes(out).begin() + static_cast<std::ptrdiff_t>(length));
    auto readAll = [&] {
      ByteReader r(copy, "cut", ByteOrder::Big);
      r.u16("a"), r.f64("b");
      return r.string(r.u32("length"), "name");
    };
    if (length == out.size()) {
      EXPECT_EQ(readAll(), "xyz");
    } else {
      EXPECT_THROW(readAll(), Error);
    }
  }
}

TEST(Bytes, NumbersOfStatesAreBounded) {
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               infinite = std::numeric_limits<double>::infinity();
  const auto passes = [](double value) {
    std::string out;
    ByteWriter w(out);
    w.f64(value), w.f32(float(value));
    ByteReader r(asBytes(out), "state");
    size_t refused = 0;
    try {
      EXPECT_EQ(r.boundedF64("a speed"), value);
    } catch (const Error& error) {
      EXPECT_EQ(error.message().substr(0, 10), "a speed is");
      ++refused;
    }
    try {
      EXPECT_EQ(r.boundedF32("a speed"), float(value));
    } catch (const Error&) {
      ++refused;
    }
    EXPECT_TRUE(r.atEnd());
    return refused == 0 ? 1 : refused == 2 ? 0 : -1;
  };
  for (const double value : {0.0, -0.0, 1.0, -2.5, 1e29, -1e29}) EXPECT_EQ(passes(value), 1) << value;
  for (const double value : {nan, infinite, -infinite, 2e30, -2e30, 1e38})
    EXPECT_EQ(passes(value), 0) << value;
}

TEST(Bytes, OverwritePatchesEarlierNumbers) {
  std::string out;
  ByteWriter w(out, ByteOrder::Big);
  w.u32(0);
  w.string("body");
  w.overwrite(0, uint32_t(w.size()));
  EXPECT_EQ(out, std::string("\0\0\0\x08"
                             "body",
                             8));
}

}  // namespace sunder
