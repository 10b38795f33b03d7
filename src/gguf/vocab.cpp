#include "kvtool/vocab.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "gguf/spelling.h"
#include "kvtool/error.h"

namespace kvtool {
namespace {

constexpr TokenId media_place = -1;

struct Tokenizer {
  std::string_view model;  // tokenizer.ggml.model
  Spelling spelling;
};

constexpr std::array<Tokenizer, 6> tokenizers = {{
    {"llama", Spelling::spaces_marked},   // SentencePiece
    {"gpt2", Spelling::byte_alphabet},    // byte-level BPE
    {"gemma4", Spelling::spaces_marked},  // BPE over SentencePiece's spelling
    {"bert", Spelling::spaces_marked},    // WordPiece, stored with the same mark of a space
    {"t5", Spelling::spaces_marked},      // unigram
    {"rwkv", Spelling::escaped},
}};

Spelling spelling_of(const std::string& model) {
  for (const Tokenizer& tokenizer : tokenizers)
    if (tokenizer.model == model) return tokenizer.spelling;
  std::string known;
  for (const Tokenizer& tokenizer : tokenizers)
    known += fmt::format("{}{}", known.empty() ? "" : ", ", tokenizer.model);
  throw Error(ErrorKind::unsupported,
              fmt::format("tokenizer.ggml.model: '{}' is not known here ({} are)", visible(model),
                          known));
}

// tokenizer.ggml.token_type, or nothing where the file has none.
std::vector<std::int32_t> kinds_of(const Gguf& model, std::size_t tokens) {
  auto kinds = model.i32s("tokenizer.ggml.token_type").value_or(std::vector<std::int32_t>{});
  if (!kinds.empty() && kinds.size() != tokens)
    throw Error(ErrorKind::damaged,
                fmt::format("tokenizer.ggml.token_type: {} entries for {} tokens", kinds.size(),
                            tokens));
  return kinds;
}

GgufStrings tokens_of(const Gguf& model) {
  auto tokens = model.strings("tokenizer.ggml.tokens");
  if (tokens && tokens->size() > 0) return std::move(*tokens);
  throw Error(ErrorKind::unsupported, "tokenizer.ggml.tokens: this model has no vocabulary");
}

// Places without text at the beginning of `ids`.
std::size_t media_run(std::span<const TokenId> ids) {
  std::size_t run = 0;
  while (run < ids.size() && ids[run] == media_place) ++run;
  return run;
}

// Joins the bytes of neighbouring tokens before they are made visible, because a character can be
// spread over several tokens.
class TextBuilder {
 public:
  explicit TextBuilder(TextStyle style) : style_(style) {}

  void text(std::string_view bytes) { pending_ += bytes; }

  // Something that is not text.
  void mark(std::string_view name) {
    if (style_ == TextStyle::raw) return text(name);
    flush();
    out_ += fmt::format("\\{{{}}}", visible(name));
  }

  std::string finish() {
    flush();
    return std::move(out_);
  }

 private:
  void flush() {
    out_ += style_ == TextStyle::raw ? pending_ : visible(pending_);
    pending_.clear();
  }

  TextStyle style_;
  std::string pending_;
  std::string out_;
};

}  // namespace

bool Vocab::has(TokenId id) const { return id >= 0 && std::cmp_less(id, size()); }

TokenKind Vocab::kind(TokenId id) const {
  if (!has(id)) return TokenKind::undefined;
  const auto i = static_cast<std::size_t>(id);
  if (kinds_.empty()) return gguf::is_byte_token(tokens_[i]) ? TokenKind::byte : TokenKind::normal;
  const std::int32_t kind = kinds_[i];
  return kind >= 1 && kind <= 6 ? static_cast<TokenKind>(kind) : TokenKind::undefined;
}

// Undefined kinds count as text: vocabularies with kinds of their own exist.
bool Vocab::is_text(TokenId id) const {
  const TokenKind k = kind(id);
  return has(id) && k != TokenKind::control && k != TokenKind::unknown && k != TokenKind::unused;
}

std::string Vocab::piece(TokenId id) const {
  if (id == media_place) return "<media>";
  if (!has(id)) return fmt::format("<id {}?>", id);
  const std::string_view token = tokens_[static_cast<std::size_t>(id)];
  if (!is_text(id)) return std::string(token);
  if (kind(id) == TokenKind::byte) return gguf::byte_token(token);
  // Text that was added to a vocabulary is stored as it is.
  const bool plain = kind(id) == TokenKind::user_defined && spelling_ != Spelling::escaped;
  return plain ? std::string(token) : gguf::unspell(token, spelling_);
}

std::string Vocab::text(std::span<const TokenId> ids, TextStyle style) const {
  TextBuilder builder(style);
  while (!ids.empty()) {
    const std::size_t run = media_run(ids);
    const TokenId id = ids.front();
    if (run > 0) builder.mark(fmt::format("<media x{}>", run));
    else if (is_text(id)) builder.text(piece(id));
    else builder.mark(piece(id));
    ids = ids.subspan(run > 0 ? run : 1);
  }
  return builder.finish();
}

Vocab load_vocab(const Gguf& model) try {
  Vocab vocab;
  vocab.tokens_ = tokens_of(model);
  vocab.model_ = model.string("tokenizer.ggml.model").value_or("");
  vocab.spelling_ = spelling_of(vocab.model_);
  vocab.kinds_ = kinds_of(model, vocab.size());
  return vocab;
} catch (const Error& error) {
  throw error.in_file(model.source().name());
}

}  // namespace kvtool
