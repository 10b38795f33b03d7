#include "format/state.h"

#include <algorithm>
#include <utility>

#include "format/deepseek4.h"
#include "format/ik_llama.h"
#include "kvtool/open.h"

namespace kvtool::format {
namespace {

using Specs = std::vector<const ArrangementSpec*>;

// A memory that reads, with the reader behind it.
struct MemoryReading {
  Memory memory;
  Reader end;
};

// Walks the tree of arrangements: parts that several of them begin with are read once.
class StateExplorer {
 public:
  StateExplorer(const Dialect& dialect, const std::string& attempt, Furthest& furthest)
      : dialect_(dialect), attempt_(attempt), furthest_(furthest) {}

  std::vector<StateReading> run(const Reader& io, std::string_view only) {
    Specs all;
    for (const ArrangementSpec& spec : arrangement_specs())
      if ((!spec.parts.empty() || dialect_.container != Container::slot) &&
          (only.empty() || spec.name == only))
        all.push_back(&spec);
    explore(io, {}, all);
    return std::move(found_);
  }

 private:
  void explore(const Reader& io, const std::vector<Memory>& before, const Specs& open) {
    std::vector<Part> tried;
    for (const ArrangementSpec* spec : open) {
      if (spec->parts.size() == before.size()) {
        accept(io, before, *spec);
        continue;
      }
      const Part part = spec->parts[before.size()].part;
      if (std::find(tried.begin(), tried.end(), part) != tried.end()) continue;
      tried.push_back(part);
      descend(io, before, open, part, *spec);
    }
  }

  void descend(const Reader& io, const std::vector<Memory>& before, const Specs& open, Part part,
               const ArrangementSpec& example) {
    Specs deeper;
    for (const ArrangementSpec* spec : open)
      if (spec->parts.size() > before.size() && spec->parts[before.size()].part == part)
        deeper.push_back(spec);
    for (MemoryReading& reading : read_part(io, part, before.size(), example)) {
      std::vector<Memory> memories = before;
      memories.push_back(std::move(reading.memory));
      explore(reading.end, memories, deeper);
    }
  }

  void accept(const Reader& io, const std::vector<Memory>& memories, const ArrangementSpec& spec) {
    State state;
    state.arrangement = spec.name;
    state.memories = memories;
    for (std::size_t m = 0; m < memories.size(); ++m)
      state.memories[m].role = spec.parts[m].role;
    found_.push_back({std::move(state), io});
  }

  // One reading, or none with the reason noted. `read` fills a memory from a reader.
  template <class Read>
  void attempt(std::vector<MemoryReading>& readings, const Reader& io, std::size_t index,
               const ArrangementSpec& example, Read&& read) {
    Reader ahead(io);
    if (index > 0) ahead.set_skims_cells(false);  // how far a window reaches is worth reading
    const Scope in = ahead.scope("memory", index);
    try {
      Memory memory = read(ahead);
      ahead.set_skims_cells(io.skims_cells());
      readings.push_back({std::move(memory), ahead});
    } catch (const Error& error) {
      furthest_.note(error, attempt_ + "/" + example.name, ahead.progress());
    }
  }

  std::vector<MemoryReading> read_part(const Reader& io, Part part, std::size_t index,
                                       const ArrangementSpec& example) {
    std::vector<MemoryReading> readings;
    auto try_to = [&](auto&& read) { attempt(readings, io, index, example, read); };
    switch (part) {
      case Part::attention_k_only:
        if (!dialect_.streams) break;  // caches without V are younger than stream counts
        [[fallthrough]];
      case Part::attention:
        try_to([&](Reader& r) { return read_attention(r, part == Part::attention); });
        break;
      case Part::recurrent:
        for (const RecurrentShape& shape : shapes(io, index, example))
          try_to([&](Reader& r) { return read_recurrent(r, shape); });
        break;
      case Part::deepseek4_head:
        try_to([](Reader& r) { return deepseek4_head(r, DeepSeek4Mode::full); });
        break;
      case Part::deepseek4_part_head:
        try_to([](Reader& r) { return deepseek4_head(r, DeepSeek4Mode::partial); });
        break;
      case Part::deepseek4_body:
        try_to([](Reader& r) { return deepseek4_body(r); });
        if (readings.empty()) try_to([](Reader& r) { return unknown_body(r); });
        break;
    }
    return readings;
  }

  Memory read_attention(Reader& io, bool has_v) const {
    Memory memory;
    attention(io, memory, dialect_, has_v);
    return memory;
  }

