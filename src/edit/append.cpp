// merge --append: one conversation after the other in one sequence.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

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

std::optional<SequenceId> first_id(const State& state) {
  const auto ids = sequence_ids(state);
  return ids.empty() ? std::nullopt : std::optional(*ids.begin());
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

// The first position behind cells that end at `end`: an image can reach further than its cells.
std::int64_t end_with_images(const TokenArea& tokens, std::int64_t end) {
  if (tokens.media.empty()) return end;
  const auto of_tokens = position_of(tokens, tokens.ids.size());
  return of_tokens ? std::max(end, static_cast<std::int64_t>(*of_tokens)) : end;
}

void append_ids(std::vector<TokenId>& ids, const std::vector<TokenId>& more) {
  ids.insert(ids.end(), more.begin(), more.end());
}

// The list of the first as far as its cells go, and the second behind it.
TokenArea joined(TokenArea a, const TokenArea& b) {
  if (a.form == TokenForm::plain && b.media.empty()) {
    append_ids(a.ids, b.ids);
    append_ids(a.words, b.ids);
    return a;
  }
  std::vector<TokenId> ids = a.ids;
  append_ids(ids, b.ids);
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
    end_ = span_of(result_.plan.target.state).end;
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
    State& state = part.plan.target.state;
    const std::int64_t by = end_with_images(target.tokens, end_) - span_of(state).begin;
    PositionChange change;
    change.moved = {{{0, std::numeric_limits<std::int64_t>::max()}, by}};
    PositionOptions options = options_;
    options.window = 0;
    change_positions(part, change, options);
    name_like(target, state);
    end_ = std::max(end_, span_of(state).end);
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

  // The first id that a part names is that of all behind it.
  void name_like(const Dump& target, State& state) {
    if (!id_) id_ = first_id(target.state);
    if (id_) convert_steps::name_sequence(state, target.dialect, *id_);
  }

  static void join(Dump& target, Dump& part) {
    for (std::size_t m = 0; m < target.state.memories.size(); ++m)
      for (const Stream& stream : part.state.memories[m].streams)
        append_cells(filled_stream(target.state.memories[m]), stream);
    target.tokens = joined(std::move(target.tokens), part.tokens);
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
  std::int64_t end_ = 0;  // behind the last cell so far
  std::optional<SequenceId> id_;
};

}  // namespace

SequenceEdit append_dumps(const DumpList& dumps, const PositionOptions& options) {
  return Appender(dumps, options).run();
}

}  // namespace kvtool
