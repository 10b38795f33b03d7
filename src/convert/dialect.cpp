#include "convert/dialect.h"

#include <fmt/format.h>

#include <algorithm>

#include "format/container.h"
#include "format/dialect.h"
#include "format/header_struct.h"
#include "kvtool/error.h"

namespace kvtool::convert_steps {
namespace {

// Version words of the two containers that belong together in time.
std::uint32_t other_version(Container from, std::uint32_t version) {
  if (from == Container::session) return version >= 10 ? version - 7 : 2;
  return version >= 3 ? version + 7 : 9;
}

// Cells of slot files name their sequence since about April 2025, which no session shows. But there
// are no caches beside each other in one state of before.
bool names_sequence(const Dump& dump) {
  std::size_t caches = 0;
  for (const Memory& memory : dump.state.memories)
    if (memory.kind == MemoryKind::attention) ++caches;
  return dump.dialect.streams || (caches > 1 && !dump.dialect.rng_text);
}

// The same dialect in the other kind of file.
Dialect in_container(const Dump& source, Container container) {
  Dialect dialect = source.dialect;
  if (dialect.container == container) return dialect;
  if (format::holds_one_sequence(Dialect{.container = container}) &&
      !format::holds_one_sequence(dialect))
    dialect.sequence_ids = names_sequence(source);
  if (dialect.version != 0) dialect.version = other_version(dialect.container, dialect.version);
  dialect.container = container;
  if (container != Container::sequence_state) dialect.prefix = false;
  if (container == Container::slot) dialect.rng_text = dialect.outputs = false;
  return dialect;
}

// Sessions 5 to 7 have the slot files of version 1 beside them, but not of recurrent states.
bool had_slots(const Dump& source) {
  const Body body = source.dialect.body;
  return (body == Body::output_ids || body == Body::v_flag) && source.state.arrangement == "kv";
}

// ik_llama.cpp has slot files beside its sessions at all times.
bool is_fork_session(const Dialect& d) {
  return d.family == Family::ik_llama && d.container == Container::session;
}

bool has_extension(const Dump& source, const Target& target) {
  if (target.model && target.model->needs_extension) return *target.model->needs_extension;
  return source.dialect.extension != CellExtension::none;
}

Dialect of_era(const Era& era, Container container, bool extended) {
  const bool session = container == Container::session || container == Container::state;
  Dialect d;
  d.container = container;
  if (container == Container::session) d.version = era.session_version;
  if (container == Container::slot) d.version = era.slot_version;
  d.rng_text = session && era.rng_text;
  d.outputs = session && era.outputs;
  d.streams = era.streams;
  d.sequence_ids = era.sequence_ids;
  d.rotation = era.rotation_words;
  d.prefix = container == Container::sequence_state && era.prefix;
  d.extension = extended ? era.extension : CellExtension::none;
  return d;
}

// States have the layout of a file of their time, without its header.
Dialect bare(Dialect dialect, Container container) {
  if (container == Container::session || container == Container::slot) return dialect;
  dialect.container = container;
  dialect.version = 0;
  return dialect;
}

Dialect of_fork(const Era& era, Container container) {
  const bool whole = container == Container::session || container == Container::state;
  const std::vector<Dialect> dialects = whole ? format::session_dialects(era.session_version)
                                              : format::slot_dialects(era.slot_version);
  for (const Dialect& dialect : dialects)
    if (dialect.family == Family::ik_llama) return bare(dialect, container);
  throw Error(ErrorKind::usage, fmt::format("{} has no such files", era.name));
}

bool is_among(const std::vector<Dialect>& dialects, const Dialect& dialect) {
  return std::find(dialects.begin(), dialects.end(), dialect) != dialects.end();
}

// Layouts of a version with the source's header struct; those with its other choices, if there are.
std::vector<Dialect> like_source(const std::vector<Dialect>& dialects, const Dialect& source) {
  std::vector<Dialect> same;
  for (const Dialect& d : dialects)
    if (d.header == source.header && !d.scrambled) same.push_back(d);
  std::vector<Dialect> closest;
  for (const Dialect& d : same)
    if (d.used_word == source.used_word && d.lists_all == source.lists_all) closest.push_back(d);
  return closest.empty() ? same : closest;
}

// A session of version 0 is made from another one, because it holds addresses of its process.
void need_pool(const Dialect& source, const Era& era, const Dump* like) {
  const bool has =
      source.body == Body::pool || (like != nullptr && like->dialect.body == Body::pool);
  if (era.session_version == 0 && !has)
    throw Error(
        ErrorKind::refused,
        "sessions of version 0 are a piece of the memory of the process that wrote them, with "
        "its addresses: say --like REF with a session of version 0 that the target saved");
}

// Which choices besides the header struct builds of the era's days had.
bool is_of_days(const Dialect& d, const Era& era) {
  static constexpr const char* used_words = "2023-11-23";
  static constexpr const char* shorter_lists = "2024-03-03";
  static constexpr const char* longer_records = "2023-05-02";
  const format::HeaderLayout& header = format::header_layout(d.header);
  auto came = [&](bool has, const char* day) { return has ? era.until >= day : era.from <= day; };
  if (header.from > era.until || header.until < era.from) return false;
  if (d.body == Body::cells && !came(d.used_word, used_words)) return false;
  if (d.body == Body::lean && !came(!d.lists_all, shorter_lists)) return false;
  return d.body != Body::pool || came(d.long_records, longer_records);
}

std::vector<Dialect> old_sessions(const Era& era) {
  std::vector<Dialect> dialects = format::session_dialects(era.session_version);
  std::erase_if(dialects, [&](const Dialect& d) { return !is_of_days(d, era); });
  return dialects;
}

std::string names_of(const std::vector<Dialect>& dialects) {
  std::string names;
  for (const Dialect& d : dialects)
    if (!d.scrambled) names += fmt::format("{}{}", names.empty() ? "" : ", ", format::name_of(d));
  return names;
}

Dialect called(const std::string& layout, const std::vector<Dialect>& dialects, const Era& era) {
  for (const Dialect& d : dialects)
    if (!d.scrambled && format::name_of(d) == layout) return d;
  throw Error(ErrorKind::usage,
              fmt::format("--to {}: layouts of ggsn {} are {}", layout, era.session_version,
                          names_of(dialects)));
}

Dialect old_session(const Dialect& source, const Era& era, const Dump* like,
                    const std::string& layout) {
  std::vector<Dialect> dialects = old_sessions(era);
  need_pool(source, era, like);
  if (!layout.empty()) return called(layout, dialects, era);
  if (like != nullptr && is_among(dialects, like->dialect)) return like->dialect;
  if (is_among(dialects, source)) return source;
  std::erase_if(dialects, [](const Dialect& d) { return d.scrambled; });
  const std::vector<Dialect> fit = dialects.size() > 1 ? like_source(dialects, source) : dialects;
  if (fit.size() == 1) return fit.front();
  throw Error(
      ErrorKind::refused,
      fmt::format("sessions of version {} begin with the model parameters of the build that "
                  "reads them, in one of {} layouts, which {} does not tell: say --to LAYOUT "
                  "({}), --loader with the day of the build, or --like REF with a session "
                  "that the target saved",
                  era.session_version, dialects.size(), format::name_of(source),
                  names_of(dialects)));
}

Dialect of_old_era(const Dialect& source, const Era& era, Container container, const Dump* like,
                   const std::string& layout) {
  const bool bare_like = like != nullptr && like->dialect.container == container;
  if (container == Container::state && bare_like) return like->dialect;
  if (container == Container::session) return old_session(source, era, like, layout);
  if (container == Container::state)
    throw Error(ErrorKind::usage, "bare states of before August 2024 are written only --like one");
  if (era.slot_version == 0)
    throw Error(ErrorKind::refused,
                fmt::format("llama.cpp had no slot files at the time of sessions {}: "
                            "they came in April 2024",
                            era.session_version));
  return bare(format::slot_dialects(era.slot_version).front(), container);
}

}  // namespace

Dialect target_dialect(const Dump& source, const Target& target, const Dump* like,
                       const std::string& layout) {
  const Container container = target.container.value_or(source.dialect.container);
  if (target.era && target.era->is_old())
    return of_old_era(source.dialect, *target.era, container, like, layout);
  if (target.era && target.era->family == Family::ik_llama) return of_fork(*target.era, container);
  if (target.era) return of_era(*target.era, container, has_extension(source, target));
  const bool other = !format::is_of_today(source.dialect);
  if (container == Container::slot && had_slots(source)) return format::slot_dialects(1).front();
  if (container == Container::slot && is_fork_session(source.dialect))
    return of_fork(fork_eras().at(source.dialect.version - fork_eras().front().session_version), container);
  if (other && container != source.dialect.container)
    throw Error(
        ErrorKind::usage,
        "files of before August 2024 and of ik_llama.cpp become another kind of file only for "
        "a loader that is named: say --loader, or --to with a version");
  return in_container(source, container);
}

std::string dialect_name(const Dialect& dialect) { return format::name_of(dialect); }

}  // namespace kvtool::convert_steps
