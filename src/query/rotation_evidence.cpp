#include "kvtool/rotation_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kvtool/codec.h"
#include "kvtool/facts.h"

namespace kvtool {
namespace {

constexpr std::uint64_t fewest_cells = 32;
constexpr std::uint32_t smallest_block = 64;
constexpr std::uint32_t largest_block = 512;  // the largest heads known
constexpr std::uint64_t rows_at_once = 64;

bool is_quantized(const Tensor& tensor) {
  return tensor.orientation == Orientation::rows && info(tensor.type).block_elements > 1 &&
         can_decode(tensor.type) && !is_misaligned(tensor);
}

// Blocks that a row may consist of, smallest first.
std::vector<std::uint32_t> blocks_of(const Tensor& k) {
  std::vector<std::uint32_t> blocks;
  for (std::uint32_t block = smallest_block; block <= largest_block; block *= 2)
    if (k.cell_elements() % block == 0) blocks.push_back(block);
  return blocks;
}

const Layer* first_layer(const Memory& memory) {
  for (const Stream& stream : memory.streams)
    if (!stream.cells.empty() && !stream.layers.empty()) return &stream.layers.front();
  return nullptr;
}

// Log of the ratio; 0, which says nothing, where there is none.
double strength(const CacheEvidence& evidence) {
  return evidence.ratio ? std::fabs(std::log(*evidence.ratio)) : 0;
}

// Looks at the rows of one cache.
class Examiner {
 public:
  Examiner(const Source& source, const Memory& memory, std::uint64_t most_cells)
      : source_(source), memory_(memory), cells_(std::min(most_cells, cells_of(memory))) {}

  // The evidence for one block, of all layers that it divides.
  [[nodiscard]] CacheEvidence with_block(std::uint32_t block) const {
    std::vector<double> ratios;
    for (std::size_t l = 0; l < layer_count(); ++l)
      if (const auto ratio = ratio_of_layer(l, block)) ratios.push_back(*ratio);
    CacheEvidence evidence;
    evidence.cells = cells_;
    evidence.block = block;
    if (ratios.empty()) return evidence;
    evidence.ratio = combined_ratio(ratios);
    evidence.verdict = kvtool::rotation_of(ratios, cells_);
    return evidence;
  }

 private:
  [[nodiscard]] std::size_t layer_count() const {
    for (const Stream& stream : memory_.streams)
      if (!stream.cells.empty()) return stream.layers.size();
    return 0;
  }

  [[nodiscard]] std::optional<double> ratio_of_layer(std::size_t layer, std::uint32_t block) const {
    std::optional<RotationEvidence> evidence;
    std::uint64_t left = cells_;
    std::uint64_t width = 0;
    for (const Stream& stream : memory_.streams) {
      if (stream.cells.empty() || layer >= stream.layers.size() || left == 0) continue;
      const Tensor& k = stream.layers[layer].k;
      if (!is_quantized(k) || k.cell_elements() % block != 0) return std::nullopt;
      if (!evidence) {
        width = k.cell_elements();
        evidence.emplace(static_cast<std::size_t>(width), block);
      }
      if (width == 0 || k.cell_elements() != width) return std::nullopt;  // no loader takes that
      const std::uint64_t rows = std::min<std::uint64_t>(left, stream.cells.size());
      add_rows(k, rows, *evidence);
      left -= rows;
    }
    return evidence ? evidence->ratio() : std::nullopt;
  }

  void add_rows(const Tensor& k, std::uint64_t rows, RotationEvidence& evidence) const {
    std::vector<std::byte> bytes;
    std::vector<float> numbers;
    for (std::uint64_t first = 0; first < rows; first += rows_at_once) {
      const std::uint64_t count = std::min(rows_at_once, rows - first);
      bytes.resize(static_cast<std::size_t>(count * k.row_bytes));
      numbers.resize(static_cast<std::size_t>(count * k.cell_elements()));
      source_.read_at(k.extent.offset + first * k.row_bytes, bytes);
      dequantize(k.type, bytes, numbers);
      evidence.add(numbers);
    }
  }

  const Source& source_;
  const Memory& memory_;
  std::uint64_t cells_;
};

std::string why_undecided(const CacheEvidence& evidence) {
  if (evidence.verdict != Rotation::undecided) return "";
  if (evidence.cells < fewest_cells)
    return fmt::format("undecided below {} cells", fewest_cells);
  if (!evidence.ratio) return "its channels are all of one size";
  return "before and after are too much alike, as with few different cells";
}

// A block that is too small does not undo a rotation; one that is too large still smears plain rows
// and still undoes a part. So the one that changes most is believed.
CacheEvidence examine(const Source& source, const Memory& memory, std::uint64_t most_cells) {
  const Examiner examiner(source, memory, most_cells);
  CacheEvidence best;
  for (const std::uint32_t block : blocks_of(first_layer(memory)->k))
    if (const auto one = examiner.with_block(block);
        best.block == 0 || strength(one) > strength(best))
      best = one;
  best.reason = why_undecided(best);
  return best;
}

}  // namespace

std::vector<CacheEvidence> rotation_evidence(const Dump& dump, const EvidenceOptions& options) {
  std::vector<CacheEvidence> list;
  if (predates_rotation(dump.dialect) || (dump.dialect.rotation && !options.also_told)) return list;
  for (std::size_t m = 0; m < dump.state.memories.size(); ++m) {
    const Memory& memory = dump.state.memories[m];
    const Layer* layer = memory.kind == MemoryKind::attention ? first_layer(memory) : nullptr;
    if (layer == nullptr || !is_quantized(layer->k) || blocks_of(layer->k).empty()) continue;
    list.push_back(examine(*dump.source, memory, options.most_cells));
    list.back().memory = m;
  }
  return list;
}

std::string words_of(const CacheEvidence& e) {
  const std::string cells = fmt::format("{} cell{}", e.cells, e.cells == 1 ? "" : "s");
  const std::string figures =
      e.ratio ? fmt::format("its channels differ {:.2f} times as much as after one more rotation in "
                            "blocks of {}, {}",
                            *e.ratio, e.block, cells)
              : cells;
  if (e.verdict == Rotation::undecided)
    return fmt::format("its K does not show whether it is rotated ({}): {}", figures, e.reason);
  return fmt::format("its K looks {} ({}); this is evidence, no proof", name_of(e.verdict), figures);
}

bool predates_rotation(const Dialect& dialect) {
  if (dialect.family == Family::ik_llama) return false;
  return dialect.version != 0 && (!dialect.streams || dialect.outputs);
}

std::string name_of(Rotation verdict) {
  switch (verdict) {
    case Rotation::plain: return "plain";
    case Rotation::rotated: return "rotated";
    case Rotation::undecided: return "undecided";
  }
  return {};
}

}  // namespace kvtool
