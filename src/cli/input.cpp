#include "cli/input.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <span>

#include "kvtool/error.h"
#include "kvtool/target.h"

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

struct Range {
  std::int64_t begin = std::numeric_limits<std::int64_t>::min();
  std::int64_t end = std::numeric_limits<std::int64_t>::max();
};

// "A:B", half-open; either side may be missing. Throws Error(usage).
Range range(const std::string& text, const char* option) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos)
    throw Error(ErrorKind::usage, fmt::format("{}: \"{}\" is not A:B", option, text));
  Range range;
  if (colon > 0) range.begin = number(text.substr(0, colon), option);
  if (colon + 1 < text.size()) range.end = number(text.substr(colon + 1), option);
  return range;
}

// The type called so; none for an empty name. Throws Error(usage).
std::optional<ElementType> type_named(const std::string& name, const char* option) {
  if (name.empty()) return std::nullopt;
  const ElementTypeInfo* found = find_element_type(std::string_view(name));
  if (found == nullptr)
    throw Error(ErrorKind::usage, fmt::format("{}: no type is called {}", option, name));
  return found->type;
}

// "32" as in "32x1024"; 0 for an empty text. Throws Error(usage).
std::uint64_t part_of_shape(const std::string& text, std::int64_t most) {
  if (text.empty()) return 0;
  const std::int64_t value = number(text, "--kv-shape");
  if (value < 1 || value > most)
    throw Error(ErrorKind::usage, fmt::format("--kv-shape: {} is not from 1 to {}", value, most));
  return static_cast<std::uint64_t>(value);
}

// "32x1024", "32x1024:512", "32x", "x1024". Throws Error(usage).
BareShape shape_named(const std::string& text) {
  constexpr std::int64_t most_layers = 4096;
  constexpr std::int64_t most_width = 1 << 24;
  const std::size_t by = text.find('x');
  const std::size_t colon = text.find(':');
  if (by == std::string::npos || text.size() == 1)
    throw Error(ErrorKind::usage,
                fmt::format("--kv-shape: \"{}\" is not LAYERSxWIDTH or LAYERSxK:V", text));
  BareShape shape;
  shape.layers = static_cast<std::uint32_t>(part_of_shape(text.substr(0, by), most_layers));
  const std::string k = text.substr(by + 1, colon == std::string::npos ? colon : colon - by - 1);
  if (k.empty()) return shape;
  shape.k_width = shape.v_width = {part_of_shape(k, most_width)};
  if (colon != std::string::npos)
    shape.v_width = {part_of_shape(text.substr(colon + 1), most_width)};
  return shape;
}

// What is said of the shape of a bare state, if it is one: a model or a dump is opened only then.
std::optional<BareShape> shape_for(const InputOptions& input, const Source& source) {
  if (!input.kv_shape.empty()) return shape_named(input.kv_shape);
  if (!needs_bare_shape(source)) return std::nullopt;
  if (!input.model.empty()) return bare_shape_of(open_gguf(open_source(input.model)));
  if (!input.like.empty()) return bare_shape_of(shape_of_dump(open_dump(input.like)));
  return std::nullopt;
}

Trailing trailing_named(const std::string& name) {
  if (name == "keep") return Trailing::keep;
  return name == "drop" ? Trailing::drop : Trailing::refuse;
}

}  // namespace

void add_input(CLI::App& verb, InputOptions& input) {
  verb.add_option("FILE", input.file, "the dump; - is standard input, zstd is unpacked")
      ->required();
  verb.add_option("--layout", input.layout, "take this layout, where several fit")
      ->type_name("NAME");
  verb.add_option("--trailing", input.trailing,
                  "unknown bytes behind a sequence state: refuse, keep or drop")
      ->check(CLI::IsMember({"refuse", "keep", "drop"}))
      ->type_name("WHAT");
  add_unstored(verb, input);
}

