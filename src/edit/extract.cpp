#include "kvtool/extract.h"

#include <fmt/format.h>

#include <algorithm>

#include "edit/members.h"
#include "edit/stream_builder.h"
#include "edit/token_places.h"
#include "format/container.h"
#include "kvtool/convert.h"
#include "kvtool/error.h"

namespace kvtool {
namespace {

std::uint64_t cells_in_longest(const State& state) {
  std::uint64_t most = 0;
  for (const Memory& memory : state.memories)
    if (memory.kind == MemoryKind::attention) most = std::max(most, cells_of(memory));
  return most;
}

bool has_attention(const State& state) {
  return std::ranges::any_of(state.memories,
                             [](const Memory& m) { return m.kind == MemoryKind::attention; });
}

// llama.cpp had none before April 2024, nor for recurrent states before August 2024.
void need_slot_files(const Dialect& d) {
  const bool had = d.body == Body::current || d.body == Body::typed_slot || d.body >= Body::output_ids;
  if (!had)
    throw Error(ErrorKind::refused,
                fmt::format("at the time of sessions of version {} there were no slot files; kvtool convert "
                            "--to ggsq:VERSION --seq ID takes a sequence out for a later loader",
                            d.version));
}

void set_given_tokens(SequenceEdit& edit, const std::vector<TokenId>& ids) {
  Dump& target = edit.plan.target;
  const std::uint64_t cells = cells_in_longest(target.state);
  if (has_attention(target.state) && ids.size() != cells && ids.size() != cells + 1)
    throw Error(ErrorKind::usage,
                fmt::format("{} tokens for a sequence of {} cells", ids.size(), cells));
  target.tokens = tokens_like(target.tokens, ids);
}

void set_known_tokens(SequenceEdit& edit, const Dump& source, SequenceId sequence) {
  Dump& target = edit.plan.target;
  const std::vector<TokenId> ids = known_tokens(source, sequence);
  if (ids != target.tokens.ids) target.tokens = tokens_like(target.tokens, ids);
  const std::uint64_t cells = cells_in_longest(target.state);
  if (ids.size() < cells)
    edit.note(
        fmt::format("the session tells the tokens of {} of its {} cells; the others are not in "
                    "the list (give them with --tokens)",
                    ids.size(), cells));
}

// Cells that the next token cannot see are not saved.
void drop_masked(Memory& memory, std::uint32_t window) {
  Position last = -1;
  for (const Stream& stream : memory.streams)
    for (std::size_t c = 0; c < stream.cells.size(); ++c)
      last = std::max(last, stream.cells.position(c));
  for (Stream& stream : memory.streams)
    rebuild(stream, [&](StreamCell& cell, StreamBuilder& builder) {
      if (std::int64_t{last} - cell.position < window) builder.append(cell);
    });
}

}  // namespace

SequenceEdit extract_sequence(const std::shared_ptr<const Dump>& dump, SequenceId sequence,
                              const ExtractOptions& options) {
  require_sequence(*dump, sequence);
  if (!format::has_header(dump->dialect))
    throw Error(ErrorKind::refused,
                "a bare state does not say its version; kvtool convert --to ggsq:VERSION takes a "
                "sequence out of it");
  need_slot_files(dump->dialect);
  Target target;
  target.container = Container::slot;
  ConvertOptions how;
  how.sequence = sequence;
  how.drop = {"outputs", "rng"};
  Conversion conversion = convert(dump, target, how);
  SequenceEdit edit{std::move(conversion.plan), std::move(conversion.costs)};
  options.tokens ? set_given_tokens(edit, *options.tokens)
                 : set_known_tokens(edit, *dump, sequence);
  for (Memory& memory : edit.plan.target.state.memories)
    if (memory.role == "window" && options.window > 0) drop_masked(memory, options.window);
  return edit;
}

}  // namespace kvtool
