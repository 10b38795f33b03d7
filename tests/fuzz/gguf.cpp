// Model files: every value that the reader accepts can be read, and the vocabulary be used.
#include "fuzz/target.h"
#include "kvtool/gguf.h"
#include "kvtool/vocab.h"
#include "support/views.h"

namespace kvtool::fuzz {
namespace {

void read_value(const Gguf& model, const std::string& key) {
  static_cast<void>(model.u64(key));
  static_cast<void>(model.i64(key));
  static_cast<void>(model.f64(key));
  static_cast<void>(model.boolean(key));
  static_cast<void>(model.string(key));
  static_cast<void>(model.strings(key));
  static_cast<void>(model.f32s(key));
  static_cast<void>(model.i32s(key));
}

}  // namespace

void try_input(std::span<const std::byte> input) {
  const Gguf model = open_gguf(std::make_shared<test::ViewSource>(input));
  for (const auto& [key, value] : model.values()) {
    require(value.extent.offset <= input.size() &&
                value.extent.size <= input.size() - value.extent.offset,
            "a value lies outside");
    read_value(model, key);
  }
  const Vocab vocab = load_vocab(model);
  const std::vector<TokenId> ids = {-1, 0, 1, 2, static_cast<TokenId>(vocab.size())};
  static_cast<void>(vocab.text(ids));
}

}  // namespace kvtool::fuzz
