#include "target/server_tail.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "format/tail.h"

namespace kvtool::target {
namespace {

Reason token_reason(std::string code, std::string message, std::string log) {
  return {std::move(code), "tokens", std::move(message), std::move(log)};
}

// Places of the list that images and sounds take.
std::vector<bool> media_places(const TokenArea& area) {
  std::vector<bool> places(area.ids.size());
  for (const MediaSpan& span : area.media)
    for (std::size_t i = span.start; i < places.size() && i - span.start < span.tokens; ++i)
      places[i] = true;
  return places;
}

// One more than the largest id that the target takes.
std::uint64_t end_of_ids(const Target& target) {
  constexpr std::uint64_t all = std::uint64_t{1} << 31U;
  return target.model ? target.model->n_vocab.value_or(all) : all;
}

std::optional<Reason> bad_id(const TokenArea& area, const Target& target) {
  const std::vector<bool> media = media_places(area);
  const std::uint64_t end = end_of_ids(target);
  for (std::size_t i = 0; i < area.ids.size(); ++i) {
    const TokenId id = area.ids[i];
    if (media[i] && id == -1) continue;
    if (id >= 0 && static_cast<std::uint64_t>(id) < end) continue;
    return token_reason("token_id",
                        fmt::format("id {} at place {} is not in the vocabulary", id, i),
                        "Invalid tokens in slot save file");
  }
  return std::nullopt;
}

// True for a packed list of text alone with every word in its place, whatever the ids are.
bool complete(const TokenArea& area) {
  constexpr std::size_t words_around = 4;  // marker, version, number of ids, number of media
  return area.media.empty() && area.words.size() == area.ids.size() + words_around &&
         area.words.back() == 0;
}

// Takes the list apart; stops at the first thing that is not as it should be.
class TailReader {
 public:
  TailReader(format::Window& window, std::uint64_t begin)
      : in_(window, {begin, window.size() - begin}) {}

  ServerTail run() {
    std::uint32_t magic = 0;
    format::Cursor ahead = in_;
    if (!ahead.take(magic) || magic != format::checkpoints_magic) {
      look_for_draft();
      return std::move(tail_);
    }
    in_ = ahead;
    if (checkpoints())
      look_for_draft();
    else
      tail_.checkpoints.clear();
    return std::move(tail_);
  }

 private:
  bool ignored(const char* what, const char* why) {
    tail_.warnings.push_back(
        {Severity::warning, "checkpoints_ignored", "tail",
         fmt::format(
             "the list of checkpoints is {}: the server ignores it (\"{} context checkpoint "
             "appendix ... - ignored\")",
             why, what)});
    return false;
  }

  bool checkpoints() {
    std::uint32_t version = 0;
    std::uint32_t count = 0;
    if (!in_.take(version) || !in_.take(count)) return ignored("truncated", "cut off");
    if (version != 1) return ignored("invalid", "of an unknown version");
    for (std::uint32_t i = 0; i < count; ++i)
      if (!checkpoint()) return false;
    return true;
  }

  bool checkpoint() {
    StoredCheckpoint c;
    std::uint32_t pos_min = 0;
    std::uint32_t pos_max = 0;
    Extent others;
    if (!in_.take(c.tokens) || !in_.take(pos_min) || !in_.take(pos_max) || !blob(c.blob) ||
        !blob(others) || !blob(others))
      return ignored("truncated", "cut off");
    if (c.blob.size == 0) return ignored("invalid", "without a state");
    c.pos_min = static_cast<Position>(pos_min);
    c.pos_max = static_cast<Position>(pos_max);
    tail_.checkpoints.push_back(c);
    return true;
  }

  bool blob(Extent& extent) {
    std::uint64_t size = 0;
    if (!in_.take(size)) return false;
    extent = {in_.offset(), size};
    return in_.skip(size);
  }

  void look_for_draft() {
    std::uint32_t magic = 0;
    format::Cursor ahead = in_;
    if (!ahead.take(magic) || magic != format::draft_magic) return;
    tail_.warnings.push_back({Severity::note, "draft_state", "tail",
                              "it holds the state of a draft model: a server without that model "
                              "drops it (\"does not match the draft context - dropped\")"});
  }

  format::Cursor in_;
  ServerTail tail_;
};

}  // namespace

TakenTokens take_tokens(const std::vector<std::int32_t>& words, const Target& target) {
  TokenArea area;
  if (!target.era->payload || words.empty() || words.front() != -1) {
    area.words = area.ids = words;
  } else if (words.size() > 1 && words[1] != 1) {
    return {{},
            token_reason("token_payload", fmt::format("its token list is of version {}", words[1]),
                         "Unsupported server tokens state version")};
  } else {
    area = decode_tokens(words);
    if (!area.problem.empty() && !complete(area))
      return {{},
              token_reason("token_payload", "its token list is damaged: " + area.problem,
                           "Unexpected end of server tokens state")};
  }
  TakenTokens taken;
  taken.ids = area.ids;
  if (target.era->payload) taken.refusal = bad_id(area, target);
  return taken;
}

ServerTail take_tail(format::Window& window, std::uint64_t begin) {
  if (begin >= window.size()) return {};
  return TailReader(window, begin).run();
}

}  // namespace kvtool::target
