// Into sessions of version 0: the memory of a cache, with records of its objects.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convert/old_layout.h"
#include "format/old_state.h"
#include "kvtool/checked.h"
#include "kvtool/error.h"

namespace kvtool::convert_steps {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorKind::refused, why); }

// Zeros without end.
class Zeros final : public Source {
 public:
  explicit Zeros(std::uint64_t size) : size_(size) {}
  const std::string& name() const override {
    static const std::string name = "zeros";
    return name;
  }
  std::uint64_t size() const override { return size_; }
  void read_at(std::uint64_t /*offset*/, std::span<std::byte> out) const override {
    std::ranges::fill(out, std::byte{0});
  }
  bool for_threads() const override { return true; }

 private:
  std::uint64_t size_;
};

Stream& only_stream(Dump& dump) { return dump.state.memories.front().streams.front(); }
const Stream& only_stream(const Dump& dump) { return dump.state.memories.front().streams.front(); }

void append_unused(CellTable& cells, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) cells.append(-1, {});
}

// Cells that nobody used: a dump whose K and V are zeros.
std::shared_ptr<const Dump> unused_cells(const State& like, std::uint32_t count) {
  auto dump = std::make_shared<Dump>();
  dump->state.arrangement = like.arrangement;
  dump->state.memories = like.memories;
  Stream& stream = only_stream(*dump);
  stream.cells = CellTable();
  append_unused(stream.cells, count);
  stream.origin = {{0, stream.ordinal, 0, count, 0}};
  std::uint64_t largest = 0;
  for (Layer& layer : stream.layers)
    for (Tensor* tensor : {&layer.k, &layer.v}) {
      tensor->extent = {0, checked_multiply(tensor->cell_bytes(), count)};
      largest = std::max(largest, tensor->extent.size);
    }
  dump->source = std::make_shared<Zeros>(largest);
  return dump;
}

// The records tell how many bytes K and V have.
void need_same_tensors(const Stream& stream, const Stream& reference) {
  for (std::size_t l = 0; l < stream.layers.size(); ++l) {
    const Layer& a = stream.layers[l];
    const Layer& b = reference.layers[l];
    if (!same_form(a.k, b.k) || !same_form(a.v, b.v))
      refuse(
          fmt::format("the memory of the reference was made for K and V of type {}: say "
                      "--cache-type-k and --cache-type-v so",
                      info(b.k.type).name));
  }
}

// Only the number of tokens says how many cells are in use.
void need_tokens(const Dump& output) {
  const std::size_t tokens = output.tokens.words.size();
  const std::uint64_t cells = format::old::used_cells(only_stream(output));
  if (tokens != cells)
    refuse(fmt::format(
        "in sessions of version 0 the number of tokens tells how many cells are in use, "
        "and this file has {} tokens and {} cells",
        tokens, cells));
}

void fill_context(Conversion& result) {
  Stream& stream = only_stream(result.plan.target);
  const auto used = static_cast<std::uint32_t>(stream.cells.size());
  const std::uint32_t context = result.plan.target.state.old.context;
  if (used >= context) return;
  const std::uint32_t count = context - used;
  const auto index = static_cast<std::uint32_t>(result.plan.sources.size());
  result.plan.sources.push_back(unused_cells(result.plan.target.state, count));
  append_unused(stream.cells, count);
  stream.origin.push_back({index, stream.ordinal, 0, count, 0});
}

}  // namespace

void enter_pool(const std::shared_ptr<const Dump>& reference, Conversion& result) {
  Dump& output = result.plan.target;
  const OldCache& old = reference->state.old;
  if (output.state.old.context != old.context)
    refuse(fmt::format(
        "the memory of the reference was made for a context of {}, and the target's is {}",
        old.context, output.state.old.context));
  need_same_tensors(only_stream(output), only_stream(*reference));
  need_tokens(output);
  fill_context(result);
  if (reference == result.plan.sources.front()) return;
  output.state.old = old;
  result.plan.pool_source = static_cast<std::uint32_t>(result.plan.sources.size());
  result.plan.sources.push_back(reference);
}

}  // namespace kvtool::convert_steps
