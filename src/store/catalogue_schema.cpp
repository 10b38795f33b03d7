#include "store/catalogue_schema.h"

#include <fmt/format.h>

#include "kvtool/error.h"

namespace kvtool::store {
namespace {

constexpr std::int64_t version = 1;
constexpr std::int64_t application = 0x4b565453;  // "KVTS"

constexpr char tables[] = R"(
CREATE TABLE settings (name TEXT PRIMARY KEY, value INTEGER) WITHOUT ROWID;
CREATE TABLE blocks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  low INTEGER NOT NULL, high INTEGER NOT NULL, beginning INTEGER NOT NULL,
  cells INTEGER NOT NULL, bytes INTEGER NOT NULL,
  file INTEGER NOT NULL, offset INTEGER NOT NULL, size INTEGER NOT NULL,
  first INTEGER NOT NULL);
CREATE INDEX blocks_by_name ON blocks (low, high);
CREATE INDEX blocks_by_beginning ON blocks (beginning, cells) WHERE beginning <> 0;
CREATE INDEX blocks_by_place ON blocks (file, offset);
CREATE TABLE media (id INTEGER PRIMARY KEY, hash BLOB, tokens INTEGER NOT NULL);
CREATE UNIQUE INDEX media_by_hash ON media (hash, tokens);
CREATE TABLE models (id INTEGER PRIMARY KEY, stamp TEXT NOT NULL UNIQUE);
CREATE TABLE scopes (
  id INTEGER PRIMARY KEY, arch TEXT NOT NULL, shape TEXT NOT NULL,
  model INTEGER NOT NULL,
  rewinds INTEGER NOT NULL, UNIQUE (shape, arch, model, rewinds));
CREATE TABLE nodes (
  id INTEGER PRIMARY KEY, scope INTEGER NOT NULL, parent INTEGER NOT NULL, first INTEGER NOT NULL,
  tokens INTEGER NOT NULL, edge BLOB NOT NULL);
CREATE UNIQUE INDEX nodes_by_parent ON nodes (parent, first);
CREATE UNIQUE INDEX roots ON nodes (scope) WHERE parent = 0;
CREATE TABLE entries (
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, note TEXT NOT NULL,
  created INTEGER NOT NULL, used INTEGER NOT NULL, pinned INTEGER NOT NULL DEFAULT 0,
  scope INTEGER NOT NULL, node INTEGER NOT NULL,
  layout TEXT NOT NULL, file_bytes INTEGER NOT NULL, added_bytes INTEGER NOT NULL,
  low INTEGER NOT NULL, high INTEGER NOT NULL, facts BLOB NOT NULL, recipe BLOB NOT NULL);
CREATE INDEX entries_by_node ON entries (node);
CREATE INDEX entries_by_scope ON entries (scope);
CREATE INDEX entries_by_use ON entries (used, id);
CREATE TABLE marks (node INTEGER NOT NULL, tokens INTEGER NOT NULL, entry INTEGER NOT NULL,
  PRIMARY KEY (node, tokens, entry)) WITHOUT ROWID;
CREATE INDEX marks_by_entry ON marks (entry);
CREATE TABLE tags (entry INTEGER NOT NULL, tag TEXT NOT NULL,
  PRIMARY KEY (entry, tag)) WITHOUT ROWID;
)";

std::int64_t pragma(Database& database, const char* text) {
  Statement statement = database.prepare(text);
  return statement.row() ? statement.integer(0) : 0;
}

}  // namespace

void prepare_connection(Database& database) {
  database.run("PRAGMA journal_mode = WAL");
  database.run("PRAGMA synchronous = FULL");
}

void create_tables(Database& database, std::optional<std::uint64_t> budget) {
  Transaction transaction(database, Transaction::Kind::write);
  database.run(tables);
  if (budget) database.prepare("INSERT INTO settings VALUES ('budget', ?)").with(*budget).run();
  database.run(fmt::format("PRAGMA application_id = {}", application).c_str());
  database.run(fmt::format("PRAGMA user_version = {}", version).c_str());
  transaction.commit();
}

void require_tables(Database& database, const std::string& path) {
  if (pragma(database, "PRAGMA application_id") != application)
    throw Error(ErrorKind::damaged, "is no catalogue of a kvtool store").in_file(path);
  const std::int64_t found = pragma(database, "PRAGMA user_version");
  if (found != version)
    throw Error(ErrorKind::unsupported,
                fmt::format("is a catalogue of version {}; this kvtool knows version {}", found,
                            version))
        .in_file(path);
}

}  // namespace kvtool::store
