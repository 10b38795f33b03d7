#include "kvtool/model_stamp.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "kvtool/error.h"
#include "pack/hash.h"

namespace kvtool {
namespace {

using packing::FileHash;

// Texts up to this length stand in the stamp as they are.
constexpr std::size_t short_text = 64;
// Of each weight: enough to tell a fine-tune from what it was made of.
constexpr std::uint64_t sample_bytes = 4096;

std::string text_of(const FileHash& hash) {
  const auto value = hash.value();
  return fmt::format("xxh3:{:016x}{:016x}", value.high64, value.low64);
}

void add_text(FileHash& hash, std::string_view text) {
  const auto size = static_cast<std::uint64_t>(text.size());
  hash.add(std::as_bytes(std::span(&size, 1)));
  hash.add(std::as_bytes(std::span(text)));
}

// Adds bytes of the file. False if they are not all there.
bool add_if_there(FileHash& hash, const Source& source, const Extent& range) {
  if (range.offset > source.size() || range.size > source.size() - range.offset) return false;
  packing::add_range(hash, source, range);
  return true;
}

bool is_plain(const std::string& text) {
  return text.size() <= short_text &&
         std::ranges::all_of(text, [](char c) { return c >= ' ' && c < '\x7f'; });
}

// A value as text, or the hash of its bytes.
std::string value_text(const Gguf& model, const std::string& key, const GgufValue& value) {
  if (value.type != GgufType::array) {
    if (const auto number = model.i64(key)) return std::to_string(*number);
    if (const auto number = model.u64(key)) return std::to_string(*number);
    if (const auto number = model.f64(key)) return fmt::format("{}", *number);
    if (const auto flag = model.boolean(key)) return *flag ? "true" : "false";
    if (const auto text = model.string(key); text && is_plain(*text)) return *text;
  }
  FileHash hash;
  if (!add_if_there(hash, model.source(), value.extent)) return "unknown";
  return fmt::format("{} {}", value.count, text_of(hash));
}

// The name of a key's fact: one line, and none of the names that the stamp's own facts have.
std::string fact_key(const std::string& key) {
  if (!is_plain(key)) {
    FileHash hash;
    add_text(hash, key);
    return "key " + text_of(hash);
  }
  return key.find('.') == std::string::npos ? "key " + key : key;
}

// Which facts of the file matter how much.
StampClass class_of(const std::string& key, const std::string& arch) {
  if (key == "general.architecture") return StampClass::hard;
  if (key.starts_with(arch + "."))
    return key == arch + ".context_length" || key == arch + ".vocab_size" ? StampClass::info
                                                                          : StampClass::hard;
  // Whoever has other ids for the same text has another prompt.
  const bool ids = key == "tokenizer.ggml.model" || key == "tokenizer.ggml.tokens" ||
                   key == "tokenizer.ggml.merges";
  return ids ? StampClass::hard : StampClass::info;
}

bool describes_rope_factors(const std::string& tensor) {
  return tensor.starts_with("rope_freqs") || tensor.starts_with("rope_factors");
}

std::string table_text(const Gguf& model) {
  FileHash hash;
  for (const GgufTensor& tensor : model.tensors()) {
    add_text(hash, tensor.name);
    for (const std::uint64_t n : tensor.shape) add_text(hash, std::to_string(n));
  }
  return fmt::format("{} {}", model.tensors().size(), text_of(hash));
}

std::string types_text(const Gguf& model) {
  FileHash hash;
  for (const GgufTensor& tensor : model.tensors()) add_text(hash, std::to_string(tensor.type));
  return text_of(hash);
}

// The middle of every weight; nothing if the file has not all of them.
std::optional<std::string> weights_text(const Gguf& model) {
  FileHash hash;
  for (const GgufTensor& tensor : model.tensors()) {
    if (!tensor.bytes) return std::nullopt;
    const std::uint64_t size = std::min(*tensor.bytes, sample_bytes);
    const std::uint64_t middle = tensor.offset + (*tensor.bytes - size) / 2;
    if (!add_if_there(hash, model.source(), {middle, size})) return std::nullopt;
  }
  return text_of(hash);
}

void add_rope_factors(const Gguf& model, std::vector<StampFact>& facts) {
  for (const GgufTensor& tensor : model.tensors()) {
    if (!describes_rope_factors(tensor.name)) continue;
    FileHash hash;
    if (tensor.bytes && add_if_there(hash, model.source(), {tensor.offset, *tensor.bytes}))
      facts.push_back({StampClass::hard, fact_key(tensor.name), text_of(hash)});
  }
}

std::map<std::string, StampFact> by_key(const ModelStamp& stamp) {
  std::map<std::string, StampFact> facts;
  for (const StampFact& fact : stamp.facts) facts[fact.key] = fact;
  return facts;
}

bool same_types(const std::map<std::string, StampFact>& a,
                const std::map<std::string, StampFact>& b) {
  const auto in_a = a.find("tensor_types");
  const auto in_b = b.find("tensor_types");
  return in_a != a.end() && in_b != b.end() && in_a->second.value == in_b->second.value;
}

}  // namespace

std::string name_of(StampClass stamp_class) {
  switch (stamp_class) {
    case StampClass::hard: return "hard";
    case StampClass::soft: return "soft";
    case StampClass::info: break;
  }
  return "info";
}

ModelStamp stamp_of(const Gguf& model) {
  ModelStamp stamp;
  const std::string arch = model.architecture();
  for (const auto& [key, value] : model.values())
    stamp.facts.push_back({class_of(key, arch), fact_key(key), value_text(model, key, value)});
  stamp.facts.push_back({StampClass::hard, "tensors", table_text(model)});
  stamp.facts.push_back({StampClass::soft, "tensor_types", types_text(model)});
  if (const auto weights = weights_text(model))
    stamp.facts.push_back({StampClass::hard, "weights", *weights});
  add_rope_factors(model, stamp.facts);
  std::ranges::sort(stamp.facts, {}, &StampFact::key);
  return stamp;
}

std::vector<StampDifference> differences(const ModelStamp& a, const ModelStamp& b) {
  const auto in_a = by_key(a);
  const auto in_b = by_key(b);
  const bool weights_tell = same_types(in_a, in_b);
  std::vector<StampDifference> found;
  const auto add = [&](const StampFact& fact, const std::string& x, const std::string& y) {
    if (fact.key != "weights" || weights_tell) found.push_back({fact.stamp_class, fact.key, x, y});
  };
  for (const auto& [key, fact] : in_a) {
    const auto other = in_b.find(key);
    if (other == in_b.end())
      add(fact, fact.value, "unknown");
    else if (fact.value != other->second.value)
      add(fact, fact.value, other->second.value);
  }
  for (const auto& [key, fact] : in_b)
    if (!in_a.contains(key)) add(fact, "unknown", fact.value);
  // Weights that neither side knows are no match either.
  if (weights_tell && !in_a.contains("weights") && !in_b.contains("weights"))
    found.push_back({StampClass::hard, "weights", "unknown", "unknown"});
  std::ranges::stable_sort(found, {}, &StampDifference::stamp_class);
  return found;
}

bool any_hard(const std::vector<StampDifference>& differences) {
  return std::ranges::any_of(differences, [](const StampDifference& difference) {
    return difference.stamp_class == StampClass::hard;
  });
}

std::string stamp_text(const ModelStamp& stamp) {
  std::string text;
  for (const StampFact& fact : stamp.facts)
    text += fmt::format("{}\t{}\t{}\n", name_of(fact.stamp_class), fact.key, fact.value);
  return text;
}

ModelStamp stamp_from_text(const std::string& text) {
  ModelStamp stamp;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    const std::size_t key = line.find('\t');
    const std::size_t value = key == std::string::npos ? key : line.find('\t', key + 1);
    if (value == std::string::npos) throw Error(ErrorKind::damaged, "stamp of a model: " + line);
    StampFact fact{StampClass::info, line.substr(key + 1, value - key - 1), line.substr(value + 1)};
    for (const StampClass c : {StampClass::hard, StampClass::soft})
      if (line.starts_with(name_of(c) + "\t")) fact.stamp_class = c;
    stamp.facts.push_back(std::move(fact));
    at = end + 1;
  }
  return stamp;
}

}  // namespace kvtool
