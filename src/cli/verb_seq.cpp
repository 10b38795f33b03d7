// seq: one verb for the edits of sequences, each a verb of its own below it.
#include <limits>

#include "cli/edit_report.h"
#include "cli/parts.h"
#include "cli/rope_options.h"
#include "cli/seq_ls.h"
#include "cli/verb.h"
#include "kvtool/error.h"
#include "kvtool/sequences.h"

namespace kvtool::cli {
namespace {

constexpr PositionRange all_positions{0, std::numeric_limits<std::int64_t>::max()};

std::vector<PositionRange> ranges_of(const std::vector<std::string>& texts) {
  std::vector<PositionRange> ranges;
  ranges.reserve(texts.size());
  for (const std::string& text : texts) ranges.push_back(parse_positions(text));
  return ranges;
}

std::optional<SequenceId> sequence_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return parse_sequence(text);
}

Json json_of(const std::optional<SequenceId>& id) { return id ? Json(*id) : Json(nullptr); }

std::string named(const std::optional<SequenceId>& id) {
  return id ? fmt::format("sequence {}", *id) : std::string("every sequence");
}

using DumpPtr = std::shared_ptr<const Dump>;

// Opens, edits, writes; errors get the name of the file.
template <class Edit>
int edit_file(const RewriteOptions& rewrite, const std::string& headline, const Json& figures,
              Edit&& make) {
  const auto dump = open(rewrite.input);
  SequenceEdit edit;
  try {
    edit = make(dump);
  } catch (const Error& error) {
    throw error.in_file(dump->source->name());
  }
  write_edit(edit, rewrite, headline, figures);
  return exit_fine;
}

// An edit of labels: change(edit).
template <class Change>
int edit_labels(const RewriteOptions& rewrite, const std::string& headline, const Json& figures,
                Change&& change) {
  return edit_file(rewrite, headline, figures, [&](const DumpPtr& dump) {
    SequenceEdit edit = SequenceEdit::of(dump);
    change(edit);
    return edit;
  });
}

// An edit of positions, with what it takes to move K if something `moves`: change(edit, options).
template <class Change>
int edit_positions(const RewriteOptions& rewrite, const std::string& headline, const Json& figures,
                   const MoveOptions& how, bool moves, Change&& change) {
  return edit_file(rewrite, headline, figures, [&](const DumpPtr& dump) {
    const Prepared ready = prepare(how, dump, moves);
    SequenceEdit edit = SequenceEdit::of(ready.dump);
    change(edit, ready.options);
    return edit;
  });
}

// Declares --pos of the edits that take several ranges.
void add_ranges(CLI::App& verb, std::vector<std::string>& ranges) {
  verb.add_option("--pos", ranges, "positions from A up to and without B; repeatable")
      ->type_name("A:B");
}


// --- rm ---

struct RemoveOptions {
  RewriteOptions rewrite;
  MoveOptions moves;
  std::string sequence;
  std::vector<std::string> positions;
  bool close = false;
};

int remove(const RemoveOptions& o) {
  PositionChange change;
  change.sequence = sequence_of(o.sequence);
  change.removed = ranges_of(o.positions);
  if (change.removed.empty() && !change.sequence)
    throw Error(ErrorKind::usage, "remove what? give --pos A:B, or --seq ID for a whole sequence");
  if (change.removed.empty()) change.removed = {all_positions};
  if (o.close) change.moved = closing_moves(change.removed);
  return edit_positions(o.rewrite,
                        fmt::format("removed from {}{}", named(change.sequence),
                                    o.close ? ", closed" : ""),
                        {{"edit", "rm"}, {"seq", json_of(change.sequence)}, {"close", o.close}},
                        o.moves, !change.moved.empty(),
                        [&](SequenceEdit& edit, const PositionOptions& options) {
                          change_positions(edit, change, options);
                        });
}

Action add_remove(CLI::App& verb) {
  auto options = std::make_shared<RemoveOptions>();
  add_rewrite(verb, options->rewrite);
  verb.add_option("--seq", options->sequence, "only from this sequence")->type_name("ID");
  add_ranges(verb, options->positions);
  verb.add_flag("--close", options->close,
                "bring what lies behind forward, so that no hole is left");
  add_moves(verb, options->moves, options->rewrite.input);
  return [options] { return remove(*options); };
}

// --- shift ---

struct ShiftOptions {
  RewriteOptions rewrite;
  MoveOptions moves;
  std::string sequence;
  std::vector<std::string> positions;
  std::vector<std::int64_t> by;
};

// The ranges after they have moved.
std::vector<PositionRange> moved(std::vector<PositionRange> ranges, std::int64_t by) {
  for (PositionRange& range : ranges) {
    range.begin += by;
    if (range.end != all_positions.end) range.end += by;
  }
  return ranges;
}

// One after the other; K turns once, by the sum.
void shift_all(SequenceEdit& edit, const ShiftOptions& o, const PositionOptions& options) {
  std::vector<PositionRange> ranges = ranges_of(o.positions);
  if (ranges.empty()) ranges = {all_positions};
  for (const std::int64_t by : o.by) {
    PositionChange change;
    change.sequence = sequence_of(o.sequence);
    for (const PositionRange& range : ranges) change.moved.push_back({range, by});
    change_positions(edit, change, options);
    ranges = moved(ranges, by);
  }
}

int shift(const ShiftOptions& o) {
  const auto sequence = sequence_of(o.sequence);
  constexpr std::int64_t most = std::numeric_limits<Position>::max();
  std::int64_t sum = 0;
  for (const std::int64_t by : o.by) {
    if (by < -most || by > most)
      throw Error(ErrorKind::usage, fmt::format("--by {}: positions go up to {}", by, most));
    sum += by;
  }
  return edit_positions(o.rewrite,
                        fmt::format("moved {} by {}{}", named(sequence), sum,
                                    o.moves.labels_only ? ", labels only" : ""),
                        {{"edit", "shift"},
                         {"seq", json_of(sequence)},
                         {"by", sum},
                         {"labels_only", o.moves.labels_only}},
                        o.moves, true, [&](SequenceEdit& edit, const PositionOptions& options) {
                          shift_all(edit, o, options);
                        });
}

Action add_shift(CLI::App& verb) {
  auto options = std::make_shared<ShiftOptions>();
  add_rewrite(verb, options->rewrite);
  verb.add_option("--seq", options->sequence, "only this sequence")->type_name("ID");
  add_ranges(verb, options->positions);
  verb.add_option("--by", options->by, "how far, negative to the front; repeated: their sum")
      ->type_name("N")
      ->required();
  add_moves(verb, options->moves, options->rewrite.input);
  return [options] { return shift(*options); };
}

// --- cp ---

struct CopyOptions {
  RewriteOptions rewrite;
  std::string from;
  std::string to;
  std::string positions;
};

int copy(const CopyOptions& o) {
  const SequenceId from = parse_sequence(o.from);
  const SequenceId to = parse_sequence(o.to);
  const PositionRange range = o.positions.empty() ? all_positions : parse_positions(o.positions);
  return edit_labels(o.rewrite, fmt::format("sequence {} copied to {}", from, to),
                     {{"edit", "cp"}, {"from", from}, {"to", to}},
                     [&](SequenceEdit& edit) { copy_sequence(edit, from, to, range); });
}

Action add_copy(CLI::App& verb) {
  auto options = std::make_shared<CopyOptions>();
  add_rewrite(verb, options->rewrite);
  verb.add_option("S", options->from, "the sequence to copy")->required();
  verb.add_option("D", options->to, "the sequence that gets its cells")->required();
  verb.add_option("--pos", options->positions, "only positions from A up to and without B")
      ->type_name("A:B");
  return [options] { return copy(*options); };
}

// --- keep ---

struct KeepOptions {
  RewriteOptions rewrite;
  std::string sequence;
};

int keep(const KeepOptions& o) {
  const SequenceId id = parse_sequence(o.sequence);
  return edit_labels(o.rewrite, fmt::format("kept sequence {}", id),
                     {{"edit", "keep"}, {"seq", id}},
                     [&](SequenceEdit& edit) { keep_sequence(edit, id); });
}

Action add_keep(CLI::App& verb) {
  auto options = std::make_shared<KeepOptions>();
  add_rewrite(verb, options->rewrite);
  verb.add_option("S", options->sequence, "the sequence to keep")->required();
  return [options] { return keep(*options); };
}

// --- rename ---

struct RenameOptions {
  RewriteOptions rewrite;
  std::string from;
  std::string to;
};

int rename(const RenameOptions& o) {
  const SequenceId from = parse_sequence(o.from);
  const SequenceId to = parse_sequence(o.to);
  return edit_labels(o.rewrite, fmt::format("sequence {} is now {}", from, to),
                     {{"edit", "rename"}, {"from", from}, {"to", to}},
                     [&](SequenceEdit& edit) { rename_sequence(edit, from, to); });
}

Action add_rename(CLI::App& verb) {
  auto options = std::make_shared<RenameOptions>();
  add_rewrite(verb, options->rewrite);
  verb.add_option("S", options->from, "the sequence's id")->required();
  verb.add_option("D", options->to, "the id that it gets")->required();
  return [options] { return rename(*options); };
}

Action add_list(CLI::App& verb) {
  auto options = std::make_shared<SeqListOptions>();
  add_seq_ls(verb, *options);
  return [options] { return list_sequences(*options); };
}

constexpr VerbPart parts[] = {
    {"ls", "list the sequences", add_list},
    {"rm", "remove positions, or a whole sequence", add_remove},
    {"cp", "give a sequence's cells to another one as well", add_copy},
    {"keep", "drop every other sequence", add_keep},
    {"rename", "change a sequence's id", add_rename},
    {"shift", "move cells to other positions, K included", add_shift},
};

}  // namespace

Action add_seq(CLI::App& verb) { return add_parts(verb, parts); }

}  // namespace kvtool::cli
