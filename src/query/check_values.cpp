// Findings about tensor values: everything is read once, in blocks of bounded size.
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <span>

#include "query/findings.h"
#include "tensor/scaled_row.h"

namespace kvtool {
namespace {

constexpr std::uint64_t block_bytes = 1U << 20U;

// What one pass over a tensor finds.
struct Scan {
  std::uint64_t not_finite = 0;  // NaN or Inf values, or blocks or rows whose scale is one
  std::uint64_t wrong_sums = 0;  // rows of q8_KV that do not add up
  bool all_zero = true;
  std::uint64_t hash_low = 0;
  std::uint64_t hash_high = 0;
};

// Plain numbers are broken when all exponent bits are set.
template <class Word>
std::uint64_t count_broken(std::span<const std::byte> bytes, Word exponent) {
  std::uint64_t broken = 0;
  for (std::size_t at = 0; at + sizeof(Word) <= bytes.size(); at += sizeof(Word)) {
    Word word;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    broken += (word & exponent) == exponent ? 1U : 0U;
  }
  return broken;
}

// Where a block type keeps its half-precision scales, by bytes into the block.
std::span<const std::uint32_t> scales_of(ElementType type) {
  static constexpr std::uint32_t first[] = {0};
  static constexpr std::uint32_t first_two[] = {0, 2};
  switch (type) {
    case ElementType::q4_0:
    case ElementType::q5_0:
    case ElementType::q8_0:
    case ElementType::iq4_nl: return first;
    case ElementType::q4_1:
    case ElementType::q5_1: return first_two;
    default: return {};
  }
}

std::uint64_t count_broken_scales(std::span<const std::byte> bytes, ElementType type) {
  const std::uint32_t block = info(type).block_bytes;
  std::uint64_t broken = 0;
  for (std::size_t at = 0; at + block <= bytes.size(); at += block)
    for (const std::uint32_t scale : scales_of(type))
      broken += count_broken<std::uint16_t>(bytes.subspan(at + scale, 2), 0x7c00);
  return broken;
}

std::uint64_t count_broken_values(std::span<const std::byte> bytes, ElementType type) {
  switch (type) {
    case ElementType::f32: return count_broken<std::uint32_t>(bytes, 0x7f800000);
    case ElementType::f16: return count_broken<std::uint16_t>(bytes, 0x7c00);
    case ElementType::bf16: return count_broken<std::uint16_t>(bytes, 0x7f80);
    default: return count_broken_scales(bytes, type);
  }
}

void look_at_rows(std::span<const std::byte> bytes, std::size_t row, Scan& found) {
  for (std::size_t at = 0; at + row <= bytes.size(); at += row) {
    const ScaledRow one(bytes.subspan(at, row));
    found.not_finite += std::isfinite(one.scale()) ? 0U : 1U;
    found.wrong_sums += one.adds_up() ? 0U : 1U;
  }
}

// What cannot be looked at in pieces.
std::uint64_t unit_of(const Tensor& tensor) {
  const ElementTypeInfo& type = info(tensor.type);
  return type.row_header_bytes > 0 ? tensor.row_bytes / tensor.row_headers() : type.block_bytes;
}

bool all_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

Scan scan(const Source& source, const Tensor& tensor) {
  Scan result;
  const std::uint64_t unit = unit_of(tensor);
  const std::uint64_t units = std::max<std::uint64_t>(1, block_bytes / unit);
  std::vector<std::byte> block(
      static_cast<std::size_t>(std::min(units * unit, tensor.extent.size)));
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> hash(XXH3_createState(),
                                                                      XXH3_freeState);
  XXH3_128bits_reset(hash.get());
  for (std::uint64_t at = 0; at < tensor.extent.size; at += block.size()) {
    const auto size = std::min<std::uint64_t>(block.size(), tensor.extent.size - at);
    const auto piece = std::span(block).first(static_cast<std::size_t>(size));
    source.read_at(tensor.extent.offset + at, piece);
    if (tensor.type == ElementType::q8_KV)
      look_at_rows(piece, static_cast<std::size_t>(unit), result);
    else
      result.not_finite += count_broken_values(piece, tensor.type);
    result.all_zero = result.all_zero && all_zero(piece);
    XXH3_128bits_update(hash.get(), piece.data(), piece.size());
  }
  const XXH128_hash_t digest = XXH3_128bits_digest(hash.get());
  result.hash_low = digest.low64;
  result.hash_high = digest.high64;
  return result;
}

// Looks at every tensor of a memory and remembers contents to notice repeats.
class ValueChecker {
 public:
  ValueChecker(const Source& source, Findings& findings) : source_(source), findings_(findings) {}

  void run(const Stream& stream, const std::string& where, const char* k, const char* v) {
    seen_.clear();
    for (std::size_t l = 0; l < stream.layers.size(); ++l) {
      look(stream, stream.layers[l].k, fmt::format("{} layer {} {}", where, l, k));
      look(stream, stream.layers[l].v, fmt::format("{} layer {} {}", where, l, v));
    }
  }

 private:
  void look(const Stream& stream, const Tensor& tensor, const std::string& where) {
    const WholeCells whole = whole_cells(tensor, stream.cells.size());
    if (whole.tensor.extent.size == 0) return;
    const Scan found = scan(source_, whole.tensor);
    if (found.not_finite > 0)
      findings_.error("not_finite", where,
                      fmt::format("{} {} NaN or Inf; everything computed from it is NaN",
                                  found.not_finite, things_of(tensor.type)));
    if (found.wrong_sums > 0)
      findings_.error("wrong_sum", where,
                      fmt::format("{} rows do not have the sum that their header says: the bytes "
                                  "are damaged",
                                  found.wrong_sums));
    if (found.all_zero)
      findings_.warning("all_zero", where, "every value is zero: the layer was never written");
    else
      note_repeat(found, where);
  }

  static const char* things_of(ElementType type) {
    if (type == ElementType::q8_KV) return "row scales are";
    return scales_of(type).empty() ? "values are" : "block scales are";
  }

  void note_repeat(const Scan& found, const std::string& where) {
    const auto [at, fresh] = seen_.try_emplace({found.hash_low, found.hash_high}, where);
    if (!fresh)
      findings_.warning("repeated_layer", where, "holds the same bytes as " + at->second);
  }

  const Source& source_;
  Findings& findings_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> seen_;
};

}  // namespace

namespace {

void check_state(const State& state, const std::string& prefix, ValueChecker& checker) {
  for (std::size_t m = 0; m < state.memories.size(); ++m) {
    const Memory& memory = state.memories[m];
    const bool recurrent = memory.kind == MemoryKind::recurrent;
    for (std::size_t s = 0; s < memory.streams.size(); ++s)
      checker.run(memory.streams[s], fmt::format("{}memory {} stream {}", prefix, m, s),
                  recurrent ? "R" : "K", recurrent ? "S" : "V");
  }
}

void check_blob(const Blob& blob, const std::string& prefix, ValueChecker& checker) {
  if (blob.state) check_state(*blob.state, prefix, checker);
}

}  // namespace

void check_values(const Dump& dump, Findings& findings) {
  ValueChecker checker(*dump.source, findings);
  check_state(dump.state, "", checker);
  for (std::size_t i = 0; i < dump.tail.checkpoints.size(); ++i) {
    check_blob(dump.tail.checkpoints[i].target, fmt::format("checkpoint {} ", i), checker);
    check_blob(dump.tail.checkpoints[i].draft, fmt::format("checkpoint {} draft ", i), checker);
  }
  check_blob(dump.tail.draft, "draft ", checker);
}

}  // namespace kvtool
