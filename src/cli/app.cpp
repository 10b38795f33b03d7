#include "cli/app.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <new>

#include "cli/spelling.h"
#include "cli/target_options.h"
#include "kvtool/error.h"
#include "kvtool/open.h"
#include "kvtool/version.h"

namespace kvtool::cli {
namespace {

std::string version_text() {
  return fmt::format("kvtool {}\nreads ggsn {} and ggsq {} of llama.cpp", version,
                     fmt::join(known_session_versions(), ", "),
                     fmt::join(known_slot_versions(), ", "));
}

// The order in which the parser takes arguments from a list.
std::vector<std::string> reversed(std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());
  return arguments;
}

int complain(const std::string& message) {
  fmt::print(stderr, "kvtool: {}\n", message);
  return exit_trouble;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

// The verb that was chosen, or what was chosen of it; the program itself without any.
const CLI::App& innermost(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : innermost(*chosen.front());
}

// What can be chosen in a verb that is several: "seq ls", "seq rm", ...
std::vector<std::string> parts_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* part : app.get_subcommands(nullptr)) names.push_back(part->get_name());
  return names;
}

// An argument that nothing takes: a mistyped verb or option most likely.
int complain_about_extra(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  const CLI::App& scope = innermost(app);
  const std::vector<std::string> rest = app.remaining(true);
  const std::string extra = rest.empty() ? "" : rest.front();
  const bool option = extra.rfind('-', 0) == 0;
  const auto known = option ? option_names(scope) : chosen.empty() ? verb_names() : parts_of(scope);
  const std::string what = option           ? "unknown option"
                           : chosen.empty() ? "unknown verb"
                                            : "unexpected argument";
  const std::string hint = known.empty() ? "" : did_you_mean(extra, known);
  return complain(fmt::format("{} {}{}", what, extra, hint));
}

// What the parser found, without its internal terms.
std::string in_plain_words(const CLI::ParseError& error) {
  constexpr std::string_view conversion = "Could not convert: ";
  std::string text = error.what();
  if (text.rfind(conversion, 0) == 0)
    return "not a valid number: " + text.substr(conversion.size());
  return text;
}

int complain_about(const CLI::ParseError& error, const CLI::App& app) {
  const CLI::App& chosen = innermost(app);
  const bool part = chosen.get_parent() != nullptr && chosen.get_parent() != &app;
  const std::string verb = fmt::format("{}{}{}", part ? chosen.get_parent()->get_name() + " " : "",
                                       &chosen == &app ? "" : chosen.get_name(),
                                       &chosen == &app ? "" : " ");
  return complain(fmt::format("{}; see kvtool {}--help", in_plain_words(error), verb));
}

int run_verb(const CommandLine& line) {
  const CLI::App* chosen = line.app->get_subcommands().front();
  for (std::size_t i = 0; i < verbs().size(); ++i)
    if (chosen->get_name() == verbs()[i].name) return line.actions[i]();
  return exit_trouble;
}

int report_errors_of(const CommandLine& line) {
  try {
    return run_verb(line);
  } catch (const Error& error) {
    return complain(error.what());
  } catch (const std::bad_alloc&) {
    return complain("out of memory");
  } catch (const std::exception& error) {
    return complain(fmt::format("internal error: {}", error.what()));
  }
}

}  // namespace

CommandLine make_command_line() {
  CommandLine line;
  line.app = std::make_unique<CLI::App>("Inspects, checks and rewrites saved llama.cpp KV caches.",
                                        "kvtool");
  line.app->set_version_flag("--version", version_text());
  // One verb at most, so that behind it a file may have the name of another. Without any, run()
  // complains in its own words.
  line.app->require_subcommand(0, 1);
  line.app->get_formatter()->label("SUBCOMMAND", "VERB");
  line.app->failure_message(CLI::FailureMessage::simple);
  for (const Verb& verb : verbs()) {
    CLI::App* sub = line.app->add_subcommand(verb.name, verb.summary)->group("Verbs");
    sub->footer(fmt::format("man kvtool-{} tells more.", verb.name));
    if (verb.alias != nullptr) sub->alias(verb.alias);
    line.actions.push_back(verb.add(*sub));
  }
  line.app->footer("kvtool VERB --help and man kvtool-VERB tell more of a verb.");
  return line;
}

int run(int argc, const char* const* argv) {
  const CommandLine line = make_command_line();
  try {
    line.app->parse(reversed(spell_out({argv + 1, argv + argc})));
  } catch (const CLI::Success& success) {  // --help, --version
    return line.app->exit(success);
  } catch (const CLI::ExtrasError&) {
    return complain_about_extra(*line.app);
  } catch (const CLI::ParseError& error) {
    return complain_about(error, *line.app);
  }
  if (line.app->get_subcommands().empty()) return complain("a verb is missing; see kvtool --help");
  return report_errors_of(line);
}

}  // namespace kvtool::cli
