// What is in one saved file: immutable facts, and for every tensor the place where its bytes lie.
//
// Opening a dump reads metadata only. Shapes: a stream has C cells; a tensor in rows holds C rows
// of `row_bytes`; a transposed tensor holds `width` channels of C elements of `element_bytes` each.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kvtool/cells.h"
#include "kvtool/element_type.h"
#include "kvtool/source.h"
#include "kvtool/tokens.h"

namespace kvtool {

// A range of bytes of the file.
struct Extent {
  // Offset of bytes that lie in no file: the writer puts zeros where a layout wants filler.
  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  [[nodiscard]] std::uint64_t end() const { return offset + size; }
  bool operator==(const Extent&) const = default;
};

// Which of llama.cpp's four ways of saving made the bytes.
enum class Container {
  session,       // magic ggsn: llama_state_save_file
  slot,          // magic ggsq: llama_state_seq_save_file, llama-server's slots
  state,         // no header: llama_state_get_data
  sequence_state // no header: llama_state_seq_get_data, and the checkpoints inside slot files
};

// Programs that share magics and version numbers and write different bytes.
enum class Family {
  llama_cpp,
  ik_llama,  // ik_llama.cpp, a fork of mid 2024
};

// What follows the ids in files of before August 2024; each is described in format/old_state.h.
enum class Body {
  current,      // describes itself: session 8, slot 2 and all since
  pool,         // session 0: the memory pool of the cache
  k_then_v,     // session 1: K of all layers, V of all layers, no cells
  cells,        // session 2: and the cells behind them
  by_layer,     // session 3: K and V of a layer next to each other
  lean,         // session 4: without filler behind generator text and logits
  output_ids,   // session 5: with the places of output rows
  v_flag,       // sessions 6 and 7: with the flag for transposed V
  typed_slot,   // slot 1: types and sizes of rows are stored
};

// The header struct of sessions 0 to 7: the model parameters of the build, as raw memory. The names
// are those of kvtool-format(5), with the size in bytes; fields are listed in
// format/header_struct.h.
enum class HeaderStruct {
  none, j32, j40, j48, j52, g48, g52, s52, s60, s68, s76, s84a, s84b, s92, s96, s100a, s100b, s116,
  s120, s124, s152, s156, s164, s168, s176, s3236, s6308
};

// The choices between layouts that share a version word, plus that word.
struct Dialect {
  Family family = Family::llama_cpp;
  Container container = Container::session;
  std::uint32_t version = 0;          // 0 for states, which carry none
  bool rng_text = false;              // session 8 and states of its time
  bool outputs = false;               // output ids, logits, embeddings (until early 2026)
  bool streams = true;                // each attention cache begins with n_stream (since July 2025)
  bool sequence_ids = true;           // sequence files store the source id in each cell
  bool rotation = false;              // rot_k and rot_v in each attention cache (11 / 4)
  bool prefix = false;                // sequence states: 0xaf143cd8 and the source id come first
  bool state_word = false;            // ik_llama.cpp: word for recurrent states (version 3 / 9 on)
  bool index_word = false;            // ik_llama.cpp: word for index rows (version 4 / 10 on)
  CellExtension extension = CellExtension::none;
  Body body = Body::current;
  HeaderStruct header = HeaderStruct::none;
  bool used_word = true;       // session 2: there is a count of used cells (November 2023 on)
  bool lists_all = false;      // sessions 2 to 4: all cells of the context are listed
  bool long_records = false;   // session 0: tensor records of 208 bytes (2023-05-02), else of 176
  bool scrambled = false;      // session 1: rows of a grouped-query model cut at the wrong width
  bool operator==(const Dialect&) const = default;
};

enum class Orientation : std::uint8_t {
  absent,      // this layer stores no such tensor
  rows,        // one row a cell
  transposed,  // one row a channel, one element a cell
};

// One K or V (or recurrent R or S) of one layer in one stream.
struct Tensor {
  Orientation orientation = Orientation::absent;
  bool counts_heads = false;        // row_bytes has a header for each of `heads`, not only one
  std::uint16_t heads = 1;          // q8_KV: rows that a cell really has, see is_misaligned()
  ElementType type = ElementType::f32;
  std::uint64_t row_bytes = 0;      // rows: bytes of one cell's row
  std::uint32_t element_bytes = 0;  // transposed: bytes of one element
  std::uint32_t width = 0;          // transposed: number of channels
  Extent extent;                    // where the bytes lie in the source
  // Bytes that one cell takes here, in either orientation.
  [[nodiscard]] std::uint64_t cell_bytes() const;
  // q8_KV: headers among row_bytes; of an opened dump one.
  [[nodiscard]] std::uint32_t row_headers() const { return counts_heads ? heads : 1; }
  // Elements of one cell: the row's, or one a channel; 0 if absent.
  [[nodiscard]] std::uint64_t cell_elements() const;
};

// One stored layer. Which layer of the model it is, no dump says.
struct Layer {
  Tensor k;    // recurrent: R
  Tensor v;    // recurrent: S
  Tensor ple;  // recurrent, one layer of qwen4exp: an untyped row after R
};

struct CacheRope;  // kvtool/rope.h

// Consecutive cells of a stream of a source dump, see Stream::origin.
struct CellRun {
  std::uint32_t dump = 0;    // index into the plan's sources; 0 in an opened dump
  std::uint32_t stream = 0;  // Stream::ordinal there
  std::uint32_t first = 0;   // first cell
  std::uint32_t count = 0;   // how many
  Position shift = 0;        // by how many positions the writer rotates their K (see Stream::rope)
  bool operator==(const CellRun&) const = default;
};

// An independent array of cells with their tensors.
struct Stream {
  CellTable cells;
  CellTable beyond;                // sessions 2 to 4: cells behind those, listed without K and V
  std::uint32_t v_transposed = 0;  // the stored flag (recurrent: s_trans)
  std::uint32_t rot_k = 0;         // width of K's Hadamard rotation, 0 none; dialects with rotation
  std::uint32_t rot_v = 0;
  std::vector<Layer> layers;
  std::uint32_t ordinal = 0;       // number of this stream in the dump, in file order
  std::vector<CellRun> origin;     // where each cell's tensor data comes from, in order;
                                   // an opened dump has the stream itself as its only run
  std::shared_ptr<const CacheRope> rope;  // how K turns with its position; none in an opened dump,
                                          // needed where a run of `origin` is shifted
  // Bytes of one cell's K and V in all layers. Throws Error(damaged) on overflow.
  [[nodiscard]] std::uint64_t cell_bytes() const;
};

enum class MemoryKind {
  attention,  // K and V by cell
  recurrent,  // one state a sequence
  verbatim,   // bytes that are carried and not interpreted
};

// A labelled piece of a verbatim memory.
struct Block {
  std::string label;
  Extent extent;
};

struct Memory {
  MemoryKind kind = MemoryKind::attention;
  std::string role;                // "main", "base", "window", "mla", "index", "recurrent", ...
  std::vector<Stream> streams;     // recurrent: exactly one; verbatim: none
  std::uint32_t model_layers = 0;  // recurrent: layers of the model, with state or without
  std::vector<Block> blocks;       // verbatim only
};

// The words around K and V in sessions of before August 2024, as far as nothing else tells them.
struct OldCache {
  std::uint64_t pool_bytes = 0;  // 0 to 4: size of the whole cache with some slack
  std::uint32_t context = 0;     // cells of the whole cache; from session 2 on stored as "size"
  std::int32_t count = 0;        // session 0: as stored, never set
  std::int64_t used_surplus = 0; // stored count of used cells minus those that a sequence uses
  Extent k_record;               // session 0: memory of the objects before K, before V and behind
  Extent v_record;
  Extent unused;
};

// A way of taking K and V whose types are not stored.
struct TypeReading {
  ElementType k = ElementType::f16;
  ElementType v = ElementType::f16;
  double k_plausible = 0;  // share of the values looked at that are plausible in this type, 0 to 1
  double v_plausible = 0;
  bool operator==(const TypeReading&) const = default;
};

// The state proper: what follows header, tokens and prelude.
struct State {
  std::optional<SequenceId> source_sequence;  // from the prefix of a sequence state
  std::string arrangement;                    // "kv", "iswa", "hybrid", ... see arrangements()
  std::vector<Memory> memories;               // in file order
  OldCache old;                               // sessions of before August 2024
  std::vector<TypeReading> type_readings;     // those that fit in size, the likeliest first, where
                                              // the file stores no types (sessions 0 to 7)
  bool types_uncertain = false;               // the content does not decide between them
};

// A length and a sequence state behind it, inside the tail of a slot file.
struct Blob {
  Extent extent;               // of the content, without the length
  Dialect dialect;             // of `state`
  std::optional<State> state;  // absent: empty, or not understood and kept as it is
  std::string problem;         // why it was not understood
};

// A place to which the server can go back, saved with a slot (SCKP).
struct Checkpoint {
  std::uint64_t tokens = 0;  // length of the prompt it stands for
  Position pos_min = 0;
  Position pos_max = 0;
  Blob target;       // state of the model
  Blob draft;        // state of the draft model; empty without one
  Blob speculation;  // what the speculation method keeps; empty for most
};

// What llama-server appends to a slot file.
struct Tail {
  bool has_checkpoints = false;
  std::vector<Checkpoint> checkpoints;
  bool has_draft = false;
  Blob draft;              // full state of the draft context (SDFT)
  Blob draft_speculation;
  Extent trailing;         // other bytes behind, kept or dropped on request only
};

// Output ids, logits and embeddings of the last batch, in dialects that have them.
struct Outputs {
  Extent ids;         // i32 each
  Extent logits;      // f32 each
  Extent embeddings;  // f32 each
};

struct Dump {
  std::shared_ptr<const Source> source;
  Dialect dialect;
  std::string layout;                 // its name, e.g. "ggsq4.streams.rot/iswa"
  std::vector<std::string> why;       // reasons for taking this layout
  std::vector<std::string> notes;     // what was unusual, in words
  TokenArea tokens;                   // empty in states
  std::optional<std::string> arch;    // sessions and whole states
  std::vector<std::byte> header;      // dialects with a header struct: its bytes
  Extent rng;                         // text of the generator, dialects with rng_text
  Extent rng_filler;                  // sessions 0 to 3: zeros behind it, to 65536 bytes
  Extent logits_filler;               // sessions 0 to 3: left-over memory behind the logits
  Outputs outputs;
  State state;
  Tail tail;                          // slot files only
};

// True for memories that cannot go back to an earlier position by themselves: a window and a
// recurrent state.
[[nodiscard]] bool cannot_rewind(const Memory& memory);

// All ids that the cells of a stream, or of a state, name.
[[nodiscard]] std::set<SequenceId> sequence_ids(const Stream& stream);
[[nodiscard]] std::set<SequenceId> sequence_ids(const State& state);

// ik_llama.cpp keeps K of type q8_KV as a row for each head, every one with a header, and saves it
// as if a cell had one header: of C cells with H heads C * (8 + elements) bytes out of
// C * (H * 8 + elements). Where a model has several heads, cells do not lie row_bytes apart and the
// last ones are not in the file. Opening looks at the rows' sums to find out.
[[nodiscard]] bool is_misaligned(const Tensor& tensor);
// True if any tensor of the dump is.
[[nodiscard]] bool has_misaligned_rows(const Dump& dump);

// The cells of a tensor that the file has whole, at their true distance: of a tensor that is not
// misaligned, all `cells` of it.
struct WholeCells {
  Tensor tensor;
  std::uint64_t count = 0;
};
[[nodiscard]] WholeCells whole_cells(const Tensor& tensor, std::uint64_t cells);

// True if a cell has the same type, size and orientation in both, so that its bytes can be copied.
[[nodiscard]] bool same_form(const Tensor& a, const Tensor& b);

// Calls f(stream) for every stream of the dump in file order: the memories' first, then those of
// the blobs in the tail. Works on const and mutable dumps.
template <class AnyDump, class F>
void for_each_stream(AnyDump& dump, F&& f) {
  auto in_state = [&](auto& state) {
    for (auto& memory : state.memories)
      for (auto& stream : memory.streams) f(stream);
  };
  auto in_blob = [&](auto& blob) {
    if (blob.state) in_state(*blob.state);
  };
  in_state(dump.state);
  for (auto& checkpoint : dump.tail.checkpoints) {
    in_blob(checkpoint.target);
    in_blob(checkpoint.draft);
    in_blob(checkpoint.speculation);
  }
  in_blob(dump.tail.draft);
  in_blob(dump.tail.draft_speculation);
}

}  // namespace kvtool
