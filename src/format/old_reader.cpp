// All ways of reading an old session: one for each pair of types that fits.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "format/bare_shape.h"
#include "format/old_state.h"
#include "format/old_types.h"
#include "kvtool/checked.h"
#include "kvtool/codec.h"
#include "kvtool/error.h"

namespace kvtool::format {
namespace {

// Rows of files of July 2023 that were cut at the width of the embedding.
HeaderFacts scrambled(HeaderFacts facts) {
  for (std::uint64_t& width : facts.k_width) width = facts.n_embd;
  facts.v_width = facts.k_width;
  return facts;
}

Tensor tensor_of(ElementType type, std::uint64_t width, bool transposed) {
  Tensor tensor;
  tensor.type = type;
  tensor.orientation = transposed ? Orientation::transposed : Orientation::rows;
  if (transposed) {
    tensor.width = static_cast<std::uint32_t>(width);
    tensor.element_bytes = info(type).block_bytes;
  } else {
    tensor.row_bytes = row_bytes(type, width);
  }
  return tensor;
}

// Reads one old session behind its prelude.
class OldReader {
 public:
  OldReader(const Reader& io, const Dump& dump, const WantedTypes& types, std::string attempt,
            Furthest& furthest)
      : start_(io),
        dump_(dump),
        d_(dump.dialect),
        types_(types),
        attempt_(std::move(attempt)),
        furthest_(furthest),
        facts_(d_.container == Container::state ? facts_of(types.bare.value_or(BareShape{}))
                                                : facts_of(d_.header, dump.header)) {
    if (d_.scrambled) facts_ = scrambled(facts_);
  }

  std::vector<StateReading> run() {
    Reader io = start_;
    io.set_skims(false);
    State state;
    std::uint32_t head = 0;
    try {
      const Scope in = io.scope("memory", 0);
      const Scope in_stream = io.scope("stream", 0);
      require_scrambled(io);
      begin(io, state);
      old::words(io, state, d_, head);
      prepare(io, state, head);
    } catch (const Error& error) {
      furthest_.note(error, attempt_, io.progress());
      return {};
    }
    return with_types(io, state, head);
  }

 private:
  // Only models with grouped queries had wrong rows.
  void require_scrambled(const Reader& io) const {
    if (d_.scrambled)
      io.require(facts_.n_head_kv < facts_.n_head, io.offset(), "pool_size",
                 "rows of a model without grouped queries were not scrambled");
  }

  void begin(Reader& io, State& state) const {
    Memory memory;
    memory.kind = facts_.recurrent ? MemoryKind::recurrent : MemoryKind::attention;
    memory.role = facts_.recurrent ? "recurrent" : "main";
    memory.model_layers = facts_.recurrent ? static_cast<std::uint32_t>(facts_.k_width.size()) : 0;
    memory.streams.resize(1);
    io.begin_stream(memory.streams.front());
    memory.streams.front().v_transposed = facts_.recurrent ? 0 : 1;
    state.memories.push_back(std::move(memory));
    state.arrangement = facts_.recurrent ? "recurrent" : "kv";
  }

  // What follows from the words: how many cells, and for the first versions which.
  void prepare(Reader& io, State& state, std::uint32_t& head) const {
    Stream& stream = state.memories.front().streams.front();
    if (d_.body == Body::pool) head = state.old.context = facts_.n_ctx;
    if (d_.body == Body::k_then_v) state.old.context = facts_.n_ctx;
    require_in_context(io, state.old.context, head);
    require_room(io, head);
    stream.cells = CellTable();
    stream.cells.append_unread(head);
    note_origin(stream, head);
    if (d_.body >= Body::cells) return;
    const std::size_t used = d_.body == Body::pool ? dump_.tokens.words.size() : head;
    io.require(used <= head && head <= most_cells, io.offset() - 4, "count",
               fmt::format("{} tokens in a cache of {} cells", used, head));
    stream.cells = CellTable();
    const std::array<SequenceId, 1> only = {0};
    for (std::uint32_t i = 0; i < head; ++i)
      i < used ? stream.cells.append(static_cast<Position>(i), only) : stream.cells.append(-1, {});
  }

  // No cache has data for more cells than it has, and where all are listed each takes 12 bytes or
  // more.
  void require_in_context(Reader& io, std::uint32_t context, std::uint32_t head) const {
    if (d_.body < Body::cells) return;
    const unsigned behind = (d_.used_word ? 4U : 0U) + (d_.body == Body::v_flag ? 4U : 0U);
    const std::uint64_t at = io.offset() - behind - 4;
    io.require(head <= context, at, "size",
               fmt::format("expected {} (head) or more, found {}", head, context));
    io.require(!d_.lists_all || context <= io.cursor().remaining() / 12, at, "size",
               fmt::format("{} cells do not fit, {} bytes remain", context,
                           io.cursor().remaining()));
  }

