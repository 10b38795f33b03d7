// Pictures of the values of a dump: in the terminal, and as SVG.
#pragma once

#include <string>
#include <vector>

#include "cli/print.h"
#include "kvtool/stats.h"

namespace kvtool::cli {

// One line a tensor: the rms of its cells from left to right, darker for larger ones. Each tensor
// has a scale of its own, from its smallest to its largest cell.
void draw_heat(const Dump& dump, const std::vector<TensorStats>& list, unsigned width, bool color,
               Printer& out);

// An SVG document: the cells of every stream, coloured by sequence, and below them the heat map.
// The tensors carry TensorStats::cell_rms.
[[nodiscard]] std::string svg_of(const Dump& dump, const std::vector<TensorStats>& list);

}  // namespace kvtool::cli
