// Opening a dump: every layout that its stamp allows is tried, strictly, to the last byte.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kvtool/dump.h"

namespace kvtool {

// What to do with bytes behind a sequence state that are neither SCKP nor SDFT.
enum class Trailing {
  refuse,  // an error that names their offset and size
  keep,    // Dump::tail.trailing holds them; rewrites carry them
  drop,    // Dump::tail.trailing stays empty; a rewrite leaves them out
};

// What is said about the cache in a bare state of a whole context of before August 2024, whose bytes
// tell no sizes of the model.
struct BareShape {
  bool recurrent = false;              // states of a recurrent model instead of K and V
  std::uint32_t layers = 0;            // 0: follows from the size of the file
  std::vector<std::uint64_t> k_width;  // elements of a row of K (or R), for each layer, or one number
  std::vector<std::uint64_t> v_width;  // for all; empty: follows, if K and V are of one width
};

struct OpenOptions {
  std::string layout;  // only layouts whose name is or begins with this; empty: all
  Trailing trailing = Trailing::refuse;
  // Types of K and V in sessions 3 to 7, which do not store them; empty: by content.
  std::optional<ElementType> k_type = std::nullopt;
  std::optional<ElementType> v_type = std::nullopt;
  // For bare states of that time. What it leaves open is taken from the size of the file where that
  // leaves one answer.
  std::optional<BareShape> bare = std::nullopt;
  // Reads as little as tells tokens, memories and their shapes, for a look at many files. In the
  // first memory of slot files all cells but the first and last of a stream stay unread (see
  // CellTable::append_unread), layers are believed to be alike when the last one stands where that
  // puts it, and checkpoints' blobs keep only their extent.
  bool skim = false;
};

// Reads the metadata of a dump. Throws Error(damaged) when no layout fits (with the offset, field
// and reason of the layout that came furthest), Error(unsupported) for versions and families that
// are known but not read, Error(refused) when several layouts fit and the bytes do not decide, or when
// a bare state needs a shape and has none.
[[nodiscard]] Dump open_dump(std::shared_ptr<const Source> source, const OpenOptions& options = {});
[[nodiscard]] Dump open_dump(const std::string& path, const OpenOptions& options = {});

// True for a bare state of a whole context of before August 2024, for which open_dump needs
// OpenOptions::bare.
[[nodiscard]] bool needs_bare_shape(const Source& source);

// The version words that open_dump reads: 0 to 11 for sessions, 1 to 4 for slot files.
[[nodiscard]] std::vector<std::uint32_t> known_session_versions();
[[nodiscard]] std::vector<std::uint32_t> known_slot_versions();

// An arrangement of memories that some kind of model writes, with the roles of its parts.
struct Arrangement {
  std::string name;                // "hybrid"
  std::vector<std::string> roles;  // {"main", "recurrent"}
  std::string models;              // examples, for people
};
[[nodiscard]] const std::vector<Arrangement>& arrangements();

}  // namespace kvtool
