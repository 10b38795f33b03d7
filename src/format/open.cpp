#include "kvtool/open.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "format/choose.h"
#include "format/container.h"
#include "format/ik_llama.h"
#include "format/old_state.h"
#include "format/row_heads.h"
#include "format/stamp.h"
#include "format/state.h"
#include "format/tail.h"
#include "format/type_ranking.h"
#include "kvtool/error.h"
#include "kvtool/pack.h"

namespace kvtool {
namespace {

using namespace format;

// Skimming jumps from header to header and reads no more around them than this.
constexpr std::size_t skim_block_bytes = 512;
constexpr std::size_t usual_block_bytes = 1U << 14U;

// Tries layouts on one file and collects those that fit.
class Opener {
 public:
  Opener(std::shared_ptr<const Source> source, const OpenOptions& options)
      : source_(std::move(source)),
        options_(options),
        window_(*source_, options.skim ? skim_block_bytes : usual_block_bytes) {}

  // What could not be read is no reason to take another layout.
  Dump open() {
    try {
      Dump dump = find();
      window_.require_readable();
      return dump;
    } catch (const Error&) {
      window_.require_readable();
      throw;
    }
  }

 private:
  Dump find() {
    const Stamp stamp = read_stamp(window_);
    refuse_other_files(window_, stamp);
    const bool old_state = !is_dump_magic(stamp.magic) && is_old_state(window_);
    const std::vector<Dialect> dialects = old_state ? old_state_dialects() : dialects_of(stamp);
    if (dialects.empty()) refuse_version(stamp);
    if (options_.skim && stamp.magic == slot_magic)
      if (auto dump = plain_caches(dialects)) return std::move(*dump);
    if (auto dump = packed_layout(dialects)) return std::move(*dump);
    for (const Strictness strictness : {Strictness::plausible, Strictness::structural}) {
      try_all(dialects, strictness);
      if (!readings_.empty()) return finish(strictness);
    }
    refuse_unseen_ik_llama(window_, stamp.magic);
    if (old_state) refuse_bare_pool(window_);
    if (old_state && !options_.bare) ask_for_shape();
    blame_one_word(dialects);
    fail_all(stamp);
  }

  // A container knows the layout that was found when it was packed. It is read like any other, but
  // nothing else is tried, because that would unpack pieces of tensors. Nothing if it does not fit.
  std::optional<Dump> packed_layout(const std::vector<Dialect>& dialects) {
    const auto packing = packing_of(*source_);
    if (!packing || packing->layout.empty()) return std::nullopt;
    const std::size_t slash = packing->layout.find('/');
    const std::string choices = packing->layout.substr(0, slash);
    const std::string arrangement = slash == std::string::npos ? "" : packing->layout.substr(slash + 1);
    for (const Dialect& dialect : dialects)
      if (name_of(dialect) == choices) try_dialect(dialect, Strictness::plausible, arrangement);
    std::erase_if(readings_, [&](const Dump& d) { return d.layout != packing->layout; });
    if (readings_.size() == 1) return finish(Strictness::plausible);
    readings_.clear();
    furthest_ = {};
    return std::nullopt;
  }

  // Nearly all files hold one plain cache, or one with a window behind it. Skimming takes that
  // reading, when it ends on the last byte or on a tail, without trying others. (Without a stream
  // count it could be a recurrent state.)
  std::optional<Dump> plain_caches(const std::vector<Dialect>& dialects) {
    Dump dump;
    dump.source = source_;
    dump.dialect = dialects.front();
    Reader behind_tokens(Cursor(window_, {0, window_.size()}), Strictness::plausible);
    behind_tokens.set_skims(true);
    try {
      prelude(behind_tokens, dump);
    } catch (const Error&) {
      return std::nullopt;
    }
    for (const Dialect& dialect : dialects)
      if (dialect.streams && read_plain_caches(behind_tokens, dump, dialect)) {
        dump.tokens = decode_tokens(std::move(dump.tokens.words));
        return dump;
      }
    return std::nullopt;
  }

