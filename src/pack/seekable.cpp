#include "pack/seekable.h"

#include <fmt/format.h>
#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>
#include <utility>

#include "kvtool/error.h"

namespace kvtool::packing {
namespace {

constexpr std::uint32_t skippable_magic = 0x184D2A5E;
constexpr std::uint32_t seekable_magic = 0x8F92EAB1;
constexpr std::uint64_t footer_size = 9;      // count, descriptor, magic
constexpr std::uint64_t skippable_size = 8;   // magic, size of what follows
constexpr std::uint8_t checksum_flag = 0x80;
constexpr std::uint8_t reserved_bits = 0x7c;

// Larger frames are not read one at a time: they would have to be kept in memory.
constexpr std::uint32_t most_frame_bytes = 1U << 20U;
constexpr std::size_t most_kept = 16;
// No zstd block says more than 128 KiB in 4 bytes.
constexpr std::uint64_t most_expansion = 32768;

template <class T>
T number_at(std::span<const std::byte> bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

template <class T>
void append(T value, ByteVector& bytes) {
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof value);
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

[[noreturn]] void fail(const Source& packed, std::uint64_t offset, const std::string& what) {
  throw Error(ErrorKind::damaged, Place{offset, "seek_table"}, what).in_file(packed.name());
}

// What the last bytes say about the table.
struct Ending {
  std::uint64_t frames = 0;
  std::uint64_t entry_bytes = 8;
  std::uint64_t table_offset = 0;  // of the skippable frame
};

std::optional<Ending> read_ending(const Source& packed) {
  if (packed.size() < skippable_size + footer_size) return std::nullopt;
  std::array<std::byte, footer_size> bytes{};
  const std::uint64_t at = packed.size() - footer_size;
  packed.read_at(at, bytes);
  if (number_at<std::uint32_t>(bytes, 5) != seekable_magic) return std::nullopt;
  Ending ending;
  ending.frames = number_at<std::uint32_t>(bytes, 0);
  const auto descriptor = std::to_integer<std::uint8_t>(bytes[4]);
  if ((descriptor & reserved_bits) != 0) fail(packed, at + 4, "reserved bits are set");
  if ((descriptor & checksum_flag) != 0) ending.entry_bytes = 12;
  const std::uint64_t size = skippable_size + ending.frames * ending.entry_bytes + footer_size;
  if (size > packed.size())
    fail(packed, at, fmt::format("{} frames need a table of {} bytes, the file has {}",
                                 ending.frames, size, packed.size()));
  ending.table_offset = packed.size() - size;
  return ending;
}

void require_skippable(const Source& packed, const Ending& ending) {
  std::array<std::byte, skippable_size> bytes{};
  packed.read_at(ending.table_offset, bytes);
  const std::uint64_t content = packed.size() - ending.table_offset - skippable_size;
  if (number_at<std::uint32_t>(bytes, 0) != skippable_magic ||
      number_at<std::uint32_t>(bytes, 4) != content)
    fail(packed, ending.table_offset, "does not begin where its count of frames says");
}

// A frame that is said to be empty is passed over when reading, so it must be.
void require_empty(const Source& packed, const SeekFrame& frame) {
  constexpr std::uint32_t most_bytes = 64;
  bool empty = frame.packed_size <= most_bytes;
  if (empty) {
    ByteVector bytes(frame.packed_size);
    packed.read_at(frame.packed_offset, bytes);
    empty = FrameReader().read_zstd(bytes, {});
  }
  if (!empty) fail(packed, frame.packed_offset, "a frame that is said to be empty is not");
}

// What an entry says, held against the bytes that are there.
void require_possible(const Source& packed, const SeekFrame& frame, const Ending& ending,
                      std::size_t entry_offset) {
  const std::uint64_t at = ending.table_offset + skippable_size + entry_offset;
  if (frame.raw_size / most_expansion > frame.packed_size)
    fail(packed, at,
         fmt::format("{} bytes cannot come out of {}", frame.raw_size, frame.packed_size));
  if (frame.packed_size > ending.table_offset - frame.packed_offset)
    fail(packed, at, "a frame beyond the table");
  if (frame.raw_size == 0) require_empty(packed, frame);
}

}  // namespace

std::optional<SeekTable> read_seek_table(const Source& packed) {
  const auto ending = read_ending(packed);
  if (!ending) return std::nullopt;
  require_skippable(packed, *ending);
  ByteVector entries(static_cast<std::size_t>(ending->frames * ending->entry_bytes));
  packed.read_at(ending->table_offset + skippable_size, entries);
  SeekTable table;
  table.has_checksums = ending->entry_bytes == 12;
  std::uint64_t offset = 0;
  for (std::size_t at = 0; at < entries.size(); at += ending->entry_bytes) {
    SeekFrame frame{offset, table.raw_size, number_at<std::uint32_t>(entries, at),
                    number_at<std::uint32_t>(entries, at + 4), 0};
    if (table.has_checksums) frame.checksum = number_at<std::uint32_t>(entries, at + 8);
    require_possible(packed, frame, *ending, at);
    if (frame.raw_size > most_frame_bytes) return std::nullopt;
    offset += frame.packed_size;
    table.raw_size += frame.raw_size;
    if (frame.raw_size > 0) table.frames.push_back(frame);
  }
  if (offset != ending->table_offset)
    fail(packed, ending->table_offset,
         fmt::format("names {} bytes of frames, {} are there", offset, ending->table_offset));
  return table;
}

void append_seek_entry(const SeekFrame& frame, ByteVector& table) {
  append(frame.packed_size, table);
  append(frame.raw_size, table);
  append(frame.checksum, table);
}

ByteVector finished_seek_table(const ByteVector& entries) {
  ByteVector table = entries;
  table.insert(table.begin(), skippable_size, std::byte{0});
  const auto content = static_cast<std::uint32_t>(entries.size() + footer_size);
  std::memcpy(table.data(), &skippable_magic, sizeof skippable_magic);
  std::memcpy(table.data() + sizeof skippable_magic, &content, sizeof content);
  append(static_cast<std::uint32_t>(entries.size() / 12), table);
  append(checksum_flag, table);
  append(seekable_magic, table);
  return table;
}

void PlainFrameMaker::Free::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }

PlainFrameMaker::PlainFrameMaker(int level) : context_(ZSTD_createCCtx()) {
  if (!context_) throw std::bad_alloc();
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
}

void PlainFrameMaker::make(std::span<const std::byte> raw, ByteVector& out) {
  out.resize(ZSTD_compressBound(raw.size()));
  const std::size_t size =
      ZSTD_compress2(context_.get(), out.data(), out.size(), raw.data(), raw.size());
  if (ZSTD_isError(size) != 0)
    throw std::runtime_error(std::string("zstd: ") + ZSTD_getErrorName(size));
  out.resize(size);
}

std::uint32_t plain_checksum(std::span<const std::byte> raw) {
  return static_cast<std::uint32_t>(XXH64(raw.data(), raw.size(), 0));
}

SeekableSource::SeekableSource(std::shared_ptr<const Source> packed, SeekTable table)
    : packed_(std::move(packed)), table_(std::move(table)) {}

void SeekableSource::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  if (offset > size() || out.size() > size() - offset)
    throw Error(ErrorKind::io, Place{offset, {}}, "end of data").in_file(name());
  count_read(out.size());
  while (!out.empty()) {
    const auto after = std::upper_bound(
        table_.frames.begin(), table_.frames.end(), offset,
        [](std::uint64_t at, const SeekFrame& f) { return at < f.raw_offset; });
    const auto number = static_cast<std::size_t>(after - table_.frames.begin()) - 1;
    const ByteVector& raw = frame(number);
    const auto inside = static_cast<std::size_t>(offset - table_.frames[number].raw_offset);
    const std::size_t size = std::min(out.size(), raw.size() - inside);
    std::memcpy(out.data(), raw.data() + inside, size);
    out = out.subspan(size);
    offset += size;
  }
}

