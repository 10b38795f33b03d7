// Sidecars of the dumps of a trained model: counts, types, and runs of positions.
#include <algorithm>
#include <vector>

#include "format/corpus/sidecar.h"
#include "support/payload.h"

namespace kvtool::test {
namespace {

const Stream& only_stream(const Dump& dump) { return dump.state.memories.front().streams.front(); }

// Positions of one sequence in rising order.
std::vector<int> positions_of(const Stream& stream, SequenceId id) {
  std::vector<int> found;
  for (std::size_t i = 0; i < stream.cells.size(); ++i) {
    const auto ids = stream.cells.sequences(i);
    if (std::find(ids.begin(), ids.end(), id) != ids.end())
      found.push_back(stream.cells.position(i));
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<int> positions_in(const Json& ranges) {
  std::vector<int> expected;
  for (const Json& range : ranges)
    for (int at = range[0]; at <= range[1].get<int>(); ++at) expected.push_back(at);
  return expected;
}

void compare_sequences(const Dump& dump, const Json& json, Ledger& ledger) {
  const Stream& stream = only_stream(dump);
  for (const auto& [id, sequence] : json["sequences"].items())
    ledger.equal("positions", positions_in(sequence["pos_ranges"]),
                 positions_of(stream, std::stoi(id)));
  if (!json["sequences"].contains("0")) return;
  const std::vector<int> tokens = json["sequences"]["0"]["tokens"];
  ledger.equal("tokens", tokens, dump.tokens.words);
  std::size_t shared = 0;
  for (std::size_t i = 0; i < stream.cells.size(); ++i)
    shared += stream.cells.sequences(i).size() > 1 ? 1 : 0;
  ledger.equal("shared_cells", json["shared_cells"].get<std::size_t>(), shared);
}

}  // namespace

void compare_trained(const Dump& dump, const Json& json, Ledger& ledger) {
  const Stream& stream = only_stream(dump);
  ledger.equal("version", json["version"].get<std::uint32_t>(), dump.dialect.version);
  ledger.equal("size", json["bytes"].get<std::uint64_t>(), dump.source->size());
  ledger.equal("n_tokens", json["n_tokens"].get<std::size_t>(), dump.tokens.words.size());
  ledger.equal("cell_count", json["n_cells"].get<std::size_t>(), stream.cells.size());
  ledger.equal("layer_count", json["n_layer"].get<std::size_t>(), stream.layers.size());
  compare_types(dump, {json["type_k"], json["type_v"], json["v_trans"] == 1}, ledger);
  for (const Layer& layer : stream.layers) {
    ledger.equal("k_dim", json["k_dim"].get<std::uint64_t>(), dimension(layer.k));
    ledger.equal("v_dim", json["v_dim"].get<std::uint64_t>(), dimension(layer.v));
  }
  if (json.contains("sequences")) compare_sequences(dump, json, ledger);
}

}  // namespace kvtool::test