  Memory read_recurrent(Reader& io, const RecurrentShape& shape) const {
    Memory memory;
    memory.kind = MemoryKind::recurrent;
    recurrent(io, memory, dialect_, shape);
    return memory;
  }

  std::vector<RecurrentShape> shapes(const Reader& io, std::size_t index,
                                     const ArrangementSpec& example) {
    Reader ahead = io;
    const Scope in = ahead.scope("memory", index);
    try {
      return scan_recurrent(ahead, dialect_);
    } catch (const Error& error) {
      furthest_.note(error, attempt_ + "/" + example.name, io.progress());
      return {};
    }
  }

  const Dialect& dialect_;
  const std::string& attempt_;
  Furthest& furthest_;
  std::vector<StateReading> found_;
};

}  // namespace

const std::vector<ArrangementSpec>& arrangement_specs() {
  using enum Part;
  static const std::vector<ArrangementSpec> specs = {
      {"none", "models without a memory (BERT, diffusion)", {}},
      {"kv", "llama, qwen and most others", {{attention, "main"}}},
      {"mla", "deepseek2 with MLA", {{attention_k_only, "main"}}},
      {"recurrent", "mamba, rwkv", {{recurrent, "recurrent"}}},
      {"iswa", "gemma3, gpt-oss; minimax-m3 (base and index cache)",
       {{attention, "base"}, {attention, "window"}}},
      {"hybrid", "jamba, lfm2, qwen3next, falcon-h1", {{attention, "main"}, {recurrent, "recurrent"}}},
      {"hybrid-mla", "kimi-linear", {{attention_k_only, "main"}, {recurrent, "recurrent"}}},
      {"hybrid-iswa", "lfm2 with a window",
       {{attention, "base"}, {attention, "window"}, {recurrent, "recurrent"}}},
      {"dsa", "deepseek32, glm-dsa, hy-v4", {{attention_k_only, "main"}, {attention_k_only, "index"}}},
      {"dsa-iswa", "dots3note",
       {{attention_k_only, "main"}, {attention_k_only, "index"}, {attention, "window"}}},
      {"hybrid-idx", "qwen4exp since late September 2026",
       {{attention, "main"}, {recurrent, "recurrent"}, {attention_k_only, "index"}}},
      {"hybrid-idx-v", "qwen4exp of early September 2026",
       {{attention, "main"}, {recurrent, "recurrent"}, {attention, "index"}}},
      {"dsv4", "deepseek4",
       {{deepseek4_head, "head"}, {attention, "base"}, {attention, "window"},
        {deepseek4_body, "compressed"}}},
      {"dsv4-partial", "deepseek4, checkpoint",
       {{deepseek4_part_head, "head"}, {attention, "base"}, {attention, "window"}}},
  };
  return specs;
}

bool stores_v(const Memory& memory) {
  auto has_v = [](const Layer& layer) { return layer.v.orientation != Orientation::absent; };
  return std::any_of(memory.streams.begin(), memory.streams.end(), [&](const Stream& stream) {
    return std::any_of(stream.layers.begin(), stream.layers.end(), has_v);
  });
}

bool Furthest::is_further(std::uint64_t progress, std::uint64_t offset, bool whole) const {
  // A few words can be read as almost anything, so a likelier attempt is not displaced by those.
  constexpr std::uint64_t margin = 16;
  if (progress != progress_) return progress > progress_;
  return whole ? offset >= offset_ : offset > offset_ + margin;
}

void Furthest::note(const Error& error, const std::string& attempt, std::uint64_t progress,
                    bool whole) {
  const std::uint64_t offset = error.place() ? error.place()->offset : 0;
  if (error_ && !is_further(progress, offset, whole)) return;
  progress_ = progress;
  offset_ = offset;
  error_ = error;
  attempt_ = attempt;
}

std::vector<StateReading> read_states(const Reader& io, const Dialect& dialect,
                                      const std::string& attempt, Furthest& furthest,
                                      std::string_view only) {
  if (dialect.family == Family::ik_llama) return read_ik_state(io, dialect, attempt, furthest);
  return StateExplorer(dialect, attempt, furthest).run(io, only);
}

}  // namespace kvtool::format

namespace kvtool {

const std::vector<Arrangement>& arrangements() {
  static const std::vector<Arrangement> all = [] {
    std::vector<Arrangement> list;
    for (const auto& spec : format::arrangement_specs()) {
      Arrangement item{spec.name, {}, spec.models};
      for (const auto& part : spec.parts) item.roles.emplace_back(part.role);
      list.push_back(std::move(item));
    }
    return list;
  }();
  return all;
}

}  // namespace kvtool
