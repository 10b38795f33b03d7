#include "format/dialect.h"

#include <fmt/format.h>

#include <algorithm>

#include "format/header_struct.h"

namespace kvtool::format {
namespace {

using enum CellExtension;

// Version 8 (July to September 2024): with the generator's text, without streams.
Dialect with_rng(Container container) {
  Dialect d;
  d.container = container;
  d.rng_text = true;
  d.outputs = true;
  d.streams = false;
  return d;
}

// Version 9 (September 2024 to August 2026): the outputs block went and the streams came under it.
void add_of_version_9(std::vector<Dialect>& dialects, Container container) {
  for (const bool outputs : {false, true})
    for (const bool streams : {true, false})
      for (const CellExtension extension : {none, xy}) {
        if (extension == xy && (outputs || !streams)) continue;  // xy came after both
        Dialect d;
        d.container = container;
        d.outputs = outputs;
        d.streams = streams;
        d.extension = extension;
        dialects.push_back(d);
      }
}

// Version 10 / 3 and, with rotation words, 11 / 4.
void add_current(std::vector<Dialect>& dialects, Container container, bool rotation) {
  for (const CellExtension extension : {none, xy_token}) {
    Dialect d;
    d.container = container;
    d.rotation = rotation;
    d.extension = extension;
    dialects.push_back(d);
  }
}

// Sequence files of version 2 (July 2024 to August 2026).
void add_of_version_2(std::vector<Dialect>& dialects, Container container) {
  Dialect d;
  d.container = container;
  for (const CellExtension extension : {none, xy}) {
    d.extension = extension;
    dialects.push_back(d);
  }
  d.extension = none;
  d.streams = false;
  for (const bool ids : {true, false}) {
    d.sequence_ids = ids;
    dialects.push_back(d);
  }
}

// The fork's files: ids only in sessions, which have the generator's text and outputs at all
// versions; a word for recurrent states since the second version, for index rows since the third.
Dialect of_ik_llama(Container container, std::uint32_t generation) {
  Dialect d;
  d.family = Family::ik_llama;
  d.container = container;
  d.rng_text = d.outputs = container == Container::session || container == Container::state;
  d.streams = d.sequence_ids = false;
  d.state_word = generation >= 1;
  d.index_word = generation >= 2;
  return d;
}

Dialect old_session(Body body, HeaderStruct header) {
  Dialect d;
  d.streams = false;
  d.rng_text = d.outputs = true;
  d.body = body;
  d.header = header;
  return d;
}

// Header structs that builds with a session version had, from `first` to `last`.
std::vector<Dialect> old_sessions(Body body, HeaderStruct first, HeaderStruct last) {
  std::vector<Dialect> dialects;
  for (int id = static_cast<int>(first); id <= static_cast<int>(last); ++id)
    dialects.push_back(old_session(body, static_cast<HeaderStruct>(id)));
  return dialects;
}

// The same dialects with one more choice changed.
template <class Change>
void add_changed(std::vector<Dialect>& dialects, Change&& change) {
  const std::vector<Dialect> before = dialects;
  for (Dialect d : before)
    if (change(d)) dialects.push_back(d);
}

// Rows of grouped-query models were cut wrongly for some days from 2023-07-23 on.
bool scramble(Dialect& d) {
  d.scrambled = true;
  return d.header == HeaderStruct::j48 || d.header == HeaderStruct::j52;
}

// The count of used cells came on 2023-11-23 without a new version.
bool leave_used_out(Dialect& d) {
  d.used_word = false;
  return true;
}

// Sessions 4 of before 2024-03-03 list the cells of the whole context.
bool list_all(Dialect& d) {
  d.lists_all = true;
  return d.header <= HeaderStruct::s100b;
}

std::vector<Dialect> old_session_dialects(std::uint32_t version) {
  using enum HeaderStruct;
  std::vector<Dialect> dialects;
  switch (version) {
    case 0:
      dialects = {old_session(Body::pool, j32)};
      add_changed(dialects, [](Dialect& d) { return d.long_records = true; });
      break;
    case 1:
      dialects = old_sessions(Body::k_then_v, j32, s52);
      add_changed(dialects, scramble);
      break;
    case 2:
      dialects = old_sessions(Body::cells, s52, s68);
      add_changed(dialects, leave_used_out);
      for (Dialect& d : dialects) d.lists_all = true;
      std::erase_if(dialects, [](const Dialect& d) { return d.used_word && d.header != s68; });
      break;
    case 3:
      dialects = old_sessions(Body::by_layer, s68, s84a);
      for (Dialect& d : dialects) d.lists_all = true;
      break;
    case 4:
      dialects = old_sessions(Body::lean, s84a, s120);
      add_changed(dialects, list_all);
      std::erase_if(dialects, [](const Dialect& d) { return !d.lists_all && d.header < s100a; });
      break;
    case 5: dialects = {old_session(Body::output_ids, s120)}; break;
    case 6: dialects = old_sessions(Body::v_flag, s120, s3236); break;
    case 7: dialects = {old_session(Body::v_flag, s6308)}; break;
    default: break;
  }
  return dialects;
}

// Slot files of April to July 2024.
Dialect typed_slot(Container container) {
  Dialect d;
  d.container = container;
  d.body = Body::typed_slot;
  d.streams = d.sequence_ids = false;
  return d;
}

// The first session version with a body: what bare states of that time are called by.
int session_of(Body body) { return static_cast<int>(body) - static_cast<int>(Body::pool); }

// ".s68", ".s100a.all": what else an old session's layout is called by.
std::string old_words(const Dialect& d) {
  std::string words;
  if (d.container == Container::state) words += fmt::format(".s{}", session_of(d.body));
  if (d.header != HeaderStruct::none) words += fmt::format(".{}", header_layout(d.header).name);
  if (d.long_records) words += ".r208";
  if (d.scrambled) words += ".scrambled";
  if (d.body == Body::cells && !d.used_word) words += ".noused";
  if (d.body == Body::lean && d.lists_all) words += ".all";
  return words;
}

std::vector<Dialect> stamped(std::vector<Dialect> dialects, std::uint32_t version) {
  for (Dialect& d : dialects) d.version = version;
  return dialects;
}

std::string container_name(const Dialect& d) {
  switch (d.container) {
    case Container::session: return fmt::format("ggsn{}", d.version);
    case Container::slot: return fmt::format("ggsq{}", d.version);
    case Container::state: return "raw";
    case Container::sequence_state: return "rawseq";
  }
  return {};
}

bool names_ids(const Dialect& d) {
  return d.container == Container::slot || d.container == Container::sequence_state;
}

}  // namespace

VisibleChoices visible_choices(const State& state) {
  VisibleChoices visible{false, false};
  for (const Memory& memory : state.memories) {
    if (memory.kind != MemoryKind::attention) continue;
    visible.caches = true;
    for (const Stream& stream : memory.streams) visible.cells |= !stream.cells.empty();
  }
  return visible;
}

std::string name_of(const Dialect& d, VisibleChoices visible) {
  std::string name = container_name(d);
  if (d.prefix) name += ".prefix";
  if (d.family == Family::ik_llama) return name + ".ik";
  if (d.body != Body::current) return name + old_words(d);
  if (d.rng_text) name += ".rng";
  if (d.outputs) name += ".outputs";
  if (visible.caches) name += d.streams ? ".streams" : ".flat";
  if (!visible.cells) return name;
  if (names_ids(d) && !d.sequence_ids) name += ".noids";
  if (d.rotation) name += ".rot";
  if (d.extension == xy) name += ".xy";
  if (d.extension == xy_token) name += ".xyt";
  return name;
}

namespace {

const char* words_of(Body body) {
  switch (body) {
    case Body::pool: return "holds the memory pool of the whole cache; cell i is position i";
    case Body::k_then_v: return "K of all layers, then V; no list of cells: cell i is position i";
    case Body::cells: return "K of all layers, then V, then the cells";
    case Body::by_layer: return "K and V of a layer next to each other (December 2023 on)";
    case Body::lean: return "no filler behind generator text and logits (January 2024 on)";
    case Body::output_ids: return "says which places of the batch have outputs (March 2024 on)";
    case Body::v_flag: return "says whether V is transposed (April 2024 on)";
    case Body::typed_slot: return "holds one sequence; types and sizes of rows are stored";
    case Body::current: break;
  }
  return "";
}

void describe_old(const Dialect& d, std::vector<std::string>& lines) {
  if (d.header != HeaderStruct::none) {
    const HeaderLayout& layout = header_layout(d.header);
    lines.push_back(fmt::format("header struct {}: {} bytes, builds of {} to {}", layout.name,
                                layout.size, layout.from, layout.until));
  }
  lines.emplace_back(words_of(d.body));
  if (d.body == Body::cells && !d.used_word)
    lines.emplace_back("no count of used cells (until November 2023)");
  if (d.lists_all && d.body != Body::pool)
    lines.emplace_back("lists all cells of the context; those from head on have no K and V");
  if (d.scrambled)
    lines.emplace_back("rows of a model with grouped queries, cut at the width of the embedding "
                       "(2023-07-23 to 07-28): the content is scrambled");
}

}  // namespace

std::vector<std::string> describe(const Dialect& d, VisibleChoices visible) {
  std::vector<std::string> lines;
  auto say = [&](bool so, const char* line) {
    if (so) lines.emplace_back(line);
  };
  if (d.family == Family::ik_llama) {
    say(true, "written by ik_llama.cpp: same magic and version as llama.cpp, other bytes");
    say(d.index_word, "has a word for index rows (July 2026 on)");
    say(d.state_word && !d.index_word, "has a word for recurrent states (February to July 2026)");
    return lines;
  }
  if (d.body != Body::current) {
    describe_old(d, lines);
    return lines;
  }
  say(d.prefix, "begins with 0xaf143cd8 and the source sequence (spring 2026 on)");
  say(d.rng_text, "holds the generator's text (July to September 2024)");
  say(d.outputs, "holds outputs, logits, embeddings (until February 2026)");
  say(visible.caches && d.streams, "caches begin with a stream count (July 2025 on)");
  say(visible.caches && !d.streams, "no stream count (until July 2025)");
  if (!visible.cells) return lines;
  say(names_ids(d) && !d.sequence_ids, "cells name no sequence (until spring 2025)");
  say(d.rotation, "caches say how K and V are rotated (October 2026 on)");
  say(d.extension == xy, "cells carry x and y (M-RoPE, March to August 2026)");
  say(d.extension == xy_token, "cells carry x, y and token (M-RoPE or n-gram models, August 2026 on)");
  return lines;
}

Body body_of_session(std::uint32_t version) {
  return static_cast<Body>(static_cast<int>(Body::pool) + static_cast<int>(std::min(version, 6U)));
}

std::vector<Dialect> session_dialects(std::uint32_t version) {
  std::vector<Dialect> dialects = old_session_dialects(version);
  if (version == 8) dialects = {with_rng(Container::session)};
  if (version == 9) add_of_version_9(dialects, Container::session);
  if (version == 10 || version == 11) add_current(dialects, Container::session, version == 11);
  if (version >= 8 && version <= 10)
    dialects.push_back(of_ik_llama(Container::session, version - 8));
  return stamped(std::move(dialects), version);
}

std::vector<Dialect> slot_dialects(std::uint32_t version) {
  std::vector<Dialect> dialects;
  if (version == 1) dialects = {typed_slot(Container::slot)};
  if (version == 2) add_of_version_2(dialects, Container::slot);
  if (version == 3 || version == 4) add_current(dialects, Container::slot, version == 4);
  if (version >= 2 && version <= 4) dialects.push_back(of_ik_llama(Container::slot, version - 2));
  return stamped(std::move(dialects), version);
}

std::vector<Dialect> state_dialects() {
  std::vector<Dialect> dialects;
  add_current(dialects, Container::state, true);
  add_of_version_9(dialects, Container::state);
  Dialect d;
  d.container = Container::state;
  d.extension = xy_token;
  dialects.push_back(d);
  dialects.push_back(with_rng(Container::state));
  for (const std::uint32_t generation : {1U, 2U})
    dialects.push_back(of_ik_llama(Container::state, generation));
  return dialects;
}

std::vector<Dialect> old_state_dialects() {
  std::vector<Dialect> dialects;
  for (const Body body : {Body::v_flag, Body::output_ids, Body::lean, Body::by_layer, Body::cells,
                          Body::k_then_v})
    dialects.push_back(old_session(body, HeaderStruct::none));
  for (Dialect& d : dialects) {
    d.container = Container::state;
    d.lists_all = d.body == Body::cells || d.body == Body::by_layer;
  }
  add_changed(dialects, [](Dialect& d) {
    if (d.body == Body::cells) return leave_used_out(d);
    return d.lists_all = d.body == Body::lean;
  });
  return dialects;
}

std::vector<Dialect> sequence_state_dialects(bool prefix) {
  std::vector<Dialect> dialects;
  if (prefix) {
    add_current(dialects, Container::sequence_state, true);
    add_current(dialects, Container::sequence_state, false);
    Dialect d;
    d.container = Container::sequence_state;
    d.extension = xy;
    dialects.push_back(d);
  } else {
    add_of_version_2(dialects, Container::sequence_state);
    dialects.push_back(typed_slot(Container::sequence_state));
    for (const std::uint32_t generation : {1U, 2U})
      dialects.push_back(of_ik_llama(Container::sequence_state, generation));
  }
  for (Dialect& d : dialects) d.prefix = prefix;
  return dialects;
}

}  // namespace kvtool::format
