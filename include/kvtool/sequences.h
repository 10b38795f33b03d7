// Edits of sequences: what llama.cpp's llama_memory_seq_* calls do to a live cache, done to a file.
//
// Each works on a plan, so that several can follow one another and the bytes are written once. The
// stored tokens and the tail of a slot file follow. Positions are given as they are before the
// edit.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kvtool/facts.h"
#include "kvtool/plan.h"
#include "kvtool/rope.h"

namespace kvtool {

// A dump under edit.
struct SequenceEdit {
  Plan plan;
  std::vector<std::string> notes;  // what the edits cost or could not follow, one sentence each

  [[nodiscard]] static SequenceEdit of(std::shared_ptr<const Dump> dump);
  // Adds a sentence, once.
  void note(const std::string& sentence);
};

// Cells that get new positions.
struct PositionMove {
  PositionRange from;   // their positions before
  std::int64_t by = 0;  // what is added
};

// What becomes of the positions of one sequence, or of all.
struct PositionChange {
  std::optional<SequenceId> sequence;  // nothing: all sequences
  std::vector<PositionRange> removed;  // their cells go, or stay with the other sequences
  std::vector<PositionMove> moved;     // disjoint, and disjoint from `removed`
};

struct PositionOptions {
  // How many positions the model's window layers look back, the new one included (n_swa). Without
  // it a window cache must keep as much as it held before.
  std::uint32_t window = 0;
  // How K turns with its position; needed for moves. Nothing: only labels change, and a loader will
  // compute with K of the old positions.
  std::shared_ptr<const RopeFacts> rope;
};

// Removes and moves cells. A cell that other sequences share is not changed for them: it is split.
// Throws Error(usage) for ranges that overlap; Error(refused) for sequences that do not exist,
// positions that would be negative or taken twice, ranges that go through an image or a sound, what
// a window cache or a recurrent state cannot follow, and compressed caches.
void change_positions(SequenceEdit& edit, const PositionChange& change,
                      const PositionOptions& options = {});

// The moves that close what is removed: cells behind it come forward. Overlapping ranges count
// once.
[[nodiscard]] std::vector<PositionMove> closing_moves(std::vector<PositionRange> removed);

// Gives the cells of sequence `from` at `positions` to `to` as well, as a copy where sequences have
// streams of their own. Throws Error(refused) for files of one sequence, when `to` has other cells
// there or no stream, and when a recurrent state would have to be cut.
void copy_sequence(SequenceEdit& edit, SequenceId from, SequenceId to,
                   const PositionRange& positions);

// Drops every other sequence. Throws Error(refused) if it does not exist.
void keep_sequence(SequenceEdit& edit, SequenceId sequence);

// Changes a sequence's id. Throws Error(refused) if `from` does not exist, `to` does, or has no
// stream, or the file names no ids.
void rename_sequence(SequenceEdit& edit, SequenceId from, SequenceId to);

// The token ids of a sequence in the order of its positions, as far as the dump makes them certain
// from the beginning on: from the cells, from the token list if it can only be that of this
// sequence, or of another one that shares the cells. -1 stands for what is no text.
[[nodiscard]] std::vector<TokenId> known_tokens(const Dump& dump, SequenceId sequence);

}  // namespace kvtool
