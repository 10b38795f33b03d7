// Several dumps in one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kvtool/sequences.h"

namespace kvtool {

struct MergeOptions {
  bool renumber = false;                // sequences get ids 0, 1, 2 ... in the order of the files
  bool unified = true;                  // one stream for all; else one for each sequence
  std::optional<std::string> arch;      // for sessions, where no file names it
};

// One session with the sequences of all files. Cells of one sequence that come from several files
// must be of different positions. The token list is that of the first file. Throws Error(usage) for
// no files; Error(refused) for files of different shape, type, arch or rotation (with the file that
// differs and the convert that helps), positions that overlap, and compressed caches.
[[nodiscard]] SequenceEdit merge_dumps(const std::vector<std::shared_ptr<const Dump>>& dumps,
                                       const MergeOptions& options = {});

// One sequence after the other: the cells of each file follow those of the one before, K turned by
// as many positions. All must hold one sequence. What a model would compute differs: no part
// attended to those before it, and a note says so. `options.rope` is needed unless only labels
// shall move. Throws as merge_dumps does, and Error(refused) for recurrent states.
[[nodiscard]] SequenceEdit append_dumps(const std::vector<std::shared_ptr<const Dump>>& dumps,
                                        const PositionOptions& options);

}  // namespace kvtool
