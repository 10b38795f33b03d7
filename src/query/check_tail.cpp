// Findings about what stands behind the state of a slot file.
#include <fmt/format.h>

#include <algorithm>

#include "kvtool/facts.h"
#include "query/findings.h"

namespace kvtool {
namespace {

bool holds_cells(const Dump& dump) {
  return std::any_of(dump.state.memories.begin(), dump.state.memories.end(),
                     [](const Memory& memory) { return cells_of(memory) > 0; });
}

// minimax-m3 writes base and index cache with the bytes of a base and a window cache; its index
// holds the same cells as its base, which a window that has begun to slide does not.
bool may_be_no_window(const Dump& dump) {
  const auto& memories = dump.state.memories;
  return dump.state.arrangement == "iswa" && cells_of(memories[0]) == cells_of(memories[1]);
}

// The fork keeps them in another file.
const char* without_checkpoints(const Dump& dump) {
  const bool beside = dump.dialect.family == Family::ik_llama;
  return beside ? ", whose checkpoints are in NAME.checkpoints: without that file"
                : " without checkpoints:";
}

void check_missing(const Dump& dump, Findings& findings) {
  const auto& memories = dump.state.memories;
  if (kind_of(dump) != "slot" || dump.tail.has_checkpoints || !holds_cells(dump)) return;
  if (std::none_of(memories.begin(), memories.end(), cannot_rewind)) return;
  findings.warning("no_checkpoints", "tail",
                   fmt::format("a {}{} a server restores it with success, and "
                               "computes the whole prompt again unless it continues exactly here{}",
                               memories.back().kind == MemoryKind::recurrent ? "recurrent state"
                                                                             : "window cache",
                               without_checkpoints(dump),
                               may_be_no_window(dump) ? " (not so if this is minimax-m3, or was "
                                                        "saved with --swa-full)"
                                                      : ""));
}

void check_blob(const Blob& blob, const std::string& where, const char* what, Findings& findings) {
  if (blob.problem.empty()) return;
  findings.error("unreadable_blob", where,
                 fmt::format("the {} state does not read ({}); a server drops it and computes "
                             "everything again",
                             what, blob.problem));
}

void check_checkpoint(const Dump& dump, const Checkpoint& c, const std::string& where,
                      Findings& findings) {
  check_blob(c.target, where, "target", findings);
  check_blob(c.draft, where, "draft", findings);
  if (c.target.extent.size == 0)
    findings.error("empty_checkpoint", where,
                   "it holds no state; a server drops the whole list of checkpoints");
  if (c.tokens > dump.tokens.ids.size())
    findings.warning("checkpoint_beyond_tokens", where,
                     fmt::format("it stands for {} tokens, the file has {}; a server cannot use it",
                                 c.tokens, dump.tokens.ids.size()));
}

}  // namespace

void check_tail(const Dump& dump, Findings& findings) {
  check_missing(dump, findings);
  for (std::size_t i = 0; i < dump.tail.checkpoints.size(); ++i)
    check_checkpoint(dump, dump.tail.checkpoints[i], fmt::format("checkpoint {}", i), findings);
  if (dump.tail.has_draft) check_blob(dump.tail.draft, "draft", "draft model's", findings);
  if (dump.tail.trailing.size > 0)
    findings.warning("trailing_bytes", "tail",
                     fmt::format("{} bytes behind the state that loaders ignore",
                                 dump.tail.trailing.size));
}

}  // namespace kvtool
