#include "convert/surroundings.h"

#include <fmt/format.h>

#include <algorithm>

#include "convert/generator.h"
#include "format/container.h"
#include "kvtool/error.h"
#include "kvtool/facts.h"

namespace kvtool::convert_steps {
namespace {

bool may_drop(const ConvertOptions& options, const std::string& part) {
  return options.drop.count(part) > 0 || options.strip.count(part) > 0;
}

[[noreturn]] void refuse_loss(const std::string& what, const std::string& part) {
  throw Error(ErrorKind::refused,
              fmt::format("the target cannot hold {}; --drop {} leaves them out", what, part));
}

// What is lost is told; what would be lost unasked is refused.
void lose(const ConvertOptions& options, const std::string& part, const std::string& what,
          const std::string& cost, Conversion& result) {
  if (!may_drop(options, part)) refuse_loss(what, part);
  result.costs.push_back(fmt::format("dropped {}: {}", what, cost));
}

// True for targets whose loader takes a payload in the token area.
bool takes_payload(const Dump& source, const Target& target, Container container) {
  if (container != Container::slot) return false;
  return target.era ? target.era->payload : source.tokens.form == TokenForm::payload;
}

void make_plain(const Dump& source, Dump& output, const ConvertOptions& options,
                Conversion& result) {
  if (!source.tokens.problem.empty())
    throw Error(ErrorKind::refused, "the token payload is damaged: " + source.tokens.problem);
  if (!source.tokens.media.empty())
    lose(options, "media", "the media spans", "their places keep the id -1", result);
  output.tokens = TokenArea{};
  output.tokens.ids = output.tokens.words = source.tokens.ids;
  result.changes.emplace_back("tokens: payload -> plain ids");
}

bool keeps_tail(const Dialect& dialect, const Target& target) {
  if (dialect.container != Container::slot) return false;
  return target.era ? target.era->checkpoints : true;
}

void drop_checkpoints(const Dump& source, Tail& tail, Conversion& result) {
  tail.checkpoints.clear();
  tail.has_checkpoints = false;
  if (std::ranges::any_of(source.state.memories, cannot_rewind))
    result.costs.emplace_back(
        "without checkpoints a server computes the whole prompt again, unless it continues exactly "
        "where the file ends");
}

void drop_draft(Tail& tail) {
  tail.has_draft = false;
  tail.draft = {};
  tail.draft_speculation = {};
}

void need_arch(const Dump& source, Dump& output, const Target& target) {
  if (source.arch) {
    output.arch = source.arch;
  } else if (target.model && !target.model->arch.empty()) {
    output.arch = target.model->arch;
  } else {
    throw Error(ErrorKind::refused,
                "a session names its architecture and this file does not: say --model MODEL.gguf or "
                "--like REF");
  }
}

void change_outputs(const Dump& source, Dump& output, const Dialect& dialect,
                    const ConvertOptions& options, Conversion& result) {
  const bool holds = source.outputs.ids.size + source.outputs.logits.size +
                         source.outputs.embeddings.size > 0;
  if (!dialect.outputs && holds)
    lose(options, "outputs", "the logits and embeddings of the last batch",
         "the next token is computed first", result);
  if (!dialect.outputs || options.strip.count("outputs") > 0) output.outputs = {};
  if (options.strip.count("logits") > 0) output.outputs.logits = {};
  if (options.strip.count("embeddings") > 0) output.outputs.embeddings = {};
}

// What stands for an image in plain ids, and is refused by servers that would know its place from
// a payload.
void note_unknown_ids(const Dump& output, bool payload, Conversion& result) {
  const TokenArea& tokens = output.tokens;
  if (!payload || !tokens.media.empty()) return;
  const auto unknown = std::count_if(tokens.ids.begin(), tokens.ids.end(),
                                     [](TokenId id) { return id < 0; });
  if (unknown > 0)
    result.costs.push_back(
        fmt::format("{} tokens are -1, as of an image, and where it lay is not in the file: "
                    "llama-server refuses such ids since August 2026",
                    unknown));
}

void change_form(const Dump& source, Dump& output, const Target& target,
                 const ConvertOptions& options, Conversion& result) {
  const Container container = target.container.value_or(source.dialect.container);
  const bool is_payload = source.tokens.form == TokenForm::payload;
  if (options.tokens == TokenFormChoice::payload && !is_payload) {
    if (!takes_payload(source, target, container) && target.era)
      throw Error(ErrorKind::refused, "the target's loader does not know the token payload");
    output.tokens = decode_tokens(encode_payload(source.tokens.ids, {}));
    result.changes.emplace_back("tokens: plain ids -> payload");
    return;
  }
  const bool must_be_plain = options.tokens == TokenFormChoice::plain ||
                             !takes_payload(source, target, container);
  if (is_payload && must_be_plain) make_plain(source, output, options, result);
}

}  // namespace

void change_tokens(const Dump& source, Dump& output, const Target& target,
                   const ConvertOptions& options, Conversion& result) {
  change_form(source, output, target, options, result);
  const Container container = target.container.value_or(source.dialect.container);
  note_unknown_ids(output, container == Container::slot && target.era && target.era->payload,
                   result);
}

void change_prelude(const Dump& source, Dump& output, const Dialect& dialect, const Target& target,
                    const ConvertOptions& options, Conversion& result, Missing& missing) {
  if (format::has_arch(dialect))
    need_arch(source, output, target);
  else
    output.arch.reset();
  change_rng(source, dialect, options, result, missing);
  change_outputs(source, output, dialect, options, result);
}

void drop_lost_tail(const Dump& source, Tail& tail, const Dialect& dialect, const Target& target,
                    const ConvertOptions& options, Conversion& result) {
  const bool keeps = keeps_tail(dialect, target);
  if (tail.has_checkpoints && (!keeps || options.strip.count("checkpoints") > 0)) {
    if (!keeps)
      lose(options, "checkpoints", "the checkpoints", "its files have no place for them", result);
    drop_checkpoints(source, tail, result);
  }
  if (tail.has_draft && (!keeps || options.strip.count("draft") > 0)) {
    if (!keeps) lose(options, "draft", "the draft model's state", "it is computed again", result);
    drop_draft(tail);
  }
  if (dialect.container != Container::slot) tail.trailing = {};
}

}  // namespace kvtool::convert_steps
