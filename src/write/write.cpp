#include "kvtool/write.h"

#include <fmt/format.h>

#include <algorithm>

#include "format/walk.h"
#include "kvtool/error.h"
#include "write/gather.h"

namespace kvtool {
namespace {

using format::Scope;
using format::TensorOfLayer;

std::vector<const Stream*> streams_of(const Dump& dump) {
  std::vector<const Stream*> streams;
  for_each_stream(dump, [&](const Stream& stream) { streams.push_back(&stream); });
  return streams;
}

bool same_shape(const Tensor& a, const Tensor& b) {
  return a.orientation == b.orientation && a.type == b.type && a.row_bytes == b.row_bytes &&
         a.element_bytes == b.element_bytes && a.width == b.width;
}

// Turns the fields of a target dump into bytes, fetching tensors from the plan's sources.
class Emitter final : public format::Visitor {
 public:
  Emitter(const Plan& plan, Sink& sink) : plan_(plan), sink_(sink) {
    for (const auto& source : plan.sources) streams_.push_back(streams_of(*source));
  }

  void field(const Scope*, const char*, std::span<const std::byte> bytes) override {
    if (pending_.size() + bytes.size() > most_pending) flush();
    pending_.insert(pending_.end(), bytes.begin(), bytes.end());
  }

  void opaque(const Scope*, const char*, const Extent& extent) override {
    flush();
    if (extent.size > 0) sink_.copy(*plan_.sources.front()->source, extent.offset, extent.size);
  }

  void tensor(const Scope*, const char* name, const Stream& stream, std::size_t layer,
              TensorOfLayer part) override {
    flush();
    const Tensor& target = stream.layers[layer].*part;
    std::vector<TensorRun> runs;
    runs.reserve(stream.origin.size());
    for (const CellRun& run : stream.origin) runs.push_back(source_of(run, layer, part, target, name));
    if (target.orientation == Orientation::rows) gather_rows(runs, sink_);
    if (target.orientation == Orientation::transposed) gather_columns(runs, sink_);
  }

  void flush() {
    if (!pending_.empty()) sink_.write(pending_);
    pending_.clear();
  }

 private:
  static constexpr std::size_t most_pending = 1U << 20U;

  TensorRun source_of(const CellRun& run, std::size_t layer, TensorOfLayer part,
                      const Tensor& target, const char* name) const {
    const Stream& stream = *streams_.at(run.dump).at(run.stream);
    const Tensor& tensor = stream.layers.at(layer).*part;
    if (!same_shape(tensor, target))
      throw Error(ErrorKind::refused,
                  fmt::format("layer {}: {} differs in type or shape from its source", layer, name));
    return {{plan_.sources[run.dump]->source.get(), &tensor, stream.cells.size()}, run.first,
            run.count};
  }

  const Plan& plan_;
  Sink& sink_;
  std::vector<std::vector<const Stream*>> streams_;
  std::vector<std::byte> pending_;
};

}  // namespace

void Sink::copy(const Source& source, std::uint64_t offset, std::uint64_t size) {
  std::vector<std::byte> block(static_cast<std::size_t>(std::min<std::uint64_t>(size, 1U << 20U)));
  while (size > 0) {
    const auto piece = std::span(block).first(
        static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), size)));
    source.read_at(offset, piece);
    write(piece);
    offset += piece.size();
    size -= piece.size();
  }
}

void MemorySink::write(std::span<const std::byte> bytes) {
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

std::uint64_t size_of(const Plan& plan) {
  format::SizeVisitor size;
  format::Walker walker(size);
  format::walk(walker, plan.target);
  return size.size();
}

void write_plan(const Plan& plan, Sink& sink) {
  Emitter emitter(plan, sink);
  format::Walker walker(emitter);
  format::walk(walker, plan.target);
  emitter.flush();
}

}  // namespace kvtool
