// Sidecars of the driver of 2024: a CRC of the row of every cell in every layer.
#include <algorithm>
#include <string>
#include <vector>

#include "format/corpus/sidecar.h"
#include "support/crc32.h"
#include "support/payload.h"

namespace kvtool::test {
namespace {

void compare_prelude(const Dump& dump, const Json& json, Ledger& ledger) {
  const std::uint64_t size = dump.source->size();
  ledger.equal("size", json["file_size"].get<std::uint64_t>(), size);
  ledger.equal("file_crc", json["file_crc32"].get<std::uint32_t>(),
               crc32(read_extent(dump, 0, size)));
  ledger.equal("v_trans", json["v_trans_flag"].get<bool>(),
               dump.state.memories.front().streams.front().v_transposed != 0);
  if (dump.dialect.rng_text) {
    ledger.equal("rng_size", json["rng_text_len"].get<std::uint64_t>(), dump.rng.size);
    ledger.equal("rng_crc", json["rng_text_crc32"].get<std::uint32_t>(),
                 crc32(read_extent(dump, dump.rng.offset, dump.rng.size)));
  }
  compare_last_row(dump, dump.outputs.logits, json["n_vocab"], json["last_logits8"], "logits",
                   ledger);
  compare_last_row(dump, dump.outputs.embeddings, json["n_embd"],
                   json.value("last_embd8", Json()), "embeddings", ledger);
}

void compare_stamp(const Dump& dump, const Json& json, Ledger& ledger) {
  const auto format = json["format"].get<std::string>();
  if (format != "ggsn" && format != "ggsq") return;
  ledger.equal("version", json["version"].get<std::uint32_t>(), dump.dialect.version);
  ledger.equal("tokens", json["tokens"].get<std::vector<int>>(), dump.tokens.words);
}

// Cells in use, in the order of the cache.
std::vector<Json> used_cells(const Json& json) {
  std::vector<Json> cells;
  for (const Json& cell : json["cells"])
    if (cell["pos"].get<int>() >= 0 && !cell["seqs"].empty()) cells.push_back(cell);
  return cells;
}

void compare_types_of(const Dump& dump, const Json& json, Ledger& ledger) {
  if (json["recurrent"].get<bool>()) {
    ledger.require("recurrent", dump.state.arrangement == "recurrent", dump.layout);
    return;
  }
  compare_types(dump, {json["type_k"], json["type_v"], json["v_trans_flag"].get<bool>()}, ledger);
}

}  // namespace

void compare_history(const Dump& dump, const Json& json, Ledger& ledger) {
  compare_stamp(dump, json, ledger);
  compare_prelude(dump, json, ledger);
  compare_types_of(dump, json, ledger);
  const Stream& stream = dump.state.memories.front().streams.front();
  const std::vector<Json> cells = used_cells(json);
  ledger.equal("cell_count", cells.size(), stream.cells.size());
  const bool session = dump.arch.has_value();
  for (std::size_t i = 0; i < std::min(cells.size(), stream.cells.size()); ++i) {
    const auto ids = stream.cells.sequences(i);
    ledger.equal("pos", cells[i]["pos"].get<int>(), stream.cells.position(i));
    ledger.equal("seqs", session ? cells[i]["seqs"].get<std::vector<int>>() : std::vector<int>(),
                 {ids.begin(), ids.end()});
    compare_rows(dump, stream, i, cells[i], ledger);
  }
}

}  // namespace kvtool::test