  bool read_plain_caches(Reader io, Dump& dump, const Dialect& dialect) const {
    dump.dialect = dialect;
    dump.state = {};
    if (!read_cache(io, dump, "main")) return false;
    if (ends(io, dump)) return name_plain(dump, "kv");
    dump.state.memories.front().role = "base";
    io.set_skims_cells(false);  // how far back a window reaches is worth reading
    if (!read_cache(io, dump, "window")) return false;
    return ends(io, dump) && name_plain(dump, "iswa");
  }

  static bool read_cache(Reader& io, Dump& dump, const char* role) {
    Memory memory;
    memory.role = role;
    try {
      attention(io, memory, dump.dialect, true);
    } catch (const Error&) {
      return false;
    }
    dump.state.memories.push_back(std::move(memory));
    return true;
  }

  // True when nothing but a tail is left.
  static bool ends(Reader io, Dump& dump) {
    dump.tail = {};
    return read_rest(io, dump).empty();
  }

  bool name_plain(Dump& dump, const char* arrangement) const {
    dump.state.arrangement = arrangement;
    dump.layout = name_of(dump.dialect, visible_choices(dump.state)) + "/" + arrangement;
    return wanted(dump.layout);
  }

  void try_all(const std::vector<Dialect>& dialects, Strictness strictness) {
    for (const Dialect& dialect : dialects) try_dialect(dialect, strictness);
    keep_least_trailing();
  }

  // A file that would read to its last byte if one word were not impossible has that word damaged.
  void blame_one_word(const std::vector<Dialect>& dialects) {
    const Furthest strict = furthest_;
    try_all(dialects, Strictness::forgiving);
    furthest_ = strict;
    if (complaint_) throw Error(*complaint_);
  }

  bool wanted(const std::string& layout) const { return layout.starts_with(options_.layout); }

  // Without cells a reading's name lacks the choices that only cells show, and may be asked for by
  // the one that has them.
  bool wanted(const Dump& dump) const {
    return wanted(dump.layout) || wanted(name_of(dump.dialect) + "/" + dump.state.arrangement);
  }

  // Errors of layouts that were not asked for are of no interest.
  void note(const Error& error, const std::string& attempt, std::uint64_t progress,
            bool whole = false) {
    if (wanted(attempt) || options_.layout.starts_with(attempt))
      furthest_.note(error, attempt, progress, whole);
  }

  void try_dialect(const Dialect& dialect, Strictness strictness,
                   const std::string& arrangement = {}) {
    Dump dump;
    dump.source = source_;
    dump.dialect = dialect;
    Reader io(Cursor(window_, {0, window_.size()}), strictness);
    io.set_skims(options_.skim);
    try {
      prelude(io, dump);
      prefix(io, dump.state, dialect);
    } catch (const Error& error) {
      return note(error, name_of(dialect), io.progress());
    }
    dump.tokens = decode_tokens(std::move(dump.tokens.words));
    Furthest of_dialect;
    auto readings = dialect.body == Body::current
                        ? read_states(io, dialect, name_of(dialect), of_dialect, arrangement)
                        : read_old_states(io, dump, {options_.k_type, options_.v_type, options_.bare},
                                          name_of(dialect), of_dialect);
    if (!of_dialect.empty())
      note(of_dialect.error(), of_dialect.attempt(), of_dialect.progress());
    for (StateReading& reading : readings) try_end(dump, std::move(reading));
  }

  // Takes a reading of the memories if the rest of the file is accounted for.
  void try_end(const Dump& prelude_of, StateReading reading) {
    if (is_common_to_families(prelude_of.dialect, reading.state)) return;
    Dump dump = prelude_of;
    reading.state.source_sequence = dump.state.source_sequence;
    dump.state = std::move(reading.state);
    dump.layout = name_of(dump.dialect, visible_choices(dump.state)) + "/" + dump.state.arrangement;
    Reader io = reading.end;
    std::string problem = read_rest(io, dump);
    if (!problem.empty() && !may_trail(dump))
      return note(Error(ErrorKind::damaged, Place{dump.tail.trailing.offset, "trailing"}, problem),
                  dump.layout, io.progress(), !dump.state.memories.empty());
    if (!problem.empty()) dump.notes.push_back(std::move(problem));
    take(std::move(dump), io.complaint());
  }

