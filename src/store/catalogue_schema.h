// The tables of a catalogue in SQLite.
//
// blocks    one row a block; several rows share a place where one begins with another
// media     images and sounds, which stand for one symbol each: -1 - id
// models    stamps of model files, as text
// scopes    entries of one architecture, shape of K and V, and model, that can or cannot go back
// nodes     the prefix tree of each scope, see prefix_index.h
// entries   what was put; `facts` and `recipe` are packed numbers
// marks     lengths of prompt at which an entry whose memories cannot go back becomes of use
// tags      of entries
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "store/sqlite.h"

namespace kvtool::store {

// Makes the tables. Throws Error(io).
void create_tables(Database& database, std::optional<std::uint64_t> budget);
// Throws Error(unsupported) for a catalogue of another version, Error(damaged) for what is none.
void require_tables(Database& database, const std::string& path);
// How a connection is used: others read while one writes, and what was committed lasts.
void prepare_connection(Database& database);

}  // namespace kvtool::store
