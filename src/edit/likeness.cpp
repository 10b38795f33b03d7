#include "edit/likeness.h"

#include <xxhash.h>

#include <algorithm>

namespace kvtool {
namespace {

template <class Value>
std::uint64_t linked(std::uint64_t link, const Value& value) {
  return XXH3_64bits_withSeed(&value, sizeof value, link);
}

std::vector<std::uint32_t> present_in(const std::vector<std::uint32_t>& cells) {
  std::vector<std::uint32_t> present;
  for (std::uint32_t i = 0; i < cells.size(); ++i)
    if (cells[i] != no_cell) present.push_back(i);
  return present;
}

std::size_t same_tokens(const PlacedSequence& a, const PlacedSequence& b, std::size_t most) {
  const std::size_t known = std::min(a.tokens.size(), b.tokens.size());
  const auto end = a.tokens.begin() + static_cast<std::ptrdiff_t>(std::min(most, known));
  const auto differs = std::mismatch(a.tokens.begin(), end, b.tokens.begin()).first;
  return differs == end ? most : static_cast<std::size_t>(differs - a.tokens.begin());
}

}  // namespace

Likeness::Likeness(const std::vector<PlacedSequence>& sequences,
                   const std::vector<const Stream*>& streams,
                   const std::vector<CellDigests>& digests)
    : sequences_(sequences), table_(streams.front()->cells), digests_(digests) {
  for (std::size_t s = 0; s < streams.size(); ++s) {
    const bool lacks = std::ranges::any_of(sequences, [&](const PlacedSequence& sequence) {
      return std::ranges::find(sequence.cells[s], no_cell) != sequence.cells[s].end();
    });
    (lacks ? gapped_ : whole_).push_back(s);
  }
  for (const std::size_t s : gapped_) {
    std::vector<Present>& present = present_.emplace_back();
    for (const PlacedSequence& sequence : sequences)
      present.push_back(present_in(sequence.cells[s]));
  }
  link();
}

void Likeness::link() {
  chains_.clear();
  for (const PlacedSequence& sequence : sequences_) chains_.push_back(chain_of(sequence));
}

std::vector<std::uint64_t> Likeness::chain_of(const PlacedSequence& sequence) const {
  std::vector<std::uint64_t> chain(sequence.size());
  std::uint64_t link = 0;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    link = linked(link, place_of(table_, sequence.cells.front()[i]));
    for (const std::size_t s : whole_) link = linked(link, digests_[s].of(sequence.cells[s][i]));
    chain[i] = link;
  }
  return chain;
}

std::size_t Likeness::same_links(std::size_t a, std::size_t b) const {
  std::size_t same = 0;
  std::size_t end = std::min(chains_[a].size(), chains_[b].size());
  while (same < end) {
    const std::size_t middle = same + (end - same) / 2;
    if (chains_[a][middle] == chains_[b][middle])
      same = middle + 1;
    else
      end = middle;
  }
  return same;
}

std::size_t Likeness::same_in(std::size_t gapped, std::size_t a, std::size_t b,
                              std::size_t most) const {
  const std::size_t s = gapped_[gapped];
  for (const std::uint32_t i : present_[gapped][a]) {
    if (i >= most) break;
    const std::uint32_t x = sequences_[a].cells[s][i];
    const std::uint32_t y = sequences_[b].cells[s][i];
    if (y != no_cell && digests_[s].of(x) != digests_[s].of(y)) return i;
  }
  return most;
}

std::size_t Likeness::common(std::size_t a, std::size_t b) const {
  std::size_t most = same_links(a, b);
  most = same_tokens(sequences_[a], sequences_[b], most);
  for (std::size_t g = 0; g < gapped_.size(); ++g) most = same_in(g, a, b, most);
  return most;
}

std::vector<std::size_t> Likeness::reaches() const {
  std::vector<std::size_t> reaches(sequences_.size(), 0);
  for (std::size_t b = 0; b < sequences_.size(); ++b)
    for (std::size_t a = 0; a < b; ++a) {
      const std::size_t both = common(a, b);
      reaches[a] = std::max(reaches[a], both);
      reaches[b] = std::max(reaches[b], both);
    }
  return reaches;
}

}  // namespace kvtool
