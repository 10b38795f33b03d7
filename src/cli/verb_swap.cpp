// swap: exchange two cells.
#include "cli/rewrite.h"
#include "cli/verb.h"
#include "kvtool/edit.h"

namespace kvtool::cli {
namespace {

struct Options {
  RewriteOptions rewrite;
  StreamOptions where;
  std::uint32_t first = 0;
  std::uint32_t second = 0;
};

int run(const Options& o) {
  const CellAddress a{o.where.memory, o.where.stream, o.first};
  const CellAddress b{o.where.memory, o.where.stream, o.second};
  const Plan plan = swap(open(o.rewrite.input), a, b);
  const std::uint64_t size = write_output(plan, o.rewrite);
  Json figures = {{"memory", a.memory}, {"stream", a.stream}, {"cells", {a.cell, b.cell}}};
  warn(plan, dangers_of_order(plan), figures);
  report(plan, size, o.rewrite, figures,
         {fmt::format("memory {} stream {}: exchanged cells {} and {}", a.memory, a.stream, a.cell,
                      b.cell)});
  return exit_fine;
}

}  // namespace

Action add_swap(CLI::App& verb) {
  auto options = std::make_shared<Options>();
  add_rewrite(verb, options->rewrite);
  verb.add_option("I", options->first, "index of a cell in the file")->required();
  verb.add_option("J", options->second, "index of the other cell")->required();
  add_stream(verb, options->where);
  return [options] { return run(*options); };
}

}  // namespace kvtool::cli
