#include "fuzz/seeds.h"

#include <map>
#include <stdexcept>

#include "gguf/gguf_builder.h"
#include "kvtool/model_stamp.h"
#include "kvtool/open.h"
#include "kvtool/pack.h"
#include "kvtool/tokens.h"
#include "store/block_maker.h"
#include "store/entry_facts.h"
#include "support/random_dump.h"

namespace kvtool::fuzz {
namespace {

using test::Bytes;
using test::ByteVector;
using Inputs = std::vector<ByteVector>;

// Without the sessions of version 0: a fuzzer gets nowhere in 2 MiB of unused pool.
Inputs dumps() {
  Inputs all;
  for (const test::TinyDump& tiny : test::tiny_dumps())
    if (tiny.dialect.body != Body::pool) all.push_back(test::build(tiny));
  return all;
}

// With a random one of each layout beside it, of more cells, layers and types.
Inputs dumps_of_all_shapes() {
  Inputs all = dumps();
  for (const test::TinyDump& tiny : test::tiny_dumps())
    if (tiny.dialect.body != Body::pool) all.push_back(test::build(test::randomised(tiny, 1)));
  return all;
}

// Each dump under each edit; under the last, a conversion to the layout of a reference, each with
// several of those.
Inputs edited_dumps() {
  constexpr unsigned edits = 10;
  Inputs all;
  for (const ByteVector& dump : dumps_of_all_shapes())
    for (unsigned edit = 0; edit < edits; ++edit)
      all.push_back(Bytes().u8(edit).u16(0).u16(0x0100).u16(0x0200).append(dump).get());
  for (const ByteVector& dump : dumps())
    for (unsigned reference = 1; reference < 60; reference += 4)
      all.push_back(
          Bytes().u8(edits - 1).u8(reference).u8(0).u16(0).u16(0).append(dump).get());
  return all;
}

ByteVector bytes_of(const std::vector<std::int32_t>& words) {
  Bytes out;
  for (const std::int32_t word : words) out.i32(word);
  return out.get();
}

Inputs token_areas() {
  const std::vector<TokenId> ids = {1, 2, 3, 4};
  const ByteVector chunk = Bytes().filler(48).get();
  const std::vector<MediaChunk> media = {{2, chunk}};
  return {bytes_of({1, 2, 3}), bytes_of(encode_payload(ids, {})),
          bytes_of(encode_payload(ids, media)), {}};
}

Inputs models() {
  test::GgufBuilder b;
  b.string("general.architecture", "llama").string("tokenizer.ggml.model", "llama");
  b.strings("tokenizer.ggml.tokens", {"<unk>", "<s>", "\xe2\x96\x81the", "<0x0A>"});
  b.i32s("tokenizer.ggml.token_type", {2, 3, 1, 6});
  b.key("llama.rope.freq_base", GgufType::f32).f32(10000.0F);
  b.key("llama.block_count", GgufType::u32).u32(2);
  b.array("floats", GgufType::f32, 2).f32(1.5F).f32(-2.0F);
  b.tensor("token_embd.weight", {64, 300}, 1, 0);
  return {b.bytes(), b.bytes(2)};
}

Inputs packed_dumps() {
  Inputs all;
  for (const ByteVector& bytes : dumps()) {
    const auto source = memory_source("seed", bytes);
    MemorySink container;
    pack(open_dump(source), container);
    all.push_back(container.bytes());
  }
  MemorySink plain;
  pack_plain(*memory_source("seed", dumps().front()), plain);
  all.push_back(plain.bytes());
  return all;
}

// The first bundle of each kind, the recipe and the facts of each dump, and stamps of models.
Inputs stored_parts() {
  Inputs all;
  const auto add = [&](unsigned kind, std::span<const std::byte> bytes) {
    all.push_back(Bytes().u8(kind).append(ByteVector(bytes.begin(), bytes.end())).get());
  };
  for (const ByteVector& bytes : dumps()) {
    const Dump dump = open_dump(memory_source("seed", bytes));
    store::Cut cut = store::cut(dump);
    store::BlockMaker maker(dump, cut);
    store::BundlePacker packer(1);
    store::BlockMaker::Batch batch;
    ByteVector packed;
    for (std::uint64_t kind = UINT64_MAX; maker.next(batch); kind = batch.kind) {
      if (batch.kind == kind) continue;
      packer.pack(batch.kind, batch.types, batch.shape, batch.raw, packed);
      add(0, packed);
    }
    for (store::BytesPart& part : cut.recipe.bytes)
      part.blocks.resize(static_cast<std::size_t>(part.block_count()));
    for (store::CellsPart& part : cut.recipe.cells)
      part.blocks.resize(part.group_ends.size() * part.block_ends.size());
    add(1, store::recipe_bytes(cut.recipe));
    add(2, store::encode_facts(stored_prompt(dump)));
  }
  for (const ByteVector& bytes : models()) {
    const std::string stamp = stamp_text(stamp_of(open_gguf(memory_source("seed", bytes))));
    add(3, std::as_bytes(std::span(stamp)));
  }
  return all;
}

// Numbers of all sizes for each kernel and its variants.
Inputs numbers() {
  Inputs all;
  for (unsigned kernel = 0; kernel < 5; ++kernel)
    for (unsigned variant = 0; variant < 18; ++variant)
      all.push_back(Bytes().u8(kernel).u8(variant * 7).filler(2048 + 4 * kernel).get());
  return all;
}

}  // namespace

Inputs seeds_of(const std::string& target) {
  static const std::map<std::string, Inputs (*)()> makers = {
      {"open", dumps_of_all_shapes}, {"rewrite", edited_dumps}, {"tokens", token_areas},
      {"gguf", models},              {"packed", packed_dumps},  {"kernels", numbers},
      {"stored", stored_parts}};
  const auto maker = makers.find(target);
  if (maker == makers.end()) throw std::invalid_argument("no seeds for " + target);
  return maker->second();
}

}  // namespace kvtool::fuzz
