#include "cli/prompt_argument.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <limits>

#include "cli/input.h"
#include "cli/print.h"
#include "kvtool/error.h"
#include "kvtool/open.h"

namespace kvtool::cli {
namespace {

constexpr std::string_view separators = " \t\r\n,";

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::usage, what); }

TokenId id_in(std::string_view word) {
  TokenId id = 0;
  const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), id);
  if (error != std::errc{} || stop != word.data() + word.size())
    refuse(fmt::format("\"{}\" is not a token id", printable(std::string(word.substr(0, 40)))));
  return id;
}

std::vector<TokenId> ids_of_words(std::string_view text) {
  std::vector<TokenId> ids;
  while (true) {
    const std::size_t begin = text.find_first_not_of(separators);
    if (begin == std::string_view::npos) return ids;
    text.remove_prefix(begin);
    const std::size_t end = std::min(text.find_first_of(separators), text.size());
    ids.push_back(id_in(text.substr(0, end)));
    text.remove_prefix(end);
  }
}

TokenId id_of(const Json& item) {
  const Json& number = item.is_object() && item.contains("id") ? item["id"] : item;
  if (!number.is_number_integer()) refuse("JSON: expected token ids");
  const std::int64_t id = number.get<std::int64_t>();
  if (id < std::numeric_limits<TokenId>::min() || id > std::numeric_limits<TokenId>::max())
    refuse(fmt::format("{} is not a token id", id));
  return static_cast<TokenId>(id);
}

std::vector<TokenId> ids_of_json(const std::string& text) {
  Json json = Json::parse(text, nullptr, false);
  for (const char* name : {"ids", "tokens"})
    if (json.is_object() && json.contains(name) && json[name].is_array())
      json = Json(json[name]);
  if (!json.is_array())
    refuse("JSON: expected a list of token ids, or one as \"tokens\" or \"ids\"");
  std::vector<TokenId> ids;
  for (const Json& item : json) ids.push_back(id_of(item));
  return ids;
}

TokenArea ids_in(const std::string& text) {
  TokenArea area;
  const std::size_t begin = text.find_first_not_of(separators);
  const bool json = begin != std::string::npos && (text[begin] == '[' || text[begin] == '{');
  area.ids = json ? ids_of_json(text) : ids_of_words(text);
  return area;
}

Prompt read_file(const std::string& path) {
  const auto source = open_source(path);
  Prompt prompt;
  prompt.name = source->name();
  if (looks_like_dump(*source)) {
    OpenOptions options;
    options.trailing = Trailing::keep;
    options.skim = true;
    prompt.dump = std::make_shared<const Dump>(open_dump(source, options));
    prompt.tokens = prompt.dump->tokens;
    return prompt;
  }
  std::string text(static_cast<std::size_t>(source->size()), '\0');
  source->read_at(0, std::as_writable_bytes(std::span(text)));
  try {
    prompt.tokens = ids_in(text);
  } catch (const Error& error) {
    throw error.in_file(prompt.name);
  }
  return prompt;
}

}  // namespace

Prompt read_prompt(const std::string& text, const std::string& name) {
  std::error_code ignored;
  if (text == "-" || std::filesystem::exists(text, ignored)) return read_file(text);
  Prompt prompt;
  prompt.name = name;
  try {
    prompt.tokens = ids_in(text);
  } catch (const Error& error) {
    refuse(fmt::format("no such file, and no list of token ids: {}", error.message()));
  }
  return prompt;
}

}  // namespace kvtool::cli
