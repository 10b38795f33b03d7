#include "support/random_dump.h"

#include <algorithm>
#include <random>

#include "support/tiny_parts.h"

namespace kvtool::test {
namespace {

// Types as dumps number them. Those of one element can lie transposed.
constexpr std::uint32_t f32 = 0;
constexpr std::uint32_t f16 = 1;
constexpr std::uint32_t q4_0 = 2;
constexpr std::uint32_t q8_0 = 8;
constexpr std::uint32_t bf16 = 30;

class Randomiser {
 public:
  Randomiser(const TinyDump& tiny, std::uint64_t seed) : tiny_(tiny), random_(seed) {}

  TinyDump run() {
    tiny_.layers = 1 + below(4);
    choose_rows();
    if (has_recurrent()) return tiny_;  // its cells are states, of which there is one
    if (tiny_.cells > 0) tiny_.cells = 1 + below(8);  // without cells some layouts are the same
    if (has_table()) choose_tables();
    return tiny_;
  }

 private:
  std::uint32_t below(std::uint32_t n) {
    return std::uniform_int_distribution<std::uint32_t>(0, n - 1)(random_);
  }
  bool one_in(std::uint32_t n) { return below(n) == 0; }

  [[nodiscard]] bool is_old() const { return tiny_.dialect.header != HeaderStruct::none; }
  [[nodiscard]] bool has_recurrent() const {
    return std::any_of(tiny_.pieces.begin(), tiny_.pieces.end(), [](Piece piece) {
      return piece != Piece::kv && piece != Piece::keys && piece != Piece::fork_index;
    });
  }
  // In versions 0 and 1 cell i is position i.
  [[nodiscard]] bool has_table() const {
    return tiny_.dialect.body != Body::pool && tiny_.dialect.body != Body::k_then_v;
  }
  [[nodiscard]] bool one_sequence() const {
    const Container kind = tiny_.dialect.container;
    return kind == Container::slot || kind == Container::sequence_state;
  }

  void choose_rows() {
    tiny_.k_width = 1 + below(6);
    tiny_.v_width = 2 + below(6);
    if (is_old()) return choose_old_rows();
    constexpr std::uint32_t numbers[] = {f32, f16, bf16};
    constexpr std::uint32_t blocks[] = {q4_0, q8_0};
    const bool typed_slot = tiny_.dialect.body == Body::typed_slot;
    tiny_.type = numbers[below(typed_slot ? 2 : 3)];
    if (tiny_.transposed || !one_in(3)) return;
    tiny_.type = blocks[below(2)];
    tiny_.k_width = 32 * (1 + below(2));
    tiny_.v_width = 32 * (1 + below(2));
  }

  // Nothing says the types there. With widths that are alike a file of f16 and one of f32 fit the same
  // bytes only if one has twice the cells, and the words before them tell how many there are.
  void choose_old_rows() {
    if (tiny_.pieces.front() != Piece::recurrent) tiny_.single = one_in(2);
  }

  void choose_tables() {
    std::vector<std::vector<TinyCell>> tables;
    for (std::uint32_t s = 0; s < tiny_.streams; ++s)
      tables.push_back(table(s == 0 ? tiny_.cells : below(5), s));
    if (!one_sequence()) use_one(tables.front());
    tiny_.tables = std::move(tables);
  }

  std::vector<TinyCell> table(std::uint32_t cells, std::uint32_t stream) {
    std::vector<TinyCell> table;
    std::int32_t position = static_cast<std::int32_t>(below(3));
    for (std::uint32_t i = 0; i < cells; ++i) {
      table.push_back({position, ids_in(stream)});
      position += 1 + static_cast<std::int32_t>(one_in(3) ? below(5) : 0);
    }
    if (one_in(2)) std::shuffle(table.begin(), table.end(), random_);
    if (is_old())  // an unused cell is listed without a position
      for (TinyCell& cell : table)
        if (cell.ids.empty()) cell.position = -1;
    return table;
  }

  // Without any used cell defrag leaves none, and some layouts are the same without cells.
  void use_one(std::vector<TinyCell>& table) {
    if (table.empty()) return;
    for (const TinyCell& cell : table)
      if (!cell.ids.empty()) return;
    table.front() = {static_cast<std::int32_t>(below(9)), {0}};
  }

  // A stream that is one of several belongs to the sequence of its number. Files of one sequence have
  // no ids, or the id 0.
  std::vector<std::int32_t> ids_in(std::uint32_t stream) {
    if (one_sequence()) return {0};
    if (tiny_.streams > 1) return {static_cast<std::int32_t>(stream)};
    if (one_in(6)) return {};
    std::vector<std::int32_t> ids;
    for (std::int32_t id = 0; id < 4; ++id)
      if (one_in(2)) ids.push_back(id);
    if (ids.empty()) ids.push_back(static_cast<std::int32_t>(below(4)));
    return ids;
  }

  TinyDump tiny_;
  std::mt19937_64 random_;
};

}  // namespace

TinyDump randomised(const TinyDump& tiny, std::uint64_t seed) { return Randomiser(tiny, seed).run(); }

}  // namespace kvtool::test
