#include "compare/same_bytes.h"

#include <gtest/gtest.h>

#include <vector>

namespace kvtool {
namespace {

std::vector<std::byte> zeros(std::size_t size) { return std::vector<std::byte>(size); }

bool same(std::vector<std::byte> a, std::vector<std::byte> b, unsigned threads) {
  return same_bytes(*memory_source("a", std::move(a)), *memory_source("b", std::move(b)), threads);
}

class SameBytesTest : public testing::TestWithParam<unsigned> {};

TEST_P(SameBytesTest, EqualFilesAreEqual) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{20'000'000}})
    EXPECT_TRUE(same(zeros(size), zeros(size), GetParam())) << size;
}

TEST_P(SameBytesTest, ALongerFileIsAnother) { EXPECT_FALSE(same(zeros(10), zeros(11), GetParam())); }

// Around the edges of what is read at once, and at both ends.
TEST_P(SameBytesTest, OneByteIsEnough) {
  constexpr std::size_t size = 20'000'000;
  constexpr std::size_t mebi = std::size_t{1} << 20U;
  for (const std::size_t at : {std::size_t{0}, mebi / 4 - 1, mebi / 4, 8 * mebi - 1, 8 * mebi,
                               size - 1}) {
    auto other = zeros(size);
    other[at] = std::byte{1};
    EXPECT_FALSE(same(zeros(size), std::move(other), GetParam())) << at;
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, SameBytesTest, testing::Values(1U, 4U));

}  // namespace
}  // namespace kvtool
