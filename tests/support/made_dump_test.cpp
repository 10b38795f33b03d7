// The maker itself: what it makes opens as what was asked for, and holds the numbers it should.
#include "support/made_dump.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "kvtool/check.h"
#include "kvtool/codec.h"
#include "support/contents.h"
#include "support/made_values.h"
#include "support/sound.h"

namespace kvtool::test {
namespace {

Shape shape_of(Container container, std::uint32_t version, CellExtension extension) {
  Shape shape;
  shape.container = container;
  shape.version = version;
  shape.extension = extension;
  return shape;
}

TEST(MadeDump, OpensAsEveryVersion) {
  using enum CellExtension;
  for (const auto& [version, extension] :
       {std::pair{9U, none}, {9U, xy}, {10U, none}, {10U, xy_token}, {11U, none}, {11U, xy_token}}) {
    const auto dump = made_dump(shape_of(Container::session, version, extension));
    EXPECT_EQ(dump->dialect.version, version);
    EXPECT_EQ(dump->dialect.extension, extension);
    EXPECT_EQ(flaw_of(dump, bytes_of(*dump)), "");
  }
  for (const std::uint32_t version : {2U, 3U, 4U}) {
    const auto dump = made_dump(shape_of(Container::slot, version, none));
    EXPECT_EQ(dump->dialect.container, Container::slot);
    EXPECT_EQ(dump->dialect.version, version);
  }
}

TEST(MadeDump, HasTheMemoriesOfItsShape) {
  Shape shape = shape_of(Container::slot, 4, CellExtension::none);
  shape.window = 16;
  shape.recurrent = true;
  shape.checkpoints = 2;
  const auto dump = made_dump(shape);
  EXPECT_EQ(dump->state.arrangement, "hybrid-iswa");
  EXPECT_EQ(dump->state.memories[1].streams[0].cells.size(), 16);
  ASSERT_EQ(dump->tail.checkpoints.size(), 2);
  EXPECT_EQ(dump->tail.checkpoints[1].target.problem, "");
  EXPECT_EQ(flaw_of(dump, bytes_of(*dump)), "");
}

// Nothing that `check --deep` would call an error: no NaN, no broken scale, no repeated layer.
TEST(MadeDump, IsSoundInEveryType) {
  for (const ElementTypeInfo& type : element_types()) {
    if (!can_decode(type.type) || type.fork_only) continue;
    Shape shape;
    shape.k_type = shape.v_type = type.type;
    CheckOptions deep;
    deep.deep = true;
    for (const Finding& finding : check(*made_dump(shape), deep))
      EXPECT_NE(finding.severity, Severity::error) << type.name << ": " << finding.message;
  }
}

TEST(MadeDump, HoldsTheSameNumbersInRowsAndTransposed) {
  Shape shape;
  const auto rows = made_dump(shape);
  shape.v_transposed = true;
  const auto columns = made_dump(shape);
  EXPECT_NE(bytes_of(*rows), bytes_of(*columns));
  EXPECT_EQ(contents_of(*rows), contents_of(*columns));
  shape.seed = 2;
  EXPECT_NE(contents_of(*made_dump(shape)), contents_of(*columns));
}

TEST(HalfOfFloat, GivesBackEveryHalf) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = float_of_half(half);
    if (!std::isnan(value)) {
      ASSERT_EQ(half_of_float(value), half);
    }
  }
}

TEST(HalfOfFloat, RoundsToTheNearestAndTiesToEven) {
  EXPECT_EQ(half_of_float(1.0F + 0x1p-11F), 0x3c00);
  EXPECT_EQ(half_of_float(1.0F + 0x1.8p-11F), 0x3c01);
  EXPECT_EQ(half_of_float(1.0F + 0x3p-11F), 0x3c02);
  EXPECT_EQ(half_of_float(65519.0F), 0x7bff);
  EXPECT_EQ(half_of_float(65520.0F), 0x7c00);
  EXPECT_EQ(half_of_float(-0x1p-24F), 0x8001);
}

}  // namespace
}  // namespace kvtool::test
