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
};

// Collects output in memory, for tests and small parts.
class MemorySink final : public Sink {
 public:
  void write(std::span<const std::byte> bytes) override;
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

// Exact size of what write_plan would produce, without reading any tensor.
[[nodiscard]] std::uint64_t size_of(const Plan& plan);
// Produces the output from front to back in bounded memory. Throws Error(io, refused).
void write_plan(const Plan& plan, Sink& sink);

}  // namespace kvtool
