#include "sunder/record/tables.h"

#include <gtest/gtest.h>

namespace sunder::record {
namespace {

TEST(BodyTable, WhatIsSaidOfTheGroundComesBack) {
  BodyEntry body{"floor", 3, "oak", 1, 2.5, BodyKind::Static, 7};
  for (const std::optional<bool> said : {std::optional<bool>(), std::optional(false), std::optional(true)}) {
    body.ground = said;
    const BodyEntry back = decodeBody(encode(body, 4), "run.sunder");
    EXPECT_EQ(back.ground, said);
    EXPECT_EQ(back.name, "floor");
    EXPECT_EQ(back.born, 7u);
  }
}

// Recordings of before end with the frame of birth.
TEST(BodyTable, EntriesOfBeforeSayNothingOfTheGround) {
  std::string bytes = encode(BodyEntry{"floor", 3, "oak", 1, 2.5, BodyKind::Static, 7, true}, 4);
  bytes.pop_back();
  const BodyEntry back = decodeBody(bytes, "run.sunder");
  EXPECT_FALSE(back.ground.has_value());
  EXPECT_EQ(back.born, 7u);
}

}  // namespace
}  // namespace sunder::record
