#include "pack/choose.h"

#include <algorithm>
#include <numeric>

#include "pack/columns.h"
#include "pack/split.h"
#include "pack/words.h"

namespace kvtool::packing {
namespace {

// A way that costs more time must save this share of the bytes against a faster one.
constexpr std::size_t worth_a_search = 200;
constexpr std::size_t worth_columns = 200;
constexpr std::size_t frame_entry_bytes = 4;  // of the index

struct Cost {
  std::size_t bytes = 0;
  FrameMode mode;
};

// The cheapest way of making one frame of some bytes.
class Trial {
 public:
  explicit Trial(int level) : level_(level) {}

  Cost cost(std::span<const std::byte> raw) {
    Cost best{size(raw, {FrameMode::entropy, 1}), {FrameMode::entropy, 1}};
    if (best.bytes == raw.size()) best.mode.kind = FrameMode::store;
    for (const int level : {1, level_}) {
      const std::size_t bytes = size(raw, {FrameMode::search, level});
      if (bytes + best.bytes / worth_a_search < best.bytes)
        best = {bytes, {FrameMode::search, level}};
      if (level == level_) break;
    }
    return best;
  }

  std::size_t size(std::span<const std::byte> raw, FrameMode mode) {
    out_.clear();
    return maker_.append(raw, mode, out_);
  }

