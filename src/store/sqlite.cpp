#include "store/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include "kvtool/error.h"

namespace kvtool::store {
namespace {

constexpr int patience_ms = 60'000;

}  // namespace

Statement::~Statement() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

void Statement::check(int result) const {
  if (result != SQLITE_OK) database_.fail();
}

void Statement::too_large() const { database_.fail("a number does not fit into the catalogue"); }

Statement& Statement::bind_number(int parameter, std::int64_t value) {
  check(sqlite3_bind_int64(statement_, parameter + 1, value));
  return *this;
}

Statement& Statement::bind(int parameter, std::string_view text) {
  check(sqlite3_bind_text64(statement_, parameter + 1, text.data(), text.size(), SQLITE_TRANSIENT,
                            SQLITE_UTF8));
  return *this;
}

Statement& Statement::bind(int parameter, std::span<const std::byte> blob) {
  // A null pointer would bind NULL, which is something else than an empty blob.
  const void* data = blob.empty() ? static_cast<const void*>("") : blob.data();
  check(sqlite3_bind_blob64(statement_, parameter + 1, data, blob.size(), SQLITE_TRANSIENT));
  return *this;
}

Statement& Statement::bind_null(int parameter) {
  check(sqlite3_bind_null(statement_, parameter + 1));
  return *this;
}

bool Statement::row() {
  if (sqlite3_stmt_busy(statement_) == 0) ++database_.queries_;
  const int result = sqlite3_step(statement_);
  if (result == SQLITE_ROW) return true;
  if (result != SQLITE_DONE) database_.fail();
  return false;
}

void Statement::run() {
  if (row()) throw std::logic_error("a statement that should give no rows gave one");
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::uint64_t Statement::count(int column) const {
  const std::int64_t value = integer(column);
  if (value < 0)
    database_.fail(
        fmt::format("{}: {} is no count", sqlite3_column_name(statement_, column), value));
  return static_cast<std::uint64_t>(value);
}

std::string Statement::text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_, column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  return text == nullptr ? std::string() : std::string(reinterpret_cast<const char*>(text), size);
}

std::span<const std::byte> Statement::blob(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  if (data == nullptr) return {};
  return {static_cast<const std::byte*>(data), size};
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

void Database::Close::operator()(sqlite3* database) const { sqlite3_close(database); }
void Database::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Database::Database(const std::string& path, bool create) : path_(path) {
  sqlite3* database = nullptr;
  const int flags =
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW | (create ? SQLITE_OPEN_CREATE : 0);
  const int result = sqlite3_open_v2(path.c_str(), &database, flags, nullptr);
  database_.reset(database);
  if (result != SQLITE_OK) fail();
  sqlite3_busy_timeout(database, patience_ms);
}

Database::~Database() { statements_.clear(); }

void Database::run(const char* statements) {
  ++queries_;
  if (sqlite3_exec(database_.get(), statements, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

Statement Database::prepare(const char* text) {
  auto& kept = statements_[text];
  if (!kept) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v3(database_.get(), text, -1, SQLITE_PREPARE_PERSISTENT, &statement,
                           nullptr) != SQLITE_OK)
      fail();
    kept.reset(statement);
  }
  return {*this, kept.get()};
}

std::int64_t Database::last_row() const { return sqlite3_last_insert_rowid(database_.get()); }

void Database::fail() const {
  fail(database_ ? sqlite3_errmsg(database_.get()) : "no memory for a database");
}

void Database::fail(const std::string& what) const {
  throw Error(ErrorKind::io, what).in_file(path_);
}

Transaction::Transaction(Database& database, Kind kind) : database_(database) {
  database_.run(kind == Kind::write ? "BEGIN IMMEDIATE" : "BEGIN");
}

Transaction::~Transaction() {
  if (!open_) return;
  try {
    database_.run("ROLLBACK");
  } catch (const Error&) {  // SQLite has rolled back already
  }
}

void Transaction::commit() {
  database_.run("COMMIT");
  open_ = false;
}

}  // namespace kvtool::store
