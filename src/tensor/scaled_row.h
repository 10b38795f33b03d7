// A row of q8_KV: f32 scale, i32 sum of the bytes that follow, then a signed byte for each element.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>

namespace kvtool {

class ScaledRow {
 public:
  static constexpr std::size_t header_bytes = sizeof(float) + sizeof(std::int32_t);

  // `bytes`: header and elements of one row.
  explicit ScaledRow(std::span<const std::byte> bytes) : values_(bytes.subspan(header_bytes)) {
    std::memcpy(&scale_, bytes.data(), sizeof scale_);
    std::memcpy(&sum_, bytes.data() + sizeof scale_, sizeof sum_);
  }

  [[nodiscard]] float scale() const { return scale_; }
  [[nodiscard]] std::size_t size() const { return values_.size(); }
  [[nodiscard]] std::int8_t level(std::size_t element) const {
    return static_cast<std::int8_t>(values_[element]);
  }
  // Whether the stored sum is that of the bytes.
  [[nodiscard]] bool adds_up() const {
    return sum_ == std::accumulate(values_.begin(), values_.end(), 0, [](int sum, std::byte value) {
             return sum + static_cast<std::int8_t>(value);
           });
  }

 private:
  float scale_ = 0;
  std::int32_t sum_ = 0;
  std::span<const std::byte> values_;
};

}  // namespace kvtool
