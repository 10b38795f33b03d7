// What the writers of the genuine files knew about them: a small adapter for each family of
// sidecars. testdata/README.md says who wrote which.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "format/corpus/ledger.h"
#include "kvtool/dump.h"

namespace kvtool::test {

using Json = nlohmann::json;

enum class Family {
  modern,      // a driver that read the live memory: cells, values, layers
  client,      // npm clients: token ids, size
  history,     // a driver of 2024: cells, and a CRC of every row
  server,      // llama-server over HTTP
  completion,  // llama-completion's sessions
  library,     // a driver on libllama 0.7.0, one sidecar for several files
  trained,     // dumps of a trained model
  ik_llama,    // llama-server and llama-cli of ik_llama.cpp
};

[[nodiscard]] std::string name_of(Family family);

struct Sidecar {
  Family family;
  Json json;
};

// The sidecar of a dump, if it has one.
[[nodiscard]] std::optional<Sidecar> find_sidecar(const std::filesystem::path& dump);

// True for files of before August 2024.
[[nodiscard]] bool is_too_old(const Sidecar& sidecar);

// Compares a dump with all that its sidecar says about it.
void compare(const Dump& dump, const std::filesystem::path& path, const Sidecar& sidecar,
             Ledger& ledger);

// The adapters behind compare().
void compare_modern(const Dump& dump, const Json& json, Ledger& ledger);
void compare_client(const Dump& dump, const Json& json, Ledger& ledger);
void compare_history(const Dump& dump, const Json& json, Ledger& ledger);
void compare_older(const Dump& dump, const Json& json, Ledger& ledger);  // history, before August 2024
void compare_server(const Dump& dump, const Json& json, Ledger& ledger);
void compare_completion(const Dump& dump, const Json& json, Ledger& ledger);
void compare_library(const Dump& dump, const std::string& file, const Json& json, Ledger& ledger);
void compare_ik_llama(const Dump& dump, const Json& json, Ledger& ledger);
void compare_trained(const Dump& dump, const Json& json, Ledger& ledger);

// Steps that several adapters share.

// The first values of a cell in a tensor against those of the sidecar.
void compare_values(const Dump& dump, const Stream& stream, const Tensor& tensor,
                    std::size_t cell, const Json& expected, const std::string& field,
                    Ledger& ledger);
// K and V of a cell in every layer against the CRCs and first values that history's sidecars have.
void compare_rows(const Dump& dump, const Stream& stream, std::size_t cell, const Json& expected,
                  Ledger& ledger);
// Types and V orientation of all attention caches; a null type is not compared.
struct CacheTypes {
  std::string k = "f16";
  std::string v = "f16";
  std::optional<bool> v_transposed;
};
void compare_types(const Dump& dump, const CacheTypes& types, Ledger& ledger);
// The first values of the last row of logits or embeddings.
void compare_last_row(const Dump& dump, const Extent& extent, std::uint64_t row_values,
                      const Json& expected, const std::string& field, Ledger& ledger);

}  // namespace kvtool::test
