#include "target/loader_reader.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <span>

namespace kvtool::target {
namespace {

// What variables hold that were never read, as 0.7.0 showed on files cut right before them.
const std::map<std::string, std::uint64_t>& first_values() {
  static const std::map<std::string, std::uint64_t> values = {{"header", 0},  {"n_seq", 1},
                                                              {"pos", 0},     {"seq_id", 0},
                                                              {"v_trans", 0}, {"n_layer", 0},
                                                              {"rot_k", 0},   {"rot_v", 0},
                                                              {"k_type", 0},  {"v_type", 0}};
  return values;
}

std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) {
  return a > std::numeric_limits<std::uint64_t>::max() - b
             ? std::numeric_limits<std::uint64_t>::max()
             : a + b;
}

}  // namespace

std::optional<std::uint64_t> LoaderReader::left_over(const std::string& name) {
  if (const auto found = last_.find(name); found != last_.end()) return found->second;
  const auto first = first_values().find(name);
  if (first == first_values().end()) return std::nullopt;
  return first->second;
}

std::optional<std::uint64_t> LoaderReader::word(const char* name, std::uint32_t bytes) {
  const std::uint64_t left = at_ < end_ ? end_ - at_ : 0;
  const auto have = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, bytes));
  std::optional<std::uint64_t> value = 0;
  if (have < bytes) {
    value = left_over(name);
    guessed_ = guessed_ || value;
  }
  if (value && have > 0) {
    std::array<std::byte, 8> raw{};
    std::memcpy(raw.data(), &*value, raw.size());
    window_.read(at_, std::span(raw).first(have));
    std::memcpy(&*value, raw.data(), raw.size());
  }
  at_ = saturating_add(at_, bytes);
  if (value) last_[name] = *value;
  return value;
}

void LoaderReader::skip(std::uint64_t bytes) { at_ = saturating_add(at_, bytes); }

}  // namespace kvtool::target
