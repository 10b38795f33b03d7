#include "kvtool/write.h"

#include <algorithm>
#include <array>
#include <utility>

#include "format/walk.h"
#include "kvtool/rope.h"
#include "write/certain_places.h"
#include "write/convert_tensor.h"
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

// Turns the fields of a target dump into bytes, fetching tensors from the plan's sources.
class Emitter final : public format::Visitor {
 public:
  Emitter(const Plan& plan, Sink& sink, std::vector<TensorLoss>* losses)
      : plan_(plan), sink_(sink), losses_(losses), converter_(sink) {
    for (const auto& source : plan.sources) streams_.push_back(streams_of(*source));
  }

  void field(const Scope*, const char*, std::span<const std::byte> bytes) override {
    if (pending_.size() + bytes.size() > most_pending) flush();
    pending_.insert(pending_.end(), bytes.begin(), bytes.end());
  }

  void opaque(const Scope*, const char*, const Extent& extent) override {
    flush();
    if (extent.offset == Extent::nowhere) return write_zeros(extent.size);
    const std::uint32_t source = source_of(extent);
    if (extent.size > 0) sink_.copy(*plan_.sources.at(source)->source, extent.offset, extent.size);
  }

  void tensor(const Scope* path, const char* name, const Stream& stream, std::size_t layer,
              TensorOfLayer part) override {
    flush();
    const Tensor& target = stream.layers[layer].*part;
    std::vector<TensorRun> runs;
    std::vector<std::uint32_t> rotated;
    std::vector<Position> shifts;
    for (const CellRun& run : stream.origin) {
      const Stream& from = *streams_.at(run.dump).at(run.stream);
      runs.push_back({{plan_.sources[run.dump]->source.get(), &(from.layers.at(layer).*part),
                       from.cells.size()},
                      run.first, run.count});
      rotated.push_back(rotation_of(from, part));
      shifts.push_back(run.shift);
    }
    const TensorJob job{runs,   rotated, target, rotation_of(stream, part),
                        shifts, rope_of(stream, layer, part)};
    if (needs_no_conversion(job)) return copy_cells(target, runs);
    ErrorFigures errors;
    converter_.run(job, losses_ == nullptr ? nullptr : &errors);
    note_loss(Scope::path(path) + name, errors);
  }

  void flush() {
    if (!pending_.empty()) sink_.write(pending_);
    pending_.clear();
  }

 private:
  static constexpr std::size_t most_pending = 1U << 20U;

  void write_zeros(std::uint64_t size) {
    static constexpr std::array<std::byte, 1U << 16U> zeros{};
    for (std::uint64_t left = size; left > 0;) {
      const std::size_t part =
          static_cast<std::size_t>(std::min<std::uint64_t>(left, zeros.size()));
      sink_.write(std::span(zeros).first(part));
      left -= part;
    }
  }

  // Which of the plan's sources the bytes of an extent of the target are in.
  std::uint32_t source_of(const Extent& extent) const {
    const OldCache& old = plan_.target.state.old;
    if (&extent == &plan_.target.rng) return plan_.rng_source;
    const bool pool =
        &extent == &old.k_record || &extent == &old.v_record || &extent == &old.unused;
    return pool ? plan_.pool_source : 0;
  }

  static std::uint32_t rotation_of(const Stream& stream, TensorOfLayer part) {
    if (part == &Layer::k) return stream.rot_k;
    return part == &Layer::v ? stream.rot_v : 0;
  }

  // Only K knows positions.
  static const Rope* rope_of(const Stream& stream, std::size_t layer, TensorOfLayer part) {
    if (part != &Layer::k || !stream.rope || layer >= stream.rope->layers.size()) return nullptr;
    const auto& rope = stream.rope->layers[layer];
    return rope ? &*rope : nullptr;
  }

  void copy_cells(const Tensor& target, std::span<const TensorRun> runs) {
    if (target.orientation == Orientation::rows) gather_rows(runs, sink_);
    if (target.orientation == Orientation::transposed) gather_columns(runs, sink_);
  }

  void note_loss(std::string tensor, const ErrorFigures& errors) {
    if (losses_ == nullptr || errors.count() == 0) return;
    losses_->push_back({std::move(tensor), errors.count(), errors.max_abs(), errors.rms(),
                        errors.relative_l2(), errors.not_finite()});
  }

  const Plan& plan_;
  Sink& sink_;
  std::vector<TensorLoss>* losses_;
  TensorConverter converter_;
  std::vector<std::vector<const Stream*>> streams_;
  std::vector<std::byte> pending_;
};

}  // namespace

void MemorySink::write(std::span<const std::byte> bytes) {
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

std::uint64_t size_of(const Plan& plan) {
  require_certain_places(plan);
  format::SizeVisitor size;
  format::Walker walker(size);
  format::walk(walker, plan.target);
  return size.size();
}

void write_plan(const Plan& plan, Sink& sink, std::vector<TensorLoss>* losses) {
  require_certain_places(plan);
  Emitter emitter(plan, sink, losses);
  format::Walker walker(emitter);
  format::walk(walker, plan.target);
  emitter.flush();
  for (const auto& source : plan.sources)
    if (source->source) source->source->require_unchanged();
}

}  // namespace kvtool
