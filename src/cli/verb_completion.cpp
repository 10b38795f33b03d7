// completion: scripts for bash, zsh and fish, made from the grammar of the command line itself.
#include <fmt/format.h>

#include <map>
#include <set>

#include "cli/app.h"
#include "cli/print.h"
#include "cli/verb.h"

namespace kvtool::cli {
namespace {

struct Options {
  std::string shell;
};

using Words = std::vector<std::string>;

// The values that an option or argument is limited to, as its help shows them: "WHAT:{keep,drop}".
Words choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{');
  const std::size_t close = type.find('}');
  if (open == std::string::npos || close == std::string::npos) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

// The options of a verb, and of its parts, each once.
std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  std::vector<const CLI::Option*> options;
  std::set<std::string> seen;
  const auto add = [&](const CLI::App& part) {
    for (const CLI::Option* option : part.get_options())
      if (option->get_positional() || seen.insert(option->get_name()).second)
        options.push_back(option);
  };
  add(app);
  for (const CLI::App* part : app.get_subcommands(nullptr)) add(*part);
  return options;
}

// The names of a verb's parts ("seq ls", "seq rm"); none for most.
Words parts_of(const CLI::App& app) {
  Words names;
  for (const CLI::App* part : app.get_subcommands(nullptr)) names.push_back(part->get_name());
  return names;
}

Words flags_of(const CLI::App& app) {
  Words flags;
  for (const CLI::Option* option : options_of(app)) {
    for (const std::string& name : option->get_snames()) flags.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  return flags;
}

// What can stand for the arguments of a verb; none means the name of a file.
Words arguments_of(const CLI::App& app) {
  if (app.get_name() == "help") return verb_names();
  for (const CLI::Option* option : app.get_options())
    if (option->get_positional()) return choices_of(*option);
  return {};
}

// Calls f(name, help line, its grammar) for every name that a verb has.
template <class F>
void for_each_verb(const CLI::App& app, F&& f) {
  for (const Verb& verb : verbs()) {
    const CLI::App& sub = *app.get_subcommand(verb.name);
    f(verb.name, verb.summary, sub);
    if (verb.alias != nullptr) f(verb.alias, verb.summary, sub);
  }
}

// Options of any verb that have a list of values.
std::map<std::string, Words> values_of_options(const CLI::App& app) {
  std::map<std::string, Words> values;
  for_each_verb(app, [&](const char*, const char*, const CLI::App& sub) {
    for (const CLI::Option* option : options_of(sub))
      for (const std::string& name : option->get_lnames())
        if (Words choices = choices_of(*option); !choices.empty()) values["--" + name] = choices;
  });
  return values;
}

void print_bash_tables(const CLI::App& app, Printer& out) {
  out.line("  case ${{COMP_WORDS[COMP_CWORD-1]}} in");
  for (const auto& [option, values] : values_of_options(app))
    out.line("    {}) COMPREPLY=($(compgen -W \"{}\" -- \"$word\")); return ;;", option,
             fmt::join(values, " "));
  out.line("  esac");
  out.line("  case ${{COMP_WORDS[1]}} in");
  for_each_verb(app, [&](const char* name, const char*, const CLI::App& sub) {
    const Words parts = parts_of(sub);
    const std::string words =
        parts.empty()
            ? fmt::format("words=\"{}\"", fmt::join(arguments_of(sub), " "))
            : fmt::format("[ \"$COMP_CWORD\" -ne 2 ] || words=\"{}\"", fmt::join(parts, " "));
    out.line("    {}) flags=\"{}\"{} {} ;;", name, fmt::join(flags_of(sub), " "),
             parts.empty() ? "" : ";", words);
  });
  out.line("  esac");
}

void print_bash(const CLI::App& app, Printer& out) {
  out.line("# bash completion of kvtool; load it with: source <(kvtool completion bash)");
  out.line("_kvtool() {{");
  out.line("  local word=${{COMP_WORDS[COMP_CWORD]}} flags= words=");
  out.line("  if [ \"$COMP_CWORD\" -eq 1 ]; then");
  out.line("    COMPREPLY=($(compgen -W \"{} --help --version\" -- \"$word\"))",
           fmt::join(verb_names(), " "));
  out.line("    return");
  out.line("  fi");
  print_bash_tables(app, out);
  out.line("  if [[ $word == -* ]]; then");
  out.line("    COMPREPLY=($(compgen -W \"$flags\" -- \"$word\"))");
  out.line("  elif [ -n \"$words\" ]; then");
  out.line("    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))");
  out.line("  else");
  out.line("    mapfile -t COMPREPLY < <(compgen -f -- \"$word\")");
  out.line("    compopt -o filenames 2>/dev/null");
  out.line("  fi");
  out.line("}}");
  out.line("complete -F _kvtool kvtool");
}

void print_zsh_tables(const CLI::App& app, Printer& out) {
  out.line("  case $words[CURRENT-1] in");
  for (const auto& [option, values] : values_of_options(app))
    out.line("    {}) compadd -- {}; return ;;", option, fmt::join(values, " "));
  out.line("  esac");
  out.line("  case $words[2] in");
  for_each_verb(app, [&](const char* name, const char*, const CLI::App& sub) {
    const Words arguments = arguments_of(sub);
    if (const Words parts = parts_of(sub); !parts.empty())
      out.line("    {}) if (( CURRENT == 3 )); then compadd -- {}; return; fi ;|", name,
               fmt::join(parts, " "));
    out.line("    {}) if [[ $words[CURRENT] == -* ]]; then compadd -- {}; else {}; fi ;;", name,
             fmt::join(flags_of(sub), " "),
             arguments.empty() ? "_files"
                               : fmt::format("compadd -- {}", fmt::join(arguments, " ")));
  });
  out.line("  esac");
}

void print_zsh(const CLI::App& app, Printer& out) {
  out.line("#compdef kvtool");
  out.line("# zsh completion of kvtool; load it with: source <(kvtool completion zsh)");
  out.line("_kvtool() {{");
  out.line("  local -a verbs=(");
  for_each_verb(app, [&](const char* name, const char* summary, const CLI::App&) {
    out.line("    '{}:{}'", name, summary);
  });
  out.line("  )");
  out.line("  if (( CURRENT == 2 )); then _describe verb verbs; return; fi");
  print_zsh_tables(app, out);
  out.line("}}");
  out.line("# Found in $fpath, this file is the function itself; sourced, it only defines it.");
  out.line(
      "if [[ $funcstack[1] == _kvtool ]]; then _kvtool \"$@\"; else compdef _kvtool kvtool; fi");
}

std::string fish_option(const char* verb, const CLI::Option& option) {
  std::string line = fmt::format("complete -c kvtool -n '__fish_seen_subcommand_from {}'", verb);
  for (const std::string& name : option.get_snames()) line += " -s " + name;
  for (const std::string& name : option.get_lnames()) line += " -l " + name;
  const Words values = choices_of(option);
  if (!values.empty()) line += fmt::format(" -x -a '{}'", fmt::join(values, " "));
  if (values.empty() && option.get_items_expected_max() > 0) line += " -r";
  return line + fmt::format(" -d '{}'", option.get_description());
}

void print_fish(const CLI::App& app, Printer& out) {
  out.line("# fish completion of kvtool; load it with: kvtool completion fish | source");
  for_each_verb(app, [&](const char* name, const char* summary, const CLI::App& sub) {
    out.line("complete -c kvtool -f -n __fish_use_subcommand -a {} -d '{}'", name, summary);
    for (const CLI::Option* option : options_of(sub))
      if (!option->get_positional()) out.line("{}", fish_option(name, *option));
    if (const Words parts = parts_of(sub); !parts.empty())
      out.line("complete -c kvtool -f -n '__fish_seen_subcommand_from {}; and not "
               "__fish_seen_subcommand_from {}' -a '{}'",
               name, fmt::join(parts, " "), fmt::join(parts, " "));
    if (const Words words = arguments_of(sub); !words.empty())
      out.line("complete -c kvtool -f -n '__fish_seen_subcommand_from {}' -a '{}'", name,
               fmt::join(words, " "));
  });
}

int run(const Options& options) {
  const CommandLine line = make_command_line();
  Printer out;
  if (options.shell == "bash") print_bash(*line.app, out);
  if (options.shell == "zsh") print_zsh(*line.app, out);
  if (options.shell == "fish") print_fish(*line.app, out);
  out.finish();
  return exit_fine;
}

}  // namespace

Action add_completion(CLI::App& verb) {
  auto options = std::make_shared<Options>();
  verb.add_option("SHELL", options->shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  return [options] { return run(*options); };
}

}  // namespace kvtool::cli
