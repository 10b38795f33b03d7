// The loader's way through the memories of a state.
#include <fmt/format.h>

#include <algorithm>

#include "target/simulation.h"

namespace kvtool::target {
namespace {

// From here on old loaders spend minutes on reserving memory, if they survive it.
constexpr std::uint64_t absurd_cells = std::uint64_t{1} << 28U;

std::uint32_t extension_bytes(CellExtension extension) {
  return extension == CellExtension::none ? 0 : extension == CellExtension::xy ? 8 : 12;
}

// "128" or nothing, for the end of a message.
std::string shown(const std::optional<std::uint64_t>& value) {
  return value ? fmt::format("{}", *value) : "";
}

std::string type_name(std::int32_t id) {
  const ElementTypeInfo* type = find_element_type(id);
  return type == nullptr ? fmt::format("type {}", id) : std::string(type->name);
}

}  // namespace

bool Simulation::attention(const Part& part) {
  std::uint64_t streams = 1;
  if (era().streams) {
    const Word found = word("n_stream");
    if (!going()) return false;
    const auto mine = target_.streams();
    if (!found || (mine && *found != *mine))
      return refuse("n_stream",
                    mine ? fmt::format("it has {} streams, the target has {}", found.value_or(0),
                                       *mine)
                         : "the number of streams is missing",
                    "n_stream mismatch");
    streams = *found;
  }
  for (std::uint64_t s = 0; s < streams && !reader_.past_end(); ++s)
    if (!attention_stream(part)) return false;
  return true;
}

bool Simulation::attention_stream(const Part& part) {
  const Word count = word("cell_count");
  if (!going()) return false;
  if (!count)
    return refuse("cells", "the file ends before the number of cells",
                  "not enough cells in kv cache");
  if (*count == 0) return no_cells(*count);
  if (!era().streams && *count >= absurd_cells)
    return stop_with(era().rng_text ? Outcome::dies : Outcome::hangs, "cells",
                     fmt::format("it claims {} cells, which this loader tries to hold", *count),
                     "");
  if (era().streams && !room_for(part, *count)) return false;
  if (!cells(*count, false)) return false;
  if (!era().streams && !room_for(part, *count)) return false;
  ++memories_.back().streams_with_cells;
  return stream_head(part) && keys(part, *count) && values(part, *count);
}

// Since streams came, nothing follows; before, the servers stumble over it.
bool Simulation::no_cells(std::uint64_t) {
  if (era().streams || container_ != Container::slot) return true;
  return stop_with(Outcome::dies, "no_cells",
                   "a file without cells aborts the servers of 2024 and early 2025",
                   "GGML_ASSERT(kv_self.cells[kv_self.head].pos == batch.pos[0]) failed");
}

bool Simulation::room_for(const Part& part, std::uint64_t count) {
  const auto room = capacity(target_, *part.cache);
  if (!room || count <= *room) return true;
  return refuse("cells", fmt::format("it has {} cells, the cache has room for {}", count, *room),
                "not enough cells in kv cache");
}

bool Simulation::cells(std::uint64_t count, bool is_recurrent) {
  TakenMemory& memory = memories_.back();
  for (std::uint64_t i = 0; i < count; ++i) {
    if (reader_.past_end()) {  // every further cell is the last one again
      memory.cells += count - i;
      return true;
    }
    if (!cell(is_recurrent)) return false;
  }
  return true;
}

bool Simulation::cell(bool is_recurrent) {
  TakenMemory& memory = memories_.back();
  const Word pos = word("pos");
  const Word n = going() ? word(is_recurrent ? "r_n_seq" : "n_seq") : Word();
  if (!going()) return false;
  const auto position = static_cast<Position>(static_cast<std::uint32_t>(pos.value_or(0)));
  memory.pos_min = memory.cells == 0 ? position : std::min(memory.pos_min, position);
  memory.pos_max = memory.cells == 0 ? position : std::max(memory.pos_max, position);
  ++memory.cells;
  if (one_sequence() && n != (is_recurrent || !era().sequence_ids ? 0U : 1U))
    return refuse("n_seq",
                  fmt::format("a cell names {} sequences, which no file of this layout does",
                              shown(n)),
                  "invalid seq_id-agnostic kv cell");
  if (!is_recurrent && shape().needs_extension == true && !skip(extension_bytes(era().extension)))
    return false;
  return sequence_ids(n.value_or(0));
}

bool Simulation::sequence_ids(std::uint64_t n) {
  for (std::uint64_t i = 0; i < n && !reader_.past_end(); ++i) {
    const Word id = word("seq_id");
    if (!going()) return false;
    const auto sequence = static_cast<SequenceId>(static_cast<std::uint32_t>(id.value_or(0)));
    const bool outside = sequence < 0 || (target_.parallel && id.value_or(0) >= *target_.parallel);
    if (!one_sequence() && outside)
      return refuse("seq_id",
                    fmt::format("a cell is of sequence {}, the target has {} sequences", sequence,
                                target_.parallel.value_or(0)),
                    fmt::format("invalid seq_id, {} is out of range", sequence));
  }
  return true;
}

bool Simulation::stream_head(const Part& part) {
  const Word transposed = word("v_trans");
  const Word layers = going() ? word("n_layer") : Word();
  if (!going()) return false;
  v_trans_ = transposed.value_or(0);
  const std::size_t mine = part.cache->layers.size();
  if (layers.value_or(0) != mine)
    return refuse("n_layer",
                  fmt::format("the cache has {} layers, the target's {}", layers.value_or(0), mine),
                  fmt::format("mismatched layer count ({} instead of {})", layers.value_or(0),
                              mine));
  const auto on = target_.flash_attention;
  if (v_trans_ > 1 || (on && v_trans_ != (*on ? 0U : 1U)))
    return refuse("v_trans",
                  fmt::format("V is stored {}, the target wants it {}",
                              v_trans_ == 0 ? "in rows" : "transposed",
                              v_trans_ == 0 ? "transposed (flash attention off)"
                                            : "in rows (flash attention on)"),
                  "incompatible V transposition");
  return !era().rotation_words || rotation(part);
}

bool Simulation::rotation(const Part& part) {
  const auto mine = target_.rotation_of(part.number);
  const Word k = word("rot_k");
  const Word v = going() ? word("rot_v") : Word();
  if (!going() || !mine) return going();
  if (k.value_or(0) != mine->first)
    return refuse("rot_k",
                  fmt::format("K is rotated in blocks of {}, the target's in {} (0: not)",
                              k.value_or(0), mine->first),
                  fmt::format("incompatible key rotation ({} instead of {})", k.value_or(0),
                              mine->first));
  if (v.value_or(0) != mine->second)
    return refuse("rot_v",
                  fmt::format("V is rotated in blocks of {}, the target's in {} (0: not)",
                              v.value_or(0), mine->second),
                  fmt::format("incompatible value rotation ({} instead of {})", v.value_or(0),
                              mine->second));
  return true;
}

bool Simulation::type_is(const char* name, const char* words, std::optional<ElementType> mine,
                         std::size_t layer, ElementType& found) {
  const Word stored = word(name);
  if (!going()) return false;
  const auto id = static_cast<std::int32_t>(static_cast<std::uint32_t>(stored.value_or(0)));
  if (mine) found = *mine;
  if (stored && mine && id == static_cast<std::int32_t>(*mine)) return true;
  if (stored && !mine && find_element_type(id) != nullptr) {
    found = static_cast<ElementType>(id);
    return true;
  }
  const auto number = mine ? static_cast<std::int32_t>(*mine) : 0;
  return refuse(name,
                fmt::format("layer {} is stored as {}, the target has {}", layer,
                            stored ? type_name(id) : "nothing", type_name(number)),
                fmt::format("mismatched {} type ({} != {}", words, number,
                            stored ? fmt::format("{}, layer {})", id, layer) : ""));
}

bool Simulation::size_is(const char* name, const char* words, std::uint64_t mine, std::size_t layer,
                         std::uint32_t bytes) {
  const Word stored = word(name, bytes);
  if (!going()) return false;
  if (stored == mine) return true;
  return refuse(name,
                fmt::format("layer {} has a {} of {}, the target {}", layer, words, shown(stored),
                            mine),
                fmt::format("mismatched {} ({} != {}", words, mine,
                            stored ? fmt::format("{}, layer {})", *stored, layer) : ""));
}

bool Simulation::keys(const Part& part, std::uint64_t count) {
  for (std::size_t l = 0; l < part.cache->layers.size(); ++l) {
    ElementType type = ElementType::f32;
    if (!type_is("k_type", "key", target_.type_k, l, type)) return false;
    const std::uint64_t row = row_bytes(type, part.cache->layers[l].k_width);
    if (!size_is("k_row", "key row size", row, l, 8) || !skip(count * row)) return false;
  }
  return true;
}

bool Simulation::values(const Part& part, std::uint64_t count) {
  for (std::size_t l = 0; l < part.cache->layers.size(); ++l) {
    const std::uint64_t width = part.cache->layers[l].v_width;
    if (width == 0) continue;
    if (v_trans_ != 0) {
      if (!value_columns(count, l, width)) return false;
      continue;
    }
    ElementType type = ElementType::f32;
    if (!type_is("v_type", "value", target_.type_v, l, type)) return false;
    const std::uint64_t row = row_bytes(type, width);
    if (!size_is("v_row", "value row size", row, l, 8) || !skip(count * row)) return false;
  }
  return true;
}

bool Simulation::value_columns(std::uint64_t count, std::size_t layer, std::uint64_t width) {
  ElementType type = ElementType::f32;
  if (!type_is("v_type", "value", target_.type_v, layer, type)) return false;
  const std::uint64_t element = info(type).block_bytes;
  return size_is("v_el", "value element size", element, layer, 4) &&
         size_is("v_dim", "GQA embedding size", width, layer, 4) && skip(count * width * element);
}

bool Simulation::recurrent(const Part& part) {
  const Word count = word("cell_count");
  if (!going()) return false;
  if (!count || (target_.parallel && *count > *target_.parallel))
    return refuse("cells",
                  fmt::format("it has {} states, the target room for {}", shown(count),
                              target_.parallel.value_or(0)),
                  "not enough cells in kv cache");
  if (*count == 0 && !no_cells(*count)) return false;
  if (!cells(*count, true)) return false;
  const Word transposed = word("s_trans");
  const Word layers = going() ? word("n_layer") : Word();
  if (!going()) return false;
  const RecurrentStateShape& mine = *shape().recurrent;
  if (layers.value_or(0) != mine.model_layers)
    return refuse("n_layer",
                  fmt::format("it is of a model of {} layers, the target's has {}",
                              layers.value_or(0), mine.model_layers),
                  fmt::format("mismatched layer count ({} instead of {})", layers.value_or(0),
                              mine.model_layers));
  if (transposed.value_or(1) != 0)
    return refuse("s_trans", "states are stored in another way than ever written",
                  era().streams ? "incompatible s transposition" : "incompatible V transposition");
  for (const char which : {'r', 's'})
    for (std::size_t l = 0; l < mine.stored_layers; ++l)
      if (!recurrent_rows(*count, l, which, which == 'r' ? mine.r_row_bytes : mine.s_row_bytes))
        return false;
  return !part.role.empty();
}

bool Simulation::recurrent_rows(std::uint64_t count, std::size_t layer, char which,
                                std::uint64_t mine) {
  const bool r = which == 'r';
  ElementType type = ElementType::f32;
  if (!type_is(r ? "r_type" : "s_type", r ? "r" : "s", ElementType::f32, layer, type)) return false;
  if (!size_is(r ? "r_row" : "s_row", r ? "r row size" : "s row size", mine, layer, 8) ||
      !skip(count * mine))
    return false;
  if (!r || shape().recurrent->ple_layer != layer) return true;
  const std::uint64_t ple = shape().recurrent->ple_row_bytes;
  return size_is("ple_row", "ple row size", ple, layer, 8) && skip(count * ple);
}

}  // namespace kvtool::target
