// Random sessions in which sequences begin alike and then part, for better or worse.
#pragma once

#include <array>
#include <map>
#include <random>

#include "support/made_dump.h"
#include "support/payload.h"

namespace kvtool::test {

// What a cell holds: the numbers of a text, perhaps with one number a little off in one tensor.
struct Content {
  std::uint32_t text = 0;
  std::uint32_t odd_tensor = 0;  // which of the 2 * layers, from 1 on; 0: none
  float off = 0;                 // by how much
};

// A cell before it is written.
struct SharingCell {
  Position position = 0;
  CellExtra extra;
  std::set<SequenceId> ids;
  Content content;
};

class MadeSharing {
 public:
  explicit MadeSharing(std::uint64_t seed) : random_(seed) {
    shape_.extension = std::array{CellExtension::none, CellExtension::xy,
                                  CellExtension::xy_token}[seed % 3];
    shape_.version = std::array{11U, 9U, 10U}[seed % 3];
    shape_.streams = seed % 4 == 0 ? 2 : 1;
    shape_.layers = 3;
    shape_.k_type = shape_.v_type = ElementType::f32;
    shape_.width = 4;
    shape_.v_transposed = chance(50);
    if (chance(60)) shape_.window = 8;
  }

  std::shared_ptr<const Dump> dump() {
    Dump facts = made_facts(shape_);
    std::vector<std::vector<SharingCell>> all;
    for (std::size_t s = 0; s < shape_.streams; ++s) streams_.push_back(made_stream(s));
    for (Memory& memory : facts.state.memories) {
      const bool window = &memory != &facts.state.memories.front();
      for (std::size_t s = 0; s < shape_.streams; ++s)
        all.push_back(label(memory.streams[s], kept(streams_[s], window)));
    }
    facts.tokens.words = made_tokens();
    MemorySink sink;
    write_made(facts, 1, sink);
    return filled(sink.bytes(), all);
  }

 private:
  bool chance(unsigned percent) { return random_() % 100 < percent; }
  std::uint32_t below(std::size_t end) { return static_cast<std::uint32_t>(random_() % end); }

  // A sequence begins with copies of another's cells, or with the cells themselves.
  std::vector<SharingCell> made_stream(std::size_t stream) {
    std::vector<SharingCell> cells;
    std::vector<std::vector<std::size_t>> sequences;
    for (std::uint32_t s = 0; s < 6; ++s) {
      const auto id = static_cast<SequenceId>(stream * 8 + s);
      std::vector<std::size_t> own;
      if (s > 0) follow(sequences[below(s)], id, cells, own);
      go_on(id, cells, own);
      sequences.push_back(own);
    }
    std::shuffle(cells.begin(), cells.end(), random_);
    if (chance(50)) cells.push_back({3, {}, {}, {77, 0, 0}});  // of no sequence
    return cells;
  }

  void follow(const std::vector<std::size_t>& other, SequenceId id,
              std::vector<SharingCell>& cells, std::vector<std::size_t>& own) {
    const std::size_t length = below(other.size() + 1);
    const std::size_t shared = chance(40) ? below(length + 1) : 0;
    const std::size_t changed = chance(50) ? below(length + 1) : length;
    for (std::size_t i = 0; i < length; ++i) {
      if (i >= shared) cells.push_back(copy(cells[other[i]], i == changed));
      SharingCell& cell = i < shared ? cells[other[i]] : cells.back();
      cell.ids.insert(id);
      own.push_back(static_cast<std::size_t>(&cell - cells.data()));
    }
  }

  SharingCell copy(const SharingCell& cell, bool changed) {
    SharingCell fresh = cell;
    fresh.ids.clear();
    if (!changed) return fresh;
    if (shape_.extension == CellExtension::xy_token && chance(30)) ++fresh.extra.token;
    fresh.content.odd_tensor = 1 + below(shape_.layers * 2);
    fresh.content.off += chance(50) ? 0.0078125F : 1.0F;
    return fresh;
  }

