// Skimming a file tells the same about tokens and shapes as reading it, and reads much less.
#include <gtest/gtest.h>

#include <optional>

#include "kvtool/error.h"
#include "kvtool/open.h"
#include "kvtool/stored_prompt.h"
#include "support/made_dump.h"
#include "support/testdata.h"

namespace kvtool {
namespace {

Dump skimmed(std::shared_ptr<const Source> source) {
  OpenOptions options;
  options.skim = true;
  return open_dump(std::move(source), options);
}

void expect_same(const Dump& full, const Dump& skim, const std::string& name) {
  const StoredPrompt a = stored_prompt(full);
  const StoredPrompt b = stored_prompt(skim);
  EXPECT_EQ(full.tokens.ids, skim.tokens.ids) << name;
  EXPECT_EQ(a.shape, b.shape) << name;
  EXPECT_EQ(a.cells, b.cells) << name;
  EXPECT_EQ(a.kv_bytes_per_token, b.kv_bytes_per_token) << name;
  EXPECT_EQ(a.rewind.recurrent, b.rewind.recurrent) << name;
  EXPECT_EQ(a.rewind.oldest, b.rewind.oldest) << name;
  EXPECT_EQ(a.rewind.reach, b.rewind.reach) << name;
  EXPECT_EQ(a.rewind.checkpoints.size(), b.rewind.checkpoints.size()) << name;
}

TEST(Skim, SaysTheSameOfEveryGenuineFile) {
  std::size_t files = 0;
  for (const auto& path : test::dumps_below(test::testdata())) {
    std::optional<Dump> full;
    try {
      full = open_dump(path.string());
    } catch (const Error&) {
      EXPECT_THROW(static_cast<void>(skimmed(open_source(path.string()))), Error) << path;
      continue;
    }
    expect_same(*full, skimmed(open_source(path.string())), path.string());
    ++files;
  }
  EXPECT_GT(files, 100U);
}

TEST(Skim, ExtentsOfLayersPassedOverAreRight) {
  test::Shape shape;
  shape.container = Container::slot;
  shape.version = 4;
  shape.layers = 7;
  for (const bool transposed : {false, true}) {
    shape.v_transposed = transposed;
    const auto full = test::made_dump(shape);
    const Dump skim = skimmed(full->source);
    const Stream& a = full->state.memories[0].streams[0];
    const Stream& b = skim.state.memories[0].streams[0];
    ASSERT_EQ(a.layers.size(), b.layers.size());
    for (std::size_t l = 0; l < a.layers.size(); ++l) {
      EXPECT_EQ(a.layers[l].k.extent, b.layers[l].k.extent) << l;
      EXPECT_EQ(a.layers[l].v.extent, b.layers[l].v.extent) << l;
    }
  }
}

TEST(Skim, ReadsTokensAndHardlyMore) {
  test::Shape shape;
  shape.container = Container::slot;
  shape.version = 4;
  shape.cells = 8000;
  shape.layers = 32;
  shape.width = 1;
  const auto full = test::made_dump(shape);
  const std::uint64_t before = full->source->bytes_read();
  static_cast<void>(skimmed(full->source));
  EXPECT_LE(full->source->bytes_read() - before, 4 * 8000U + 8 * 1024U);
}

// Of a window also its cells, wherever they stand, and no header of every layer.
TEST(Skim, ReadsAWindowsCellsAndHardlyMore) {
  test::Shape shape;
  shape.container = Container::slot;
  shape.version = 4;
  shape.cells = 8000;
  shape.layers = 32;
  shape.width = 256;
  shape.window = 1000;
  const auto full = test::made_dump(shape);
  const std::uint64_t before = full->source->bytes_read();
  const Dump skim = skimmed(full->source);
  EXPECT_LE(full->source->bytes_read() - before, 4 * 8000U + 12 * 1000U + 8 * 1024U);
  expect_same(*full, skim, "window");
  EXPECT_EQ(stored_prompt(skim).rewind.oldest, 7000);
  const Stream& a = full->state.memories[1].streams[0];
  const Stream& b = skim.state.memories[1].streams[0];
  ASSERT_EQ(a.layers.size(), b.layers.size());
  for (std::size_t l = 0; l < a.layers.size(); ++l) {
    EXPECT_EQ(a.layers[l].k.extent, b.layers[l].k.extent) << l;
    EXPECT_EQ(a.layers[l].v.extent, b.layers[l].v.extent) << l;
  }
}

}  // namespace
}  // namespace kvtool
