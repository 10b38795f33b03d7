#include "support/made_dump.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <stdexcept>

#include "format/dialect.h"
#include "format/walk.h"
#include "kvtool/open.h"
#include "support/made_values.h"

namespace kvtool::test {
namespace {

using format::Scope;
using format::TensorOfLayer;

constexpr std::uint32_t no_sequence = 0xffffffff;

bool one_sequence(const Shape& shape) {
  return shape.container == Container::slot || shape.container == Container::sequence_state;
}

// A cell before it has its place: who uses it, and where in the sequence it stands.
struct MadeCell {
  Position position;
  std::uint32_t sequence;  // of the stream; all of them for the shared prefix
  bool shared;
};

// Shared prefix, sequences one after the other, unused cells.
std::vector<MadeCell> tidy_cells(const Shape& shape) {
  std::vector<MadeCell> cells;
  for (std::uint32_t i = 0; i < shape.shared; ++i)
    cells.push_back({static_cast<Position>(i), 0, true});
  const std::uint32_t own = shape.cells - shape.shared - shape.unused;
  for (std::uint32_t s = 0; s < shape.sequences; ++s) {
    const std::uint32_t length = own / shape.sequences + (s < own % shape.sequences ? 1 : 0);
    for (std::uint32_t i = 0; i < length; ++i)
      cells.push_back({static_cast<Position>(shape.shared + i), s, false});
  }
  for (std::uint32_t i = 0; i < shape.unused; ++i)
    cells.push_back({static_cast<Position>(i), no_sequence, false});
  return cells;
}

void put_in_order(std::vector<MadeCell>& cells, const Shape& shape) {
  if (shape.order == CellOrder::random)
    std::shuffle(cells.begin(), cells.end(), std::mt19937_64(shape.seed));
  if (shape.order != CellOrder::runs) return;
  auto turn = [&](const MadeCell& cell) {
    return cell.shared ? -1 : cell.position / static_cast<Position>(shape.run);
  };
  std::stable_sort(cells.begin(), cells.end(),
                   [&](const MadeCell& a, const MadeCell& b) { return turn(a) < turn(b); });
}

std::vector<SequenceId> ids_of(const MadeCell& cell, const Shape& shape, std::uint32_t stream) {
  std::vector<SequenceId> ids;
  for (std::uint32_t s = 0; s < shape.sequences; ++s)
    if (cell.shared || cell.sequence == s)
      ids.push_back(static_cast<SequenceId>(stream * shape.sequences + s));
  return ids;
}

CellTable table_of(const Shape& shape, const Dialect& dialect, std::uint32_t stream,
                   Position first_position) {
  std::vector<MadeCell> cells = tidy_cells(shape);
  put_in_order(cells, shape);
  CellTable table(dialect.extension);
  for (const MadeCell& cell : cells) {
    if (cell.position < first_position) continue;
    const bool named = !one_sequence(shape) || dialect.sequence_ids;
    table.append(cell.position, named ? ids_of(cell, shape, stream) : std::vector<SequenceId>{},
                 {cell.position, cell.position, 1000 + cell.position});
  }
  return table;
}

Tensor in_rows(ElementType type, std::uint64_t elements) {
  Tensor tensor;
  tensor.orientation = Orientation::rows;
  tensor.type = type;
  tensor.row_bytes = elements / info(type).block_elements * info(type).block_bytes;
  return tensor;
}

Tensor transposed(ElementType type, std::uint32_t elements) {
  Tensor tensor;
  tensor.orientation = Orientation::transposed;
  tensor.type = type;
  tensor.element_bytes = info(type).block_bytes;
  tensor.width = elements;
  return tensor;
}

// A cache of cells whose positions begin at `first_position`.
Memory attention_memory(const Shape& shape, const Dialect& dialect, Position first_position) {
  Layer layer;
  layer.k = in_rows(shape.k_type, shape.width);
  const std::uint32_t v_width = shape.v_width == 0 ? shape.width : shape.v_width;
  layer.v = shape.v_transposed ? transposed(shape.v_type, v_width) : in_rows(shape.v_type, v_width);
  Memory memory;
  for (std::uint32_t s = 0; s < shape.streams; ++s) {
    Stream stream;
    stream.cells = table_of(shape, dialect, s, first_position);
    stream.v_transposed = shape.v_transposed ? 1 : 0;
    stream.layers.assign(shape.layers, layer);
    memory.streams.push_back(std::move(stream));
  }
  return memory;
}

Memory recurrent_memory(const Shape& shape) {
  Layer layer;
  layer.k = in_rows(ElementType::f32, shape.width);
  layer.v = in_rows(ElementType::f32, std::uint64_t{shape.width} * 4);
  Memory memory;
  memory.kind = MemoryKind::recurrent;
  memory.model_layers = shape.layers * 2;
  Stream& stream = memory.streams.emplace_back();
  stream.layers.assign(shape.layers, layer);
  const auto last = static_cast<Position>(shape.cells - 1);
  for (std::uint32_t s = 0; s < shape.sequences * shape.streams; ++s) {
    const auto id = static_cast<SequenceId>(s);
    stream.cells.append(last, one_sequence(shape) ? std::vector<SequenceId>{} : std::vector{id});
  }
  return memory;
}

Memory window_memory(const Shape& shape, const Dialect& dialect) {
  return attention_memory(shape, dialect, static_cast<Position>(shape.cells - shape.window));
}

Dialect dialect_of(const Shape& shape) {
  auto candidates = shape.container == Container::session ? format::session_dialects(shape.version)
                    : shape.container == Container::slot  ? format::slot_dialects(shape.version)
                    : shape.container == Container::state ? format::state_dialects()
                                                          : format::sequence_state_dialects(true);
  for (const Dialect& dialect : candidates)
    if (dialect.extension == shape.extension) return dialect;
  throw std::logic_error("made_dump: the version has no such cell extension");
}

// What a checkpoint holds of the state: only what the server cannot rewind.
Blob checkpoint_blob(const Shape& shape, const Dialect& slot) {
  Blob blob;
  blob.dialect = slot;
  blob.dialect.container = Container::sequence_state;
  blob.dialect.prefix = true;
  State& state = blob.state.emplace();
  state.source_sequence = 0;
  if (shape.window > 0) state.memories.push_back(window_memory(shape, blob.dialect));
  if (shape.recurrent) state.memories.push_back(recurrent_memory(shape));
  return blob;
}

void add_checkpoints(Dump& facts, const Shape& shape) {
  facts.tail.has_checkpoints = shape.checkpoints > 0;
  for (std::uint32_t i = 0; i < shape.checkpoints; ++i) {
    Checkpoint checkpoint;
    checkpoint.tokens = shape.cells;
    checkpoint.pos_max = static_cast<Position>(shape.cells - 1);
    checkpoint.target = checkpoint_blob(shape, facts.dialect);
    facts.tail.checkpoints.push_back(std::move(checkpoint));
  }
}

void number_streams(Dump& facts) {
  std::uint32_t next = 0;
  for_each_stream(facts, [&](Stream& stream) { stream.ordinal = next++; });
}

// Turns facts into bytes; what tensors hold, the deriving class knows.
class MadeEmitter : public format::Visitor {
 public:
  explicit MadeEmitter(Sink& sink) : sink_(sink) {}

