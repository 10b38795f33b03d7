// help: what --help prints, and the bare list of verbs for scripts.
#include "cli/app.h"
#include "cli/print.h"
#include "cli/spelling.h"
#include "cli/verb.h"
#include "kvtool/error.h"

namespace kvtool::cli {
namespace {

struct Options {
  std::string verb;
  bool list = false;
};

void print_list(Printer& out) {
  for (const Verb& verb : verbs()) out.line("{}", verb.name);
}

// The entry that has this name or alias. Throws Error(usage).
const Verb& find(const std::string& name) {
  for (const Verb& verb : verbs())
    if (name == verb.name || (verb.alias != nullptr && name == verb.alias)) return verb;
  throw Error(ErrorKind::usage,
              fmt::format("unknown verb {}{}", name, did_you_mean(name, verb_names())));
}

void print_help(const std::string& verb, Printer& out) {
  const CommandLine line = make_command_line();
  if (verb.empty())
    out.text(line.app->help());
  else
    out.text(line.app->get_subcommand(find(verb).name)->help("kvtool"));
}

int run(const Options& options) {
  Printer out;
  options.list ? print_list(out) : print_help(options.verb, out);
  out.finish();
  return exit_fine;
}

}  // namespace

Action add_help(CLI::App& verb) {
  auto options = std::make_shared<Options>();
  auto* name = verb.add_option("VERB", options->verb, "which one; without it, the program");
  verb.add_flag("--list", options->list, "the names of all verbs, one a line")->excludes(name);
  return [options] { return run(*options); };
}

}  // namespace kvtool::cli
