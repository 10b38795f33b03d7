// There and back again: V turned and turned back, and up to today's versions and down again, gives back every genuine file
// byte for byte, but for what the way is known to lose. KVTOOL_CORPUS=FOLDER takes the dumps below it instead.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "convert/genuine.h"
#include "kvtool/facts.h"

namespace kvtool::test {
namespace {

// How many files went which way.
using Counts = std::map<std::string, std::size_t>;

std::vector<Genuine> all_files() {
  const char* corpus = std::getenv("KVTOOL_CORPUS");
  return genuine_dumps(corpus != nullptr ? std::filesystem::path(corpus) : testdata());
}

bool is_raw(const Dump& dump) {
  return dump.dialect.container == Container::state ||
         dump.dialect.container == Container::sequence_state;
}

bool is_empty(const Dump& dump) {
  std::uint64_t cells = 0;
  for (const Memory& memory : dump.state.memories) cells += cells_of(memory);
  return cells == 0;
}

// Every V of the attention caches.
std::vector<Tensor> all_v(const Dump& dump) {
  std::vector<Tensor> tensors;
  for (const Memory& memory : dump.state.memories)
    for (const Stream& stream : memory.streams)
      if (memory.kind == MemoryKind::attention && !stream.cells.empty())
        for (const Layer& layer : stream.layers)
          if (layer.v.orientation != Orientation::absent) tensors.push_back(layer.v);
  return tensors;
}

bool is_recurrent(const Dump& dump) { return dump.state.arrangement == "recurrent"; }

bool can_turn(const Dump& dump) {
  const std::vector<Tensor> tensors = all_v(dump);
  return !tensors.empty() && std::all_of(tensors.begin(), tensors.end(), [](const Tensor& v) {
    return info(v.type).block_elements == 1;
  });
}

// The file's own settings, so that only what a test changes is changed. Two models are called
// mamba.gguf, and types need no model where there is no K.
Target own_target(const Genuine& file) {
  Target target = target_of(file);
  if (is_recurrent(*file.dump)) target.model = target_like(*file.dump).model;
  if (file.rotation == StatedRotation::none) target.rotation_disabled = true;
  return target;
}

void report(const Counts& counts) {
  for (const auto& [what, count] : counts) fmt::print("{}: {}\n", what, count);
}

ConvertOptions options_for(const Genuine& file) {
  ConvertOptions options;
  options.rotation = file.rotation;
  options.drop = {"outputs"};
  return options;
}

// Calls check(file) for every file with something to convert; what it throws is about that file.
template <class F>
void for_each_file(F&& check) {
  for (const Genuine& file : all_files()) {
    if (is_raw(*file.dump) || file.partial || is_empty(*file.dump)) continue;
    SCOPED_TRACE(file.name());
    try {
      check(file);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

void turn_and_turn_back(const Genuine& file, Counts& counts) {
  const Target own = own_target(file);
  Target other = own;
  other.flash_attention = !own.flash_attention.value();
  const auto turned = converted(file.dump, other, options_for(file));
  EXPECT_NE(bytes_of(*turned), bytes_of(*file.dump));
  EXPECT_EQ(converted_bytes(turned, own, options_for(file)), bytes_of(*file.dump));
  ++counts[*own.flash_attention ? "rows -> columns -> rows" : "columns -> rows -> columns"];
}

TEST(RoundTrip, TurnedVComesBack) {
  Counts counts;
  for_each_file([&](const Genuine& file) {
    if (can_turn(*file.dump)) turn_and_turn_back(file, counts);
  });
  report(counts);
  EXPECT_GT(counts["rows -> columns -> rows"], 20U);
  EXPECT_GT(counts["columns -> rows -> columns"], 5U);
}

// What a file has that today's versions do not store; empty if nothing.
std::string lost_on_the_way(const Genuine& file, const Dump& up) {
  const Dump& dump = *file.dump;
  if (dump.dialect.outputs && dump.dialect.container == Container::session) return "outputs";
  if (all_v(up).size() < all_v(dump).size()) return "V of MLA and index caches";
  return {};
}

// The same settings for a loader of another time.
Target at_time(const Genuine& file, const Era& era) {
  Target target = own_target(file);
  target.era = era;
  if (is_recurrent(*file.dump)) return target;
  if (auto shape = shape_from_model(file.model, era)) target.model = std::move(shape);
  return target;
}

// Versions 9 of sessions and 2 of sequences, and not those whose generator text no other version has.
bool is_older(const Dump& dump) {
  const std::uint32_t todays = holds_one_sequence(dump) ? 3 : 10;
  return dump.dialect.body == Body::current && dump.dialect.version < todays && !dump.dialect.rng_text;
}

void climb_and_descend(const Genuine& file, Counts& counts) {
  DumpPointer step = file.dump;
  for (const char* loader : {"v0.4.0", "0.7.0", "v0.4.0"})
    step = converted(step, at_time(file, era_of_loader(loader)), options_for(file));
  const std::string lost = lost_on_the_way(file, *step);
  ++counts[lost.empty() ? "the same bytes" : "without " + lost];
  if (!lost.empty()) return;
  const Target back = at_time(file, *target_of(file).era);
  EXPECT_EQ(converted_bytes(step, back, options_for(file)), bytes_of(*file.dump));
}

TEST(RoundTrip, UpToTodayAndDownAgain) {
  Counts counts;
  for_each_file([&](const Genuine& file) {
    if (is_older(*file.dump)) climb_and_descend(file, counts);
  });
  report(counts);
  EXPECT_GT(counts["the same bytes"], 10U);
}

}  // namespace
}  // namespace kvtool::test
