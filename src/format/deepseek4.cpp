#include "format/deepseek4.h"

#include <fmt/format.h>

#include "kvtool/checked.h"

namespace kvtool::format {
namespace {

constexpr std::uint32_t head_magic = 0x34565344;  // "DSV4"

// Notes all bytes since `begin` under a label.
void close_block(const Reader& io, Memory& memory, std::uint64_t begin, std::string label) {
  memory.blocks.push_back({std::move(label), {begin, io.offset() - begin}});
}

void tensor_block(Reader& io, Memory& memory, std::uint32_t streams, const std::string& label) {
  const std::uint64_t begin = io.offset();
  ElementType type{};
  std::uint64_t width = 0;
  std::uint64_t rows = 0;
  std::uint64_t row_bytes = 0;
  io.type("type", type);
  io.u64("width", width);
  io.u64("rows", rows);
  io.row_size("row", row_bytes, type);
  close_block(io, memory, begin, label + ".head");
  Extent data;
  io.opaque("data", data, checked_multiply(checked_multiply(streams, rows), row_bytes));
  memory.blocks.push_back({label + ".data", data});
}

// What counts layers and the tensors of each.
void layer_blocks(Reader& io, Memory& memory, const std::string& name, std::uint64_t begin,
                  int tensors_of_a_layer) {
  std::uint32_t streams = 0;
  io.u32("n_stream", streams);
  const std::uint32_t layers = io.count("n_layer", 0, 32, most_layers);
  close_block(io, memory, begin, name + ".head");
  for (std::uint32_t l = 0; l < layers; ++l) {
    const std::uint64_t at = io.offset();
    std::uint32_t layer = 0;
    io.u32("layer", layer);
    const std::string label = fmt::format("{}.layer[{}]", name, layer);
    close_block(io, memory, at, label);
    for (int t = 0; t < tensors_of_a_layer; ++t)
      tensor_block(io, memory, streams, fmt::format("{}.tensor[{}]", label, t));
  }
}

void key_cache(Reader& io, Memory& memory, const std::string& name) {
  const Scope in = io.scope(name);
  const std::uint64_t begin = io.offset();
  std::uint32_t version = 0;
  std::uint32_t rows = 0;
  io.u32("version", version);
  io.require(version == 1 || version == 2, begin, "version",
             fmt::format("expected 1 or 2, found {}", version));
  io.u32("n_rows", rows);
  layer_blocks(io, memory, name, begin, 1);
}

void compressor(Reader& io, Memory& memory, const std::string& name) {
  const Scope in = io.scope(name);
  const std::uint64_t begin = io.offset();
  std::uint32_t word = 0;
  io.constant("version", 1);
  io.u32("ratio", word);
  io.u32("state_size", word);
  io.u32("n_embd_state", word);
  layer_blocks(io, memory, name, begin, 2);
}

}  // namespace

Memory deepseek4_head(Reader& io, DeepSeek4Mode mode) {
  Memory memory;
  memory.kind = MemoryKind::verbatim;
  const std::uint64_t begin = io.offset();
  io.constant("magic", head_magic);
  io.constant("version", 1);
  io.constant("mode", static_cast<std::uint32_t>(mode));
  close_block(io, memory, begin, "head");
  return memory;
}

Memory deepseek4_body(Reader& io) {
  Memory memory;
  memory.kind = MemoryKind::verbatim;
  for (const char* name : {"csa", "hca", "lid"}) key_cache(io, memory, name);
  for (const char* name : {"csa_state", "hca_state", "lid_state"}) compressor(io, memory, name);
  return memory;
}

Memory unknown_body(Reader& io) {
  Memory memory;
  memory.kind = MemoryKind::verbatim;
  Extent rest;
  io.opaque("unknown", rest, io.cursor().remaining());
  memory.blocks.push_back({"unknown", rest});
  return memory;
}

}  // namespace kvtool::format
