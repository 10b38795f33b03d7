// A file going through a loader, step by step, until the loader stops.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "format/cursor.h"
#include "kvtool/restore.h"
#include "target/loader_reader.h"
#include "target/loader_shape.h"

namespace kvtool::target {

// Where and why the loader stopped.
struct Stop {
  Outcome outcome = Outcome::refused;
  Reason reason;
};

// What the loader took in of one memory.
struct TakenMemory {
  std::string role;
  std::uint64_t cells = 0;
  std::uint64_t streams_with_cells = 0;
  Position pos_min = 0;  // of the cells; meaningless without any
  Position pos_max = 0;
};

class Simulation {
 public:
  // `parts` are the memories that are read, in order; `container` is what the loader was asked for.
  Simulation(format::Window& window, Extent bounds, const Target& target, std::vector<Part> parts,
             Container container, bool strict);

  // The whole of a session or slot file, without what a server does with ids and tail.
  void file();
  // A checkpoint's blob: prefix and memories.
  void blob();

  [[nodiscard]] const std::optional<Stop>& stop() const { return stop_; }
  [[nodiscard]] bool certain() const;
  [[nodiscard]] const std::vector<std::int32_t>& words() const { return words_; }
  [[nodiscard]] const std::vector<TakenMemory>& memories() const { return memories_; }
  // First byte behind the state.
  [[nodiscard]] std::uint64_t end() const { return reader_.offset(); }

 private:
  using Word = std::optional<std::uint64_t>;

  // Notes the stop unless there is one; always false.
  bool stop_with(Outcome outcome, std::string code, std::string message, std::string log);
  bool refuse(std::string code, std::string message, std::string log);
  // Reads a word; stops a strict reader at the end of the file.
  Word word(const char* name, std::uint32_t bytes = 4);
  bool skip(std::uint64_t bytes);
  [[nodiscard]] bool going() const { return !stop_; }

  bool header();
  bool tokens();
  bool token_count(std::uint64_t n);
  bool prelude();
  bool arch();
  bool outputs();
  bool state();
  bool all_read();

  bool attention(const Part& part);
  bool attention_stream(const Part& part);
  bool room_for(const Part& part, std::uint64_t cells);
  bool no_cells(std::uint64_t count);
  bool cells(std::uint64_t count, bool recurrent);
  bool cell(bool recurrent);
  bool sequence_ids(std::uint64_t n);
  bool stream_head(const Part& part);
  bool rotation(const Part& part);
  bool keys(const Part& part, std::uint64_t cells);
  bool values(const Part& part, std::uint64_t cells);
  bool value_columns(std::uint64_t cells, std::size_t layer, std::uint64_t width);
  bool recurrent(const Part& part);
  bool recurrent_rows(std::uint64_t cells, std::size_t layer, char which, std::uint64_t mine);

  // Compares a stored type or size with what the target has, if that is known.
  bool type_is(const char* name, const char* words, std::optional<ElementType> mine,
               std::size_t layer, ElementType& found);
  bool size_is(const char* name, const char* words, std::uint64_t mine, std::size_t layer,
               std::uint32_t bytes);

  [[nodiscard]] bool one_sequence() const { return container_ != Container::session; }
  [[nodiscard]] const Era& era() const { return *target_.era; }
  [[nodiscard]] const ModelShape& shape() const { return *target_.model; }

  const Target& target_;
  std::vector<Part> parts_;
  Container container_;
  bool strict_;
  format::Window& window_;
  LoaderReader reader_;
  std::uint64_t v_trans_ = 0;  // of the stream at hand
  std::optional<Stop> stop_;
  std::string where_;
  std::vector<std::int32_t> words_;
  std::vector<TakenMemory> memories_;
};

}  // namespace kvtool::target
