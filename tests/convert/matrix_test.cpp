// Each genuine file converted to the settings of each other file of the same model. What comes out
// must be what that other program would have written: its dialect, types, orientation and streams;
// must still hold what the source held; and where both are of one conversation, equal the other file
// within the noise of the coarser type. KVTOOL_CORPUS=FOLDER takes the dumps below it instead.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>

#include "convert/genuine.h"
#include "format/dialect.h"
#include "kvtool/compare.h"
#include "kvtool/error.h"
#include "kvtool/facts.h"
#include "kvtool/restore.h"

namespace kvtool::test {
namespace {

// Everything that happened, counted by what it is.
struct Tally {
  std::map<std::string, std::size_t> counts;
  std::map<std::string, std::string> examples;
  std::map<std::string, double> furthest;  // relative difference that was accepted
  std::size_t failures = 0;
  void note(const std::string& what, const std::string& where) {
    if (counts[what]++ == 0) examples[what] = where;
  }
  void fail(const std::string& what, const std::string& where) {
    note("FAILED: " + what, where);
    if (++failures <= 30) ADD_FAILURE() << where << ": " << what;
  }
};

const Stream* with_cells(const Memory& memory) {
  for (const Stream& stream : memory.streams)
    if (!stream.cells.empty()) return &stream;
  return nullptr;
}

// --- what a result must have in common with the file whose settings it got

std::string visible_dialect(const Dump& dump) {
  return format::name_of(dump.dialect, format::visible_choices(dump.state));
}

std::string difference_in_layer(const Layer& a, const Layer& b) {
  if (a.k.type != b.k.type) return "another type of K";
  if (a.v.orientation != b.v.orientation) return "another orientation of V";
  if (a.v.orientation != Orientation::absent && a.v.type != b.v.type) return "another type of V";
  return {};
}

std::string difference_in_memory(const Memory& a, const Memory& b) {
  if (a.kind != MemoryKind::attention) return {};
  if (a.streams.size() != b.streams.size()) return "another number of streams";
  const Stream* x = with_cells(a);
  const Stream* y = with_cells(b);
  if (x == nullptr || y == nullptr) return {};
  if (x->v_transposed != y->v_transposed) return "another flag for V";
  for (std::size_t l = 0; l < std::min(x->layers.size(), y->layers.size()); ++l)
    if (auto found = difference_in_layer(x->layers[l], y->layers[l]); !found.empty()) return found;
  return {};
}

bool same_choices(const Dump& a, const Dump& b) {
  const auto x = format::visible_choices(a.state);
  const auto y = format::visible_choices(b.state);
  return x.caches == y.caches && x.cells == y.cells;
}

std::string difference_in_settings(const Dump& result, const Dump& other) {
  if (same_choices(result, other) && visible_dialect(result) != visible_dialect(other))
    return "dialect " + visible_dialect(result) + ", not " + visible_dialect(other);
  if (result.state.memories.size() != other.state.memories.size()) return "other memories";
  for (std::size_t m = 0; m < result.state.memories.size(); ++m)
    if (auto found = difference_in_memory(result.state.memories[m], other.state.memories[m]);
        !found.empty())
      return found;
  return {};
}

// --- what may be refused, and what cannot be compared

bool is_mla_row_order(const Genuine& a, const Genuine& b) {
  if (a.model.rfind("deepseek2", 0) != 0) return false;
  return target_of(a).era->mla_rows != target_of(b).era->mla_rows;
}

// How far two runs of one conversation may be apart, relative to the values: another kernel or
// build, the loss of a type, and what later layers make of earlier losses.
double noise_of_type(ElementType type) {
  switch (type) {
    case ElementType::q4_0:
    case ElementType::q4_1:
    case ElementType::iq4_nl: return 0.25;
    case ElementType::q5_0:
    case ElementType::q5_1: return 0.12;
    default: return 0.06;
  }
}

double noise_of(const Dump& dump) {
  double noise = 0;
  for_each_stream(dump, [&](const Stream& stream) {
    for (const Layer& layer : stream.layers)
      for (const Tensor* tensor : {&layer.k, &layer.v})
        if (tensor->orientation != Orientation::absent)
          noise = std::max(noise, noise_of_type(tensor->type));
  });
  return noise;
}

double furthest(const Comparison& c) {
  double most = 0;
  for (const TensorComparison& t : c.tensors)
    most = std::max(most, t.not_finite > 0 ? HUGE_VAL : t.relative_l2);
  return most;
}

bool is_empty(const Dump& dump) {
  for (const Memory& memory : dump.state.memories)
    if (cells_of(memory) > 0) return false;
  return true;
}

bool is_named(const Genuine& file, const char* part) {
  return file.name().find(part) != std::string::npos;
}

// Files of the same ids that hold another run: cells were moved afterwards, the positions behind an
// image were counted otherwise in summer 2025, mamba of July 2024 mixed up its sequences.
bool is_another_run(const Genuine& a, const Genuine& b) {
  if (is_named(a, "-shift") || is_named(b, "-shift")) return true;
  for (const char* part : {"-holes", "20240728-4c676c85e-mamba-multi", "rn-0.6.7/qwen2vl"})
    if (is_named(a, part) != is_named(b, part)) return true;
  return false;
}

bool is_raw(const Genuine& file) {
  return file.dump->dialect.container == Container::state ||
         file.dump->dialect.container == Container::sequence_state;
}

// Reasons that a pair may give, each with when it is right.
bool refusal_is_right(const Genuine& from, const Genuine& to, const std::string& message) {
  const Dialect& target = to.dump->dialect;
  if (message.find("say --seq ID") != std::string::npos) return !to.sequence;
  if (message.find("has no cells") != std::string::npos)
    return is_empty(*from.dump) && !target.streams;
  if (message.find("random generator") != std::string::npos)
    return target.rng_text && !from.dump->dialect.rng_text;
  if (message.find("no cell belongs to") != std::string::npos)
    return holds_one_sequence(*to.dump) && !holds_one_sequence(*from.dump);
  if (message.find("has no stream") != std::string::npos) return true;
  if (message.find("stopped storing") != std::string::npos)
    return from.model == "deepseek2-mla.gguf" || from.model == "qwen4exp.gguf";
  if (message.find("of another model") != std::string::npos)  // of one name: widths were changed
    return from.model == "mamba.gguf" || from.model == "qwen4exp.gguf";
  if (message.find("--drop checkpoints") != std::string::npos)
    return from.dump->tail.has_checkpoints;
  if (message.find("--drop draft") != std::string::npos) return from.dump->tail.has_draft;
  if (message.find("--drop media") != std::string::npos) return !from.dump->tokens.media.empty();
  if (message.find("--drop outputs") != std::string::npos) return from.dump->dialect.outputs;
  return false;
}

// V that the target's llama.cpp no longer stores.
bool lost_v(const Dump& from, const Dump& result) {
  auto count = [](const Dump& dump) {
    std::size_t n = 0;
    for_each_stream(dump, [&](const Stream& stream) {
      for (const Layer& layer : stream.layers)
        n += layer.v.orientation == Orientation::absent ? 0U : 1U;
    });
    return n;
  };
  return count(result) < count(from) && from.state.arrangement != result.state.arrangement;
}

// --- one pair

ConvertOptions options_for(const Genuine& from, const Genuine& to) {
  ConvertOptions options;
  options.rotation = from.rotation;
  if (holds_one_sequence(*to.dump)) options.sequence = to.sequence;
  options.drop = {"checkpoints", "draft", "outputs", "media"};
  return options;
}

// All values within noise, whatever else differs.
void expect_near(const Comparison& c, double noise, const std::string& what,
                 const std::string& where, Tally& tally) {
  tally.note(what + ": " + name_of(c.verdict), where);
  if (c.verdict == Verdict::not_comparable || c.verdict == Verdict::relabelled ||
      c.verdict == Verdict::shifted_positions)
    return tally.fail(what + ": " + c.words, where);
  double& most = tally.furthest[what];
  if (furthest(c) <= noise) most = std::max(most, furthest(c));
  else tally.fail(fmt::format("{}: {:.3f} apart: {}", what, furthest(c), c.words), where);
}

// Rows that are rotated without a word of it in the file.
bool is_hidden(const Genuine& file) {
  return file.rotation == StatedRotation::hadamard && !file.dump->dialect.rotation;
}

bool has_rotated_index(const Dump& dump) { return dump.state.arrangement.rfind("dsa", 0) == 0; }

void expect_content(const Genuine& from, const Genuine& to, const Dump& result,
                    const std::string& where, Tally& tally) {
  const Comparison c = compare(*from.dump, result);
  if (lost_v(*from.dump, result)) return tally.note("left out V", where);
  if (c.verdict != Verdict::rotated)
    return expect_near(c, std::max(noise_of(*from.dump), noise_of(result)), "source and result",
                       where, tally);
  tally.note("source and result: rotated", where);
  if (is_hidden(from) == is_hidden(to) && !has_rotated_index(result))
    tally.fail("rotated, and nobody asked for it", where);
}

void expect_like_other(const Genuine& from, const Genuine& to, const Dump& result,
                       const std::string& where, Tally& tally) {
  if (from.dump->tokens.ids.empty() || from.dump->tokens.ids != to.dump->tokens.ids) return;
  if (is_mla_row_order(from, to)) return tally.note("other order of MLA rows", where);
  if (is_another_run(from, to)) return;
  expect_near(compare(result, *to.dump), noise_of(*from.dump) + noise_of(*to.dump),
              "result and native", where, tally);
}

// Images that are named by -1 and nothing else.
bool has_unknown_ids(const Dump& dump) {
  return dump.tokens.media.empty() && std::any_of(dump.tokens.ids.begin(), dump.tokens.ids.end(),
                                                  [](TokenId id) { return id < 0; });
}

// What `check --like` says of the result. Servers of July 2024 do not take their own slot files of
// recurrent models, whatever is in them.
void expect_loads(const Genuine& to, const Dump& result, const std::string& where, Tally& tally) {
  const Restore r = predict_restore(*result.source, &result, target_like(*to.dump));
  const std::string why = r.reasons.empty() ? "" : r.reasons.front().code;
  // two models are called mamba.gguf, and the target's shape is that of one of them
  const bool another_mamba = why == "r_row" && to.model == "mamba.gguf";
  if (r.outcome == Outcome::loads || why == "recurrent_slot" || another_mamba ||
      (why == "token_id" && has_unknown_ids(result)))
    return tally.note(fmt::format("check --like: {} {}", name_of(r.outcome), why), where);
  tally.fail("check --like: " + r.reasons.front().message, where);
}

// Without cells there is hardly a byte to tell layouts apart, so the result is only written.
void try_empty(const Genuine& from, const Genuine& to, const std::string& where, Tally& tally) {
  const auto bytes = converted_bytes(from.dump, target_of(to), options_for(from, to));
  if (bytes.empty()) tally.fail("nothing was written", where);
  tally.note("without cells", where);
}

void try_pair(const Genuine& from, const Genuine& to, Tally& tally) {
  const std::string where = from.name() + " like " + to.name();
  try {
    if (is_empty(*from.dump)) return try_empty(from, to, where, tally);
    const auto bytes = converted_bytes(from.dump, target_of(to), options_for(from, to));
    const auto result = opened(bytes);
    if (const auto flaw = flaw_of(result, bytes); !flaw.empty()) tally.fail(flaw, where);
    if (const auto found = difference_in_settings(*result, *to.dump); !found.empty())
      return tally.fail(found, where);
    expect_loads(to, *result, where, tally);
    expect_content(from, to, *result, where, tally);
    expect_like_other(from, to, *result, where, tally);
  } catch (const Error& error) {
    if (refusal_is_right(from, to, error.message()))
      return tally.note("refused: " + error.message().substr(0, 60), where);
    tally.fail(error.what(), where);
  } catch (const std::exception& error) {
    tally.fail(error.what(), where);
  }
}

bool can_be_pair(const Genuine& from, const Genuine& to) {
  return from.model == to.model && from.path != to.path && !to.partial && !from.partial &&
         !is_raw(to) && !is_raw(from);
}

TEST(ConvertMatrix, EachFileToTheSettingsOfEachOther) {
  const char* corpus = std::getenv("KVTOOL_CORPUS");
  const auto files = genuine_dumps(corpus != nullptr ? std::filesystem::path(corpus) : testdata());
  Tally tally;
  std::size_t pairs = 0;
  for (const Genuine& from : files)
    for (const Genuine& to : files)
      if (can_be_pair(from, to)) {
        ++pairs;
        try_pair(from, to, tally);
      }
  std::cout << files.size() << " files, " << pairs << " pairs\n";
  for (const auto& [what, count] : tally.counts)
    std::cout << count << "  " << what << "  (" << tally.examples[what] << ")\n";
  for (const auto& [what, most] : tally.furthest) std::cout << most << " apart at most: " << what << "\n";
  EXPECT_EQ(tally.failures, 0U);
  EXPECT_GT(pairs, 500U);
}

}  // namespace
}  // namespace kvtool::test
