// Model files: every value that the reader accepts can be read, and the vocabulary be used.
#include "kvtool/gguf.h"

#include "fuzz/target.h"
#include "gguf/read_everything.h"
#include "kvtool/vocab.h"
#include "support/views.h"

namespace kvtool::fuzz {

void try_input(std::span<const std::byte> input) {
  const Gguf model = open_gguf(std::make_shared<test::ViewSource>(input));
  for (const auto& [key, value] : model.values())
    require(value.extent.offset <= input.size() &&
                value.extent.size <= input.size() - value.extent.offset,
            "a value lies outside");
  test::read_everything(model);
  const Vocab vocab = load_vocab(model);
  const std::vector<TokenId> ids = {-1, 0, 1, 2, static_cast<TokenId>(vocab.size())};
  static_cast<void>(vocab.text(ids));
}

}  // namespace kvtool::fuzz
