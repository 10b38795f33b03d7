// defrag --share: sequence by sequence, the longest beginning that an earlier one has too is
// folded.
#include "kvtool/share.h"

#include <algorithm>

#include "edit/beginnings.h"
#include "edit/known_tokens.h"
#include "edit/share_digests.h"
#include "edit/stream_builder.h"
#include "format/container.h"
#include "kvtool/error.h"

namespace kvtool {
namespace {

// A sequence leaves or joins a cell.
struct Change {
  std::uint32_t cell;
  SequenceId id;
  auto operator<=>(const Change&) const = default;
};

struct Changes {
  std::vector<Change> left;
  std::vector<Change> joined;
};

// Goes over the changes of one cell after the other.
class ChangesByCell {
 public:
  explicit ChangesByCell(std::vector<Change>& changes) : changes_(changes) {
    std::ranges::sort(changes_);
  }
  std::vector<SequenceId> of(std::uint32_t cell) {
    std::vector<SequenceId> ids;
    for (; at_ < changes_.size() && changes_[at_].cell == cell; ++at_)
      ids.push_back(changes_[at_].id);
    return ids;
  }

 private:
  std::vector<Change>& changes_;
  std::size_t at_ = 0;
};

// What becomes of the ids of a cell: ascending, each once.
void change_ids(std::vector<SequenceId>& ids, const std::vector<SequenceId>& left,
                const std::vector<SequenceId>& joined) {
  std::erase_if(ids, [&](SequenceId id) { return std::ranges::binary_search(left, id); });
  ids.insert(ids.end(), joined.begin(), joined.end());
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

// Returns how many cells have no sequence any more and are gone.
std::uint64_t relabel(Stream& stream, Changes& changes) {
  const std::size_t before = stream.cells.size();
  ChangesByCell left(changes.left);
  ChangesByCell joined(changes.joined);
  std::uint32_t at = 0;
  rebuild(stream, [&](StreamCell& cell, StreamBuilder& builder) {
    const bool was_unused = cell.ids.empty();
    change_ids(cell.ids, left.of(at), joined.of(at));
    ++at;
    if (!cell.ids.empty() || was_unused) builder.append(cell);
  });
  return before - stream.cells.size();
}

// Streams of all caches that lie beside each other; the first one keeps every cell.
class Sharer {
 public:
  Sharer(const Dump& dump, const KnownTokens& tokens, const std::vector<Stream*>& streams)
      : targets_(streams), changes_(streams.size()) {
    shared_.source = dump.source.get();
    shared_.streams.assign(streams.begin(), streams.end());
    shared_.sequences = placed_sequences(shared_.streams);
    for (PlacedSequence& sequence : shared_.sequences) sequence.tokens = tokens.of(sequence.id);
  }

  void fold_equal(std::uint64_t digest_mask) {
    const std::vector<Beginning> found = equal_beginnings(shared_, digest_mask);
    for (std::size_t q = 0; q < found.size(); ++q) fold(q, found[q]);
  }

  // What an earlier sequence holds is what it was folded into.
  void fold_near(double tolerance) {
    const NearBeginnings beginnings(shared_, tolerance);
    for (std::size_t q = 0; q < shared_.sequences.size(); ++q) fold(q, beginnings.of(q));
  }

  std::uint64_t relabel_streams() {
    std::uint64_t gone = 0;
    for (std::size_t s = 0; s < targets_.size(); ++s) gone += relabel(*targets_[s], changes_[s]);
    return gone;
  }

 private:
  // The sequence gives up cells of its own for those of an earlier one.
  void fold(std::size_t sequence, const Beginning& beginning) {
    PlacedSequence& own = shared_.sequences[sequence];
    for (std::size_t s = 0; s < targets_.size(); ++s)
      for (std::size_t i = 0; i < beginning.length; ++i) {
        const std::uint32_t theirs = shared_.sequences[beginning.with].cells[s][i];
        std::uint32_t& cell = own.cells[s][i];
        if (cell == no_cell || theirs == no_cell || cell == theirs) continue;
        changes_[s].left.push_back({cell, own.id});
        changes_[s].joined.push_back({theirs, own.id});
        cell = theirs;
      }
  }

  std::vector<Stream*> targets_;
  std::vector<Changes> changes_;  // of each stream
  SharedStreams shared_;
};

// Attention caches, those that keep every cell first.
std::vector<Memory*> caches_of(State& state) {
  std::vector<Memory*> caches;
  for (Memory& memory : state.memories)
    if (memory.kind == MemoryKind::attention) caches.push_back(&memory);
  std::ranges::stable_sort(caches, {}, [](const Memory* m) { return m->role == "window"; });
  return caches;
}

std::vector<Stream*> streams_beside(const std::vector<Memory*>& caches, std::size_t number) {
  std::vector<Stream*> streams;
  for (Memory* memory : caches)
    if (number < memory->streams.size()) streams.push_back(&memory->streams[number]);
  return streams;
}

}  // namespace

std::uint64_t share_by_digests(Plan& plan, double tolerance, std::uint64_t digest_mask) {
  const Dump& source = *plan.sources.front();
  if (format::holds_one_sequence(source.dialect))
    throw Error(ErrorKind::refused, "one sequence has nothing to share");
  const std::vector<Memory*> caches = caches_of(plan.target.state);
  if (caches.empty()) return 0;
  const KnownTokens tokens(source);
  std::uint64_t gone = 0;
  for (std::size_t s = 0; s < caches.front()->streams.size(); ++s) {
    Sharer sharer(source, tokens, streams_beside(caches, s));
    if (tolerance > 0)
      sharer.fold_near(tolerance);
    else
      sharer.fold_equal(digest_mask);
    gone += sharer.relabel_streams();
  }
  return gone;
}

std::uint64_t share_equal_cells(Plan& plan, double tolerance) {
  return share_by_digests(plan, tolerance, ~std::uint64_t{0});
}

}  // namespace kvtool