const ByteVector& SeekableSource::frame(std::size_t number) const {
  const auto found = std::find_if(kept_.begin(), kept_.end(),
                                  [&](const Kept& kept) { return kept.frame == number; });
  if (found != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, found);
    return kept_.front().raw;
  }
  ByteVector raw = unpacked(table_.frames[number]);
  if (kept_.size() == most_kept) kept_.pop_back();
  kept_.push_front({number, std::move(raw)});
  return kept_.front().raw;
}

ByteVector SeekableSource::unpacked(const SeekFrame& frame) const {
  // More than zstd makes of incompressible bytes is no frame of them; that bounds what is
  // allocated.
  const bool plausible = frame.packed_size <= ZSTD_compressBound(frame.raw_size);
  ByteVector packed(plausible ? frame.packed_size : 0);
  packed_->read_at(frame.packed_offset, packed);
  ByteVector raw(frame.raw_size);
  const bool sound = plausible && reader_.read_zstd(packed, raw) &&
                     (!table_.has_checksums || plain_checksum(raw) == frame.checksum);
  if (sound) return raw;
  throw Error(ErrorKind::damaged, Place{frame.packed_offset, "frame"},
              fmt::format("the zstd frame of bytes {} to {} is damaged", frame.raw_offset,
                          frame.raw_offset + frame.raw_size - 1))
      .in_file(name());
}

}  // namespace kvtool::packing
