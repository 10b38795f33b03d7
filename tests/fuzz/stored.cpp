// What a store keeps: refused, or read and written back as the same bytes.
#include <algorithm>

#include "fuzz/target.h"
#include "kvtool/model_stamp.h"
#include "store/block.h"
#include "store/entry_facts.h"
#include "store/recipe.h"

namespace kvtool::fuzz {
namespace {

void try_bundle(std::span<const std::byte> bytes) {
  store::BundleUnpacker unpacker;
  store::ByteVector raw;
  const store::BlockShape shape = unpacker.bundle(bytes, raw).shape();
  require(raw.size() == shape.bytes(), "a bundle has another size than its head says");
  require(raw.size() <= store::most_bundle_bytes, "a bundle is too large");
}

void try_recipe(std::span<const std::byte> bytes) {
  const store::Recipe recipe = store::recipe_in(bytes);
  require(std::ranges::equal(store::recipe_bytes(recipe), bytes), "a recipe changes");
  require(store::recipe_bytes(store::decode_recipe(store::encode(recipe))) ==
              store::recipe_bytes(recipe),
          "a packed recipe changes");
}

void try_facts(std::span<const std::byte> bytes) {
  const StoredPrompt prompt = store::decode_facts(bytes);
  require(std::ranges::equal(store::encode_facts(prompt), bytes), "facts change");
}

void try_stamp(std::span<const std::byte> bytes) {
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const ModelStamp stamp = stamp_from_text(text);
  require(stamp_from_text(stamp_text(stamp)) == stamp, "a stamp changes");
}

}  // namespace

void try_input(std::span<const std::byte> input) {
  Choices choices(input);
  switch (choices.byte() % 4) {
    case 0: return try_bundle(choices.rest());
    case 1: return try_recipe(choices.rest());
    case 2: return try_facts(choices.rest());
    default: return try_stamp(choices.rest());
  }
}

}  // namespace kvtool::fuzz
