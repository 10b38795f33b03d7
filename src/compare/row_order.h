// K rows whose heads hold their two parts in the other order.
//
// The head of a deepseek2 K row has a part that knows its position (rope) and one that does not.
// llama.cpp wrote the second one first, from mid 2025 on the other way round, and by 2026 as before;
// no file says which (kvtool-convert(1)).
#pragma once

#include <optional>

#include "compare/sample.h"

namespace kvtool {

// Each head of `width` numbers begins with `first` numbers in A that end it in B.
struct RowSplit {
  std::size_t width;
  std::size_t first;
};

// The split by which all K rows that differ are the same, where V is the same as it is. Values that
// are apart by up to `noise`, relative to the rows, are the same.
[[nodiscard]] std::optional<RowSplit> split_between(const Sample& sample, double noise);

}  // namespace kvtool
