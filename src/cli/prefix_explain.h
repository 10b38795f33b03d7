// prefix --explain: where two prompts part.
#pragma once

#include <optional>

#include "cli/prefix_print.h"
#include "kvtool/vocab.h"

namespace kvtool::cli {

struct ExplainOptions {
  std::size_t around = 6;      // tokens to show on either side of the difference
  std::optional<Vocab> vocab;  // to show their text
  Format format = Format::text;
};

// Says where A and B part, with neighbours, and whether it is only the tokenization that differs.
// The answer is whether they are equal.
bool explain(const Prompt& a, const Prompt& b, const ExplainOptions& options, Printer& out);

}  // namespace kvtool::cli
