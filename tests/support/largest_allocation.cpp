#include "support/largest_allocation.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace {
thread_local std::size_t largest = 0;
}

// Replaces the global one; the forms for arrays and with nothrow come here too.
void* operator new(std::size_t size) {
  largest = std::max(largest, size);
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace kvtool::test {

void watch_allocations() { largest = 0; }
std::size_t largest_allocation() { return largest; }

}  // namespace kvtool::test