  void field(const Scope*, const char*, std::span<const std::byte> bytes) override {
    pending_.insert(pending_.end(), bytes.begin(), bytes.end());
  }
  void opaque(const Scope*, const char*, const Extent& extent) override {
    if (extent.size > 0) throw std::logic_error("made_dump: bytes of no source");
  }
  void flush() {
    sink_.write(pending_);
    pending_.clear();
  }

 private:
  Sink& sink_;
  std::vector<std::byte> pending_;
};

class ValueEmitter final : public MadeEmitter {
 public:
  ValueEmitter(std::uint64_t seed, Sink& sink) : MadeEmitter(sink), seed_(seed), sink_(sink) {}

  void tensor(const Scope*, const char*, const Stream& stream, std::size_t layer,
              TensorOfLayer part) override {
    flush();
    const Tensor& tensor = stream.layers[layer].*part;
    const bool is_k = &tensor == &stream.layers[layer].k;
    const std::uint64_t key = (std::uint64_t{stream.ordinal} << 32U) + layer * 2 + (is_k ? 0 : 1);
    const MadeValues values(seed_ * 1000003 + key);
    if (tensor.orientation == Orientation::rows) write_rows(values, tensor, stream.cells.size());
    if (tensor.orientation == Orientation::transposed)
      write_channels(values, tensor, stream.cells.size());
  }

 private:
  void write_rows(const MadeValues& values, const Tensor& tensor, std::uint64_t cells) {
    piece_.resize(static_cast<std::size_t>(tensor.row_bytes));
    for (std::uint64_t cell = 0; cell < cells; ++cell) {
      values.row(tensor.type, cell, piece_);
      sink_.write(piece_);
    }
  }

  void write_channels(const MadeValues& values, const Tensor& tensor, std::uint64_t cells) {
    piece_.resize(static_cast<std::size_t>(cells * tensor.element_bytes));
    for (std::uint64_t channel = 0; channel < tensor.width; ++channel) {
      values.channel(tensor.type, channel, 0, piece_);
      sink_.write(piece_);
    }
  }

  std::uint64_t seed_;
  Sink& sink_;
  std::vector<std::byte> piece_;
};

class HoleEmitter final : public MadeEmitter {
 public:
  explicit HoleEmitter(MadeSink& sink) : MadeEmitter(sink), sink_(sink) {}

  void tensor(const Scope*, const char*, const Stream& stream, std::size_t layer,
              TensorOfLayer part) override {
    flush();
    sink_.hole((stream.layers[layer].*part).cell_bytes() * stream.cells.size());
  }

 private:
  MadeSink& sink_;
};

void emit(const Dump& facts, MadeEmitter& emitter) {
  format::Walker walker(emitter);
  format::walk(walker, facts);
  emitter.flush();
}

}  // namespace

Dump made_facts(const Shape& shape) {
  Dump facts;
  facts.dialect = dialect_of(shape);
  facts.tokens.words.resize(shape.cells);
  std::iota(facts.tokens.words.begin(), facts.tokens.words.end(), 1000);
  facts.arch = shape.recurrent ? "jamba" : shape.window > 0 ? "gemma3" : "llama";
  if (facts.dialect.prefix) facts.state.source_sequence = 0;
  auto& memories = facts.state.memories;
  memories.push_back(attention_memory(shape, facts.dialect, 0));
  if (shape.window > 0) memories.push_back(window_memory(shape, facts.dialect));
  if (shape.recurrent) memories.push_back(recurrent_memory(shape));
  add_checkpoints(facts, shape);
  number_streams(facts);
  return facts;
}

void write_made(const Dump& facts, std::uint64_t seed, Sink& sink) {
  ValueEmitter emitter(seed, sink);
  emit(facts, emitter);
}

void write_made_sparse(const Dump& facts, MadeSink& sink) {
  HoleEmitter emitter(sink);
  emit(facts, emitter);
}

std::shared_ptr<const Dump> made_dump(const Shape& shape) {
  MemorySink sink;
  write_made(made_facts(shape), shape.seed, sink);
  return std::make_shared<Dump>(open_dump(memory_source("made", sink.bytes())));
}

}  // namespace kvtool::test
