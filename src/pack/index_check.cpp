#include "pack/index_check.h"

#include <fmt/format.h>

#include <vector>

#include "kvtool/checked.h"
#include "kvtool/error.h"

namespace kvtool::packing {
namespace {

std::string problem_of_columns(const Section& section, const Part& part) {
  const Columns& columns = part.columns;
  if (columns.ends.empty()) return columns.order.empty() ? "" : "columns without groups";
  const std::uint64_t count = columns_of(section, part);
  if (columns.order.size() != count) return "not as many columns as a row has bytes";
  if (columns.ends.size() > most_groups || columns.ends.back() != count) return "impossible groups";
  std::vector<bool> seen(columns.order.size());
  for (const std::uint16_t column : columns.order) {
    if (column >= count || seen[column]) return "columns are no permutation";
    seen[column] = true;
  }
  std::uint16_t before = 0;
  for (const std::uint16_t end : columns.ends) {
    if (end <= before) return "groups out of order";
    before = end;
  }
  return "";
}

bool has_columns(const Section& section) {
  for (const Part& part : section.parts)
    if (!part.columns.ends.empty() || !part.columns.order.empty()) return true;
  return false;
}

// Columns need chunks of whole rows.
std::string problem_of_rows(const Section& section) {
  if (!has_columns(section)) return "";
  const std::uint32_t row = section.row_bytes;
  if (row == 0 || row % block_bytes(section) != 0 || section.chunk_bytes % row != 0 ||
      section.size % row != 0)
    return "chunks of partial rows";
  for (const Part& part : section.parts)
    if (std::string problem = problem_of_columns(section, part); !problem.empty())
      return problem;
  return "";
}

std::string problem_of_filter(const Section& section) {
  const std::uint32_t block = block_bytes(section);
  switch (section.filter) {
    case Filter::none: return "";
    case Filter::sign_last_16: return block % 2 == 0 ? "" : "a filter of 16 bits on other words";
    case Filter::sign_last_32: return block % 4 == 0 ? "" : "a filter of 32 bits on other words";
  }
  return "an unknown filter";
}

std::string problem_of_difference(const Section& section) {
  const std::uint32_t block = block_bytes(section);
  switch (section.base.difference) {
    case Difference::bytes: return "";
    case Difference::words_16: return block % 2 == 0 ? "" : "a difference of other words";
    case Difference::words_32: return block % 4 == 0 ? "" : "a difference of other words";
  }
  return "an unknown kind of difference";
}

// The section and the base's tensor have the shapes that the map and cell_bytes say.
std::string problem_of_base(const Section& section, const Index& index) {
  if (!section.has_base) return "";
  const BaseTensor& base = section.base;
  if (index.base.name.empty()) return "a difference without a base";
  if (base.map >= index.maps.size()) return "a cell map that is not there";
  const CellMap& map = index.maps[base.map];
  if (base.cell_bytes == 0 || base.cell_bytes % block_bytes(section) != 0)
    return "cells of partial blocks";
  const std::uint64_t column = checked_multiply(map.cells, base.cell_bytes);
  if (column == 0 || section.size % column != 0) return "not as many cells as the map";
  const std::uint64_t channels = section.size / column;
  if (!base.transposed && channels != 1) return "not as many cells as the map";
  if (has_columns(section) && (base.transposed || base.cell_bytes != section.row_bytes))
    return "columns of other rows than the cells'";
  const std::uint64_t size =
      checked_multiply(channels, checked_multiply(map.base_cells, base.cell_bytes));
  if (size > index.base.size || base.offset > index.base.size - size)
    return "a tensor outside of the base";
  return problem_of_difference(section);
}

std::string problem_of_parts(const Section& section) {
  const std::uint32_t block = block_bytes(section);
  if (section.parts.empty() || section.parts.size() > most_parts) return "impossible parts";
  for (const Part& part : section.parts)
    if (part.width == 0) return "an empty part";
  if (block > most_block_bytes) return "blocks that are too large";
  if (section.chunk_bytes == 0 || section.chunk_bytes > most_chunk_bytes ||
      section.chunk_bytes % block != 0 || section.size % block != 0)
    return "chunks of partial blocks, or too large";
  return "";
}

}  // namespace

std::string problem_of(const CellMap& map) {
  std::uint64_t end = 0;
  for (const CellMap::Run& run : map.runs) {
    if (run.count == 0 || run.cell < end) return "runs out of order";
    end = std::uint64_t{run.cell} + run.count;
    if (end > map.cells || std::uint64_t{run.base_cell} + run.count > map.base_cells)
      return "runs beyond the cells";
  }
  return "";
}

std::string problem_of(const Section& section, const Index& index) {
  std::string problem = problem_of_parts(section);
  if (problem.empty()) problem = problem_of_rows(section);
  if (problem.empty()) problem = problem_of_filter(section);
  if (problem.empty()) problem = problem_of_base(section, index);
  return problem.empty() ? "" : fmt::format("{}: {}", section.label, problem);
}

std::string problem_of_ranges(const Index& index, std::uint64_t raw_size) {
  std::vector<std::uint64_t> left;
  for (const Section& section : index.sections) left.push_back(section.size);
  std::uint64_t total = 0;
  for (const Range& range : index.ranges) {
    if (range.section >= left.size()) return "a range of no section";
    if (range.size == 0) return "an empty range";
    if (range.size > left[range.section]) return "ranges larger than their section";
    if (range.size > raw_size - total) return "ranges larger than the file";
    left[range.section] -= range.size;
    total += range.size;
  }
  for (const std::uint64_t rest : left)
    if (rest > 0) return "a section that is not all used";
  return total == raw_size ? "" : "ranges that do not fill the file";
}

std::uint64_t chunks_in(const Index& index) {
  std::uint64_t chunks = 0;
  for (const Section& section : index.sections) chunks = checked_add(chunks, chunk_count(section));
  return chunks;
}

std::uint64_t frames_in(const Index& index) {
  std::uint64_t frames = 0;
  for (const Section& section : index.sections)
    frames = checked_add(frames,
                         checked_multiply(chunk_count(section), frames_per_chunk(section)));
  return frames;
}

}  // namespace kvtool::packing
