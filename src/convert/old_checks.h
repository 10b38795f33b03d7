// What sessions of before August 2024 have no place for.
#pragma once

#include <cstdint>
#include <string>

#include "format/header_struct.h"
#include "kvtool/dump.h"

namespace kvtool::convert_steps {

// All throw Error(refused) with what is in the way and what helps. `version` is the target's, for words.

// One cache with K and V in every layer, or one recurrent memory. `layout`: of the source.
void need_one_memory(const State& state, const std::string& layout);
// K and V, or states, as wide as the target's model parameters make them.
void need_header_of_model(const Memory& memory, const format::HeaderFacts& facts,
                          const format::HeaderLayout& layout);
// Types that builds with this layout had, the same in all layers, because they are not stored.
void need_old_types(const Stream& stream, const Dialect& to, std::uint32_t version);
// One sequence, whose position i is in cell i: versions 0 and 1.
void need_plain_order(const CellTable& cells, std::uint32_t version);
// Cell i of a recurrent memory is the state of sequence i alone.
void need_own_cells(const CellTable& cells);

// True for types that a cache could have in those years.
[[nodiscard]] bool was_a_cache_type(ElementType type);

}  // namespace kvtool::convert_steps
