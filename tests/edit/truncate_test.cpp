// Cuts: what is left is exactly what was there before the cut, and what cannot be cut is refused
// with the place where it can.
#include <gtest/gtest.h>

#include "kvtool/edit.h"
#include "kvtool/error.h"
#include "kvtool/open.h"
#include "kvtool/write.h"
#include "support/made_dump.h"
#include "support/payload.h"
#include "support/testdata.h"

namespace kvtool {
namespace {

using DumpPtr = std::shared_ptr<const Dump>;

DumpPtr genuine(const std::string& file) {
  return std::make_shared<const Dump>(open_dump(test::testdata(file).string()));
}

DumpPtr written(const Plan& plan) {
  MemorySink sink;
  write_plan(plan, sink);
  EXPECT_EQ(sink.bytes().size(), size_of(plan));
  return std::make_shared<const Dump>(open_dump(memory_source("written", sink.bytes())));
}

DumpPtr cut(const DumpPtr& dump, std::uint64_t tokens, std::uint32_t window = 0) {
  return written(truncate(dump, tokens, {window}));
}

// The message of the refusal.
std::string refusal(const DumpPtr& dump, std::uint64_t tokens, std::uint32_t window = 0) {
  try {
    static_cast<void>(truncate(dump, tokens, {window}));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::refused);
    return error.message();
  }
  return {};
}

// Every cell of `part` is a cell of `whole` with the same labels and the same bytes, in the same
// order, and all of them that lie before `position` are there.
void expect_cells_before(const Dump& whole, const Dump& part, Position position) {
  ASSERT_EQ(whole.state.memories.size(), part.state.memories.size());
  for (std::size_t m = 0; m < part.state.memories.size(); ++m) {
    const Stream& a = whole.state.memories[m].streams.front();
    const Stream& b = part.state.memories[m].streams.front();
    std::size_t at = 0;
    for (std::size_t c = 0; c < a.cells.size(); ++c) {
      if (a.cells.position(c) >= position) continue;
      ASSERT_LT(at, b.cells.size());
      EXPECT_EQ(a.cells.position(c), b.cells.position(at));
      EXPECT_EQ(a.cells.extra(c), b.cells.extra(at));
      for (std::size_t l = 0; l < a.layers.size(); ++l) {
        EXPECT_EQ(test::cell_payload(whole, a, a.layers[l].k, c),
                  test::cell_payload(part, b, b.layers[l].k, at));
        EXPECT_EQ(test::cell_payload(whole, a, a.layers[l].v, c),
                  test::cell_payload(part, b, b.layers[l].v, at));
      }
      ++at;
    }
    EXPECT_EQ(at, b.cells.size());
  }
}

test::Shape slot(std::uint32_t cells) {
  test::Shape shape;
  shape.container = Container::slot;
  shape.version = 4;
  shape.cells = cells;
  return shape;
}

TEST(Truncate, EveryLengthOfAPlainCache) {
  for (const bool transposed : {false, true})
    for (const test::CellOrder order : {test::CellOrder::tidy, test::CellOrder::random}) {
      test::Shape shape = slot(9);
      shape.v_transposed = transposed;
      shape.order = order;
      const DumpPtr dump = test::made_dump(shape);
      for (std::uint32_t n = 1; n <= 9; ++n) {
        const DumpPtr part = cut(dump, n);
        EXPECT_EQ(part->tokens.ids.size(), n);
        expect_cells_before(*dump, *part, static_cast<Position>(n));
      }
      const DumpPtr none = cut(dump, 0);
      EXPECT_TRUE(none->tokens.ids.empty());
      EXPECT_TRUE(none->state.memories[0].streams[0].cells.empty());
    }
}

TEST(Truncate, AllTokensIsTheFileItself) {
  for (const char* file : {"server/b0.7.0/chat-turn2.ggsq", "server/b0.7.0/gemma3.ggsq",
                           "server/b0.7.0/lfm2.ggsq", "server/b0.7.0/llama-draft.ggsq",
                           "modern/b11118/qwen2vl-slot-image.slot0.ggsq"}) {
    const DumpPtr dump = genuine(file);
    MemorySink sink;
    write_plan(truncate(dump, dump->tokens.ids.size()), sink);
    EXPECT_EQ(sink.bytes(), test::read_file(test::testdata(file))) << file;
  }
}

TEST(Truncate, MoreTokensThanThereAre) {
  const DumpPtr dump = test::made_dump(slot(9));
  try {
    static_cast<void>(truncate(dump, 10));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
  }
}

// The server wrote the third turn after the second: cut back to what both share, they are the same
// but for rounding; the tokens are equal, and so are the labels.
TEST(Truncate, AServersChatBackToASharedBeginning) {
  const DumpPtr second = cut(genuine("server/b0.7.0/grow-turn2.ggsq"), 28);
  const DumpPtr first = genuine("server/b0.7.0/grow-turn1.ggsq");
  EXPECT_EQ(second->tokens.words, first->tokens.words);
  EXPECT_EQ(second->state.memories[0].streams[0].cells, first->state.memories[0].streams[0].cells);
  EXPECT_EQ(second->source->size(), first->source->size());
}

TEST(Truncate, AroundAnImage) {
  const DumpPtr dump = genuine("modern/b11118/qwen2vl-slot-image.slot0.ggsq");
  const MediaSpan image = dump->tokens.media.at(0);
  const std::uint64_t end = std::uint64_t{image.start} + image.tokens;
  expect_cells_before(*dump, *cut(dump, image.start), static_cast<Position>(image.start));
  const DumpPtr with_image = cut(dump, end);
  EXPECT_EQ(with_image->tokens.media.size(), 1U);
  EXPECT_EQ(with_image->state.memories[0].streams[0].cells.size(), end);
  expect_cells_before(*dump, *with_image, static_cast<Position>(image.start + image.positions));
  EXPECT_NE(refusal(dump, image.start + 1U).find("goes through an image"), std::string::npos);
}

// Window of 128 positions, cells 40 to 199: a cut at 168 leaves what position 168 looks back to.
TEST(Truncate, WindowThatIsLongEnough) {
  test::Shape shape = slot(200);
  shape.window = 160;
  const DumpPtr dump = test::made_dump(shape);
  expect_cells_before(*dump, *cut(dump, 168, 128), 168);
  const std::string why = refusal(dump, 167, 128);
  EXPECT_NE(why.find("can be cut is 168"), std::string::npos) << why;
}

TEST(Truncate, WindowThatHoldsNoMoreThanItself) {
  test::Shape shape = slot(200);
  shape.window = 128;
  const DumpPtr dump = test::made_dump(shape);
  for (const std::uint64_t n : {199U, 150U, 1U}) {
    EXPECT_NE(refusal(dump, n, 128).find("can be cut is 200"), std::string::npos) << n;
    EXPECT_NE(refusal(dump, n).find("can be cut is 200"), std::string::npos) << n;
  }
}

TEST(Truncate, WindowThatReachesBackToTheStart) {
  test::Shape shape = slot(20);
  shape.window = 20;
  const DumpPtr dump = test::made_dump(shape);
  expect_cells_before(*dump, *cut(dump, 7), 7);
}

TEST(Truncate, RecurrentStateIsNotCut) {
  const DumpPtr dump = genuine("server/b0.7.0/lfm2.ggsq");
  const std::string why = refusal(dump, 33);
  EXPECT_NE(why.find("stands for all 34 positions"), std::string::npos) << why;
  EXPECT_NE(why.find("checkpoints at 25"), std::string::npos) << why;
}

// 59 tokens, checkpoints at 25, 29 and 50 (its sidecar). Made cutable by taking the window out.
TEST(Truncate, CheckpointsBeyondTheCutGo) {
  Dump plain = *genuine("server/b0.7.0/gemma3-2turns.ggsq");
  plain.state.memories.pop_back();
  const auto dump = std::make_shared<const Dump>(plain);
  EXPECT_EQ(truncate(dump, 50).target.tail.checkpoints.size(), 3U);
  EXPECT_EQ(truncate(dump, 49).target.tail.checkpoints.size(), 2U);
  EXPECT_EQ(truncate(dump, 25).target.tail.checkpoints.size(), 1U);
  EXPECT_FALSE(truncate(dump, 24).target.tail.has_checkpoints);
}

TEST(Truncate, TheDraftModelIsCutToo) {
  const DumpPtr dump = genuine("server/b0.7.0/llama-draft.ggsq");
  const DumpPtr part = cut(dump, 20);
  ASSERT_TRUE(part->tail.draft.state.has_value());
  EXPECT_EQ(part->tail.draft.state->memories[0].streams[0].cells.size(), 20U);
}

TEST(Truncate, SeveralSequencesAreNotOneList) {
  const DumpPtr dump = genuine("modern/b11118/llama-multi-uni.ggsn");
  EXPECT_NE(refusal(dump, 3).find("holds sequences"), std::string::npos);
}

TEST(Truncate, TokensThatAreNotThoseOfTheCells) {
  Dump odd = *test::made_dump(slot(9));
  odd.tokens = decode_tokens({1, 2, 3});
  EXPECT_TRUE(refusal(std::make_shared<const Dump>(odd), 2).empty());
  CellTable cells;
  for (Position p = 0; p < 18; p += 2) cells.append(p, std::vector<SequenceId>{0});
  odd.state.memories[0].streams[0].cells = cells;
  const std::string why = refusal(std::make_shared<const Dump>(odd), 2);
  EXPECT_NE(why.find("not those of the cells"), std::string::npos) << why;
}

TEST(Truncate, OldSessionsLoseTheirLogits) {
  const DumpPtr dump = genuine("history/v9-20250220-c392e5094-kvf32-plain.ggsn");
  const DumpPtr part = cut(dump, 10);
  EXPECT_GT(dump->outputs.logits.size, 0U);
  EXPECT_EQ(part->outputs.logits.size, 0U);
  EXPECT_EQ(part->tokens.ids.size(), 10U);
}

TEST(Truncate, ABareStateHoldsNoTokens) {
  EXPECT_THROW(static_cast<void>(truncate(genuine("modern/b11118/llama-simple.raw"), 0)), Error);
}

}  // namespace
}  // namespace kvtool
