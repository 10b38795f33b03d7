// Counts what operator new hands out, to prove that no number in a file makes memory grow. A test
// program that wants this links allocation.cpp, which replaces the global operators.
#pragma once

#include <cstddef>

namespace kvtool::test {

// Measures from its construction on; one at a time.
class AllocationMeter {
 public:
  AllocationMeter();
  // Most bytes that were live at once, beyond those at construction.
  [[nodiscard]] std::size_t peak() const;

 private:
  std::size_t before_;
};

}  // namespace kvtool::test
