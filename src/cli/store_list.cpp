// store ls, show, du: what there is, and what it takes.
#include <algorithm>

#include "cli/store_verbs.h"

namespace kvtool::cli {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text.empty() ? "-" : text;
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

// --- ls ---

struct ListVerb {
  StoreOptions store;
  std::string tag;
};

void print_tsv(const std::vector<StoreEntry>& entries, Printer& out) {
  out.line(
      "name\ttokens\tfile_bytes\tadded_bytes\tcreated\tused\tpinned\tarch\tlayout\ttags\tnote");
  for (const StoreEntry& e : entries)
    out.line("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}", e.name, e.prompt.tokens, e.file_bytes,
             e.added_bytes, moment(e.created), moment(e.used), e.pinned ? 1 : 0,
             or_dash(e.prompt.arch), e.layout, joined(e.tags), or_dash(printable(e.note)));
}

void print_text(const std::vector<StoreEntry>& entries, Printer& out) {
  if (entries.empty()) return out.line("no entries");
  out.line("{:>8} {:>11} {:<20} name", "tokens", "size", "used");
  for (const StoreEntry& e : entries)
    out.line("{:>8} {:>11} {:<20} {}{}{}", e.prompt.tokens, human_bytes(e.file_bytes),
             moment(e.used), e.name, e.pinned ? " (pinned)" : "",
             e.note.empty() ? "" : ": " + printable(e.note));
}

int run_list(const ListVerb& o) {
  std::vector<StoreEntry> entries = open_store(o.store).entries();
  if (!o.tag.empty())
    std::erase_if(entries, [&](const StoreEntry& entry) {
      return std::ranges::find(entry.tags, o.tag) == entry.tags.end();
    });
  Printer out;
  if (o.store.json) {
    Json json = json_document(o.store.folder);
    json["entries"] = Json::array();
    for (const StoreEntry& entry : entries) json["entries"].push_back(entry_json(entry));
    out.json(json);
  } else if (o.store.tsv) {
    print_tsv(entries, out);
  } else {
    print_text(entries, out);
  }
  out.finish();
  return exit_fine;
}

// --- show ---

struct ShowVerb {
  StoreOptions store;
  std::string name;
};

Json model_json(const ModelStamp& stamp) {
  Json facts = Json::array();
  for (const StampFact& fact : stamp.facts)
    facts.push_back(
        {{"class", name_of(fact.stamp_class)}, {"key", fact.key}, {"value", fact.value}});
  return facts;
}

void print_model(const ModelStamp& stamp, Printer& out) {
  for (const StampFact& fact : stamp.facts)
    if (fact.stamp_class != StampClass::info || fact.key == "general.name")
      out.line("  {:<4} {}: {}", name_of(fact.stamp_class), fact.key, fact.value);
}

void print_entry(const StoreEntry& e, Printer& out) {
  out.line("name:    {}", e.name);
  if (!e.note.empty()) out.line("note:    {}", printable(e.note));
  if (!e.tags.empty()) out.line("tags:    {}", joined(e.tags));
  out.line("saved:   {}, used {}{}", moment(e.created), moment(e.used), e.pinned ? ", pinned" : "");
  out.line("file:    {} bytes, {}; {} bytes of blocks when it was put", e.file_bytes, e.layout,
           e.added_bytes);
  out.line("prompt:  {}, {}", counted(e.prompt.tokens, "token"), counted(e.prompt.cells, "cell"));
  out.line("memory:  {}", e.prompt.shape);
  for (const RewindPoint& point : e.prompt.rewind.checkpoints)
    out.line("         checkpoint at {}", counted(point.tokens, "token"));
  out.line("model:   {}", e.model ? "named with it" : "not named");
  if (e.model) print_model(*e.model, out);
}

int run_show(const ShowVerb& o) {
  const StoreEntry entry = open_store(o.store).entry(o.name);
  Printer out;
  if (o.store.json) {
    Json json = json_document(o.store.folder);
    json["entry"] = entry_json(entry);
    json["entry"]["checkpoints"] = Json::array();
    for (const RewindPoint& point : entry.prompt.rewind.checkpoints)
      json["entry"]["checkpoints"].push_back(point.tokens);
    json["entry"]["model"] = entry.model ? model_json(*entry.model) : Json(nullptr);
    out.json(json);
  } else {
    print_entry(entry, out);
  }
  out.finish();
  return exit_fine;
}

// --- du ---

Json sizes_json(const StoreSizes& sizes) {
  Json json = {{"file_bytes", sizes.file_bytes},
               {"block_bytes", sizes.block_bytes},
               {"live_bytes", sizes.live_bytes},
               {"catalogue_bytes", sizes.catalogue_bytes},
               {"budget", sizes.budget ? Json(*sizes.budget) : Json(nullptr)},
               {"entries", Json::array()}};
  for (const EntrySizes& entry : sizes.entries)
    json["entries"].push_back({{"name", entry.name},
                               {"file_bytes", entry.file_bytes},
                               {"packed_bytes", entry.packed_bytes},
                               {"own_bytes", entry.own_bytes}});
  return json;
}

void print_sizes(const StoreSizes& sizes, Printer& out) {
  if (!sizes.entries.empty()) out.line("{:>11} {:>11} {:>11}  name", "file", "packed", "own");
  for (const EntrySizes& entry : sizes.entries)
    out.line("{:>11} {:>11} {:>11}  {}", human_bytes(entry.file_bytes),
             human_bytes(entry.packed_bytes), human_bytes(entry.own_bytes), entry.name);
  out.line("{} of {} as {} of blocks, {} of them needed; catalogue {}",
           counted(sizes.entries.size(), "file"), human_bytes(sizes.file_bytes),
           human_bytes(sizes.block_bytes), human_bytes(sizes.live_bytes),
           human_bytes(sizes.catalogue_bytes));
  if (sizes.budget) out.line("budget {}", human_bytes(*sizes.budget));
}

int run_sizes(const StoreOptions& o) {
  const StoreSizes sizes = open_store(o).sizes();
  Printer out;
  if (o.json) {
    Json json = json_document(o.folder);
    json.update(sizes_json(sizes));
    out.json(json);
  } else if (o.tsv) {
    out.line("file_bytes\tpacked_bytes\town_bytes\tname");
    for (const EntrySizes& entry : sizes.entries)
      out.line("{}\t{}\t{}\t{}", entry.file_bytes, entry.packed_bytes, entry.own_bytes, entry.name);
  } else {
    print_sizes(sizes, out);
  }
  out.finish();
  return exit_fine;
}

}  // namespace

Action add_store_ls(CLI::App& verb) {
  auto o = std::make_shared<ListVerb>();
  add_folder(verb, o->store);
  verb.add_option("--tag", o->tag, "only entries with this tag")->type_name("TAG");
  add_format(verb, o->store, true);
  return [o] { return run_list(*o); };
}

Action add_store_show(CLI::App& verb) {
  auto o = std::make_shared<ShowVerb>();
  verb.add_option("NAME", o->name, "which entry")->required();
  add_folder(verb, o->store);
  add_format(verb, o->store, false);
  return [o] { return run_show(*o); };
}

Action add_store_du(CLI::App& verb) {
  auto o = std::make_shared<StoreOptions>();
  add_folder(verb, *o);
  add_format(verb, *o, true);
  return [o] { return run_sizes(*o); };
}

}  // namespace kvtool::cli
