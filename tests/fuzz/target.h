// What a fuzz target is: one function over arbitrary bytes.
//
// The same function runs under libFuzzer (entry.cpp) and, in every test run, over seeds and what was
// once found (replay.cpp). It may throw kvtool::Error, which is how kvtool refuses input; anything
// else that comes out is a finding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

namespace kvtool::fuzz {

// A promise that did not hold.
class Finding : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

inline void require(bool holds, const std::string& promise) {
  if (!holds) throw Finding(promise);
}

// Takes numbers off the front of the input; 0 once it is used up.
class Choices {
 public:
  explicit Choices(std::span<const std::byte> bytes) : rest_(bytes) {}
  unsigned byte() {
    if (rest_.empty()) return 0;
    const auto value = std::to_integer<unsigned>(rest_.front());
    rest_ = rest_.subspan(1);
    return value;
  }
  // A number in [0, end); 0 if there is none.
  std::uint32_t below(std::uint64_t end) {
    const std::uint32_t value = byte() << 8U | byte();
    return end == 0 ? 0 : static_cast<std::uint32_t>(value % end);
  }
  [[nodiscard]] std::span<const std::byte> rest() const { return rest_; }

 private:
  std::span<const std::byte> rest_;
};

// Each target defines it.
void try_input(std::span<const std::byte> input);

}  // namespace kvtool::fuzz
