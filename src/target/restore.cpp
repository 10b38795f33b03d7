#include "kvtool/restore.h"

#include <fmt/format.h>

#include <algorithm>

#include "kvtool/error.h"
#include "target/differences.h"
#include "target/reuse.h"
#include "target/server_tail.h"
#include "target/simulation.h"

namespace kvtool {
namespace {

using namespace target;

// Closes the gaps of a target with what the dump shows.
class Completion {
 public:
  Completion(const Dump* dump, Restore& result) : dump_(dump), result_(result) {}

  Target run(Target target) {
    if (!target.era)
      throw Error(ErrorKind::usage, "which loader is it for? pass --loader, --to or --like");
    if (!target.model) take_shape(target);
    take_unknown_layers(*target.model);
    missing(target.n_ctx.has_value(), "the size of the context (--ctx-size)");
    missing(target.streams().has_value(), "the number of streams (--parallel, --kv-unified)");
    missing(target.type_k && target.type_v,
            "the types of K and V (--cache-type-k, --cache-type-v)");
    missing(target.flash_attention.has_value(), "how V lies (--flash-attn)");
    missing(target.model->n_vocab.has_value() || !target.era->payload,
            "ids against the vocabulary (--model)");
    return target;
  }

 private:
  void missing(bool known, const char* what) {
    if (!known) result_.unchecked.emplace_back(what);
  }

  void take_shape(Target& target) {
    if (dump_ == nullptr)
      throw Error(ErrorKind::usage,
                  "the file does not read as a dump, so the shape of the target's "
                  "caches must come from --model or --like");
    target.model = shape_of_dump(*dump_);
    result_.unchecked.emplace_back("layers and widths (--model, --like)");
  }

  // A reference with an empty cache leaves its layers to the file.
  void take_unknown_layers(ModelShape& shape) {
    if (dump_ == nullptr) return;
    const ModelShape seen = shape_of_dump(*dump_);
    for (std::size_t c = 0; c < shape.caches.size() && c < seen.caches.size(); ++c)
      if (!shape.caches[c].known) shape.caches[c] = seen.caches[c];
  }

  const Dump* dump_;
  Restore& result_;
};

Container container_of(const Target& target, format::Window& window) {
  if (target.container) return *target.container;
  std::uint32_t magic = 0;
  format::Cursor in(window, {0, window.size()});
  return in.take(magic) && magic == 0x6767736e ? Container::session : Container::slot;
}

std::uint64_t shared_start(const std::vector<TokenId>& a, const std::vector<TokenId>& b) {
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t n = 0;
  while (n < most && a[n] == b[n]) ++n;
  return n;
}

// Runs the steps of a server on one file and fills in the result.
class Restoration {
 public:
  Restoration(const Source& file, const Target& target, Restore& result)
      : window_(file), target_(target), parts_(parts_of(*target.model)), result_(result) {}

  void run(const RestoreOptions& options) {
    const Container container = container_of(target_, window_);
    result_.container = container;
    const bool strict = !target_.era->dies_on_short_file;
    Simulation loader(window_, {0, window_.size()}, target_, parts_, container, strict);
    loader.file();
    result_.certain = loader.certain();
    if (loader.stop()) return stop(loader.stop()->outcome, loader.stop()->reason);
    if (container != Container::slot) return loaded_session(loader);
    const TakenTokens tokens = take_tokens(loader.words(), target_);
    if (tokens.refusal) return stop(Outcome::refused, *tokens.refusal);
    loaded_slot(loader, tokens.ids, options);
  }

 private:
  void stop(Outcome outcome, const Reason& reason) {
    result_.outcome = outcome;
    result_.reasons = {reason};
  }

  // A program that reads a session decides itself what it does with the ids.
  void loaded_session(const Simulation& loader) {
    result_.tokens = loader.words().size();
    result_.reused = result_.tokens;
    result_.next = Aftermath::reused;
  }

