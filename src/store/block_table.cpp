#include "store/block_table.h"

#include <fmt/format.h>

#include "kvtool/error.h"

namespace kvtool::store {
namespace {

// Blocks that begin with one cell can be many; comparing a few finds the one that grows.
constexpr int most_beginnings = 4;

constexpr char block_columns[] =
    "id, low, high, beginning, cells, bytes, file, offset, size, first";

BlockRow block_in(const Statement& row) {
  BlockRow block;
  block.id = row.count(0);
  block.name = {bits_in(row, 1), bits_in(row, 2)};
  block.beginning = bits_in(row, 3);
  block.cells = static_cast<std::uint32_t>(row.count(4));
  block.bytes = row.count(5);
  block.place = {row.count(6), row.count(7), row.count(8)};
  block.first = static_cast<std::uint32_t>(row.count(9));
  return block;
}

std::vector<BlockRow> blocks_in(Statement& rows) {
  std::vector<BlockRow> blocks;
  while (rows.row()) blocks.push_back(block_in(rows));
  return blocks;
}

}  // namespace

std::vector<BlockRow> BlockTable::named(const BlockName& name) {
  static const std::string text =
      fmt::format("SELECT {} FROM blocks WHERE low = ? AND high = ?", block_columns);
  Statement rows = database_.prepare(text.c_str());
  return blocks_in(rows.with(stored_bits(name.low), stored_bits(name.high)));
}

std::vector<BlockRow> BlockTable::beginning_with(std::uint64_t beginning) {
  static const std::string text = fmt::format(
      "SELECT {} FROM blocks WHERE beginning = ? AND beginning <> 0 ORDER BY cells DESC, id DESC"
      " LIMIT {}",
      block_columns, most_beginnings);
  Statement rows = database_.prepare(text.c_str());
  return blocks_in(rows.with(stored_bits(beginning)));
}

std::vector<BlockRow> BlockTable::with_ids(std::span<const BlockId> ids) {
  static const std::string text = fmt::format("SELECT {} FROM blocks WHERE id = ?", block_columns);
  std::vector<BlockRow> blocks;
  blocks.reserve(ids.size());
  for (const BlockId id : ids) {
    Statement row = database_.prepare(text.c_str());
    row.with(id);
    if (!row.row())
      throw Error(ErrorKind::damaged,
                  fmt::format("an entry needs block {}, which is not there", id))
          .in_file(path_);
    blocks.push_back(block_in(row));
  }
  return blocks;
}

std::vector<BlockRow> BlockTable::all() {
  static const std::string text =
      fmt::format("SELECT {} FROM blocks ORDER BY file, offset, id", block_columns);
  Statement rows = database_.prepare(text.c_str());
  return blocks_in(rows);
}

std::optional<BlockId> BlockTable::added_meanwhile(const BlockRow& row,
                                                   const Catalogue::SameContent& same) {
  for (const BlockRow& other : named(row.name))
    if (other.cells == row.cells && other.bytes == row.bytes && same(other, row)) return other.id;
  return std::nullopt;
}

BlockId BlockTable::add(const NewBlock& block, const Catalogue::SameContent& same) {
  const BlockRow& row = block.row;
  if (const auto found = added_meanwhile(row, same)) return *found;
  database_
      .prepare(
          "INSERT INTO blocks (low, high, beginning, cells, bytes, file, offset, size, first)"
          " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .with(stored_bits(row.name.low), stored_bits(row.name.high), stored_bits(row.beginning),
            row.cells, row.bytes, row.place.file, row.place.offset, row.place.size, row.first)
      .run();
  const auto id = static_cast<BlockId>(database_.last_row());
  if (block.superseded) supersede(*block.superseded, row);
  return id;
}

// What is the beginning of a block lies in it from now on.
void BlockTable::supersede(const BlockRow& old, const BlockRow& row) {
  database_
      .prepare(
          "UPDATE blocks SET file = ?, offset = ?, size = ?, first = ?"
          " WHERE file = ? AND offset = ? AND first = ? AND cells <= ?")
      .with(row.place.file, row.place.offset, row.place.size, row.first, old.place.file,
            old.place.offset, old.first, old.cells)
      .run();
}

void BlockTable::remove(BlockId id) {
  database_.prepare("DELETE FROM blocks WHERE id = ?").with(id).run();
}

void BlockTable::move(const Move& move) {
  database_
      .prepare("UPDATE blocks SET file = ?, offset = ?, size = ? WHERE file = ? AND offset = ?")
      .with(move.to.file, move.to.offset, move.to.size, move.from.file, move.from.offset)
      .run();
}

}  // namespace kvtool::store
