// What says of a model file whether K and V that one model computed mean anything to another.
//
// A stamp is taken from the file's content, never from its name or path. Two stamps are compared
// fact by fact; each fact has a class. A fact that one side does not know is never a match.
#pragma once

#include <string>
#include <vector>

#include "kvtool/gguf.h"

namespace kvtool {

enum class StampClass {
  hard,  // different: K and V are of no use to the other model
  soft,  // different: they are usable, and not what the other model would have computed
  info,  // says nothing about K and V
};

// "hard", "soft" or "info".
[[nodiscard]] std::string name_of(StampClass stamp_class);

struct StampFact {
  StampClass stamp_class = StampClass::hard;
  std::string key;  // a key of the file, or "tensors", "tensor_types", "weights", ...
  std::string value;  // a number, a short text, or the XXH3-128 of what is long
  bool operator==(const StampFact&) const = default;
};

struct ModelStamp {
  std::vector<StampFact> facts;  // by key, each once
  bool operator==(const ModelStamp&) const = default;
};

// Hard: all keys of the architecture (sizes, heads, windows, rope) but the trained context, the
// vocabulary, names and shapes of the tensors, rope factors, and a sample of every weight. Soft:
// the types of the weights (another quantization of one model). Info: names, licences, templates.
// Throws Error(io, damaged).
[[nodiscard]] ModelStamp stamp_of(const Gguf& model);

struct StampDifference {
  StampClass stamp_class = StampClass::hard;
  std::string key;
  std::string a;  // "unknown" where one side does not have the fact
  std::string b;
};

// Facts that differ, hard ones first. Samples of weights are compared only where the types of the
// weights are the same; otherwise the difference of the types says it.
[[nodiscard]] std::vector<StampDifference> differences(const ModelStamp& a, const ModelStamp& b);

// True if a hard fact differs.
[[nodiscard]] bool any_hard(const std::vector<StampDifference>& differences);

// One line a fact, for keeping; and back. Throws Error(damaged).
[[nodiscard]] std::string stamp_text(const ModelStamp& stamp);
[[nodiscard]] ModelStamp stamp_from_text(const std::string& text);

}  // namespace kvtool
