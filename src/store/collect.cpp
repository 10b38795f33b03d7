#include "store/collect.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace kvtool::store {
namespace {

// A file of which more than an eighth is dead is written anew.
constexpr std::uint64_t most_dead_share = 8;

// Which entries need which places, kept up to date while entries are evicted.
class Needs {
 public:
  Needs(Catalogue& catalogue, const BlockStorage& storage)
      : entries_(catalogue.uses()), rows_(catalogue.all_blocks()), files_(storage.files()) {
    for (const BlockRow& row : rows_) place_[row.id] = row.place;
    for (const EntryUse& entry : entries_)
      for (const BlockPlace& place : places_of(entry)) ++users_[place];
    for (const auto& [place, users] : users_) live_bytes_ += place.size;
  }

  [[nodiscard]] const std::vector<EntryUse>& entries() const { return entries_; }
  [[nodiscard]] const std::vector<BlockRow>& rows() const { return rows_; }
  [[nodiscard]] const std::vector<BlockFile>& files() const { return files_; }
  [[nodiscard]] std::uint64_t live_bytes() const { return live_bytes_; }
  [[nodiscard]] bool needed(const BlockPlace& place) const { return users_.contains(place); }

  [[nodiscard]] std::uint64_t packed_bytes(const EntryUse& entry) const {
    std::uint64_t bytes = 0;
    for (const BlockPlace& place : places_of(entry)) bytes += place.size;
    return bytes;
  }
  // Of blocks that nobody else needs.
  [[nodiscard]] std::uint64_t own_bytes(const EntryUse& entry) const {
    std::uint64_t bytes = 0;
    for (const BlockPlace& place : places_of(entry))
      if (users_.at(place) == 1) bytes += place.size;
    return bytes;
  }
  void forget(const EntryUse& entry) {
    for (const BlockPlace& place : places_of(entry)) {
      if (--users_.at(place) > 0) continue;
      users_.erase(place);
      live_bytes_ -= place.size;
    }
  }

 private:
  // Each once; a missing block is for verify to tell.
  [[nodiscard]] std::set<BlockPlace> places_of(const EntryUse& entry) const {
    std::set<BlockPlace> places;
    for (const BlockId id : entry.blocks)
      if (const auto found = place_.find(id); found != place_.end()) places.insert(found->second);
    return places;
  }

  std::vector<EntryUse> entries_;
  std::vector<BlockRow> rows_;
  std::vector<BlockFile> files_;
  std::unordered_map<BlockId, BlockPlace> place_;
  std::map<BlockPlace, std::uint64_t> users_;
  std::uint64_t live_bytes_ = 0;
};

// The least recently used first; one whose blocks others need all the same would give nothing.
std::vector<EntryUse> evict(Needs& needs, std::uint64_t budget, const std::string& spared) {
  std::vector<EntryUse> evicted;
  for (const EntryUse& entry : needs.entries()) {
    if (needs.live_bytes() <= budget) break;
    if (entry.pinned || entry.name == spared || needs.own_bytes(entry) == 0) continue;
    needs.forget(entry);
    evicted.push_back(entry);
  }
  return evicted;
}

// Blocks that some kept entry names.
std::set<BlockId> dead_blocks(const Needs& needs, const std::vector<EntryUse>& evicted) {
  std::set<BlockId> dead;
  for (const BlockRow& row : needs.rows()) dead.insert(row.id);
  for (const EntryUse& entry : needs.entries()) {
    const bool gone =
        std::ranges::any_of(evicted, [&](const EntryUse& other) { return other.id == entry.id; });
    if (gone) continue;
    for (const BlockId id : entry.blocks) dead.erase(id);
  }
  return dead;
}

// What becomes of the files.
struct Plan {
  std::vector<std::uint64_t> gone;  // files to take away
  std::vector<BlockPlace> to_move;  // blocks that are needed and lie in them
  std::uint64_t bytes_before = 0;
  std::uint64_t bytes_after = 0;
};

Plan plan_files(const Needs& needs) {
  std::map<std::uint64_t, std::vector<BlockPlace>> live;
  for (const BlockRow& row : needs.rows()) {
    auto& places = live[row.place.file];
    const bool seen = !places.empty() && places.back() == row.place;
    if (!seen && needs.needed(row.place)) places.push_back(row.place);
  }
  Plan plan;
  for (const BlockFile& file : needs.files()) {
    const std::vector<BlockPlace>& places = live[file.file];
    std::uint64_t bytes = 0;
    for (const BlockPlace& place : places) bytes += place.size;
    plan.bytes_before += file.bytes;
    const bool stays = bytes > file.bytes - file.bytes / most_dead_share;
    plan.bytes_after += stays ? file.bytes : bytes;
    if (stays) continue;
    plan.gone.push_back(file.file);
    plan.to_move.insert(plan.to_move.end(), places.begin(), places.end());
  }
  return plan;
}

std::vector<Move> move_blocks(const std::vector<BlockPlace>& places, BlockStorage& storage) {
  std::vector<Move> moves;
  if (places.empty()) return moves;
  const auto addition = storage.begin();
  ByteVector packed;
  for (const BlockPlace& place : places) {
    packed.resize(static_cast<std::size_t>(place.size));
    storage.read(place, 0, packed);
    moves.push_back({place, addition->add(packed)});
  }
  addition->finish();
  return moves;
}

}  // namespace

GcReport collect(Catalogue& catalogue, BlockStorage& storage, std::optional<std::uint64_t> budget,
                 const std::string& spared, bool dry_run) {
  if (!dry_run) storage.remove_unfinished();
  Needs needs(catalogue, storage);
  std::vector<EntryUse> evicted;
  if (budget) evicted = evict(needs, *budget, spared);
  const std::set<BlockId> dead = dead_blocks(needs, evicted);
  const Plan plan = plan_files(needs);
  GcReport report{{}, dead.size(), plan.bytes_before, plan.bytes_after};
  for (const EntryUse& entry : evicted) report.evicted.push_back(entry.name);
  if (dry_run) return report;
  // Killed in between: first there are bytes too many, never too few.
  const std::vector<Move> moves = move_blocks(plan.to_move, storage);
  catalogue.sweep(evicted, dead, moves);
  for (const std::uint64_t file : plan.gone) storage.remove(file);
  return report;
}

std::uint64_t bytes_of(const std::vector<BlockFile>& files) {
  std::uint64_t bytes = 0;
  for (const BlockFile& file : files) bytes += file.bytes;
  return bytes;
}

Inventory inventory_of(Catalogue& catalogue, const BlockStorage& storage) {
  const Needs needs(catalogue, storage);
  Inventory inventory;
  inventory.file_bytes = bytes_of(needs.files());
  inventory.live_bytes = needs.live_bytes();
  for (const EntryUse& entry : needs.entries())
    inventory.entries.push_back(
        {entry.name, entry.file_bytes, needs.packed_bytes(entry), needs.own_bytes(entry)});
  return inventory;
}

}  // namespace kvtool::store
