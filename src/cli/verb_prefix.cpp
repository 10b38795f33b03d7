// prefix: which files begin with the same tokens, which one serves a prompt best, and where two
// part.
#include <fmt/format.h>

#include "cli/prefix_explain.h"
#include "cli/prefix_extract.h"
#include "cli/prefix_print.h"
#include "cli/prompt_argument.h"
#include "cli/prompt_set.h"
#include "cli/verb.h"
#include "kvtool/error.h"
#include "kvtool/gguf.h"

namespace kvtool::cli {
namespace {

struct Options {
  PromptSetOptions files;
  bool matrix = false;
  std::string best_for;
  bool explain = false;
  bool extract = false;
  ExtractOptions extraction;
  std::string vocabulary;
  std::size_t around = 6;
  std::size_t top = 0;
  std::uint64_t least = 1;
  bool json = false;
  bool tsv = false;
};

Format format_of(const Options& options) {
  if (options.json) return Format::json;
  return options.tsv ? Format::tsv : Format::text;
}

int run_explain(const Options& options) {
  if (options.files.files.size() != 2)
    throw Error(ErrorKind::usage, fmt::format("--explain takes two files, {} are given",
                                              options.files.files.size()));
  ExplainOptions how;
  how.around = options.around;
  how.format = format_of(options);
  if (!options.vocabulary.empty())
    how.vocab = load_vocab(open_gguf(open_source(options.vocabulary)));
  const Prompt a = read_prompt(options.files.files[0], "the first prompt");
  const Prompt b = read_prompt(options.files.files[1], "the second prompt");
  Printer out;
  const bool equal = explain(a, b, how, out);
  out.finish();
  return equal ? exit_fine : exit_differs;
}

// All files have to be readable here: what they share is not known otherwise.
int run_extract(const Options& options) {
  if (options.extraction.rewrite.output.empty() && !options.extraction.rewrite.dry_run)
    throw Error(ErrorKind::usage, "where to? give -o OUT");
  PromptSet set = read_prompts(options.files);
  if (!set.failed.empty()) return exit_trouble;
  ExtractOptions how = options.extraction;
  how.rewrite.json = options.json;
  extract(set, how);
  return exit_fine;
}

int run_best(const Options& options) {
  const Prompt prompt = read_prompt(options.best_for, "the prompt");
  PromptSet set = read_prompts(options.files);
  Printer out;
  const bool found = print_best(set, prompt, options.top, format_of(options), out);
  out.finish();
  if (!set.failed.empty()) return exit_trouble;
  return found ? exit_fine : exit_differs;
}

int run_listing(const Options& options) {
  const PromptSet set = read_prompts(options.files);
  Printer out;
  if (options.matrix)
    print_matrix(set, format_of(options), out);
  else
    print_groups(set, options.least, format_of(options), out);
  out.finish();
  return set.failed.empty() ? exit_fine : exit_trouble;
}

int run(const Options& options) {
  if (options.explain) return run_explain(options);
  if (options.extract) return run_extract(options);
  return options.best_for.empty() ? run_listing(options) : run_best(options);
}

void add_extraction(CLI::App& verb, Options& options) {
  RewriteOptions& rewrite = options.extraction.rewrite;
  auto* extract = verb.add_flag("--extract", options.extract,
                                "write what all files begin with as a dump of its own");
  verb.add_option("-o,--output", rewrite.output, "write here; - is standard output")
      ->type_name("OUT")
      ->needs(extract);
  verb.add_option("--tolerance", options.extraction.tolerance,
                  "--extract: differences of K and V up to this count as none")
      ->type_name("X")
      ->check(CLI::NonNegativeNumber)
      ->needs(extract);
  verb.add_option("--from", options.extraction.from,
                  "--extract: take K and V of this file, whatever "
                  "the others hold")
      ->type_name("FILE")
      ->needs(extract);
  verb.add_option("--window", options.extraction.window,
                  "--extract: how many positions window layers look back (n_swa)")
      ->type_name("N")
      ->needs(extract);
  verb.add_flag("--force", rewrite.force, "replace OUT if it exists")->needs(extract);
  verb.add_flag("--dry-run", rewrite.dry_run, "write nothing, tell the size")->needs(extract);
  verb.add_flag("-q,--quiet", rewrite.quiet, "print no figures")->needs(extract);
  verb.add_flag("--no-progress", rewrite.no_progress, "no progress bar on a terminal");
}

}  // namespace

Action add_prefix(CLI::App& verb) {
  auto options = std::make_shared<Options>();
  add_prompt_set(verb, options->files);
  auto* matrix = verb.add_flag("--matrix", options->matrix, "the tokens that every pair shares");
  auto* best =
      verb.add_option("--best-for", options->best_for,
                      "rank the files for a prompt: token ids, a file with them, a dump, or -")
          ->type_name("PROMPT");
  auto* explain = verb.add_flag("--explain", options->explain,
                                "show the first token in which two files or prompts differ");
  add_extraction(verb, *options);
  auto* extract = verb.get_option("--extract");
  matrix->excludes(best)->excludes(explain)->excludes(extract);
  best->excludes(explain)->excludes(extract);
  explain->excludes(extract);
  verb.add_option("--min", options->least, "groups that share at least N tokens")
      ->type_name("N")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb.add_option("--top", options->top, "--best-for: only the N best files")->type_name("N");
  verb.add_option("--vocab", options->vocabulary, "--explain: a model whose vocabulary decodes ids")
      ->type_name("MODEL.gguf");
  verb.add_option("--around", options->around, "--explain: tokens shown on either side")
      ->type_name("N")
      ->capture_default_str();
  auto* json = verb.add_flag("--json", options->json, "print JSON");
  verb.add_flag("--tsv", options->tsv, "print columns separated by tabs")->excludes(json);
  return [options] { return run(*options); };
}

}  // namespace kvtool::cli
