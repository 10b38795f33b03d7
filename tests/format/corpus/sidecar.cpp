#include "format/corpus/sidecar.h"

#include <fstream>
#include <vector>

#include "support/crc32.h"
#include "support/payload.h"
#include "support/testdata.h"

namespace kvtool::test {
namespace {

namespace fs = std::filesystem;

// X.seq1.ggsq shares X.json with X.ggsn.
fs::path library_sidecar(const fs::path& dump) {
  std::string stem = dump.stem().string();
  stem = stem.substr(0, stem.rfind(".seq"));
  return dump.parent_path() / (stem + ".json");
}

std::vector<fs::path> candidates(const fs::path& packed) {
  const fs::path dump = without_zst(packed);
  fs::path stem = dump;
  stem.replace_extension();
  const bool session = dump.extension() == ".ggsn";
  std::vector<fs::path> paths = {dump.string() + ".json", dump.string() + ".client.json"};
  if (session) paths.emplace_back(stem.string() + "-session.json");
  paths.emplace_back(stem.string() + ".json");
  paths.push_back(library_sidecar(dump));
  return paths;
}

bool says(const Json& json, const char* key, const char* text) {
  return json.contains(key) && json[key].is_string() &&
         json[key].get<std::string>().find(text) != std::string::npos;
}

Family family_of(const Json& json) {
  if (json.contains("scenario")) return Family::library;
  if (json.dump().find("ik_llama") != std::string::npos) return Family::ik_llama;
  if (says(json, "writer", "llama-completion")) return Family::completion;
  if (says(json, "writer", "llama-server")) return Family::server;
  if (json.contains("made_with")) return Family::trained;
  if (json.contains("file_crc32")) return Family::history;
  if (json.contains("saveStateToFile") || json.contains("client_text")) return Family::client;
  return Family::modern;
}

}  // namespace

std::string name_of(Family family) {
  switch (family) {
    case Family::modern: return "modern";
    case Family::client: return "client";
    case Family::history: return "history";
    case Family::server: return "server";
    case Family::completion: return "completion";
    case Family::library: return "library";
    case Family::trained: return "trained";
    case Family::ik_llama: return "ik_llama";
  }
  return {};
}

std::optional<Sidecar> find_sidecar(const fs::path& dump) {
  for (const fs::path& path : candidates(dump)) {
    std::ifstream in(path);
    if (!in) continue;
    Json json = Json::parse(in);
    const Family family = family_of(json);
    return Sidecar{family, std::move(json)};
  }
  return std::nullopt;
}

bool is_too_old(const Sidecar& sidecar) {
  if (sidecar.family != Family::history) return false;
  const auto format = sidecar.json["format"].get<std::string>();
  const int least = format == "ggsq" || format == "rawseq" ? 2 : 8;
  return sidecar.json["version"].get<int>() < least;
}

void compare(const Dump& dump, const fs::path& path, const Sidecar& sidecar, Ledger& ledger) {
  const Json& json = sidecar.json;
  switch (sidecar.family) {
    case Family::modern: return compare_modern(dump, json, ledger);
    case Family::client: return compare_client(dump, json, ledger);
    case Family::history:
      return is_too_old(sidecar) ? compare_older(dump, json, ledger)
                                 : compare_history(dump, json, ledger);
    case Family::server: return compare_server(dump, json, ledger);
    case Family::completion: return compare_completion(dump, json, ledger);
    case Family::library: return compare_library(dump, path.filename().string(), json, ledger);
    case Family::trained: return compare_trained(dump, json, ledger);
    case Family::ik_llama: return compare_ik_llama(dump, json, ledger);
  }
}

void compare_values(const Dump& dump, const Stream& stream, const Tensor& tensor,
                    std::size_t cell, const Json& expected, const std::string& field,
                    Ledger& ledger) {
  const std::vector<float> found = cell_values(dump, stream, tensor, cell);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (i >= found.size()) return ledger.require(field, false, "the row is too short");
    ledger.close(field, expected[i].get<double>(), static_cast<double>(found[i]));
  }
}

void compare_rows(const Dump& dump, const Stream& stream, std::size_t i, const Json& cell,
                  Ledger& ledger) {
  ledger.equal("layer_count", cell["k_crc32"].size(), stream.layers.size());
  for (std::size_t l = 0; l < stream.layers.size(); ++l) {
    const Layer& layer = stream.layers[l];
    ledger.equal("k_crc", cell["k_crc32"][l].get<std::uint32_t>(),
                 crc32(cell_payload(dump, stream, layer.k, i)));
    ledger.equal("v_crc", cell["v_crc32"][l].get<std::uint32_t>(),
                 crc32(cell_payload(dump, stream, layer.v, i)));
    const std::string key = std::to_string(l);
    if (!cell["k4"].contains(key)) continue;
    compare_values(dump, stream, layer.k, i, cell["k4"][key], "k_values", ledger);
    compare_values(dump, stream, layer.v, i, cell["v4"][key], "v_values", ledger);
  }
}

void compare_types(const Dump& dump, const CacheTypes& types, Ledger& ledger) {
  for (const Memory& memory : dump.state.memories) {
    if (memory.kind != MemoryKind::attention || memory.role == "index") continue;
    for (const Stream& stream : memory.streams)
      for (const Layer& layer : stream.layers) {
        ledger.equal<std::string>("k_type", types.k, std::string(info(layer.k.type).name));
        if (layer.v.orientation == Orientation::absent) continue;
        ledger.equal<std::string>("v_type", types.v, std::string(info(layer.v.type).name));
        if (types.v_transposed)
          ledger.equal("v_trans", *types.v_transposed,
                       layer.v.orientation == Orientation::transposed);
      }
  }
}

void compare_last_row(const Dump& dump, const Extent& extent, std::uint64_t row_values,
                      const Json& expected, const std::string& field, Ledger& ledger) {
  if (extent.size == 0 || !expected.is_array()) return;
  const std::uint64_t row = row_values * sizeof(float);
  ledger.equal<std::uint64_t>(field + ".rest", 0, extent.size % row);
  if (extent.size < row) return;
  const ByteVector bytes = read_extent(dump, extent.end() - row, row);
  for (std::size_t i = 0; i < expected.size(); ++i)
    ledger.close(field, expected[i].get<double>(),
                 static_cast<double>(peek<float>(bytes, i * sizeof(float))));
}

}  // namespace kvtool::test
