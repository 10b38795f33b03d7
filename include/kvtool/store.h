// Named dumps in a folder: what several of them have in common is kept once.
//
// A store is a catalogue (SQLite: names, tokens, what the files are, which blocks make them up) and
// files of blocks. A block is the K and V of a few cells, packed, named by its XXH3-128 and
// compared byte by byte before it stands for another. Several processes may use a store at once;
// one that is killed leaves it as it was before or after what it did. See kvtool-store(1).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kvtool/dump.h"
#include "kvtool/model_stamp.h"
#include "kvtool/prefix.h"
#include "kvtool/stored_prompt.h"

namespace kvtool {

// A saved file in a store.
struct StoreEntry {
  std::string name;
  std::string note;
  std::vector<std::string> tags;  // in alphabetical order
  std::int64_t created = 0;       // seconds since 1970, UTC
  std::int64_t used = 0;          // when it was put or got last
  bool pinned = false;            // never evicted
  std::string layout;             // as Dump::layout
  std::uint64_t file_bytes = 0;   // of the file that was put
  std::uint64_t added_bytes = 0;  // by which the files of blocks grew when it was put
  std::uint64_t hash_low = 0;     // XXH3-128 of the file
  std::uint64_t hash_high = 0;
  StoredPrompt prompt;              // tokens, shape, and from where a server can go on
  std::optional<ModelStamp> model;  // of the model file that was named with it
};

struct PutOptions {
  std::string note;
  std::vector<std::string> tags;
  std::optional<ModelStamp> model;
  bool replace = false;                         // an entry of the same name
  int level = 1;                                // of zstd, as PackOptions::level
  unsigned threads = 1;                         // that compress
  std::function<void(std::uint64_t)> progress;  // called with raw bytes done since the last call
};

struct PutReport {
  std::uint64_t file_bytes = 0;
  std::uint64_t new_bytes = 0;       // raw bytes that no block had yet
  std::uint64_t added_bytes = 0;     // by which the files of blocks grew
  std::uint64_t blocks = 0;          // that make up the file
  std::uint64_t new_blocks = 0;      // of these, written now
  std::vector<std::string> evicted;  // entries that made room for it, see init()
};

// Which entries `best` is about.
struct BestOptions {
  std::optional<ModelStamp> model;  // only entries of this model
  std::string arch;                 // only entries of this architecture and shape of K and V
  std::string shape;                // (see shape_text); empty: all
};

struct BestCandidate {
  StoreEntry entry;
  std::uint64_t shared = 0;  // tokens that both begin with
  Reuse reuse;
  std::vector<StampDifference> soft;  // how its model differs from the one asked for
};

struct BestReport {
  std::uint64_t tokens = 0;               // of the prompt
  std::vector<BestCandidate> candidates;  // the best first; only those that save something
  std::uint64_t without_model = 0;        // entries left out because nobody said of which model
  std::uint64_t other_model = 0;          // entries left out because their model is another
};

struct GcOptions {
  std::optional<std::uint64_t> budget;  // instead of the store's own
  bool dry_run = false;
  double patience = 60;  // seconds to wait for other processes before Error(refused)
};

struct GcReport {
  std::vector<std::string> evicted;  // the least recently used first
  std::uint64_t dead_blocks = 0;     // that no entry needs any more
  std::uint64_t bytes_before = 0;    // of all files of blocks
  std::uint64_t bytes_after = 0;
};

struct VerifyReport {
  std::uint64_t entries = 0;          // read back whole, and as they were put
  std::uint64_t blocks = 0;           // of the catalogue
  std::vector<std::string> problems;  // one sentence each; empty: the store is sound
};

// One entry's share, bytes.
struct EntrySizes {
  std::string name;
  std::uint64_t file_bytes = 0;
  std::uint64_t packed_bytes = 0;  // of its blocks
  std::uint64_t own_bytes = 0;     // of these, blocks that no other entry needs
};

// What a store takes, bytes.
struct StoreSizes {
  std::vector<EntrySizes> entries;  // by name
  std::uint64_t file_bytes = 0;     // of all files that were put, together
  std::uint64_t block_bytes = 0;    // of the files of blocks
  std::uint64_t live_bytes = 0;     // of these, blocks that an entry needs
  std::uint64_t catalogue_bytes = 0;
  std::optional<std::uint64_t> budget;
};

class Store {
 public:
  // Makes a store in a folder that does not exist or is empty. `budget`: bytes of blocks above
  // which put and gc evict the entries that were used least recently. Throws Error(io, refused).
  static void init(const std::string& folder, std::optional<std::uint64_t> budget);

  // Opens a store. Throws Error(io, unsupported, damaged).
  explicit Store(const std::string& folder);

  // Keeps a dump's file under a name. When it returns, the entry lasts. Throws Error(usage) for
  // what is no name, Error(refused) for a name that is taken, Error(io).
  PutReport put(const std::string& name, const Dump& dump, const PutOptions& options = {});
  // The bytes that were put. Notes that the entry was used. While the source lives, no gc takes
  // anything away, in whatever process.
  [[nodiscard]] std::shared_ptr<const Source> get(const std::string& name);

  // All entries by name; and one. Throws Error(refused) if there is none of that name.
  [[nodiscard]] std::vector<StoreEntry> entries();
  [[nodiscard]] StoreEntry entry(const std::string& name);

  // Which entries save the most work on a prompt.
  [[nodiscard]] BestReport best(const TokenArea& prompt, const BestOptions& options = {});

  void pin(const std::string& name, bool pinned);
  // Forgets an entry; its blocks go with the next gc.
  void remove(const std::string& name);
  // Takes away what no entry needs, after evicting entries if the budget asks for it.
  GcReport gc(const GcOptions& options = {});
  // Reads everything, or the entries named, and compares it with its hashes. `progress` gets the
  // bytes of files since its last call.
  [[nodiscard]] VerifyReport verify(const std::vector<std::string>& names = {},
                                    const std::function<void(std::uint64_t)>& progress = {});

  [[nodiscard]] StoreSizes sizes();

  // Queries of the catalogue so far: what "a few look-ups" is measured in.
  [[nodiscard]] std::uint64_t queries() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace kvtool
