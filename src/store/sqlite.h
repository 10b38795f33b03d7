// SQLite behind three small classes: a database, a prepared statement, a transaction. Errors become
// kvtool::Error(io) with the name of the database's file.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace kvtool::store {

class Database;

// A prepared statement that is being run. Parameters and columns count from 0. It is handed out by
// Database::prepare, which keeps it for the next use; one of a text is used at a time.
class Statement {
 public:
  Statement(Database& database, sqlite3_stmt* statement)
      : database_(database), statement_(statement) {}
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  template <std::integral Number>
  Statement& bind(int parameter, Number value) {
    if constexpr (!std::same_as<Number, bool>)
      if (!std::in_range<std::int64_t>(value)) too_large();
    return bind_number(parameter, static_cast<std::int64_t>(value));
  }
  Statement& bind(int parameter, std::string_view text);
  Statement& bind(int parameter, std::span<const std::byte> blob);
  Statement& bind_null(int parameter);
  // Binds parameters from 0 on, in order.
  template <class... Values>
  Statement& with(const Values&... values) {
    int at = 0;
    (bind(at++, values), ...);
    return *this;
  }

  // The next row; false at the end. Throws Error(io).
  bool row();
  // Runs a statement that gives no rows.
  void run();

  [[nodiscard]] std::int64_t integer(int column) const;
  // A count that was stored as such; what is negative is damage.
  [[nodiscard]] std::uint64_t count(int column) const;
  [[nodiscard]] std::string text(int column) const;
  // Until the next row.
  [[nodiscard]] std::span<const std::byte> blob(int column) const;
  [[nodiscard]] bool is_null(int column) const;

 private:
  Statement& bind_number(int parameter, std::int64_t value);
  [[noreturn]] void too_large() const;
  void check(int result) const;

  Database& database_;
  sqlite3_stmt* statement_;
};

class Database {
 public:
  // Opens the file, which exists unless `create`. Waits up to a minute for other processes.
  Database(const std::string& path, bool create);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Statements of one or more lines that give no rows.
  void run(const char* statements);
  [[nodiscard]] Statement prepare(const char* text);
  // Key of the row that was inserted last.
  [[nodiscard]] std::int64_t last_row() const;
  // Statements that were stepped for the first time since the database was opened: what a test of
  // "a few look-ups" counts.
  [[nodiscard]] std::uint64_t queries() const { return queries_; }
  [[noreturn]] void fail() const;
  [[noreturn]] void fail(const std::string& what) const;

 private:
  friend class Statement;
  struct Close {
    void operator()(sqlite3* database) const;
  };
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };

  std::string path_;
  std::unique_ptr<sqlite3, Close> database_;
  std::unordered_map<std::string, std::unique_ptr<sqlite3_stmt, Finalize>> statements_;
  std::uint64_t queries_ = 0;
};

// Everything until commit() happens or nothing does. Other writers wait meanwhile.
class Transaction {
 public:
  enum class Kind { read, write };
  Transaction(Database& database, Kind kind);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace kvtool::store
