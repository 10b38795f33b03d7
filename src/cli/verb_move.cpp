// move: move a range of cells to another place in the file.
#include "cli/rewrite.h"
#include "cli/verb.h"
#include "kvtool/edit.h"

namespace kvtool::cli {
namespace {

struct Options {
  RewriteOptions rewrite;
  StreamOptions where;
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t count = 1;
};

int run(const Options& o) {
  const CellAddress from{o.where.memory, o.where.stream, o.from};
  const Plan plan = move(open(o.rewrite.input), from, o.to, o.count);
  const std::uint64_t size = write_output(plan, o.rewrite);
  Json figures = {{"memory", from.memory},
                  {"stream", from.stream},
                  {"from", o.from},
                  {"to", o.to},
                  {"count", o.count}};
  warn(plan, dangers_of_order(plan), figures);
  report(plan, size, o.rewrite, figures,
         {fmt::format("memory {} stream {}: moved {} from {} to {}", from.memory, from.stream,
                      counted(o.count, "cell"), o.from, o.to)});
  return exit_fine;
}

}  // namespace

Action add_move(CLI::App& verb) {
  auto options = std::make_shared<Options>();
  add_rewrite(verb, options->rewrite);
  verb.add_option("FROM", options->from, "index of the first cell to move")->required();
  verb.add_option("TO", options->to, "index that it has afterwards")->required();
  verb.add_option("COUNT", options->count, "how many cells")->capture_default_str();
  add_stream(verb, options->where);
  return [options] { return run(*options); };
}

}  // namespace kvtool::cli
