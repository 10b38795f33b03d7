#include "store/sqlite_catalogue.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "kvtool/error.h"
#include "store/catalogue_schema.h"
#include "store/entry_facts.h"

namespace kvtool::store {
namespace {

// Entries that cannot go back, looked at for one prompt.
constexpr std::size_t most_marked = 16;

// Microseconds since 1970; SOURCE_DATE_EPOCH stands for the clock where it is set.
std::int64_t now() {
  if (const char* fixed = std::getenv("SOURCE_DATE_EPOCH"))
    return std::strtoll(fixed, nullptr, 10) * 1'000'000;
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

constexpr char entry_columns[] =
    "SELECT e.id, e.name, e.note, e.created, e.used, e.pinned, e.layout, e.file_bytes,"
    " e.added_bytes, e.low, e.high, e.facts, s.arch, s.shape, m.stamp FROM entries e"
    " JOIN scopes s ON s.id = e.scope LEFT JOIN models m ON m.id = s.model ";

}  // namespace

std::string taken(const std::string& name) {
  return fmt::format("'{}' is there already; --force replaces it", name);
}

void SqliteCatalogue::create(const std::string& path, std::optional<std::uint64_t> budget) {
  Database database(path, true);
  prepare_connection(database);
  create_tables(database, budget);
}

SqliteCatalogue::SqliteCatalogue(const std::string& path) : path_(path), database_(path, false) {
  require_tables(database_, path);
  prepare_connection(database_);
}

// --- entries ---

std::uint64_t SqliteCatalogue::model_of(const StoreEntry& entry) {
  if (!entry.model) return 0;
  const std::string stamp = stamp_text(*entry.model);
  database_.prepare("INSERT OR IGNORE INTO models (stamp) VALUES (?)").with(stamp).run();
  Statement look = database_.prepare("SELECT id FROM models WHERE stamp = ?");
  look.with(stamp);
  look.row();
  return look.count(0);
}

std::uint64_t SqliteCatalogue::scope_of(const StoreEntry& entry) {
  const std::uint64_t model = model_of(entry);
  const StoredPrompt& prompt = entry.prompt;
  database_
      .prepare("INSERT OR IGNORE INTO scopes (arch, shape, model, rewinds) VALUES (?, ?, ?, ?)")
      .with(prompt.arch, prompt.shape, model, rewinds(prompt))
      .run();
  Statement look = database_.prepare(
      "SELECT id FROM scopes WHERE shape = ? AND arch = ? AND model = ? AND rewinds = ?");
  look.with(prompt.shape, prompt.arch, model, rewinds(prompt));
  look.row();
  return look.count(0);
}

void SqliteCatalogue::add_row(NewEntry& it, std::uint64_t scope, std::uint64_t node) {
  const StoreEntry& entry = it.entry;
  const std::int64_t time = now();
  database_
      .prepare(
          "INSERT INTO entries (name, note, created, used, scope, node, layout, file_bytes,"
          " added_bytes, low, high, facts, recipe) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .with(entry.name, entry.note, time, time, scope, node, entry.layout, entry.file_bytes,
            entry.added_bytes, stored_bits(entry.hash_low), stored_bits(entry.hash_high),
            std::span<const std::byte>(encode_facts(entry.prompt)),
            std::span<const std::byte>(encode(it.recipe)))
      .run();
  const auto id = static_cast<EntryId>(database_.last_row());
  for (const std::string& tag : entry.tags)
    database_.prepare("INSERT OR IGNORE INTO tags VALUES (?, ?)").with(id, tag).run();
  if (rewinds(entry.prompt)) return;
  for (const std::uint64_t length : useful_lengths(entry.prompt)) index_.mark(node, length, id);
}

void SqliteCatalogue::add(NewEntry& it, const SameContent& same) {
  Transaction transaction(database_, Transaction::Kind::write);
  if (const auto taken = id_of(it.entry.name)) {
    if (!it.replace) throw Error(ErrorKind::refused, kvtool::store::taken(it.entry.name));
    remove_row(*taken);
  }
  std::vector<BlockId> fresh;
  for (const NewBlock& block : it.blocks) fresh.push_back(blocks_.add(block, same));
  auto use = it.uses.begin();
  for_each_block(it.recipe, [&](BlockId& id) {
    id = use->is_new ? fresh[static_cast<std::size_t>(use->index)] : use->index;
    ++use;
  });
  const std::uint64_t scope = scope_of(it.entry);
  const std::uint64_t node = index_.insert(scope, index_.symbols_of(it.symbols, *it.media, true));
  add_row(it, scope, node);
  transaction.commit();
}

std::optional<EntryId> SqliteCatalogue::id_of(const std::string& name) {
  Statement look = database_.prepare("SELECT id FROM entries WHERE name = ?");
  look.with(name);
  if (!look.row()) return std::nullopt;
  return look.count(0);
}

void SqliteCatalogue::unknown(const std::string& name) const {
  throw Error(ErrorKind::refused, fmt::format("there is no '{}'", name))
      .in_file(std::filesystem::path(path_).parent_path().string());
}

std::vector<std::string> SqliteCatalogue::tags_of(EntryId id) {
  Statement rows = database_.prepare("SELECT tag FROM tags WHERE entry = ? ORDER BY tag");
  rows.with(id);
  std::vector<std::string> tags;
  while (rows.row()) tags.push_back(rows.text(0));
  return tags;
}

StoreEntry SqliteCatalogue::entry_in(const Statement& row) {
  StoreEntry entry;
  entry.name = row.text(1);
  entry.note = row.text(2);
  entry.created = row.integer(3) / 1'000'000;
  entry.used = row.integer(4) / 1'000'000;
  entry.pinned = row.integer(5) != 0;
  entry.layout = row.text(6);
  entry.file_bytes = row.count(7);
  entry.added_bytes = row.count(8);
  entry.hash_low = bits_in(row, 9);
  entry.hash_high = bits_in(row, 10);
  entry.prompt = decode_facts(row.blob(11));
  entry.prompt.name = entry.name;
  entry.prompt.file_bytes = entry.file_bytes;
  entry.prompt.arch = row.text(12);
  entry.prompt.shape = row.text(13);
  if (!row.is_null(14)) entry.model = stamp_from_text(row.text(14));
  entry.tags = tags_of(row.count(0));
  return entry;
}

StoreEntry SqliteCatalogue::entry_of(EntryId id) {
  static const std::string text = fmt::format("{} WHERE e.id = ?", entry_columns);
  Statement row = database_.prepare(text.c_str());
  row.with(id);
  row.row();
  return entry_in(row);
}

StoreEntry SqliteCatalogue::find(const std::string& name) {
  const auto id = id_of(name);
  if (!id) unknown(name);
  return entry_of(*id);
}

Recipe SqliteCatalogue::recipe(const std::string& name) {
  Statement row = database_.prepare("SELECT recipe FROM entries WHERE name = ?");
  row.with(name);
  if (!row.row()) unknown(name);
  return decode_recipe(row.blob(0));
}

std::vector<StoreEntry> SqliteCatalogue::entries() {
  static const std::string text = fmt::format("{} ORDER BY e.name", entry_columns);
  const Transaction transaction(database_, Transaction::Kind::read);
  Statement rows = database_.prepare(text.c_str());
  std::vector<StoreEntry> entries;
  while (rows.row()) entries.push_back(entry_in(rows));
  return entries;
}

void SqliteCatalogue::touch(const std::string& name) {
  database_.prepare("UPDATE entries SET used = ? WHERE name = ?").with(now(), name).run();
}

void SqliteCatalogue::pin(const std::string& name, bool pinned) {
  Transaction transaction(database_, Transaction::Kind::write);
  const auto id = id_of(name);
  if (!id) unknown(name);
  database_.prepare("UPDATE entries SET pinned = ? WHERE id = ?").with(pinned, *id).run();
  transaction.commit();
}

void SqliteCatalogue::remove_row(EntryId id) {
  std::uint64_t node = 0;
  std::uint64_t scope = 0;
  {
    Statement look = database_.prepare("SELECT node, scope FROM entries WHERE id = ?");
    look.with(id);
    if (!look.row()) return;
    node = look.count(0);
    scope = look.count(1);
  }
  for (const char* text : {"DELETE FROM marks WHERE entry = ?", "DELETE FROM tags WHERE entry = ?",
                           "DELETE FROM entries WHERE id = ?"})
    database_.prepare(text).with(id).run();
  index_.prune(node);
  database_
      .prepare(
          "DELETE FROM scopes WHERE id = ? AND NOT EXISTS"
          " (SELECT 1 FROM entries WHERE scope = scopes.id)")
      .with(scope)
      .run();
}

void SqliteCatalogue::remove(const std::string& name) {
  Transaction transaction(database_, Transaction::Kind::write);
  const auto id = id_of(name);
  if (!id) unknown(name);
  remove_row(*id);
  transaction.commit();
}

// --- searching ---

std::vector<Scope> SqliteCatalogue::scopes() {
  Statement rows = database_.prepare(
      "SELECT s.id, s.arch, s.shape, m.stamp FROM scopes s LEFT JOIN models m ON m.id = s.model "
      "ORDER BY s.id");
  std::vector<Scope> scopes;
  while (rows.row()) {
    Scope scope{rows.count(0), rows.text(1), rows.text(2), std::nullopt};
    if (!rows.is_null(3)) scope.model = stamp_from_text(rows.text(3));
    scopes.push_back(std::move(scope));
  }
  return scopes;
}

std::uint64_t SqliteCatalogue::entries_in(const Scope& scope) {
  Statement look = database_.prepare("SELECT count(*) FROM entries WHERE scope = ?");
  look.with(scope.id);
  return look.row() ? look.count(0) : 0;
}

std::vector<PrefixHit> SqliteCatalogue::hits(const Scope& scope, std::span<const Symbol> prompt,
                                             const MediaIndex& media) {
  const Transaction transaction(database_, Transaction::Kind::read);
  const StoredSymbols symbols = index_.symbols_of(prompt, media, false);
  const PrefixIndex::Walk walk = index_.walk(scope.id, symbols);
  std::vector<PrefixHit> hits;
  if (walk.tokens == 0) return hits;
  for (const EntryId id : index_.marked(walk, most_marked)) {
    Statement look = database_.prepare("SELECT node FROM entries WHERE id = ?");
    look.with(id);
    if (look.row()) hits.push_back({entry_of(id), index_.shared(look.count(0), symbols)});
  }
  if (const auto id = index_.entry_below(walk.nodes.back()))
    hits.push_back({entry_of(*id), walk.tokens});
  return hits;
}

// --- taking away ---

std::vector<EntryUse> SqliteCatalogue::uses() {
  Statement rows = database_.prepare(
      "SELECT id, name, pinned, file_bytes, recipe FROM entries ORDER BY used, id");
  std::vector<EntryUse> uses;
  while (rows.row()) {
    EntryUse use{rows.count(0), rows.text(1), rows.integer(2) != 0, rows.count(3), {}};
    std::set<BlockId> blocks;
    Recipe recipe = decode_recipe(rows.blob(4));
    for_each_block(recipe, [&](const BlockId& id) { blocks.insert(id); });
    use.blocks.assign(blocks.begin(), blocks.end());
    uses.push_back(std::move(use));
  }
  return uses;
}

void SqliteCatalogue::sweep(const std::vector<EntryUse>& entries, const std::set<BlockId>& dead,
                            const std::vector<Move>& moves) {
  Transaction transaction(database_, Transaction::Kind::write);
  for (const EntryUse& entry : entries) remove_row(entry.id);
  for (const BlockId id : dead) blocks_.remove(id);
  for (const Move& move : moves) blocks_.move(move);
  database_.run("DELETE FROM models WHERE id NOT IN (SELECT model FROM scopes)");
  transaction.commit();
}

// --- the catalogue itself ---

std::optional<std::uint64_t> SqliteCatalogue::budget() {
  Statement look = database_.prepare("SELECT value FROM settings WHERE name = 'budget'");
  if (!look.row()) return std::nullopt;
  return look.count(0);
}

std::vector<std::string> SqliteCatalogue::problems() {
  std::vector<std::string> problems;
  Statement rows = database_.prepare("PRAGMA integrity_check");
  while (rows.row())
    if (const std::string text = rows.text(0); text != "ok")
      problems.push_back("catalogue: " + text);
  return problems;
}

std::uint64_t SqliteCatalogue::bytes() {
  std::uint64_t bytes = 0;
  for (const char* suffix : {"", "-wal", "-shm"}) {
    std::error_code error;
    const auto size = std::filesystem::file_size(path_ + suffix, error);
    if (!error) bytes += size;
  }
  return bytes;
}

}  // namespace kvtool::store
