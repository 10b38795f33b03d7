#include "cli/parts.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "kvtool/error.h"

namespace kvtool::cli {
namespace {

// "seq what? ls, rm or cp; see kvtool seq --help"
std::string question(const std::string& verb, std::span<const VerbPart> parts) {
  std::string names;
  for (std::size_t i = 0; i < parts.size(); ++i)
    names += fmt::format("{}{}",
                         i == 0                  ? ""
                         : i + 1 == parts.size() ? " or "
                                                 : ", ",
                         parts[i].name);
  return fmt::format("{0} what? {1}; see kvtool {0} --help", verb, names);
}

}  // namespace

Action add_parts(CLI::App& verb, std::span<const VerbPart> parts) {
  verb.require_subcommand(0, 1);
  verb.formatter(std::make_shared<CLI::Formatter>());  // not the program's, whose words differ
  verb.get_formatter()->label("SUBCOMMAND", "WHAT");
  std::vector<std::pair<const CLI::App*, Action>> actions;
  for (const VerbPart& part : parts) {
    CLI::App* sub = verb.add_subcommand(part.name, part.summary)->group("What");
    sub->footer(fmt::format("man kvtool-{} tells more.", verb.get_name()));
    actions.emplace_back(sub, part.add(*sub));
  }
  return [actions, ask = question(verb.get_name(), parts)] {
    for (const auto& [sub, action] : actions)
      if (sub->parsed()) return action();
    throw Error(ErrorKind::usage, ask);
  };
}

}  // namespace kvtool::cli
