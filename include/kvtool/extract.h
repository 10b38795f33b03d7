// One sequence out of a session, as a slot file.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "kvtool/sequences.h"

namespace kvtool {

struct ExtractOptions {
  // The ids of the sequence, where the caller knows better than the session: they must be as many
  // as its cells, or one more.
  std::optional<std::vector<TokenId>> tokens;
  // How many positions the model's window layers look back (n_swa): cells outside the window are
  // left out, as llama.cpp does since June 2026. 0: all are kept.
  std::uint32_t window = 0;
};

// Takes sequence `sequence` out of a session or state: its cells in their order, its recurrent
// state, and its tokens as far as they are known. Throws Error(refused) if there is no such
// sequence, and Error(usage) for tokens of another number.
[[nodiscard]] SequenceEdit extract_sequence(const std::shared_ptr<const Dump>& dump,
                                            SequenceId sequence,
                                            const ExtractOptions& options = {});

}  // namespace kvtool
