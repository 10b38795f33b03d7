// Every genuine file against what its writer knew. KVTOOL_CORPUS=FOLDER adds the dumps below it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <map>

#include "format/corpus/sidecar.h"
#include "kvtool/error.h"
#include "kvtool/open.h"
#include "support/sound.h"
#include "support/testdata.h"

namespace kvtool::test {
namespace {

namespace fs = std::filesystem;

// Opens a dump that must be refused and compares the reason.
void expect_refusal(const fs::path& path, const std::string& reason, Ledger& ledger,
                    const OpenOptions& options = {}) {
  try {
    const Dump dump = open_dump(path.string(), options);
    ledger.require("refusal", false, "opened as " + dump.layout);
  } catch (const Error& error) {
    ledger.require("refusal", error.message().find(reason) != std::string::npos, error.what());
  }
}

// A state of a whole context, without a header.
bool is_bare(const fs::path& path) { return without_zst(path).extension() == ".raw"; }

// A file that its server broke off in the middle of: the answer to its save never came.
bool is_broken_off(const Sidecar& sidecar) {
  return sidecar.family == Family::ik_llama && sidecar.json.contains("save") &&
         sidecar.json["save"]["response"]["http"].is_null();
}

// Bare states of that time lack the sizes of their model, which their writer knew.
BareShape shape_of(const Sidecar& sidecar) {
  const Json& json = sidecar.json;
  return {json["recurrent"].get<bool>(),
          json["n_layer"].get<std::uint32_t>(),
          {json["n_embd_k_gqa"].get<std::uint64_t>()},
          {json["n_embd_v_gqa"].get<std::uint64_t>()}};
}

void judge(const fs::path& path, const Sidecar& sidecar, Ledger& ledger) {
  ledger.file(is_too_old(sidecar) ? "older" : name_of(sidecar.family), path.filename().string());
  if (is_broken_off(sidecar))
    return expect_refusal(path, "34 cells of 256 bytes do not fit, 2860 bytes remain", ledger);
  OpenOptions options;
  if (is_too_old(sidecar) && is_bare(path)) {
    expect_refusal(path, "nothing in it tells the sizes of the model", ledger);
    options.bare = shape_of(sidecar);
    // Nothing in those of December 2023 tells them from those of the month before.
    if (sidecar.json["version"] == 3) {
      expect_refusal(path, "reads as raw.s3/kv and as raw.s2/kv", ledger, options);
      options.layout = "raw.s3";
    }
  }
  try {
    const auto dump = std::make_shared<const Dump>(open_dump(path.string(), options));
    ledger.equal("sound", std::string(), flaw_of(dump, read_file(path)));
    compare(*dump, path, sidecar, ledger);
  } catch (const std::exception& error) {
    ledger.require("opens", false, error.what());
  }
}

// A dump of which nobody knew anything: it must at least be sound.
void judge_alone(const fs::path& path, Ledger& ledger) {
  ledger.file("no sidecar", path.filename().string());
  try {
    const auto dump = std::make_shared<const Dump>(open_dump(path.string()));
    ledger.equal("sound", std::string(), flaw_of(dump, read_file(path)));
  } catch (const std::exception& error) {
    ledger.require("opens", false, error.what());
  }
}

void judge_folder(const fs::path& folder, Ledger& ledger) {
  for (const fs::path& path : dumps_below(folder)) {
    const auto sidecar = find_sidecar(path);
    sidecar ? judge(path, *sidecar, ledger) : judge_alone(path, ledger);
  }
}

void report(const Ledger& ledger) {
  std::cout << ledger.summary();
  std::size_t shown = 0;
  for (const std::string& difference : ledger.differences())
    if (++shown <= 40) ADD_FAILURE() << difference;
  EXPECT_EQ(ledger.differences().size(), 0U);
}

// The fields without which a family has not really been compared.
const std::map<std::string, std::vector<const char*>>& essential_fields() {
  static const std::map<std::string, std::vector<const char*>> fields = {
      {"modern",
       {"version", "tokens", "slot_tokens", "arch",     "n_stream", "k_type",        "v_type",
        "k_dim",   "r_dim",  "pos",         "seqs",     "x",        "ple_row_bytes", "v_trans",
        "y",       "token",  "k_values",    "v_values", "logits",   "sound",         "embeddings"}},
      {"client", {"tokens", "size", "sound"}},
      {"older",
       {"version", "tokens", "header", "rng_crc", "pos", "seqs", "k_crc", "v_crc", "k_values",
        "v_values", "logits", "embeddings", "no_data", "k_type", "v_type", "v_trans", "defect",
        "recurrent", "sound"}},
      {"history",
       {"version", "tokens", "rng_crc", "pos", "seqs", "k_crc", "v_crc", "k_values", "v_values",
        "logits", "embeddings", "sound"}},
      {"server",
       {"version", "tokens", "positions", "n_stream", "checkpoint", "draft", "rot_k", "rot_v",
        "sound"}},
      {"completion", {"version", "tokens", "sound"}},
      {"library", {"version", "tokens", "pos_min", "pos_max", "v_trans", "sound"}},
      {"ik_llama",
       {"family", "tokens", "pos", "k_type", "v_type", "v_trans", "has_v", "state_rows", "rng_size",
        "arch", "no_v", "refusal", "sound"}}};
  return fields;
}

TEST(Corpus, EveryFileAgreesWithItsWriter) {
  Ledger ledger;
  for (const char* folder : {"history", "modern", "server"}) judge_folder(testdata(folder), ledger);
  EXPECT_EQ(ledger.files("no sidecar"), 0U);
  report(ledger);
  for (const auto& [family, fields] : essential_fields())
    for (const char* field : fields)
      EXPECT_GT(ledger.fields(family, field), 0U) << family << ": nothing compared in " << field;
}

TEST(Corpus, EveryFileOfALargerCorpusToo) {
  const char* folder = std::getenv("KVTOOL_CORPUS");
  if (folder == nullptr) GTEST_SKIP() << "KVTOOL_CORPUS names no folder";
  Ledger ledger;
  judge_folder(folder, ledger);
  report(ledger);
  EXPECT_FALSE(ledger.summary().empty());
}

// The comparison must notice: one fact of a sidecar is changed at a time.
struct WrongFact {
  const char* file;
  const char* pointer;  // into the JSON
  Json value;
  const char* field;
};

std::string path_of(const WrongFact& wrong) { return testdata(wrong.file).string(); }

void expect_noticed(const WrongFact& wrong) {
  auto sidecar = find_sidecar(path_of(wrong));
  ASSERT_TRUE(sidecar) << wrong.file;
  Json& fact = sidecar->json.at(Json::json_pointer(wrong.pointer));
  ASSERT_NE(fact, wrong.value) << wrong.pointer << " would not change";
  fact = wrong.value;
  Ledger ledger;
  ledger.file("wrong", wrong.file);
  compare(open_dump(path_of(wrong)), path_of(wrong), *sidecar, ledger);
  ASSERT_FALSE(ledger.differences().empty()) << wrong.file << " " << wrong.pointer;
  EXPECT_NE(ledger.differences().front().find(wrong.field), std::string::npos)
      << ledger.differences().front();
}

TEST(Corpus, AWrongFactIsNoticed) {
  const char* session = "modern/b11118/llama-multi-streams.ggsn";
  const char* image = "modern/b11118/qwen2vl-image.ggsn";
  const char* columns = "modern/b11118/llama-nofa-f16.ggsn";
  const char* old = "history/v8-20240907-947538acb-outs-plain.ggsn";
  const char* slot = "server/b0.7.0/gemma3.ggsq";
  const char* oldest = "history/v0-20230428-1481a9cf2-plain.ggsn.zst";
  const char* beyond = "history/v2-20231207-81bc9214a-shift-applied.ggsn.zst";
  const std::vector<WrongFact> facts = {{session, "/source/session_version", 9, "version"},
                                        {session, "/header_tokens/3", 7, "tokens"},
                                        {session, "/arch", "gemma3", "arch"},
                                        {session, "/memory/0/n_stream", 2, "n_stream"},
                                        {session, "/memory/0/cells/5/pos", 99, "pos"},
                                        {session, "/memory/0/cells/5/seq", {0, 2}, "seqs"},
                                        {session, "/memory/0/cells/5/s", 1, "cell_count"},
                                        {session, "/memory/0/cells/5/k0/3", 0.5, "k_values"},
                                        {session, "/memory/0/cells/5/v1/0", 0.5, "v_values"},
                                        {session, "/memory/0/layers/1/k_type", "q8_0", "k_type"},
                                        {session, "/memory/0/layers/1/v_dim", 32, "v_dim"},
                                        {columns, "/memory/0/v_trans", false, "v_trans"},
                                        {columns, "/memory/0/cells/2/v0/1", 0.5, "v_values"},
                                        {image, "/memory/0/cells/9/x", 77, "x"},
                                        {image, "/memory/0/cells/9/tok", 77, "token"},
                                        {old, "/cells/4/k_crc32/1", 1, "k_crc"},
                                        {old, "/cells/4/v_crc32/0", 1, "v_crc"},
                                        {old, "/rng_text_crc32", 1, "rng_crc"},
                                        {old, "/last_logits8/0", 1.5, "logits"},
                                        {oldest, "/cells/4/k_crc32/31", 1, "k_crc"},
                                        {oldest, "/tokens/3", 5, "tokens"},
                                        {beyond, "/cells/19/pos", 7, "pos"},
                                        {beyond, "/hparams_crc32", 7, "header"},
                                        {beyond, "/last_logits8/7", 1.5, "logits"},
                                        {beyond, "/type_k", "q8_0", "k_type"},
                                        {slot, "/tokens/0", 1, "tokens"},
                                        {"server/ik_llama/qwen35.ggsq", "/tokens/4", 1, "tokens"},
                                        {"server/ik_llama/qwen35.ggsq", "/model", "llama.gguf",
                                         "hybrid"},
                                        {"server/ik_llama/deepseek2-mla3.ggsn", "/layout/v_state",
                                         0, "no_v"},
                                        {slot, "/save/log/0", "nothing", "checkpoints"},
                                        {"server/b0.7.0/llamah64-q8_0-k-only.ggsq", "/model",
                                         "llama.gguf", "rot_k"},
                                        {"server/b0.7.0-library/llama-holes-unified.ggsn",
                                         "/before_saving/pos/1/1", 18, "pos_max"}};
  for (const WrongFact& wrong : facts) expect_noticed(wrong);
}

}  // namespace
}  // namespace kvtool::test
