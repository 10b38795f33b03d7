// Which prompts begin alike: a radix tree over the tokens that many dumps store.
//
// Tokens come as symbols. A text token is its id; a whole image or sound is one symbol, so that no
// prefix can end inside of it. The tree keeps every distinct beginning once: its memory is
// proportional to them, not to the sum of the lists.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kvtool/tokens.h"

namespace kvtool {

// A text token (its id, 0 or more) or a medium of a MediaIndex (negative).
using Symbol = std::int32_t;

// Gives media their symbols: those of equal id and length get the same one.
class MediaIndex {
 public:
  // The symbol of a span. A span without an id is equal to nothing, not even to itself elsewhere.
  Symbol symbol_of(const MediaSpan& span);
  // The symbol of `tokens` places of which is not known what they stand for; equal to no other.
  Symbol unknown(std::uint32_t tokens);
  // Tokens that a symbol stands for: 1 for text.
  [[nodiscard]] std::uint32_t tokens_of(Symbol symbol) const;
  // The id of a medium as it was stored; empty for text and for what is not known.
  [[nodiscard]] std::string id_of(Symbol symbol) const;

 private:
  struct Medium {
    std::string id;
    std::uint32_t tokens;
  };

  Symbol add(Medium medium);

  std::vector<Medium> media_;
  std::map<std::pair<std::string, std::uint32_t>, Symbol> symbols_;
};

// A decoded token area as symbols. Places without a token that no medium covers (some clients
// store -1 for images and nothing else) become unknown symbols.
[[nodiscard]] std::vector<Symbol> symbols_of(const TokenArea& tokens, MediaIndex& media);

// Tokens of a list of symbols.
[[nodiscard]] std::uint64_t tokens_of(std::span<const Symbol> symbols, const MediaIndex& media);

// Where two lists part.
struct FirstDifference {
  std::size_t symbol = 0;    // index of the first symbol that differs, or that only one list has
  std::uint64_t tokens = 0;  // tokens before it: the length of the longest common prefix
};
[[nodiscard]] FirstDifference first_difference(std::span<const Symbol> a,
                                               std::span<const Symbol> b, const MediaIndex& media);

class PrefixTree {
 public:
  using PromptIndex = std::uint32_t;

  // A beginning that prompts share, or the end of one.
  struct Node {
    std::uint32_t parent = 0;             // of the root: itself
    std::uint64_t tokens = 0;             // from the start of the prompts to here
    std::span<const Symbol> edge;         // what follows the parent's end
    std::vector<std::uint32_t> children;  // in the order of their first prompts
    std::vector<PromptIndex> prompts;     // that end here
  };

  PrefixTree() : nodes_(1) {}

  // Adds a prompt; they are numbered 0, 1, 2 ... The symbols need not outlive the call.
  PromptIndex add(std::span<const Symbol> symbols, const MediaIndex& media);

  [[nodiscard]] std::size_t size() const { return ends_.size(); }
  // Tokens of a prompt.
  [[nodiscard]] std::uint64_t tokens(PromptIndex prompt) const;
  // Length of the longest common prefix of two prompts, in tokens.
  [[nodiscard]] std::uint64_t shared(PromptIndex a, PromptIndex b) const;
  // The same for one prompt against all; its own entry is its length. O(prompts).
  [[nodiscard]] std::vector<std::uint64_t> shared_with_all(PromptIndex prompt) const;
  // The prompts so that those that share more stand closer, otherwise as they came.
  [[nodiscard]] std::vector<PromptIndex> order() const;
  // Symbols held, over all nodes: what memory is proportional to.
  [[nodiscard]] std::uint64_t symbols_held() const { return symbols_held_; }

 private:
  [[nodiscard]] std::uint32_t split(std::uint32_t node, std::size_t at, const MediaIndex& media);
  std::uint32_t add_leaf(std::uint32_t parent, std::span<const Symbol> rest,
                         const MediaIndex& media);
  void set_child(std::uint32_t parent, std::uint32_t child);

  std::vector<Node> nodes_;  // the first is the root
  std::vector<std::uint32_t> ends_;                         // node where each prompt ends
  std::unordered_map<std::uint64_t, std::uint32_t> child_;  // by parent and first symbol
  std::deque<std::vector<Symbol>> texts_;                   // what edges look into
  std::uint64_t symbols_held_ = 0;
};

// Prompts that begin alike. Groups lie in each other: the prompts of an inner one share more.
struct PrefixGroup {
  std::uint64_t shared = 0;   // tokens that all of its prompts begin with
  std::uint32_t level = 0;    // 0: in no other group
  std::uint32_t parent = 0;   // index of the group around it; of an outermost one: its own
  std::uint64_t members = 0;  // prompts, with those of the groups inside
  std::vector<PrefixTree::PromptIndex> prompts;  // those that belong to no group inside
};

// The groups among `chosen` prompts that share at least `least` tokens (1 or more), each before
// those inside of it. Prompts that share less with every other are in no group.
[[nodiscard]] std::vector<PrefixGroup> groups_of(
    const PrefixTree& tree, const std::vector<PrefixTree::PromptIndex>& chosen,
    std::uint64_t least = 1);

}  // namespace kvtool
