// What a store knows about its entries and blocks. Small on purpose: an engine that several
// machines share has to offer no more than this.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "kvtool/store.h"
#include "store/block.h"
#include "store/block_storage.h"
#include "store/recipe.h"

namespace kvtool::store {

using EntryId = std::uint64_t;

// A block of the catalogue: some cells of the bundle at its place.
struct BlockRow {
  BlockId id = 0;
  BlockName name;
  std::uint64_t beginning = 0;  // see beginning_of; blocks of plain bytes: 0
  std::uint32_t cells = 1;
  std::uint64_t bytes = 0;  // raw
  BlockPlace place;
  std::uint32_t first = 0;  // its first cell in the bundle
};

// A block that a put found no other for.
struct NewBlock {
  BlockRow row;                        // without id
  std::optional<BlockRow> superseded;  // from now on, it and what it begins with lie in this one
};

// A block of a put: one that is there, or one of its new ones.
struct BlockUse {
  bool is_new = false;
  std::uint64_t index = 0;  // the id, or the index of the new one
};

// All that a put leaves behind.
struct NewEntry {
  StoreEntry entry;
  std::vector<Symbol> symbols;  // of its tokens
  const MediaIndex* media = nullptr;
  bool replace = false;
  std::vector<NewBlock> blocks;
  std::vector<BlockUse> uses;  // in the order of for_each_block
  Recipe recipe;               // its blocks get their ids from `uses`
};

// An entry that may be of use for a prompt.
struct PrefixHit {
  StoreEntry entry;
  std::uint64_t shared = 0;  // tokens
};

// A set of entries that one search goes through: same architecture, shape of K and V, and model.
struct Scope {
  std::uint64_t id = 0;
  std::string arch;
  std::string shape;
  std::optional<ModelStamp> model;
};

// What an eviction needs to know of an entry.
struct EntryUse {
  EntryId id = 0;
  std::string name;
  bool pinned = false;
  std::uint64_t file_bytes = 0;
  std::vector<BlockId> blocks;  // each once
};

// A bundle that lies elsewhere from now on.
struct Move {
  BlockPlace from;
  BlockPlace to;
};

// What to say about a name that is there.
[[nodiscard]] std::string taken(const std::string& name);

class Catalogue {
 public:
  virtual ~Catalogue() = default;

  // Blocks of this name; and those that begin with the same cell, the largest first, a few at most.
  virtual std::vector<BlockRow> named(const BlockName& name) = 0;
  virtual std::vector<BlockRow> beginning_with(std::uint64_t beginning) = 0;
  // Rows of blocks, in the order of the ids. Throws Error(damaged) for an id that is none.
  virtual std::vector<BlockRow> blocks(std::span<const BlockId> ids) = 0;
  // Every block, by place.
  virtual std::vector<BlockRow> all_blocks() = 0;

  // Whether two packed blocks hold the same: for content that another process has put meanwhile.
  using SameContent = std::function<bool(const BlockRow&, const BlockRow&)>;
  // Adds an entry, all or nothing. Throws Error(refused) for a name that is taken.
  virtual void add(NewEntry& entry, const SameContent& same) = 0;
  virtual bool has(const std::string& name) = 0;
  // What the entries are and what they are made of. Both throw Error(refused) for an unknown name.
  virtual StoreEntry find(const std::string& name) = 0;
  virtual Recipe recipe(const std::string& name) = 0;
  virtual std::vector<StoreEntry> entries() = 0;
  virtual void touch(const std::string& name) = 0;
  virtual void pin(const std::string& name, bool pinned) = 0;
  virtual void remove(const std::string& name) = 0;

  virtual std::vector<Scope> scopes() = 0;
  virtual std::uint64_t entries_in(const Scope& scope) = 0;
  // Entries of a scope that share the most with a prompt, and those of which less may be of more
  // use because their memories cannot go back.
  virtual std::vector<PrefixHit> hits(const Scope& scope, std::span<const Symbol> prompt,
                                      const MediaIndex& media) = 0;

  // All entries, the least recently used first.
  virtual std::vector<EntryUse> uses() = 0;
  // Takes entries and blocks away and moves blocks, all or nothing.
  virtual void sweep(const std::vector<EntryUse>& entries, const std::set<BlockId>& dead,
                     const std::vector<Move>& moves) = 0;

  virtual std::optional<std::uint64_t> budget() = 0;
  // Sentences about what is wrong with the catalogue itself.
  virtual std::vector<std::string> problems() = 0;
  virtual std::uint64_t bytes() = 0;
  [[nodiscard]] virtual std::uint64_t queries() const = 0;
};

}  // namespace kvtool::store
