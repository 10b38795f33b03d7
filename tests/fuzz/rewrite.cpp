// Edits of whatever opens: the size is foretold, what was written opens again, and edits that only
// reorder keep the content.
//
// Input: a byte that chooses the edit, six that say where, and the file.
#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "fuzz/target.h"
#include "kvtool/compare.h"
#include "kvtool/convert.h"
#include "kvtool/edit.h"
#include "kvtool/extract.h"
#include "kvtool/merge.h"
#include "kvtool/sequences.h"
#include "kvtool/share.h"
#include "support/damage.h"
#include "support/tiny_dump.h"

namespace kvtool::fuzz {
namespace {

using DumpPointer = std::shared_ptr<const Dump>;

// Cells of a stream that the choices name.
CellAddress cell_of(const Dump& dump, Choices& choices) {
  CellAddress address;
  address.memory = choices.below(dump.state.memories.size());
  if (address.memory < dump.state.memories.size()) {
    const auto& streams = dump.state.memories[address.memory].streams;
    if (!streams.empty()) address.cell = choices.below(streams.front().cells.size());
  }
  return address;
}

Plan swapped(const DumpPointer& dump, Choices& choices) {
  const CellAddress a = cell_of(*dump, choices);
  CellAddress b = a;
  b.cell = choices.below(std::uint64_t{a.cell} + 8);
  return swap(dump, a, b);
}

Plan moved(const DumpPointer& dump, Choices& choices) {
  const CellAddress from = cell_of(*dump, choices);
  return move(dump, from, choices.below(8), 1 + choices.below(3));
}

Plan removed(const DumpPointer& dump, Choices& choices) {
  SequenceEdit edit = SequenceEdit::of(dump);
  const std::int64_t begin = choices.byte();
  PositionChange change;
  change.removed.push_back({begin, begin + choices.byte()});
  if (choices.byte() % 2 == 1) change.moved = closing_moves(change.removed);
  change_positions(edit, change);
  return std::move(edit.plan);
}

Plan relabelled(const DumpPointer& dump, Choices& choices) {
  SequenceEdit edit = SequenceEdit::of(dump);
  const auto from = static_cast<SequenceId>(choices.byte());
  switch (choices.byte() % 3) {
    case 0: keep_sequence(edit, from); break;
    case 1: rename_sequence(edit, from, static_cast<SequenceId>(choices.byte())); break;
    default:
      copy_sequence(edit, from, static_cast<SequenceId>(choices.byte()), {0, choices.byte()});
  }
  return std::move(edit.plan);
}

Plan converted(const DumpPointer& dump, Choices& choices) {
  static constexpr std::array loaders = {"2024-09", "b10256", "0.7.0"};
  Target target;
  target.era = era_of_loader(loaders[choices.byte() % loaders.size()]);
  if (choices.byte() % 2 == 1) target.flash_attention = choices.byte() % 2 == 1;
  return convert(dump, target).plan;
}

// Dumps of every layout that a conversion takes from a reference: those of before August 2024 and of
// ik_llama.cpp.
const std::vector<DumpPointer>& references() {
  static const std::vector<DumpPointer> all = [] {
    std::vector<DumpPointer> dumps;
    for (const test::TinyDump& tiny : test::tiny_dumps()) {
      const Dialect& d = tiny.dialect;
      const bool other = d.body != Body::current || d.family == Family::ik_llama;
      if (!other || d.body == Body::pool || d.container == Container::sequence_state) continue;
      OpenOptions options;
      options.layout = tiny.layout;
      dumps.push_back(std::make_shared<Dump>(
          open_dump(memory_source(tiny.layout, test::build(tiny)), options)));
    }
    return dumps;
  }();
  return all;
}

Plan converted_like(const DumpPointer& dump, Choices& choices) {
  ConvertOptions options;
  options.like = references()[choices.byte() % references().size()];
  options.drop = {"outputs", "cells", "media", "checkpoints", "draft"};
  if (choices.byte() % 2 == 1) options.sequence = static_cast<SequenceId>(choices.byte());
  Target target = target_like(*options.like);
  if (choices.byte() % 2 == 1) target.n_ctx = 1 + choices.byte();
  return convert(dump, target, options).plan;
}

struct Edit {
  bool keeps_content;
  Plan (*make)(const DumpPointer& dump, Choices& choices);
};

constexpr std::array edits = {
    Edit{true, swapped},
    Edit{true, moved},
    Edit{false, [](const DumpPointer& dump, Choices& c) { return defrag(dump, {c.byte() % 2 == 1}); }},
    Edit{false, [](const DumpPointer& dump, Choices& c) { return truncate(dump, c.byte()); }},
    Edit{false, [](const DumpPointer& dump, Choices& c) { return truncate_to_checkpoint(dump, c.byte()); }},
    Edit{false, removed},
    Edit{false, relabelled},
    Edit{false, [](const DumpPointer& dump, Choices& c) {
           return extract_sequence(dump, static_cast<SequenceId>(c.byte())).plan;
         }},
    Edit{false, converted},
    Edit{false, converted_like},
};

// Whether a position of a sequence has one cell. Where a damaged file gives it two, nothing but
// their order says which is which.
bool tells_cells_apart(const Dump& dump) {
  bool apart = true;
  for_each_stream(dump, [&](const Stream& stream) {
    std::set<std::tuple<SequenceId, Position, std::int32_t, std::int32_t>> seen;
    for (std::size_t c = 0; c < stream.cells.size(); ++c)
      for (const SequenceId id : stream.cells.sequences(c)) {
        const CellExtra extra = stream.cells.extra(c);
        apart = seen.emplace(id, stream.cells.position(c), extra.x, extra.y).second && apart;
      }
  });
  return apart;
}

// What was written is as large as foretold and is a sound dump of its own.
void check_written(const Dump& before, const Plan& plan, bool keeps_content) {
  const test::ByteVector bytes = test::rewritten(plan);
  require(size_of(plan) == bytes.size(), "size_of foretells the size");
  OpenOptions options;
  options.trailing = Trailing::keep;
  const test::Outcome outcome = test::open_bytes(bytes, options);
  if (!outcome.dump) {
    const bool two_fit = outcome.error->kind() == ErrorKind::refused;
    require(two_fit, std::string("what was written does not open: ") + outcome.error->what());
    return;
  }
  const std::string flaw = test::flaw_of(outcome.dump, bytes);
  require(flaw.empty(), flaw);
  if (keeps_content && tells_cells_apart(before))
    require(compare(before, *outcome.dump).same(), "the content is the same");
}

}  // namespace

void try_input(std::span<const std::byte> input) {
  Choices choices(input);
  const Edit& edit = edits[choices.byte() % edits.size()];
  Choices where(choices.rest().first(std::min<std::size_t>(6, choices.rest().size())));
  const auto file = choices.rest().subspan(where.rest().size());
  const test::Outcome outcome = test::open_bytes(file);
  if (!outcome.dump) return;
  const bool plain = outcome.dump->notes.empty();  // no impossible labels in it
  check_written(*outcome.dump, edit.make(outcome.dump, where), edit.keeps_content && plain);
}

}  // namespace kvtool::fuzz
