// The vocabulary of a model: what text a token id stands for. It only decodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvtool/cells.h"
#include "kvtool/gguf.h"

namespace kvtool {

// What a token is; the numbers are those of tokenizer.ggml.token_type.
enum class TokenKind : std::int32_t {
  undefined = 0,     // also kinds that are not known here
  normal = 1,
  unknown = 2,       // stands for text that the vocabulary cannot spell
  control = 3,       // steers the model (begin, end, turns of a chat) and is no text
  user_defined = 4,  // text that is never split
  unused = 5,
  byte = 6,          // one byte
};

// How a vocabulary spells its tokens.
enum class Spelling {
  spaces_marked,   // SentencePiece: U+2581 for a space, <0x0A> for a byte
  byte_alphabet,   // GPT-2: every byte has a printable character
  escaped,         // RWKV: \n, \x41 and the like
};

enum class TextStyle {
  raw,      // the bytes of the tokens and nothing else; control tokens by their name
  visible,  // safe for a terminal, always valid UTF-8, see Vocab::text
};

class Vocab {
 public:
  [[nodiscard]] std::size_t size() const { return tokens_.size(); }
  // tokenizer.ggml.model, e.g. "llama" or "gpt2".
  [[nodiscard]] const std::string& model() const { return model_; }
  // True for ids that the vocabulary has.
  [[nodiscard]] bool has(TokenId id) const;
  // What `id` is; undefined for ids that the vocabulary does not have.
  [[nodiscard]] TokenKind kind(TokenId id) const;

  // The bytes that `id` stands for, which need not be whole characters. Control, unknown and unused
  // tokens: their name. An id out of range: "<id 12345?>". -1: "<media>", as -1 stands for a place
  // of an image or a sound in a token list.
  [[nodiscard]] std::string piece(TokenId id) const;

  // The text of consecutive tokens; bytes of neighbours join to characters, and a run of -1 is one
  // "<media x12>". Style visible: control characters but line feed and tab, direction overrides
  // and bytes that are no UTF-8 become \xHH or \u{HHHH}, a backslash \\, and whatever is not text
  // (control tokens, ids out of range, media) stands in \{ }, so that it differs from the same
  // characters typed by a user.
  [[nodiscard]] std::string text(std::span<const TokenId> ids,
                                 TextStyle style = TextStyle::visible) const;

 private:
  friend Vocab load_vocab(const Gguf& model);

  [[nodiscard]] bool is_text(TokenId id) const;

  std::string model_;
  Spelling spelling_ = Spelling::spaces_marked;
  GgufStrings tokens_;
  std::vector<std::int32_t> kinds_;  // one a token, or empty: all normal
};

// Reads the vocabulary of a model file. Throws Error(unsupported) for a file without one and for a
// tokenizer.ggml.model that is not known; Error(damaged) when its arrays disagree.
[[nodiscard]] Vocab load_vocab(const Gguf& model);

// Any bytes as valid UTF-8 without control characters, as Vocab::text does in style visible.
[[nodiscard]] std::string visible(std::string_view bytes);

}  // namespace kvtool
