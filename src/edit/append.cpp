// merge --append: one conversation after the other in one sequence.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "convert/steps.h"
#include "edit/members.h"
#include "edit/merge_parts.h"
#include "edit/window_check.h"
#include "kvtool/error.h"
#include "kvtool/merge.h"

namespace kvtool {
namespace {

struct Span {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

// The positions of all attention cells.
Span span_of(const State& state) {
  Span span{std::numeric_limits<std::int64_t>::max(), 0};
  for (const Memory& memory : state.memories)
    for (const Stream& stream : memory.streams)
      for (std::size_t c = 0; c < stream.cells.size(); ++c) {
        const std::int64_t p = stream.cells.position(c);
        span.begin = std::min(span.begin, p);
        span.end = std::max(span.end, p + 1);
      }
  return span.end == 0 ? Span{} : span;
}

void require_appendable(const Dump& dump) {
  for (const Memory& memory : dump.state.memories)
    if (memory.kind == MemoryKind::recurrent)
      throw Error(ErrorKind::refused, "two recurrent states cannot be put one after the other")
          .in_file(dump.source->name());
  const auto ids = sequence_ids(dump.state);
  if (ids.size() > 1)
    throw Error(ErrorKind::refused,
                fmt::format("holds {} sequences; take one out first (kvtool extract --seq)",
                            ids.size()))
        .in_file(dump.source->name());
}

// Cells at the end of a text image reach further than their position.
std::int64_t end_with_images(const Dump& dump) {
  const std::int64_t end = span_of(dump.state).end;
  const auto of_tokens = position_of(dump.tokens, dump.tokens.ids.size());
  return dump.tokens.media.empty() || !of_tokens
             ? end
             : std::max(end, static_cast<std::int64_t>(*of_tokens));
}

// The list of the first as far as its cells go, and the second behind it.
TokenArea joined(const TokenArea& a, const TokenArea& b) {
  std::vector<TokenId> ids = a.ids;
  ids.insert(ids.end(), b.ids.begin(), b.ids.end());
  if (a.form == TokenForm::plain && b.media.empty()) {
    TokenArea plain;
    plain.ids = plain.words = ids;
    return plain;
  }
  std::vector<MediaChunk> chunks = media_chunks(a);
  for (MediaChunk chunk : media_chunks(b)) {
    chunk.start += static_cast<std::uint32_t>(a.ids.size());
    chunks.push_back(chunk);
  }
  return decode_tokens(encode_payload(ids, chunks));
}

void require_understood(const Dump& dump) {
  if (dump.tokens.form == TokenForm::payload && !dump.tokens.problem.empty())
    throw Error(ErrorKind::refused, "the token area cannot be rewritten: " + dump.tokens.problem)
        .in_file(dump.source->name());
}

class Appender {
 public:
  Appender(const DumpList& dumps, const PositionOptions& options)
      : options_(options), parts_(parts_of(dumps)) {
    for (const auto& dump : dumps) {
      require_appendable(*dump);
      require_understood(*dump);
    }
    result_ = std::move(parts_.front());
    result_.plan.sources = dumps;
  }

  SequenceEdit run() {
    const Dump before = result_.plan.target;
    for (std::size_t p = 1; p < parts_.size(); ++p) append(parts_[p]);
    const PositionMap nothing({});
    require_windows(before, result_.plan.target, Members(std::nullopt, true), nothing,
                    options_.window);
    drop_tail();
    result_.note("no part attended to those before it: a model that reads them in one go computes "
                 "other K and V");
    return std::move(result_);
  }

 private:
  void append(SequenceEdit& part) {
    Dump& target = result_.plan.target;
    drop_token_without_cell(target);
    const std::int64_t by = end_with_images(target) - span_of(part.plan.target.state).begin;
    PositionChange change;
    change.moved = {{{0, std::numeric_limits<std::int64_t>::max()}, by}};
    PositionOptions options = options_;
    options.window = 0;
    change_positions(part, change, options);
    name_like(target, part.plan.target.state);
    join(target, part.plan.target);
  }

  // The token that would have come next has no cell, and now another one comes.
  void drop_token_without_cell(Dump& target) {
    std::uint64_t cells = 0;
    for (const Memory& memory : target.state.memories)
      if (memory.kind == MemoryKind::attention) cells = std::max(cells, cells_of(memory));
    if (target.tokens.ids.size() != cells + 1) return;
    target.tokens = first_tokens(target.tokens, cells);
    result_.note("dropped the last token of a part, which has no cell");
  }

  static void name_like(const Dump& target, State& state) {
    const auto ids = sequence_ids(target.state);
    if (!ids.empty()) convert_steps::name_sequence(state, target.dialect, *ids.begin());
  }

  static void join(Dump& target, Dump& part) {
    for (std::size_t m = 0; m < target.state.memories.size(); ++m)
      for (const Stream& stream : part.state.memories[m].streams)
        append_cells(filled_stream(target.state.memories[m]), stream);
    target.tokens = joined(target.tokens, part.tokens);
  }

  void drop_tail() {
    Tail& tail = result_.plan.target.tail;
    if (tail.has_draft) result_.note("dropped the draft model's state: it is computed again");
    tail.has_draft = false;
    tail.draft = {};
    tail.draft_speculation = {};
    tail.trailing = {};
    Outputs& outputs = result_.plan.target.outputs;
    outputs.ids.size = outputs.logits.size = outputs.embeddings.size = 0;
  }

  PositionOptions options_;
  std::vector<SequenceEdit> parts_;
  SequenceEdit result_;
};

}  // namespace

SequenceEdit append_dumps(const DumpList& dumps, const PositionOptions& options) {
  return Appender(dumps, options).run();
}

}  // namespace kvtool
