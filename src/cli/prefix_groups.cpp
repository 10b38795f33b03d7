// prefix: groups of files that begin alike, as a tree, a table or JSON.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "cli/prefix_print.h"
#include "kvtool/checked.h"

namespace kvtool::cli {
namespace {

// The groups of the files of one shape.
struct ShapeGroups {
  std::size_t shape = 0;
  std::vector<PrefixGroup> groups;
};

std::vector<ShapeGroups> groups_by_shape(const PromptSet& set, std::uint64_t least) {
  std::vector<std::vector<PrefixTree::PromptIndex>> members(set.shapes.size());
  for (std::uint32_t p = 0; p < set.prompts.size(); ++p) members[set.shape_of[p]].push_back(p);
  std::vector<ShapeGroups> all;
  for (std::size_t s = 0; s < members.size(); ++s) {
    all.push_back({s, groups_of(set.tree, members[s], least)});
    if (all.back().groups.empty()) all.pop_back();
  }
  return all;
}

// Any file of a group; all of them have one shape.
PrefixTree::PromptIndex example(const std::vector<PrefixGroup>& groups, std::size_t g) {
  while (groups[g].prompts.empty()) ++g;  // the first group inside comes next
  return groups[g].prompts.front();
}

// Bytes of K and V that a group holds again, without what the group around it already counts.
std::uint64_t repeated_in(const PromptSet& set, const std::vector<PrefixGroup>& groups,
                          std::size_t g) {
  const PrefixGroup& group = groups[g];
  const std::uint64_t outer = group.level == 0 ? 0 : groups[group.parent].shared;
  return checked_multiply(checked_multiply(group.shared - outer, group.members - 1),
                          set.prompts[example(groups, g)].kv_bytes_per_token);
}

// The same with all that lies inside; of every group.
std::vector<std::uint64_t> repeated(const PromptSet& set, const std::vector<PrefixGroup>& groups) {
  std::vector<std::uint64_t> bytes(groups.size());
  for (std::size_t g = groups.size(); g-- > 0;) {
    bytes[g] = checked_add(bytes[g], repeated_in(set, groups, g));
    if (groups[g].level > 0)
      bytes[groups[g].parent] = checked_add(bytes[groups[g].parent], bytes[g]);
  }
  return bytes;
}

std::uint64_t total_of(const PromptSet& set, const std::vector<PrefixGroup>& groups) {
  const std::vector<std::uint64_t> bytes = repeated(set, groups);
  std::uint64_t total = 0;
  for (std::size_t g = 0; g < groups.size(); ++g)
    if (groups[g].level == 0) total = checked_add(total, bytes[g]);
  return total;
}

// Two files of different shapes that begin with the same tokens all the same.
struct OtherShape {
  PrefixTree::PromptIndex a;
  PrefixTree::PromptIndex b;
  std::uint64_t shared;
};

// How many of them people are shown.
constexpr std::size_t most_shown = 5;

// For each pair of shapes that stand side by side in the tree, the pair of files that share most;
// those that share most come first.
std::vector<OtherShape> across_shapes(const PromptSet& set, std::uint64_t least) {
  std::map<std::pair<std::size_t, std::size_t>, OtherShape> most;
  const auto order = set.tree.order();
  for (std::size_t i = 1; i < order.size(); ++i) {
    const auto a = std::min(order[i - 1], order[i]);
    const auto b = std::max(order[i - 1], order[i]);
    const std::uint64_t shared = set.tree.shared(a, b);
    if (set.same_shape(a, b) || shared < std::max<std::uint64_t>(least, 1)) continue;
    const auto pair = std::minmax(set.shape_of[a], set.shape_of[b]);
    const auto [at, fresh] = most.try_emplace(pair, OtherShape{a, b, shared});
    if (!fresh && at->second.shared < shared) at->second = {a, b, shared};
  }
  std::vector<OtherShape> list;
  list.reserve(most.size());
  for (const auto& [shapes, pair] : most) list.push_back(pair);
  std::stable_sort(list.begin(), list.end(), [](const OtherShape& x, const OtherShape& y) {
    return x.shared > y.shared;
  });
  return list;
}

// Draws the lines of a tree: which of the levels above go on below this line.
class Branches {
 public:
  // What stands before an item; `last`: nothing follows on its level.
  std::string item(std::size_t level, bool last) {
    open_.resize(level + 1);
    open_[level] = !last;
    std::string text;
    for (std::size_t l = 0; l < level; ++l) text += open_[l] ? "\u2502  " : "   ";
    return text + (last ? "\u2514\u2500 " : "\u251c\u2500 ");
  }

 private:
  std::vector<bool> open_;
};

class GroupText {
 public:
  GroupText(const PromptSet& set, const std::vector<PrefixGroup>& groups, Printer& out)
      : set_(set),
        groups_(groups),
        repeated_(repeated(set, groups)),
        last_(groups.size()),
        out_(out) {
    std::vector<bool> followed(groups.size());  // by a later group in the same one
    for (std::size_t g = groups.size(); g-- > 0;) {
      last_[g] = groups[g].level == 0 || !followed[groups[g].parent];
      if (groups[g].level > 0) followed[groups[g].parent] = true;
    }
    has_inner_ = followed;
  }

  void print() {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (groups_[g].level == 0)
        head(g);
      else
        out_.line("{}{}, {}", branches_.item(groups_[g].level - 1U, last_[g]),
                  counted(groups_[g].shared, "token"), counted(groups_[g].members, "file"));
      files(g);
    }
  }

 private:
  void head(std::size_t g) {
    out_.line("");
    out_.line("{} begin with the same {}; {} of K/V are held more than once",
              counted(groups_[g].members, "file"), counted(groups_[g].shared, "token"),
              human_bytes(repeated_[g]));
    out_.line("{}", set_.shapes[set_.shape_of[example(groups_, g)]]);
  }

