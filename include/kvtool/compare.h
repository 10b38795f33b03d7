// Two dumps compared by what they mean: tokens, cells by (sequence, position), values per layer.
//
// The order of cells in the file, the version, the streams, the orientation of V and the type do
// not matter by themselves; where they change values, the figures show it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kvtool/dump.h"

namespace kvtool {

// A property of the files that differs, in words, e.g. {"version", "3", "4"}.
struct HeaderDifference {
  std::string field;
  std::string a;
  std::string b;
};

struct TokenComparison {
  std::uint64_t count_a = 0;
  std::uint64_t count_b = 0;
  std::uint64_t common_prefix = 0;  // ids that are equal from the start
  std::uint64_t common_suffix = 0;  // of what follows the prefix, equal at the end
  bool media_differ = false;
  [[nodiscard]] bool equal() const {
    return count_a == count_b && common_prefix == count_a && !media_differ;
  }
};

// A cell by its meaning.
struct CellKey {
  std::uint32_t memory = 0;
  SequenceId sequence = 0;  // 0 in dumps of one sequence, whatever id they store
  Position position = 0;
  std::int32_t x = 0;  // only M-RoPE cells with an extension
  std::int32_t y = 0;
};

// Cells of one pair of memories.
struct CellComparison {
  std::uint32_t memory = 0;
  std::uint64_t cells_a = 0;
  std::uint64_t cells_b = 0;
  std::uint64_t matched = 0;        // in both
  std::uint64_t moved = 0;          // matched, at another place in the file or stream
  std::vector<CellKey> only_a;      // the first of them, as many as CompareOptions::listed
  std::vector<CellKey> only_b;
  std::uint64_t only_a_count = 0;
  std::uint64_t only_b_count = 0;
};

// Values of one tensor, over all matched cells.
struct TensorComparison {
  std::uint32_t memory = 0;
  std::uint32_t layer = 0;
  bool is_v = false;           // V, or S of a recurrent memory
  std::uint64_t cells = 0;
  std::uint64_t equal_cells = 0;  // byte for byte, or of equal values in other types
  std::uint64_t values = 0;
  double max_abs = 0;
  double rms = 0;              // root of the mean square of the differences
  double relative_l2 = 0;      // norm of the differences over norm of A
  double cosine = 1;           // of A and B as one vector each
  std::uint64_t over_tolerance = 0;  // cells with a value beyond the tolerance
  std::uint64_t not_finite = 0;      // values that are NaN or Inf in only one of them
  // Values that are NaN in both, or the same infinity: no difference, but in no figure either. Not
  // counted in a tensor that is equal byte for byte.
  std::uint64_t not_finite_in_both = 0;
  [[nodiscard]] bool same() const { return over_tolerance == 0 && not_finite == 0; }
};

// A cell whose values are far apart, for `--top` and `--per-position`.
struct CellDifference {
  CellKey key;
  double max_abs = 0;
  double relative_l2 = 0;  // over the cell's values in all tensors that differ somewhere
};

// What the comparison comes to.
enum class Verdict {
  identical_bytes,
  same_content,            // in another order or layout
  within_noise,            // as another kernel, build or type would compute it
  one_layer_wrong,
  layers_exchanged,
  keys_and_values_exchanged,
  shifted_positions,
  rotated,
  row_order,               // both parts of each head's K (deepseek2) are in the other order
  relabelled,              // the values of some cells belong to other labels
  different_values,        // none of these
  different_cells,         // what both hold is the same, but they do not hold the same cells
  different_tokens,        // same cells and values, another token list
  different_parts,         // same memories, but something around them that both have differs
  different_conversations,
  not_comparable,
};

// Something around the memories that both have: logits, a checkpoint, a draft's state.
struct PartComparison {
  std::string part;   // "logits", "checkpoint[0]", "draft"
  Verdict verdict = Verdict::not_comparable;
  std::string words;  // as of a comparison
  [[nodiscard]] bool same() const {
    return verdict == Verdict::identical_bytes || verdict == Verdict::same_content;
  }
};

struct Comparison {
  std::vector<HeaderDifference> header;
  TokenComparison tokens;
  std::vector<CellComparison> cells;
  std::vector<TensorComparison> tensors;
  std::vector<CellDifference> worst;  // the furthest apart first
  std::vector<CellDifference> by_position;
  std::vector<PartComparison> parts;  // empty when the bytes are identical
  Verdict verdict = Verdict::not_comparable;
  std::string words;  // the verdict as a sentence, with what shows it
  [[nodiscard]] bool same() const {
    return verdict == Verdict::identical_bytes || verdict == Verdict::same_content;
  }
};

struct CompareOptions {
  double absolute = 0;  // differences up to absolute + relative * |A| count as same
  double relative = 0;
  std::size_t top = 10;           // entries of Comparison::worst
  std::size_t listed = 10;        // entries of only_a and only_b
  bool per_position = false;      // fill Comparison::by_position
  unsigned threads = 1;           // at most; 0: one for each core. They do not change figures
  bool values = true;             // false: header, tokens and cells only
  std::optional<SequenceId> sequence;
  std::int64_t position_begin = 0;
  std::int64_t position_end = std::int64_t{1} << 32;
  std::optional<std::pair<std::uint32_t, std::uint32_t>> layers;  // [first, end)
};

// Throws Error(io), also when a file changed meanwhile. Dumps that cannot be compared give the
// verdict not_comparable and the reason.
[[nodiscard]] Comparison compare(const Dump& a, const Dump& b, const CompareOptions& options = {});

[[nodiscard]] std::string name_of(Verdict verdict);

}  // namespace kvtool
