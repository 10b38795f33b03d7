#include "cli/input.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "kvtool/error.h"

namespace kvtool::cli {
namespace {

// The whole of `text` as a number. Throws Error(usage).
std::int64_t number(const std::string& text, const char* option) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end)
    throw Error(ErrorKind::usage, fmt::format("{}: \"{}\" is not a number", option, text));
  return value;
}

Trailing trailing_named(const std::string& name) {
  if (name == "keep") return Trailing::keep;
  return name == "drop" ? Trailing::drop : Trailing::refuse;
}

}  // namespace

void add_input(CLI::App& verb, InputOptions& input) {
  verb.add_option("FILE", input.file, "the dump; - is standard input, zstd is unpacked")->required();
  verb.add_option("--layout", input.layout, "take this layout, where several fit")
      ->type_name("NAME");
  verb.add_option("--trailing", input.trailing,
                  "unknown bytes behind a sequence state: refuse, keep or drop")
      ->check(CLI::IsMember({"refuse", "keep", "drop"}))
      ->type_name("WHAT");
}

std::shared_ptr<const Dump> open(const InputOptions& input) {
  OpenOptions options;
  options.layout = input.layout;
  options.trailing = trailing_named(input.trailing);
  return std::make_shared<const Dump>(open_dump(input.file, options));
}

void add_filter(CLI::App& verb, CellFilter& filter) {
  verb.add_option("--seq", filter.sequence, "only cells of this sequence")->type_name("ID");
  verb.add_option("--pos", filter.positions, "only positions from A up to and without B")
      ->type_name("A:B");
}

CellPredicate::CellPredicate(const CellFilter& filter)
    : begin_(std::numeric_limits<std::int64_t>::min()),
      end_(std::numeric_limits<std::int64_t>::max()) {
  if (!filter.sequence.empty())
    sequence_ = static_cast<SequenceId>(number(filter.sequence, "--seq"));
  if (filter.positions.empty()) return;
  const std::size_t colon = filter.positions.find(':');
  if (colon == std::string::npos)
    throw Error(ErrorKind::usage, fmt::format("--pos: \"{}\" is not A:B", filter.positions));
  const std::string first = filter.positions.substr(0, colon);
  const std::string last = filter.positions.substr(colon + 1);
  if (!first.empty()) begin_ = number(first, "--pos");
  if (!last.empty()) end_ = number(last, "--pos");
}

bool CellPredicate::operator()(const CellTable& cells, std::size_t cell) const {
  const std::int64_t position = cells.position(cell);
  if (position < begin_ || position >= end_) return false;
  const auto ids = cells.sequences(cell);
  return !sequence_ || std::find(ids.begin(), ids.end(), *sequence_) != ids.end();
}

}  // namespace kvtool::cli
