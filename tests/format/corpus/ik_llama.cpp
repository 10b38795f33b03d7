// Sidecars of ik_llama.cpp's llama-server and llama-cli: command line, ids, and for sessions what an
// independent reader found in the words.
#include <algorithm>
#include <numeric>

#include "format/corpus/sidecar.h"

namespace kvtool::test {
namespace {

std::string option(const Json& command, const std::string& name, const std::string& otherwise) {
  for (std::size_t i = 0; i + 1 < command.size(); ++i)
    if (command[i] == name) return command[i + 1];
  return otherwise;
}

bool has_option(const Json& command, const std::string& name) {
  return std::find(command.begin(), command.end(), Json(name)) != command.end();
}

// deepseek2 keeps V only with -mla 0; everything else always does.
bool keeps_v(const Json& json) {
  if (json["model"].get<std::string>().rfind("deepseek2", 0) != 0) return true;
  return option(json["command"], "-mla", "3") == "0";
}

const Stream& cache_of(const Dump& dump) { return dump.state.memories.front().streams.front(); }

void compare_layer(const Layer& layer, const Json& json, Ledger& ledger) {
  const bool has_v = layer.v.orientation != Orientation::absent;
  ledger.equal("has_v", keeps_v(json), has_v);
  ledger.equal("k_type", option(json["command"], "-ctk", "f16"),
               std::string(info(layer.k.type).name));
  if (!has_v) return;
  ledger.equal("v_type", option(json["command"], "-ctv", "f16"),
               std::string(info(layer.v.type).name));
  const bool hybrid = json["model"] == "qwen35.gguf";  // keeps V in rows, whatever is asked for
  ledger.equal("v_trans", has_option(json["command"], "-no-fa") && !hybrid,
               layer.v.orientation == Orientation::transposed);
}

// Every second layer of qwen35 is recurrent and has no cache; all other models have only caches.
void compare_layers(const Dump& dump, const Json& json, Ledger& ledger) {
  const bool hybrid = json["model"] == "qwen35.gguf";
  ledger.equal("hybrid", hybrid, dump.state.memories.size() == 2);
  std::size_t caches = 0;
  for (const Layer& layer : cache_of(dump).layers) {
    if (layer.k.orientation == Orientation::absent) continue;
    ++caches;
    compare_layer(layer, json, ledger);
  }
  ledger.equal("cache_layers", cache_of(dump).layers.size() / (hybrid ? 2 : 1), caches);
  if (!hybrid) return;
  const Stream& states = dump.state.memories.back().streams.front();
  ledger.equal<std::size_t>("state_rows", 1, states.cells.size());
  for (const Layer& layer : states.layers)
    if (layer.v.orientation != Orientation::absent)
      ledger.equal<std::uint64_t>("s_row", 35840, layer.v.row_bytes);
}

void compare_slot(const Dump& dump, const Json& json, Ledger& ledger) {
  const auto tokens = json["tokens"].get<std::vector<int>>();
  ledger.equal("tokens", tokens, dump.tokens.ids);
  const Json& body = json["save"]["response"]["body"];
  ledger.equal("n_saved", body["n_saved"].get<std::size_t>(), dump.tokens.ids.size());
  const CellTable& cells = cache_of(dump).cells;
  // qwen35 has decoded the last id too
  ledger.require("cell_count", cells.size() == tokens.size() || cells.size() == tokens.size() + 1,
                 std::to_string(cells.size()));
  for (std::size_t c = 0; c < cells.size(); ++c)
    ledger.equal("pos", static_cast<Position>(c), cells.position(c));
  compare_layers(dump, json, ledger);
}

void compare_words(const Dump& dump, const Json& layout, Ledger& ledger) {
  const Stream& cache = cache_of(dump);
  ledger.equal("version", layout["version"].get<std::uint32_t>(), dump.dialect.version);
  ledger.equal("n_token", layout["tokens"].get<std::size_t>(), dump.tokens.words.size());
  ledger.equal("arch", layout["arch"].get<std::string>(), dump.arch.value_or(""));
  ledger.equal("rng_size", layout["rng bytes"].get<std::uint64_t>(), dump.rng.size);
  ledger.equal("n_outputs", layout["n_outputs"].get<std::uint64_t>(), dump.outputs.ids.size / 4);
  ledger.equal("n_logits", layout["n_logits"].get<std::uint64_t>(), dump.outputs.logits.size / 4);
  ledger.equal("cells", layout["cells"].get<std::size_t>(), cache.cells.size());
  ledger.equal("layers", layout["layers"].get<std::size_t>(), cache.layers.size());
  ledger.equal("transposed", layout["v_state"] == 1, cache.v_transposed == 1);
  for (std::size_t c = 0; c < cache.cells.size(); ++c)
    ledger.equal<std::size_t>("n_seq", layout["n_seq"][0], cache.cells.sequences(c).size());
  for (const Layer& layer : cache.layers)
    ledger.equal("no_v", layout["v_state"] == 2, layer.v.orientation == Orientation::absent);
}

}  // namespace

void compare_ik_llama(const Dump& dump, const Json& json, Ledger& ledger) {
  ledger.require("family", dump.dialect.family == kvtool::Family::ik_llama, dump.layout);
  if (json.contains("layout")) return compare_words(dump, json["layout"], ledger);
  compare_slot(dump, json, ledger);
}

}  // namespace kvtool::test
