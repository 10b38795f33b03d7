// The catalogue's table of blocks.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/catalogue.h"
#include "store/sqlite.h"

namespace kvtool::store {

// SQLite's integers have a sign; hashes do not mean theirs.
inline std::int64_t stored_bits(std::uint64_t bits) { return std::bit_cast<std::int64_t>(bits); }
inline std::uint64_t bits_in(const Statement& row, int column) {
  return std::bit_cast<std::uint64_t>(row.integer(column));
}

class BlockTable {
 public:
  // `path`: of the database, for messages.
  BlockTable(Database& database, std::string path) : database_(database), path_(std::move(path)) {}

  // As Catalogue's functions of these names.
  std::vector<BlockRow> named(const BlockName& name);
  std::vector<BlockRow> beginning_with(std::uint64_t beginning);
  std::vector<BlockRow> with_ids(std::span<const BlockId> ids);
  std::vector<BlockRow> all();

  // Adds a block, unless one of the same content was added meanwhile. Returns its id.
  BlockId add(const NewBlock& block, const Catalogue::SameContent& same);
  void remove(BlockId id);
  // The bundle at a place, with all its blocks, lies elsewhere from now on.
  void move(const Move& move);

 private:
  void supersede(const BlockRow& old, const BlockRow& row);
  std::optional<BlockId> added_meanwhile(const BlockRow& row, const Catalogue::SameContent& same);

  Database& database_;
  std::string path_;
};

}  // namespace kvtool::store
