#include "store/names.h"

#include <fmt/format.h>

#include <string_view>

#include "gguf/utf8.h"
#include "kvtool/error.h"

namespace kvtool::store {
namespace {

constexpr std::size_t most_bytes = 255;

bool is_control(std::uint32_t point) { return point < 0x20 || (point >= 0x7f && point < 0xa0); }

// Why it is no name; nullptr if it is one.
const char* problem_of(const std::string& name) {
  if (name.empty()) return "is empty";
  if (name.size() > most_bytes) return "is longer than 255 bytes";
  if (name == "." || name == "..") return "means a folder";
  for (std::string_view rest = name; !rest.empty();) {
    const gguf::CodePoint point = gguf::first_code_point(rest);
    if (point.size == 0) return "is no UTF-8";
    if (is_control(point.value)) return "has a control character";
    if (point.value == '/') return "has a slash: names are no paths";
    rest.remove_prefix(point.size);
  }
  return nullptr;
}

}  // namespace

void require_name(const std::string& name, const char* what) {
  if (const char* problem = problem_of(name))
    throw Error(ErrorKind::usage, fmt::format("{} {}", what, problem));
}

}  // namespace kvtool::store
