#include "cli/inspect_text.h"

#include <algorithm>
#include <vector>

#include "cli/companions.h"
#include "cli/summary.h"
#include "kvtool/check.h"
#include "kvtool/facts.h"
#include "kvtool/map.h"
#include "kvtool/pack.h"
#include "kvtool/rotation_evidence.h"

namespace kvtool::cli {
namespace {

// A paragraph whose first line carries its title.
class Paragraph {
 public:
  Paragraph(Printer& out, std::string title) : out_(out), title_(std::move(title)) {}
  void line(const std::string& text) {
    out_.line("{:<12}{}", title_, text);
    title_.clear();
  }

 private:
  Printer& out_;
  std::string title_;
};

const char* years_of_ik_llama(const Dialect& dialect) {
  if (dialect.index_word) return "July 2026 on";
  return dialect.state_word ? "February to July 2026" : "March 2025 to February 2026";
}

// The builds of the header struct say more than the version.
const char* years_of_old(const Dialect& dialect) {
  switch (dialect.body) {
    case Body::pool: return "April to May 2023";
    case Body::k_then_v: return "May to October 2023";
    case Body::cells: return "October to December 2023";
    case Body::by_layer: return "December 2023 to January 2024";
    case Body::lean: return "January to March 2024";
    case Body::output_ids: return "March to April 2024";
    case Body::v_flag: return dialect.version == 6 ? "April to July 2024" : "July 2024";
    case Body::typed_slot: return "April to July 2024";
    case Body::current: break;
  }
  return "";
}

// When llama.cpp wrote a version of the session or slot format.
const char* years_of(const Dialect& dialect) {
  if (dialect.family == Family::ik_llama) return years_of_ik_llama(dialect);
  if (dialect.body != Body::current) return years_of_old(dialect);
  const std::uint32_t steps =
      dialect.container == Container::session ? 11 - dialect.version : 4 - dialect.version;
  if (steps == 0) return "October 2026 on";
  if (steps == 1) return "August to October 2026";
  if (dialect.container == Container::slot) return "July 2024 to August 2026";
  return steps == 2 ? "September 2024 to August 2026" : "July to September 2024";
}

std::string container_words(const Dialect& d) {
  switch (d.container) {
    case Container::session: return fmt::format("session, ggsn {} ({})", d.version, years_of(d));
    case Container::slot: return fmt::format("slot file, ggsq {} ({})", d.version, years_of(d));
    case Container::state: return "state of a whole context, without a header";
    case Container::sequence_state: return "state of one sequence, without a header";
  }
  return {};
}

std::string size_words(std::uint64_t bytes) {
  if (bytes < 1024) return counted(bytes, "byte");
  return fmt::format("{} ({} bytes)", human_bytes(bytes), bytes);
}

// How a packed file is kept, and what that saves.
std::string packing_words(const Packing& packing, std::uint64_t size) {
  std::string words = fmt::format("{}, {} on disk", name_of(packing.form),
                                  size_words(packing.packed_size));
  if (packing.packed_size > 0)
    words += fmt::format(", {:.2f}x", static_cast<double>(size) /
                                          static_cast<double>(packing.packed_size));
  if (!packing.base_name.empty())
    words += fmt::format(", differences from {}", printable(packing.base_name));
  return words;
}

void print_head(const Dump& dump, Printer& out) {
  out.line("{}: {} {}, {}", dump.source->name(), name_of(dump.dialect.family),
           container_words(dump.dialect), size_words(dump.source->size()));
  if (const auto packing = packing_of(*dump.source))
    Paragraph(out, "packed").line(packing_words(*packing, dump.source->size()));
  Paragraph layout(out, "layout");
  layout.line(dump.layout);
  for (const std::string& reason : dump.why) layout.line("  " + reason);
  for (const std::string& note : dump.notes) layout.line("  note: " + note);
  if (dump.arch) Paragraph(out, "arch").line(*dump.arch);
  Paragraph beside(out, "beside");
  for (const std::string& path : companions_of(dump)) beside.line(path + " belongs to it");
}

void print_tokens(const Dump& dump, Printer& out) {
  const TokenArea& tokens = dump.tokens;
  if (kind_of(dump) == "state") return;
  Paragraph p(out, "tokens");
  p.line(tokens.form == TokenForm::plain
             ? counted(tokens.ids.size(), "id")
             : fmt::format("{} in a payload of {} words (llama-server, August 2026 on)",
                           counted(tokens.ids.size(), "id"), tokens.words.size()));
  for (const MediaSpan& span : tokens.media)
    p.line(fmt::format("  {} at {}: {}, {}, id {}", span.kind, span.start,
                       counted(span.tokens, "token"), counted(span.positions, "position"),
                       span.id.empty() ? "(none)" : printable(span.id)));
}

// "K 64 f16 (128 bytes)": how many values of which type a cell has.
std::string tensor_words(char name, const Tensor& tensor) {
  if (tensor.orientation == Orientation::absent) return fmt::format("no {}", name);
  if (tensor.cell_bytes() == 0) return fmt::format("{} empty", name);
  return fmt::format("{} {} {} ({} bytes)", name, tensor.cell_elements(), info(tensor.type).name,
                     tensor.cell_bytes());
}

std::string layer_words(const Memory& memory, const Layer& layer) {
  const bool recurrent = memory.kind == MemoryKind::recurrent;
  std::string words = fmt::format("{}, {}", tensor_words(recurrent ? 'R' : 'K', layer.k),
                                  tensor_words(recurrent ? 'S' : 'V', layer.v));
  if (layer.ple.orientation != Orientation::absent)
    words += fmt::format(", PLE ({} bytes)", layer.ple.row_bytes);
  return words;
}

// Layers of one shape are told together.
void print_layers(const Memory& memory, Paragraph& p) {
  const Stream* stream = stream_with_layers(memory);
  if (stream == nullptr) return;
  for (std::size_t l = 0, end = 0; l < stream->layers.size(); l = end) {
    const std::string words = layer_words(memory, stream->layers[l]);
    while (end < stream->layers.size() && layer_words(memory, stream->layers[end]) == words) ++end;
    p.line(end - l == 1 ? fmt::format("  layer {}, each cell: {}", l, words)
                        : fmt::format("  layers {} to {}, each cell: {}", l, end - 1, words));
  }
}

std::string sequence_words(const SequenceFacts& facts, bool recurrent) {
  std::string words = facts.id ? fmt::format("sequence {}: ", *facts.id) : "sequence: ";
  if (recurrent) return words + fmt::format("state after position {}", facts.pos_max);
  words += fmt::format("{}, positions {} to {}, {}", counted(facts.cells, "cell"), facts.pos_min,
                       facts.pos_max, counted(facts.runs, "run"));
  if (facts.holes > 0)
    words += fmt::format(", {} missing in {}", counted(facts.holes, "position"),
                         counted(facts.missing.size(), "hole"));
  if (facts.duplicates > 0) words += fmt::format(", {} at a taken position", facts.duplicates);
  return words;
}

void print_streams(const Memory& memory, bool one_sequence, Paragraph& p) {
  const bool recurrent = memory.kind == MemoryKind::recurrent;
  for (std::size_t s = 0; s < memory.streams.size(); ++s) {
    const Stream& stream = memory.streams[s];
    if (memory.streams.size() > 1)
      p.line(fmt::format("  stream {}: {}", s, counted(stream.cells.size(), "cell")));
    if (!stream.beyond.empty())
      p.line(fmt::format("  and {} listed without K and V", counted(stream.beyond.size(), "cell")));
    for (const SequenceFacts& facts : sequences_of(stream, one_sequence))
      p.line(fmt::format("  {}{}", memory.streams.size() > 1 ? "  " : "",
                         sequence_words(facts, recurrent)));
  }
}

// ik_llama.cpp lists all layers of the model, most memories only those that they hold.
std::size_t layers_with_state(const Stream& stream) {
  return static_cast<std::size_t>(
      std::count_if(stream.layers.begin(), stream.layers.end(), [](const Layer& layer) {
        return layer.k.orientation != Orientation::absent ||
               layer.v.orientation != Orientation::absent;
      }));
}

std::string memory_words(const Memory& memory, const Dialect& dialect) {
  const std::string kind = name_of(memory.kind);
  std::string words = memory.role == kind ? kind : fmt::format("{}: {}", memory.role, kind);
  if (memory.kind == MemoryKind::verbatim) return words + " (carried, not interpreted)";
  words += fmt::format(", {}", counted(cells_of(memory), "cell"));
  if (const Stream* shape = stream_with_layers(memory); shape != nullptr && memory.model_layers > 0)
    words += fmt::format(", {} of {} layers have a state", layers_with_state(*shape),
                         memory.model_layers);
  const std::string v = v_layout_of(memory);
  if (memory.kind == MemoryKind::attention && v != "none")
    words += v == "absent" ? ", no V" : fmt::format(", V {}", v == "rows" ? "in rows" : v);
  if (const auto r = rotation_of(memory, dialect))
    words += r->k == 0 && r->v == 0 ? ", not rotated"
                                    : fmt::format(", rotated (K {}, V {})", r->k, r->v);
  return words;
}

void print_state(const State& state, const Dialect& dialect, bool one_sequence, const char* title,
                 Printer& out) {
  for (std::size_t m = 0; m < state.memories.size(); ++m) {
    const Memory& memory = state.memories[m];
    Paragraph p(out, fmt::format("{} {}", title, m));
    p.line(memory_words(memory, dialect));
    print_layers(memory, p);
    print_streams(memory, one_sequence, p);
    for (const Block& block : memory.blocks)
      p.line(fmt::format("  {}: {} bytes", block.label, block.extent.size));
  }
}

std::string blob_words(const Blob& blob) {
  std::string words = human_bytes(blob.extent.size);
  if (!blob.problem.empty()) return words + ", does not read: " + blob.problem;
  if (!blob.state) return words;
  for (const Memory& memory : blob.state->memories)
    words += fmt::format(", {} of {}", name_of(memory.kind), counted(cells_of(memory), "cell"));
  return words;
}

void print_tail(const Tail& tail, Printer& out) {
  Paragraph p(out, "tail");
  for (std::size_t i = 0; i < tail.checkpoints.size(); ++i) {
    const Checkpoint& c = tail.checkpoints[i];
    p.line(fmt::format("checkpoint {}: {}, positions {} to {}, {}", i, counted(c.tokens, "token"),
                       c.pos_min, c.pos_max, blob_words(c.target)));
    if (c.draft.extent.size > 0) p.line("  draft model: " + blob_words(c.draft));
    if (c.speculation.extent.size > 0) p.line("  speculation: " + blob_words(c.speculation));
  }
  if (tail.has_draft) p.line("draft model: " + blob_words(tail.draft));
  if (tail.trailing.size > 0)
    p.line(fmt::format("{} unknown bytes at {}", tail.trailing.size, tail.trailing.offset));
}

// Only of caches whose rotation the file does not tell. Of a packed file no more is unpacked than
// the metadata, so its values are not looked at.
void print_rotation(const Dump& dump, Printer& out) {
  if (packing_of(*dump.source)) return;
  Paragraph p(out, "rotation");
  for (const CacheEvidence& evidence : rotation_evidence(dump))
    p.line(fmt::format("memory {}: not in the file; {}", evidence.memory, words_of(evidence)));
}

void print_bytes(const Dump& dump, Printer& out) {
  Paragraph p(out, "bytes");
  const ByteFigures figures = byte_figures(dump);
  p.line(fmt::format("{} fixed, {} for each cell", figures.fixed, figures.per_cell));
  for (const MapRange& range : sections_of(dump))
    p.line(fmt::format("  {:>12} {}", range.size, range.label));
}

void print_warnings(const Dump& dump, Printer& out) {
  Paragraph p(out, "warnings");
  for (const Finding& finding : check(dump))
    if (finding.severity != Severity::note)
      p.line(finding.where.empty() ? finding.message
                                   : fmt::format("{}: {}", finding.where, finding.message));
}

}  // namespace

void inspect_text(const Dump& dump, Printer& out) {
  print_head(dump, out);
  print_tokens(dump, out);
  print_state(dump.state, dump.dialect, holds_one_sequence(dump), "memory", out);
  print_rotation(dump, out);
  print_tail(dump.tail, out);
  print_bytes(dump, out);
  print_warnings(dump, out);
}

}  // namespace kvtool::cli
