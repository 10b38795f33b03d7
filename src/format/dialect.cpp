#include "format/dialect.h"

#include <fmt/format.h>

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

std::vector<std::string> describe(const Dialect& d, VisibleChoices visible) {
  std::vector<std::string> lines;
  auto say = [&](bool so, const char* line) {
    if (so) lines.emplace_back(line);
  };
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

std::vector<Dialect> session_dialects(std::uint32_t version) {
  std::vector<Dialect> dialects;
  if (version == 8) dialects = {with_rng(Container::session)};
  if (version == 9) add_of_version_9(dialects, Container::session);
  if (version == 10 || version == 11) add_current(dialects, Container::session, version == 11);
  return stamped(std::move(dialects), version);
}

std::vector<Dialect> slot_dialects(std::uint32_t version) {
  std::vector<Dialect> dialects;
  if (version == 2) add_of_version_2(dialects, Container::slot);
  if (version == 3 || version == 4) add_current(dialects, Container::slot, version == 4);
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
  }
  for (Dialect& d : dialects) d.prefix = prefix;
  return dialects;
}

}  // namespace kvtool::format
