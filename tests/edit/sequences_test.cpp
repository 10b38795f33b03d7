// Edits of sequences: what they do to one, what they leave of the others, and what they refuse.
#include "edit/edited.h"
#include "kvtool/edit.h"
#include "kvtool/extract.h"

namespace kvtool {
namespace {

using namespace test;

constexpr std::int64_t open_end = std::numeric_limits<std::int64_t>::max();
constexpr const char* several = "modern/b11118/llama-multi-uni.ggsn";  // sequences 0, 1 and 2

std::vector<Position> range(Position begin, Position end) {
  std::vector<Position> list;
  for (Position p = begin; p < end; ++p) list.push_back(p);
  return list;
}

TEST(Remove, TakesPositionsOfOneSequenceAndLeavesTheOthers) {
  const DumpPtr before = genuine(several);
  const DumpPtr after = written(without(before, 1, {{3, 5}, {15, 18}}).plan);
  for (const SequenceId other : {0, 2}) EXPECT_EQ(seen(*after, 0, other), seen(*before, 0, other));
  std::vector<SeenCell> expected = seen(*before, 0, 1);
  std::erase_if(expected, [](const SeenCell& cell) {
    return (cell.position >= 3 && cell.position < 5) || (cell.position >= 15 && cell.position < 18);
  });
  EXPECT_EQ(seen(*after, 0, 1), expected);
}

TEST(Remove, RangesAreThoseBeforeTheEditInWhateverOrder) {
  const DumpPtr before = genuine(several);
  const DumpPtr a = written(without(before, 1, {{3, 5}, {15, 18}}).plan);
  const DumpPtr b = written(without(before, 1, {{15, 18}, {4, 5}, {3, 5}}).plan);
  EXPECT_EQ(bytes_of(*a), bytes_of(*b));
}

TEST(Remove, TokensFollow) {
  const DumpPtr before = genuine("server/b0.7.0/chat-turn2.ggsq");
  const DumpPtr after = written(without(before, std::nullopt, {{10, 20}}).plan);
  std::vector<TokenId> expected = before->tokens.ids;
  expected.erase(expected.begin() + 10, expected.begin() + 20);
  EXPECT_EQ(after->tokens.ids, expected);
  EXPECT_EQ(after->tokens.form, TokenForm::payload);
  EXPECT_EQ(after->state.memories[0].streams[0].cells.size(),
            before->state.memories[0].streams[0].cells.size() - 10);
}

TEST(Remove, AnImageGoesWholeAndItsChunkWithIt) {
  const DumpPtr before = genuine("modern/b11118/qwen2vl-slot-image.slot0.ggsq");
  const MediaSpan image = before->tokens.media.at(0);
  const auto begin = static_cast<std::int64_t>(*position_of(before->tokens, image.start));
  const DumpPtr after =
      written(without(before, std::nullopt, {{begin, begin + image.positions}}).plan);
  EXPECT_TRUE(after->tokens.media.empty());
  EXPECT_EQ(after->tokens.ids.size(), before->tokens.ids.size() - image.tokens);
  EXPECT_EQ(after->state.memories[0].streams[0].cells.size(),
            before->state.memories[0].streams[0].cells.size() - image.tokens);
  for (std::int64_t inside = begin + 1; inside < begin + image.positions; ++inside)
    EXPECT_NE(refusal([&] { without(before, std::nullopt, {{inside, open_end}}); })
                  .find("go through an image"),
              std::string::npos);
}

TEST(Remove, CheckpointsBehindTheCutGoAndEarlierOnesStay) {
  const DumpPtr before = genuine("server/b0.7.0/gemma3-2turns.ggsq");
  ASSERT_GE(before->tail.checkpoints.size(), 2U);
  const std::uint64_t last = before->tail.checkpoints.back().tokens;
  const auto cut = static_cast<std::int64_t>(last);
  const SequenceEdit edit = without(before, std::nullopt, {{cut, open_end}}, {1, nullptr});
  EXPECT_EQ(edit.plan.target.tail.checkpoints.size(), before->tail.checkpoints.size());
  const SequenceEdit earlier = without(before, std::nullopt, {{cut - 1, open_end}}, {1, nullptr});
  EXPECT_EQ(earlier.plan.target.tail.checkpoints.size(), before->tail.checkpoints.size() - 1);
  EXPECT_EQ(written(earlier.plan)->tokens.ids.size(), last - 1);
}

TEST(Copy, SharesCellsInOneStreamAndRepeatsThemAcrossStreams) {
  for (const char* file : {several, "modern/b11118/llama-multi-streams.ggsn"}) {
    const DumpPtr before = genuine(file);
    SequenceEdit edit = without(before, 2, {{0, open_end}});
    copy_sequence(edit, 0, 2, {0, open_end});
    const DumpPtr after = written(edit.plan);
    EXPECT_EQ(seen(*after, 0, 2), seen(*before, 0, 0)) << file;
    for (const SequenceId other : {0, 1}) EXPECT_EQ(seen(*after, 0, other), seen(*before, 0, other));
  }
}

TEST(Copy, APart) {
  const DumpPtr before = genuine(several);
  SequenceEdit edit = without(before, 2, {{5, open_end}});
  copy_sequence(edit, 1, 2, {6, 9});
  EXPECT_EQ(positions(*written(edit.plan), 0, 2), (std::vector<Position>{0, 1, 2, 3, 4, 6, 7, 8}));
}

TEST(Keep, LeavesOneSequenceAsItWas) {
  for (const char* file : {several, "modern/b11118/llama-multi-streams.ggsn"}) {
    const DumpPtr before = genuine(file);
    SequenceEdit edit = SequenceEdit::of(before);
    keep_sequence(edit, 1);
    const DumpPtr after = written(edit.plan);
    EXPECT_EQ(seen(*after, 0, 1), seen(*before, 0, 1)) << file;
    for (const SequenceId other : {0, 2}) EXPECT_TRUE(seen(*after, 0, other).empty()) << file;
  }
}

TEST(Rename, ThereAndBackIsTheFile) {
  for (const char* file : {several, "modern/b11118/llama-multi-streams.ggsn",
                           "server/b0.7.0/gemma3-2turns.ggsq", "server/b0.7.0/lfm2.ggsq"}) {
    const DumpPtr before = genuine(file);
    SequenceEdit edit = SequenceEdit::of(before);
    const bool slot = before->dialect.container == Container::slot;
    if (!slot) change_positions(edit, {2, {{0, open_end}}, {}});
    const DumpPtr start = written(edit.plan);
    rename_sequence(edit, 0, 2);
    const DumpPtr renamed = written(edit.plan);
    EXPECT_NE(bytes_of(*renamed), bytes_of(*start)) << file;
    EXPECT_EQ(seen(*renamed, 0, 2), seen(*start, 0, 0)) << file;
    rename_sequence(edit, 2, 0);
    EXPECT_EQ(bytes_of(*written(edit.plan)), bytes_of(*start)) << file;
  }
}

// Everything behind the token list.
ByteVector behind_tokens(const Dump& dump) {
  const std::uint64_t begin = 12 + 4 * dump.tokens.words.size();
  return read_extent(dump, begin, dump.source->size() - begin);
}

TEST(Extract, IsTheSequenceFileThatLlamaCppSaved) {
  struct Pair {
    const char* session;
    const char* file;
    SequenceId id;
  };
  const Pair pairs[] = {
      {"modern/b11118/llama-multi-uni.ggsn", "modern/b11118/llama-multi-uni.seq1.ggsq", 1},
      {"modern/b11118/llama-multi-streams.ggsn", "modern/b11118/llama-multi-streams.seq1.ggsq", 1},
      {"server/b0.7.0-library/deepseek2-mla-multi-unified.ggsn",
       "server/b0.7.0-library/deepseek2-mla-multi-unified.seq2.ggsq", 2},
      {"server/b0.7.0-library/minimax-m3-multi-unified.ggsn",
       "server/b0.7.0-library/minimax-m3-multi-unified.seq2.ggsq", 2},
  };
  for (const Pair& pair : pairs) {
    const DumpPtr ours = written(extract_sequence(genuine(pair.session), pair.id).plan);
    EXPECT_EQ(behind_tokens(*ours), behind_tokens(*genuine(pair.file))) << pair.file;
    const DumpPtr other = written(extract_sequence(genuine(pair.session), 0).plan);
    EXPECT_NE(behind_tokens(*other), behind_tokens(*genuine(pair.file))) << pair.file;
  }
}

TEST(Extract, TellsTokensOfSharedCells) {
  const DumpPtr session = genuine(several);
  // 16 tokens and sequence 0 has 16 cells, the first five of which all share
  const std::vector<TokenId> all = session->tokens.ids;
  EXPECT_EQ(known_tokens(*session, 0), all);
  EXPECT_EQ(known_tokens(*session, 2), std::vector<TokenId>(all.begin(), all.begin() + 5));
  EXPECT_EQ(extract_sequence(session, 2).notes.size(), 1U);
}

TEST(Checkpoint, GoingBackIsWhatTheServerHadThen) {
  const DumpPtr before = genuine("server/b0.7.0/lfm2-2turns.ggsq");
  ASSERT_FALSE(before->tail.checkpoints.empty());
  const Checkpoint& first = before->tail.checkpoints.front();
  const DumpPtr after = written(truncate_to_checkpoint(before, 0));
  EXPECT_EQ(after->tokens.ids.size(), first.tokens);
  EXPECT_EQ(after->tail.checkpoints.size(), 1U);
  const Memory& state = after->state.memories.back();
  ASSERT_EQ(state.kind, MemoryKind::recurrent);
  EXPECT_EQ(state.streams[0].cells.position(0), static_cast<Position>(first.tokens) - 1);
  EXPECT_EQ(whole_payload(*after, state.streams[0], 0),
            whole_payload(*before, first.target.state->memories.back().streams[0], 0));
  EXPECT_EQ(positions(*after, 0, 0), range(0, static_cast<Position>(first.tokens)));
}

// --- the table of refusals ---

struct Refused {
  const char* file;
  std::function<void(SequenceEdit&)> edit;
  const char* message;
};

void remove(SequenceEdit& edit, std::optional<SequenceId> id, PositionRange range,
            std::uint32_t window = 0) {
  change_positions(edit, {id, {range}, {}}, {window, nullptr});
}

void move(SequenceEdit& edit, std::optional<SequenceId> id, PositionRange range, std::int64_t by) {
  change_positions(edit, {id, {}, {{range, by}}});
}

TEST(Refusals, EachWithItsMessage) {
  const Refused table[] = {
      {several, [](SequenceEdit& e) { remove(e, 7, {0, 1}); },
       "no cell belongs to sequence 7; there are 0, 1, 2"},
      {"server/b0.7.0/chat-turn1.ggsq", [](SequenceEdit& e) { remove(e, 3, {0, 1}); },
       "holds one sequence, 0, and not 3"},
      {several, [](SequenceEdit& e) { remove(e, 0, {5, 5}); }, "positions 5:5 are none"},
      {several, [](SequenceEdit& e) { move(e, 0, {0, open_end}, -1); },
       "position 0 would become -1; remove it first (kvtool seq rm)"},
      {several, [](SequenceEdit& e) { move(e, 0, {12, 14}, 2); },
       "position 14 would be taken twice; remove one first (kvtool seq rm)"},
      {several, [](SequenceEdit& e) { move(e, 0, {0, open_end}, 2147483647); },
       "beyond 2147483647"},
      {several, [](SequenceEdit& e) { copy_sequence(e, 0, 1, {0, open_end}); },
       "sequence 1 has a cell at position 5 already; remove it first (kvtool seq rm)"},
      {several, [](SequenceEdit& e) { rename_sequence(e, 0, 1); }, "there is a sequence 1 already"},
      {several, [](SequenceEdit& e) { rename_sequence(e, 0, -4); }, "-4 is no sequence id"},
      {"modern/b11118/llama-multi-streams.ggsn",
       [](SequenceEdit& e) { copy_sequence(e, 0, 5, {0, open_end}); },
       "sequence 5 has no stream in a file of 3; kvtool convert --kv-unified makes one stream of "
       "them"},
      {"server/b0.7.0/chat-turn1.ggsq",
       [](SequenceEdit& e) { copy_sequence(e, 0, 1, {0, open_end}); },
       "a file of one sequence cannot hold a second; kvtool merge makes a session"},
      {"modern/b11118/mamba-multi.ggsn", [](SequenceEdit& e) { remove(e, 0, {2, 4}); },
       "a recurrent state stands for all"},
      {"modern/b11118/jamba.ggsn", [](SequenceEdit& e) { remove(e, 0, {3, open_end}); },
       "a recurrent state stands for all 16 positions together and cannot lose some of them"},
      {"modern/b11118/mamba-multi.ggsn",
       [](SequenceEdit& e) {
         remove(e, 2, {0, open_end});
         copy_sequence(e, 0, 2, {1, open_end});
       },
       "positions together; copy them all"},
      {"server/b0.7.0/gemma3.ggsq", [](SequenceEdit& e) { remove(e, std::nullopt, {33, open_end}, 12); },
       "the window cache begins at position 22: the oldest position at which it can be cut is 34"},
      {"server/b0.7.0/gemma3.ggsq", [](SequenceEdit& e) { remove(e, std::nullopt, {30, open_end}); },
       "(its end; less if the length of the window is given)"},
      {"modern/b11118/qwen2vl-image.ggsn", [](SequenceEdit& e) { remove(e, std::nullopt, {8, open_end}); },
       "the positions go through an image, which begins at 7"},
  };
  for (const Refused& refused : table) {
    const DumpPtr dump = genuine(refused.file);
    SequenceEdit edit = SequenceEdit::of(dump);
    const ByteVector before = bytes_of(*dump);
    const std::string message = refusal([&] { refused.edit(edit); });
    EXPECT_NE(message.find(refused.message), std::string::npos)
        << refused.file << ": " << message << "\nexpected: " << refused.message;
    EXPECT_EQ(bytes_of(*dump), before);
  }
}

TEST(Refusals, AFailedEditLeavesThePlanAsItWas) {
  const DumpPtr dump = genuine("server/b0.7.0/gemma3.ggsq");
  SequenceEdit edit = SequenceEdit::of(dump);
  EXPECT_FALSE(refusal([&] { remove(edit, std::nullopt, {20, 25}, 1000); }).empty());
  EXPECT_EQ(bytes_of(*written(edit.plan)), bytes_of(*dump));
}

}  // namespace
}  // namespace kvtool
