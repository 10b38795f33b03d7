#include "store/prefix_index.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace kvtool::store {
namespace {

constexpr Symbol equal_to_nothing = std::numeric_limits<Symbol>::min();

std::span<const std::byte> bytes_of(std::span<const Symbol> symbols) {
  return std::as_bytes(symbols);
}

std::vector<Symbol> symbols_in(std::span<const std::byte> bytes) {
  std::vector<Symbol> symbols(bytes.size() / sizeof(Symbol));
  if (!symbols.empty()) std::memcpy(symbols.data(), bytes.data(), symbols.size() * sizeof(Symbol));
  return symbols;
}

std::size_t common(std::span<const Symbol> a, std::span<const Symbol> b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

}  // namespace

std::uint64_t StoredSymbols::tokens(std::size_t count) const {
  std::uint64_t tokens = count;
  for (const auto& [at, length] : media)
    if (at < count) tokens += std::uint64_t{length} - 1;
  return tokens;
}

StoredSymbols PrefixIndex::symbols_of(std::span<const Symbol> symbols, const MediaIndex& media,
                                      bool add) {
  StoredSymbols stored;
  for (const Symbol symbol : symbols) {
    if (symbol >= 0) {
      stored.symbols.push_back(symbol);
      continue;
    }
    const std::string id = media.id_of(symbol);
    const std::uint32_t tokens = media.tokens_of(symbol);
    stored.media.emplace_back(stored.symbols.size(), tokens);
    Symbol found = equal_to_nothing;
    if (!id.empty()) {
      Statement look = database_.prepare("SELECT id FROM media WHERE hash = ? AND tokens = ?");
      look.with(std::as_bytes(std::span(id)), tokens);
      if (look.row()) found = static_cast<Symbol>(-1 - look.integer(0));
    }
    if (found == equal_to_nothing && add) {
      Statement insert = database_.prepare("INSERT INTO media (hash, tokens) VALUES (?, ?)");
      if (id.empty())
        insert.bind_null(0).bind(1, tokens);  // equal to no other
      else
        insert.with(std::as_bytes(std::span(id)), tokens);
      insert.run();
      found = static_cast<Symbol>(-1 - database_.last_row());
    }
    stored.symbols.push_back(found);
  }
  return stored;
}

std::optional<PrefixIndex::NodeId> PrefixIndex::find_root(std::uint64_t scope) {
  Statement look = database_.prepare("SELECT id FROM nodes WHERE scope = ? AND parent = 0");
  look.with(scope);
  if (!look.row()) return std::nullopt;
  return look.count(0);
}

PrefixIndex::NodeId PrefixIndex::root(std::uint64_t scope) {
  if (const auto found = find_root(scope)) return *found;
  // Roots share parent 0: their first symbol is the scope, which keeps them apart.
  database_
      .prepare("INSERT INTO nodes (scope, parent, first, tokens, edge) VALUES (?, 0, ?, 0, x'')")
      .with(scope, scope)
      .run();
  return static_cast<NodeId>(database_.last_row());
}

std::optional<PrefixIndex::Node> PrefixIndex::child(NodeId parent, Symbol first) {
  Statement look =
      database_.prepare("SELECT id, tokens, edge FROM nodes WHERE parent = ? AND first = ?");
  look.with(parent, first);
  if (!look.row()) return std::nullopt;
  return Node{look.count(0), look.count(1), symbols_in(look.blob(2))};
}

PrefixIndex::NodeId PrefixIndex::add_node(std::uint64_t scope, NodeId parent,
                                          std::span<const Symbol> edge, std::uint64_t tokens) {
  database_.prepare("INSERT INTO nodes (scope, parent, first, tokens, edge) VALUES (?, ?, ?, ?, ?)")
      .with(scope, parent, edge.front(), tokens, bytes_of(edge))
      .run();
  return static_cast<NodeId>(database_.last_row());
}

// Puts a node between `parent` and `node`, which gets the first `at` symbols of its edge.
PrefixIndex::NodeId PrefixIndex::split(std::uint64_t scope, NodeId parent, const Node& node,
                                       std::size_t at, std::uint64_t tokens) {
  const auto edge = std::span<const Symbol>(node.edge);
  const auto rest = edge.subspan(at);
  // First away from the old parent, where two children would begin alike.
  database_.prepare("UPDATE nodes SET parent = -id, first = ?, edge = ? WHERE id = ?")
      .with(rest.front(), bytes_of(rest), node.id)
      .run();
  const NodeId upper = add_node(scope, parent, edge.first(at), tokens);
  database_.prepare("UPDATE nodes SET parent = ? WHERE id = ?").with(upper, node.id).run();
  database_.prepare("UPDATE marks SET node = ? WHERE node = ? AND tokens <= ?")
      .with(upper, node.id, tokens)
      .run();
  return upper;
}

PrefixIndex::NodeId PrefixIndex::insert(std::uint64_t scope, const StoredSymbols& prompt) {
  NodeId at = root(scope);
  std::size_t done = 0;
  while (done < prompt.symbols.size()) {
    const auto rest = std::span<const Symbol>(prompt.symbols).subspan(done);
    const auto next = child(at, rest.front());
    if (!next) return add_node(scope, at, rest, prompt.tokens(prompt.symbols.size()));
    const std::size_t shared = common(next->edge, rest);
    done += shared;
    at = shared == next->edge.size() ? next->id
                                     : split(scope, at, *next, shared, prompt.tokens(done));
  }
  return at;
}

void PrefixIndex::mark(NodeId node, std::uint64_t tokens, std::uint64_t entry) {
  // The mark belongs to the edge that reaches its length.
  for (;;) {
    Statement look = database_.prepare(
        "SELECT n.parent, p.tokens FROM nodes n LEFT JOIN nodes p ON p.id = n.parent WHERE n.id = "
        "?");
    look.with(node);
    if (!look.row() || look.integer(0) <= 0 || look.count(1) < tokens) break;
    node = look.count(0);
  }
  database_.prepare("INSERT OR IGNORE INTO marks VALUES (?, ?, ?)").with(node, tokens, entry).run();
}

void PrefixIndex::unite_with_child(NodeId node) {
  Statement look = database_.prepare("SELECT id, edge FROM nodes WHERE parent = ? LIMIT 2");
  look.with(node);
  look.row();
  const NodeId lower = look.count(0);
  const std::vector<Symbol> tail = symbols_in(look.blob(1));
  if (look.row()) return;  // two of them
  Statement self = database_.prepare("SELECT parent, first, edge FROM nodes WHERE id = ?");
  self.with(node);
  self.row();
  const std::uint64_t parent = self.count(0);
  const std::int64_t first = self.integer(1);
  std::vector<Symbol> edge = symbols_in(self.blob(2));
  edge.insert(edge.end(), tail.begin(), tail.end());
  database_.prepare("DELETE FROM nodes WHERE id = ?").with(node).run();
  database_.prepare("UPDATE nodes SET parent = ?, first = ?, edge = ? WHERE id = ?")
      .with(parent, first, bytes_of(edge), lower)
      .run();
  database_.prepare("UPDATE marks SET node = ? WHERE node = ?").with(lower, node).run();
}

void PrefixIndex::prune(NodeId node) {
  for (;;) {
    Statement look = database_.prepare(
        "SELECT parent, EXISTS (SELECT 1 FROM entries WHERE node = n.id),"
        " EXISTS (SELECT 1 FROM nodes WHERE parent = n.id) FROM nodes n WHERE id = ?");
    look.with(node);
    if (!look.row()) return;
    const std::uint64_t parent = look.count(0);
    const bool ends_here = look.integer(1) != 0;
    const bool goes_on = look.integer(2) != 0;
    if (ends_here || (parent == 0 && goes_on)) return;
    if (goes_on) return unite_with_child(node);
    database_.prepare("DELETE FROM nodes WHERE id = ?").with(node).run();
    if (parent == 0) return;
    node = parent;
  }
}

PrefixIndex::Walk PrefixIndex::walk(std::uint64_t scope, const StoredSymbols& prompt) {
  Walk walk;
  const auto start = find_root(scope);
  if (!start) return walk;
  walk.nodes.push_back(*start);
  std::size_t done = 0;
  while (done < prompt.symbols.size()) {
    const auto rest = std::span<const Symbol>(prompt.symbols).subspan(done);
    const auto next = child(walk.nodes.back(), rest.front());
    if (!next) break;
    const std::size_t shared = common(next->edge, rest);
    walk.nodes.push_back(next->id);
    done += shared;
    if (shared < next->edge.size()) break;
  }
  walk.tokens = prompt.tokens(done);
  return walk;
}

std::optional<std::uint64_t> PrefixIndex::entry_below(NodeId node) {
  // An entry ends at every leaf, so any way down leads to one.
  for (;;) {
    Statement here =
        database_.prepare("SELECT id FROM entries WHERE node = ? ORDER BY id DESC LIMIT 1");
    here.with(node);
    if (here.row()) return here.count(0);
    Statement below = database_.prepare("SELECT id FROM nodes WHERE parent = ? LIMIT 1");
    below.with(node);
    if (!below.row()) return std::nullopt;
    node = below.count(0);
  }
}

std::vector<std::uint64_t> PrefixIndex::marked(const Walk& walk, std::size_t most) {
  std::vector<std::uint64_t> entries;
  for (auto node = walk.nodes.rbegin(); node != walk.nodes.rend() && entries.size() < most;
       ++node) {
    Statement look = database_.prepare(
        "SELECT entry FROM marks WHERE node = ? AND tokens <= ? ORDER BY tokens DESC, entry DESC"
        " LIMIT ?");
    look.with(*node, walk.tokens, most);
    while (look.row() && entries.size() < most)
      if (std::ranges::find(entries, look.count(0)) == entries.end())
        entries.push_back(look.count(0));
  }
  return entries;
}

std::vector<Symbol> PrefixIndex::symbols_to(NodeId node) {
  std::vector<std::vector<Symbol>> edges;
  while (node != 0) {
    Statement look = database_.prepare("SELECT parent, edge FROM nodes WHERE id = ?");
    look.with(node);
    if (!look.row()) break;
    edges.push_back(symbols_in(look.blob(1)));
    node = look.count(0);
  }
  std::vector<Symbol> symbols;
  for (auto edge = edges.rbegin(); edge != edges.rend(); ++edge)
    symbols.insert(symbols.end(), edge->begin(), edge->end());
  return symbols;
}

std::uint64_t PrefixIndex::shared(NodeId node, const StoredSymbols& prompt) {
  return prompt.tokens(common(symbols_to(node), prompt.symbols));
}

}  // namespace kvtool::store
