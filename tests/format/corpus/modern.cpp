// Sidecars of the drivers of 2025 and 2026: one entry a memory, with every used cell.
#include <algorithm>
#include <vector>

#include "format/corpus/sidecar.h"
#include "support/payload.h"

namespace kvtool::test {
namespace {

bool is_sequence(const Json& json) {
  const auto format = json["format"].get<std::string>();
  return format == "seq" || format.rfind("rawseq", 0) == 0;
}

Container container_of(const std::string& format) {
  if (format == "session") return Container::session;
  if (format == "seq") return Container::slot;
  return format == "raw" ? Container::state : Container::sequence_state;
}

void compare_header(const Dump& dump, const Json& json, Ledger& ledger) {
  const Container container = container_of(json["format"].get<std::string>());
  ledger.require("container", dump.dialect.container == container, dump.layout);
  ledger.equal("size", json["bytes"].get<std::uint64_t>(), dump.source->size());
  if (dump.arch) ledger.equal("arch", json["arch"].get<std::string>(), *dump.arch);
  if (container == Container::session || container == Container::slot) {
    const char* key = container == Container::session ? "session_version" : "seq_version";
    ledger.equal("version", json["source"][key].get<std::uint32_t>(), dump.dialect.version);
    ledger.equal("tokens", json["header_tokens"].get<std::vector<int>>(), dump.tokens.words);
  }
  if (json.contains("slot_tokens"))
    ledger.equal("slot_tokens", json["slot_tokens"].get<std::vector<int>>(), dump.tokens.ids);
  const auto n_vocab = json["n_vocab"].get<std::uint64_t>();
  const auto n_embd = json["n_embd"].get<std::uint64_t>();
  compare_last_row(dump, dump.outputs.logits, n_vocab, json["last_logits8"], "logits", ledger);
  compare_last_row(dump, dump.outputs.embeddings, n_embd, json["last_embd8"], "embeddings", ledger);
}

// The flag PARTIAL_ONLY leaves out what can be rewound, but only in models that have something
// which cannot.
std::vector<Json> parts_in_file(const Json& json) {
  std::vector<Json> all = json["memory"];
  if (json["format"] != "rawseq-partial") return all;
  std::vector<Json> kept;
  for (const Json& part : all)
    if (part["part"] == "swa" || part["part"] == "recr") kept.push_back(part);
  return kept.empty() ? all : kept;
}

// Newer builds leave cells out of sequence files that the window has left behind. The drivers mark
// such cells always, and note no values where the file cannot hold them.
bool left_behind(const Json& cell) {
  return cell.value("swa_masked", false) && !cell.contains("k0");
}

// Cells of a stream that the file holds: sequence files only those of their sequence.
std::vector<Json> cells_in_file(const Json& part, std::uint32_t stream, bool sequence) {
  std::vector<Json> cells;
  for (const Json& cell : part["cells"])
    if (cell["s"] == stream && (!sequence || (cell["in"].get<bool>() && !left_behind(cell))))
      cells.push_back(cell);
  return cells;
}

std::vector<SequenceId> expected_ids(const Dump& dump, const Memory& memory, const Json& cell,
                                     const Json& json) {
  if (!is_sequence(json)) return cell["seq"];
  if (memory.kind == MemoryKind::recurrent || !dump.dialect.sequence_ids) return {};
  return {json["seq_id"].get<SequenceId>()};
}

void compare_extra(const Json& expected, const CellExtra& found, CellExtension extension,
                   Ledger& ledger) {
  if (extension == CellExtension::none) return;
  ledger.equal("x", expected["x"].get<int>(), found.x);
  ledger.equal("y", expected["y"].get<int>(), found.y);
  if (extension == CellExtension::xy_token)
    ledger.equal("token", expected["tok"].get<int>(), found.token);
}

void compare_payload(const Dump& dump, const Stream& stream, std::size_t cell,
                     const Json& expected, Ledger& ledger) {
  if (stream.layers.empty()) return;
  const Layer& first = stream.layers.front();
  const Layer& last = stream.layers.back();
  auto values = [&](const char* key, const Tensor& tensor, const char* field) {
    if (expected.contains(key))
      compare_values(dump, stream, tensor, cell, expected[key], field, ledger);
  };
  values("k0", first.k, "k_values");
  values("v0", first.v, "v_values");
  values("k1", last.k, "k_values");
  values("v1", last.v, "v_values");
}

void compare_cells(const Dump& dump, const Memory& memory, const Stream& stream,
                   const std::vector<Json>& expected, const Json& json, Ledger& ledger) {
  ledger.equal("cell_count", expected.size(), stream.cells.size());
  for (std::size_t i = 0; i < std::min(expected.size(), stream.cells.size()); ++i) {
    const auto ids = stream.cells.sequences(i);
    ledger.equal("pos", expected[i]["pos"].get<int>(), stream.cells.position(i));
    ledger.equal("seqs", expected_ids(dump, memory, expected[i], json), {ids.begin(), ids.end()});
    compare_extra(expected[i], stream.cells.extra(i), stream.cells.extension(), ledger);
    compare_payload(dump, stream, i, expected[i], ledger);
  }
}

void compare_tensor(const Json& layer, const std::string& prefix, const std::string& field,
                    const Tensor& tensor, Ledger& ledger) {
  const std::string type_key = prefix + "_type";
  if (!layer.contains(type_key)) return;
  if (layer[type_key].is_null()) {
    ledger.require(field + "_absent", tensor.orientation == Orientation::absent, "is there");
    return;
  }
  ledger.equal(field + "_type", layer[type_key].get<std::string>(),
               std::string(info(tensor.type).name));
  ledger.equal(field + "_dim", layer[prefix + "_dim"].get<std::uint64_t>(), dimension(tensor));
  const std::string bytes_key = prefix + "_row_bytes";
  if (layer.contains(bytes_key))
    ledger.equal(field + "_row_bytes", layer[bytes_key].get<std::uint64_t>(), tensor.cell_bytes());
}

void compare_layer(const Json& expected, const Layer& layer, Ledger& ledger) {
  compare_tensor(expected, "k", "k", layer.k, ledger);
  compare_tensor(expected, "v", "v", layer.v, ledger);
  compare_tensor(expected, "r", "r", layer.k, ledger);
  compare_tensor(expected, "s", "s", layer.v, ledger);
  const std::uint64_t ple = expected.value("p_dim", std::uint64_t{0});
  ledger.equal("ple_row_bytes", ple * sizeof(float), layer.ple.row_bytes);
}

void compare_layers(const Json& part, const Stream& stream, Ledger& ledger) {
  const Json& layers = part["layers"];
  ledger.equal("layer_count", layers.size(), stream.layers.size());
  for (std::size_t l = 0; l < std::min(layers.size(), stream.layers.size()); ++l)
    compare_layer(layers[l], stream.layers[l], ledger);
  if (part.contains("v_trans") && !layers.empty())
    ledger.equal("v_trans", part["v_trans"].get<bool>(), stream.v_transposed != 0);
}

void compare_part(const Dump& dump, const Memory& memory, const Json& part, const Json& json,
                  Ledger& ledger) {
  const bool recurrent = part["part"] == "recr" || part["part"] == "recurrent";
  ledger.equal("memory_kind", recurrent, memory.kind == MemoryKind::recurrent);
  if (recurrent)
    ledger.equal("model_layers", json["n_layer"].get<std::uint32_t>(), memory.model_layers);
  ledger.equal("n_stream", part.value("n_stream", std::size_t{1}), memory.streams.size());
  for (std::uint32_t s = 0; s < memory.streams.size(); ++s) {
    const Stream& stream = memory.streams[s];
    compare_cells(dump, memory, stream, cells_in_file(part, s, is_sequence(json)), json, ledger);
    if (stream.cells.empty()) continue;
    compare_layers(part, stream, ledger);
    if (part.contains("cell_ext"))
      ledger.equal("extension", part["cell_ext"].get<bool>(),
                   stream.cells.extension() != CellExtension::none);
  }
}

}  // namespace

void compare_modern(const Dump& dump, const Json& json, Ledger& ledger) {
  compare_header(dump, json, ledger);
  const std::vector<Json> parts = parts_in_file(json);
  ledger.equal("memories", parts.size(), dump.state.memories.size());
  if (parts.size() != dump.state.memories.size()) return;
  for (std::size_t m = 0; m < parts.size(); ++m)
    compare_part(dump, dump.state.memories[m], parts[m], json, ledger);
}

void compare_client(const Dump& dump, const Json& json, Ledger& ledger) {
  ledger.equal("size", json["bytes"].get<std::uint64_t>(), dump.source->size());
  if (json.contains("header_tokens"))
    ledger.equal("tokens", json["header_tokens"].get<std::vector<int>>(), dump.tokens.words);
  if (json.contains("arch")) ledger.equal("arch", json["arch"].get<std::string>(), *dump.arch);
  if (!json.contains("client_prompt_tokens")) return;
  // The client knows its prompt; what was generated follows it in the file.
  const std::vector<int> prompt = json["client_prompt_tokens"];
  std::vector<int> found = dump.tokens.words;
  found.resize(std::min(prompt.size(), found.size()));
  ledger.equal("tokens", prompt, found);
}

}  // namespace kvtool::test
