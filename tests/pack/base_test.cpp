// Differences from another dump: what is shared costs next to nothing, what is not there is refused.
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <random>

#include "kvtool/edit.h"
#include "kvtool/error.h"
#include "pack/index.h"
#include "pack/packed.h"
#include "pack/packed_source.h"
#include "support/made_dump.h"
#include "support/testdata.h"

namespace kvtool::test {
namespace {

namespace fs = std::filesystem;

Shape chat(std::uint32_t cells) {
  Shape shape;
  shape.container = Container::slot;
  shape.version = 4;
  shape.cells = cells;
  shape.width = 256;
  return shape;
}

PackOptions against(const std::shared_ptr<const Dump>& base, const std::string& name = "base") {
  PackOptions options;
  options.base = base;
  options.base_name = name;
  return options;
}

BaseOpener opener(const std::shared_ptr<const Dump>& base) {
  return [base](const std::string&) { return base->source; };
}

std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// Values that are off by a few units in the last place now and then, as another kernel leaves them.
std::shared_ptr<const Dump> recomputed(const Dump& dump, std::uint32_t one_in) {
  ByteVector bytes = read_all(*dump.source);
  std::mt19937 random(7);
  for (const Layer& layer : dump.state.memories[0].streams[0].layers)
    for (const Tensor* tensor : {&layer.k, &layer.v})
      for (std::uint64_t at = tensor->extent.offset; at < tensor->extent.end(); at += 2)
        if (random() % one_in == 0)
          poke<std::uint16_t>(bytes, at, static_cast<std::uint16_t>(peek<std::uint16_t>(bytes, at) + 1));
  return opened(bytes, dump.layout);
}

TEST(Base, AnEqualDumpCostsItsLabels) {
  const auto dump = made_dump(chat(640));
  const ByteVector bytes = packed(*dump, against(dump));
  EXPECT_LT(bytes.size() * 100, dump->source->size());
  EXPECT_EQ(unpacked(*opened_packed(bytes, opener(dump)), 2), read_all(*dump->source));
  EXPECT_EQ(read_all(*opened_packed(bytes, opener(dump))), read_all(*dump->source));
}

TEST(Base, AGrowingChatCostsItsNewCells) {
  for (const bool transposed : {false, true}) {
    Shape small = chat(1500);
    Shape large = chat(2000);
    small.v_transposed = large.v_transposed = transposed;
    const auto base = made_dump(small);
    const auto dump = made_dump(large);
    const ByteVector alone = packed(*dump);
    const ByteVector bytes = packed(*dump, against(base));
    EXPECT_LT(bytes.size(), alone.size() * 28 / 100) << "a quarter of the cells is new";
    EXPECT_EQ(unpacked(*opened_packed(bytes, opener(base))), read_all(*dump->source));
  }
}

TEST(Base, ARecomputedPrefixIsItsDifferences) {
  const auto base = made_dump(chat(1000));
  const auto dump = recomputed(*base, 4);
  const ByteVector bytes = packed(*dump, against(base));
  EXPECT_LT(bytes.size() * 6, dump->source->size());
  EXPECT_EQ(unpacked(*opened_packed(bytes, opener(base))), read_all(*dump->source));
}

TEST(Base, EveryTypeAndOrder) {
  for (const ElementType type : {ElementType::f32, ElementType::f16, ElementType::bf16,
                                 ElementType::q8_0, ElementType::q4_0, ElementType::q5_1}) {
    Shape shape;
    shape.cells = 400;
    shape.sequences = 3;
    shape.shared = 100;
    shape.k_type = shape.v_type = type;
    const auto base = made_dump(shape);
    shape.order = CellOrder::random;
    shape.cells = 450;
    const auto dump = made_dump(shape);
    const ByteVector bytes = packed(*dump, against(base));
    EXPECT_EQ(unpacked(*opened_packed(bytes, opener(base)), 2), read_all(*dump->source))
        << info(type).name;
  }
}

TEST(Base, NothingInCommonNeedsNoBase) {
  Shape other = chat(640);
  other.seed = 99;
  const auto dump = made_dump(chat(640));
  const ByteVector bytes = packed(*dump, against(made_dump(other)));
  EXPECT_EQ(packing_of(*opened_packed(bytes))->base_name, "");
  EXPECT_EQ(unpacked(*opened_packed(bytes)), read_all(*dump->source));
}

TEST(Base, MissingOrWrongIsRefused) {
  const auto base = made_dump(chat(640));
  const auto dump = recomputed(*base, 9);
  const ByteVector bytes = packed(*dump, against(base, "chat.ggsq"));
  const std::string missing = error_of([&] { unpacked(*opened_packed(bytes)); });
  EXPECT_NE(missing.find("differences from chat.ggsq (XXH3 "), std::string::npos) << missing;
  const std::string wrong = error_of([&] { unpacked(*opened_packed(bytes, opener(dump))); });
  EXPECT_NE(wrong.find("is not the base of packed: XXH3 "), std::string::npos) << wrong;
  const std::string direct = error_of([&] { read_all(*opened_packed(bytes, opener(dump))); });
  EXPECT_EQ(direct, wrong);
}

// What is not a difference can be read without it: inspect needs no base.
TEST(Base, MetadataNeedsNone) {
  const auto base = made_dump(chat(640));
  const ByteVector bytes = packed(*recomputed(*base, 9), against(base));
  const Dump dump = open_dump(opened_packed(bytes));
  EXPECT_EQ(dump.layout, base->layout);
}

TEST(Base, CanBePackedItself) {
  const auto base = made_dump(chat(640));
  const ByteVector packed_base = packed(*base);
  const auto again = std::make_shared<const Dump>(open_dump(opened_packed(packed_base)));
  const auto dump = recomputed(*base, 9);
  const ByteVector bytes = packed(*dump, against(again));
  EXPECT_EQ(bytes, packed(*dump, against(base))) << "its content counts, not how it is kept";
  EXPECT_EQ(unpacked(*opened_packed(bytes, opener(again))), read_all(*dump->source));
}

// --- dumps of a trained model, where they are at hand ---

// The first 512 tokens of a dump, which it shares with the others of its kind.
std::shared_ptr<const Dump> prefix_of(const fs::path& path) {
  const auto dump = std::make_shared<const Dump>(open_dump(path.string()));
  MemorySink sink;
  write_plan(truncate(dump, 512), sink);
  return opened(sink.bytes(), dump->layout);
}

double times_smaller(const Dump& dump, const std::shared_ptr<const Dump>& base) {
  const ByteVector bytes = packed(dump, against(base));
  EXPECT_EQ(unpacked(*opened_packed(bytes, opener(base))), read_all(*dump.source));
  return static_cast<double>(dump.source->size()) / static_cast<double>(bytes.size());
}

TEST(TrainedBase, PrefixesComputedAgain) {
  const char* corpus = std::getenv("KVTOOL_CORPUS");
  const fs::path folder = corpus == nullptr ? "" : fs::path(corpus) / "trained";
  if (!fs::exists(folder / "pair-A.ggsq")) GTEST_SKIP() << "KVTOOL_CORPUS has no trained/pair-A";
  const auto base = std::make_shared<const Dump>(open_dump((folder / "pair-A.ggsq").string()));
  const std::map<std::string, double> least = {
      {"pair-B-exact.ggsq", 150}, {"pair-B-steps.ggsq", 6}, {"pair-B-othercpu.ggsq", 4}};
  for (const auto& [name, times] : least) {
    const double found = times_smaller(*prefix_of(folder / name), base);
    std::cout << name << ": the shared prefix is " << found << " times smaller with its base\n";
    EXPECT_GE(found, times) << name;
  }
}

class BaseOnDisk : public testing::Test {
 protected:
  BaseOnDisk() { fs::create_directory(folder_); }
  ~BaseOnDisk() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void put(const std::string& name, const ByteVector& bytes) const {
    std::ofstream(path(name), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<long>(bytes.size()));
  }
  fs::path folder_ = fs::temp_directory_path() / ("kvtool-base-" + std::to_string(::getpid()));
};

TEST_F(BaseOnDisk, IsFoundBesideTheContainer) {
  const auto base = made_dump(chat(640));
  const auto dump = recomputed(*base, 9);
  put("b.kvz", packed(*dump, against(base, "a.ggsq")));
  EXPECT_THROW(read_all(*open_source(path("b.kvz"))), Error);
  put("a.ggsq.kvz", packed(*base));
  EXPECT_EQ(read_all(*open_source(path("b.kvz"))), read_all(*dump->source));
  put("a.ggsq", read_all(*base->source));
  EXPECT_EQ(read_all(*open_source(path("b.kvz"))), read_all(*dump->source));
}

// A forged container that is its own base would go round for ever.
TEST_F(BaseOnDisk, ACircleIsRefused) {
  const auto base = made_dump(chat(640));
  const ByteVector bytes = packed(*recomputed(*base, 9), against(base, "a"));
  packing::ContainerFile file = packing::read_container(*memory_source("x", bytes));
  file.index.base.hash_low = file.index.hash_low;
  file.index.base.hash_high = file.index.hash_high;
  std::uint64_t frames = 0;
  for (const std::uint32_t size : file.index.frame_sizes) frames += size;
  ByteVector forged(bytes.begin(), bytes.begin() + static_cast<long>(file.frames_offset + frames));
  const ByteVector index = packing::encode_index(file.index);
  const ByteVector footer = packing::encode_footer(forged.size(), index);
  forged.insert(forged.end(), index.begin(), index.end());
  forged.insert(forged.end(), footer.begin(), footer.end());
  put("a", forged);
  const std::string error = error_of([&] { read_all(*open_source(path("a"))); });
  EXPECT_NE(error.find("more than 8 bases of bases"), std::string::npos) << error;
}

// Only a name beside the container is looked up, whatever it holds.
TEST_F(BaseOnDisk, NoPathLeadsElsewhere) {
  const auto base = made_dump(chat(640));
  put("a", read_all(*base->source));
  fs::create_directory(folder_ / "in");
  put("in/b.kvz", packed(*recomputed(*base, 9), against(base, "../a")));
  EXPECT_THROW(read_all(*open_source(path("in/b.kvz"))), Error);
}

}  // namespace
}  // namespace kvtool::test