  // Text, with holes and an image here and there.
  void go_on(SequenceId id, std::vector<SharingCell>& cells, std::vector<std::size_t>& own) {
    Position next = own.empty() ? 0 : cells[own.back()].position + 8;
    for (std::uint32_t i = 1 + below(6); i > 0; --i, next += chance(15) ? 3 : 1) {
      const bool image = shape_.extension != CellExtension::none && chance(20);
      for (std::int32_t place = 0; place < (image ? 3 : 1); ++place) {
        own.push_back(cells.size());
        cells.push_back({next, {next + place, next + place / 2, image ? -1 : 500 + next}, {id},
                         {below(3), 0, 0}});
      }
      if (chance(5)) cells.push_back({next, {next, next, 500 + next}, {id}, {99, 0, 0}});  // twice
    }
  }

  // All cells, or those that a window still has: of some sequences the last ones only.
  std::vector<SharingCell> kept(std::vector<SharingCell> cells, bool window) {
    if (!window) return cells;
    std::map<SequenceId, Position> first;
    std::erase_if(cells, [&](const SharingCell& cell) {
      if (cell.ids.empty()) return true;
      const auto [at, fresh] = first.try_emplace(*cell.ids.begin(), chance(40) ? 0 : below(10));
      return cell.position < at->second || chance(5);
    });
    std::shuffle(cells.begin(), cells.end(), random_);
    return cells;
  }

  static std::vector<SharingCell> label(Stream& stream, std::vector<SharingCell> cells) {
    stream.cells = CellTable(stream.cells.extension());
    for (const SharingCell& cell : cells)
      stream.cells.append(cell.position, std::vector(cell.ids.begin(), cell.ids.end()),
                          cell.extra);
    return cells;
  }

  // As many as one of the sequences has cells, so that the list may be its own.
  std::vector<TokenId> made_tokens() {
    const auto id = static_cast<SequenceId>(below(6));
    const auto count = std::ranges::count_if(streams_.front(), [&](const SharingCell& cell) {
      return cell.ids.count(id) > 0;
    });
    std::vector<TokenId> tokens(static_cast<std::size_t>(count));
    for (TokenId& token : tokens) token = static_cast<TokenId>(below(2));
    return tokens;
  }

  static std::shared_ptr<const Dump> filled(ByteVector bytes,
                                            const std::vector<std::vector<SharingCell>>& all) {
    const Dump made = open_dump(memory_source("made", bytes));
    std::size_t at = 0;
    for_each_stream(made, [&](const Stream& stream) { fill(bytes, stream, all.at(at++)); });
    return std::make_shared<const Dump>(open_dump(memory_source("made", std::move(bytes))));
  }

  static void fill(ByteVector& bytes, const Stream& stream, const std::vector<SharingCell>& cells) {
    std::uint32_t number = 0;
    for (const Layer& layer : stream.layers)
      for (const Tensor* tensor : {&layer.k, &layer.v}) {
        ++number;
        for (std::size_t c = 0; c < cells.size(); ++c)
          fill(bytes, *tensor, number, c, cells[c].content, cells.size());
      }
  }

  static void fill(ByteVector& bytes, const Tensor& tensor, std::uint32_t number, std::size_t cell,
                   const Content& content, std::size_t cells) {
    for (std::size_t e = 0; e < 4; ++e) {
      float value = static_cast<float>(content.text * 10 + number + e);
      if (content.odd_tensor == number && e == 3) value += content.off;
      const bool rows = tensor.orientation == Orientation::rows;
      const std::size_t at = rows ? cell * 4 + e : e * cells + cell;
      poke(bytes, static_cast<std::size_t>(tensor.extent.offset) + at * sizeof value, value);
    }
  }

  std::mt19937_64 random_;
  Shape shape_;
  std::vector<std::vector<SharingCell>> streams_;
};

}  // namespace kvtool::test