void add_unstored(CLI::App& verb, InputOptions& input) {
  verb.add_option("--k-type", input.k_type,
                  "type of K in a session of before August 2024, which does not store it")
      ->type_name("TYPE");
  verb.add_option("--v-type", input.v_type, "type of V in one")->type_name("TYPE");
  verb.add_option("-m,--model", input.model,
                  "sizes that a bare state of before August 2024 lacks: from a model")
      ->type_name("GGUF");
  verb.add_option("--like", input.like, "such sizes from another dump of its model")->type_name("REF");
  verb.add_option("--kv-shape", input.kv_shape, "such sizes in numbers, as 32x1024")
      ->type_name("LAYERSxWIDTH[:V]");
}

void replace_option(CLI::App& verb, const std::string& name) {
  if (CLI::Option* option = verb.get_option_no_throw(name)) verb.remove_option(option);
}

std::shared_ptr<const Dump> open(const InputOptions& input) {
  OpenOptions options;
  options.layout = input.layout;
  options.trailing = trailing_named(input.trailing);
  options.k_type = type_named(input.k_type, "--k-type");
  options.v_type = type_named(input.v_type, "--v-type");
  const auto source = open_source(input.file);
  options.bare = shape_for(input, *source);
  return std::make_shared<const Dump>(open_dump(source, options));
}

std::function<void(std::string)> handing_on_to(std::string& of_input) {
  return [&of_input](const std::string& text) { of_input = text; };
}

void add_filter(CLI::App& verb, CellFilter& filter) {
  verb.add_option("--seq", filter.sequence, "only cells of this sequence")->type_name("ID");
  verb.add_option("--pos", filter.positions, "only positions from A up to and without B")
      ->type_name("A:B");
}

bool looks_like_dump(const Source& source) {
  char magic[4] = {};
  if (source.size() < sizeof magic) return false;
  source.read_at(0, std::as_writable_bytes(std::span(magic)));
  return std::memcmp(magic, "nsgg", 4) == 0 || std::memcmp(magic, "qsgg", 4) == 0;
}

SequenceId parse_sequence(const std::string& text) {
  return static_cast<SequenceId>(
      std::clamp<std::int64_t>(number(text, "--seq"), -1, std::numeric_limits<SequenceId>::max()));
}

PositionRange parse_positions(const std::string& text) {
  const Range positions = range(text, "--pos");
  const std::int64_t begin = std::max<std::int64_t>(positions.begin, 0);
  if (begin >= positions.end)
    throw Error(ErrorKind::usage, fmt::format("--pos: \"{}\" holds no position", text));
  return {begin, positions.end};
}

std::pair<std::uint32_t, std::uint32_t> parse_layers(const std::string& text) {
  constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  Range layers;
  if (text.find(':') == std::string::npos) {
    layers.begin = number(text, "--layers");
    layers.end = layers.begin + 1;
  } else {
    layers = range(text, "--layers");
  }
  return {static_cast<std::uint32_t>(std::clamp<std::int64_t>(layers.begin, 0, most)),
          static_cast<std::uint32_t>(std::clamp<std::int64_t>(layers.end, 0, most))};
}

CellPredicate::CellPredicate(const CellFilter& filter)
    : begin_(std::numeric_limits<std::int64_t>::min()),
      end_(std::numeric_limits<std::int64_t>::max()) {
  if (!filter.sequence.empty()) sequence_ = parse_sequence(filter.sequence);
  if (filter.positions.empty()) return;
  const Range positions = range(filter.positions, "--pos");
  begin_ = positions.begin;
  end_ = positions.end;
}

bool CellPredicate::operator()(const CellTable& cells, std::size_t cell) const {
  const std::int64_t position = cells.position(cell);
  if (position < begin_ || position >= end_) return false;
  const auto ids = cells.sequences(cell);
  return !sequence_ || std::find(ids.begin(), ids.end(), *sequence_) != ids.end();
}

}  // namespace kvtool::cli
