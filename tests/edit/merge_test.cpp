// Several files in one: nothing lost, nothing mixed up, and what does not fit is refused.
#include "kvtool/merge.h"

#include "edit/edited.h"
#include "kvtool/edit.h"
#include "kvtool/extract.h"
#include "kvtool/share.h"

namespace kvtool {
namespace {

using namespace test;

constexpr const char* several = "modern/b11118/llama-multi-uni.ggsn";

DumpPtr extracted(const DumpPtr& session, SequenceId id) {
  return written(extract_sequence(session, id).plan);
}

MergeOptions renumbered() {
  MergeOptions options;
  options.renumber = true;
  options.arch = "llama";
  return options;
}

PositionOptions ropes(const Dump& dump, const std::string& model = "llama") {
  PositionOptions options;
  const Gguf gguf = open_gguf(open_source(testdata("models/" + model + ".gguf").string()));
  options.rope = std::make_shared<RopeFacts>(rope_of_model(gguf, dump));
  return options;
}

TEST(Merge, TakenApartAndPutTogetherIsTheSame) {
  for (const bool unified : {true, false}) {
    const DumpPtr session = genuine(several);
    MergeOptions options = renumbered();
    options.unified = unified;
    const DumpPtr merged = written(
        merge_dumps({extracted(session, 0), extracted(session, 1), extracted(session, 2)}, options)
            .plan);
    EXPECT_EQ(merged->state.memories[0].streams.size(), unified ? 1U : 3U);
    for (const SequenceId id : {0, 1, 2}) EXPECT_EQ(seen(*merged, 0, id), seen(*session, 0, id));
  }
}

TEST(Share, FoldsWhatMergeRepeated) {
  const DumpPtr session = genuine(several);
  const DumpPtr merged = written(
      merge_dumps({extracted(session, 0), extracted(session, 1), extracted(session, 2)}, renumbered())
          .plan);
  Plan plan = Plan::of(merged);
  const std::uint64_t gone = share_equal_cells(plan);
  EXPECT_EQ(gone, 11U);  // five cells that all three share, twice; and position 5 of 1 and 2
  const DumpPtr shared = written(plan);
  for (const SequenceId id : {0, 1, 2}) EXPECT_EQ(seen(*shared, 0, id), seen(*session, 0, id));
}

// Bytes of one element of V of a cell: in the last layer's row, or in its last channel.
Extent element_of(const Dump& dump, std::uint64_t cell) {
  const Stream& stream = dump.state.memories[0].streams[0];
  const Tensor& v = stream.layers.back().v;
  if (v.orientation == Orientation::rows) return {v.extent.offset + cell * v.row_bytes, 2};
  const std::uint64_t last = (v.width - 1) * stream.cells.size() + cell;
  return {v.extent.offset + last * v.element_bytes, v.element_bytes};
}

TEST(Share, StopsAtTheFirstCellThatDiffers) {
  for (const char* file : {several, "modern/b11118/llama-nofa-multi-uni.ggsn"}) {
    const DumpPtr session = genuine(file);
    const DumpPtr first = extracted(session, 0);
    ByteVector changed = bytes_of(*first);
    changed[element_of(*first, 2).offset] ^= std::byte{1};
    const auto second = std::make_shared<const Dump>(open_dump(memory_source("changed", changed)));
    Plan plan = Plan::of(written(merge_dumps({first, second}, renumbered()).plan));
    EXPECT_EQ(share_equal_cells(plan), 2U) << file;
    Plan tolerant = Plan::of(plan.sources.front());
    EXPECT_EQ(share_equal_cells(tolerant, 0.01), first->state.memories[0].streams[0].cells.size());
  }
}

TEST(Merge, WholeSessionsByTheirIds) {
  const DumpPtr session = genuine(several);
  const DumpPtr rest = written(without(session, 0, {{0, 1000}}).plan);
  SequenceEdit only = SequenceEdit::of(session);
  keep_sequence(only, 0);
  const DumpPtr merged = written(merge_dumps({written(only.plan), rest}).plan);
  for (const SequenceId id : {0, 1, 2}) EXPECT_EQ(seen(*merged, 0, id), seen(*session, 0, id));
}

TEST(Merge, RecurrentStatesSideBySide) {
  const DumpPtr session = genuine("modern/b11118/jamba-multi-streams.ggsn");
  MergeOptions options = renumbered();
  options.arch = "jamba";
  const DumpPtr merged =
      written(merge_dumps({extracted(session, 0), extracted(session, 1)}, options).plan);
  for (const std::size_t memory : {0U, 1U})
    for (const SequenceId id : {0, 1})
      EXPECT_EQ(seen(*merged, memory, id), seen(*session, memory, id));
}

TEST(Append, PutsOneAfterTheOther) {
  const DumpPtr a = genuine("server/b0.7.0/chat-turn1.ggsq");
  const DumpPtr b = genuine("server/b0.7.0/prompt-only-llama.ggsq");
  const SequenceEdit edit = append_dumps({a, b}, ropes(*a));
  const DumpPtr joined = written(edit.plan);
  const CellTable& cells = joined->state.memories[0].streams[0].cells;
  const std::size_t first = a->state.memories[0].streams[0].cells.size();
  ASSERT_EQ(cells.size(), first + b->state.memories[0].streams[0].cells.size());
  for (std::size_t c = 0; c < cells.size(); ++c)
    EXPECT_EQ(cells.position(c), static_cast<Position>(c));
  std::vector<TokenId> tokens = a->tokens.ids;
  tokens.insert(tokens.end(), b->tokens.ids.begin(), b->tokens.ids.end());
  EXPECT_EQ(joined->tokens.ids, tokens);
  ASSERT_FALSE(edit.notes.empty());
  EXPECT_NE(edit.notes.back().find("no part attended to those before it"), std::string::npos);
}

// Cut in two and appended again: positions and V are back, and K within rounding.
TEST(Append, UndoesACut) {
  const DumpPtr whole = genuine("server/b0.7.0/chat-turn1.ggsq");
  const DumpPtr front = written(truncate(whole, 20));
  PositionChange change{std::nullopt, {{0, 20}}, {}};
  change.moved = closing_moves(change.removed);
  SequenceEdit behind = SequenceEdit::of(whole);
  change_positions(behind, change, ropes(*whole));
  const DumpPtr joined = written(append_dumps({front, written(behind.plan)}, ropes(*whole)).plan);
  EXPECT_EQ(joined->tokens.ids, whole->tokens.ids);
  const Stream& x = whole->state.memories[0].streams[0];
  const Stream& y = joined->state.memories[0].streams[0];
  ASSERT_EQ(x.cells, y.cells);
  for (std::size_t c = 0; c < x.cells.size(); ++c) {
    EXPECT_EQ(cell_payload(*whole, x, x.layers[0].v, c), cell_payload(*joined, y, y.layers[0].v, c));
    const auto p = cell_values(*whole, x, x.layers[0].k, c);
    const auto q = cell_values(*joined, y, y.layers[0].k, c);
    for (std::size_t i = 0; i < p.size(); ++i) EXPECT_NEAR(p[i], q[i], 0.01) << c;
  }
}

struct Refused {
  std::vector<const char*> files;
  MergeOptions options;
  const char* message;
};

TEST(Merge, RefusesWhatDoesNotFit) {
  const MergeOptions plain = renumbered();
  MergeOptions same_ids;
  same_ids.arch = "llama";
  MergeOptions no_arch;
  no_arch.renumber = true;
  const char* f16 = "modern/b11118/llama-simple.seq0.ggsq";
  const Refused table[] = {
      {{}, plain, "no files to merge"},
      {{f16, f16}, same_ids,
       "sequence 0 has position 0 in another file already; --renumber keeps them apart, --append puts "
       "one after the other"},
      {{f16, "modern/b11118/llama-multi-uni.seq1.ggsq"}, no_arch, "say --model MODEL.gguf or --arch"},
      {{f16, "modern/b11118/llama-fa-q8_0.seq0.ggsq"}, plain, "kvtool convert --like"},
      {{f16, "server/b0.7.0/llama-f16.ggsq"}, plain, "is of version 4"},
      {{f16, "modern/b11118/gemma3-swa.seq0.ggsq"}, plain, "no conversion helps"},
      {{"modern/b11118/llama-simple.ggsn", "modern/b11118/ds2mla.ggsn"}, plain,
       "is of a deepseek2 model"},
      {{"server/b0.7.0-library/llamah64-q8_0-unified.seq2.ggsq",
        "server/b0.7.0/llamah64-q8_0-k-only.ggsq"},
       plain, "rotated by 64 and 0"},
      {{"modern/b11118/mamba-multi.ggsn", "modern/b11118/mamba-multi.ggsn"}, same_ids,
       "has a recurrent state in another file already"},
  };
  for (const Refused& refused : table) {
    std::vector<DumpPtr> dumps;
    for (const char* file : refused.files) dumps.push_back(genuine(file));
    const std::string message =
        refusal([&] { static_cast<void>(merge_dumps(dumps, refused.options)); });
    EXPECT_NE(message.find(refused.message), std::string::npos)
        << message << "\nexpected: " << refused.message;
  }
}

TEST(Append, RefusesWhatCannotFollow) {
  const DumpPtr jamba = genuine("modern/b11118/jamba.ggsn");
  EXPECT_NE(refusal([&] { static_cast<void>(append_dumps({jamba, jamba}, {})); })
                .find("two recurrent states cannot be put one after the other"),
            std::string::npos);
  const DumpPtr session = genuine(several);
  EXPECT_NE(refusal([&] { static_cast<void>(append_dumps({session, session}, ropes(*session))); })
                .find("holds 3 sequences; take one out first (kvtool extract --seq)"),
            std::string::npos);
}

}  // namespace
}  // namespace kvtool
