// Names of dialects, and which of them a version word can mean.
#pragma once

#include <string>
#include <vector>

#include "kvtool/dump.h"

namespace kvtool::format {

// Which choices of a dialect some byte of a state shows. A purely recurrent state shows neither
// stream counts nor rotation words, an empty cache no cell extension.
struct VisibleChoices {
  bool caches = true;  // there is an attention cache
  bool cells = true;   // one with cells
};
[[nodiscard]] VisibleChoices visible_choices(const State& state);

// "ggsq4.streams.rot.xyt", "rawseq.prefix.streams"; part of a layout's name.
[[nodiscard]] std::string name_of(const Dialect& dialect, VisibleChoices visible = {});

// In words, for `inspect`: what each choice of the dialect means and since when it is written.
[[nodiscard]] std::vector<std::string> describe(const Dialect& dialect, VisibleChoices visible);

// What sessions of versions 0 to 7 have behind the prelude.
[[nodiscard]] Body body_of_session(std::uint32_t version);

// Every dialect that the header words allow, the likelier ones first. Empty: unknown version.
[[nodiscard]] std::vector<Dialect> session_dialects(std::uint32_t version);
[[nodiscard]] std::vector<Dialect> slot_dialects(std::uint32_t version);
// States carry no version: every dialect of the two header-less containers.
[[nodiscard]] std::vector<Dialect> state_dialects();
[[nodiscard]] std::vector<Dialect> sequence_state_dialects(bool prefix);
// States of a whole context of May 2023 to July 2024.
[[nodiscard]] std::vector<Dialect> old_state_dialects();

}  // namespace kvtool::format
