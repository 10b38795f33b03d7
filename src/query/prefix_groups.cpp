#include <algorithm>
#include <tuple>
#include <utility>

#include "kvtool/prefix.h"

namespace kvtool {
namespace {

using PromptIndex = PrefixTree::PromptIndex;

// Builds groups from prompts in the tree's order: neighbours there share the most. Open groups
// lie on a stack, each sharing more than the one below it.
class Grouper {
 public:
  explicit Grouper(std::uint64_t least) : least_(std::max<std::uint64_t>(least, 1)) {}

  // The next prompt; it shares `before` tokens with the one before it, `after` with the next.
  void add(PromptIndex prompt, std::uint64_t before, std::uint64_t after) {
    const std::uint64_t most = std::max(before, after);
    if (most >= least_) {
      if (open_.empty() || open_.back().group.shared < most) open(most, added_);
      open_.back().group.prompts.push_back(prompt);
      ++open_.back().group.members;
    }
    close_deeper_than(after);
    ++added_;
  }

  // Outer groups before inner ones, those of earlier prompts first.
  std::vector<PrefixGroup> finish() {
    std::sort(closed_.begin(), closed_.end(), [](const Building& a, const Building& b) {
      return std::tie(a.first, a.group.shared) < std::tie(b.first, b.group.shared);
    });
    nest();
    std::vector<PrefixGroup> groups;
    groups.reserve(closed_.size());
    for (Building& building : closed_) groups.push_back(std::move(building.group));
    return groups;
  }

 private:
  struct Building {
    PrefixGroup group;
    std::size_t first = 0;  // place of its first prompt in the order
    std::size_t last = 0;   // and of its last one
  };

  void open(std::uint64_t shared, std::size_t first) {
    Building& building = open_.emplace_back();
    building.group.shared = shared;
    building.first = first;
  }

  // Closes the groups that the next prompt does not belong to.
  void close_deeper_than(std::uint64_t shared) {
    while (!open_.empty() && open_.back().group.shared > shared) {
      Building closing = std::move(open_.back());
      open_.pop_back();
      const std::uint64_t around = open_.empty() ? 0 : open_.back().group.shared;
      if (shared >= least_ && around < shared) open(shared, closing.first);
      if (!open_.empty()) open_.back().group.members += closing.group.members;
      closing.last = added_;
      closed_.push_back(std::move(closing));
    }
  }

  // Says of each group, sorted as they are, which one it lies in.
  void nest() {
    std::vector<std::uint32_t> around;
    for (std::uint32_t g = 0; g < closed_.size(); ++g) {
      while (!around.empty() && closed_[around.back()].last < closed_[g].last) around.pop_back();
      closed_[g].group.level = static_cast<std::uint32_t>(around.size());
      closed_[g].group.parent = around.empty() ? g : around.back();
      around.push_back(g);
    }
  }

  std::uint64_t least_;
  std::size_t added_ = 0;
  std::vector<Building> open_;
  std::vector<Building> closed_;
};

// `chosen` in the order of the tree.
std::vector<PromptIndex> in_order(const PrefixTree& tree, const std::vector<PromptIndex>& chosen) {
  std::vector<bool> wanted(tree.size());
  for (const PromptIndex prompt : chosen) wanted[prompt] = true;
  std::vector<PromptIndex> order = tree.order();
  std::erase_if(order, [&](PromptIndex prompt) { return !wanted[prompt]; });
  return order;
}

}  // namespace

std::vector<PrefixGroup> groups_of(const PrefixTree& tree, const std::vector<PromptIndex>& chosen,
                                   std::uint64_t least) {
  const std::vector<PromptIndex> order = in_order(tree, chosen);
  Grouper grouper(least);
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint64_t after = i + 1 < order.size() ? tree.shared(order[i], order[i + 1]) : 0;
    grouper.add(order[i], before, after);
    before = after;
  }
  return grouper.finish();
}

}  // namespace kvtool