  // So many cells need more than the file has: found before a table is made for them.
  void require_room(Reader& io, std::uint64_t head) const {
    std::uint64_t elements = 0;
    for (const auto* widths : {&facts_.k_width, &facts_.v_width})
      for (const std::uint64_t width : *widths) elements = checked_add(elements, width);
    // Blocks came later; the smallest have more than half a byte an element.
    const bool numbers = d_.body < Body::by_layer;
    const std::uint64_t least =
        std::max<std::uint64_t>(1, numbers ? checked_multiply(elements, 2) : elements / 2);
    const std::uint64_t left = io.cursor().remaining();
    io.require(head <= left / least, io.offset(), "k_data",
               fmt::format("{} cells of at least {} bytes do not fit, {} remain", head, least,
                           left));
  }

  std::vector<StateReading> with_types(const Reader& io, const State& state, std::uint32_t head) {
    std::vector<StateReading> readings;
    // Of recurrent models the flag says 1, and the rows lie in rows all the same.
    const bool transposed =
        state.memories.front().streams.front().v_transposed != 0 && !facts_.recurrent;
    const ShapeSolver solver(types_.bare, cell_bytes(io, state, head));
    std::set<std::pair<std::size_t, std::uint64_t>> shapes;
    for (const CacheTypes& types : possible_types(d_, facts_, transposed)) {
      if (!is_wanted(types) || !solve_shape(solver, types, head)) continue;
      Reader ahead(io);
      State taken = state;
      try {
        read_with(ahead, taken, types, transposed, head);
      } catch (const Error& error) {
        furthest_.note(error, attempt_, ahead.progress());
        continue;
      }
      readings.push_back({std::move(taken), ahead});
      shapes.insert({facts_.k_width.size(), facts_.k_width.empty() ? 0 : facts_.k_width.front()});
      if (head == 0) break;  // without data there is nothing that has a type
    }
    require_one_shape(shapes);
    return readings;
  }

  bool is_wanted(const CacheTypes& types) const {
    return (!types_.k || *types_.k == types.first) && (!types_.v || *types_.v == types.second);
  }

  // False if rows of these types do not give the bytes of a bare state.
  bool solve_shape(const ShapeSolver& solver, const CacheTypes& types, std::uint32_t head) {
    if (d_.container != Container::state || !solver.is_needed() || head == 0) return true;
    const auto solved = solver.solve(types);
    if (solved) facts_ = *solved;
    return solved.has_value();
  }

  // Bytes of one cell in all layers, as far as the words before the data tell it. (The cells of a
  // whole context of one sequence name an id each.)
  std::optional<std::uint64_t> cell_bytes(Reader io, const State& state, std::uint32_t head) const {
    if (d_.container != Container::state || head == 0) return std::nullopt;
    std::uint64_t bytes = io.cursor().remaining();
    if (d_.body >= Body::output_ids) bytes = state.old.pool_bytes;
    if (d_.body >= Body::cells && d_.body < Body::output_ids) {
      const std::uint64_t listed = d_.lists_all ? state.old.context : head;
      const auto used = static_cast<std::uint64_t>(state.old.used_surplus);
      if (!d_.used_word || listed > bytes / 12 || used > listed || listed * 12 + used * 4 > bytes)
        return std::nullopt;
      bytes -= listed * 12 + used * 4;
    }
    return bytes % head == 0 ? std::optional(bytes / head) : std::nullopt;
  }

  void read_with(Reader& io, State& state, const CacheTypes& types, bool transposed,
                 std::uint32_t head) {
    const Scope in = io.scope("memory", 0);
    const Scope in_stream = io.scope("stream", 0);
    Stream& stream = state.memories.front().streams.front();
    shape(stream, types, transposed);
    if (d_.body >= Body::output_ids)
      io.require(state.old.pool_bytes == old::tensor_bytes(stream), io.offset(), "kv_size",
                 fmt::format("says {} bytes, and {} cells of these types have {}",
                             state.old.pool_bytes, head, old::tensor_bytes(stream)));
    old::tensors(io, state, d_);
    if (d_.body >= Body::cells) old::read_cells(io, state, d_, head);
    if (d_.body >= Body::cells && d_.used_word)
      state.old.used_surplus -= static_cast<std::int64_t>(old::used_cells(stream));
    if (head > 0) state.type_readings = {{types.first, types.second}};
  }

  void shape(Stream& stream, const CacheTypes& types, bool transposed) const {
    for (std::size_t l = 0; l < facts_.k_width.size(); ++l) {
      Layer layer;
      layer.k = tensor_of(types.first, facts_.k_width[l], false);
      layer.v = tensor_of(types.second, facts_.v_width[l], transposed);
      stream.layers.push_back(layer);
    }
  }

  Reader start_;
  const Dump& dump_;
  const Dialect& d_;
  WantedTypes types_;
  std::string attempt_;
  Furthest& furthest_;
  HeaderFacts facts_;
};

}  // namespace

std::vector<StateReading> read_old_states(const Reader& io, const Dump& dump,
                                          const WantedTypes& types, const std::string& attempt,
                                          Furthest& furthest) {
  const std::string name = attempt + "/kv";
  if (dump.dialect.body == Body::typed_slot) return read_old_slot(io, name, furthest);
  return OldReader(io, dump, types, name, furthest).run();
}

}  // namespace kvtool::format
