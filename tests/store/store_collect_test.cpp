// gc takes away what nobody needs and nothing else; the budget evicts what was used least recently.
#include <gtest/gtest.h>

#include <fstream>

#include "kvtool/error.h"
#include "store/store_folder.h"

namespace kvtool::test {
namespace {

std::shared_ptr<const Dump> made(std::uint64_t seed, std::uint32_t cells = 128) {
  return made_dump(slot_shape(cells, 256, seed));
}

std::vector<std::string> names_of(Store& store) {
  std::vector<std::string> names;
  for (const StoreEntry& entry : store.entries()) names.push_back(entry.name);
  return names;
}

TEST(StoreCollect, DeletingOneLeavesTheOthersWhole) {
  const StoreFolder where;
  Store store = where.open();
  for (std::uint32_t i = 0; i < 6; ++i)
    store.put(std::to_string(i), *made(i / 2, 100 + 50 * (i % 2)));
  for (const std::uint32_t gone : {3U, 0U, 4U, 5U}) {
    store.remove(std::to_string(gone));
    store.gc();
    EXPECT_TRUE(store.verify().problems.empty()) << gone;
  }
  EXPECT_EQ(all_of(*store.get("1")), all_of(*made(0, 150)->source));
  EXPECT_EQ(all_of(*store.get("2")), all_of(*made(1, 100)->source));
}

TEST(StoreCollect, AnEmptiedStoreTakesNoBlocks) {
  const StoreFolder where;
  Store store = where.open();
  store.put("a", *made(1));
  store.put("b", *made(2));
  store.remove("a");
  store.remove("b");
  const GcReport report = store.gc();
  EXPECT_GT(report.dead_blocks, 0U);
  EXPECT_EQ(report.bytes_after, 0U);
  EXPECT_EQ(where.block_bytes(), 0U);
}

TEST(StoreCollect, ADryRunOnlyTells) {
  const StoreFolder where;
  Store store = where.open();
  store.put("a", *made(1));
  store.remove("a");
  GcOptions dry;
  dry.dry_run = true;
  const std::uint64_t before = where.block_bytes();
  const GcReport told = store.gc(dry);
  EXPECT_EQ(where.block_bytes(), before);
  const GcReport done = store.gc();
  EXPECT_EQ(told.bytes_after, done.bytes_after);
  EXPECT_EQ(told.dead_blocks, done.dead_blocks);
}

TEST(StoreCollect, FilesWithDeadBlocksAreWrittenAnew) {
  const StoreFolder where;
  Store store = where.open();
  store.put("grows", *made(1, 1000));
  store.put("short", *made(1, 64));
  const std::uint64_t before = where.block_bytes();
  store.remove("grows");  // of its bundles of 128 cells, only the first is needed any more
  store.gc();
  EXPECT_LT(where.block_bytes(), before / 3);
  EXPECT_EQ(all_of(*store.get("short")), all_of(*made(1, 64)->source));
}

TEST(StoreCollect, TheBudgetEvictsTheLeastRecentlyUsed) {
  const StoreFolder where;
  Store store = where.open();
  for (std::uint64_t i = 1; i <= 4; ++i) store.put(std::to_string(i), *made(i));
  const std::uint64_t one = store.sizes().live_bytes / 4;
  static_cast<void>(store.get("1"));  // now 2 is the oldest
  store.pin("2", true);
  GcOptions options;
  options.budget = 2 * one + one / 2;
  const GcReport report = store.gc(options);
  EXPECT_EQ(report.evicted, (std::vector<std::string>{"3", "4"}));
  EXPECT_EQ(names_of(store), (std::vector<std::string>{"1", "2"}));
  EXPECT_TRUE(store.verify().problems.empty());
}

TEST(StoreCollect, PinnedEntriesStayWhateverTheBudget) {
  const StoreFolder where;
  Store store = where.open();
  store.put("a", *made(1));
  store.pin("a", true);
  GcOptions options;
  options.budget = 0;
  EXPECT_TRUE(store.gc(options).evicted.empty());
  store.pin("a", false);
  EXPECT_EQ(store.gc(options).evicted.size(), 1U);
}

TEST(StoreCollect, PutKeepsTheBudget) {
  const StoreFolder where(1'000'000);
  Store store = where.open();
  std::size_t evicted = 0;
  for (std::uint64_t i = 1; i <= 12; ++i)
    evicted += store.put(std::to_string(i), *made(i)).evicted.size();
  EXPECT_GT(evicted, 0U);
  EXPECT_LE(store.sizes().live_bytes, 1'000'000U);
  EXPECT_EQ(names_of(store).size() + evicted, 12U);
  EXPECT_TRUE(store.verify().problems.empty());
}

TEST(StoreCollect, WaitsForReaders) {
  const StoreFolder where;
  Store store = where.open();
  store.put("a", *made(1));
  const auto source = store.get("a");
  store.remove("a");
  GcOptions impatient;
  impatient.patience = 0.05;
  EXPECT_THROW(static_cast<void>(store.gc(impatient)), Error);
  EXPECT_EQ(all_of(*source), all_of(*made(1)->source));
}

TEST(StoreCollect, WhatAKilledPutLeftIsTakenAway) {
  const StoreFolder where;
  Store store = where.open();
  store.put("a", *made(1));
  std::ofstream(where.path() + "/blocks/0123456789abcdef.new") << "half";
  std::ofstream(where.path() + "/blocks/0123456789abcdef.blocks") << "never named by the catalogue";
  EXPECT_TRUE(store.verify().problems.empty());
  store.gc();
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator(where.path() + "/blocks"))
    ++files;
  EXPECT_EQ(files, 1U);
}

}  // namespace
}  // namespace kvtool::test
