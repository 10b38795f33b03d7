// Token lists that do not fit their cells, and media in them.
#include <fmt/format.h>

#include "edit/tiny_edits.h"
#include "edit/token_places.h"
#include "kvtool/edit.h"
#include "kvtool/extract.h"
#include "kvtool/merge.h"
#include "support/bytes.h"

namespace kvtool::test {
namespace {

// What the server stores for a sound of so many tokens.
ByteVector sound(std::uint32_t tokens) {
  Bytes out;
  out.u64(2).u32(2).u64(0).u8(0).u8(1).u32(tokens);
  return out.u64(4).text("hash").u8(1).u64(0).get();
}

// A medium of a version to come.
ByteVector riddle() { return Bytes().u64(3).u32(9).get(); }

TokenArea list_with(const std::vector<TokenId>& ids, std::uint32_t start, const ByteVector& chunk) {
  return decode_tokens(encode_payload(ids, std::vector<MediaChunk>{{start, chunk}}));
}

// A slot of five cells without places of images; a medium takes tokens 1 and 2.
std::shared_ptr<Dump> slot_with(const ByteVector& chunk) {
  TinyDump tiny = tiny_dump("ggsq4.streams.rot/kv");
  tiny.cells = 5;
  tiny.k_width = 64;  // K is rotated in blocks of 64
  tiny.checkpoints = tiny.draft = false;
  auto dump = std::make_shared<Dump>(*opened(tiny));
  dump->tokens = list_with({40, -1, -1, 43, 44}, 1, chunk);
  return dump;
}

std::string change_refusal(const DumpPtr& dump, const PositionChange& change) {
  SequenceEdit edit = SequenceEdit::of(dump);
  return refusal([&] { change_positions(edit, change); });
}

TEST(RareTokens, GivenOnesMustFitTheCells) {
  const DumpPtr session = genuine("modern/b11118/llama-multi-uni.ggsn");
  ExtractOptions options;
  options.tokens = std::vector<TokenId>(3, 7);
  const std::size_t cells = seen(*session, 0, 0).size();
  EXPECT_EQ(refusal([&] { static_cast<void>(extract_sequence(session, 0, options)); }),
            fmt::format("3 tokens for a sequence of {} cells", cells));
  for (const std::size_t count : {cells, cells + 1}) {
    options.tokens = std::vector<TokenId>(count, 7);
    EXPECT_EQ(written(extract_sequence(session, 0, options).plan)->tokens.ids, *options.tokens);
  }
}

TEST(RareTokens, ATokenWithoutACellIsDroppedBeforeTheNextPart) {
  const DumpPtr slot = tiny_of_one_sequence("ggsq3.streams/kv");
  SequenceEdit longer = SequenceEdit::of(slot);
  TokenArea& tokens = longer.plan.target.tokens;
  tokens.ids.push_back(99);
  tokens.words.push_back(99);
  const DumpPtr first = written(longer.plan);
  ASSERT_EQ(first->tokens.ids.size(), 4U);
  const SequenceEdit joined = append_dumps({first, slot}, {});
  EXPECT_TRUE(holds(joined.notes, "dropped the last token of a part, which has no cell"));
  EXPECT_EQ(written(joined.plan)->tokens.ids, (std::vector<TokenId>{40, 41, 42, 40, 41, 42}));
}

TEST(RareTokens, MediaComeAlongAndAreNotCut) {
  const DumpPtr image = genuine("modern/b11118/qwen2vl-slot-image.slot0.ggsq");
  ASSERT_EQ(image->tokens.media.size(), 1U);
  const std::uint32_t start = image->tokens.media[0].start;
  EXPECT_TRUE(holds(refusal([&] { static_cast<void>(truncate(image, start + 2)); }), "image"));
  EXPECT_EQ(written(truncate(image, start))->tokens.media.size(), 0U);
  SequenceEdit cut = SequenceEdit::of(image);
  const std::int64_t inside = static_cast<std::int64_t>(start) + 1;
  EXPECT_TRUE(holds(refusal([&] {
                      change_positions(cut, {std::nullopt, {{inside, 9999}}, {}});
                    }),
                    "the positions go through an image"));
  const SequenceEdit twice = append_dumps({image, image}, {});
  ASSERT_EQ(twice.plan.target.tokens.media.size(), 2U);
  EXPECT_EQ(twice.plan.target.tokens.media[1].start, start + image->tokens.ids.size());
  const SequenceEdit session =
      merge_dumps({image, image}, {.renumber = true, .unified = true, .arch = "qwen2vl"});
  EXPECT_TRUE(holds(session.notes, "the media of the first file are not in the session"));
  EXPECT_EQ(session.plan.target.tokens.form, TokenForm::plain);
}

// Behind a removal before them, media lie earlier.
TEST(RareTokens, MediaMoveWithTheirTokens) {
  const DumpPtr image = genuine("modern/b11118/qwen2vl-slot-image.slot0.ggsq");
  const std::uint32_t start = image->tokens.media.at(0).start;
  ASSERT_GE(start, 2U);
  SequenceEdit edit = SequenceEdit::of(image);
  change_positions(edit, {std::nullopt, {{0, 1}}, closing_moves({{0, 1}})});
  const DumpPtr after = written(edit.plan);
  ASSERT_EQ(after->tokens.media.size(), 1U);
  EXPECT_EQ(after->tokens.media[0].start, start - 1);
  EXPECT_EQ(after->tokens.ids.size(), image->tokens.ids.size() - 1);
}

// Its cells say nothing of it: the list alone does.
TEST(RareTokens, ASoundStaysWholeOrGoesWhole) {
  const auto dump = slot_with(sound(2));
  ASSERT_EQ(dump->tokens.problem, "");
  const std::string why = "the positions go through an audio, which takes 1:3";
  EXPECT_EQ(change_refusal(dump, {std::nullopt, {{2, 3}}, {}}), why);
  EXPECT_EQ(change_refusal(dump, {std::nullopt, {{0, 2}}, {}}), why);
  EXPECT_EQ(change_refusal(dump, {std::nullopt, {}, {{{2, 9}, 5}}}), why);
  EXPECT_EQ(change_refusal(dump, {std::nullopt, {{3, 9}}, {}}), "");
  SequenceEdit gone = SequenceEdit::of(dump);
  change_positions(gone, {std::nullopt, {{1, 3}}, closing_moves({{1, 3}})});
  EXPECT_EQ(gone.plan.target.tokens.ids, (std::vector<TokenId>{40, 43, 44}));
  EXPECT_TRUE(gone.plan.target.tokens.media.empty());
  SequenceEdit earlier = SequenceEdit::of(dump);
  change_positions(earlier, {std::nullopt, {{0, 1}}, closing_moves({{0, 1}})});
  ASSERT_EQ(earlier.plan.target.tokens.media.size(), 1U);
  EXPECT_EQ(earlier.plan.target.tokens.media[0].start, 0U);
}

TEST(RareTokens, ASoundAtTheEndEndsWithTheLastPosition) {
  auto dump = slot_with(sound(2));
  dump->tokens = list_with({40, 41, 42, -1, -1}, 3, sound(2));
  EXPECT_EQ(change_refusal(dump, {std::nullopt, {{4, 9}}, {}}),
            "the positions go through an audio, which takes 3:5");
  EXPECT_EQ(change_refusal(dump, {std::nullopt, {{3, 9}}, {}}), "");
}

// How many positions it takes is not known, nor how it would be written again.
TEST(RareTokens, WhatIsNotUnderstoodIsNotRewritten) {
  const auto dump = slot_with(riddle());
  ASSERT_NE(dump->tokens.problem, "");
  EXPECT_EQ(change_refusal(dump, {std::nullopt, {{1, 2}}, {}}),
            "the positions go through an image or sound, which takes 1:3");
  EXPECT_TRUE(holds(change_refusal(dump, {std::nullopt, {{4, 9}}, {}}), dump->tokens.problem));
  EXPECT_NE(refusal([&] { static_cast<void>(truncate(dump, 4)); }), "");
  EXPECT_EQ(refusal([&] { static_cast<void>(truncate(dump, 5)); }),
            "how many positions the media before token 5 take is not known");
  EXPECT_EQ(refusal([&] {
              static_cast<void>(append_dumps({dump, dump}, {}));
            }),
            dump->source->name() + ": the token area cannot be rewritten: " + dump->tokens.problem);
}

// A model may want the id of some token with the cells of an image (qwen4exp); the list has -1.
TEST(RareTokens, AMediumInTheListFitsACellWithAToken) {
  const auto dump = changeable("ggsq3.streams.xyt/kv");
  dump->tokens = decode_tokens({40, -1, 42});
  EXPECT_TRUE(token_places(*dump).has_value());
  dump->tokens = decode_tokens({40, 7, 42});  // the cell says 41
  EXPECT_FALSE(token_places(*dump).has_value());
}

TEST(RareTokens, WithoutCellsTheyAreNobodys) {
  const DumpPtr dump = tiny("ggsn11/none");
  ASSERT_EQ(dump->tokens.ids.size(), 3U);
  EXPECT_FALSE(token_places(*dump).has_value());
  SequenceEdit edit = SequenceEdit::of(dump);
  change_positions(edit, {std::nullopt, {{1, 9}}, {}});
  EXPECT_EQ(edit.plan.target.tokens.ids, dump->tokens.ids);
  EXPECT_TRUE(holds(edit.notes, "left the token list as it was"));
}

TEST(RareTokens, GivenOnesKeepTheFormOfTheList) {
  const auto dump = slot_with(sound(2));
  ExtractOptions options;
  options.tokens = std::vector<TokenId>{1, 2, 3, 4, 5};
  const DumpPtr slot = written(extract_sequence(dump, 0, options).plan);
  EXPECT_EQ(slot->tokens.form, TokenForm::payload);
  EXPECT_EQ(slot->tokens.ids, *options.tokens);
  EXPECT_TRUE(slot->tokens.media.empty());
}

}  // namespace
}  // namespace kvtool::test
