// One conversation computed twice by llama.cpp: by two builds with other kernels, and in batches of
// another size. What they differ by is noise, and the figures are those of the arithmetic, done
// beside this program in Python with exact sums.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "kvtool/compare.h"
#include "kvtool/map.h"
#include "kvtool/open.h"
#include "support/testdata.h"

namespace kvtool {
namespace {

using test::ByteVector;

Dump trained(const std::string& name) {
  return open_dump(test::testdata("trained/" + name).string());
}

struct Expected {
  double max_abs;
  double rms;
  double relative_l2;
  double cosine;
  std::uint64_t equal_cells;
};

// K and V of each layer in turn.
void expect_figures(const Comparison& c, const std::vector<Expected>& expected) {
  ASSERT_EQ(c.tensors.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const TensorComparison& t = c.tensors[i];
    const Expected& e = expected[i];
    EXPECT_EQ(t.max_abs, e.max_abs) << i;
    EXPECT_NEAR(t.rms, e.rms, 1e-8 * e.rms) << i;
    EXPECT_NEAR(t.relative_l2, e.relative_l2, 1e-8 * e.relative_l2) << i;
    EXPECT_NEAR(t.cosine, e.cosine, 1e-9) << i;
    EXPECT_EQ(t.equal_cells, e.equal_cells) << i;
    EXPECT_EQ(t.over_tolerance, t.cells - t.equal_cells) << i;
  }
}

TEST(Pair, AnotherBuildIsNoise) {
  const Comparison c = compare(trained("pair-exact-48.ggsq"), trained("pair-othercpu-48.ggsq"));
  EXPECT_EQ(c.verdict, Verdict::within_noise) << c.words;
  EXPECT_NE(c.words.find("0.00085 relative, in memory 0 layer 1 V"), std::string::npos) << c.words;
  expect_figures(c, {{0.001953125, 0.000335631969, 0.00062385595, 0.999999805, 0},
                     {0.00048828125, 0.000127652038, 0.000627912818, 0.999999803, 0},
                     {0.00390625, 0.000710003996, 0.000820523646, 0.999999663, 0},
                     {0.001953125, 0.000451344363, 0.000852644511, 0.999999637, 0},
                     {0.00390625, 0.000811350894, 0.000620090805, 0.999999808, 0},
                     {0.00390625, 0.000612650714, 0.00079246361, 0.999999686, 0},
                     {0.0078125, 0.0010283052, 0.000595509402, 0.999999823, 0},
                     {0.00390625, 0.000817870407, 0.000809712796, 0.999999672, 0}});
}

TEST(Pair, AnotherBatchSizeIsNoise) {
  const Comparison c = compare(trained("pair-exact-48.ggsq"), trained("pair-steps-48.ggsq"));
  EXPECT_EQ(c.verdict, Verdict::within_noise) << c.words;
  expect_figures(c, {{0.000244140625, 4.43918329e-06, 8.25133229e-06, 1, 41},
                     {1.52587890625e-05, 1.95049277e-07, 9.5943585e-07, 1, 45},
                     {0.00390625, 0.00034287397, 0.000396245938, 0.999999922, 0},
                     {0.0009765625, 0.000228196816, 0.000431091598, 0.999999907, 0},
                     {0.00390625, 0.000415963848, 0.000317908514, 0.99999995, 0},
                     {0.00390625, 0.000305312092, 0.000394921147, 0.999999922, 0},
                     {0.00390625, 0.00052251168, 0.000302595591, 0.999999954, 0},
                     {0.001953125, 0.000437280292, 0.000432918767, 0.999999906, 0}});
}

TEST(Pair, WithinATolerance) {
  CompareOptions options;
  options.absolute = 0.0078125;  // the largest difference
  const Dump a = trained("pair-exact-48.ggsq");
  const Dump b = trained("pair-othercpu-48.ggsq");
  EXPECT_TRUE(compare(a, b, options).same());
  options.absolute = 0.0078124;
  EXPECT_FALSE(compare(a, b, options).same());
}

// Noise in all layers does not hide that one of them is wrong: V of layer 2 is halved.
TEST(Pair, AWrongLayerIsSeenThroughTheNoise) {
  const Dump other = trained("pair-othercpu-48.ggsq");
  ByteVector bytes(other.source->size());
  other.source->read_at(0, bytes);
  for (const MapRange& range : map_of(other))
    if (range.label == "memory[0].stream[0].layer[2].v_data")
      for (std::uint64_t at = range.offset; at < range.offset + range.size; at += 2) {
        const auto bits = test::peek<std::uint16_t>(bytes, at);
        if ((bits & 0x7c00U) > 0x0400U) test::poke<std::uint16_t>(bytes, at, static_cast<std::uint16_t>(bits - 0x0400U));
      }
  const Dump halved = open_dump(memory_source("halved", bytes));
  const Comparison c = compare(trained("pair-exact-48.ggsq"), halved);
  EXPECT_EQ(c.verdict, Verdict::one_layer_wrong) << c.words;
  EXPECT_NEAR(c.tensors[5].relative_l2, 0.5, 0.001);
}

// q8_0 of one run, stored after the rotation and without it.
TEST(Pair, RotatedByLlamaCppIsSaidSo) {
  const Comparison c = compare(trained("h128-q8_0-plain-256.ggsq"), trained("h128-q8_0-256.ggsq"));
  EXPECT_EQ(c.verdict, Verdict::rotated) << c.words;
  EXPECT_NE(c.words.find("blocks of 128"), std::string::npos) << c.words;
}

TEST(Pair, WholeFilesOfALargerCorpus) {
  const char* folder = std::getenv("KVTOOL_CORPUS");
  if (folder == nullptr) GTEST_SKIP() << "KVTOOL_CORPUS names no folder";
  const auto file = [&](const char* name) {
    return open_dump((std::filesystem::path(folder) / "trained" / name).string());
  };
  const Comparison builds = compare(file("pair-B-exact.ggsq"), file("pair-B-othercpu.ggsq"));
  EXPECT_EQ(builds.verdict, Verdict::within_noise) << builds.words;
  EXPECT_NEAR(builds.tensors[7].relative_l2, 0.000784117661, 1e-11);
  const Comparison batches = compare(file("pair-B-exact.ggsq"), file("pair-B-steps.ggsq"));
  EXPECT_EQ(batches.verdict, Verdict::within_noise) << batches.words;
  EXPECT_NEAR(batches.tensors[3].relative_l2, 0.000576659233, 1e-11);
  const Comparison others = compare(file("pair-A.ggsq"), file("pair-B-steps.ggsq"));
  EXPECT_EQ(others.verdict, Verdict::different_conversations) << others.words;
  EXPECT_NE(others.words.find("which is noise"), std::string::npos) << others.words;
  const Comparison copied = compare(file("pair-A.ggsq"), file("pair-B-exact.ggsq"));
  EXPECT_NE(copied.words.find("tokens part at 512, and up to there all values are equal"),
            std::string::npos)
      << copied.words;
  CompareOptions common;
  common.position_end = 512;
  const Comparison start = compare(file("pair-A.ggsq"), file("pair-B-steps.ggsq"), common);
  EXPECT_NEAR(start.tensors[3].relative_l2, 0.000522522622, 1e-11);
}

}  // namespace
}  // namespace kvtool
