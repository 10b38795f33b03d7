// defrag: order cells by sequence, drop those that no sequence uses; figures before and after.
#include "cli/rewrite.h"
#include "cli/verb.h"
#include "kvtool/edit.h"
#include "kvtool/error.h"
#include "kvtool/facts.h"
#include "kvtool/share.h"

namespace kvtool::cli {
namespace {

struct Options {
  RewriteOptions rewrite;
  bool stable = false;
  bool share = false;
  double tolerance = 0;
};

// How ordered the cells of a stream are.
struct Order {
  std::uint64_t cells = 0;
  std::uint64_t sequences = 0;
  std::uint64_t runs = 0;  // of all sequences together; as many as sequences is the best there is
};

Order order_of(const Stream& stream, bool one_sequence) {
  Order order;
  order.cells = stream.cells.size();
  for (const SequenceFacts& facts : sequences_of(stream, one_sequence)) {
    ++order.sequences;
    order.runs += facts.runs;
  }
  return order;
}

struct StreamReport {
  std::size_t memory;
  std::size_t stream;
  Order before;
  Order after;
};

std::vector<StreamReport> compare(const Plan& plan) {
  const Dump& before = *plan.sources.front();
  const bool one = holds_one_sequence(before);
  std::vector<StreamReport> reports;
  for (std::size_t m = 0; m < before.state.memories.size(); ++m) {
    const Memory& memory = before.state.memories[m];
    if (memory.kind != MemoryKind::attention) continue;
    for (std::size_t s = 0; s < memory.streams.size(); ++s)
      reports.push_back({m, s, order_of(memory.streams[s], one),
                         order_of(plan.target.state.memories[m].streams[s], one)});
  }
  return reports;
}

Json json_of(const std::vector<StreamReport>& reports) {
  Json list = Json::array();
  for (const StreamReport& r : reports)
    list.push_back({{"memory", r.memory},
                    {"stream", r.stream},
                    {"sequences", r.before.sequences},
                    {"cells_before", r.before.cells},
                    {"cells_after", r.after.cells},
                    {"runs_before", r.before.runs},
                    {"runs_after", r.after.runs}});
  return {{"streams", list}};
}

std::vector<std::string> lines_of(const std::vector<StreamReport>& reports) {
  std::vector<std::string> lines;
  lines.reserve(reports.size());
  for (const StreamReport& r : reports)
    lines.push_back(fmt::format("memory {} stream {}: {} -> {} cells, {} -> {} runs of {}",
                                r.memory, r.stream, r.before.cells, r.after.cells, r.before.runs,
                                r.after.runs, counted(r.before.sequences, "sequence")));
  return lines;
}

// Folds what is equal first, then puts the rest in order.
std::uint64_t share(Plan& plan, const Options& o) {
  if (!o.share) {
    if (o.tolerance != 0) throw Error(ErrorKind::usage, "--tolerance is for --share");
    return 0;
  }
  if (!(o.tolerance >= 0)) throw Error(ErrorKind::usage, "--tolerance is a number from 0 on");
  try {
    return share_equal_cells(plan, o.tolerance);
  } catch (const Error& error) {
    throw error.in_file(plan.sources.front()->source->name());
  }
}

int run(const Options& o) {
  Plan plan = Plan::of(open(o.rewrite.input));
  const std::uint64_t folded = share(plan, o);
  defrag(plan, {o.stable});
  const std::uint64_t size = write_output(plan, o.rewrite);
  const auto reports = compare(plan);
  Json figures = json_of(reports);
  std::vector<std::string> lines = lines_of(reports);
  if (o.share) {
    figures["shared"] = folded;
    lines.insert(lines.begin(), fmt::format("folded {} into equal ones", counted(folded, "cell")));
  }
  warn(plan, dangers_of_order(plan), figures);
  report(plan, size, o.rewrite, figures, lines);
  return exit_fine;
}

}  // namespace

Action add_defrag(CLI::App& verb) {
  auto options = std::make_shared<Options>();
  add_rewrite(verb, options->rewrite);
  verb.add_flag("--stable", options->stable, "keep the order, only drop unused cells");
  verb.add_flag("--share", options->share,
                "fold the cells with which sequences begin alike into one");
  verb.add_option("--tolerance", options->tolerance,
                  "with --share: K and V may be so far apart (else equal byte for byte)")
      ->type_name("X");
  return [options] { return run(*options); };
}

}  // namespace kvtool::cli
