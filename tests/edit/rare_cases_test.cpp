// Edits at their limits: files that do not go together, draft models, media, compressed caches, lists
// of tokens that do not fit.
#include <fmt/format.h>

#include "edit/edited.h"
#include "edit/known_rotation.h"
#include "kvtool/edit.h"
#include "kvtool/extract.h"
#include "kvtool/merge.h"
#include "support/random_dump.h"

namespace kvtool::test {
namespace {

DumpPtr opened(const TinyDump& tiny) {
  return std::make_shared<const Dump>(
      open_dump(memory_source(tiny.layout, build(tiny)), {tiny.layout, {}}));
}

DumpPtr tiny(const std::string& layout) { return opened(tiny_dump(layout)); }

// Three cells of one sequence.
DumpPtr tiny_of_one_sequence(const std::string& layout) {
  TinyDump dump = tiny_dump(layout);
  dump.tables = {{{0, {0}}, {1, {0}}, {2, {0}}}};
  return opened(dump);
}

MergeOptions named() { return {.renumber = true, .unified = true, .arch = "llama"}; }

std::string merge_refusal(const DumpPtr& a, const DumpPtr& b,
                          const MergeOptions& options = named()) {
  return refusal([&] { static_cast<void>(merge_dumps({a, b}, options)); });
}

bool holds(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

bool holds(const std::vector<std::string>& notes, const std::string& words) {
  return std::ranges::any_of(notes, [&](const std::string& note) { return holds(note, words); });
}

// --- files that do not go together

TEST(RareMerge, OtherShapesAreNamed) {
  const DumpPtr plain = tiny("ggsn11.streams.rot/kv");
  EXPECT_TRUE(holds(merge_refusal(plain, tiny("ggsn11.streams.rot/iswa")), "has 2 memories, and"));
  EXPECT_TRUE(holds(merge_refusal(tiny("ggsn11.streams.rot/iswa"), tiny("ggsn11.streams.rot/dsa")),
                    "memory 0 is main, and ggsn11.streams.rot/iswa base: no conversion helps"));
  EXPECT_TRUE(holds(merge_refusal(plain, tiny("ggsn11.streams.rot/mla")),
                    "V of layer 0 in memory 0 is absent, and ggsn11.streams.rot/kv has 3 in rows"));
  EXPECT_TRUE(holds(merge_refusal(tiny("ggsn9.streams/kv"), tiny("ggsn9.streams.xy/kv")),
                    "has another layout: ggsn9.streams.xy/kv, and ggsn9.streams/kv ggsn9.streams"));
  EXPECT_TRUE(holds(merge_refusal(plain, tiny("ggsn10.streams/kv")), "is of version 10, and"));
  TinyDump deeper = tiny_dump("ggsn11.streams.rot/kv");
  deeper.layers = 3;
  EXPECT_TRUE(holds(merge_refusal(plain, opened(deeper)), "memory 0 has 3 layers, and"));
  TinyDump wider = tiny_dump("ggsn11.streams.rot/kv");
  wider.k_width = 5;
  EXPECT_TRUE(holds(merge_refusal(plain, opened(wider)), "is 5 in rows of f16"));
  EXPECT_FALSE(holds(merge_refusal(plain, opened(wider)), "kvtool convert --like"));
  TinyDump single = tiny_dump("ggsn11.streams.rot/kv");
  single.type = 0;
  EXPECT_TRUE(holds(merge_refusal(plain, opened(single)), "kvtool convert --like"));
  TinyDump turned = tiny_dump("ggsn11.streams.rot/kv");
  turned.transposed = true;
  EXPECT_TRUE(holds(merge_refusal(plain, opened(turned)), "is 3 transposed of f16"));
  EXPECT_EQ(merge_refusal(plain, plain), "");
}

TEST(RareMerge, WhatNoSessionHoldsIsRefusedOrNamed) {
  EXPECT_TRUE(holds(merge_refusal(tiny("ggsn11.streams.rot/dsv4"), tiny("ggsn11.streams.rot/dsv4")),
                    "a compressed cache cannot be joined with another"));
  EXPECT_TRUE(holds(merge_refusal(tiny("ggsq1/kv"), tiny("ggsq1/kv")),
                    "convert them to slot files of llama.cpp first"));
  EXPECT_TRUE(holds(merge_refusal(tiny("ggsq4.ik/kv"), tiny("ggsq4.ik/kv")),
                    "convert them to slot files of llama.cpp first"));
  EXPECT_TRUE(holds(merge_refusal(tiny("ggsn9.outputs.flat/kv"), tiny("ggsn9.outputs.flat/kv"),
                                  {.renumber = true, .unified = false, .arch = {}}),
                    "files of that time have one stream for all sequences"));
  EXPECT_TRUE(holds(merge_refusal(tiny("ggsq4.streams.rot/iswa"), tiny("ggsq4.streams.rot/iswa"),
                                  {.renumber = true, .unified = true, .arch = {}}),
                    "a session names its architecture and none of the files does"));
  const DumpPtr slot = tiny("ggsq4.streams.rot/iswa");
  const SequenceEdit merged = merge_dumps({slot, slot}, named());
  EXPECT_TRUE(holds(merged.notes, "dropped the checkpoints and draft states of 2 files"));
  EXPECT_EQ(seen(*written(merged.plan), 0, 1).size(), 3U);
  const DumpPtr nothing = tiny("ggsq4.streams/kv");  // a slot without cells
  EXPECT_EQ(written(merge_dumps({nothing, nothing}, named()).plan)
                ->state.memories[0]
                .streams[0]
                .cells.size(),
            0U);
}

TEST(RareMerge, CellsAfterAnEmptyFileAreThoseOfTheSecond) {
  const DumpPtr slot = tiny_of_one_sequence("ggsq3.streams/kv");
  TinyDump empty = tiny_dump("ggsq3.streams/kv");
  empty.cells = 0;
  const DumpPtr merged = written(merge_dumps({opened(empty), slot}, named()).plan);
  EXPECT_EQ(seen(*merged, 0, 1).size(), 3U);
}

// --- tokens

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

// --- tails and caches that cannot follow

TEST(RareTails, ADraftModelFollowsACutAndNoMove) {
  const DumpPtr slot = tiny("ggsq4.streams.rot/kv");
  ASSERT_TRUE(slot->tail.has_draft);
  SequenceEdit cut = SequenceEdit::of(slot);
  change_positions(cut, {std::nullopt, {{2, 9}}, {}});
  const DumpPtr shorter = written(cut.plan);
  ASSERT_TRUE(shorter->tail.draft.state);
  EXPECT_EQ(shorter->tail.draft.state->memories[0].streams[0].cells.size(), 2U);
  SequenceEdit moved = SequenceEdit::of(slot);
  change_positions(moved, {std::nullopt, {}, {{{0, 9}, 5}}});
  EXPECT_TRUE(holds(moved.notes, "dropped the draft model's state: it is computed again"));
  EXPECT_FALSE(written(moved.plan)->tail.has_draft);
  SequenceEdit beyond = SequenceEdit::of(slot);
  change_positions(beyond, {std::nullopt, {{7, 9}}, {}});
  EXPECT_EQ(beyond.plan.target.tail.draft.state->memories[0].streams[0].cells.size(), 3U);
}

TEST(RareTails, AppendingDropsTheDraft) {
  const DumpPtr slot = tiny("ggsq4.streams.rot/kv");
  EXPECT_TRUE(holds(append_dumps({slot, slot}, {}).notes, "dropped the draft model's state"));
}

TEST(RareTails, ACheckpointMustBeOfTheFilesMemories) {
  auto slot = std::make_shared<Dump>(*tiny("ggsq4.streams.rot/iswa"));
  ASSERT_EQ(slot->tail.checkpoints.size(), 1U);
  slot->tail.checkpoints[0].target.state->memories.back().streams[0].layers.pop_back();
  EXPECT_EQ(refusal([&] { static_cast<void>(truncate_to_checkpoint(slot, 0)); }),
            "checkpoint 0 does not belong to the memories of this file");
  EXPECT_FALSE(refusal([&] { static_cast<void>(truncate_to_checkpoint(slot, 1)); }).empty());
}

TEST(RareCaches, CompressedOnesAreLeftAlone) {
  const DumpPtr dump = tiny_of_one_sequence("ggsn11.streams.rot/dsv4");
  EXPECT_EQ(refusal([&] { static_cast<void>(truncate(dump, 2)); }),
            "a compressed cache cannot be cut");
  SequenceEdit edit = SequenceEdit::of(dump);
  EXPECT_EQ(refusal([&] {
              change_positions(edit, {std::nullopt, {{2, 9}}, {}});
            }),
            "a compressed cache cannot be edited by position");
  const std::string words = "the sequences of a compressed cache cannot be changed";
  EXPECT_EQ(refusal([&] { keep_sequence(edit, 0); }), words);
  EXPECT_EQ(refusal([&] { rename_sequence(edit, 0, 5); }), words);
  EXPECT_EQ(refusal([&] { copy_sequence(edit, 0, 5, {0, 9}); }), words);
}

// --- orders, rotations, old caches

TEST(RareOrders, CellsOfTwoCachesAreNotExchanged) {
  const DumpPtr dump = tiny("ggsn11.streams.rot/iswa");
  EXPECT_EQ(refusal([&] {
              static_cast<void>(swap(dump, {0, 0, 0}, {1, 0, 0}));
            }),
            "only cells of one stream can be exchanged");
}

TEST(RareRotations, QuantizedKNeedsAWord) {
  TinyDump made = tiny_dump("ggsn10.streams/kv");
  made.type = 8;
  made.transposed = false;
  made.k_width = made.v_width = 64;
  const DumpPtr dump = opened(made);
  const auto why = [&](StatedRotation stated, const std::optional<ModelShape>& model) {
    return refusal([&] { static_cast<void>(with_key_rotation(dump, stated, model)); });
  };
  EXPECT_TRUE(holds(why(StatedRotation::unknown, {}), "whether its quantized K is rotated"));
  EXPECT_TRUE(holds(why(StatedRotation::hadamard, {}), "depends on the head size"));
  EXPECT_EQ(why(StatedRotation::none, {}), "");
  ModelShape model;
  model.caches.push_back({});
  model.caches[0].role = "main";
  model.caches[0].head_k = 64;
  EXPECT_EQ(why(StatedRotation::hadamard, model), "");
  model.caches[0].head_k = 32;  // heads of this size were never rotated
  EXPECT_EQ(why(StatedRotation::unknown, model), "");
  model.caches[0].role = "window";
  EXPECT_EQ(why(StatedRotation::unknown, model), "");
  made.type = 1;
  EXPECT_EQ(refusal([&] {
              static_cast<void>(with_key_rotation(opened(made), StatedRotation::unknown, {}));
            }),
            "");
  const DumpPtr says = tiny("ggsn11.streams.rot/kv");
  EXPECT_EQ(with_key_rotation(says, StatedRotation::unknown, {}), says);
}

TEST(RareCaches, OldSessionsHoldNoMoreThanTheirCache) {
  const DumpPtr dump = tiny("ggsn6.s120/kv");  // three cells of a cache of five
  EXPECT_TRUE(holds(refusal([&] {
                      static_cast<void>(written(merge_dumps({dump, dump}, named()).plan));
                    }),
                    "has 5 cells, and the output would have 6"));
  SequenceEdit whole = SequenceEdit::of(tiny("ggsn0.j32/kv"));
  EXPECT_TRUE(holds(refusal([&] {
                      change_positions(whole, {std::nullopt, {{2, 9}}, {}});
                      static_cast<void>(written(whole.plan));
                    }),
                    "sessions of version 0"));
}

TEST(RarePositions, EndAt2147483647) {
  SequenceEdit edit = SequenceEdit::of(tiny("ggsn11.streams.rot/kv"));
  EXPECT_TRUE(holds(refusal([&] {
                      change_positions(edit, {std::nullopt, {}, {{{0, 9}, 2147483646}}});
                    }),
                    "beyond 2147483647"));
  EXPECT_TRUE(holds(refusal([&] {
                      change_positions(edit, {std::nullopt, {}, {{{0, 9}, -1}}});
                    }),
                    "would become -1"));
  EXPECT_TRUE(holds(refusal([&] {
                      change_positions(edit, {std::nullopt, {}, {{{2, 3}, -1}}});
                    }),
                    "position 1 would be taken twice"));
  EXPECT_FALSE(refusal([&] {
                 change_positions(edit, {std::nullopt, {{0, 2}}, {{{1, 3}, 4}}});
               }).empty());
}

}  // namespace
}  // namespace kvtool::test
