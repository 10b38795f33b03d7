// Edits: pure functions from a dump to a plan. They choose cells and move no bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kvtool/plan.h"

namespace kvtool {

// Attention caches of one file that list the same cells are kept in step by every edit here: the
// index caches of sparse attention (deepseek32, minimax-m3, qwen4exp) name cells of the other cache
// by their place, and a loader checks nothing of that. Where they are independent it does no harm.

// Exchanges two cells of one stream: labels and data together. Throws Error(usage) for addresses
// that do not exist or that lie in different streams.
[[nodiscard]] Plan swap(std::shared_ptr<const Dump> dump, CellAddress a, CellAddress b);

// Moves `count` cells that begin at `from` so that the first of them has index `to` afterwards; the
// cells between close up. Throws Error(usage) when a range leaves the stream.
[[nodiscard]] Plan move(std::shared_ptr<const Dump> dump, CellAddress from, std::uint32_t to,
                        std::uint32_t count);

struct DefragOptions {
  bool stable = false;  // keep the order, only drop cells that no sequence uses
};

// Orders the cells of every attention stream so that each sequence is one ascending run where the
// sharing of cells allows it, shared prefixes first, and drops cells that no sequence uses.
[[nodiscard]] Plan defrag(std::shared_ptr<const Dump> dump, const DefragOptions& options = {});
// The same to a plan that other edits have been at.
void defrag(Plan& plan, const DefragOptions& options);

// The order that defrag gives a stream: indices of today's cells. `keep_unnamed`: cells without ids
// belong to the one sequence of the file.
[[nodiscard]] std::vector<std::uint32_t> defrag_order(const CellTable& cells, bool keep_unnamed,
                                                      bool stable);

// What another order of cells may change in the model's answers although every cell keeps what it
// holds, one sentence each. Empty where the plan keeps the order or the order does not matter.
[[nodiscard]] std::vector<std::string> dangers_of_order(const Plan& plan);

struct TruncateOptions {
  // How many positions the model's window layers look back, the new one included (n_swa). Without
  // it a window cache is only cut where that is safe for any window.
  std::uint32_t window = 0;
};

// Keeps the first `tokens` tokens and their cells; positions are taken through the media table.
// Checkpoints beyond go, as do the logits of the last token. Throws Error(usage) for more tokens
// than there are, and Error(refused): within an image or a sound; for a file of several sequences;
// when the tokens are not those of the cells; when a window cache does not hold what the token
// after the cut looks back to (the oldest place for a cut is named); for recurrent states and
// compressed caches, unless nothing of them is cut off.
[[nodiscard]] Plan truncate(std::shared_ptr<const Dump> dump, std::uint64_t tokens,
                            const TruncateOptions& options = {});

// Goes back to checkpoint number `checkpoint` of the tail, as a server does: what cannot be cut
// comes from it, the rest is cut at its tokens. Later checkpoints go. Throws Error(usage) if there
// is no such checkpoint, Error(refused) if it does not belong to the file or the rest cannot be
// cut.
[[nodiscard]] Plan truncate_to_checkpoint(std::shared_ptr<const Dump> dump, std::size_t checkpoint);

}  // namespace kvtool
