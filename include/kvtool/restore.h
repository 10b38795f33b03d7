// What a loader does with a file, predicted from the bytes: the model of llama.cpp's readers.
//
// A server says "No available space in KV cache or invalid slot save file" for everything. Here its
// steps are gone through one by one, also for files that are cut or damaged, so that the reason has
// a name before the file costs somebody a slot, or the server its life.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kvtool/check.h"
#include "kvtool/dump.h"
#include "kvtool/target.h"

namespace kvtool {

// What happens while the file is read.
enum class Outcome {
  loads,    // the server answers that it has restored
  refused,  // it answers with an error, and the slot is empty afterwards
  dies,     // the process ends, with all its slots
  hangs,    // it never answers
};

// What the user meets at the next request.
enum class Aftermath {
  nothing,     // the file was not loaded
  reused,      // the prompt goes on from the restored cells
  recomputed,  // the answer is right, and the prompt was computed again
  wrong_text,  // the answer is computed from cells that are not the prompt's
  dies,        // the process ends then
};

// Why a file does not load.
struct Reason {
  std::string code;     // stable name for scripts, e.g. "k_type"
  std::string where;    // "memory 0 layer 1 K"; empty: the file
  std::string message;  // one sentence
  std::string log;      // the loader's own words, without time stamp and function; up to a value
                        // that is left-over memory there and cannot be known
};

struct Restore {
  Container container = Container::slot;  // what the loader was asked for: slot or session
  Outcome outcome = Outcome::loads;
  Aftermath next = Aftermath::nothing;
  bool certain = true;  // false: the loader goes on with left-over memory in a way nobody measured
  std::vector<Reason> reasons;         // empty if it loads; the first is what the log will show
  std::vector<Finding> warnings;       // what no loader notices, and what is lost without harm
  std::vector<std::string> unchecked;  // what could not be compared, and the option that lets it
  std::uint64_t tokens = 0;            // ids that it reports as restored
  std::uint64_t reused = 0;            // of a prompt, those that are not computed again
};

struct RestoreOptions {
  // The next prompt. Without one: one that leaves the stored ids at the last of them, or the one
  // before where that is computed again as a whole: the least that tells whether a cache can be
  // rewound.
  std::optional<std::vector<TokenId>> prompt;
};

// Predicts what a loader as described by `target` makes of the file. What the target leaves open is
// taken from the dump, and said in `unchecked`; `dump` may be null for a file that no layout fits.
// Throws Error(usage) when the era is not known, or the shape of the memories neither by target nor
// by dump; Error(unsupported) for memories whose loader is not modelled (deepseek4), and for loaders
// of before August 2024 and ik_llama.cpp's.
[[nodiscard]] Restore predict_restore(const Source& file, const Dump* dump, const Target& target,
                                      const RestoreOptions& options = {});

// "loads", "refused", "dies", "hangs".
[[nodiscard]] std::string name_of(Outcome outcome);
// "nothing", "reused", "recomputed", "wrong_text", "dies".
[[nodiscard]] std::string name_of(Aftermath next);

}  // namespace kvtool
