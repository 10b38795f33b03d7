#include "kvtool/checked.h"

#include <fmt/format.h>

#include "kvtool/error.h"

namespace kvtool {

std::uint64_t checked_add(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  throw Error(ErrorKind::damaged, fmt::format("{} + {} does not fit in 64 bits", a, b));
}

std::uint64_t checked_multiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  throw Error(ErrorKind::damaged, fmt::format("{} x {} does not fit in 64 bits", a, b));
}

}  // namespace kvtool
