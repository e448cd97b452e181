#include "sunder/base/bytes.h"
#include "sunder/base/error.h"
#include "sunder/world/part/bodies.h"
#include "sunder/world/part/ledger.h"

#include <gtest/gtest.h>

namespace sunder::world {
namespace {

std::string bytesOf(const BodyTable& table) {
  std::string bytes;
  ByteWriter out(bytes);
  table.save(out);
  return bytes;
}

void load(BodyTable& table, const std::string& bytes, uint64_t frame = 100) {
  ByteReader in(std::as_bytes(std::span(bytes.data(), bytes.size())), "state");
  table.load(in, 2, frame);
}

BodyTable started() {
  BodyTable table;
  OwnBodies first(table, 0), second(table, 1);
  const uint32_t mesh = first.addMesh();
  first.add(mesh);
  second.add(kNoIndex);
  first.add(mesh);
  return table;
}

TEST(BodyTable, NumbersAreForEverAndPartsKnowTheirOwn) {
  BodyTable table = started();
  OwnBodies rigid(table, 0);
  EXPECT_EQ(rigid.count(), 2u);
  EXPECT_EQ(rigid.number(1), 2u);
  EXPECT_EQ(rigid.local(2), 1u);
  EXPECT_FALSE(rigid.mine(1));
  const uint32_t piece = rigid.addPiece(2, 7, rigid.addMesh());
  const uint32_t smaller = rigid.addPiece(piece, 9, rigid.addMesh());
  EXPECT_EQ(piece, 3u);
  EXPECT_EQ(table[smaller].origin, 2u);
  EXPECT_EQ(table[smaller].parent, piece);
  EXPECT_EQ(table[smaller].local, 3u);
  EXPECT_EQ(table.mesh(table[smaller].mesh).local, 2u);
  BodyTable again = started();
  load(again, bytesOf(table));
  ASSERT_EQ(again.size(), table.size());
  for (uint32_t b = 0; b < table.size(); ++b) EXPECT_EQ(again[b], table[b]);
}

TEST(BodyTable, RowsThatCannotBeAreRefused) {
  const auto with = [](const std::function<void(BodyTable&)>& change) {
    BodyTable table = started();
    change(table);
    return bytesOf(table);
  };
  BodyTable table = started();
  EXPECT_NO_THROW(load(table, with([](BodyTable& t) { t.add(0, 0, 5, kNoIndex); })));
  table = started();
  EXPECT_THROW(load(table, with([](BodyTable& t) { t.add(0, 0, 101, kNoIndex); })),
               Error);  // later than the state
  table = started();
  EXPECT_THROW(load(table, with([](BodyTable& t) { t.add(1, 0, 5, kNoIndex); })), Error);  // of another part
  table = started();
  EXPECT_THROW(load(table, with([](BodyTable& t) { t.add(2, kNoIndex, 0, kNoIndex); })),
               Error);  // of no part
  table = started();
  EXPECT_THROW(load(table, with([](BodyTable& t) { t.add(1, 1, 5, 0); })), Error);  // shows another's mesh
  table = started();
  EXPECT_THROW(load(table, bytesOf(BodyTable())), Error);  // without the scene's bodies
  std::string cut = bytesOf(table);
  cut.pop_back();
  EXPECT_THROW(load(table, cut), Error);
}

TEST(Ledger, TheSameTextIsOneEntry) {
  Ledger ledger;
  ledger.add("slow", 2, 5, "a");
  ledger.add("slow", 3, 9, "b");
  ledger.add("never", 0, 9);
  ASSERT_EQ(ledger.entries().size(), 1u);
  EXPECT_EQ(ledger.entries()[0].count, 5u);
  EXPECT_EQ(ledger.entries()[0].firstFrame, 5u);
  EXPECT_EQ(ledger.entries()[0].example, "a");
}

}  // namespace
}  // namespace sunder::world
