// Every finding of `check` on a file that has just that defect, and silence on files that have none.
#include "kvtool/check.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "kvtool/map.h"
#include "kvtool/open.h"
#include "support/testdata.h"

namespace kvtool {
namespace {

using test::ByteVector;

const std::string slot = "modern/b11118/llama-simple.seq0.ggsq";
const std::string session = "modern/b11118/llama-multi-uni.ggsn";
const std::string gemma = "server/b0.7.0/gemma3.ggsq";

// A genuine file that a test damages field by field.
class Damaged {
 public:
  explicit Damaged(const std::string& path) : bytes_(test::read_file(test::testdata(path))) {
    const Dump dump = open_dump(memory_source(path, bytes_));
    map_ = map_of(dump, true);
  }

  template <class T>
  Damaged& set(const std::string& label, T value) {
    test::poke(bytes_, range(label).offset, value);
    return *this;
  }
  Damaged& fill(const std::string& label, std::byte value) {
    const MapRange& r = range(label);
    std::fill_n(bytes_.begin() + static_cast<std::ptrdiff_t>(r.offset), r.size, value);
    return *this;
  }
  Damaged& copy(const std::string& from, const std::string& to) {
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(range(from).offset), range(from).size,
                bytes_.begin() + static_cast<std::ptrdiff_t>(range(to).offset));
    return *this;
  }
  // Keeps the file up to the first byte of a label.
  Damaged& cut_before(const std::string& label) {
    bytes_.resize(static_cast<std::size_t>(range(label).offset));
    return *this;
  }
  // Removes the last `count` plain token ids.
  Damaged& drop_tokens(std::uint32_t count) {
    const MapRange& ids = range("tokens");
    const auto end = bytes_.begin() + static_cast<std::ptrdiff_t>(ids.offset + ids.size);
    bytes_.erase(end - std::ptrdiff_t{4} * count, end);
    set("n_token", static_cast<std::uint32_t>(ids.size / 4 - count));
    return *this;
  }
  Damaged& add_tokens(std::uint32_t count) {
    const MapRange& ids = range("tokens");
    bytes_.insert(bytes_.begin() + static_cast<std::ptrdiff_t>(ids.offset + ids.size), 4 * count,
                  std::byte{1});
    set("n_token", static_cast<std::uint32_t>(ids.size / 4 + count));
    return *this;
  }

  [[nodiscard]] std::vector<Finding> check(bool deep = false,
                                           Trailing trailing = Trailing::refuse) const {
    OpenOptions options;
    options.trailing = trailing;
    return kvtool::check(open_dump(memory_source("damaged", bytes_), options), {deep});
  }
  ByteVector& bytes() { return bytes_; }

 private:
  const MapRange& range(const std::string& label) const {
    const auto at = std::find_if(map_.begin(), map_.end(),
                                 [&](const MapRange& r) { return r.label == label; });
    if (at == map_.end()) throw std::runtime_error(fmt::format("no field {}", label));
    return *at;
  }

