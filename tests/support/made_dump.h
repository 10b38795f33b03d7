// Makes valid dumps of any size and shape, for tests and benchmarks.
//
// A shape becomes a Dump without a source; the descriptions of the format layer turn it into bytes,
// so that nothing here knows where a field lies.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kvtool/dump.h"
#include "kvtool/write.h"

namespace kvtool::test {

// How the cells of different sequences lie among each other.
enum class CellOrder {
  tidy,    // shared prefix, then one sequence after the other
  runs,    // sequences take turns, `run` cells each, as they do when served in parallel
  random,  // any order
};

struct Shape {
  Container container = Container::session;
  std::uint32_t version = 11;      // any that the container has; 0 for states
  CellExtension extension = CellExtension::none;

  std::uint32_t streams = 1;       // of each attention cache
  std::uint32_t cells = 48;        // of each stream
  std::uint32_t sequences = 1;     // of each stream; slot files have one
  std::uint32_t shared = 0;        // cells at the beginning that all sequences of a stream share
  std::uint32_t unused = 0;        // cells that belong to no sequence
  CellOrder order = CellOrder::tidy;
  std::uint32_t run = 5;

  std::uint32_t layers = 2;        // of each memory
  ElementType k_type = ElementType::f16;
  ElementType v_type = ElementType::f16;
  std::uint32_t width = 64;        // elements of a K row and of a V row, whole blocks
  std::uint32_t v_width = 0;       // elements of a V row where they differ
  bool v_transposed = false;

  std::uint32_t window = 0;        // second cache with this many of the last positions; 0: none
  bool recurrent = false;          // also a recurrent state for every sequence
  std::uint32_t checkpoints = 0;   // slot files: so many, each holding what cannot be rewound

  std::uint64_t seed = 1;
};

// The facts of such a dump; its tensors and source are missing.
[[nodiscard]] Dump made_facts(const Shape& shape);

// Where made bytes go. A hole stands for tensor bytes that nobody will look at.
class MadeSink : public Sink {
 public:
  virtual void hole(std::uint64_t size) = 0;
};

// The bytes of made facts. Every stream and layer gets numbers of its own (see MadeValues).
void write_made(const Dump& facts, std::uint64_t seed, Sink& sink);
// The same, with a hole for each tensor.
void write_made_sparse(const Dump& facts, MadeSink& sink);

// A whole small dump in memory, opened like any other.
[[nodiscard]] std::shared_ptr<const Dump> made_dump(const Shape& shape);

}  // namespace kvtool::test