  // A reading to the last byte, unless it is not what was asked for or had to be forgiven.
  void take(Dump dump, const std::optional<Error>& complaint) {
    if (!wanted(dump)) {
      other_layout_ = dump.layout;
    } else if (complaint) {
      if (!complaint_)
        complaint_ = explained(*complaint, fmt::format("all else fits {}", dump.layout));
    } else {
      readings_.push_back(std::move(dump));
    }
  }

  // Bytes that llama.cpp wrote in 2024 and the fork until 2026 are read as llama.cpp's.
  static bool is_common_to_families(const Dialect& dialect, const State& state) {
    return dialect.family == Family::ik_llama && !dialect.state_word && !shows_fork(state);
  }

  static Error explained(const Error& error, const std::string& why) {
    return {error.kind(), error.place().value_or(Place{}),
            fmt::format("{} ({})", error.message(), why)};
  }

  bool may_trail(const Dump& dump) const {
    return options_.trailing != Trailing::refuse && holds_one_sequence(dump.dialect) &&
           !dump.state.memories.empty();
  }

  // What stands behind the memories; the answer says why it should not be there.
  static std::string read_rest(Reader& io, Dump& dump) {
    if (io.cursor().remaining() == 0) return {};
    if (dump.dialect.container == Container::slot) return read_tail(io, dump.tail, dump.dialect);
    const std::uint64_t rest = io.cursor().remaining();
    io.opaque("trailing", dump.tail.trailing, rest);
    return fmt::format("{} bytes remain behind the state", rest);
  }

  // With --trailing several layouts can end early; the one that explains most is meant.
  void keep_least_trailing() {
    std::uint64_t least = ~std::uint64_t{0};
    for (const Dump& d : readings_) least = std::min(least, d.tail.trailing.size);
    std::erase_if(readings_, [&](const Dump& d) { return d.tail.trailing.size > least; });
  }

  Dump finish(Strictness strictness) {
    keep_likeliest_types(readings_);
    Dump dump = choose(std::move(readings_));
    find_row_heads(dump);
    if (options_.trailing == Trailing::drop) dump.tail.trailing = {};
    std::vector<std::string> why = describe(dump.dialect, visible_choices(dump.state));
    why.insert(why.end(), dump.why.begin(), dump.why.end());
    dump.why = std::move(why);
    if (strictness == Strictness::structural)
      dump.notes.emplace_back(
          "read without the plausibility tests: a position is negative, or the sequence ids of a cell "
          "repeat, are out of order or too large");
    return dump;
  }

  [[noreturn]] void fail_all(const Stamp& stamp) const {
    if (other_layout_)
      throw Error(ErrorKind::usage, fmt::format("does not read as {}, but as {}", options_.layout,
                                                *other_layout_));
    if (furthest_.empty())
      throw Error(ErrorKind::usage, fmt::format("no layout is named {}", options_.layout));
    const Error& e = furthest_.error();
    const bool bare = !is_dump_magic(stamp.magic) && stamp.magic != sequence_state_magic &&
                      !options_.bare;
    if (bare)
      fail_at(0, "magic", ErrorKind::damaged,
              fmt::format("expected ggsn, ggsq or a bare state, found {:#010x} (as a state, {} came "
                          "furthest: {})",
                          stamp.magic, furthest_.attempt(), e.what()));
    throw explained(e, fmt::format("no layout fits; {} came furthest", furthest_.attempt()));
  }

  std::shared_ptr<const Source> source_;
  const OpenOptions& options_;
  Window window_;
  Furthest furthest_;
  std::vector<Dump> readings_;
  std::optional<std::string> other_layout_;  // one that fits, but was not asked for
  std::optional<Error> complaint_;           // of a reading that fits but for one word
};

}  // namespace

Dump open_dump(std::shared_ptr<const Source> source, const OpenOptions& options) {
  const std::string name = source->name();
  try {
    return Opener(std::move(source), options).open();
  } catch (const Error& error) {
    throw error.in_file(name);
  }
}

Dump open_dump(const std::string& path, const OpenOptions& options) {
  return open_dump(open_source(path), options);
}

}  // namespace kvtool
