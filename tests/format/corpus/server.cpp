// Sidecars of genuine servers, of llama-completion, and of a driver on the same library: what went
// in and out at the outside, so fewer facts, but nobody helped the writer.
#include <algorithm>
#include <map>
#include <regex>
#include <vector>

#include "format/corpus/sidecar.h"

namespace kvtool::test {
namespace {

// The word behind an option; empty when it is not there.
std::string option(const Json& command, const std::string& name) {
  for (std::size_t i = 0; i + 1 < command.size(); ++i)
    if (command[i] == name) return command[i + 1];
  return {};
}

bool has_option(const Json& command, const std::string& name) {
  return std::find(command.begin(), command.end(), Json(name)) != command.end();
}

// Flash attention was off unless asked for until 2025 and is on unless refused in 0.7.0.
CacheTypes types_of(const Json& command, bool recent, const char* k, const char* v,
                    const char* flash) {
  CacheTypes types;
  if (const std::string type = option(command, k); !type.empty()) types.k = type;
  if (const std::string type = option(command, v); !type.empty()) types.v = type;
  const std::string word = option(command, flash);
  types.v_transposed = recent ? word == "off" || word == "0" : !has_option(command, flash);
  return types;
}

// Width of the rotation that 0.7.0 applies: 64 to quantized rows of the one model with heads of 64
// (K and V each for itself), and to K of an indexer whatever its type.
struct Rotation {
  std::uint32_t k = 0;
  std::uint32_t v = 0;
};

Rotation rotation_of(const Json& json, const Memory& memory, const CacheTypes& types) {
  if (json.contains("environment")) return {};  // LLAMA_ATTN_ROT_DISABLE
  if (json["model"] == "deepseek32.gguf" && memory.role == "index") return {64, 0};
  if (json["model"] != "llama-h64.gguf") return {};
  auto quantized = [](const std::string& type) { return type.find('q') != std::string::npos; };
  return {quantized(types.k) ? 64U : 0U, quantized(types.v) ? 64U : 0U};
}

void compare_rotation(const Dump& dump, const Json& json, const CacheTypes& types,
                      Ledger& ledger) {
  for (const Memory& memory : dump.state.memories) {
    if (memory.kind != MemoryKind::attention || !dump.dialect.rotation) continue;
    const Rotation expected = rotation_of(json, memory, types);
    for (const Stream& stream : memory.streams) {
      if (stream.cells.empty()) continue;
      ledger.equal("rot_k", expected.k, stream.rot_k);
      ledger.equal("rot_v", expected.v, stream.rot_v);
    }
  }
}

// What the options of a program say about the caches of its file.
void compare_caches(const Dump& dump, const Json& json, const CacheTypes& types, Ledger& ledger) {
  compare_types(dump, types, ledger);
  compare_rotation(dump, json, types, ledger);
}

// Every log line that matches says how many checkpoints were appended.
int appended_checkpoints(const Json& log) {
  static const std::regex line(R"(appended (\d+) context checkpoint)");
  int n = 0;
  for (const Json& text : log) {
    std::smatch match;
    const auto words = text.get<std::string>();
    if (std::regex_search(words, match, line)) n = std::stoi(match[1]);
  }
  return n;
}

bool mentions(const Json& log, const char* words) {
  return std::any_of(log.begin(), log.end(), [&](const Json& text) {
    return text.get<std::string>().find(words) != std::string::npos;
  });
}

void compare_tail(const Dump& dump, const Json& log, std::uint64_t tokens, Ledger& ledger) {
  ledger.equal("checkpoints", appended_checkpoints(log),
               static_cast<int>(dump.tail.checkpoints.size()));
  ledger.equal("draft", mentions(log, "appended the draft state"), dump.tail.has_draft);
  for (const Checkpoint& checkpoint : dump.tail.checkpoints) {
    ledger.require("checkpoint", checkpoint.tokens <= tokens && checkpoint.target.state.has_value(),
                   "does not belong to this prompt");
  }
}

// A memory that keeps every token has one cell for each, with the positions 0 to n - 1.
void compare_positions(const Dump& dump, std::size_t tokens, Ledger& ledger) {
  for (const Memory& memory : dump.state.memories) {
    if (memory.kind != MemoryKind::attention || (memory.role != "main" && memory.role != "base"))
      continue;
    std::vector<int> found;
    for (const Stream& stream : memory.streams)
      for (std::size_t i = 0; i < stream.cells.size(); ++i)
        found.push_back(stream.cells.position(i));
    std::sort(found.begin(), found.end());
    std::vector<int> expected(tokens);
    for (std::size_t i = 0; i < tokens; ++i) expected[i] = static_cast<int>(i);
    ledger.equal("positions", expected, found);
  }
}

std::size_t streams_of(const Json& command) {
  return has_option(command, "--no-kv-unified") ? std::stoul(option(command, "-np")) : 1;
}

}  // namespace

void compare_server(const Dump& dump, const Json& json, Ledger& ledger) {
  const auto package = json["version"]["package"].get<std::string>();
  const bool recent = package.find("0.7.0") != std::string::npos;
  const auto saved = json["save"]["response"]["body"]["n_saved"].get<std::size_t>();
  ledger.equal<std::uint32_t>("version", recent ? 4 : 2, dump.dialect.version);
  ledger.equal("size", json["size"].get<std::uint64_t>(), dump.source->size());
  if (json.contains("tokens") && json["tokens"].is_array())  // unknown behind a chat template
    ledger.equal("tokens", json["tokens"].get<std::vector<int>>(), dump.tokens.ids);
  ledger.equal("token_problem", std::string(), dump.tokens.problem);
  ledger.equal("n_saved", saved, dump.tokens.ids.size());
  ledger.equal("payload", recent, dump.tokens.form == TokenForm::payload);
  compare_caches(dump, json, types_of(json["command"], recent, "-ctk", "-ctv", "-fa"), ledger);
  compare_tail(dump, json["save"].value("log", Json::array()), saved, ledger);
  compare_positions(dump, saved, ledger);
  for (const Memory& memory : dump.state.memories)
    if (memory.kind == MemoryKind::attention)
      ledger.equal("n_stream", streams_of(json["command"]), memory.streams.size());
}

void compare_completion(const Dump& dump, const Json& json, Ledger& ledger) {
  ledger.equal<std::uint32_t>("version", 11, dump.dialect.version);
  ledger.equal("size", json["size"].get<std::uint64_t>(), dump.source->size());
  ledger.equal("tokens", json["header_tokens"].get<std::vector<int>>(), dump.tokens.words);
  compare_caches(dump, json, types_of(json["command"], true, "-ctk", "-ctv", "-fa"), ledger);
}

namespace {

// The ids that the driver put into the header of a file: those of the sequence it decoded.
std::vector<int> library_tokens(const Json& json, const std::string& file) {
  if (file.find(".seq1.") == std::string::npos)
    return json["tokens"][file.find(".seq2.") == std::string::npos ? "0" : "2"];
  const auto words = json["tokens"]["1"].get<std::string>();
  const std::size_t open = words.find('[');
  return Json::parse(words.substr(open, words.find(']') + 1 - open));
}

// Lowest and highest position of a sequence in one memory.
using Range = std::pair<int, int>;

std::map<SequenceId, Range> ranges_of(const Memory& memory, bool named) {
  std::map<SequenceId, Range> ranges;
  auto widen = [&](SequenceId id, int position) {
    const auto [at, fresh] = ranges.try_emplace(id, position, position);
    if (!fresh) at->second = {std::min(at->second.first, position),
                              std::max(at->second.second, position)};
  };
  for (const Stream& stream : memory.streams)
    for (std::size_t i = 0; i < stream.cells.size(); ++i) {
      if (!named) widen(0, stream.cells.position(i));
      for (const SequenceId id : stream.cells.sequences(i))
        if (named) widen(id, stream.cells.position(i));
    }
  return ranges;
}

// llama.cpp's own answer for several memories: what all of them can go back and on to.
Range common_range(const Dump& dump, SequenceId id, bool named) {
  Range common{0, 1 << 30};
  for (const Memory& memory : dump.state.memories) {
    const auto ranges = ranges_of(memory, named);
    const auto at = ranges.find(named ? id : 0);
    if (at == ranges.end()) return {-1, -1};
    common = {std::max(common.first, at->second.first), std::min(common.second, at->second.second)};
  }
  return common;
}

}  // namespace

void compare_library(const Dump& dump, const std::string& file, const Json& json, Ledger& ledger) {
  ledger.equal("size", json["files"][file]["size"].get<std::uint64_t>(), dump.source->size());
  const bool session = dump.dialect.container == Container::session;
  const bool slot = dump.dialect.container == Container::slot;
  const char* version = session ? "session_version" : "sequence_version";
  if (session || slot) {
    ledger.equal("version", json[version].get<std::uint32_t>(), dump.dialect.version);
    ledger.equal("tokens", library_tokens(json, file), dump.tokens.words);
  }
  compare_caches(dump, json, types_of(json["options"], true, "--tk", "--tv", "--fa"), ledger);
  const Json& ranges = json["before_saving"]["pos"];
  for (int id = 0; id < static_cast<int>(ranges.size()); ++id) {
    if (slot && file.find(".seq" + std::to_string(id) + ".") == std::string::npos) continue;
    const Range found = common_range(dump, id, !slot);
    // A window that leaves cells out of a sequence file moves only the lower end.
    const Json& expected = ranges[static_cast<std::size_t>(id)];
    if (!slot) ledger.equal("pos_min", expected[0].get<int>(), found.first);
    ledger.equal("pos_max", expected[1].get<int>(), found.second);
  }
}

}  // namespace kvtool::test
