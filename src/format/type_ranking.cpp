#include "format/type_ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <span>

#include "kvtool/codec.h"

namespace kvtool::format {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::uint64_t most_sample_bytes = 1U << 16U;
// Values of caches are of this size; a few are zero.
constexpr float least_usual = 1e-4F;
constexpr float most_usual = 2e3F;
// A lead over the next reading from which the content decides.
constexpr double clear_lead = 0.05;
constexpr double good_share = 0.9;

template <class T>
T load(Bytes bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

bool is_usual(float value) {
  const float size = std::fabs(value);
  return value == 0 || (size >= least_usual && size <= most_usual);
}

bool is_usual_scale(Bytes block) {
  const float scale = float_of_half(load<std::uint16_t>(block, 0));
  return std::isfinite(scale) && std::fabs(scale) < 100 && (scale == 0 || std::fabs(scale) > 1e-6F);
}

// Sixteen bytes of nibbles from `at` on.
bool has_nibble(Bytes block, std::size_t at, unsigned wanted) {
  for (std::size_t i = 0; i < 16; ++i) {
    const auto byte = std::to_integer<unsigned>(block[at + i]);
    if ((byte & 15U) == wanted || byte >> 4U == wanted) return true;
  }
  return false;
}

// Quantizing takes the scale from the largest value, which therefore stands at the end of the range.
bool reaches_end(ElementType type, Bytes block) {
  switch (type) {
    case ElementType::q8_0:
      for (std::size_t i = 0; i < 32; ++i)
        if (std::abs(load<std::int8_t>(block, 2 + i)) == 127) return true;
      return load<std::uint16_t>(block, 0) == 0;
    case ElementType::q4_0: return has_nibble(block, 2, 0);
    case ElementType::q4_1: return has_nibble(block, 4, 0) && has_nibble(block, 4, 15);
    case ElementType::q5_0: return has_nibble(block, 6, 0);
    case ElementType::q5_1: return has_nibble(block, 8, 0) && has_nibble(block, 8, 15);
    default: return true;
  }
}

bool has_minimum(ElementType type) { return type == ElementType::q4_1 || type == ElementType::q5_1; }

bool is_plausible(ElementType type, Bytes block) {
  if (type == ElementType::f32) return is_usual(load<float>(block, 0));
  if (type == ElementType::f16) return is_usual(float_of_half(load<std::uint16_t>(block, 0)));
  const bool scale = is_usual_scale(block) && (!has_minimum(type) || is_usual_scale(block.subspan(2)));
  return scale && reaches_end(type, block);
}

double share_of_plausible(ElementType type, Bytes bytes) {
  const std::size_t block = info(type).block_bytes;
  const std::size_t blocks = bytes.size() / block;
  std::size_t plausible = 0;
  for (std::size_t b = 0; b < blocks; ++b)
    plausible += is_plausible(type, bytes.subspan(b * block, block)) ? 1 : 0;
  return static_cast<double>(plausible) / static_cast<double>(blocks);
}

// The mean over first and last layer.
TypeReading judged(const Dump& dump) {
  TypeReading reading = dump.state.type_readings.front();
  const auto& layers = dump.state.memories.front().streams.front().layers;
  auto mean = [&](auto part) {
    return (plausibility(*dump.source, layers.front().*part) +
            plausibility(*dump.source, layers.back().*part)) / 2;
  };
  reading.k_plausible = mean(&Layer::k);
  reading.v_plausible = mean(&Layer::v);
  return reading;
}

double worth(const TypeReading& reading) { return std::min(reading.k_plausible, reading.v_plausible); }

std::string in_words(const TypeReading& reading) {
  return fmt::format("K {} ({:.0f} % of the values looked at are usual), V {} ({:.0f} %)",
                     info(reading.k).name, 100 * reading.k_plausible, info(reading.v).name,
                     100 * reading.v_plausible);
}

// Where K and V of all layers lie: readings that agree in it move the same bytes.
bool same_places(const Dump& a, const Dump& b) {
  const auto& x = a.state.memories.front().streams.front().layers;
  const auto& y = b.state.memories.front().streams.front().layers;
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const Layer& l, const Layer& m) {
    return l.k.extent == m.k.extent && l.v.extent == m.v.extent;
  });
}

// Bare states of November 2023 have the size of those of December, and K and V in another order.
bool is_other_body(const Dump& a, const Dump& b) {
  return a.dialect.body != b.dialect.body &&
         a.state.type_readings.front() == b.state.type_readings.front();
}

void tell(Dump& best, const std::vector<Dump>& others) {
  if (others.empty()) {
    best.why.push_back("types of K and V are not stored; taken: " +
                       in_words(best.state.type_readings.front()));
    return;
  }
  best.why.push_back("types of K and V are not stored; the likeliest by content: " +
                     in_words(best.state.type_readings.front()));
  for (const Dump& other : others) {
    const TypeReading& reading = other.state.type_readings.front();
    if (std::find(best.state.type_readings.begin(), best.state.type_readings.end(), reading) !=
        best.state.type_readings.end())
      continue;
    best.why.push_back("  or, less likely: " + in_words(reading));
    best.state.type_readings.push_back(reading);
  }
}

}  // namespace

double plausibility(const Source& source, const Tensor& tensor) {
  const std::uint64_t block = info(tensor.type).block_bytes;
  const std::uint64_t size = std::min(tensor.extent.size, most_sample_bytes) / block * block;
  if (size == 0) return 1;
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  source.read_at(tensor.extent.offset, bytes);
  const double share = share_of_plausible(tensor.type, bytes);
  // Blocks of the two types have one size. That each of many holds the lowest level is certain in
  // q4_0, and in iq4_nl, where it need not, unlikely.
  const bool many = size / block >= 16;
  const bool q4_0 = tensor.type == ElementType::iq4_nl && many &&
                    share_of_plausible(ElementType::q4_0, bytes) == 1;
  return q4_0 ? share * 0.8 : share;
}

void keep_likeliest_types(std::vector<Dump>& readings) {
  const auto typed = std::stable_partition(readings.begin(), readings.end(), [](const Dump& dump) {
    return dump.state.type_readings.empty();
  });
  std::vector<Dump> untyped(std::make_move_iterator(typed), std::make_move_iterator(readings.end()));
  readings.erase(typed, readings.end());
  if (untyped.empty()) return;
  for (Dump& dump : untyped) dump.state.type_readings = {judged(dump)};
  std::stable_sort(untyped.begin(), untyped.end(), [](const Dump& a, const Dump& b) {
    return worth(a.state.type_readings.front()) > worth(b.state.type_readings.front());
  });
  Dump best = std::move(untyped.front());
  untyped.erase(untyped.begin());
  const double value = worth(best.state.type_readings.front());
  for (const Dump& other : untyped) {
    const bool close = worth(other.state.type_readings.front()) > value - clear_lead;
    if (is_other_body(best, other) || same_places(best, other)) continue;
    if (close || value < good_share) best.state.types_uncertain = true;
  }
  // Other layouts that give the same K and V, and bodies between which no type decides, are for
  // choose() to tell.
  std::vector<Dump> same;
  for (Dump& other : untyped)
    if (other.dialect != best.dialect &&
        other.state.type_readings.front() == best.state.type_readings.front() &&
        (same_places(best, other) || is_other_body(best, other)))
      same.push_back(other);
  tell(best, untyped);
  readings.insert(readings.begin(), std::move(best));
  for (Dump& other : same) readings.push_back(std::move(other));
}

}  // namespace kvtool::format
