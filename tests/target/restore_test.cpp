// What real servers did with 252 broken or mismatched files, against what is predicted of them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "kvtool/error.h"
#include "kvtool/open.h"
#include "kvtool/restore.h"
#include "support/testdata.h"
#include "target/recorded_case.h"

namespace kvtool {
namespace {

using nlohmann::json;
using test::testdata;

// What a server did, or is said to do.
struct Answer {
  std::string outcome;
  std::string next;
  std::int64_t restored = 0;  // ids, where it loads
  std::int64_t reused = 0;    // of the prompt, where it answers
  bool operator==(const Answer&) const = default;
};

std::string text(const Answer& a) {
  return fmt::format("{}, {}, {} restored, {} reused", a.outcome, a.next, a.restored, a.reused);
}

Answer recorded(const json& c) {
  Answer answer;
  const bool alive = c["alive"];
  if (c["http"].is_null()) return {alive ? "hangs" : "dies", "nothing"};
  if (c["http"] != 200) return {"refused", "nothing"};
  answer.outcome = "loads";
  answer.restored = c["n_restored"];
  if (!c.value("alive_after_completion", true)) return {"loads", "dies", answer.restored, 0};
  answer.reused = c["prompt"].get<std::int64_t>() - c["prompt_computed"].get<std::int64_t>();
  answer.next = !c.value("same_text", true) ? "wrong_text"
                : answer.reused > 0         ? "reused"
                                            : "recomputed";
  return answer;
}

// The server's command line.
Target target_of(const json& c, const std::string& server) {
  Target target;
  target.container = Container::slot;
  const Loader loader = loader_named(server == "b0.7.0" ? "0.7.0" : server);
  target.era = loader.era;
  target.type_k = target.type_v = ElementType::f16;
  target.flash_attention = server == "b0.7.0";
  const std::vector<std::string> arguments = c["arguments"];
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string next = i + 1 < arguments.size() ? arguments[i + 1] : "";
    if (arguments[i] == "-c") target.n_ctx = static_cast<std::uint32_t>(std::stoul(next));
    if (arguments[i] == "-np") target.parallel = static_cast<std::uint32_t>(std::stoul(next));
    if (arguments[i] == "-ctk") target.type_k = find_element_type(next)->type;
    if (arguments[i] == "-ctv") target.type_v = find_element_type(next)->type;
    if (arguments[i] == "-fa") target.flash_attention = next != "off";
    if (arguments[i] == "--kv-unified") target.unified = true;
    if (arguments[i] == "--no-kv-unified") target.unified = false;
    if (arguments[i] == "--swa-full") target.swa_full = true;
  }
  target.rotation_disabled =
      c["case"].get<std::string>().find("LLAMA_ATTN_ROT_DISABLE=1") != std::string::npos;
  std::string model = c["model"];
  if (model == "llama-other-weights.gguf") model = "llama.gguf";  // one shape
  target.model =
      shape_of_model(open_gguf(open_source(testdata("models/" + model).string())), *target.era);
  return target;
}

// The ids that the good files hold, of which the next prompt had the first 29: the prompt that was
// saved, without what had been generated. The unified slot held another one, of 27.
std::vector<TokenId> next_prompt(const json& c, const std::string& server) {
  const bool other = c["file"] == "np3-unified-keep-idle-slot1.ggsq";
  const std::string good = other                ? "restore/b0.7.0/np3-unified-keep-idle-slot1.ggsq"
                           : server == "b0.7.0" ? "restore/b0.7.0/llama-f16-fa-off.ggsq"
                                                : "restore/" + server + "/llama-f16-fa.ggsq";
  std::vector<TokenId> ids = open_dump(testdata(good).string()).tokens.ids;
  ids.resize(other ? 27 : 29);
  ids.push_back(-7);  // goes on otherwise
  return ids;
}

std::shared_ptr<const Dump> opened(const std::shared_ptr<const Source>& source) {
  try {
    OpenOptions options;
    options.trailing = Trailing::keep;
    return std::make_shared<const Dump>(open_dump(source, options));
  } catch (const Error&) {
    return nullptr;
  }
}

Restore predicted(const json& c, const std::string& server) {
  const auto bytes = test::made_as(c["file"], server);
  const std::shared_ptr<const Source> source = memory_source("case.bin", *bytes);
  RestoreOptions options;
  options.prompt = next_prompt(c, server);
  return predict_restore(*source, opened(source).get(), target_of(c, server), options);
}

Answer answer_of(const Restore& r) {
  Answer answer{name_of(r.outcome), name_of(r.next)};
  if (r.outcome != Outcome::loads) return answer;
  answer.restored = static_cast<std::int64_t>(r.tokens);
  answer.reused = static_cast<std::int64_t>(r.reused);
  return answer;
}

// Misses that are known and cannot be helped, with the reason.
const std::map<std::string, std::string>& expected_misses() {
  static const std::string identity =
      "no slot file says of which model it is: the same shape is all that can be compared";
  static const std::map<std::string, std::string> misses = {
      {"b0.7.0: other weights, same shape", identity},
      {"b4748: other weights, same shape", identity},
      {"b3479: other weights, same shape", identity},
      {"b0.7.0: other model, other head size", identity},
      {"b4748: other model", identity},
      {"b3479: other model", identity},
  };
  return misses;
}

json cases_of(const std::string& server) {
  std::ifstream in(testdata("restore/" + server + "/cases.json"));
  return json::parse(in)["cases"];
}

// The first reason is the one that the server logged or answered.
void expect_logged(const json& c, const Restore& r, const std::string& name) {
  if (r.reasons.empty() || r.reasons.front().log.empty()) return;
  const std::string& log = r.reasons.front().log;
  std::vector<std::string> lines = c["log"];
  lines.push_back(c.value("message", ""));
  EXPECT_TRUE(
      std::any_of(lines.begin(), lines.end(),
                  [&](const std::string& line) { return line.find(log) != std::string::npos; }))
      << name << ": expected \"" << log << "\" among " << c["log"];
}

// Says why a prediction missed, where that is known.
void explain(const std::string& name) {
  const auto known = expected_misses().find(name);
  fmt::print("missed: {}: {}\n", name, known == expected_misses().end() ? "?" : known->second);
}

class RecordedRestores : public testing::TestWithParam<const char*> {};

TEST_P(RecordedRestores, AreForetold) {
  const std::string server = GetParam();
  std::size_t right = 0;
  std::size_t all = 0;
  for (const json& c : cases_of(server)) {
    if (!test::made_as(c["file"], server)) continue;  // the missing file: there is nothing to read
    const std::string name = server + ": " + c["case"].get<std::string>();
    const Restore r = predicted(c, server);
    const bool hit = answer_of(r) == recorded(c);
    ++all;
    right += hit ? 1U : 0U;
    if (!hit) explain(name);
    EXPECT_EQ(hit, expected_misses().count(name) == 0)
        << name << "\n  file: " << c["file"] << "\n  recorded:  " << text(recorded(c))
        << "\n  predicted: " << text(answer_of(r))
        << (r.reasons.empty() ? "" : "\n  because " + r.reasons.front().message);
    expect_logged(c, r, name);
  }
  RecordProperty("cases", static_cast<int>(all));
  RecordProperty("right", static_cast<int>(right));
  fmt::print("{}: {} of {} predicted right ({:.1f} %)\n", server, right, all,
             100.0 * static_cast<double>(right) / static_cast<double>(all));
  EXPECT_GE(right * 100, all * 95);
}

INSTANTIATE_TEST_SUITE_P(Servers, RecordedRestores, testing::Values("b0.7.0", "b4748", "b3479"),
                         [](const auto& server) {
                           std::string name = server.param;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

}  // namespace
}  // namespace kvtool
