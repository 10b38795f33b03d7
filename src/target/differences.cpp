#include "target/differences.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "format/dialect.h"
#include "kvtool/facts.h"

namespace kvtool::target {
namespace {

class Comparison {
 public:
  Comparison(const Dump& dump, const Target& target) : dump_(dump), target_(target) {}

  std::vector<Reason> run() {
    header();
    layout();
    memories();
    return std::move(reasons_);
  }

 private:
  void add(std::string code, std::string message, std::string log) {
    reasons_.push_back({std::move(code), where_, std::move(message), std::move(log)});
  }

  [[nodiscard]] const Era& era() const { return *target_.era; }
  [[nodiscard]] bool session() const { return dump_.dialect.container == Container::session; }

  void header() {
    const std::uint32_t mine = session() ? era().session_version : era().slot_version;
    const char* magic = session() ? "ggsn" : "ggsq";
    if (dump_.dialect.version != mine)
      add("version",
          fmt::format("it is {} {}, the loader reads {} {} only", magic, dump_.dialect.version,
                      magic, mine),
          fmt::format("unknown (magic, version) for {}: {:08x}, {:08x}",
                      session() ? "session file" : "sequence state file",
                      session() ? 0x6767736e : 0x67677371, dump_.dialect.version));
    const std::string& arch = target_.model->arch;
    if (dump_.arch && !arch.empty() && *dump_.arch != arch)
      add("arch", fmt::format("it is of a {} model, the target's is {}", *dump_.arch, arch),
          fmt::format("wrong model arch: '{}' instead of '{}'", *dump_.arch, arch));
    const auto most = tokens_per_slot(target_);
    if (!era().payload && most && dump_.tokens.words.size() > *most)
      add("context",
          fmt::format("it has {} tokens, the context takes {}", dump_.tokens.words.size(), *most),
          fmt::format("token count ... exceeded capacity! {} > {}", dump_.tokens.words.size(),
                      *most));
  }

  // Choices under one version number, and those that come with another.
  void layout() {
    const Dialect& d = dump_.dialect;
    const format::VisibleChoices visible = format::visible_choices(dump_.state);
    if (session() && d.outputs != era().outputs)
      add("outputs",
          d.outputs ? "it holds outputs, which the loader takes for cells"
                    : "it holds no outputs, which the loader expects",
          "");
    if (visible.caches && d.streams != era().streams)
      add("streams",
          d.streams ? "its caches begin with a stream count, which the loader takes for "
                      "the number of cells"
                    : "its caches have no stream count, which the loader expects",
          "");
    if (!visible.cells) return;
    if (!session() && d.sequence_ids != era().sequence_ids)
      add("n_seq",
          d.sequence_ids ? "its cells name their sequence, which the loader refuses"
                         : "its cells name no sequence, which the loader expects",
          "invalid seq_id-agnostic kv cell");
    if (d.rotation != era().rotation_words)
      add("rotation_words",
          d.rotation ? "it has rotation words, which the loader does not know"
                     : "it has no rotation words, which the loader expects",
          "");
    extension();
  }

  void extension() {
    const CellExtension mine =
        target_.model->needs_extension.value_or(dump_.dialect.extension != CellExtension::none)
            ? era().extension
            : CellExtension::none;
    if (dump_.dialect.extension == mine) return;
    const auto bytes = [](CellExtension e) {
      return e == CellExtension::none ? 0 : e == CellExtension::xy ? 8 : 12;
    };
    add("extension",
        fmt::format("its cells carry {} more bytes (x, y, token), the loader reads {}",
                    bytes(dump_.dialect.extension), bytes(mine)),
        "invalid seq_id-agnostic kv cell");
  }

