// Edits of sessions of before August 2024 and of ik_llama.cpp, judged by bytes and by payloads.
#include <gtest/gtest.h>

#include "kvtool/edit.h"
#include "kvtool/error.h"
#include "kvtool/sequences.h"
#include "support/contents.h"
#include "support/sound.h"
#include "support/testdata.h"

namespace kvtool::test {
namespace {

std::shared_ptr<const Dump> opened(const std::string& file) {
  return std::make_shared<const Dump>(open_dump(testdata(file).string()));
}

// Bytes of the data of one cell, and of its label in the list, by offset.
std::set<std::uint64_t> places_of(const Dump& dump, std::uint32_t cell) {
  const Stream& stream = dump.state.memories.front().streams.front();
  std::set<std::uint64_t> places;
  for (const Layer& layer : stream.layers) {
    for (std::uint64_t b = 0; b < layer.k.row_bytes; ++b)
      places.insert(layer.k.extent.offset + cell * layer.k.row_bytes + b);
    for (std::uint64_t channel = 0; channel < layer.v.width; ++channel)
      for (std::uint64_t b = 0; b < layer.v.element_bytes; ++b)
        places.insert(layer.v.extent.offset +
                      (channel * stream.cells.size() + cell) * layer.v.element_bytes + b);
  }
  const std::string label = "memory[0].stream[0].cell[" + std::to_string(cell) + "].";
  for (const MapRange& range : map_of(dump, true))
    if (range.label.rfind(label, 0) == 0)
      for (std::uint64_t b = 0; b < range.size; ++b) places.insert(range.offset + b);
  return places;
}

TEST(OldLayouts, SwapWithTransposedVTouchesTheTwoCellsOnly) {
  const auto dump = opened("history/v2-20231003-ac2219fef-frag.ggsn.zst");
  ASSERT_EQ(dump->dialect.version, 2U);
  ASSERT_EQ(dump->state.memories[0].streams[0].v_transposed, 1U);
  std::set<std::uint64_t> allowed = places_of(*dump, 6);
  allowed.merge(places_of(*dump, 8));
  const ByteVector before = bytes_of(*dump);
  const ByteVector after = rewritten(swap(dump, {0, 0, 6}, {0, 0, 8}));
  ASSERT_EQ(after.size(), before.size());
  std::size_t changed = 0;
  for (std::uint64_t i = 0; i < before.size(); ++i)
    if (before[i] != after[i]) {
      ++changed;
      EXPECT_TRUE(allowed.contains(i)) << "byte " << i;
    }
  EXPECT_GT(changed, 200U);  // two cells of 512 bytes of random numbers differ nearly everywhere
  EXPECT_EQ(rewritten(swap(applied(swap(dump, {0, 0, 6}, {0, 0, 8})), {0, 0, 6}, {0, 0, 8})), before);
}

// The contents without holes, which belong to nobody.
Contents used_contents(const Dump& dump) {
  Contents contents = contents_of(dump, dump.state.memories.front().streams.front());
  std::erase_if(contents, [](const auto& entry) { return entry.first.sequences.empty(); });
  return contents;
}

std::size_t holes_of(const Dump& dump) {
  const CellTable& cells = dump.state.memories.front().streams.front().cells;
  std::size_t holes = 0;
  for (std::size_t c = 0; c < cells.size(); ++c) holes += cells.sequences(c).empty() ? 1 : 0;
  return holes;
}

TEST(OldLayouts, DefragKeepsEveryCellAndShrinksTheFileByTheHoles) {
  std::size_t files = 0;
  for (const auto& path : dumps_below(testdata("history"))) {
    const std::string name = path.filename().string();
    if (name.find("-frag.") == std::string::npos || name[1] > '7') continue;
    SCOPED_TRACE(name);
    const auto dump = opened("history/" + name);
    const auto packed = applied(defrag(dump));
    EXPECT_EQ(used_contents(*packed), used_contents(*dump));
    EXPECT_EQ(holes_of(*packed), 0U);
    const Stream& stream = dump->state.memories.front().streams.front();
    std::uint64_t cell = dump->dialect.lists_all ? 0 : 12;  // the list of the whole context stays
    for (const Layer& layer : stream.layers) cell += layer.k.cell_bytes() + layer.v.cell_bytes();
    EXPECT_EQ(dump->source->size() - packed->source->size(), cell * holes_of(*dump));
    EXPECT_GT(holes_of(*dump), 0U);
    ++files;
  }
  EXPECT_GE(files, 8U);
}

TEST(OldLayouts, OrderThatAVersionWithoutCellsCannotHoldIsRefused) {
  for (const char* file : {"history/v0-20230428-1481a9cf2-plain.ggsn.zst",
                           "history/v1-20231003-48be797ff-plain.ggsn.zst"}) {
    const Plan plan = swap(opened(file), {0, 0, 3}, {0, 0, 4});
    try {
      static_cast<void>(rewritten(plan));
      ADD_FAILURE() << file;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::refused);
    }
  }
}

TEST(OldLayouts, SwapAndBackGivesTheFileOfEveryLayout) {
  for (const char* file :
       {"history/v3-20240102-32866c5ed-frag.ggsn.zst", "history/v4-20240113-df845cc98-frag.ggsn",
        "history/v4-20240303-87c2e8b27-frag.ggsn", "history/v6-20240719-be0cfb417-frag.ggsn",
        "history/v7-20240728-e54c35e4f-fa-kf16vq4-plain.ggsn",
        "history/v7-20240728-e54c35e4f-openelm-plain-seq0.ggsq", "server/ik_llama/qwen35.ggsq",
        "server/ik_llama/deepseek2-mla3.ggsn",
        "server/ik_llama-v3/llama-f16-no-fa.ggsq"}) {
    SCOPED_TRACE(file);
    const auto dump = opened(file);
    const auto once = applied(swap(dump, {0, 0, 2}, {0, 0, 7}));
    EXPECT_NE(bytes_of(*once), bytes_of(*dump));
    EXPECT_EQ(contents_of(*once), contents_of(*dump));
    EXPECT_EQ(rewritten(swap(once, {0, 0, 2}, {0, 0, 7})), bytes_of(*dump));
  }
}

// K and V all zero: as f32 and f16, or as f16 and f32, in the same number of bytes.
ByteVector without_evidence(const Dump& dump) {
  ByteVector bytes = bytes_of(dump);
  for (const Layer& layer : dump.state.memories.front().streams.front().layers)
    for (const Extent& extent : {layer.k.extent, layer.v.extent})
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(extent.offset), extent.size,
                  std::byte{0});
  return bytes;
}

