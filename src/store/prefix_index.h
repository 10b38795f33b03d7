// The prefix tree of a scope in SQL: every distinct beginning of a prompt is kept once.
//
// A node stands for the prompts that begin with the edges from the root to it. Its key is its
// parent and the first symbol of its edge, so walking down a prompt takes one look-up an edge.
// Media are symbols of the store: -1 - media.id.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kvtool/prefix.h"
#include "store/sqlite.h"

namespace kvtool::store {

// Symbols of a prompt as the store numbers them, with the tokens that each media symbol stands for.
struct StoredSymbols {
  std::vector<Symbol> symbols;
  // Tokens of the first `count` symbols.
  [[nodiscard]] std::uint64_t tokens(std::size_t count) const;
  std::vector<std::pair<std::size_t, std::uint32_t>> media;  // index of a symbol, its tokens
};

class PrefixIndex {
 public:
  using NodeId = std::uint64_t;

  explicit PrefixIndex(Database& database) : database_(database) {}

  // The store's symbols; media that it does not know yet get one if `add`, else one that is equal
  // to nothing.
  StoredSymbols symbols_of(std::span<const Symbol> symbols, const MediaIndex& media, bool add);

  // The node where a prompt ends, made if need be.
  NodeId insert(std::uint64_t scope, const StoredSymbols& prompt);
  // Takes a node away if no entry ends there and nothing follows; and those that this makes
  // useless.
  void prune(NodeId node);
  // Notes that an entry which ends at `node` is of use from a length of `tokens` on.
  void mark(NodeId node, std::uint64_t tokens, std::uint64_t entry);

  // A walk down the tree as far as a prompt goes.
  struct Walk {
    std::vector<NodeId> nodes;  // whose edges it went along, the root first; the last maybe in part
    std::uint64_t tokens = 0;   // that the prompt shares with whatever is below the last
  };
  Walk walk(std::uint64_t scope, const StoredSymbols& prompt);
  // An entry that ends at or below a node; nothing if there is none.
  std::optional<std::uint64_t> entry_below(NodeId node);
  // Entries marked along a walk, the longest marks first, at most `most`.
  std::vector<std::uint64_t> marked(const Walk& walk, std::size_t most);
  // All symbols from the root to a node.
  std::vector<Symbol> symbols_to(NodeId node);
  // How many tokens the prompt shares with what ends at `node`.
  std::uint64_t shared(NodeId node, const StoredSymbols& prompt);

 private:
  struct Node {
    NodeId id = 0;
    std::uint64_t tokens = 0;  // from the root to its end
    std::vector<Symbol> edge;
  };

  NodeId root(std::uint64_t scope);
  std::optional<NodeId> find_root(std::uint64_t scope);
  std::optional<Node> child(NodeId parent, Symbol first);
  NodeId add_node(std::uint64_t scope, NodeId parent, std::span<const Symbol> edge,
                  std::uint64_t tokens);
  NodeId split(std::uint64_t scope, NodeId parent, const Node& node, std::size_t at,
               std::uint64_t tokens);
  void unite_with_child(NodeId node);

  Database& database_;
};

}  // namespace kvtool::store
