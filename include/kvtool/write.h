// The only code that produces bytes of a dump.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kvtool/plan.h"

namespace kvtool {

// Where output goes, in order.
class Sink {
 public:
  virtual ~Sink() = default;
  // Appends bytes. Throws Error(io).
  virtual void write(std::span<const std::byte> bytes) = 0;
  // Appends a range of a source; a file sink copies large ranges inside the kernel.
  virtual void copy(const Source& source, std::uint64_t offset, std::uint64_t size);
  // Appends ranges of a source, in the order of the list; they may lie anywhere and be short.
  virtual void copy_ranges(const Source& source, std::span<const Extent> ranges);
  // Makes the next `size` bytes a region that write_in_region() fills in any order, each byte once;
  // end_region() moves behind it. False if this sink can only go forward.
  virtual bool begin_region(std::uint64_t size);
  virtual void write_in_region(std::uint64_t offset, std::span<const std::byte> bytes);
  virtual void end_region();
};

// Collects output in memory, for tests and small parts.
class MemorySink final : public Sink {
 public:
  void write(std::span<const std::byte> bytes) override;
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

// What the values of one tensor lost when it changed its type.
struct TensorLoss {
  std::string tensor;  // "memory[0].stream[0].layer[3].v_data"
  std::uint64_t values = 0;
  double max_abs = 0;      // largest difference
  double rms = 0;          // root of the mean square of the differences
  double relative_l2 = 0;  // norm of the differences over norm of the values
  std::uint64_t not_finite = 0;  // NaN and infinities that did not stay what they were
};

// Exact size of what write_plan would produce, without reading any tensor.
[[nodiscard]] std::uint64_t size_of(const Plan& plan);
// Produces the output from front to back in bounded memory. Tensors whose type, orientation or
// rotation differs from their source's are converted; what that lost is appended to `losses`.
// Throws Error(io, refused, unsupported).
void write_plan(const Plan& plan, Sink& sink, std::vector<TensorLoss>* losses = nullptr);

}  // namespace kvtool
