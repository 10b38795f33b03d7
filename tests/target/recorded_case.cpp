#include "target/recorded_case.h"

#include <cstring>
#include <filesystem>
#include <regex>
#include <stdexcept>
#include <utility>
#include <vector>

#include "support/testdata.h"

namespace kvtool::test {
namespace {

using Match = std::smatch;

std::uint64_t number(const std::string& text) { return std::stoull(text, nullptr, 0); }

// A slot file of llama.cpp with one stream, and where its parts are.
class SlotFile {
 public:
  SlotFile(ByteVector bytes, bool streams) : bytes_(std::move(bytes)), streams_(streams) {}

  ByteVector& bytes() { return bytes_; }
  std::uint32_t u32(std::size_t at) const {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes_.data() + at, 4);
    return value;
  }
  void set(std::size_t at, std::uint64_t value) {
    const auto word = static_cast<std::uint32_t>(value);
    std::memcpy(bytes_.data() + at, &word, 4);
  }
  void set64(std::size_t at, std::uint64_t value) { std::memcpy(bytes_.data() + at, &value, 8); }
  void append(const ByteVector& more) { bytes_.insert(bytes_.end(), more.begin(), more.end()); }

  std::size_t state() const { return 12 + std::size_t{4} * u32(8); }
  std::size_t cell_count() const { return state() + (streams_ ? 4 : 0); }
  std::size_t cell_bytes() const { return streams_ ? 12 : 8; }
  std::size_t cell(std::size_t i) const { return cell_count() + 4 + i * cell_bytes(); }
  std::size_t v_trans() const { return cell(u32(cell_count())); }
  std::size_t layer_0() const { return v_trans() + (streams_ ? 16 : 8); }  // its K type
  // Type of V of layer 0, behind the K rows of all layers.
  std::size_t v_layer_0() const {
    std::size_t at = layer_0();
    for (std::uint32_t l = 0; l < u32(v_trans() + 4); ++l)
      at += 12 + std::size_t{u32(at + 4)} * u32(cell_count());
    return at;
  }

  // The list of checkpoints: from its magic to the end.
  std::size_t checkpoints() const {
    static const char magic[] = {'S', 'C', 'K', 'P'};
    for (std::size_t at = state(); at + 4 <= bytes_.size(); ++at)
      if (std::memcmp(bytes_.data() + at, magic, 4) == 0) return at;
    throw std::runtime_error("there are no checkpoints");
  }
  std::size_t checkpoint() const { return checkpoints() + 12; }  // n_tokens of the first
  std::size_t blob_size() const { return checkpoint() + 16; }
  std::size_t blob() const { return blob_size() + 8; }

  // Puts other words between header and state.
  void replace_tokens(const std::vector<std::int32_t>& words) {
    ByteVector tail(bytes_.begin() + static_cast<std::ptrdiff_t>(state()), bytes_.end());
    bytes_.resize(12);
    set(8, words.size());
    Bytes area;
    for (const std::int32_t word : words) area.i32(word);
    append(area.get());
    append(tail);
  }
  // The ids of the packed list.
  std::vector<std::int32_t> ids() const {
    std::vector<std::int32_t> list(u32(20));
    std::memcpy(list.data(), bytes_.data() + 24, list.size() * 4);
    return list;
  }
  void replace_packed(std::vector<std::int32_t> ids) {
    std::vector<std::int32_t> words = {-1, 1, static_cast<std::int32_t>(ids.size())};
    words.insert(words.end(), ids.begin(), ids.end());
    words.push_back(0);
    replace_tokens(words);
  }

