// Watches `operator new`, to prove that no count of a hostile file becomes an allocation.
// A test program that uses it lists support/largest_allocation.cpp among its sources.
#pragma once

#include <cstddef>

namespace kvtool::test {

// Begins a new measurement in this thread.
void watch_allocations();
// The largest single request since then, in bytes.
[[nodiscard]] std::size_t largest_allocation();

}  // namespace kvtool::test
