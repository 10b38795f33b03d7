// convert: re-emit a dump for another loader.
#include "cli/rewrite.h"
#include "cli/rope_options.h"
#include "cli/target_options.h"
#include "cli/verb.h"
#include "kvtool/convert.h"
#include "kvtool/error.h"
#include "kvtool/gguf.h"

namespace kvtool::cli {
namespace {

struct Options {
  RewriteOptions rewrite;
  TargetOptions target;
  std::string sequence;
  std::string rotation = "auto";
  std::string written_by;
  std::string tokens = "keep";
  std::vector<std::string> strip;
  std::vector<std::string> drop;
  std::vector<std::string> fields;
  std::optional<std::uint32_t> seed;
};

TokenFormChoice form(const std::string& name) {
  if (name == "plain") return TokenFormChoice::plain;
  return name == "payload" ? TokenFormChoice::payload : TokenFormChoice::keep;
}

// "n_mult=256" under its name.
std::map<std::string, std::string> fields_in(const std::vector<std::string>& given) {
  std::map<std::string, std::string> fields;
  for (const std::string& text : given) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos)
      throw Error(ErrorKind::usage, fmt::format("--set {}: expected FIELD=VALUE", text));
    if (!fields.emplace(text.substr(0, equals), text.substr(equals + 1)).second)
      throw Error(ErrorKind::usage, fmt::format("--set {}: the field is set twice", text));
  }
  return fields;
}

ConvertOptions convert_options(const Options& o) {
  ConvertOptions options;
  if (!o.sequence.empty()) options.sequence = parse_sequence(o.sequence);
  options.rotation = rotation_named(o.rotation);
  if (!o.written_by.empty()) options.written = loader_named(o.written_by, "--written-by").era;
  options.tokens = form(o.tokens);
  options.strip = {o.strip.begin(), o.strip.end()};
  options.drop = {o.drop.begin(), o.drop.end()};
  options.fields = fields_in(o.fields);
  options.seed = o.seed;
  options.layout = layout_in(o.target.to);
  if (!o.target.model.empty())
    options.model = std::make_shared<const Gguf>(open_gguf(open_source(o.target.model)));
  return options;
}

Json json_of(const Conversion& conversion, const std::vector<TensorLoss>& losses) {
  return {{"changes", conversion.changes},
          {"costs", conversion.costs},
          {"losses", cli::json_of(losses)}};
}

std::vector<std::string> lines_of(const Conversion& conversion,
                                  const std::vector<TensorLoss>& losses) {
  std::vector<std::string> lines;
  for (const std::string& change : conversion.changes) lines.push_back(change);
  for (const std::string& cost : conversion.costs) lines.push_back(fmt::format("cost: {}", cost));
  for (const TensorLoss& loss : losses)
    lines.push_back(
        fmt::format("{}: max error {:.3g}, rms {:.3g}, relative {:.3g}{}", loss.tensor,
                    loss.max_abs, loss.rms, loss.relative_l2,
                    loss.not_finite == 0 ? "" : fmt::format(", {} NaN or Inf", loss.not_finite)));
  return lines;
}

// A refusal is about the file, and says which.
Conversion convert_file(const Options& o) {
  ConvertOptions options = convert_options(o);
  options.like = open_like(o.target);
  const Target target = resolve(o.target, options.like.get());
  const auto dump = open(o.rewrite.input);
  try {
    return convert(dump, target, options);
  } catch (const Error& error) {
    throw error.in_file(dump->source->name());
  }
}

int run(const Options& o) {
  const Conversion conversion = convert_file(o);
  std::vector<TensorLoss> losses;
  const std::uint64_t size = write_output(conversion.plan, o.rewrite, &losses);
  Json figures = json_of(conversion, losses);
  warn(conversion.plan, conversion.warnings, figures);
  report(conversion.plan, size, o.rewrite, figures, lines_of(conversion, losses));
  return exit_fine;
}

}  // namespace

Action add_convert(CLI::App& verb) {
  auto options = std::make_shared<Options>();
  add_rewrite(verb, options->rewrite);
  add_target(verb, options->target, options->rewrite.input);
  verb.add_option("--seq", options->sequence,
                  "session to slot: this sequence; slot to session: its id")
      ->type_name("ID");
  verb.add_option("--rotation", options->rotation,
                  "whether quantized rows of FILE are rotated, where the file does not say")
      ->check(CLI::IsMember(rotation_names()))
      ->capture_default_str();
  verb.add_option("--written-by", options->written_by,
                  "llama.cpp that wrote FILE, as for --loader: tells --rotation auto what it is")
      ->type_name("WHICH");
  verb.add_option("--tokens", options->tokens, "form of the token area: keep, plain or payload")
      ->check(CLI::IsMember({"keep", "plain", "payload"}))
      ->capture_default_str();
  verb.add_option("--strip", options->strip,
                  "leave out: outputs, logits, embeddings, rng, checkpoints, draft")
      ->delimiter(',')
      ->check(CLI::IsMember({"outputs", "logits", "embeddings", "rng", "checkpoints", "draft"}));
  verb.add_option(
          "--drop", options->drop,
          "may be lost if the target cannot hold it: checkpoints, draft, outputs, media, cells")
      ->delimiter(',')
      ->check(CLI::IsMember({"checkpoints", "draft", "outputs", "media", "cells"}));
  verb.add_option("--set", options->fields,
                  "a field of a session of before August 2024, e.g. n_mult=256; may be repeated")
      ->type_name("FIELD=VALUE")
      ->take_all()
      ->allow_extra_args(false);
  verb.add_option("--seed", options->seed,
                  "sessions with a random generator: its text is that of one just seeded with N")
      ->type_name("N");
  return [options] { return run(*options); };
}

}  // namespace kvtool::cli
