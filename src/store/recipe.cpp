#include "store/recipe.h"

#include <algorithm>

#include "kvtool/checked.h"
#include "kvtool/error.h"
#include "pack/frame.h"

namespace kvtool::store {
namespace {

constexpr int zstd_level = 6;
// A recipe is mostly different numbers; one that claims to shrink more is damaged.
constexpr std::uint64_t most_ratio = 256;

template <class T>
void append_numbers(ByteVector& out, const std::vector<T>& list) {
  append_list(out, list, [&](const T& item) { append(out, item); });
}

template <class T>
std::vector<T> take_numbers(ByteReader& in) {
  return take_list<T>(in, sizeof(T), [&] { return in.take<T>(); });
}

void append_part(ByteVector& out, const BytesPart& part) {
  append_numbers(out, part.ranges);
  append(out, part.block_bytes);
  append_numbers(out, part.blocks);
}

BytesPart take_bytes_part(ByteReader& in) {
  BytesPart part;
  part.ranges = take_numbers<Extent>(in);
  part.block_bytes = in.take<std::uint32_t>();
  part.blocks = take_numbers<BlockId>(in);
  in.require(part.block_bytes > 0 && part.blocks.size() == part.block_count(), "blocks of bytes");
  return part;
}

void append_part(ByteVector& out, const CellsPart& part) {
  append(out, part.cells);
  append_list(out, part.tensors, [&](const CellTensor& t) {
    append(out, t.offset);
    append(out, t.cell_bytes);
    append(out, t.element_bytes);
  });
  append_numbers(out, part.group_ends);
  append_numbers(out, part.order);
  append_numbers(out, part.block_ends);
  append_numbers(out, part.blocks);
}

// Ends of groups that are not empty and of `most` at most.
bool rises_to(const std::vector<std::uint32_t>& ends, std::uint64_t last, std::uint32_t most) {
  std::uint32_t begin = 0;
  for (const std::uint32_t end : ends) {
    if (end <= begin || end - begin > most) return false;
    begin = end;
  }
  return !ends.empty() && begin == last;
}

// Every cell once.
bool is_order_of(const std::vector<CellSpan>& order, std::uint32_t cells) {
  std::vector<bool> seen(cells);
  std::uint64_t count = 0;
  for (const CellSpan& span : order) {
    if (span.first > cells || span.count > cells - span.first) return false;
    for (std::uint32_t c = span.first; c < span.first + span.count; ++c) seen[c] = true;
    count += span.count;
  }
  return count == cells && std::ranges::all_of(seen, [](bool is) { return is; });
}

CellsPart take_cells_part(ByteReader& in) {
  CellsPart part;
  part.cells = in.take<std::uint32_t>();
  part.tensors = take_list<CellTensor>(in, 16, [&] {
    CellTensor tensor;
    tensor.offset = in.take<std::uint64_t>();
    tensor.cell_bytes = in.take<std::uint32_t>();
    tensor.element_bytes = in.take<std::uint32_t>();
    in.require(tensor.cell_bytes > 0, "a tensor without bytes");
    in.require(tensor.element_bytes == 0 || tensor.cell_bytes % tensor.element_bytes == 0,
               "channels of a tensor");
    return tensor;
  });
  part.group_ends = take_numbers<std::uint32_t>(in);
  part.order = take_numbers<CellSpan>(in);
  part.block_ends = take_numbers<std::uint32_t>(in);
  part.blocks = take_numbers<BlockId>(in);
  in.require(rises_to(part.group_ends, part.tensors.size(), UINT32_MAX), "groups of tensors");
  in.require(rises_to(part.block_ends, part.cells, cells_per_block), "blocks of cells");
  in.require(part.blocks.size() == part.group_ends.size() * part.block_ends.size(), "blocks");
  in.require(is_order_of(part.order, part.cells), "order of cells");
  return part;
}

// The parts must make up the file, every byte once.
void require_whole(const Recipe& recipe, const ByteReader& in) {
  std::vector<Extent> pieces;
  for (const BytesPart& part : recipe.bytes)
    pieces.insert(pieces.end(), part.ranges.begin(), part.ranges.end());
  for (const CellsPart& part : recipe.cells)
    for (const CellTensor& t : part.tensors)
      pieces.push_back({t.offset, std::uint64_t{t.cell_bytes} * part.cells});
  std::ranges::sort(pieces, {}, &Extent::offset);
  std::uint64_t at = 0;
  for (const Extent& piece : pieces) {
    in.require(piece.offset == at, "its parts do not make up the file");
    at = checked_add(at, piece.size);
  }
  in.require(at == recipe.size, "its parts do not make up the file");
}

}  // namespace

std::uint64_t BytesPart::size() const {
  std::uint64_t bytes = 0;
  for (const Extent& range : ranges) bytes = checked_add(bytes, range.size);
  return bytes;
}

std::uint64_t BytesPart::block_count() const {
  const std::uint64_t bytes = size();
  return bytes / block_bytes + (bytes % block_bytes != 0 ? 1 : 0);
}

ByteVector recipe_bytes(const Recipe& recipe) {
  ByteVector raw;
  append(raw, recipe.size);
  append_list(raw, recipe.bytes, [&](const BytesPart& part) { append_part(raw, part); });
  append_list(raw, recipe.cells, [&](const CellsPart& part) { append_part(raw, part); });
  return raw;
}

Recipe recipe_in(std::span<const std::byte> bytes) {
  ByteReader in(bytes, "recipe");
  Recipe recipe;
  recipe.size = in.take<std::uint64_t>();
  recipe.bytes = take_list<BytesPart>(in, 12, [&] { return take_bytes_part(in); });
  recipe.cells = take_list<CellsPart>(in, 24, [&] { return take_cells_part(in); });
  in.require_end();
  require_whole(recipe, in);
  return recipe;
}

ByteVector encode(const Recipe& recipe) {
  const ByteVector raw = recipe_bytes(recipe);
  ByteVector out;
  append(out, std::uint64_t{raw.size()});
  packing::FrameMaker().append(raw, {packing::FrameMode::search, zstd_level}, out);
  return out;
}

Recipe decode_recipe(std::span<const std::byte> bytes) {
  ByteReader packed(bytes, "recipe");
  const auto size = packed.take<std::uint64_t>();
  packed.require(size <= packed.remaining() * most_ratio, "its size");
  ByteVector raw(static_cast<std::size_t>(size));
  packed.require(packing::FrameReader().read(packed.take_bytes(packed.remaining()), raw),
                 "its zstd frame is damaged");
  return recipe_in(raw);
}

}  // namespace kvtool::store
