// Token ids to text: genuine vocabularies against what servers and people know, and made ones for
// every way of spelling.
#include "kvtool/vocab.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gguf/gguf_builder.h"
#include "kvtool/error.h"
#include "support/largest_allocation.h"

namespace kvtool {
namespace {

using test::GgufBuilder;
using test::open_bytes;
using Ids = std::vector<TokenId>;

constexpr std::int32_t normal = 1;
constexpr std::int32_t unknown = 2;
constexpr std::int32_t control = 3;
constexpr std::int32_t user_defined = 4;
constexpr std::int32_t unused = 5;
constexpr std::int32_t byte = 6;

GgufBuilder vocab_file(const std::string& model, const std::vector<std::string>& tokens,
                       const Ids& kinds) {
  GgufBuilder b;
  b.string("tokenizer.ggml.model", model).strings("tokenizer.ggml.tokens", tokens);
  if (!kinds.empty()) b.i32s("tokenizer.ggml.token_type", kinds);
  return b;
}

Vocab vocab(const std::string& model, const std::vector<std::string>& tokens, const Ids& kinds) {
  return load_vocab(open_bytes(vocab_file(model, tokens, kinds).bytes()));
}

Vocab genuine(const std::string& path) {
  return load_vocab(open_gguf(open_source(KVTOOL_TESTDATA "/" + path)));
}

nlohmann::json json_file(const std::string& path) {
  return nlohmann::json::parse(std::ifstream(KVTOOL_TESTDATA "/" + path));
}

Vocab sentence_piece() {
  return vocab("llama", {"<unk>", "<s>", "\xe2\x96\x81the", "<0xC3>", "<0xA4>", "<0x1B>", "\\", "t",
                         "[gone]", "\xe2\x96\x81kept"},
               {unknown, control, normal, byte, byte, byte, normal, normal, unused, user_defined});
}

std::string message_of(const GgufBuilder& file) {
  try {
    static_cast<void>(load_vocab(open_bytes(file.bytes())));
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at))
    text.replace(at, from.size(), to);
  return text;
}

// The vocabulary has no token for a space alone, so the server spelled U+2581 in byte tokens, and
// put one in front of the prompt.
std::string as_prompt(const std::string& text) {
  const std::string spaced = replaced(text, "\xe2\x96\x81", " ");
  return spaced.starts_with(' ') ? spaced.substr(1) : spaced;
}

TEST(Vocab, PromptsAndAnswersOfAGenuineServer) {
  const Vocab v = genuine("models/llama.gguf");
  EXPECT_EQ(v.size(), 300U);
  EXPECT_EQ(v.model(), "llama");
  const nlohmann::json cases = json_file("gguf/server-texts.json");
  ASSERT_GE(cases.size(), 5U);
  for (const auto& c : cases) {
    const bool answer = c.contains("answer");
    const std::string text = v.text(c["ids"].get<Ids>(), TextStyle::raw);
    EXPECT_EQ(answer ? text : as_prompt(text), c[answer ? "answer" : "prompt"].get<std::string>());
  }
}

TEST(Vocab, TextThatPeopleKnow) {
  const Vocab v = genuine("gguf/trained-vocab.gguf");
  const Ids ids = json_file("gguf/esther-256.json")["ids"].get<Ids>();
  const std::string text = v.text(ids);
  EXPECT_TRUE(text.starts_with("\\{<s>} Esther 1\nNow it came to pass in the days of Ahasuerus, "
                               "(this is Ahasuerus which reigned, from India even unto Ethiopia,"))
      << text;
  EXPECT_TRUE(v.text(ids, TextStyle::raw).starts_with("<s> Esther 1\n"));
  // One id changed is another text.
  Ids changed = ids;
  changed[10] = 300;
  EXPECT_NE(v.text(changed), text);
}

TEST(Vocab, SentencePiecePieces) {
  const Vocab v = sentence_piece();
  EXPECT_EQ(v.piece(2), " the");
  EXPECT_EQ(v.piece(3), "\xc3");
  EXPECT_EQ(v.piece(1), "<s>");
  EXPECT_EQ(v.kind(1), TokenKind::control);
  EXPECT_EQ(v.kind(0), TokenKind::unknown);
  EXPECT_EQ(v.piece(9), "\xe2\x96\x81kept");  // added text stands as it is
  EXPECT_EQ(v.kind(9), TokenKind::user_defined);
}

TEST(Vocab, BytesOfNeighboursJoinToCharacters) {
  const Vocab v = sentence_piece();
  EXPECT_EQ(v.text(Ids{7, 3, 4, 2}), "t\xc3\xa4 the");
  EXPECT_EQ(v.text(Ids{3, 7}), "\\xc3t");             // half a character
  EXPECT_EQ(v.text(Ids{3, 1, 4}), "\\xc3\\{<s>}\\xa4");  // something between the halves
  EXPECT_EQ(v.text(Ids{3, 7}, TextStyle::raw), "\xc3t");
}

TEST(Vocab, VisibleTextHasNoControlCharacters) {
  const Vocab v = sentence_piece();
  EXPECT_EQ(v.text(Ids{5}), "\\x1b");
  EXPECT_EQ(v.text(Ids{6, 7}), "\\\\t");
  EXPECT_EQ(v.text(Ids{5}, TextStyle::raw), "\x1b");
  EXPECT_EQ(v.text(Ids{0, 8}), "\\{<unk>}\\{[gone]}");
}

TEST(Vocab, IdsOutOfRangeAreShown) {
  const Vocab v = sentence_piece();
  EXPECT_EQ(v.piece(10), "<id 10?>");
  EXPECT_EQ(v.piece(12345), "<id 12345?>");
  EXPECT_EQ(v.piece(-2147483647 - 1), "<id -2147483648?>");
  EXPECT_EQ(v.text(Ids{2, 10, 2}), " the\\{<id 10?>} the");
  EXPECT_FALSE(v.has(10));
  EXPECT_TRUE(v.has(9));
  EXPECT_FALSE(v.has(-1));
  EXPECT_EQ(v.kind(10), TokenKind::undefined);
}

TEST(Vocab, PlacesOfMedia) {
  const Vocab v = sentence_piece();
  EXPECT_EQ(v.piece(-1), "<media>");
  EXPECT_EQ(v.text(Ids{2, -1, -1, -1, 2, -1}), " the\\{<media x3>} the\\{<media x1>}");
  EXPECT_EQ(v.text(Ids{-1, -1}, TextStyle::raw), "<media x2>");
}

TEST(Vocab, ByteLevelPieces) {
  // U+0120 is the space, U+010A the line feed, U+0143 the soft hyphen (the last of the 68).
  const Vocab v = vocab("gpt2", {"\xc4\xa0the", "\xc4\x8a", "\xc3\xa4", "\xc5\x83", "<|im_end|>",
                                 "\xc4\xa0plain", "\xe2\x82\xac"},
                        {normal, normal, normal, normal, control, user_defined, normal});
  EXPECT_EQ(v.piece(0), " the");
  EXPECT_EQ(v.piece(1), "\n");
  EXPECT_EQ(v.piece(2), "\xe4");  // U+00E4 stands for the byte of that number
  EXPECT_EQ(v.piece(3), "\xad");
  EXPECT_EQ(v.piece(4), "<|im_end|>");
  EXPECT_EQ(v.piece(5), "\xc4\xa0plain");  // added text stands as it is
  EXPECT_EQ(v.piece(6), "\xe2\x82\xac");  // not in the alphabet
  EXPECT_EQ(v.text(Ids{0, 4}), " the\\{<|im_end|>}");
}

// The alphabet by its definition: printable characters of Latin-1 are themselves, the other bytes
// are U+0100 and on, in order. Every byte must come back.
TEST(Vocab, ByteAlphabetIsComplete) {
  std::vector<std::string> tokens;
  unsigned others = 0;
  for (unsigned b = 0; b < 256; ++b) {
    const bool printable = (b > 32 && b < 127) || (b > 160 && b != 173);
    const unsigned c = printable ? b : 256 + others++;
    tokens.push_back(c < 128 ? std::string{static_cast<char>(c)}
                             : std::string{static_cast<char>(0xc0 | c >> 6),
                                           static_cast<char>(0x80 | (c & 0x3f))});
  }
  const Vocab v = vocab("gpt2", tokens, Ids(256, normal));
  for (unsigned b = 0; b < 256; ++b)
    EXPECT_EQ(v.piece(static_cast<TokenId>(b)), std::string(1, static_cast<char>(b))) << b;
}

TEST(Vocab, EscapedPieces) {
  const Vocab v = vocab("rwkv", {"a\\nb", "\\x41\\xff", "\\\\", "\\'", "\\x4", "end\\"}, {});
  EXPECT_EQ(v.piece(0), "a\nb");
  EXPECT_EQ(v.piece(1), "A\xff");
  EXPECT_EQ(v.piece(2), "\\");
  EXPECT_EQ(v.piece(3), "'");
  EXPECT_EQ(v.piece(4), "x4");
  EXPECT_EQ(v.piece(5), "end\\");
}

TEST(Vocab, FilesWithoutKinds) {
  const Vocab v = vocab("llama", {"<0x41>", "\xe2\x96\x81" "b", "<0xZZ>"}, {});
  EXPECT_EQ(v.text(Ids{0, 1, 2}), "A b<0xZZ>");
  EXPECT_EQ(v.kind(0), TokenKind::byte);
  EXPECT_EQ(v.kind(2), TokenKind::normal);
}

TEST(Vocab, WhatIsRefused) {
  EXPECT_TRUE(contains(message_of(vocab_file("plamo9", {"a"}, {normal})),
                       "tokenizer.ggml.model: 'plamo9' is not known here (llama, gpt2,"));
  EXPECT_TRUE(contains(message_of(vocab_file("llama", {"a", "b"}, {normal})),
                       "tokenizer.ggml.token_type: 1 entries for 2 tokens"));
  EXPECT_TRUE(contains(message_of(GgufBuilder().string("tokenizer.ggml.model", "none")),
                       "this model has no vocabulary"));
}

TEST(Visible, InvalidUtf8IsShownByteByByte) {
  EXPECT_EQ(visible("a\xff" "b"), "a\\xffb");
  EXPECT_EQ(visible("\xc0\x80"), "\\xc0\\x80");                  // overlong zero
  EXPECT_EQ(visible("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");          // overlong slash
  EXPECT_EQ(visible("\xed\xa0\x80"), "\\xed\\xa0\\x80");          // surrogate
  EXPECT_EQ(visible("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // past U+10FFFF
  EXPECT_EQ(visible("\xe2\x96"), "\\xe2\\x96");                  // cut
  EXPECT_EQ(visible("\xf0\x9f\x90\x88 \xe2\x96\x81 \xc3\xa4"), "\xf0\x9f\x90\x88 \xe2\x96\x81 \xc3\xa4");
}

TEST(Visible, WhatMovesTheCursorOrTurnsTextIsEscaped) {
  EXPECT_EQ(visible("a\nb\tc"), "a\nb\tc");
  EXPECT_EQ(visible("\r\b\x7f"), "\\x0d\\x08\\x7f");
  EXPECT_EQ(visible(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(visible("\xc2\x9b" "31m"), "\\u{009b}31m");      // CSI in one character
  EXPECT_EQ(visible("\xe2\x80\xae" "abc"), "\\u{202e}abc");  // right-to-left override
}

TEST(Vocab, CorruptedFilesNeverCrash) {
  const auto whole = vocab_file("llama", {"<unk>", "<0x41>", "\xe2\x96\x81the"},
                                {unknown, byte, normal}).bytes();
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (const unsigned value : {0x00U, 0x01U, 0x7fU, 0x80U, 0xffU}) {
      test::ByteVector bytes = whole;
      bytes[at] = static_cast<std::byte>(value);
      test::watch_allocations();
      try {
        const Vocab v = load_vocab(open_bytes(bytes));
        static_cast<void>(v.text(Ids{-1, 0, 1, 2, 3}));
      } catch (const Error&) {  // fine: it was said
      }
      EXPECT_LE(test::largest_allocation(), 32768U) << at;
    }
}

}  // namespace
}  // namespace kvtool
