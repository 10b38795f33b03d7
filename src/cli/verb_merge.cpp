// merge: the sequences of several files in one session, or one conversation after the other.
#include "cli/edit_report.h"
#include "cli/rope_options.h"
#include "cli/verb.h"
#include "kvtool/error.h"
#include "kvtool/merge.h"
#include "kvtool/open.h"

namespace kvtool::cli {
namespace {

struct Options {
  RewriteOptions rewrite;
  MoveOptions moves;
  std::vector<std::string> files;
  std::string arch;
  bool append = false;
  bool renumber = false;
  bool separate = false;
};

using DumpList = std::vector<std::shared_ptr<const Dump>>;

DumpList open_all(const Options& o) {
  DumpList dumps;
  for (const std::string& file : o.files) {
    InputOptions input = o.rewrite.input;
    input.file = file;
    dumps.push_back(open(input));
  }
  return dumps;
}

SequenceEdit appended(const Options& o, DumpList dumps) {
  if (o.renumber || o.separate || !o.arch.empty())
    throw Error(ErrorKind::usage,
                "--append makes one sequence: --renumber, --no-kv-unified and --arch mean nothing");
  PositionOptions options;
  for (auto& dump : dumps) {
    try {
      Prepared ready = prepare(o.moves, dump, true);
      dump = ready.dump;
      if (&dump == &dumps.front()) options = ready.options;
    } catch (const Error& error) {
      throw error.in_file(dump->source->name());
    }
  }
  return append_dumps(dumps, options);
}

SequenceEdit merged(const Options& o, const DumpList& dumps) {
  MergeOptions options;
  options.renumber = o.renumber;
  options.unified = !o.separate;
  if (!o.arch.empty()) options.arch = o.arch;
  if (!o.moves.window.model.empty())
    options.arch = open_gguf(open_source(o.moves.window.model)).architecture();
  return merge_dumps(dumps, options);
}

int run(Options o) {
  const DumpList dumps = open_all(o);
  o.rewrite.input.file = o.files.front();
  const SequenceEdit edit = o.append ? appended(o, dumps) : merged(o, dumps);
  const Json ids = sequence_ids(edit.plan.target.state);
  const std::string headline =
      o.append ? fmt::format("{} after each other", counted(dumps.size(), "file"))
               : fmt::format("{} with {}", counted(dumps.size(), "file"),
                             counted(ids.size(), "sequence"));
  write_edit(edit, o.rewrite, headline,
             {{"files", o.files}, {"append", o.append}, {"sequences", ids}});
  return exit_fine;
}

}  // namespace

Action add_merge(CLI::App& verb) {
  auto options = std::make_shared<Options>();
  verb.add_option("FILE", options->files, "the dumps, the first one first")->required();
  verb.add_option("--layout", options->rewrite.input.layout, "take this layout, where several fit")
      ->type_name("NAME");
  verb.add_option("--trailing", options->rewrite.input.trailing,
                  "unknown bytes behind a sequence state: refuse, keep or drop")
      ->check(CLI::IsMember({"refuse", "keep", "drop"}))
      ->type_name("WHAT");
  add_output(verb, options->rewrite, false);
  verb.add_flag("--append", options->append, "one sequence: each file after the one before");
  verb.add_flag("--renumber", options->renumber, "sequences get the ids 0, 1, 2 ...");
  verb.add_flag("--no-kv-unified", options->separate,
                "one stream for each sequence (else one for all)");
  verb.add_option("--arch", options->arch, "the architecture, where no file names it")
      ->type_name("NAME");
  add_moves(verb, options->moves, options->rewrite.input);
  return [options] { return run(*options); };
}

}  // namespace kvtool::cli
