#define ZSTD_STATIC_LINKING_ONLY  // for ZSTD_c_literalCompressionMode
#include "pack/frame.h"

#include <zstd.h>

#include <cstring>
#include <new>
#include <stdexcept>
#include <string>

namespace kvtool::packing {
namespace {

// So fast that it looks for no repeats: with the literals compressed, only entropy coding is left.
constexpr int no_search_level = -(1 << 17);

std::size_t checked(std::size_t result) {
  if (ZSTD_isError(result) != 0)
    throw std::runtime_error(std::string("zstd: ") + ZSTD_getErrorName(result));
  return result;
}

bool all_zero(std::span<const std::byte> bytes) {
  if (bytes.empty() || bytes[0] != std::byte{0}) return bytes.empty();
  return std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

}  // namespace

void FrameMaker::Free::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }
void FrameReader::Free::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

FrameMaker::FrameMaker() : context_(ZSTD_createCCtx()) {
  if (!context_) throw std::bad_alloc();
}

std::size_t FrameMaker::compress(std::span<const std::byte> raw, FrameMode mode,
                                 std::span<std::byte> out) {
  if (!is_set_ || !(set_ == mode)) {
    const bool searches = mode.kind == FrameMode::search;
    checked(ZSTD_CCtx_reset(context_.get(), ZSTD_reset_session_and_parameters));
    checked(ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel,
                                   searches ? mode.level : no_search_level));
    if (!searches)
      checked(ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_literalCompressionMode,
                                     ZSTD_ps_enable));
    set_ = mode;
    is_set_ = true;
  }
  return checked(
      ZSTD_compress2(context_.get(), out.data(), out.size(), raw.data(), raw.size()));
}

std::uint32_t FrameMaker::append(std::span<const std::byte> raw, FrameMode mode, ByteVector& out) {
  if (all_zero(raw)) return 0;
  const std::size_t at = out.size();
  if (mode.kind != FrameMode::store) {
    out.resize(at + ZSTD_compressBound(raw.size()));
    const std::size_t size = compress(raw, mode, std::span(out).subspan(at));
    if (size + raw.size() / 64 < raw.size()) {
      out.resize(at + size);
      return static_cast<std::uint32_t>(size);
    }
    out.resize(at);
  }
  out.insert(out.end(), raw.begin(), raw.end());
  return static_cast<std::uint32_t>(raw.size());
}

FrameReader::FrameReader() : context_(ZSTD_createDCtx()) {
  if (!context_) throw std::bad_alloc();
}

bool FrameReader::read(std::span<const std::byte> frame, std::span<std::byte> raw) {
  if (raw.empty()) return frame.empty();
  if (frame.empty()) {
    std::memset(raw.data(), 0, raw.size());
  } else if (frame.size() == raw.size()) {
    std::memcpy(raw.data(), frame.data(), raw.size());
  } else {
    return read_zstd(frame, raw);
  }
  return true;
}

bool FrameReader::read_zstd(std::span<const std::byte> frame, std::span<std::byte> raw) {
  const std::size_t size =
      ZSTD_decompressDCtx(context_.get(), raw.data(), raw.size(), frame.data(), frame.size());
  return ZSTD_isError(size) == 0 && size == raw.size();
}

}  // namespace kvtool::packing
