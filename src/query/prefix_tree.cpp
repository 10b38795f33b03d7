#include <algorithm>

#include "kvtool/prefix.h"

namespace kvtool {
namespace {

std::uint64_t key_of(std::uint32_t parent, Symbol first) {
  return (std::uint64_t{parent} << 32U) | static_cast<std::uint32_t>(first);
}

std::size_t equal_symbols(std::span<const Symbol> a, std::span<const Symbol> b) {
  const auto end = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first;
  return static_cast<std::size_t>(end - a.begin());
}

}  // namespace

// Makes `child` the child of `parent` that begins with its first symbol.
void PrefixTree::set_child(std::uint32_t parent, std::uint32_t child) {
  child_[key_of(parent, nodes_[child].edge.front())] = child;
  nodes_[child].parent = parent;
}

// Cuts the edge to a node behind `at` symbols; the answer is the new node there, which takes the
// place of the old one among its parent's children.
std::uint32_t PrefixTree::split(std::uint32_t node, std::size_t at, const MediaIndex& media) {
  const auto middle = static_cast<std::uint32_t>(nodes_.size());
  const std::uint32_t parent = nodes_[node].parent;
  const std::span<const Symbol> edge = nodes_[node].edge;
  Node& made = nodes_.emplace_back();
  made.edge = edge.first(at);
  made.tokens = nodes_[node].tokens - tokens_of(edge.subspan(at), media);
  made.children = {node};
  nodes_[node].edge = edge.subspan(at);
  std::ranges::replace(nodes_[parent].children, node, middle);
  set_child(parent, middle);
  set_child(middle, node);
  return middle;
}

std::uint32_t PrefixTree::add_leaf(std::uint32_t parent, std::span<const Symbol> rest,
                                   const MediaIndex& media) {
  const auto leaf = static_cast<std::uint32_t>(nodes_.size());
  const std::vector<Symbol>& text = texts_.emplace_back(rest.begin(), rest.end());
  symbols_held_ += text.size();
  Node& made = nodes_.emplace_back();
  made.edge = text;
  made.tokens = nodes_[parent].tokens + tokens_of(rest, media);
  nodes_[parent].children.push_back(leaf);
  set_child(parent, leaf);
  return leaf;
}

PrefixTree::PromptIndex PrefixTree::add(std::span<const Symbol> symbols, const MediaIndex& media) {
  std::uint32_t node = 0;
  while (!symbols.empty()) {
    const auto next = child_.find(key_of(node, symbols.front()));
    if (next == child_.end()) {
      node = add_leaf(node, symbols, media);
      break;
    }
    const std::uint32_t child = next->second;
    const std::size_t equal = equal_symbols(nodes_[child].edge, symbols);
    node = equal < nodes_[child].edge.size() ? split(child, equal, media) : child;
    symbols = symbols.subspan(equal);
  }
  const auto prompt = static_cast<PromptIndex>(ends_.size());
  ends_.push_back(node);
  nodes_[node].prompts.push_back(prompt);
  return prompt;
}

std::uint64_t PrefixTree::tokens(PromptIndex prompt) const { return nodes_[ends_[prompt]].tokens; }

std::uint64_t PrefixTree::shared(PromptIndex a, PromptIndex b) const {
  std::uint32_t x = ends_[a];
  std::uint32_t y = ends_[b];
  while (x != y) {
    // Tokens grow along every edge, so the deeper of two different nodes is no ancestor of both.
    std::uint32_t& deeper = nodes_[x].tokens >= nodes_[y].tokens ? x : y;
    deeper = nodes_[deeper].parent;
  }
  return nodes_[x].tokens;
}

std::vector<std::uint64_t> PrefixTree::shared_with_all(PromptIndex prompt) const {
  // What a node shares with the prompt is its own length on the prompt's path, and off the path
  // that of the last node on it.
  std::vector<std::uint64_t> shared(nodes_.size());
  std::vector<bool> on_path(nodes_.size());
  for (std::uint32_t node = ends_[prompt]; node != 0; node = nodes_[node].parent)
    on_path[node] = true;
  std::vector<std::uint32_t> open = {0};
  while (!open.empty()) {
    const std::uint32_t node = open.back();
    open.pop_back();
    for (const std::uint32_t child : nodes_[node].children) {
      shared[child] = on_path[child] ? nodes_[child].tokens : shared[node];
      open.push_back(child);
    }
  }
  std::vector<std::uint64_t> row(size());
  for (std::size_t p = 0; p < row.size(); ++p) row[p] = shared[ends_[p]];
  return row;
}

std::vector<PrefixTree::PromptIndex> PrefixTree::order() const {
  std::vector<PromptIndex> order;
  order.reserve(size());
  std::vector<std::uint32_t> open = {0};
  while (!open.empty()) {
    const Node& node = nodes_[open.back()];
    open.pop_back();
    order.insert(order.end(), node.prompts.begin(), node.prompts.end());
    open.insert(open.end(), node.children.rbegin(), node.children.rend());
  }
  return order;
}

}  // namespace kvtool
