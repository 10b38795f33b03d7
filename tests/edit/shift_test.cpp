// Moves: K of the new position, everything else as it was.
#include <cmath>

#include "edit/edited.h"
#include "edit/known_rotation.h"
#include "kvtool/target.h"

namespace kvtool {
namespace {

using namespace test;

constexpr std::int64_t open_end = std::numeric_limits<std::int64_t>::max();

Gguf model_named(const std::string& name) {
  return open_gguf(open_source(testdata("models/" + name + ".gguf").string()));
}

PositionOptions ropes_of(const std::string& model, const Dump& dump) {
  PositionOptions options;
  options.rope = std::make_shared<RopeFacts>(rope_of_model(model_named(model), dump));
  return options;
}

SequenceEdit moved(const DumpPtr& dump, std::optional<SequenceId> id, PositionRange from,
                   std::int64_t by, const PositionOptions& options) {
  SequenceEdit edit = SequenceEdit::of(dump);
  change_positions(edit, {id, {}, {{from, by}}}, options);
  return edit;
}

// A file, its model, and how far its K may be off after there and back: of its length.
struct Case {
  const char* file;
  const char* model;
  double tolerance;
};

constexpr Case cases[] = {
    {"modern/b11118/llama-fa-f32.ggsn", "llama", 1e-6},
    {"modern/b11118/llama-simple.ggsn", "llama", 1e-3},
    {"modern/b11118/llama-nofa-f16.ggsn", "llama", 1e-3},
    {"modern/b11118/llama-fa-bf16.ggsn", "llama", 6e-3},
    {"modern/b11118/llama-fa-q8_0.ggsn", "llama", 0.015},
    {"modern/b11118/llama-fa-q5_0.ggsn", "llama", 0.1},
    {"modern/b11118/llama-fa-q4_0.ggsn", "llama", 0.2},
    {"modern/b11118/llama-fa-iq4_nl.ggsn", "llama", 0.2},
    {"modern/b11118/gemma3-swa.ggsn", "gemma3", 1e-3},
    {"modern/b11118/ds2mla.ggsn", "deepseek2-mla", 1e-3},
    {"modern/b11118/dsa-deepseek32.ggsn", "deepseek32", 1e-3},
    {"modern/b11118/msa-minimax-m3.ggsn", "minimax-m3", 1e-3},
    {"modern/b11118/lfm2.ggsn", "lfm2", 1e-3},
    {"modern/b11118/qwen2vl-image.ggsn", "qwen2vl", 1e-3},
    {"server/b0.7.0-library/llamah64-q8_0-unified.seq2.ggsq", "llama-h64", 0.015},
};

// Length of the difference of all K of a stream over the length of K.
double k_distance(const Dump& a, const Dump& b) {
  double difference = 0;
  double length = 0;
  for (std::size_t m = 0; m < a.state.memories.size(); ++m)
    for (std::size_t s = 0; s < a.state.memories[m].streams.size(); ++s) {
      const Stream& x = a.state.memories[m].streams[s];
      const Stream& y = b.state.memories[m].streams[s];
      if (a.state.memories[m].kind != MemoryKind::attention) continue;
      for (std::size_t l = 0; l < x.layers.size(); ++l)
        for (std::size_t c = 0; c < x.cells.size(); ++c) {
          const auto p = cell_values(a, x, x.layers[l].k, c);
          const auto q = cell_values(b, y, y.layers[l].k, c);
          for (std::size_t i = 0; i < p.size(); ++i) {
            difference += std::pow(double{p[i]} - q[i], 2);
            length += std::pow(double{p[i]}, 2);
          }
        }
    }
  return std::sqrt(difference / length);
}

void expect_same_v(const Dump& a, const Dump& b) {
  for (std::size_t m = 0; m < a.state.memories.size(); ++m)
    for (std::size_t s = 0; s < a.state.memories[m].streams.size(); ++s) {
      const Stream& x = a.state.memories[m].streams[s];
      const Stream& y = b.state.memories[m].streams[s];
      for (std::size_t l = 0; l < x.layers.size(); ++l)
        for (std::size_t c = 0; c < x.cells.size(); ++c)
          EXPECT_EQ(cell_payload(a, x, x.layers[l].v, c), cell_payload(b, y, y.layers[l].v, c));
    }
}

TEST(Shift, ThereAndBackIsWithinTheToleranceOfTheType) {
  for (const Case& one : cases) {
    SCOPED_TRACE(one.file);
    const DumpPtr before = with_key_rotation(genuine(one.file), StatedRotation::none, std::nullopt);
    const PositionOptions options = ropes_of(one.model, *before);
    const DumpPtr there = written(moved(before, std::nullopt, {0, open_end}, 37, options).plan);
    expect_same_v(*before, *there);
    EXPECT_GT(k_distance(*before, *there), 0.3);
    const DumpPtr again = with_key_rotation(there, StatedRotation::none, std::nullopt);
    const DumpPtr back = written(moved(again, std::nullopt, {0, open_end}, -37, options).plan);
    EXPECT_LT(k_distance(*before, *back), one.tolerance);
    EXPECT_EQ(back->state.memories[0].streams[0].cells, before->state.memories[0].streams[0].cells);
  }
}

TEST(Shift, AHundredByOneAreOneByAHundredExactly) {
  for (const Case& one : cases) {
    SCOPED_TRACE(one.file);
    const DumpPtr before = with_key_rotation(genuine(one.file), StatedRotation::none, std::nullopt);
    const PositionOptions options = ropes_of(one.model, *before);
    SequenceEdit steps = SequenceEdit::of(before);
    for (int i = 0; i < 100; ++i) change_positions(steps, {std::nullopt, {}, {{{i, open_end}, 1}}}, options);
    const SequenceEdit leap = moved(before, std::nullopt, {0, open_end}, 100, options);
    const DumpPtr a = written(steps.plan);
    EXPECT_EQ(bytes_of(*a), bytes_of(*written(leap.plan)));
    const SequenceEdit less = moved(before, std::nullopt, {0, open_end}, 99, options);
    EXPECT_NE(bytes_of(*a), bytes_of(*written(less.plan)));
  }
}

// A hundred files one after the other would have rounded a hundred times.
TEST(Shift, WrittenStepsWearTheDataOut) {
  const DumpPtr before = genuine("modern/b11118/llama-fa-q8_0.ggsn");
  const PositionOptions options = ropes_of("llama", *before);
  DumpPtr worn = with_key_rotation(before, StatedRotation::none, std::nullopt);
  for (int i = 0; i < 20; ++i)
    worn = with_key_rotation(written(moved(worn, std::nullopt, {0, open_end}, 1, options).plan),
                             StatedRotation::none, std::nullopt);
  const DumpPtr leap = written(moved(with_key_rotation(before, StatedRotation::none, std::nullopt),
                                     std::nullopt, {0, open_end}, 20, options).plan);
  EXPECT_GT(k_distance(*leap, *worn), 0.005);
}

TEST(Shift, OtherSequencesKeepSharedCells) {
  const DumpPtr before = genuine("modern/b11118/llama-multi-uni.ggsn");
  const PositionOptions options = ropes_of("llama", *before);
  const DumpPtr after = written(moved(before, 0, {0, open_end}, 50, options).plan);
  for (const SequenceId other : {1, 2}) EXPECT_EQ(seen(*after, 0, other), seen(*before, 0, other));
  std::vector<Position> expected = positions(*before, 0, 0);
  for (Position& p : expected) p += 50;
  EXPECT_EQ(positions(*after, 0, 0), expected);
}

TEST(Shift, LabelsOnlyLeavesK) {
  const DumpPtr before = genuine("modern/b11118/llama-simple.ggsn");
  const DumpPtr after = written(moved(before, std::nullopt, {0, open_end}, 5, {}).plan);
  EXPECT_EQ(k_distance(*before, *after), 0);
  EXPECT_EQ(after->state.memories[0].streams[0].cells.position(0), 5);
}

TEST(Shift, OnlyWhatMovesIsRewritten) {
  const DumpPtr before = genuine("modern/b11118/llama-fa-q8_0.ggsn");
  const DumpPtr known = with_key_rotation(before, StatedRotation::none, std::nullopt);
  const PositionOptions options = ropes_of("llama", *before);
  const DumpPtr after = written(moved(known, std::nullopt, {10, open_end}, 30, options).plan);
  const Stream& a = before->state.memories[0].streams[0];
  const Stream& b = after->state.memories[0].streams[0];
  for (std::size_t c = 0; c < a.cells.size(); ++c)
    EXPECT_EQ(whole_payload(*before, a, c) == whole_payload(*after, b, c), a.cells.position(c) < 10);
}

TEST(Close, LeavesNoHoleAndTheTokensOfWhatIsLeft) {
  const DumpPtr before = genuine("server/b0.7.0/chat-turn2.ggsq");
  const PositionOptions options = ropes_of("llama", *before);
  PositionChange change{std::nullopt, {{10, 20}, {5, 8}, {30, 31}}, {}};
  change.moved = closing_moves(change.removed);
  SequenceEdit edit = SequenceEdit::of(before);
  change_positions(edit, change, options);
  const DumpPtr after = written(edit.plan);
  const std::size_t left = before->tokens.ids.size() - 14;
  ASSERT_EQ(after->tokens.ids.size(), left);
  EXPECT_EQ(after->tokens.ids[5], before->tokens.ids[8]);
  EXPECT_EQ(after->tokens.ids[7], before->tokens.ids[20]);
  const CellTable& cells = after->state.memories[0].streams[0].cells;
  for (std::size_t c = 0; c < cells.size(); ++c)
    EXPECT_EQ(cells.position(c), static_cast<Position>(c));
}

// --- the tail ---

// Checkpoints at 25, 29 and 50 tokens, each with the window cache of that moment.
TEST(Close, CheckpointsWhoseCellsAllMoveGoAlong) {
  const DumpPtr before = genuine("server/b0.7.0/gemma3-2turns.ggsq");
  PositionOptions options = ropes_of("gemma3", *before);
  options.window = 12;
  PositionChange change{std::nullopt, {{0, 10}}, {}};
  change.moved = closing_moves(change.removed);
  SequenceEdit edit = SequenceEdit::of(before);
  change_positions(edit, change, options);
  const DumpPtr after = written(edit.plan);
  ASSERT_EQ(after->tail.checkpoints.size(), before->tail.checkpoints.size());
  for (std::size_t i = 0; i < after->tail.checkpoints.size(); ++i) {
    const Checkpoint& a = before->tail.checkpoints[i];
    const Checkpoint& b = after->tail.checkpoints[i];
    EXPECT_EQ(b.tokens, a.tokens - 10);
    EXPECT_EQ(b.pos_max, a.pos_max - 10);
    const Stream& x = a.target.state->memories[0].streams[0];
    const Stream& y = b.target.state->memories[0].streams[0];
    for (std::size_t c = 0; c < x.cells.size(); ++c) {
      EXPECT_EQ(y.cells.position(c), x.cells.position(c) - 10);
      EXPECT_EQ(cell_payload(*before, x, x.layers[0].v, c), cell_payload(*after, y, y.layers[0].v, c));
      std::vector<float> turned = cell_values(*before, x, x.layers[0].k, c);
      turn(*options.rope->memories[1]->layers[0], -10, turned);
      const std::vector<float> found = cell_values(*after, y, y.layers[0].k, c);
      for (std::size_t e = 0; e < found.size(); ++e) EXPECT_NEAR(found[e], turned[e], 4e-3) << e;
    }
  }
}

TEST(Close, CheckpointsThatTheEditGoesThroughGo) {
  const DumpPtr before = genuine("server/b0.7.0/gemma3-2turns.ggsq");
  PositionOptions options = ropes_of("gemma3", *before);
  options.window = 12;
  PositionChange change{std::nullopt, {{20, 22}}, {}};
  change.moved = closing_moves(change.removed);
  SequenceEdit edit = SequenceEdit::of(before);
  change_positions(edit, change, options);
  const DumpPtr after = written(edit.plan);
  const Tail& tail = after->tail;
  ASSERT_EQ(tail.checkpoints.size(), 1U);  // the windows of those at 25 and 29 tokens were cut
  EXPECT_EQ(tail.checkpoints[0].tokens, 48U);
  EXPECT_EQ(edit.notes, std::vector<std::string>{
                            "dropped 2 of 3 checkpoints: they lie behind the change"});
}

TEST(Shift, RecurrentStatesAndTheirCheckpointsMoveWithTheirSequence) {
  const DumpPtr before = genuine("server/b0.7.0/lfm2-2turns.ggsq");
  const DumpPtr after =
      written(moved(before, std::nullopt, {0, open_end}, 5, ropes_of("lfm2", *before)).plan);
  const auto position = [](const State& state) {
    return state.memories.back().streams[0].cells.position(0);
  };
  EXPECT_EQ(position(after->state), position(before->state) + 5);
  ASSERT_EQ(after->tail.checkpoints.size(), before->tail.checkpoints.size());
  for (std::size_t i = 0; i < after->tail.checkpoints.size(); ++i) {
    const Checkpoint& a = before->tail.checkpoints[i];
    const Checkpoint& b = after->tail.checkpoints[i];
    EXPECT_EQ(b.tokens, a.tokens);
    EXPECT_EQ(position(*b.target.state), position(*a.target.state) + 5);
  }
}

// --- facts ---

TEST(RopeFacts, WindowLayersHaveTheirOwnBase) {
  const DumpPtr dump = genuine("modern/b11118/gemma3-swa.ggsn");
  RopeOptions options;
  options.base = 1000000;
  const RopeFacts facts = rope_of_model(model_named("gemma3"), *dump, options);
  const auto& base = facts.memories[0]->layers[0]->angles;
  const auto& window = facts.memories[1]->layers[0]->angles;
  EXPECT_NEAR(base[8], std::pow(1e6, -16.0 / 32), 1e-12);
  EXPECT_NEAR(window[8], std::pow(1e4, -16.0 / 32), 1e-12);
}

TEST(RopeFacts, AModelWithoutPositionsHasNone) {
  const DumpPtr dump = genuine("modern/b11118/jamba.ggsn");
  for (const auto& memory : rope_of_model(model_named("jamba"), *dump).memories)
    EXPECT_EQ(memory, nullptr);
}

TEST(RopeFacts, WithoutAModelTheyHaveToBeSaid) {
  const DumpPtr dump = genuine("modern/b11118/llama-simple.ggsn");
  RopeOptions options;
  EXPECT_NE(refusal([&] { static_cast<void>(rope_of_options(*dump, options)); })
                .find("say --model MODEL.gguf"),
            std::string::npos);
  options.pairs = RopePairs::neighbours;
  options.base = 10000;
  options.head = 32;
  const auto from_options = rope_of_options(*dump, options).memories[0]->layers[0]->angles;
  EXPECT_EQ(from_options, rope_of_model(model_named("llama"), *dump).memories[0]->layers[0]->angles);
}

TEST(RopeFacts, RotationOfQuantizedKHasToBeKnown) {
  const DumpPtr dump = genuine("modern/b11118/llamah64-fa-q8_0.seq0.ggsq");
  const auto shape = shape_of_model(model_named("llama-h64"), era_of_dump(*dump));
  EXPECT_NE(refusal([&] { static_cast<void>(with_key_rotation(dump, StatedRotation::unknown, shape)); })
                .find("say --rotation none or hadamard"),
            std::string::npos);
  EXPECT_NE(refusal([&] {
              static_cast<void>(with_key_rotation(dump, StatedRotation::hadamard, std::nullopt));
            })
                .find("say --model MODEL.gguf"),
            std::string::npos);
  EXPECT_EQ(with_key_rotation(dump, StatedRotation::hadamard, shape)
                ->state.memories[0].streams[0].rot_k,
            64U);
}

}  // namespace
}  // namespace kvtool
