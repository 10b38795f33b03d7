#include "format/stamp.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "format/container.h"
#include "kvtool/open.h"

namespace kvtool {
namespace {

constexpr std::array<std::uint32_t, 12> session_versions = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
constexpr std::array<std::uint32_t, 4> slot_versions = {1, 2, 3, 4};

template <std::size_t N>
std::string list(const std::array<std::uint32_t, N>& versions) {
  return fmt::format("{}", fmt::join(versions, ", "));
}

}  // namespace

namespace format {

Stamp read_stamp(Window& window) {
  Cursor cursor(window, {0, window.size()});
  Stamp stamp;
  if (cursor.take(stamp.magic)) static_cast<void>(cursor.take(stamp.version));
  return stamp;
}

bool is_dump_magic(std::uint32_t magic) { return magic == session_magic || magic == slot_magic; }

void fail_at(std::uint64_t offset, const char* field, ErrorKind kind, const std::string& message) {
  throw Error(kind, Place{offset, field}, message);
}

void refuse_other_files(const Window& window, const Stamp& stamp) {
  if (window.size() == 0) fail_at(0, "magic", ErrorKind::damaged, "the file is empty");
  if (window.size() < sizeof stamp.magic)
    fail_at(0, "magic", ErrorKind::damaged,
            fmt::format("needs {} bytes, the file has {}", sizeof stamp.magic, window.size()));
  if (is_dump_magic(stamp.magic) && window.size() < sizeof stamp)
    fail_at(4, "version", ErrorKind::damaged,
            fmt::format("needs {} bytes, {} remain", sizeof stamp.version, window.size() - 4));
  if (is_dump_magic(__builtin_bswap32(stamp.magic)))
    fail_at(0, "magic", ErrorKind::unsupported,
            "byte-swapped: written on a big-endian machine, or the bytes of each word are reversed");
  if (stamp.magic == 0x46554747)  // "GGUF"
    fail_at(0, "magic", ErrorKind::unsupported, "this is a model (GGUF), not a saved cache");
  if ((stamp.magic & 0xffffU) == 0x8b1fU)
    fail_at(0, "magic", ErrorKind::unsupported, "this is a gzip file; unpack it first");
}

bool is_old_state(Window& window) {
  Cursor cursor(window, {0, window.size()});
  std::uint64_t size = 0;
  std::array<std::byte, 8> text{};
  if (!cursor.take(size) || size < least_rng_bytes || size > old_rng_bytes ||
      !cursor.take(std::span(text)))
    return false;
  return std::ranges::all_of(text, [](std::byte c) {
    return c == std::byte{' '} || (c >= std::byte{'0'} && c <= std::byte{'9'});
  });
}

void ask_for_shape() {
  fail_at(0, "rng_size", ErrorKind::refused,
          "the bare state of a whole context of before August 2024: nothing in it tells the sizes of "
          "the model; say --model MODEL.gguf, --like REF or --kv-shape LAYERSxWIDTH");
}

void refuse_version(const Stamp& stamp) {
  const bool session = stamp.magic == session_magic;
  fail_at(4, "version", ErrorKind::unsupported,
          fmt::format("{} version {} is unknown; known: {}", session ? "ggsn" : "ggsq",
                      stamp.version, session ? list(session_versions) : list(slot_versions)));
}

std::vector<Dialect> dialects_of(const Stamp& stamp) {
  if (stamp.magic == session_magic) return session_dialects(stamp.version);
  if (stamp.magic == slot_magic) return slot_dialects(stamp.version);
  if (stamp.magic == sequence_state_magic) return sequence_state_dialects(true);
  std::vector<Dialect> all = state_dialects();
  for (const Dialect& d : sequence_state_dialects(false)) all.push_back(d);
  return all;
}

}  // namespace format

bool needs_bare_shape(const Source& source) {
  format::Window window(source, 64);
  return !format::is_dump_magic(format::read_stamp(window).magic) && format::is_old_state(window);
}

std::vector<std::uint32_t> known_session_versions() {
  return {session_versions.begin(), session_versions.end()};
}

std::vector<std::uint32_t> known_slot_versions() {
  return {slot_versions.begin(), slot_versions.end()};
}

}  // namespace kvtool
