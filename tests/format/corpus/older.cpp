// Sidecars of the driver for builds of before August 2024: what is different there.
#include <algorithm>
#include <string>
#include <vector>

#include "format/corpus/sidecar.h"
#include "support/crc32.h"
#include "support/payload.h"

namespace kvtool::test {
namespace {

bool is_slot(const Dump& dump) { return dump.dialect.body == Body::typed_slot; }

void compare_stamp(const Dump& dump, const Json& json, Ledger& ledger) {
  ledger.equal("size", json["file_size"].get<std::uint64_t>(), dump.source->size());
  ledger.equal("file_crc", json["file_crc32"].get<std::uint32_t>(),
               crc32(read_extent(dump, 0, dump.source->size())));
  const auto format = json["format"].get<std::string>();
  if (format != "ggsn" && format != "ggsq") return;
  ledger.equal("version", json["version"].get<std::uint32_t>(), dump.dialect.version);
  ledger.equal("tokens", json["tokens"].get<std::vector<int>>(), dump.tokens.words);
  if (format == "ggsq") return;
  ledger.equal("header_size", json["sizeof_hparams"].get<std::size_t>(), dump.header.size());
  ledger.equal("header", json["hparams_crc32"].get<std::uint32_t>(), crc32(dump.header));
}

// True when row `row` of logits or embeddings begins with the values of the sidecar.
bool begins_with(const Dump& dump, const Extent& extent, std::uint64_t row_bytes, std::uint64_t row,
                 const Json& expected) {
  const ByteVector bytes = read_extent(dump, extent.offset + row * row_bytes, row_bytes);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double value = expected[i].get<double>();
    if (std::abs(static_cast<double>(peek<float>(bytes, i * 4)) - value) > 1e-6 * std::abs(value))
      return false;
  }
  return true;
}

// Which row is that of the last token depends on the build, so it may be any.
void compare_some_row(const Dump& dump, const Extent& extent, std::uint64_t values,
                      const Json& expected, const char* field, Ledger& ledger) {
  const std::uint64_t row = values * sizeof(float);
  if (extent.size < row || !expected.is_array()) return;
  bool found = false;
  for (std::uint64_t r = 0; r < extent.size / row; ++r)
    found = found || begins_with(dump, extent, row, r, expected);
  ledger.require(field, found, "no row holds the values of the sidecar");
}

void compare_prelude(const Dump& dump, const Json& json, Ledger& ledger) {
  if (is_slot(dump)) return;
  ledger.equal("rng_size", json["rng_text_len"].get<std::uint64_t>(), dump.rng.size);
  ledger.equal("rng_crc", json["rng_text_crc32"].get<std::uint32_t>(),
               crc32(read_extent(dump, dump.rng.offset, dump.rng.size)));
  compare_some_row(dump, dump.outputs.logits, json["n_vocab"], json["last_logits8"], "logits", ledger);
  compare_some_row(dump, dump.outputs.embeddings, json["n_embd"], json.value("last_embd8", Json()),
                   "embeddings", ledger);
}

void compare_label(const CellTable& table, std::size_t i, const Json& cell, bool named,
                   Ledger& ledger) {
  ledger.equal("pos", cell["pos"].get<int>(), table.position(i));
  if (!named || !cell["seqs"].is_array()) return;
  const auto ids = table.sequences(i);
  ledger.equal("seqs", cell["seqs"].get<std::vector<int>>(), {ids.begin(), ids.end()});
}

// Cells up to the last in use; some sidecars go on behind it.
std::size_t used_part(const Json& cells) {
  std::size_t end = cells.size();
  while (end > 0 && cells[end - 1]["pos"].get<int>() < 0) --end;
  return end;
}

// Slot files hold the cells of one sequence without holes; sessions hold those up to the last in
// use, and in some versions more of them than have K and V.
void compare_cells(const Dump& dump, const Json& json, Ledger& ledger) {
  const Stream& stream = dump.state.memories.front().streams.front();
  const Json& cells = json["cells"];
  const bool whole_context = dump.dialect.body == Body::pool;
  const std::size_t listed = stream.cells.size() + stream.beyond.size();
  // Cells of a slot file of one sequence, and holes behind the last cell in use, are not stored.
  if (!whole_context && !dump.dialect.lists_all) ledger.equal("cell_count", used_part(cells), listed);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i >= listed) {
      ledger.equal("pos", cells[i]["pos"].get<int>(), -1);
      continue;
    }
    const bool has_data = i < stream.cells.size();
    const std::size_t at = has_data ? i : i - stream.cells.size();
    compare_label(has_data ? stream.cells : stream.beyond, at, cells[i], !is_slot(dump), ledger);
    if (!has_data) ledger.require("no_data", true, "");
    if (has_data && !dump.dialect.scrambled) compare_rows(dump, stream, i, cells[i], ledger);
  }
}

void compare_types_of(const Dump& dump, const Json& json, Ledger& ledger) {
  const bool recurrent = json["recurrent"].get<bool>();
  ledger.equal("recurrent", recurrent, dump.state.arrangement == "recurrent");
  ledger.equal("defect", json.contains("defect"), dump.dialect.scrambled);
  if (recurrent) return;
  compare_types(dump, {json["type_k"], json["type_v"], json["v_trans"].get<bool>()}, ledger);
}

}  // namespace

void compare_older(const Dump& dump, const Json& json, Ledger& ledger) {
  compare_stamp(dump, json, ledger);
  compare_prelude(dump, json, ledger);
  compare_types_of(dump, json, ledger);
  compare_cells(dump, json, ledger);
}

}  // namespace kvtool::test
