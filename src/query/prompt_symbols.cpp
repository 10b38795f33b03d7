#include <algorithm>

#include "kvtool/prefix.h"

namespace kvtool {
namespace {

std::size_t index_of(Symbol symbol) { return static_cast<std::size_t>(-(symbol + 1)); }

// Places from `begin` on, up to `end`, that hold no token.
std::uint32_t run_without_token(std::span<const TokenId> ids, std::size_t begin, std::size_t end) {
  std::size_t i = begin;
  while (i < end && ids[i] < 0) ++i;
  return static_cast<std::uint32_t>(i - begin);
}

// Appends the ids from `begin` up to `end`, which no medium covers.
void append_text(std::vector<Symbol>& symbols, std::span<const TokenId> ids, std::size_t begin,
                 std::size_t end, MediaIndex& media) {
  while (begin < end) {
    const auto text_end = std::find_if(ids.begin() + static_cast<std::ptrdiff_t>(begin),
                                       ids.begin() + static_cast<std::ptrdiff_t>(end),
                                       [](TokenId id) { return id < 0; });
    symbols.insert(symbols.end(), ids.begin() + static_cast<std::ptrdiff_t>(begin), text_end);
    begin = static_cast<std::size_t>(text_end - ids.begin());
    const std::uint32_t unknown = run_without_token(ids, begin, end);
    if (unknown > 0) symbols.push_back(media.unknown(unknown));
    begin += unknown;
  }
}

}  // namespace

Symbol MediaIndex::add(Medium medium) {
  media_.push_back(std::move(medium));
  return -static_cast<Symbol>(media_.size());
}

Symbol MediaIndex::symbol_of(const MediaSpan& span) {
  if (span.id.empty()) return unknown(span.tokens);
  const auto [at, fresh] = symbols_.try_emplace({span.id, span.tokens}, 0);
  if (fresh) at->second = add({span.id, span.tokens});
  return at->second;
}

Symbol MediaIndex::unknown(std::uint32_t tokens) { return add({{}, tokens}); }

std::uint32_t MediaIndex::tokens_of(Symbol symbol) const {
  return symbol >= 0 ? 1 : media_[index_of(symbol)].tokens;
}

std::string MediaIndex::id_of(Symbol symbol) const {
  return symbol >= 0 ? std::string() : media_[index_of(symbol)].id;
}

std::vector<Symbol> symbols_of(const TokenArea& tokens, MediaIndex& media) {
  std::vector<Symbol> symbols;
  symbols.reserve(tokens.ids.size());
  std::size_t at = 0;
  for (const MediaSpan& span : tokens.media) {
    const std::size_t end = std::size_t{span.start} + span.tokens;
    if (span.tokens == 0 || span.start < at || end > tokens.ids.size()) continue;  // see `problem`
    append_text(symbols, tokens.ids, at, span.start, media);
    symbols.push_back(media.symbol_of(span));
    at = end;
  }
  append_text(symbols, tokens.ids, at, tokens.ids.size(), media);
  return symbols;
}

std::uint64_t tokens_of(std::span<const Symbol> symbols, const MediaIndex& media) {
  std::uint64_t tokens = symbols.size();
  for (const Symbol symbol : symbols)
    if (symbol < 0) tokens += std::uint64_t{media.tokens_of(symbol)} - 1;
  return tokens;
}

FirstDifference first_difference(std::span<const Symbol> a, std::span<const Symbol> b,
                                 const MediaIndex& media) {
  const auto [end, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  const auto symbol = static_cast<std::size_t>(end - a.begin());
  return {symbol, tokens_of(a.first(symbol), media)};
}

}  // namespace kvtool
