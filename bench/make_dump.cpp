// make-dump OUT: a made-up session of any size, for benchmarks and for trying things out.
#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>

#include "support/made_dump.h"
#include "support/made_file.h"

namespace {

using kvtool::ElementType;
using kvtool::test::CellOrder;
using kvtool::test::Shape;

struct Options {
  std::string path;
  std::uint64_t size = 0;  // 0: as many cells as `shape` says
  std::string type = "f16";
  bool sparse = false;
  Shape shape;
};

ElementType type_of(const std::string& name) {
  const auto* type = kvtool::find_element_type(name);
  if (type == nullptr) throw std::runtime_error("no element type " + name);
  return type->type;
}

void add_options(CLI::App& app, Options& options) {
  const std::map<std::string, CellOrder> orders = {
      {"tidy", CellOrder::tidy}, {"runs", CellOrder::runs}, {"random", CellOrder::random}};
  Shape& shape = options.shape;
  shape.sequences = 4;
  shape.cells = 16384;
  shape.layers = 32;
  shape.width = 1024;
  shape.run = 32;
  app.add_option("out", options.path, "the file to make")->required();
  app.add_option("--size", options.size, "about so large: 2GiB, 512MiB; sets the cells")
      ->transform(CLI::AsSizeValue(false));
  app.add_option("--cells", shape.cells, "cells of each stream")->capture_default_str();
  app.add_option("--streams", shape.streams, "streams of each cache")->capture_default_str();
  app.add_option("--sequences", shape.sequences, "sequences of each stream")->capture_default_str();
  app.add_option("--shared", shape.shared, "cells that all sequences share")->capture_default_str();
  app.add_option("--unused", shape.unused, "cells of no sequence")->capture_default_str();
  app.add_option("--layers", shape.layers, "layers of each memory")->capture_default_str();
  app.add_option("--width", shape.width, "elements of a K or V row")->capture_default_str();
  app.add_option("--type", options.type, "type of K and V")->capture_default_str();
  app.add_flag("--transposed", shape.v_transposed, "V by channel instead of by cell");
  app.add_option("--window", shape.window, "a second cache of so many last positions");
  app.add_flag("--recurrent", shape.recurrent, "also a recurrent memory");
  app.add_option("--order", shape.order, "tidy, runs or random")
      ->transform(CLI::CheckedTransformer(orders));
  app.add_option("--run", shape.run, "cells of a run in the order runs")->capture_default_str();
  app.add_option("--version-word", shape.version, "version of the session")->capture_default_str();
  app.add_option("--seed", shape.seed, "another seed, other numbers")->capture_default_str();
  app.add_flag("--sparse", options.sparse, "tensors are holes that take no space");
}

// As many cells as fill `size` with K and V of all streams.
std::uint32_t cells_for(std::uint64_t size, const Shape& shape) {
  const auto& type = kvtool::info(shape.k_type);
  const std::uint64_t row = shape.width / type.block_elements * type.block_bytes;
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(
      1, size / (2 * row * shape.layers * shape.streams)));
}

void make(Options options) {
  Shape& shape = options.shape;
  shape.k_type = shape.v_type = type_of(options.type);
  if (options.size > 0) shape.cells = cells_for(options.size, shape);
  kvtool::test::MadeFile file(options.path);
  const kvtool::Dump facts = kvtool::test::made_facts(shape);
  if (options.sparse)
    kvtool::test::write_made_sparse(facts, file);
  else
    kvtool::test::write_made(facts, shape.seed, file);
  file.close();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Makes a session with made-up numbers.", "make-dump");
  Options options;
  add_options(app, options);
  CLI11_PARSE(app, argc, argv);
  try {
    make(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "make-dump: {}: {}\n", options.path, error.what());
    return 2;
  }
  return 0;
}