 private:
  int level_;
  FrameMaker maker_;
  ByteVector out_;
};

// How far a column's bytes lie from zero: exponents as they are, quants by their square. Columns of
// like values have like statistics, and what has like statistics shares an entropy table well.
std::vector<std::uint64_t> column_weights(std::span<const std::byte> bytes, std::size_t columns,
                                          bool is_plane) {
  std::vector<std::uint64_t> weights(columns);
  for (std::size_t row = 0; row < bytes.size(); row += columns)
    for (std::size_t c = 0; c < columns; ++c) {
      const auto byte = std::to_integer<int>(bytes[row + c]);
      const int centred = byte < 128 ? byte : byte - 256;
      weights[c] += static_cast<std::uint64_t>(is_plane ? byte & 0x7f : centred * centred);
    }
  return weights;
}

Columns sorted_columns(std::span<const std::byte> bytes, std::size_t columns, std::size_t groups,
                       bool is_plane) {
  const auto weights = column_weights(bytes, columns, is_plane);
  Columns sorted;
  sorted.order.resize(columns);
  std::iota(sorted.order.begin(), sorted.order.end(), std::uint16_t{0});
  std::stable_sort(sorted.order.begin(), sorted.order.end(),
                   [&](std::uint16_t a, std::uint16_t b) { return weights[a] < weights[b]; });
  for (std::size_t g = 1; g <= groups; ++g)
    sorted.ends.push_back(static_cast<std::uint16_t>(columns * g / groups));
  std::size_t begin = 0;  // within a group the order is free, and rising is faster to copy
  for (const std::uint16_t end : sorted.ends) {
    std::sort(sorted.order.begin() + static_cast<std::ptrdiff_t>(begin),
              sorted.order.begin() + end);
    begin = end;
  }
  return sorted;
}

std::size_t grouped_size(const Columns& columns, std::span<const std::byte> bytes, Trial& trial) {
  ByteVector gathered(bytes.size());
  ColumnScratch scratch;
  gather(columns, bytes, gathered, scratch);
  const std::size_t rows = bytes.size() / columns.order.size();
  std::size_t size = 0;
  std::size_t begin = 0;
  for (const std::uint16_t end : columns.ends) {
    size += trial.size(std::span(gathered).subspan(begin * rows, (end - begin) * rows),
                       {FrameMode::entropy, 1});
    begin = end;
  }
  return size;
}

// One way of taking a section apart, and what it costs on the sample.
struct Candidate {
  Filter filter = Filter::none;
  std::vector<Part> parts;
  std::vector<FrameMode> modes;     // of each part
  std::vector<std::size_t> costs;   // bytes of each part
  std::size_t bytes = 0;            // all of them
};

// What the index needs for columns: them once, and the sizes of the frames for each chunk.
std::size_t index_bytes(const Columns& columns, std::uint64_t chunks) {
  const std::size_t once = 2 * columns.order.size() + 2 * columns.ends.size();
  return once / static_cast<std::size_t>(chunks) + frame_entry_bytes * columns.ends.size();
}

// Groups the columns of a part where that saves enough.
void try_columns(Part& part, std::size_t columns, std::uint64_t chunks,
                 std::span<const std::byte> bytes, Cost& cost, Trial& trial) {
  constexpr std::size_t most_columns = 1U << 15U;
  if (cost.mode.kind == FrameMode::store || columns < 32 || columns > most_columns ||
      bytes.size() % columns != 0)
    return;
  for (const std::size_t groups : {4U, 16U}) {
    Columns sorted = sorted_columns(bytes, columns, groups, part.width == 1);
    const std::size_t size = grouped_size(sorted, bytes, trial) + index_bytes(sorted, chunks);
    if (size + cost.bytes / worth_columns >= cost.bytes) continue;
    part.columns = std::move(sorted);
    cost = {size, {FrameMode::entropy, 1}};
  }
}

// The sample filtered and taken apart, part after part.
ByteVector taken_apart(Filter filter, std::span<const Part> parts,
                       std::span<const std::byte> sample) {
  ByteVector words(sample.begin(), sample.end());
  apply_filter(filter, words);
  ByteVector apart(words.size());
  split(parts, words, apart);
  return apart;
}

Candidate try_parts(Filter filter, std::vector<Part> parts, std::span<const std::byte> sample,
                    Trial& trial) {
  Candidate candidate{filter, std::move(parts), {}, {}, 0};
  const ByteVector apart = taken_apart(filter, candidate.parts, sample);
  std::size_t block = 0;
  for (const Part& part : candidate.parts) block += part.width;
  std::size_t at = 0;
  for (const Part& part : candidate.parts) {
    const std::size_t size = apart.size() / block * part.width;
    const Cost cost = trial.cost(std::span(apart).subspan(at, size));
    candidate.modes.push_back(cost.mode);
    candidate.costs.push_back(cost.bytes);
    candidate.bytes += cost.bytes + frame_entry_bytes;
    at += size;
  }
  return candidate;
}

Filter sign_filter(const Section& section) {
  for (const Part& part : section.parts)
    if (part.width != 1) return Filter::none;
  if (section.parts.size() == 2) return Filter::sign_last_16;
  return section.parts.size() == 4 ? Filter::sign_last_32 : Filter::none;
}

std::vector<Candidate> candidates(const Section& section, std::span<const std::byte> sample,
                                  Trial& trial) {
  std::vector<Candidate> all;
  all.push_back(try_parts(Filter::none, section.parts, sample, trial));
  if (section.parts.size() == 1) return all;
  if (const Filter filter = sign_filter(section); filter != Filter::none)
    all.push_back(try_parts(filter, section.parts, sample, trial));
  const std::vector<Part> whole = {{static_cast<std::uint16_t>(block_bytes(section)), {}}};
  all.push_back(try_parts(Filter::none, whole, sample, trial));
  return all;
}

void group_columns(const Section& section, Candidate& candidate, std::span<const std::byte> sample,
                   Trial& trial) {
  const ByteVector apart = taken_apart(candidate.filter, candidate.parts, sample);
  const std::size_t blocks = sample.size() / block_bytes(section);
  std::size_t at = 0;
  for (std::size_t p = 0; p < candidate.parts.size(); ++p) {
    Part& part = candidate.parts[p];
    const auto bytes = std::span(apart).subspan(at, blocks * part.width);
    Cost cost{candidate.costs[p], candidate.modes[p]};
    try_columns(part, static_cast<std::size_t>(columns_of(section, part)), chunk_count(section),
                bytes, cost, trial);
    candidate.modes[p] = cost.mode;
    at += bytes.size();
  }
}

}  // namespace

void choose_coding(Section& section, SectionModes& modes, std::span<const std::byte> sample,
                   int level) {
  Trial trial(level);
  std::vector<Candidate> all = candidates(section, sample, trial);
  auto best = all.begin();
  for (auto it = all.begin(); it != all.end(); ++it)
    if (it->bytes + best->bytes / worth_a_search < best->bytes) best = it;
  if (section.row_bytes > 0) group_columns(section, *best, sample, trial);
  section.filter = best->filter;
  section.parts = std::move(best->parts);
  modes.plain = std::move(best->modes);
}

void choose_base(Section& section, SectionModes& modes, const ChunkData& sample, int level) {
  ByteVector values;
  auto at = sample.raw.begin();
  for (const Piece& piece : sample.pieces) {
    if (piece.base_offset) values.insert(values.end(), at, at + piece.size);
    at += piece.size;
  }
  std::vector<Part> parts = section.parts;
  for (Part& part : parts) part.columns = {};  // values of transposed tensors come in no rows
  Trial trial(level);
  const std::size_t without = try_parts(section.filter, parts, values, trial).bytes;
  subtract_base(section.base.difference, values, sample.base);
  const Candidate with = try_parts(Filter::none, parts, values, trial);
  modes.compared = with.modes;
  if (values.empty() || with.bytes + without / worth_a_search >= without) section.has_base = false;
}

}  // namespace kvtool::packing
