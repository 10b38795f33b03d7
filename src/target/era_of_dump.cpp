// When can a dump have been written? The eras whose choices its layout shows, folded into one.
#include <fmt/format.h>

#include <algorithm>

#include "format/dialect.h"
#include "kvtool/error.h"
#include "kvtool/target.h"

namespace kvtool {
namespace {

bool has_header(const Dialect& d) {
  return d.container == Container::session || d.container == Container::slot;
}

bool whole_state(const Dialect& d) {
  return d.container == Container::session || d.container == Container::state;
}

std::uint32_t version_of(const Era& era, Container container) {
  return container == Container::session ? era.session_version : era.slot_version;
}

// Arrangements whose attention layers have no V in files of eras without it.
bool is_mla(const State& state) {
  return state.arrangement == "mla" || state.arrangement == "hybrid-mla" ||
         state.arrangement.rfind("dsa", 0) == 0;
}

// Sessions by their number, bare states by what stands in them.
bool old_fits(const Era& era, const Dialect& d) {
  if (d.body == Body::typed_slot) return era.slot_version == 1;
  if (d.container == Container::session) return era.session_version == d.version;
  return format::body_of_session(era.session_version) == d.body;
}

// The two words behind K and V came one after the other.
bool fork_fits(const Era& era, const Dialect& d) {
  return d.state_word == (era.session_version >= 9) && d.index_word == (era.session_version >= 10);
}

bool prelude_fits(const Era& era, const Dialect& d) {
  if (has_header(d) && version_of(era, d.container) != d.version) return false;
  if (whole_state(d) && (era.outputs != d.outputs || era.rng_text != d.rng_text)) return false;
  return !d.prefix || era.prefix;
}

bool caches_fit(const Era& era, const Dialect& d, const State& state) {
  const format::VisibleChoices visible = format::visible_choices(state);
  if (!visible.caches) return true;
  if (era.streams != d.streams || (is_mla(state) && !era.mla_without_v)) return false;
  if (!visible.cells) return true;
  if (!whole_state(d) && era.sequence_ids != d.sequence_ids) return false;
  if (d.extension != CellExtension::none && era.extension != d.extension) return false;
  return era.rotation_words == d.rotation;
}

// Takes back what the older era contradicts.
void fold_in(Era& newest, const Era& older) {
  if (newest.rotates != older.rotates) newest.rotates.reset();
  if (newest.mla_rows != older.mla_rows) newest.mla_rows = MlaRows::unknown;
}

}  // namespace

bool can_have_written(const Era& era, const Dump& dump) {
  const Dialect& d = dump.dialect;
  if (era.family != d.family || era.is_old() != (d.body != Body::current)) return false;
  if (era.is_old()) return old_fits(era, d);
  if (era.family == Family::ik_llama) return fork_fits(era, d);
  return prelude_fits(era, d) && caches_fit(era, d, dump.state);
}

Era era_of_dump(const Dump& dump) {
  std::vector<const Era*> fit;
  for (const auto* list : {&old_eras(), &fork_eras(), &eras()})
    for (const Era& era : *list)
      if (can_have_written(era, dump)) fit.push_back(&era);
  if (fit.empty())
    throw Error(ErrorKind::unsupported,
                fmt::format("no era of llama.cpp that kvtool converts for wrote {}", dump.layout));
  Era era = *fit.back();
  for (const Era* other : fit) fold_in(era, *other);
  if (fit.size() == 1) return era;
  era.name = fmt::format("{} to {}", fit.front()->name, fit.back()->name);
  era.from = fit.front()->from;
  const auto built = std::find_if(fit.begin(), fit.end(), [](auto* e) { return e->first_build; });
  era.first_build = built == fit.end() ? 0 : (*built)->first_build;
  return era;
}

}  // namespace kvtool
