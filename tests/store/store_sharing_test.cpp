// What several files have in common is kept once.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kvtool/edit.h"
#include "kvtool/open.h"
#include "kvtool/pack.h"
#include "kvtool/write.h"
#include "store/store_folder.h"
#include "store/store_parts.h"
#include "support/made_dump.h"

namespace kvtool::test {
namespace {

Shape chat(std::uint32_t cells, std::uint64_t seed = 1) {
  Shape shape = slot_shape(cells, 256, seed);
  shape.layers = 4;
  return shape;
}

std::uint64_t packed_size(const Dump& dump) {
  MemorySink sink;
  pack(dump, sink);
  return sink.bytes().size();
}

TEST(StoreSharing, AGrowingChatCostsItsNewTokens) {
  const StoreFolder where;
  Store store = where.open();
  constexpr std::uint32_t turns = 33;
  constexpr std::uint32_t tokens_a_turn = 77;
  std::uint64_t last = 0;
  for (std::uint32_t turn = 1; turn <= turns; ++turn) {
    const auto dump = made_dump(chat(turn * tokens_a_turn));
    store.put("turn " + std::to_string(turn), *dump);
    if (turn == turns) last = packed_size(*dump);
  }
  const StoreSizes before = store.sizes();
  store.gc();
  const StoreSizes after = store.sizes();
  RecordProperty("packed", std::to_string(last));
  RecordProperty("before_gc", std::to_string(before.block_bytes));
  RecordProperty("after_gc", std::to_string(after.block_bytes));
  EXPECT_LE(static_cast<double>(before.block_bytes), 1.2 * static_cast<double>(last));
  EXPECT_LE(after.block_bytes, before.block_bytes);
  for (std::uint32_t turn = 1; turn <= turns; ++turn)
    EXPECT_EQ(all_of(*store.get("turn " + std::to_string(turn))),
              all_of(*made_dump(chat(turn * tokens_a_turn))->source));
}

TEST(StoreSharing, AShorterSaveIsInsideOfALongerOne) {
  const StoreFolder where;
  Store store = where.open();
  store.put("long", *made_dump(chat(300)));
  const PutReport report = store.put("short", *made_dump(chat(217)));
  // What is new: small pieces of metadata, and no cell.
  EXPECT_LT(report.new_bytes, 20'000U);
  EXPECT_EQ(all_of(*store.get("short")), all_of(*made_dump(chat(217))->source));
}

TEST(StoreSharing, TheSameFileTwiceCostsNothing) {
  const StoreFolder where;
  Store store = where.open();
  store.put("a", *made_dump(chat(100)));
  const PutReport report = store.put("b", *made_dump(chat(100)));
  EXPECT_EQ(report.new_blocks, 0U);
  EXPECT_EQ(report.added_bytes, 0U);
  store.remove("a");
  store.gc();
  EXPECT_EQ(all_of(*store.get("b")), all_of(*made_dump(chat(100))->source));
}

TEST(StoreSharing, AnotherOrientationOfVIsTheSameContent) {
  const StoreFolder where;
  Store store = where.open();
  Shape turned = chat(256);
  turned.v_transposed = true;
  const std::uint64_t rows = store.put("rows", *made_dump(chat(256))).new_bytes;
  const PutReport report = store.put("transposed", *made_dump(turned));
  EXPECT_LT(report.new_bytes, rows / 20);
  EXPECT_EQ(all_of(*store.get("transposed")), all_of(*made_dump(turned)->source));
}

// Cells of the first `shared` positions from one chat and the rest from another.
std::shared_ptr<const Dump> user(std::uint32_t shared, std::uint32_t own, std::uint64_t seed) {
  const auto base = made_dump(chat(shared + own));
  const auto other = made_dump(chat(shared + own, seed));
  Plan plan = Plan::of(base);
  plan.sources.push_back(other);
  Stream& stream = plan.stream(0, 0);
  stream.origin = {{0, 0, 0, shared, 0}, {1, 0, shared, own, 0}};
  MemorySink sink;
  write_plan(plan, sink);
  return std::make_shared<const Dump>(open_dump(memory_source("user", sink.bytes())));
}

TEST(StoreSharing, ASystemPromptOfManyUsersIsThereOnce) {
  const StoreFolder where;
  Store store = where.open();
  constexpr std::uint32_t shared = 640;
  constexpr std::uint32_t own = 32;
  constexpr std::uint64_t users = 100;
  std::uint64_t first = 0;
  std::uint64_t others = 0;
  for (std::uint64_t u = 0; u < users; ++u) {
    const PutReport report = store.put("user " + std::to_string(u), *user(shared, own, 100 + u));
    (u == 0 ? first : others) += report.new_bytes;
  }
  // Cells of 4 layers, K and V of 256 f16 each; and a few kilobytes of metadata for each user.
  constexpr std::uint64_t cell_bytes = 4 * 2 * 256 * 2;
  EXPECT_LE(others, (users - 1) * (own * cell_bytes + 8192));
  EXPECT_GE(first, (shared + own) * cell_bytes);
}

// With a hash that calls all blocks of one size alike, only the comparison keeps them apart.
TEST(StoreSharing, EqualNamesOfDifferentBlocks) {
  StoreParts parts;
  const auto alike = [](std::span<const std::byte>) { return store::BlockName{42, 42}; };
  const auto put = [&](const std::string& name, std::uint64_t seed) {
    return parts.put(name, *made_dump(chat(100, seed)), Disk::system(), alike);
  };
  put("a", 1);
  put("b", 2);
  EXPECT_EQ(put("c", 1).new_blocks, 0U);
  EXPECT_EQ(parts.get("a"), all_of(*made_dump(chat(100, 1))->source));
  EXPECT_EQ(parts.get("b"), all_of(*made_dump(chat(100, 2))->source));
  EXPECT_EQ(parts.get("c"), all_of(*made_dump(chat(100, 1))->source));
}

}  // namespace
}  // namespace kvtool::test
