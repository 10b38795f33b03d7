#include "kvtool/cells.h"

#include <limits>

#include "kvtool/error.h"

namespace kvtool {

std::span<const SequenceId> CellTable::sequences(std::size_t cell) const {
  const std::size_t begin = cell == 0 ? 0 : sequences_end_[cell - 1];
  return std::span(ids_).subspan(begin, sequences_end_[cell] - begin);
}

CellExtra CellTable::extra(std::size_t cell) const {
  return extension_ == CellExtension::none ? CellExtra{} : extras_[cell];
}

void CellTable::reserve(std::size_t cells) {
  positions_.reserve(cells);
  sequences_end_.reserve(cells);
  if (extension_ != CellExtension::none) extras_.reserve(cells);
}

void CellTable::append(Position position, std::span<const SequenceId> sequences,
                       const CellExtra& extra) {
  const std::size_t end = ids_.size() + sequences.size();
  if (end > std::numeric_limits<std::uint32_t>::max())
    throw Error(ErrorKind::unsupported, "more than 4294967295 sequence ids in one stream");
  positions_.push_back(position);
  ids_.insert(ids_.end(), sequences.begin(), sequences.end());
  sequences_end_.push_back(static_cast<std::uint32_t>(end));
  if (extension_ != CellExtension::none) extras_.push_back(extra);
}

void CellTable::append_unread(std::size_t cells) {
  positions_.resize(positions_.size() + cells, -1);
  sequences_end_.resize(positions_.size(), static_cast<std::uint32_t>(ids_.size()));
  if (extension_ != CellExtension::none) extras_.resize(positions_.size());
}

void CellTable::append_from(const CellTable& other, std::size_t cell) {
  const auto ids = other.sequences(cell);
  append(other.position(cell), std::vector<SequenceId>(ids.begin(), ids.end()), other.extra(cell));
}

}  // namespace kvtool
