// completion: scripts for bash, zsh and fish, made from the grammar of the command line itself.
#include <fmt/format.h>

#include "cli/app.h"
#include "cli/print.h"
#include "cli/verb.h"

namespace kvtool::cli {
namespace {

struct Options {
  std::string shell;
};

std::vector<std::string> flags_of(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_snames()) flags.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  return flags;
}

// Calls f(verb's name, its flags) for every name that a verb has.
template <class F>
void for_each_verb(const CLI::App& app, F&& f) {
  for (const Verb& verb : verbs()) {
    const auto flags = flags_of(*app.get_subcommand(verb.name));
    f(verb.name, verb, flags);
    if (verb.alias != nullptr) f(verb.alias, verb, flags);
  }
}

void print_bash(const CLI::App& app, Printer& out) {
  std::string names;
  for_each_verb(app, [&](const char* name, const Verb&, const auto&) { (names += name) += ' '; });
  out.line("# bash completion of kvtool; load it with: source <(kvtool completion bash)");
  out.line("_kvtool() {{");
  out.line("  local word=${{COMP_WORDS[COMP_CWORD]}} flags=");
  out.line("  if [ \"$COMP_CWORD\" -eq 1 ]; then");
  out.line("    COMPREPLY=($(compgen -W \"{}--help --version\" -- \"$word\"))", names);
  out.line("    return");
  out.line("  fi");
  out.line("  case ${{COMP_WORDS[1]}} in");
  for_each_verb(app, [&](const char* name, const Verb&, const auto& flags) {
    out.line("    {}) flags=\"{}\" ;;", name, fmt::join(flags, " "));
  });
  out.line("  esac");
  out.line("  case $word in");
  out.line("    -*) COMPREPLY=($(compgen -W \"$flags\" -- \"$word\")) ;;");
  out.line("    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;");
  out.line("  esac");
  out.line("}}");
  out.line("complete -o filenames -F _kvtool kvtool");
}

void print_zsh(const CLI::App& app, Printer& out) {
  out.line("#compdef kvtool");
  out.line("_kvtool() {{");
  out.line("  local -a verbs=(");
  for_each_verb(app, [&](const char* name, const Verb& verb, const auto&) {
    out.line("    '{}:{}'", name, verb.summary);
  });
  out.line("  )");
  out.line("  if (( CURRENT == 2 )); then _describe verb verbs; return; fi");
  out.line("  case $words[2] in");
  for_each_verb(app, [&](const char* name, const Verb&, const auto& flags) {
    out.line("    {}) [[ $words[CURRENT] == -* ]] && compadd -- {} || _files ;;", name,
             fmt::join(flags, " "));
  });
  out.line("  esac");
  out.line("}}");
  out.line("compdef _kvtool kvtool");
}

void print_fish(const CLI::App& app, Printer& out) {
  out.line("# fish completion of kvtool");
  for_each_verb(app, [&](const char* name, const Verb& verb, const auto& flags) {
    out.line("complete -c kvtool -n __fish_use_subcommand -a {} -d '{}'", name, verb.summary);
    for (const std::string& flag : flags)
      if (flag.rfind("--", 0) == 0)
        out.line("complete -c kvtool -n '__fish_seen_subcommand_from {}' -l {}", name,
                 flag.substr(2));
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
