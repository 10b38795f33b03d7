// A file that several layouts fit: harmless if they mean the same, refused if they do not.
#include "format/choose.h"

#include <gtest/gtest.h>

#include <vector>

#include "kvtool/error.h"
#include "kvtool/open.h"
#include "support/testdata.h"

namespace kvtool::format {
namespace {

// Two readings of one file. The second says it is of another layout.
std::vector<Dump> two_readings() {
  const auto path = test::testdata("modern/b11118/llama-multi-uni.ggsn").string();
  std::vector<Dump> readings = {open_dump(open_source(path)), open_dump(open_source(path))};
  readings[1].layout = "another";
  return readings;
}

Layer& first_layer(Dump& dump) { return dump.state.memories[0].streams[0].layers[0]; }

TEST(Choose, TheSameContentInTwoLayoutsIsTheFirst) {
  std::vector<Dump> readings = two_readings();
  const std::string layout = readings[0].layout;
  EXPECT_EQ(choose(std::move(readings)).layout, layout);
}

TEST(Choose, DifferentContentIsRefused) {
  const auto expect_refused = [](const auto& change) {
    std::vector<Dump> readings = two_readings();
    change(readings[1]);
    try {
      static_cast<void>(choose(std::move(readings)));
      ADD_FAILURE() << "was not refused";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::refused);
      EXPECT_NE(std::string(error.what()).find("another"), std::string::npos) << error.what();
    }
  };
  expect_refused([](Dump& d) { first_layer(d).k.extent.offset += 2; });
  expect_refused([](Dump& d) { first_layer(d).v.orientation = Orientation::transposed; });
  expect_refused([](Dump& d) { first_layer(d).k.type = ElementType::bf16; });
  expect_refused([](Dump& d) { d.state.memories[0].streams[0].layers.pop_back(); });
  expect_refused([](Dump& d) { d.state.memories[0].streams[0].cells = CellTable(); });
}

}  // namespace
}  // namespace kvtool::format
