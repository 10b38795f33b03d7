// What every bound of reading stands on: nothing is taken behind the end, and no sum or product of sizes
// wraps around.
#include "format/cursor.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>

#include "format/byte_cursor.h"
#include "kvtool/checked.h"
#include "kvtool/error.h"
#include "kvtool/source.h"

namespace kvtool::format {
namespace {

constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

TEST(Checked, SumsAndProductsUpToTheLargest) {
  EXPECT_EQ(checked_add(largest - 1, 1), largest);
  EXPECT_THROW(static_cast<void>(checked_add(largest, 1)), Error);
  EXPECT_EQ(checked_multiply(largest / 3, 3), largest);
  EXPECT_THROW(static_cast<void>(checked_multiply(largest / 3 + 1, 3)), Error);
}

// Bytes 4 to 16 of a file of 100.
class CursorTest : public ::testing::Test {
 protected:
  std::shared_ptr<Source> source_ = memory_source("made", std::vector<std::byte>(100));
  Window window_{*source_};
  Cursor cursor_{window_, Extent{4, 12}};
};

TEST_F(CursorTest, SkipsToTheEndAndNotBehindIt) {
  EXPECT_FALSE(cursor_.skip(13));
  EXPECT_EQ(cursor_.offset(), 4U);
  EXPECT_TRUE(cursor_.skip(12));
  EXPECT_EQ(cursor_.remaining(), 0U);
  EXPECT_FALSE(cursor_.skip(1));
  EXPECT_FALSE(cursor_.skip(largest));
  EXPECT_TRUE(cursor_.skip(0));
}

TEST_F(CursorTest, TakesTheLastWordAndNoPartOfOne) {
  std::uint64_t wide = 0;
  std::uint32_t word = 0;
  ASSERT_TRUE(cursor_.take(wide));
  EXPECT_FALSE(cursor_.take(wide));
  EXPECT_EQ(cursor_.offset(), 12U);
  EXPECT_TRUE(cursor_.take(word));
  EXPECT_FALSE(cursor_.take(word));
}

TEST(ByteCursor, TakesNothingBehindTheEnd) {
  const std::array<std::byte, 6> bytes{};
  for (const std::uint64_t size : {std::uint64_t{7}, std::uint64_t{10}, largest}) {
    ByteCursor cursor(bytes);
    EXPECT_TRUE(cursor.bytes("field", size).empty());
    EXPECT_FALSE(cursor.ok()) << size;
  }
  ByteCursor cursor(bytes);
  EXPECT_EQ(cursor.bytes("field", 6).size(), 6U);
  EXPECT_TRUE(cursor.ok());
}

TEST(ByteCursor, BelievesNoCountThatDoesNotFit) {
  const std::array<std::byte, 12> bytes = {std::byte{3}};
  ByteCursor sound(bytes);
  EXPECT_EQ(sound.count32("count", 2), 3U);
  EXPECT_TRUE(sound.ok());
  ByteCursor hostile(bytes);
  EXPECT_EQ(hostile.count32("count", 3), 0U);
  EXPECT_FALSE(hostile.ok());
}

}  // namespace
}  // namespace kvtool::format