std::shared_ptr<const Dump> reopened(const ByteVector& bytes, const OpenOptions& options = {}) {
  return std::make_shared<const Dump>(open_dump(memory_source("zeros", bytes), options));
}

TEST(OldLayouts, CellsDoNotMoveWhereTheTypesAreUncertain) {
  const auto genuine = opened("history/v6-20240430-9c67c2773-kf32-plain.ggsn");
  EXPECT_FALSE(genuine->state.types_uncertain);
  const ByteVector bytes = without_evidence(*genuine);
  const auto dump = reopened(bytes);
  ASSERT_TRUE(dump->state.types_uncertain);
  EXPECT_EQ(rewritten(Plan::of(dump)), bytes);
  const auto is_refused = [](const Plan& plan) {
    try {
      static_cast<void>(size_of(plan));
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("say --k-type and --v-type"), std::string::npos);
      return true;
    }
    return false;
  };
  EXPECT_TRUE(is_refused(swap(dump, {0, 0, 1}, {0, 0, 5})));
  EXPECT_TRUE(is_refused(truncate(dump, 5)));
  SequenceEdit labels = SequenceEdit::of(dump);
  rename_sequence(labels, 0, 3);
  EXPECT_FALSE(is_refused(labels.plan));
  OpenOptions said;
  said.k_type = ElementType::f32;
  said.v_type = ElementType::f16;
  const auto certain = reopened(bytes, said);
  EXPECT_FALSE(certain->state.types_uncertain);
  EXPECT_EQ(rewritten(swap(certain, {0, 0, 1}, {0, 0, 5})).size(), bytes.size());
}

}  // namespace
}  // namespace kvtool::test
