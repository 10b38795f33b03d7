// Standard output: collected, written in large pieces, checked at the end.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

namespace kvtool::cli {

using Json = nlohmann::ordered_json;

// What a verb prints. Call finish() at the end; the destructor drops what was not finished.
class Printer {
 public:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
    if (text_.size() > most_pending) flush();
  }
  // Text that ends its lines itself.
  void text(const std::string& lines);
  // An indented document, or one line of JSON lines.
  void json(const Json& value, bool one_line = false);
  // Throws Error(io) if standard output could not take everything.
  void finish();

 private:
  void flush();

  static constexpr std::size_t most_pending = 1U << 16U;
  std::string text_;
};

// The first fields of every JSON document: the schema, and the file as it was named.
[[nodiscard]] Json json_document(const std::string& file);

// Text from a file, safe for terminals and tables: what is not printable ASCII becomes \xNN.
[[nodiscard]] std::string printable(const std::string& text);

// "12.3 MiB" and the like, for people.
[[nodiscard]] std::string human_bytes(std::uint64_t bytes);

// "1 cell", "3 cells".
[[nodiscard]] std::string counted(std::uint64_t n, const char* noun);

}  // namespace kvtool::cli
