#include "format/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "kvtool/checked.h"
#include "kvtool/error.h"

namespace kvtool::format {
namespace {

// Longest architecture name taken; real ones have up to 20 characters.
constexpr std::uint32_t most_name_characters = 256;

// "1", or "1 or more" where more than one value is allowed.
std::string least_text(std::uint32_t least, std::uint32_t most) {
  return fmt::format("{}{}", least, least == most ? "" : " or more");
}

bool printable(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

// Position, number of ids, the id if there is one.
bool is_plain_cell(std::span<const std::int32_t> words) {
  const auto ids = static_cast<std::int32_t>(words.size()) - 2;
  const bool known = ids == 0 || static_cast<std::uint32_t>(words[2]) < most_sequences;
  return words[0] >= 0 && words[1] == ids && known;
}

}  // namespace

void Reader::fail(std::uint64_t offset, const char* field, const std::string& detail) const {
  throw Error(ErrorKind::damaged, Place{offset, Scope::path(scope_) + field}, detail);
}

void Reader::require(bool fine, std::uint64_t offset, const char* field,
                     const std::string& detail) const {
  if (!fine) fail(offset, field, detail);
}

void Reader::need(const char* field, std::uint64_t bytes) const {
  if (bytes > cursor_.remaining())
    fail(offset(), field, fmt::format("needs {} bytes, {} remain", bytes, cursor_.remaining()));
}

// Blobs are judged one by one and refuse no file, so nothing in them needs forgiving.
Reader Reader::inside(const Extent& bounds) const {
  const bool plausible = strictness_ == Strictness::plausible;
  return {Cursor(cursor_.window(), bounds),
          plausible ? Strictness::plausible : Strictness::structural};
}

void Reader::refuse_or_forgive(const Error& error) {
  if (strictness_ != Strictness::forgiving || complaint_) throw Error(error);
  complaint_ = error;
}

void Reader::complain(std::uint64_t offset, const char* field, const std::string& detail) {
  refuse_or_forgive(Error(ErrorKind::damaged, Place{offset, Scope::path(scope_) + field}, detail));
}

void Reader::take_over(const Reader& ahead) {
  cursor_ = ahead.cursor_;
  next_stream_ = ahead.next_stream_;
  progress_ = ahead.progress_;
  complaint_ = ahead.complaint_;
}

void Reader::u32(const char* field, std::uint32_t& value) {
  if (!cursor_.take(value)) need(field, sizeof value);
}

void Reader::i32(const char* field, std::int32_t& value) {
  std::uint32_t word = 0;
  u32(field, word);
  value = static_cast<std::int32_t>(word);
}

void Reader::u64(const char* field, std::uint64_t& value) {
  if (!cursor_.take(value)) need(field, sizeof value);
}

void Reader::constant(const char* field, std::uint32_t expected) {
  const std::uint64_t at = offset();
  std::uint32_t found = 0;
  u32(field, found);
  if (found != expected) fail(at, field, fmt::format("expected {}, found {}", expected, found));
}

void Reader::flag(const char* field, std::uint32_t& value) {
  const std::uint64_t at = offset();
  u32(field, value);
  if (value > 1) complain(at, field, fmt::format("expected 0 or 1, found {}", value));
}

std::uint32_t Reader::count(const char* field, std::uint64_t /*current*/, std::uint64_t least_bytes,
                            std::uint64_t most) {
  const std::uint64_t at = offset();
  std::uint32_t found = 0;
  u32(field, found);
  if (found > most) fail(at, field, fmt::format("expected at most {}, found {}", most, found));
  const std::uint64_t bytes = checked_multiply(found, least_bytes);
  if (bytes > cursor_.remaining())
    fail(at, field, fmt::format("{} entries need at least {} bytes, {} remain", found, bytes,
                                cursor_.remaining()));
  return found;
}

void Reader::position(const char* field, Position& value) {
  const std::uint64_t at = offset();
  i32(field, value);
  if (value < 0 && strictness_ == Strictness::plausible)
    fail(at, field, fmt::format("expected 0 or more, found {}", value));
}

void Reader::sequence_id(const char* field, SequenceId& value) {
  const std::uint64_t at = offset();
  i32(field, value);
  if (value < 0) complain(at, field, fmt::format("expected 0 or more, found {}", value));
}

void Reader::sequence_ids(std::span<const SequenceId> ids) const {
  if (strictness_ != Strictness::plausible || ids.empty()) return;
  const std::uint64_t at = offset() - ids.size_bytes();
  for (std::size_t i = 1; i < ids.size(); ++i)
    if (ids[i] <= ids[i - 1])
      fail(at + i * sizeof(SequenceId), "seq_id",
           fmt::format("expected ascending ids, found {} after {}", ids[i], ids[i - 1]));
  if (ids.back() >= most_sequences)
    fail(offset() - sizeof(SequenceId), "seq_id",
         fmt::format("expected less than {}, found {}", most_sequences, ids.back()));
}

std::uint32_t Reader::count_near_one(const char* field, std::uint64_t current,
                                     std::uint64_t least_bytes, std::uint32_t least,
                                     std::uint32_t most) {
  const std::uint64_t at = offset();
  try {
    const std::uint32_t found = count(field, current, least_bytes, most);
    if (found < least)
      fail(at, field, fmt::format("expected {}, found {}", least_text(least, most), found));
    return found;
  } catch (const Error& error) {
    if (offset() == at) throw;  // the file ends here
    refuse_or_forgive(error);
    return 1;
  }
}

void Reader::type(const char* field, ElementType& type) {
  const std::uint64_t at = offset();
  std::int32_t id = 0;
  i32(field, id);
  const auto* found = find_element_type(id);
  if (found == nullptr || found->fork_only)
    fail(at, field, fmt::format("expected a ggml type id, found {}", id));
  type = found->type;
}

void Reader::type_or_none(const char* field, std::optional<ElementType>& type) {
  const std::uint64_t at = offset();
  std::int32_t id = 0;
  i32(field, id);
  type.reset();
  if (id == -1) return;
  const auto* found = find_element_type(id);
  if (found == nullptr)
    fail(at, field, fmt::format("expected a type id of ik_llama.cpp or -1, found {}", id));
  type = found->type;
}

void Reader::row_size(const char* field, std::uint64_t& bytes, ElementType type) {
  const std::uint64_t at = offset();
  u64(field, bytes);
  const auto& t = info(type);
  if (bytes < t.row_header_bytes || (bytes - t.row_header_bytes) % t.block_bytes != 0)
    fail(at, field, fmt::format("expected whole blocks of {} bytes ({}), found {} bytes",
                                t.block_bytes, t.name, bytes));
}

void Reader::rotation(const char* field, std::uint32_t& width) {
  const std::uint64_t at = offset();
  u32(field, width);
  if (width != 0 && !std::has_single_bit(width))
    complain(at, field, fmt::format("expected 0 or a power of two, found {}", width));
}

void Reader::text(const char* field, std::string& value) {
  const std::uint64_t at = offset();
  const std::uint32_t size = count(field, value.size(), 1, most_name_characters);
  if (size == 0) fail(at, field, "expected a name, found none");
  value.resize(size);
  if (!cursor_.take(std::as_writable_bytes(std::span(value)))) need(field, size);
  if (!printable(value)) fail(at, field, "expected printable characters");
}

void Reader::words(const char* count_field, const char* field, std::vector<std::int32_t>& values) {
  values.resize(count(count_field, values.size(), sizeof(std::int32_t), most_tokens));
  if (!cursor_.take(std::as_writable_bytes(std::span(values))))
    need(field, values.size() * sizeof(std::int32_t));
}

void Reader::bytes(const char* field, std::vector<std::byte>& value, std::uint64_t size) {
  need(field, size);
  value.resize(static_cast<std::size_t>(size));
  static_cast<void>(cursor_.take(std::span(value)));
}

void Reader::floats(const char* count_field, const char* field, Extent& extent) {
  const std::uint64_t at = offset();
  std::uint64_t found = 0;
  u64(count_field, found);
  if (found > cursor_.remaining() / sizeof(float))
    fail(at, count_field,
         fmt::format("{} values of 4 bytes do not fit, {} bytes remain", found, cursor_.remaining()));
  opaque(field, extent, found * sizeof(float));
}

void Reader::opaque(const char* field, Extent& extent, std::uint64_t size) {
  extent = {offset(), size};
  if (!cursor_.skip(size)) need(field, size);
}

std::uint32_t Reader::take_plain_cells(CellTable& cells, std::uint32_t count, std::uint32_t ids) {
  constexpr std::uint32_t piece = 1024;
  const std::uint32_t width = 2 + ids;  // words of a cell
  std::array<std::int32_t, std::size_t{piece} * 3> words{};
  std::uint32_t taken = 0;
  while (taken < count) {
    const std::uint32_t n = std::min(piece, count - taken);
    const auto some = std::span(words).first(std::size_t{n} * width);
    Cursor ahead = cursor_;
    if (!ahead.take(std::as_writable_bytes(some))) return taken;
    std::uint32_t fine = 0;
    for (auto cell = some; fine < n && is_plain_cell(cell.first(width)); ++fine) {
      cells.append(cell[0], cell.subspan(2, ids));
      cell = cell.subspan(width);
    }
    static_cast<void>(cursor_.skip(std::uint64_t{fine} * width * sizeof(std::int32_t)));
    taken += fine;
    if (fine < n) break;
  }
  return taken;
}

void Reader::skip_cells(CellTable& cells, std::uint32_t count, std::uint64_t cell_bytes) {
  const std::uint64_t bytes = checked_multiply(count, cell_bytes);
  if (!cursor_.skip(bytes)) need("cells", bytes);
  cells.append_unread(count);
}

bool Reader::take_equal_layers(Stream& stream, TensorOfLayer part, std::uint64_t begin) {
  const std::uint64_t others = stream.layers.size() - 1;
  const std::uint64_t stride = offset() - begin;
  std::uint64_t rest = 0;
  if (__builtin_mul_overflow(others, stride, &rest) || rest > cursor_.remaining()) return false;
  std::array<std::byte, 12> first{};  // type and row size, or type, element size and width
  std::array<std::byte, 12> last{};
  Cursor at_first(window(), {begin, first.size()});
  Cursor at_last(window(), {begin + rest, last.size()});
  if (!at_first.take(first) || !at_last.take(last) || first != last) return false;
  for (std::size_t l = 1; l < stream.layers.size(); ++l) {
    stream.layers[l].*part = stream.layers.front().*part;
    (stream.layers[l].*part).extent.offset += l * stride;
  }
  progress_ += others;
  return cursor_.skip(rest);
}

void Reader::tensor(const char* field, const Stream& stream, Layer& layer, TensorOfLayer part) {
  Tensor& tensor = layer.*part;
  const std::uint64_t cell = tensor.cell_bytes();
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(stream.cells.size(), cell, &bytes) || bytes > cursor_.remaining())
    fail(offset(), field, fmt::format("{} cells of {} bytes do not fit, {} bytes remain",
                                      stream.cells.size(), cell, cursor_.remaining()));
  opaque(field, tensor.extent, bytes);
  completed();
}

}  // namespace kvtool::format