 private:
  ByteVector bytes_;
  bool streams_;
};

std::filesystem::path find(const std::string& name, const std::string& server) {
  const std::string plain = std::filesystem::path(name).filename().string();
  std::vector<std::string> folders = {"restore/" + server, "server/" + server};
  if (name.rfind("modern/dumps/b10256/", 0) == 0) folders = {"restore/b10256"};
  if (name.rfind("modern/dumps/b11118/", 0) == 0) folders = {"modern/b11118"};
  if (name.rfind("ik_llama/", 0) == 0) folders = {"server/ik_llama"};
  if (name.rfind("b0.7.0/", 0) == 0) folders = {"server/b0.7.0", "restore/b0.7.0"};
  for (const std::string& folder : folders)
    if (std::filesystem::exists(testdata(folder) / plain)) return testdata(folder) / plain;
  throw std::runtime_error("no good file " + name);
}

ByteVector checkpoints_of(const std::string& name, const std::string& server) {
  SlotFile other(read_file(find(name, server)), true);
  const std::size_t at = other.checkpoints();
  return {other.bytes().begin() + static_cast<std::ptrdiff_t>(at), other.bytes().end()};
}

void replace_checkpoints(SlotFile& file, const ByteVector& list) {
  file.bytes().resize(file.checkpoints());
  file.append(list);
}

// Takes `bytes` from the end of the first blob; what follows moves up.
void shorten_blob(SlotFile& file, std::uint64_t by) {
  std::uint64_t size = 0;
  std::memcpy(&size, file.bytes().data() + file.blob_size(), 8);
  file.set64(file.blob_size(), size - by);
  const auto end = file.bytes().begin() + static_cast<std::ptrdiff_t>(file.blob() + size);
  file.bytes().erase(end - static_cast<std::ptrdiff_t>(by), end);
}

void empty_blob(SlotFile& file) {
  std::uint64_t size = 0;
  std::memcpy(&size, file.bytes().data() + file.blob_size(), 8);
  shorten_blob(file, size);
}

// A list that claims more bytes than follow.
ByteVector overlong_list() {
  Bytes list;
  list.text("SCKP").u32(1).u32(1).u64(25).i32(0).i32(24).u64(1000000);
  return list.get();
}

struct Rule {
  const char* pattern;
  void (*apply)(SlotFile& file, const Match& m, const std::string& server);
};

std::vector<std::int32_t> first(const std::vector<std::int32_t>& ids, std::size_t n) {
  return {ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(n)};
}

// The changes of words by place and by name.
const std::vector<Rule>& word_rules() {
  static const std::vector<Rule> rules = {
      {"[ui]32 at (\\d+) (?:set to|.*->) (-?\\w+).*",
       [](SlotFile& f, const Match& m, const std::string&) {
         f.set(number(m[1]), static_cast<std::uint64_t>(std::stoll(m[2], nullptr, 0)));
       }},
      {"cell_count (?:\\d+ )?-> (\\w+)",
       [](SlotFile& f, const Match& m, const std::string&) {
         f.set(f.cell_count(), number(m[1]));
       }},
      {"pos of cell (\\d+) -> (-?\\d+).*",
       [](SlotFile& f, const Match& m, const std::string&) {
         f.set(f.cell(number(m[1])), static_cast<std::uint64_t>(std::stoll(m[2])));
       }},
      {"n_seq of cell (\\d+) (?:\\d+ )?-> (\\d+)",
       [](SlotFile& f, const Match& m, const std::string&) {
         f.set(f.cell(number(m[1])) + 4, number(m[2]));
       }},
      {"seq id of cell (\\d+) -> (\\d+)",
       [](SlotFile& f, const Match& m, const std::string&) {
         f.set(f.cell(number(m[1])) + 8, number(m[2]));
       }},
      {"v_trans(?:/v_state)? 0 -> (\\d+)",
       [](SlotFile& f, const Match& m, const std::string&) { f.set(f.v_trans(), number(m[1])); }},
      {"n_layer 2 -> (\\d+)", [](SlotFile& f, const Match& m,
                                 const std::string&) { f.set(f.v_trans() + 4, number(m[1])); }},
      {"first rotation word 0 -> (\\d+)",
       [](SlotFile& f, const Match& m, const std::string&) {
         f.set(f.v_trans() + 8, number(m[1]));
       }},
      {"second rotation word 0 -> (\\d+)",
       [](SlotFile& f, const Match& m, const std::string&) {
         f.set(f.v_trans() + 12, number(m[1]));
       }},
      {"(?:type of layer 0 K|layer 0 K type) 1 -> (\\d+)",
       [](SlotFile& f, const Match& m, const std::string&) { f.set(f.layer_0(), number(m[1])); }},
      {"(?:row size of layer 0 K|layer 0 K row) 128 -> (\\d+)",
       [](SlotFile& f, const Match& m, const std::string&) {
         f.set(f.layer_0() + 4, number(m[1]));
       }},
      {"type of layer 0 V 1 -> (\\d+)",
       [](SlotFile& f, const Match& m, const std::string&) { f.set(f.v_layer_0(), number(m[1])); }},
      {"one bit of K data flipped",
       [](SlotFile& f, const Match&, const std::string&) {
         f.bytes()[f.layer_0() + 12 + 100] ^= std::byte{1};
       }},
      {"magic ggsn, version (\\d+)",
       [](SlotFile& f, const Match& m, const std::string&) {
         f.set(0, 0x6767736e);
         f.set(4, number(m[1]));
       }},
  };
  return rules;
}

const std::vector<Rule>& size_and_token_rules() {
  static const std::vector<Rule> rules = {
      {"first (\\d+) of .*",
       [](SlotFile& f, const Match& m, const std::string&) { f.bytes().resize(number(m[1])); }},
      {"last (\\d+) bytes cut",
       [](SlotFile& f, const Match& m, const std::string&) {
         f.bytes().resize(f.bytes().size() - number(m[1]));
       }},
      {"cut at the checkpoint list \\(byte (\\d+) of .*",
       [](SlotFile& f, const Match& m, const std::string&) { f.bytes().resize(number(m[1])); }},
      {"(\\d+) zero bytes appended",
       [](SlotFile& f, const Match& m, const std::string&) {
         f.bytes().resize(f.bytes().size() + number(m[1]));
       }},
      {"\"SCKP\", u32 9, u32 9 appended",
       [](SlotFile& f, const Match&, const std::string&) {
         f.append(Bytes().text("SCKP").u32(9).u32(9).get());
       }},
      {"a checkpoint list that claims more bytes than follow",
       [](SlotFile& f, const Match&, const std::string&) { f.append(overlong_list()); }},
      {"token area replaced by the plain 34 ids",
       [](SlotFile& f, const Match&, const std::string&) { f.replace_tokens(f.ids()); }},
      {"plain ids, last one left out",
       [](SlotFile& f, const Match&, const std::string&) {
         f.replace_tokens(first(f.ids(), f.ids().size() - 1));
       }},
      {"token area empty, n_token 0",
       [](SlotFile& f, const Match&, const std::string&) { f.replace_tokens({}); }},
      {"packed, only the first (\\d+) ids",
       [](SlotFile& f, const Match& m, const std::string&) {
         f.replace_packed(first(f.ids(), number(m[1])));
       }},
      {"only (\\d+) ids, cells and checkpoint as they were",
       [](SlotFile& f, const Match& m, const std::string&) {
         f.replace_packed(first(f.ids(), number(m[1])));
       }},
      {"packed, (\\d+) more ids than cells",
       [](SlotFile& f, const Match& m, const std::string&) {
         std::vector<std::int32_t> ids = f.ids();
         ids.insert(ids.end(), number(m[1]), 100);
         f.replace_packed(ids);
       }},
  };
  return rules;
}

const std::vector<Rule>& checkpoint_rules() {
  static const std::vector<Rule> rules = {
      {"its checkpoint list replaced by that of (\\S+)",
       [](SlotFile& f, const Match& m, const std::string& server) {
         replace_checkpoints(f, checkpoints_of(m[1], server));
       }},
      {"with the list of (\\S+)",
       [](SlotFile& f, const Match& m, const std::string& server) {
         replace_checkpoints(f, checkpoints_of(m[1], server));
       }},
      {"n_tokens of the checkpoint 25 -> (\\d+)",
       [](SlotFile& f, const Match& m, const std::string&) {
         f.set64(f.checkpoint(), number(m[1]));
       }},
      {"checkpoint n_tokens (\\d+), pos_max (\\d+)",
       [](SlotFile& f, const Match& m, const std::string&) {
         f.set64(f.checkpoint(), number(m[1]));
         f.set(f.checkpoint() + 12, number(m[2]));
       }},
      {"checkpoint pos_min (\\d+), pos_max (\\d+)",
       [](SlotFile& f, const Match& m, const std::string&) {
         f.set(f.checkpoint() + 8, number(m[1]));
         f.set(f.checkpoint() + 12, number(m[2]));
       }},
      {"sequence id in the blob 0 -> (\\d+)",
       [](SlotFile& f, const Match& m, const std::string&) { f.set(f.blob() + 4, number(m[1])); }},
      {"count 1 -> (\\d+).*", [](SlotFile& f, const Match& m,
                                 const std::string&) { f.set(f.checkpoints() + 8, number(m[1])); }},
      {"first byte of the blob changed",
       [](SlotFile& f, const Match&, const std::string&) {
         f.bytes()[f.blob()] ^= std::byte{0xff};
       }},
      {"blob cut by (\\d+) bytes, its size field adapted",
       [](SlotFile& f, const Match& m, const std::string&) { shorten_blob(f, number(m[1])); }},
      {"blob empty", [](SlotFile& f, const Match&, const std::string&) { empty_blob(f); }},
  };
  return rules;
}

bool apply(const std::vector<Rule>& rules, SlotFile& file, const std::string& change,
           const std::string& server) {
  for (const Rule& rule : rules) {
    Match m;
    if (!std::regex_match(change, m, std::regex(rule.pattern))) continue;
    rule.apply(file, m, server);
    return true;
  }
  return false;
}

// "FILE", "FILE, CHANGE", "FILE with CHANGE", "FILE cut at ...", "FILE (remark)".
std::pair<std::string, std::string> split(const std::string& description) {
  static const std::regex grammar("(\\S+?\\.ggsq)(?:,? (?:with (?=u32))?(.*))?");
  Match m;
  if (!std::regex_match(description, m, grammar))
    throw std::runtime_error("not understood: " + description);
  std::string change = m[2];
  if (!change.empty() && change.front() == '(') change.clear();
  return {m[1], change};
}

}  // namespace

std::optional<ByteVector> made_as(const std::string& description, const std::string& server) {
  if (description == "no such file") return std::nullopt;
  if (description == "0 bytes") return ByteVector();
  if (description == "flash attention off file")
    return read_file(find("no-flash-attention.ggsq", server));
  const auto [name, change] = split(description);
  SlotFile file(read_file(find(name, server)), server == "b0.7.0");
  if (change.empty() || apply(word_rules(), file, change, server) ||
      apply(size_and_token_rules(), file, change, server) ||
      apply(checkpoint_rules(), file, change, server))
    return file.bytes();
  throw std::runtime_error("change not understood: " + change);
}

}  // namespace kvtool::test