  void memories() {
    const ModelShape seen = shape_of_dump(dump_);
    const ModelShape& mine = *target_.model;
    if (seen.caches.size() != mine.caches.size() ||
        seen.recurrent.has_value() != mine.recurrent.has_value()) {
      add("memories",
          fmt::format("its memories are \"{}\", the target's \"{}\"", seen.arrangement,
                      mine.arrangement),
          "");
      return;
    }
    std::size_t cache = 0;
    for (std::size_t m = 0; m < dump_.state.memories.size(); ++m) {
      const Memory& memory = dump_.state.memories[m];
      where_ = fmt::format("memory {}", m);
      if (memory.kind == MemoryKind::attention) {
        attention(memory, mine.caches[cache], cache);
        ++cache;
      }
      if (memory.kind == MemoryKind::recurrent) recurrent(memory, *seen.recurrent, *mine.recurrent);
    }
    where_.clear();
  }

  void attention(const Memory& memory, const CacheShape& mine, std::size_t number) {
    const auto streams = target_.streams();
    if (dump_.dialect.streams && era().streams && streams && memory.streams.size() != *streams)
      add("n_stream",
          fmt::format("it has {} streams, the target has {}", memory.streams.size(), *streams),
          "n_stream mismatch");
    std::set<std::string> seen;
    for (const Stream& stream : memory.streams)
      if (!stream.cells.empty()) attention_stream(stream, mine, number, seen);
  }

  // Adds a reason of a kind once a memory.
  void once(std::set<std::string>& seen, const char* code, std::string message, std::string log) {
    if (seen.insert(code).second) add(code, std::move(message), std::move(log));
  }

  void attention_stream(const Stream& stream, const CacheShape& mine, std::size_t number,
                        std::set<std::string>& seen) {
    const auto room = capacity(target_, mine);
    if (room && stream.cells.size() > *room)
      once(seen, "cells",
           fmt::format("it has {} cells, the cache has room for {}", stream.cells.size(), *room),
           "not enough cells in kv cache");
    sequences(stream, seen);
    if (mine.known && stream.layers.size() != mine.layers.size())
      once(seen, "n_layer",
           fmt::format("the cache has {} layers, the target's {}", stream.layers.size(),
                       mine.layers.size()),
           fmt::format("mismatched layer count ({} instead of {})", stream.layers.size(),
                       mine.layers.size()));
    const auto on = target_.flash_attention;
    if (on && stream.v_transposed != (*on ? 0U : 1U))
      once(seen, "v_trans",
           *on ? "V is transposed, the target wants rows (flash attention on)"
               : "V lies in rows, the target wants it transposed (flash attention off)",
           "incompatible V transposition");
    rotation(stream, number, seen);
    const std::size_t layers = std::min(stream.layers.size(), mine.layers.size());
    for (std::size_t l = 0; l < layers; ++l) tensors(stream.layers[l], mine.layers[l], l, seen);
  }

  void sequences(const Stream& stream, std::set<std::string>& seen) {
    if (!session() || !target_.parallel) return;
    for (std::size_t c = 0; c < stream.cells.size(); ++c)
      for (const SequenceId id : stream.cells.sequences(c))
        if (static_cast<std::uint32_t>(id) >= *target_.parallel)
          once(seen, "seq_id",
               fmt::format("a cell is of sequence {}, the target has {} sequences", id,
                           *target_.parallel),
               fmt::format("invalid seq_id, {} is out of range", id));
  }

  void rotation(const Stream& stream, std::size_t number, std::set<std::string>& seen) {
    const auto mine = target_.rotation_of(number);
    if (!dump_.dialect.rotation || !era().rotation_words || !mine) return;
    const auto differs = [&](const char* code, const char* what, const char* word,
                             std::uint32_t found, std::uint32_t wanted) {
      if (found != wanted)
        once(seen, code,
             fmt::format("{} is rotated in blocks of {}, the target's in {} (0: not)", what, found,
                         wanted),
             fmt::format("incompatible {} rotation ({} instead of {})", word, found, wanted));
    };
    differs("rot_k", "K", "key", stream.rot_k, mine->first);
    differs("rot_v", "V", "value", stream.rot_v, mine->second);
  }

