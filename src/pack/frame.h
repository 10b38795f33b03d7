// One frame: bytes stored as they are, or as a zstd frame of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "pack/container.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace kvtool::packing {

// How frames of a part are made; no reader needs to know.
struct FrameMode {
  enum Kind : std::uint8_t { store, entropy, search };
  Kind kind = store;
  int level = 1;  // search: of zstd
  bool operator==(const FrameMode&) const = default;
};

// Compresses frames; one for each thread.
class FrameMaker {
 public:
  FrameMaker();

  // Appends the frame of `raw` to `out` and returns its size: 0 if all bytes are zero, that of
  // `raw` if they are stored, because the mode says so or less than 1/64 is gained.
  std::uint32_t append(std::span<const std::byte> raw, FrameMode mode, ByteVector& out);

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  std::size_t compress(std::span<const std::byte> raw, FrameMode mode, std::span<std::byte> out);

  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
  FrameMode set_;  // what the context is set to
  bool is_set_ = false;
};

// Reads frames; one for each thread.
class FrameReader {
 public:
  FrameReader();

  // Fills `raw` from its frame. False if the frame is damaged or has another size.
  [[nodiscard]] bool read(std::span<const std::byte> frame, std::span<std::byte> raw);
  // The same for one that is a zstd frame in any case.
  [[nodiscard]] bool read_zstd(std::span<const std::byte> frame, std::span<std::byte> raw);

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
};

}  // namespace kvtool::packing
