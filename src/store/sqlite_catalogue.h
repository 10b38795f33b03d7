// A catalogue in an SQLite database.
#pragma once

#include <string>

#include "store/block_table.h"
#include "store/catalogue.h"
#include "store/prefix_index.h"
#include "store/sqlite.h"

namespace kvtool::store {

class SqliteCatalogue final : public Catalogue {
 public:
  // Makes an empty catalogue, or opens one. Throw Error(io, damaged, unsupported).
  static void create(const std::string& path, std::optional<std::uint64_t> budget);
  explicit SqliteCatalogue(const std::string& path);

  std::vector<BlockRow> named(const BlockName& name) override { return blocks_.named(name); }
  std::vector<BlockRow> beginning_with(std::uint64_t beginning) override {
    return blocks_.beginning_with(beginning);
  }
  std::vector<BlockRow> blocks(std::span<const BlockId> ids) override {
    return blocks_.with_ids(ids);
  }
  std::vector<BlockRow> all_blocks() override { return blocks_.all(); }
  void add(NewEntry& entry, const SameContent& same) override;
  bool has(const std::string& name) override { return id_of(name).has_value(); }
  StoreEntry find(const std::string& name) override;
  Recipe recipe(const std::string& name) override;
  std::vector<StoreEntry> entries() override;
  void touch(const std::string& name) override;
  void pin(const std::string& name, bool pinned) override;
  void remove(const std::string& name) override;
  std::vector<Scope> scopes() override;
  std::uint64_t entries_in(const Scope& scope) override;
  std::vector<PrefixHit> hits(const Scope& scope, std::span<const Symbol> prompt,
                              const MediaIndex& media) override;
  std::vector<EntryUse> uses() override;
  void sweep(const std::vector<EntryUse>& entries, const std::set<BlockId>& dead,
             const std::vector<Move>& moves) override;
  std::optional<std::uint64_t> budget() override;
  std::vector<std::string> problems() override;
  std::uint64_t bytes() override;
  std::uint64_t queries() const override { return database_.queries(); }

 private:
  std::uint64_t scope_of(const StoreEntry& entry);
  std::uint64_t model_of(const StoreEntry& entry);
  void add_row(NewEntry& entry, std::uint64_t scope, std::uint64_t node);
  void remove_row(EntryId id);
  std::optional<EntryId> id_of(const std::string& name);
  [[noreturn]] void unknown(const std::string& name) const;
  StoreEntry entry_in(const Statement& row);
  StoreEntry entry_of(EntryId id);
  std::vector<std::string> tags_of(EntryId id);

  std::string path_;
  Database database_;
  BlockTable blocks_{database_, path_};
  PrefixIndex index_{database_};
};

}  // namespace kvtool::store