  void tensors(const Layer& layer, const LayerShape& mine, std::size_t l,
               std::set<std::string>& seen) {
    side(layer.k, mine.k_width, target_.type_k, "k", "K", "key", l, seen);
    if ((layer.v.orientation == Orientation::absent) != (mine.v_width == 0))
      once(seen, "v_stored",
           mine.v_width == 0 ? "it stores V, the target's caches have none"
                             : "it stores no V, the target's caches have one",
           "");
    else if (mine.v_width != 0)
      side(layer.v, mine.v_width, target_.type_v, "v", "V", "value", l, seen);
  }

  void side(const Tensor& tensor, std::uint64_t width, std::optional<ElementType> type,
            const char* code, const char* name, const char* word, std::size_t l,
            std::set<std::string>& seen) {
    const ElementType mine = type.value_or(tensor.type);
    if (tensor.type != mine)
      return once(seen, fmt::format("{}_type", code).c_str(),
                  fmt::format("{} is {}, the target has {}", name, info(tensor.type).name,
                              info(mine).name),
                  fmt::format("mismatched {} type ({} != {}, layer {})", word,
                              static_cast<int>(mine), static_cast<int>(tensor.type), l));
    const bool columns = tensor.orientation == Orientation::transposed;
    const std::uint64_t found = columns ? tensor.width : tensor.row_bytes;
    const std::uint64_t wanted = columns ? width : row_bytes(mine, width);
    if (found != wanted)
      once(seen, fmt::format("{}_row", code).c_str(),
           fmt::format("{} of layer {} has {} {}, the target's {}", name, l, found,
                       columns ? "channels" : "bytes a row", wanted),
           fmt::format("mismatched {} ({} != {}, layer {})",
                       columns ? std::string("GQA embedding size")
                               : fmt::format("{} row size", word),
                       wanted, found, l));
  }

  void recurrent(const Memory& memory, const RecurrentStateShape& seen,
                 const RecurrentStateShape& mine) {
    const std::size_t cells = memory.streams.front().cells.size();
    if (target_.parallel && cells > *target_.parallel)
      add("cells",
          fmt::format("it has {} states, the target room for {}", cells, *target_.parallel),
          "not enough cells in kv cache");
    if (seen.model_layers != mine.model_layers)
      add("n_layer",
          fmt::format("it is of a model of {} layers, the target's has {}", seen.model_layers,
                      mine.model_layers),
          fmt::format("mismatched layer count ({} instead of {})", seen.model_layers,
                      mine.model_layers));
    if (seen.stored_layers != mine.stored_layers)
      add("r_layers",
          fmt::format("{} layers have a state, in the target {}", seen.stored_layers,
                      mine.stored_layers),
          "");
    if (seen.r_row_bytes != mine.r_row_bytes)
      add("r_row",
          fmt::format("R has {} bytes a row, the target's {}", seen.r_row_bytes, mine.r_row_bytes),
          fmt::format("mismatched r row size ({} != {}, layer 0)", mine.r_row_bytes,
                      seen.r_row_bytes));
    if (seen.s_row_bytes != mine.s_row_bytes)
      add("s_row",
          fmt::format("S has {} bytes a row, the target's {}", seen.s_row_bytes, mine.s_row_bytes),
          fmt::format("mismatched s row size ({} != {}, layer 0)", mine.s_row_bytes,
                      seen.s_row_bytes));
    if (seen.ple_row_bytes != mine.ple_row_bytes)
      add("ple_row",
          fmt::format("the PLE row has {} bytes, the target's {}", seen.ple_row_bytes,
                      mine.ple_row_bytes),
          "mismatched ple row size");
  }

  const Dump& dump_;
  const Target& target_;
  std::string where_;
  std::vector<Reason> reasons_;
};

}  // namespace

std::vector<Reason> differences(const Dump& dump, const Target& target) {
  return Comparison(dump, target).run();
}

}  // namespace kvtool::target
