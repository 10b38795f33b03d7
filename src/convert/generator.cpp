#include "convert/generator.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include "kvtool/error.h"

namespace kvtool::convert_steps {
namespace {

constexpr std::uint32_t generator_words = 624;

std::vector<std::byte> bytes_of(const std::string& text) {
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

// A source of the plan that is only this text.
std::shared_ptr<const Dump> dump_of_text(const std::string& text) {
  auto dump = std::make_shared<Dump>();
  dump->source = memory_source("generator", bytes_of(text));
  dump->rng = {0, text.size()};
  return dump;
}

void take_rng(std::shared_ptr<const Dump> from, Conversion& result) {
  result.plan.rng_source = static_cast<std::uint32_t>(result.plan.sources.size());
  result.plan.target.rng = from->rng;
  result.plan.sources.push_back(std::move(from));
}

void leave_rng_out(const Dump& source, const ConvertOptions& options, Conversion& result) {
  if (options.seed)
    throw Error(ErrorKind::usage,
                fmt::format("--seed {}: the target's files hold no text of a random generator",
                            *options.seed));
  if (source.rng.size == 0) return;
  result.plan.target.rng = {};
  result.costs.emplace_back("dropped the random generator's text: sampling starts anew");
}

}  // namespace

std::string seeded_generator(std::uint32_t seed) {
  std::string text;
  std::uint32_t word = seed;
  for (std::uint32_t i = 1; i <= generator_words; ++i) {
    text += fmt::format("{} ", word);
    word = 1812433253U * (word ^ (word >> 30U)) + i;
  }
  return text + std::to_string(generator_words);  // none has been used
}

std::string files_of(const Dialect& dialect) {
  if (dialect.family == Family::ik_llama) return "sessions of ik_llama.cpp";
  if (dialect.container != Container::session) return "whole states of that time";
  return fmt::format("sessions of version {}", dialect.version);
}

void change_rng(const Dump& source, const Dialect& dialect, const ConvertOptions& options,
                Conversion& result, Missing& missing) {
  if (!dialect.rng_text) return leave_rng_out(source, options, result);
  if (options.strip.count("rng") > 0)
    throw Error(ErrorKind::refused,
                fmt::format("{} cannot do without the text of the random generator",
                            files_of(dialect)));
  if (options.seed) {
    take_rng(dump_of_text(seeded_generator(*options.seed)), result);
    result.costs.push_back(
        fmt::format("the random generator starts anew from seed {}", *options.seed));
    return;
  }
  if (source.rng.size > 0) return;
  if (options.like == nullptr || options.like->rng.size == 0)
    return missing.add("the text of the random generator", "--seed N");
  take_rng(options.like, result);
  result.costs.emplace_back(
      "the random generator's text is that of the reference: sampling goes on "
      "as if from there");
}

}  // namespace kvtool::convert_steps
