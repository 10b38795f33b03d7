// Rotary positions: how K turns when a cell gets another position.
//
// A head's elements are taken in pairs, and a pair turns by an angle that is proportional to the
// position. So K of position p becomes K of p + d by turning each pair by d times its angle,
// whatever p was, and several moves are one turn by their sum. Lengths do not change: YaRN's and
// longrope's factors of magnitude are in K already.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kvtool/dump.h"
#include "kvtool/gguf.h"

namespace kvtool {

// Which elements of a head are a pair.
enum class RopePairs {
  neighbours,  // NORM: 2i and 2i + 1
  halves,      // NEOX: i and i + n/2, of n that turn
};

// How K of one layer turns.
struct Rope {
  RopePairs pairs = RopePairs::neighbours;
  std::uint32_t head = 0;      // elements of a head; a row is whole heads
  std::uint32_t offset = 0;    // the first element of each head that turns
  std::vector<double> angles;  // radians a position, one for each pair
};

// One attention cache: a rope for each stored layer, nothing for layers whose K does not turn.
struct CacheRope {
  std::vector<std::optional<Rope>> layers;
};

// All memories of a state, in its order; nothing for those without K.
struct RopeFacts {
  std::vector<std::shared_ptr<const CacheRope>> memories;
};

enum class RopeScaling { none, linear, yarn, longrope };

// What the angles are made of; the names are those of llama.cpp's options and model keys.
struct RopeParameters {
  RopePairs pairs = RopePairs::neighbours;
  std::uint32_t head = 0;
  std::uint32_t offset = 0;
  std::uint32_t dimensions = 0;      // elements of a head that turn
  double base = 10000;
  double scale = 1;                  // freq_scale: what positions are multiplied with
  RopeScaling scaling = RopeScaling::none;
  double yarn_ext_factor = 1;        // how much of YaRN's mixture; 0: linear only
  double yarn_beta_fast = 32;
  double yarn_beta_slow = 1;
  std::uint64_t original_context = 0;  // yarn: the context of the model's training
  std::vector<float> factors;          // angles are divided by these; one a pair, or none
  std::array<std::uint32_t, 4> sections{};  // M-RoPE: pairs for time, row, column and the fourth
  bool interleaved = false;                 // sections take turns (Qwen 3 VL and later)
};

// Throws Error(usage) for numbers that make no sense (odd dimensions, more than the head has, ...).
[[nodiscard]] Rope make_rope(const RopeParameters& parameters);

// Turns the pairs of one row, whole heads, by `positions`.
void turn(const Rope& rope, std::int64_t positions, std::span<float> row);

// The same for many rows: sines and cosines are computed once.
class RopeTurn {
 public:
  RopeTurn(const Rope& rope, std::int64_t positions);
  // Whole rows.
  void apply(std::span<float> rows) const;

 private:
  RopePairs pairs_;
  std::size_t head_;
  std::size_t offset_;
  std::vector<float> cos_;
  std::vector<float> sin_;
};

// What a caller knows of a model's rope, or sets differently than the model's file.
struct RopeOptions {
  std::optional<RopePairs> pairs;
  std::optional<std::uint32_t> head;
  std::optional<std::uint32_t> offset;
  std::optional<std::uint32_t> dimensions;
  std::optional<double> base;
  std::optional<double> window_base;  // of the window cache
  std::optional<double> scale;
  std::optional<RopeScaling> scaling;
  std::optional<std::uint64_t> original_context;
  std::optional<double> yarn_ext_factor;
  std::optional<double> yarn_beta_fast;
  std::optional<double> yarn_beta_slow;
  std::optional<std::uint64_t> context;  // n_ctx of a sequence: chooses the factors of longrope
};

// How K of the memories of `dump` turns, by the keys of its model: memories without a rope where
// the model uses none. Throws Error(unsupported) for architectures whose rope is not known here,
// Error(usage) when something is missing that the caller has to say, Error(damaged).
[[nodiscard]] RopeFacts rope_of_model(const Gguf& model, const Dump& dump,
                                      const RopeOptions& options = {});

// The same from the options alone; they must name pairs, base and head size. All layers turn alike.
// Throws Error(usage).
[[nodiscard]] RopeFacts rope_of_options(const Dump& dump, const RopeOptions& options);

}  // namespace kvtool