  void files(std::size_t g) {
    const PrefixGroup& group = groups_[g];
    for (std::size_t i = 0; i < group.prompts.size(); ++i) {
      const StoredPrompt& prompt = set_.prompts[group.prompts[i]];
      const bool last = i + 1 == group.prompts.size() && !has_inner_[g];
      out_.line("{}{} of {} ({})  {}", branches_.item(group.level, last), group.shared,
                prompt.tokens, percent(group.shared, prompt.tokens), printable(prompt.name));
    }
  }

  const PromptSet& set_;
  const std::vector<PrefixGroup>& groups_;
  std::vector<std::uint64_t> repeated_;
  std::vector<bool> last_;
  std::vector<bool> has_inner_;
  Branches branches_;
  Printer& out_;
};

void print_text(const PromptSet& set, const std::vector<ShapeGroups>& all, std::uint64_t least,
                Printer& out) {
  std::uint64_t grouped = 0;
  std::uint64_t bytes = 0;
  for (const ShapeGroups& shape : all) {
    for (const PrefixGroup& group : shape.groups) grouped += group.level == 0 ? group.members : 0;
    bytes = checked_add(bytes, total_of(set, shape.groups));
  }
  out.line("{}: {} begin like another; {} of K/V are held more than once",
           counted(set.prompts.size(), "file"), grouped, human_bytes(bytes));
  for (const ShapeGroups& shape : all) GroupText(set, shape.groups, out).print();
  const std::vector<OtherShape> others = across_shapes(set, least);
  for (std::size_t i = 0; i < std::min(others.size(), most_shown); ++i) {
    const OtherShape& pair = others[i];
    out.line("");
    out.line("{} and {} begin with the same {}, but their K/V are not of one kind:",
             printable(set.prompts[pair.a].name), printable(set.prompts[pair.b].name),
             counted(pair.shared, "token"));
    out.line("  {}", set.shapes[set.shape_of[pair.a]]);
    out.line("  {}", set.shapes[set.shape_of[pair.b]]);
  }
  if (others.size() > most_shown)
    out.line("and {} more pairs of kinds; --json lists all", others.size() - most_shown);
}

Json groups_json(const PromptSet& set, const std::vector<ShapeGroups>& all) {
  Json list = Json::array();
  for (const ShapeGroups& shape : all) {
    const std::vector<std::uint64_t> bytes = repeated(set, shape.groups);
    const std::size_t first = list.size();
    for (std::size_t g = 0; g < shape.groups.size(); ++g) {
      const PrefixGroup& group = shape.groups[g];
      list.push_back({{"shared", group.shared},
                      {"parent", group.level == 0 ? Json(nullptr) : Json(first + group.parent)},
                      {"shape", shape.shape},
                      {"members", group.members},
                      {"kv_bytes_repeated", bytes[g]},
                      {"files", group.prompts}});
    }
  }
  return list;
}

void print_json(const PromptSet& set, const std::vector<ShapeGroups>& all, std::uint64_t least,
                Printer& out) {
  Json json = prompts_json(set);
  json["groups"] = groups_json(set, all);
  json["other_shape"] = Json::array();
  for (const OtherShape& pair : across_shapes(set, least))
    json["other_shape"].push_back({{"files", {pair.a, pair.b}}, {"shared", pair.shared}});
  out.json(json);
}

// A line for each file, with the innermost group it is in.
void print_tsv(const PromptSet& set, const std::vector<ShapeGroups>& all, Printer& out) {
  out.line("group\tparent\tshared\ttokens\tshape\tfile");
  std::vector<bool> grouped(set.prompts.size());
  std::size_t first = 0;
  for (const ShapeGroups& shape : all) {
    for (std::size_t g = 0; g < shape.groups.size(); ++g) {
      const PrefixGroup& group = shape.groups[g];
      const std::string parent = group.level == 0 ? "-" : fmt::format("{}", first + group.parent);
      for (const auto p : group.prompts) {
        grouped[p] = true;
        out.line("{}\t{}\t{}\t{}\t{}\t{}", first + g, parent, group.shared, set.prompts[p].tokens,
                 shape.shape, printable(set.prompts[p].name));
      }
    }
    first += shape.groups.size();
  }
  for (std::size_t p = 0; p < set.prompts.size(); ++p)
    if (!grouped[p])
      out.line("-\t-\t0\t{}\t{}\t{}", set.prompts[p].tokens, set.shape_of[p],
               printable(set.prompts[p].name));
}

}  // namespace

void print_groups(const PromptSet& set, std::uint64_t least, Format format, Printer& out) {
  const std::vector<ShapeGroups> all = groups_by_shape(set, least);
  if (format == Format::json)
    print_json(set, all, least, out);
  else if (format == Format::tsv)
    print_tsv(set, all, out);
  else
    print_text(set, all, least, out);
}

Json prompts_json(const PromptSet& set) {
  Json json;
  json["schema"] = "kvtool/1";
  json["files"] = Json::array();
  for (std::size_t p = 0; p < set.prompts.size(); ++p) {
    const StoredPrompt& prompt = set.prompts[p];
    json["files"].push_back({{"file", prompt.name},
                             {"tokens", prompt.tokens},
                             {"size", prompt.file_bytes},
                             {"kv_bytes_per_token", prompt.kv_bytes_per_token},
                             {"shape", set.shape_of[p]}});
  }
  json["shapes"] = set.shapes;
  json["failed"] = Json::array();
  for (const FailedFile& failed : set.failed)
    json["failed"].push_back({{"file", failed.file}, {"error", failed.message}});
  return json;
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "-";
  return fmt::format("{:.1f} %", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

}  // namespace kvtool::cli
