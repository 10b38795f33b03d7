// Figures of tensors whose values are written by the test.
#include "kvtool/stats.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kvtool/error.h"
#include "kvtool/map.h"
#include "kvtool/open.h"
#include "support/changed_source.h"
#include "support/testdata.h"

namespace kvtool {
namespace {

using test::ByteVector;

const MapRange& find(const std::vector<MapRange>& map, const std::string& label) {
  for (const MapRange& range : map)
    if (range.label == label) return range;
  throw std::runtime_error("no range " + label);
}

// K of layer 0 of a genuine f32 dump with values of ours: cell c, channel j holds f(c, j).
template <class F>
TensorStats stats_with(F&& value, const StatsOptions& options = {}) {
  const auto path = test::testdata("modern/b11118/llama-fa-f32.ggsn").string();
  const Dump original = open_dump(path);
  ByteVector bytes(original.source->size());
  original.source->read_at(0, bytes);
  const MapRange k = find(map_of(original), "memory[0].stream[0].layer[0].k_data");
  const std::size_t width = original.state.memories[0].streams[0].layers[0].k.row_bytes / 4;
  for (std::size_t i = 0; i < k.size / 4; ++i)
    test::poke<float>(bytes, k.offset + 4 * i, value(i / width, i % width));
  const Dump dump = open_dump(memory_source("made", bytes));
  return stats_of(dump, options).front();
}

TEST(Stats, FiguresOfAConstant) {
  const TensorStats s = stats_with([](std::size_t, std::size_t) { return -2.0F; });
  EXPECT_EQ(s.min, -2);
  EXPECT_EQ(s.max, -2);
  EXPECT_EQ(s.mean, -2);
  EXPECT_EQ(s.rms, 2);
  EXPECT_EQ(s.repeated_cells, s.cells - 1);
  EXPECT_EQ(s.zero_cells, 0U);
  EXPECT_TRUE(s.outliers.empty());
}

TEST(Stats, ZeroAndRepeatedCells) {
  const TensorStats s = stats_with([](std::size_t cell, std::size_t) {
    return cell < 3 ? 0.0F : static_cast<float>(cell);
  });
  EXPECT_EQ(s.zero_cells, 3U);
  EXPECT_EQ(s.repeated_cells, 2U);
}

TEST(Stats, NanAndInfinityAreCountedAndLeftOut) {
  const TensorStats s = stats_with([](std::size_t cell, std::size_t channel) {
    if (cell == 1 && channel == 0) return std::nanf("");
    if (cell == 2 && channel < 2) return HUGE_VALF;
    return 1.0F;
  });
  EXPECT_EQ(s.nan, 1U);
  EXPECT_EQ(s.infinite, 2U);
  EXPECT_EQ(s.max, 1);
  EXPECT_EQ(s.mean, 1);
}

TEST(Stats, OutlierChannel) {
  const TensorStats s = stats_with(
      [](std::size_t, std::size_t channel) { return channel == 7 ? 10.0F : 1.0F; });
  ASSERT_EQ(s.outliers.size(), 1U);
  EXPECT_EQ(s.outliers[0].channel, 7U);
  EXPECT_DOUBLE_EQ(s.outliers[0].times_median, 10);
}

TEST(Stats, RmsOfEachCell) {
  StatsOptions options;
  options.cell_rms = true;
  const TensorStats s =
      stats_with([](std::size_t cell, std::size_t) { return static_cast<float>(cell); }, options);
  ASSERT_EQ(s.cell_rms.size(), s.cells);
  for (std::size_t c = 0; c < s.cells; ++c)
    EXPECT_NEAR(s.cell_rms[c], static_cast<double>(c), 1e-9);
}

TEST(Stats, ACellWithNanShowsInTheDrawing) {
  StatsOptions options;
  options.cell_rms = true;
  const TensorStats s = stats_with(
      [](std::size_t cell, std::size_t channel) {
        return cell == 3 && channel == 5 ? std::nanf("") : 1.0F;
      },
      options);
  for (std::size_t c = 0; c < s.cells; ++c) EXPECT_EQ(std::isnan(s.cell_rms[c]), c == 3) << c;
}

TEST(Stats, AFileThatChangedWhileItWasReadGivesNoFigures) {
  Dump dump = open_dump(test::testdata("modern/b11118/llama-fa-f32.ggsn").string());
  dump.source = std::make_shared<test::ChangedSource>(dump.source);
  EXPECT_THROW(static_cast<void>(stats_of(dump)), Error);
}

// Rows and columns of the same values give the same figures.
TEST(Stats, OrientationDoesNotMatter) {
  const Dump rows = open_dump(test::testdata("modern/b11118/llama-multi-uni.ggsn").string());
  const Dump columns = open_dump(test::testdata("modern/b11118/llama-nofa-multi-uni.ggsn").string());
  const TensorStats a = stats_of(rows)[1];
  const TensorStats b = stats_of(columns)[1];
  EXPECT_TRUE(a.is_v && b.is_v);
  EXPECT_NEAR(a.rms, b.rms, 0.02 * a.rms);
  EXPECT_NEAR(a.min, b.min, 0.02);
}

}  // namespace
}  // namespace kvtool