  void loaded_slot(const Simulation& loader, const std::vector<TokenId>& ids,
                   const RestoreOptions& options) {
    ServerTail tail;
    if (target_.era->checkpoints) tail = take_tail(window_, loader.end());
    result_.tokens = ids.size();
    result_.warnings = tail.warnings;
    const Restored restored{ids, loader.memories(), tail.checkpoints};
    const std::uint64_t shared = options.prompt ? shared_start(ids, *options.prompt)
                                 : ids.empty()  ? 0
                                                : ids.size() - 1;
    const bool last_again = options.prompt && options.prompt->size() == shared;
    Reuse reuse = reuse_of(restored, shared, last_again, target_, parts_, window_);
    if (!options.prompt && shared > 1) {  // a window goes back by one token, and no further
      const Reuse earlier = reuse_of(restored, shared - 1, false, target_, parts_, window_);
      if (earlier.next == Aftermath::recomputed) reuse = earlier;
    }
    result_.next = reuse.next;
    result_.reused = reuse.tokens;
    say_what_follows(reuse, ids);
  }

  void say_what_follows(const Reuse& reuse, const std::vector<TokenId>& ids) {
    if (reuse.next == Aftermath::wrong_text)
      error("tokens_without_cells",
            "it has ids and no cells: the server goes on from whatever the "
            "slot held before, or aborts if it held nothing");
    if (reuse.next == Aftermath::dies)
      error("negative_position",
            "the lowest position is -1: the server aborts at the next "
            "request (\"pos_min == -1, but n_past > 0\")");
    if (reuse.next == Aftermath::recomputed && !ids.empty())
      warning("no_rewind",
              "only a prompt that begins with all its ids is continued; for any other "
              "the server computes everything again");
  }

  void error(const char* code, const char* message) {
    result_.warnings.push_back({Severity::error, code, "", message});
  }
  void warning(const char* code, const char* message) {
    result_.warnings.push_back({Severity::warning, code, "", message});
  }

  format::Window window_;
  const Target& target_;
  std::vector<Part> parts_;
  Restore& result_;
};

// The rest of the reasons behind the one that the loader met. Where the dump shows that one too, it
// has the better words for it.
void add_differences(const Dump& dump, const Target& target, Restore& result) {
  if (result.reasons.empty()) return;
  std::vector<Reason> all = differences(dump, target);
  Reason& first = result.reasons.front();
  const auto same = std::find_if(all.begin(), all.end(), [&](const Reason& r) {
    return r.code == first.code && (r.where == first.where || r.where.empty());
  });
  if (same != all.end()) {
    first.message = same->message;
    all.erase(same);
  }
  result.reasons.insert(result.reasons.end(), all.begin(), all.end());
}

}  // namespace

namespace {

void need_known_loader(const Target& target) {
  if (!target.era || (!target.era->is_old() && target.era->family == Family::llama_cpp)) return;
  throw Error(
      ErrorKind::unsupported,
      fmt::format("what loaders of {} make of a file is not foretold: {}; without a target, "
                  "check says whether it is sound",
                  target.era->name,
                  target.era->is_old() ? "they are older than August 2024"
                                       : "they are ik_llama.cpp's"));
}

}  // namespace

Restore predict_restore(const Source& file, const Dump* dump, const Target& target,
                        const RestoreOptions& options) {
  need_known_loader(target);
  Restore result;
  const Target complete = Completion(dump, result).run(target);
  Restoration(file, complete, result).run(options);
  if (dump != nullptr) {
    add_differences(*dump, complete, result);
    const std::vector<Finding> dangers = silent_dangers(*dump, complete);
    result.warnings.insert(result.warnings.end(), dangers.begin(), dangers.end());
  }
  return result;
}

std::string name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::loads: return "loads";
    case Outcome::refused: return "refused";
    case Outcome::dies: return "dies";
    case Outcome::hangs: return "hangs";
  }
  return {};
}

std::string name_of(Aftermath next) {
  switch (next) {
    case Aftermath::nothing: return "nothing";
    case Aftermath::reused: return "reused";
    case Aftermath::recomputed: return "recomputed";
    case Aftermath::wrong_text: return "wrong_text";
    case Aftermath::dies: return "dies";
  }
  return {};
}

}  // namespace kvtool
