// truncate: keep the first tokens and their cells, or go back to a checkpoint.
#include "cli/edit_report.h"
#include "cli/rope_options.h"
#include "cli/verb.h"
#include "kvtool/edit.h"
#include "kvtool/error.h"

namespace kvtool::cli {
namespace {

struct Options {
  RewriteOptions rewrite;
  WindowOptions window;
  std::optional<std::int64_t> tokens;
  std::optional<std::size_t> checkpoint;
};

Plan plan_of(const Options& o, const std::shared_ptr<const Dump>& dump) {
  if (o.tokens.has_value() == o.checkpoint.has_value())
    throw Error(ErrorKind::usage, "how far? give a number of tokens, or --to-checkpoint K");
  if (o.checkpoint) return truncate_to_checkpoint(dump, *o.checkpoint);
  if (*o.tokens < 0)
    throw Error(ErrorKind::usage, fmt::format("{} tokens cannot be kept", *o.tokens));
  return truncate(dump, static_cast<std::uint64_t>(*o.tokens), {window_of(o.window, *dump)});
}

int run(const Options& o) {
  const auto dump = open(o.rewrite.input);
  try {
    const SequenceEdit edit{plan_of(o, dump), {}};
    const std::uint64_t kept = edit.plan.target.tokens.ids.size();
    const std::string headline = o.checkpoint ? fmt::format("back to checkpoint {}: {}",
                                                            *o.checkpoint, counted(kept, "token"))
                                              : fmt::format("kept {}", counted(kept, "token"));
    const Json checkpoint = o.checkpoint ? Json(*o.checkpoint) : Json(nullptr);
    write_edit(edit, o.rewrite, headline, {{"to_checkpoint", checkpoint}});
  } catch (const Error& error) {
    throw error.in_file(dump->source->name());
  }
  return exit_fine;
}

}  // namespace

Action add_truncate(CLI::App& verb) {
  auto options = std::make_shared<Options>();
  add_rewrite(verb, options->rewrite);
  verb.add_option("N", options->tokens, "how many tokens to keep");
  verb.add_option("--to-checkpoint", options->checkpoint, "go back to this checkpoint of the tail")
      ->type_name("K");
  add_window(verb, options->window, options->rewrite.input);
  return [options] { return run(*options); };
}

}  // namespace kvtool::cli
