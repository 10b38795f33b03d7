// inspect: what the file is, for people and as JSON.
#include "cli/input.h"
#include "cli/inspect_json.h"
#include "cli/inspect_text.h"
#include "cli/print.h"
#include "cli/verb.h"

namespace kvtool::cli {
namespace {

struct Options {
  InputOptions input;
  bool json = false;
};

int run(const Options& options) {
  const auto dump = open(options.input);
  Printer out;
  if (options.json)
    out.json(inspect_json(*dump));
  else
    inspect_text(*dump, out);
  out.finish();
  return exit_fine;
}

}  // namespace

Action add_inspect(CLI::App& verb) {
  auto options = std::make_shared<Options>();
  add_input(verb, options->input);
  verb.add_flag("--json", options->json, "print JSON");
  return [options] { return run(*options); };
}

}  // namespace kvtool::cli
