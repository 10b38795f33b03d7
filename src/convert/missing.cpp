#include "convert/missing.h"

#include <fmt/format.h>

#include <utility>

#include "kvtool/error.h"

namespace kvtool::convert_steps {
namespace {

// "a, b and c"
std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += i + 1 == parts.size() ? " and " : ", ";
    text += parts[i];
  }
  return text;
}

}  // namespace

void Missing::add(std::string what, std::string how) {
  what_.push_back(std::move(what));
  how_.push_back(std::move(how));
}

void Missing::require_none(const std::string& files, const std::string& like) const {
  if (what_.empty()) return;
  throw Error(
      ErrorKind::refused,
      fmt::format("{} hold {}, and nothing here tells {}: say {}, or --like REF with a session {}",
                  files, joined(what_), what_.size() == 1 ? "it" : "them", joined(how_), like));
}

}  // namespace kvtool::convert_steps
