#include "format/media.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace kvtool::format {
namespace {

constexpr std::uint64_t chunk_version = 2;
constexpr std::uint32_t image_type = 1;
constexpr std::uint32_t audio_type = 2;
constexpr std::uint64_t batch_entry_bytes = 14;

// How an image takes positions: the server's names are normal, M-RoPE and HunyuanVL.
enum class PositionType : std::uint32_t {
  one_a_token,
  grid,         // the longer side of the grid, as all its tokens share one step in time
  with_breaks,  // one a token; the grid has one more token a row, and one at either end
};

struct Image {
  std::uint32_t nx = 0;
  std::uint32_t ny = 0;
  PositionType positions = PositionType::one_a_token;
  std::uint32_t frames_merged = 1;  // frames of a video that share a grid of tokens
};

// A count of tokens; what no id list can hold becomes the largest number instead of wrapping.
std::uint32_t saturated(std::uint64_t tokens) {
  constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(tokens, most));
}

std::uint32_t tokens_of(const Image& image, std::uint64_t frames) {
  const std::uint64_t nx = image.nx;
  if (image.positions == PositionType::with_breaks) return saturated((nx + 1) * image.ny + 2);
  const std::uint64_t merged = std::max<std::uint32_t>(image.frames_merged, 1);
  const std::uint64_t grids = frames / merged + (frames % merged != 0 ? 1 : 0);
  return saturated(std::uint64_t{saturated(nx * image.ny)} * saturated(grids));
}

std::string id(ByteCursor& in) {
  const std::uint64_t length = in.count64("id_length", 1);
  const auto bytes = in.bytes("id", length);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Returns how many pictures or pieces of sound the batch has.
std::uint64_t batch(ByteCursor& in) {
  in.u8("is_audio");
  const std::uint64_t entries = in.count64("batch_entries", batch_entry_bytes);
  in.bytes("batch", entries * batch_entry_bytes);
  return entries;
}

PositionType position_type(ByteCursor& in) {
  const std::uint64_t begin = in.offset();
  const std::uint32_t value = in.u32("position_type");
  if (value > 2) in.fail(begin, "position_type", fmt::format("{} is not known", value));
  return in.ok() ? static_cast<PositionType>(value) : PositionType::one_a_token;
}

void image(ByteCursor& in, MediaSpan& span) {
  Image image;
  image.nx = in.u32("nx");
  image.ny = in.u32("ny");
  image.positions = position_type(in);
  in.u32("image_index");
  image.frames_merged = in.u32("n_temporal_merge");
  span.id = id(in);
  const std::uint64_t frames = batch(in);
  if (!in.ok()) return;
  span.width = image.nx;
  span.height = image.ny;
  span.tokens = tokens_of(image, frames);
  const bool grid = image.positions == PositionType::grid;
  span.positions = grid ? std::max(image.nx, image.ny) : span.tokens;
}

void audio(ByteCursor& in, MediaSpan& span) {
  const std::uint32_t tokens = in.u32("n_tokens");
  span.id = id(in);
  batch(in);
  if (!in.ok()) return;
  span.tokens = tokens;
  span.positions = tokens;
}

// A byte that says whether a part follows; it must fit the type of the chunk.
bool part_follows(ByteCursor& in, const char* field, bool expected) {
  const std::uint64_t begin = in.offset();
  const std::uint8_t value = in.u8(field);
  if (value != (expected ? 1 : 0))
    in.fail(begin, field, fmt::format("{} in a chunk of another kind", value));
  return in.ok() && expected;
}

std::string kind(ByteCursor& in) {
  const std::uint64_t begin = in.offset();
  const std::uint32_t type = in.u32("chunk_type");
  if (type == image_type) return "image";
  if (type == audio_type) return "audio";
  in.fail(begin, "chunk_type", fmt::format("{} is neither image (1) nor audio (2)", type));
  return "unknown";
}

void chunk_head(ByteCursor& in, MediaSpan& span) {
  const std::uint64_t begin = in.offset();
  const std::uint64_t version = in.u64("chunk_version");
  if (version != chunk_version)
    in.fail(begin, "chunk_version", fmt::format("{} is not known (2 is)", version));
  if (in.ok()) span.kind = kind(in);
  in.bytes("text_ids", in.count64("text_id_count", 4) * 4);
}

}  // namespace

void media_chunk(ByteCursor& in, MediaSpan& span) {
  span.kind = "unknown";
  chunk_head(in, span);
  if (part_follows(in, "has_image", span.kind == "image")) image(in, span);
  if (part_follows(in, "has_audio", span.kind == "audio")) audio(in, span);
  if (in.remaining() > 0)
    in.fail(in.offset(), "chunk", fmt::format("{} bytes behind its content", in.remaining()));
}

}  // namespace kvtool::format
