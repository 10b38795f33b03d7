// What a stream holds, without regard to the order of its cells: the yardstick of every edit.
//
// It is read back from the places that the dump's extents name, cell by cell, and shares no code
// with the writer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "kvtool/dump.h"
#include "kvtool/facts.h"
#include "kvtool/open.h"
#include "kvtool/write.h"
#include "support/payload.h"

namespace kvtool::test {

// Everything that names a cell.
struct CellLabel {
  std::set<SequenceId> sequences;
  Position position = 0;
  std::int32_t x = 0;
  std::int32_t y = 0;
  TokenId token = 0;
  auto operator<=>(const CellLabel&) const = default;
};

// Several cells can have one label; their payloads are sorted.
using Contents = std::map<CellLabel, std::vector<ByteVector>>;

inline CellLabel label_of(const CellTable& cells, std::size_t cell) {
  const auto ids = cells.sequences(cell);
  const CellExtra extra = cells.extra(cell);
  return {{ids.begin(), ids.end()}, cells.position(cell), extra.x, extra.y, extra.token};
}

// The bytes of a cell in all tensors of all layers.
inline ByteVector whole_payload(const Dump& dump, const Stream& stream, std::uint64_t cell) {
  Bytes bytes;
  for (const Layer& layer : stream.layers)
    for (const Tensor* tensor : {&layer.k, &layer.v, &layer.ple})
      bytes.append(cell_payload(dump, stream, *tensor, cell));
  return bytes.get();
}

// Byte by byte: with the vectors' own comparison g++ 12 warns of a memcmp that is never so long.
inline bool comes_before(const ByteVector& a, const ByteVector& b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                      [](std::byte x, std::byte y) { return x < y; });
}

inline Contents contents_of(const Dump& dump, const Stream& stream) {
  Contents contents;
  for (std::size_t cell = 0; cell < stream.cells.size(); ++cell)
    contents[label_of(stream.cells, cell)].push_back(whole_payload(dump, stream, cell));
  for (auto& [label, payloads] : contents) std::sort(payloads.begin(), payloads.end(), comes_before);
  return contents;
}

// Of every stream of the dump, those in the tail of a slot file included.
inline std::vector<Contents> contents_of(const Dump& dump) {
  std::vector<Contents> all;
  for_each_stream(dump, [&](const Stream& stream) { all.push_back(contents_of(dump, stream)); });
  return all;
}

// The contents of the state's streams; `only_used`: without the cells that defrag drops.
inline std::vector<Contents> state_contents(const Dump& dump, bool only_used) {
  std::vector<Contents> all;
  for (const Memory& memory : dump.state.memories)
    for (const Stream& stream : memory.streams) {
      Contents contents = contents_of(dump, stream);
      if (only_used && memory.kind == MemoryKind::attention &&
          !holds_one_sequence(dump))
        std::erase_if(contents, [](const auto& entry) { return entry.first.sequences.empty(); });
      all.push_back(std::move(contents));
    }
  return all;
}

// Writes a plan and opens what came out, as the same layout as before.
inline std::shared_ptr<const Dump> applied(const Plan& plan) {
  MemorySink sink;
  write_plan(plan, sink);
  OpenOptions options;
  options.layout = plan.target.layout;
  return std::make_shared<const Dump>(open_dump(memory_source("applied", sink.bytes()), options));
}

inline ByteVector bytes_of(const Dump& dump) { return read_extent(dump, 0, dump.source->size()); }

}  // namespace kvtool::test
