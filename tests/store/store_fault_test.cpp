// Every call to the disk that putting and collecting make fails once: what was there stays.
#include <gtest/gtest.h>

#include "io/failing_disk.h"
#include "kvtool/error.h"
#include "store/collect.h"
#include "store/store_parts.h"

namespace kvtool::test {
namespace {

std::shared_ptr<const Dump> made(std::uint32_t cells, std::uint64_t seed = 1) {
  return made_dump(slot_shape(cells, 128, seed));
}

bool has_litter(const StoreParts& parts) {
  for (const auto& entry : std::filesystem::directory_iterator(parts.blocks()))
    if (entry.path().extension() == ".new") return true;
  return false;
}

// Calls without which nothing is known to be on disk.
bool must_be_told(const std::string& call) {
  return call == "write" || call == "fsync" || call == "rename";
}

TEST(StoreFault, APutThatFailsLeavesWhatWasThere) {
  int call = 1;
  for (;; ++call) {
    StoreParts parts;
    parts.put("old", *made(40));
    FailingDisk disk;
    disk.failing_call = call;
    disk.error = ENOSPC;
    bool threw = false;
    try {
      parts.put("new", *made(100), disk);
    } catch (const Error& error) {
      threw = true;
      EXPECT_EQ(error.kind(), ErrorKind::io) << disk.failed();
    }
    EXPECT_TRUE(threw || !must_be_told(disk.failed())) << disk.failed();
    EXPECT_EQ(parts.get("old"), all_of(*made(40)->source)) << disk.failed();
    EXPECT_FALSE(has_litter(parts)) << disk.failed();
    EXPECT_EQ(parts.names().size(), threw ? 1U : 2U) << disk.failed();
    if (!threw) {
      EXPECT_EQ(parts.get("new"), all_of(*made(100)->source)) << disk.failed();
    }
    if (disk.failed().empty()) break;
  }
  EXPECT_GE(call, 5);  // open, write, fsync, close, rename, and those of the folder
}

TEST(StoreFault, ShortReadsAndWritesAreNoFaults) {
  StoreParts parts;
  FailingDisk disk;
  disk.stingy = true;
  parts.put("a", *made(40), disk);
  parts.put("b", *made(100), disk);
  EXPECT_EQ(parts.get("a"), all_of(*made(40)->source));
  EXPECT_EQ(parts.get("b"), all_of(*made(100)->source));
}

TEST(StoreFault, ACollectionThatFailsLosesNothing) {
  int call = 1;
  for (;; ++call) {
    StoreParts parts;
    parts.put("long", *made(1000));
    parts.put("short", *made(64));
    store::SqliteCatalogue catalogue(parts.database());
    catalogue.remove("long");
    FailingDisk disk;
    disk.failing_call = call;
    disk.error = EIO;
    store::BlockFiles storage(disk, parts.blocks());
    try {
      store::collect(catalogue, storage, std::nullopt, {}, false);
    } catch (const Error&) {
    }
    EXPECT_EQ(parts.get("short"), all_of(*made(64)->source)) << disk.failed();
    if (disk.failed().empty()) break;
    store::BlockFiles sound(Disk::system(), parts.blocks());
    store::collect(catalogue, sound, std::nullopt, {}, false);
    EXPECT_EQ(parts.get("short"), all_of(*made(64)->source)) << disk.failed();
    // The metadata of "short", and what was moved out of the file of "long".
    EXPECT_EQ(sound.files().size(), 2U) << disk.failed();
  }
  EXPECT_GE(call, 5);
}

}  // namespace
}  // namespace kvtool::test
