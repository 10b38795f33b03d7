#include "support/allocation.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> live{0};
std::atomic<std::size_t> most_live{0};

void* try_to_allocate(std::size_t size) noexcept {
  void* memory = std::malloc(size == 0 ? 1 : size);
  live += malloc_usable_size(memory);  // 0 of nullptr
  if (live > most_live) most_live = live.load();
  return memory;
}

void* allocate(std::size_t size) {
  void* memory = try_to_allocate(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void release(void* memory) {
  if (memory == nullptr) return;
  live -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return try_to_allocate(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return try_to_allocate(size); }
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { release(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { release(memory); }

namespace kvtool::test {

AllocationMeter::AllocationMeter() : before_(live) { most_live = before_; }

std::size_t AllocationMeter::peak() const {
  return std::max(most_live.load(), before_) - before_;
}

}  // namespace kvtool::test
