// Names the place inside a layout that is being read or written, for errors and for `map`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kvtool::format {

// A linked list on the stack: costs a pointer per level and builds text only when it is asked for.
class Scope {
 public:
  static constexpr std::uint64_t unnumbered = ~std::uint64_t{0};

  // GCC 12 fears that the pointer outlives the scope; the destructor takes it back.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdangling-pointer"
#endif
  Scope(const Scope*& innermost, std::string_view name, std::uint64_t index)
      : innermost_(innermost), outer_(innermost), name_(name), index_(index) {
    innermost_ = this;
  }
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
  ~Scope() { innermost_ = outer_; }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  // "memory[0].stream[0]." and the like, ending in a dot.
  static std::string path(const Scope* scope) {
    if (scope == nullptr) return {};
    std::string text = path(scope->outer_);
    text += scope->name_;
    if (scope->index_ != unnumbered) text.append("[").append(std::to_string(scope->index_)).append("]");
    return text.append(".");
  }

 private:
  const Scope*& innermost_;
  const Scope* outer_;
  std::string_view name_;
  std::uint64_t index_;
};

}  // namespace kvtool::format
