// seq ls: the sequences of a dump.
#pragma once

#include "cli/input.h"

namespace kvtool::cli {

struct SeqListOptions {
  InputOptions input;
  bool json = false;
  bool tsv = false;
};

void add_seq_ls(CLI::App& verb, SeqListOptions& options);
// Returns the exit status.
int list_sequences(const SeqListOptions& options);

}  // namespace kvtool::cli
