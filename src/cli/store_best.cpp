// store best: which entry saves the most work on a prompt.
#include "cli/prompt_argument.h"
#include "cli/store_verbs.h"
#include "kvtool/open.h"

namespace kvtool::cli {
namespace {

struct BestVerb {
  StoreOptions store;
  std::string tokens;
  std::string model;
  std::string like;
  std::size_t top = 1;
};

BestOptions options_of(const BestVerb& o) {
  BestOptions options;
  options.model = stamp_of_file(o.model);
  if (o.like.empty()) return options;
  const StoredPrompt like = stored_prompt(open_dump(o.like));
  options.arch = like.arch;
  options.shape = like.shape;
  return options;
}

Json candidate_json(const BestCandidate& c) {
  const auto& points = c.entry.prompt.rewind.checkpoints;
  Json soft = Json::array();
  for (const StampDifference& difference : c.soft) soft.push_back(difference.key);
  return {{"name", c.entry.name},
          {"tokens", c.entry.prompt.tokens},
          {"shared", c.shared},
          {"reused", c.reuse.reused},
          {"recomputed", c.reuse.recomputed},
          {"checkpoint_tokens",
           c.reuse.checkpoint ? Json(points[*c.reuse.checkpoint].tokens) : Json(nullptr)},
          {"reason", c.reuse.reason.empty() ? Json(nullptr) : Json(c.reuse.reason)},
          {"layout", c.entry.layout},
          {"model_differs_in", soft}};
}

void print_json(const BestVerb& o, const BestReport& report, std::uint64_t queries, Printer& out) {
  Json json = json_document(o.store.folder);
  json["prompt_tokens"] = report.tokens;
  json["best"] = Json::array();
  for (const BestCandidate& c : report.candidates) json["best"].push_back(candidate_json(c));
  json["without_model"] = report.without_model;
  json["other_model"] = report.other_model;
  json["queries"] = queries;
  out.json(json);
}

void print_tsv(const BestReport& report, Printer& out) {
  out.line("name\treused\trecomputed\tshared\ttokens\treason");
  for (const BestCandidate& c : report.candidates)
    out.line("{}\t{}\t{}\t{}\t{}\t{}", c.entry.name, c.reuse.reused, c.reuse.recomputed, c.shared,
             c.entry.prompt.tokens, c.reuse.reason.empty() ? "-" : c.reuse.reason);
}

void print_text(const BestReport& report, Printer& out) {
  if (report.candidates.empty())
    out.line("nothing saves work on this prompt of {}", counted(report.tokens, "token"));
  for (const BestCandidate& c : report.candidates) {
    out.line("{}: {} of {} reused, {} recomputed", c.entry.name, c.reuse.reused,
             counted(report.tokens, "token"), c.reuse.recomputed);
    if (!c.reuse.reason.empty()) out.line("  {}", c.reuse.reason);
    for (const StampDifference& difference : c.soft)
      out.line("  its model has another {}", difference.key);
  }
  if (report.without_model > 0)
    out.line("left out: {} put without --model", counted(report.without_model, "file"));
  if (report.other_model > 0)
    out.line("left out: {} of another model", counted(report.other_model, "file"));
}

int run(const BestVerb& o) {
  const Prompt prompt = read_prompt(o.tokens, "--tokens");
  Store store = open_store(o.store);
  const std::uint64_t before = store.queries();
  BestReport report = store.best(prompt.tokens, options_of(o));
  const bool found = !report.candidates.empty();
  if (o.top > 0 && report.candidates.size() > o.top) report.candidates.resize(o.top);
  Printer out;
  if (o.store.json)
    print_json(o, report, store.queries() - before, out);
  else if (o.store.tsv)
    print_tsv(report, out);
  else
    print_text(report, out);
  out.finish();
  return found ? exit_fine : exit_differs;
}

}  // namespace

Action add_store_best(CLI::App& verb) {
  auto o = std::make_shared<BestVerb>();
  add_folder(verb, o->store);
  verb.add_option("--tokens", o->tokens, "the prompt: ids, a file with them, a dump, or - ")
      ->required()
      ->type_name("PROMPT");
  verb.add_option("--model", o->model, "only entries that this model file computed")
      ->type_name("GGUF");
  verb.add_option("--like", o->like, "only entries with K and V of the same shape as in this dump")
      ->type_name("REF");
  verb.add_option("--top", o->top, "how many to name; 0: all that were looked at")
      ->type_name("N")
      ->capture_default_str();
  add_format(verb, o->store, true);
  return [o] { return run(*o); };
}

}  // namespace kvtool::cli
