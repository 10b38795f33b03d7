#include "cli/verb.h"

namespace kvtool::cli {

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> table = {
      {"inspect", nullptr, "say what a dump is and what is in it", add_inspect},
      {"cells", nullptr, "list the cells, one a line", add_cells},
      {"tokens", nullptr, "list or decode the stored tokens", add_tokens},
      {"map", nullptr, "label every byte, or draw the cells", add_map},
      {"check", nullptr, "say whether a dump is sound", add_check},
      {"swap", nullptr, "exchange two cells", add_swap},
      {"move", nullptr, "move a range of cells", add_move},
      {"defrag", "compact", "order the cells by sequence and drop unused ones", add_defrag},
      {"convert", nullptr, "re-emit for another loader: version, types, V layout, streams",
       add_convert},
      {"pack", nullptr, "compress a dump, byte-exact and still readable by every verb", add_pack},
      {"unpack", nullptr, "give back what pack compressed, every byte checked", add_unpack},
      {"seq", nullptr, "list, cut, copy, rename or shift sequences", add_seq},
      {"truncate", nullptr, "keep the first tokens, or go back to a checkpoint", add_truncate},
      {"extract", nullptr, "take one sequence out of a session, as a slot file", add_extract},
      {"merge", nullptr, "several files as one session, or one after the other", add_merge},
      {"prefix", nullptr, "find what dumps begin with in common", add_prefix},
      {"diff", nullptr, "compare two dumps by sequence and position", add_diff},
      {"stats", nullptr, "figures of the values, layer by layer", add_stats},
      {"store", nullptr, "keep dumps under names, what they have in common once", add_store},
      {"completion", nullptr, "print a completion script for a shell", add_completion},
      {"help", nullptr, "explain a verb, or list the verbs", add_help},
  };
  return table;
}

std::vector<std::string> verb_names() {
  std::vector<std::string> names;
  for (const Verb& verb : verbs()) {
    names.emplace_back(verb.name);
    if (verb.alias != nullptr) names.emplace_back(verb.alias);
  }
  return names;
}

}  // namespace kvtool::cli
