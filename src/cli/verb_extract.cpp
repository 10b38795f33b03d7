// extract: one sequence of a session as a slot file.
#include "cli/edit_report.h"
#include "cli/prompt_argument.h"
#include "cli/rope_options.h"
#include "cli/verb.h"
#include "kvtool/error.h"
#include "kvtool/extract.h"

namespace kvtool::cli {
namespace {

struct Options {
  RewriteOptions rewrite;
  WindowOptions window;
  std::string sequence;
  std::string tokens;
};

int run(const Options& o) {
  const auto dump = open(o.rewrite.input);
  ExtractOptions options;
  const SequenceId sequence = parse_sequence(o.sequence);
  if (!o.tokens.empty()) options.tokens = read_prompt(o.tokens, "--tokens").tokens.ids;
  try {
    options.window = window_of(o.window, *dump);
    const SequenceEdit edit = extract_sequence(dump, sequence, options);
    write_edit(edit, o.rewrite, fmt::format("took sequence {}", sequence), {{"seq", sequence}});
  } catch (const Error& error) {
    throw error.in_file(dump->source->name());
  }
  return exit_fine;
}

}  // namespace

Action add_extract(CLI::App& verb) {
  auto options = std::make_shared<Options>();
  add_rewrite(verb, options->rewrite);
  verb.add_option("--seq", options->sequence, "the sequence to take")->type_name("ID")->required();
  verb.add_option("--tokens", options->tokens,
                  "its token ids, where the session does not tell them: a list, a file or a dump")
      ->type_name("IDS");
  add_window(verb, options->window, options->rewrite.input);
  return [options] { return run(*options); };
}

}  // namespace kvtool::cli