  ByteVector bytes_;
  std::vector<MapRange> map_;
};

std::vector<std::string> codes(const std::vector<Finding>& findings, Severity least) {
  std::vector<std::string> list;
  for (const Finding& f : findings)
    if (f.severity >= least) list.push_back(f.code);
  return list;
}

using Codes = std::vector<std::string>;

std::string cell(int index, const std::string& field) {
  return fmt::format("memory[0].stream[0].cell[{}].{}", index, field);
}

std::string tensor(int layer, const std::string& part) {
  return fmt::format("memory[0].stream[0].layer[{}].{}_data", layer, part);
}

TEST(Check, SoundFilesHaveNoWarnings) {
  for (const std::string& path : {slot, gemma, std::string("server/b0.7.0/lfm2.ggsq"),
                                  std::string("modern/b11118/qwen2vl-image.seq0.ggsq")})
    EXPECT_EQ(codes(Damaged(path).check(true), Severity::warning), Codes{}) << path;
}

TEST(Check, AsManyTokensAsCellsIsANote) {
  EXPECT_EQ(codes(Damaged(slot).check(), Severity::note), Codes{"last_token_replayed"});
}

TEST(Check, OneTokenMoreThanCellsIsUsual) {
  EXPECT_EQ(codes(Damaged(slot).add_tokens(1).check(), Severity::note), Codes{});
}

TEST(Check, FewerTokens) {
  EXPECT_EQ(codes(Damaged(slot).drop_tokens(2).check(), Severity::note), Codes{"fewer_tokens"});
}

TEST(Check, MoreTokens) {
  EXPECT_EQ(codes(Damaged(slot).add_tokens(2).check(), Severity::note), Codes{"more_tokens"});
}

TEST(Check, NoTokens) {
  EXPECT_EQ(codes(Damaged(slot).drop_tokens(24).check(), Severity::note), Codes{"no_tokens"});
}

TEST(Check, NegativeToken) {
  EXPECT_EQ(codes(Damaged(slot).set<std::int32_t>("tokens", -7).check(), Severity::error),
            Codes{"negative_token"});
}

TEST(Check, TokensWithoutCells) {
  Damaged file(slot);
  file.set<std::uint32_t>("memory[0].stream[0].cell_count", 0).cut_before(cell(0, "pos"));
  EXPECT_EQ(codes(file.check(), Severity::note), Codes{"tokens_without_cells"});
}

TEST(Check, EmptySlot) {
  EXPECT_EQ(codes(Damaged("server/b0.7.0/erased-llama.ggsq").check(), Severity::note),
            Codes{"empty_slot"});
}

TEST(Check, NegativePosition) {
  const auto found = Damaged(slot).set<std::int32_t>(cell(3, "pos"), -1).check();
  EXPECT_EQ(codes(found, Severity::error), Codes{"negative_position"});
}

TEST(Check, DuplicatePosition) {
  const auto found = Damaged(slot).set<std::int32_t>(cell(3, "pos"), 2).check();
  EXPECT_EQ(codes(found, Severity::warning), (Codes{"duplicate_position", "holes"}));
}

TEST(Check, Holes) {
  const auto found = Damaged(slot).set<std::int32_t>(cell(23, "pos"), 30).check();
  EXPECT_EQ(codes(found, Severity::warning), Codes{"holes"});
}

TEST(Check, RepeatedSequenceId) {
  // Cell 0 belongs to sequences 0, 1 and 2; now it names 1 twice.
  Damaged file(session);
  const Dump dump = open_dump(test::testdata(session).string());
  for (const MapRange& r : map_of(dump, true))
    if (r.label == cell(0, "seq_id")) test::poke<std::int32_t>(file.bytes(), r.offset, 1);
  const auto found = codes(file.check(), Severity::warning);
  EXPECT_EQ(std::count(found.begin(), found.end(), "repeated_sequence_id"), 1);
}

TEST(Check, CheckpointsAreMissing) {
  EXPECT_EQ(codes(Damaged(gemma).cut_before("tail.magic").check(), Severity::warning),
            Codes{"no_checkpoints"});
  EXPECT_EQ(codes(Damaged("server/b0.7.0/mamba.ggsq").cut_before("tail.magic").check(),
                  Severity::warning),
            Codes{"no_checkpoints"});
}

TEST(Check, CheckpointThatDoesNotRead) {
  Damaged file(gemma);
  file.set<std::uint32_t>("tail.checkpoint[0].target.magic", 0x12345678);
  EXPECT_EQ(codes(file.check(), Severity::warning), Codes{"unreadable_blob"});
}

TEST(Check, CheckpointBeyondTokens) {
  const auto found = Damaged(gemma).set<std::uint64_t>("tail.checkpoint[0].n_tokens", 99).check();
  EXPECT_EQ(codes(found, Severity::warning), Codes{"checkpoint_beyond_tokens"});
}

TEST(Check, TrailingBytes) {
  Damaged file(slot);
  file.bytes().resize(file.bytes().size() + 5, std::byte{0xee});
  EXPECT_EQ(codes(file.check(false, Trailing::keep), Severity::warning), Codes{"trailing_bytes"});
  EXPECT_EQ(codes(file.check(false, Trailing::drop), Severity::warning), Codes{});
}

TEST(Check, ValuesAreLookedAtOnlyWhenDeep) {
  Damaged file(slot);
  file.set<std::uint16_t>(tensor(1, "k"), 0x7c00);  // infinity
  EXPECT_EQ(codes(file.check(false), Severity::warning), Codes{});
  EXPECT_EQ(codes(file.check(true), Severity::warning), Codes{"not_finite"});
}

TEST(Check, BrokenBlockScale) {
  Damaged file("modern/b11118/llama-fa-q8_0.seq0.ggsq");
  file.set<std::uint16_t>(tensor(0, "v"), 0x7e00);  // NaN as the scale of the first block
  EXPECT_EQ(codes(file.check(true), Severity::warning), Codes{"not_finite"});
}

TEST(Check, ZeroAndRepeatedLayers) {
  EXPECT_EQ(codes(Damaged(slot).fill(tensor(0, "v"), std::byte{0}).check(true), Severity::warning),
            Codes{"all_zero"});
  EXPECT_EQ(codes(Damaged(slot).copy(tensor(0, "k"), tensor(1, "k")).check(true), Severity::warning),
            Codes{"repeated_layer"});
}

TEST(Check, ErrorsComeFirst) {
  const auto found =
      Damaged(slot).set<std::int32_t>(cell(23, "pos"), 30).set<std::int32_t>("tokens", -7).check();
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].code, "negative_token");
  EXPECT_EQ(found[1].code, "holes");
}

}  // namespace
}  // namespace kvtool
